/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open cycle under every interleaving that chance makes: pages are asked for, told,
 * released and lapse in any order, for every policy of the catalogue.
 *
 * The oracle is a second book that knows nothing of the engine: it counts requests and
 * remembers which page is in whose hands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/stage.h"

#define PAGES 120
#define BUDGET 40
#define CYCLES 4

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	if (page % 11 == 3)
		return OUTCOME_FAILED;
	if (page == 17 && cycle > 2)
		return OUTCOME_GONE;
	return (page / 10 + cycle) % 3 == 0 || page % 7 == cycle % 7 ? OUTCOME_CHANGED :
	       OUTCOME_SAME;
}

static void make_pages(struct stage *s)
{
	char url[64];

	stage_open(s);
	for (int i = 0; i < PAGES; i++) {
		snprintf(url, sizeof url, "http://h%d.example/d%d/p%d", i % 9, i / 10 % 4, i);
		trace_add(&s->h, url, 0, "x", NULL);
	}
	s->needs = NEED_FAMILIES | NEED_SIZES;
	s->failure = FAILURE_ANSWER;
}

/* ---- the second book ---- */

enum hand { NOWHERE, OFFERED, TOLD, LAPSED, DROPPED };

struct book {
	struct stage *s;
	uint32_t budget;
	uint32_t requests;              /* granted and not given back */
	uint32_t of[PAGES + 2];         /* by page, of those offered now */
	uint8_t hand[PAGES + 2];
	VEC(uint32_t) out;              /* leases that are offered */
	VEC(struct event) events;
};

static struct delivery answer(const struct book *b, uint32_t page, uint32_t requests)
{
	enum outcome o = fate(NULL, page, b->s->e.view.cycle);

	return (struct delivery){ .outcome = o, .extra = requests ? requests - 1 : 0,
		.hit = o == OUTCOME_CHANGED || o == OUTCOME_GONE,
		.failure = o == OUTCOME_FAILED ? FAILURE_ANSWER : FAILURE_UNKNOWN };
}

static void took(struct book *b, uint32_t lease)
{
	uint32_t page = engine_lease(&b->s->e, lease)->offer.page;

	assert_int_equal(b->hand[page], NOWHERE);
	b->hand[page] = OFFERED;
	b->of[page] = 0;
	vec_push(&b->out, lease);
}

static void spend(struct book *b, uint32_t lease)
{
	uint32_t page = engine_lease(&b->s->e, lease)->offer.page;

	if (!engine_spend(&b->s->e, lease))
		return;
	b->of[page]++;
	b->requests++;
	assert_true(b->requests <= b->budget);
}

static void note_event(struct book *b, uint32_t lease, enum event_kind kind,
                       struct delivery d)
{
	vec_push(&b->events, ((struct event){ engine_lease(&b->s->e, lease)->offer, d,
	                                      (uint8_t)kind }));
}

/* End the k-th of those that are out. */
static void end_one(struct book *b, size_t k, enum event_kind kind)
{
	struct engine *e = &b->s->e;
	uint32_t lease = b->out.v[k], page = engine_lease(e, lease)->offer.page;
	struct delivery d = answer(b, page, b->of[page]);

	if (kind == EVENT_DROPPED && b->of[page])
		kind = EVENT_TOLD;              /* only what never had a request is refused */
	if (!b->of[page] && kind != EVENT_GIVEN_BACK && kind != EVENT_DROPPED) {
		spend(b, lease);
		if (!b->of[page])               /* no budget for it: it goes back */
			kind = EVENT_GIVEN_BACK;
		d = answer(b, page, b->of[page]);
	}
	b->out.v[k] = b->out.v[--b->out.n];
	if (kind == EVENT_DROPPED)
		d = (struct delivery){ 0 };
	note_event(b, lease, kind, d);
	if (kind == EVENT_TOLD) {
		assert_true(engine_tell(e, lease, &d));
		assert_false(engine_tell(e, lease, &d));        /* once */
		b->hand[page] = TOLD;
	} else if (kind == EVENT_GIVEN_BACK) {
		assert_true(engine_give_back(e, lease));
		assert_false(engine_tell(e, lease, &d));
		b->requests -= b->of[page];
		b->hand[page] = NOWHERE;
	} else if (kind == EVENT_DROPPED) {
		assert_true(engine_drop(e, lease));
		assert_false(engine_tell(e, lease, &d));
		b->hand[page] = DROPPED;
	} else {
		assert_true(engine_lapse(e, lease));
		b->hand[page] = LAPSED;
	}
}

static void begin_with(struct book *b, struct stage *s, uint32_t cycle, uint32_t budget)
{
	*b = (struct book){ .s = s, .budget = budget };
	engine_begin(&s->e, s->r.start + (int64_t)cycle * DAY_SECONDS, budget);
}

static void begin(struct book *b, struct stage *s, uint32_t cycle)
{
	begin_with(b, s, cycle, BUDGET);
}

static void end(struct book *b)
{
	engine_end(&b->s->e);
	vec_release(&b->out);
	vec_release(&b->events);
}

/* One step by chance; false: the cycle is done. */
static bool step(struct book *b, struct rng *r)
{
	struct engine *e = &b->s->e;
	struct asking a = { .want = 1 + rng_below(r, 9), .hops = rng_below(r, 2),
	                    .impatient = rng_below(r, 10) == 0 };
	uint32_t leases[10];
	uint64_t what = rng_below(r, 8);
	size_t n;

	if (what < 3 || !b->out.n) {
		enum ask got = engine_ask(e, &a, leases, &n);

		for (size_t i = 0; i < n; i++)
			took(b, leases[i]);
		assert_int_equal(got == ASK_OFFERS, n > 0);
		assert_false(got == ASK_DONE && b->out.n);
		return got != ASK_DONE;
	}
	if (what == 3)
		spend(b, b->out.v[rng_below(r, b->out.n)]);
	else
		end_one(b, rng_below(r, b->out.n), what == 4 && rng_below(r, 3) == 0 ?
		        EVENT_GIVEN_BACK : what == 5 && rng_below(r, 3) == 0 ? EVENT_LAPSED :
		        what == 6 && rng_below(r, 3) == 0 ? EVENT_DROPPED : EVENT_TOLD);
	return true;
}

static bool is_for_here(const struct policy_ops *ops)
{
	return !ops->only_replay;
}

static void any_order_keeps_the_rules(void **state)
{
	(void)state;
	for (size_t k = 0; policy_at(k); k++)
		for (uint64_t seed = 1; is_for_here(policy_at(k)) && seed <= 6; seed++) {
			struct stage s;
			struct rng r;

			make_pages(&s);
			stage_play(&s, policy_at(k)->name);
			rng_init(&r, seed * 7919 + k);
			for (uint32_t c = 1; c <= CYCLES; c++) {
				struct book b;
				int steps = 0;

				begin(&b, &s, c);
				while (step(&b, &r))
					assert_true(++steps < 5000);
				assert_int_equal(b.out.n, 0);
				assert_true(s.e.cycle.n_spent <= BUDGET);
				assert_int_equal(s.e.cycle.n_spent, b.requests);
				end(&b);
			}
			stage_close(&s);
		}
}

/* ---- asked one by one and answered at once, it is engine_cycle() ---- */

static void in_order_is_a_whole_cycle(void **state)
{
	(void)state;
	for (size_t k = 0; policy_at(k); k++) {
		struct stage whole, single;
		struct asking a = { .want = 1 };

		if (!is_for_here(policy_at(k)))
			continue;
		make_pages(&whole);
		make_pages(&single);
		whole.fate = fate;
		stage_play(&whole, policy_at(k)->name);
		stage_play(&single, policy_at(k)->name);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			struct book b;
			uint32_t lease;
			size_t n;

			stage_cycle(&whole, BUDGET);
			begin(&b, &single, c);
			single.e.view.now = whole.e.view.now;
			while (engine_ask(&single.e, &a, &lease, &n) == ASK_OFFERS) {
				took(&b, lease);
				end_one(&b, 0, EVENT_TOLD);
			}
			if (single.e.cycle.n_seen != whole.e.cycle.n_seen)
				fail_msg("%s, cycle %u: %zu visits, not %zu", policy_at(k)->name, c,
				         single.e.cycle.n_seen, whole.e.cycle.n_seen);
			for (size_t i = 0; i < whole.e.cycle.n_seen; i++)
				assert_int_equal(single.e.cycle.seen[i].page, whole.e.cycle.seen[i].page);
			end(&b);
		}
		stage_close(&whole);
		stage_close(&single);
	}
}

/* ---- a slow page ---- */

static void one_slow_page_delays_nobody(void **state)
{
	struct asking a = { .want = BUDGET };
	uint32_t leases[BUDGET], slow = 0;
	struct delivery late;
	struct stage s;
	struct book b;
	size_t n;

	(void)state;
	make_pages(&s);
	stage_play(&s, "tide:batch=0.25");
	begin(&b, &s, 1);
	for (enum ask got; (got = engine_ask(&s.e, &a, leases, &n)) != ASK_WAIT;) {
		assert_int_equal(got, ASK_OFFERS);
		for (size_t i = 0; i < n; i++) {
			took(&b, leases[i]);
			if (!slow) {
				slow = leases[i];
				spend(&b, slow);
				b.out.n = 0;
			} else {
				end_one(&b, 0, EVENT_TOLD);
			}
		}
	}
	assert_int_equal(b.requests, BUDGET);   /* all others were asked for */
	assert_true(engine_lapse(&s.e, slow));
	assert_int_equal(engine_ask(&s.e, &a, leases, &n), ASK_DONE);
	late = answer(&b, engine_lease(&s.e, slow)->offer.page, 1);
	assert_true(engine_tell(&s.e, slow, &late));            /* late, once, */
	assert_false(engine_tell(&s.e, slow, &late));
	assert_int_equal(s.e.cycle.n_spent, BUDGET);            /* at no cost */
	assert_int_equal(s.e.cycle.n_seen, BUDGET);
	end(&b);
	stage_close(&s);
}

/* ---- going on ---- */

/* Pages that were planned and have no answer, in the order of the plan. */
static size_t unanswered(const struct engine *e, uint32_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < e->cycle.leases.n; i++)
		if (e->cycle.leases.v[i].state <= LEASE_OFFERED)
			ret[n++] = e->cycle.leases.v[i].offer.page;
	return n;
}

static void compare_rest(struct stage *a, struct stage *b)
{
	uint32_t pa[PAGES + 2], pb[PAGES + 2];
	size_t n = unanswered(&a->e, pa);

	if (unanswered(&b->e, pb) != n)
		fail_msg("%s: %zu pages are planned and not answered, not %zu", a->policy->spec,
		         unanswered(&b->e, pb), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pa[i], pb[i]);
	assert_int_equal(a->e.cycle.n_spent, b->e.cycle.n_spent);
}

/* Answer what is out, then ask and answer one by one to the end. */
static void finish(struct book *b)
{
	struct asking a = { .want = 1 };
	uint32_t lease;
	size_t n;

	for (;;) {
		size_t first = 0;

		for (size_t i = 1; i < b->out.n; i++)
			if (b->out.v[i] < b->out.v[first])
				first = i;
		if (b->out.n)
			end_one(b, first, EVENT_TOLD);
		else if (engine_ask(&b->s->e, &a, &lease, &n) == ASK_OFFERS)
			took(b, lease);
		else
			break;
	}
}

static void broken_off_it_goes_on_exactly(void **state)
{
	(void)state;
	for (size_t k = 0; policy_at(k); k++)
		for (uint64_t seed = 1; is_for_here(policy_at(k)) && seed <= 4; seed++) {
			struct stage a, b;
			struct book one, two;
			struct rng r;
			int steps;

			make_pages(&a);
			make_pages(&b);
			a.fate = b.fate = fate;
			stage_play(&a, policy_at(k)->name);
			stage_play(&b, policy_at(k)->name);
			stage_cycle(&a, BUDGET);
			stage_cycle(&b, BUDGET);
			rng_init(&r, seed * 104729 + k);
			begin(&one, &a, 2);
			for (steps = 0; steps < (int)(seed * 25) && step(&one, &r); steps++)
				;
			for (size_t i = one.out.n; i-- > 0;)    /* sent, and nobody knows: as after a kill */
				if (engine_lease(&a.e, one.out.v[i])->requests)
					end_one(&one, i, EVENT_LAPSED);
			two = (struct book){ .s = &b, .budget = BUDGET };
			engine_continue(&b.e, a.e.view.now, BUDGET, one.events.v, one.events.n,
			                a.e.cycle.planned_after.v, a.e.cycle.planned_after.n, true);
			memcpy(two.hand, one.hand, sizeof two.hand);
			for (uint32_t p = 0; p < PAGES + 2; p++) {
				if (one.hand[p] == OFFERED)     /* nobody has it any more */
					two.hand[p] = NOWHERE;
				two.requests += one.hand[p] == TOLD || one.hand[p] == LAPSED ? one.of[p] : 0;
			}
			compare_rest(&a, &b);
			finish(&one);
			finish(&two);
			assert_int_equal(a.e.cycle.n_spent, b.e.cycle.n_spent);
			assert_int_equal(a.e.cycle.n_seen, b.e.cycle.n_seen);
			for (size_t i = 0; i < a.e.cycle.n_seen; i++)
				assert_int_equal(a.e.cycle.seen[i].page, b.e.cycle.seen[i].page);
			end(&one);
			end(&two);
			stage_close(&a);
			stage_close(&b);
		}
}

/* ---- more budget than pages ---- */

static uint32_t n_asked;                /* calls of the policy's ask() */
static void (*real_ask)(struct policy *, const struct view *, struct plan *);

static void count_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	n_asked++;
	real_ask(p, v, plan);
}

/* When all pages are planned, an answer opens none: the policy is not asked again for each,
 * which costs it a look at all pages.  A page that is given back does open. */
static void dry_is_not_asked_again(void **state)
{
	struct asking a = { .want = 1 };
	const struct policy_ops *real;
	struct policy_ops ops;
	uint32_t lease, before;
	struct stage s;
	struct book b;
	size_t n;

	(void)state;
	make_pages(&s);
	stage_play(&s, "oldest");
	real = s.policy->ops;
	ops = *real;
	real_ask = ops.ask;
	ops.ask = count_ask;
	s.policy->ops = &ops;
	n_asked = 0;
	begin_with(&b, &s, 1, 10 * PAGES);
	while (engine_ask(&s.e, &a, &lease, &n) == ASK_OFFERS)
		took(&b, lease);
	assert_int_equal(b.out.n, s.r.pages.n);
	before = n_asked;
	for (uint32_t i = 0; i < PAGES / 2; i++) {
		end_one(&b, 0, EVENT_TOLD);
		assert_int_equal(engine_ask(&s.e, &a, &lease, &n), ASK_WAIT);
	}
	assert_int_equal(n_asked, before);
	end_one(&b, 0, EVENT_GIVEN_BACK);
	assert_int_equal(engine_ask(&s.e, &a, &lease, &n), ASK_OFFERS);
	took(&b, lease);
	while (b.out.n) {
		end_one(&b, 0, EVENT_TOLD);
		(void)engine_ask(&s.e, &a, &lease, &n);
	}
	assert_int_equal(engine_ask(&s.e, &a, &lease, &n), ASK_DONE);
	assert_true(n_asked <= before + 2);
	assert_int_equal(s.e.cycle.n_seen, s.r.pages.n);
	end(&b);
	s.policy->ops = real;
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_keeps_the_rules),
		cmocka_unit_test(in_order_is_a_whole_cycle),
		cmocka_unit_test(one_slow_page_delays_nobody),
		cmocka_unit_test(broken_off_it_goes_on_exactly),
		cmocka_unit_test(dry_is_not_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
