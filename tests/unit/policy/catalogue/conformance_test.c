/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every policy of the catalogue keeps the rules, whatever happens to its pages.
 *
 * One test a policy, made at run time from policy_at(): a new policy is tested
 * the moment it is listed.  Each option is tried at its least, its largest and
 * with every choice, in worlds where nothing changes, all changes, all is gone,
 * all fails, and in one where anything may happen.  Policies that need more
 * than a page's own past (links, PageRank, families, clusters, the truth) get it
 * from replay_open(), as in production.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/cycle/cycle.h"
#include "engine/replay/replay.h"
#include "../../../lib/trace.h"
#include "policy/catalogue/catalogue.h"

#ifdef __SANITIZE_ADDRESS__         /* it takes ten times as long */
#define CYCLES 2
#else
#define CYCLES 4
#endif
#define SPEC_MAX 200

enum fate { MIXED, NOTHING_CHANGES, ALL_CHANGE, ALL_GONE, ALL_FAIL, N_FATES };

struct small_world {
	struct history h;
	struct replay r;
};

struct setting {
	const struct small_world *w;
	const char *spec;
	enum fate fate;
	enum goal goal;
	enum observe observe;
	uint32_t budget;
};

/* A run: the engine, and what happened in each cycle. */
struct trial {
	const struct setting *s;
	struct policy *policy;
	struct engine e;
	uint8_t *truth;
	int64_t *since, *next;          /* of those that hit */
	struct { struct seen *v; size_t n; } past[CYCLES];
};

static struct small_world worlds[2];

static void many_pages(struct history *h)
{
	struct world_opts o;
	char url[64], text[8];

	trace_world_defaults(&o);
	o.sites = 5;
	o.dirs = 4;
	o.pages = 6;
	o.steps = 3;
	trace_world(h, &o);
	trace_add(h, "http://lonely.example/", 0, "a", NULL);   /* a site of one page */
	for (int i = 0; i < 12; i++) {                          /* one script, many queries */
		snprintf(url, sizeof url, "http://script.example/show?id=%d", i);
		snprintf(text, sizeof text, "t%d", i);
		trace_add(h, url, 0, text, i ? "/show?id=0" : NULL);
	}
}

static void world_open(struct small_world *w, void (*fill)(struct history *))
{
	struct replay_opts o = { .cycle_seconds = DAY_SECONDS, .budget = { 10, true } };
	struct err err;

	history_init(&w->h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS | WANT_FACTS);
	fill(&w->h);
	assert_int_equal(history_finish(&w->h, &err), 0);
	if (replay_open(&w->r, &w->h, &o, ~0u, &err) < 0)
		fail_msg("%s", err.text);
}

static void one_page(struct history *h)
{
	trace_add(h, "http://one.example/", 0, "a", NULL);
	trace_add(h, "http://one.example/", 10, "b", NULL);
}

/* What comes of a page in a cycle, if it is asked for. */
static struct delivery fate_of(const struct setting *s, uint32_t page, uint32_t cycle)
{
	double u = rng_unit(rng_draw(77, cycle, page, RNG_USER));
	enum failure failure = FAILURE_UNKNOWN;
	enum outcome o = OUTCOME_SAME;
	bool hit;

	switch (s->fate) {
	case MIXED:
		o = u < 0.3 ? OUTCOME_CHANGED : u < 0.35 ? OUTCOME_GONE : u < 0.4 ? OUTCOME_FAILED :
		    u < 0.43 ? OUTCOME_BLOCKED : OUTCOME_SAME;
		if (page % 4 == 0)      /* always, each in its way */
			o = OUTCOME_FAILED;
		failure = (enum failure)(FAILURE_ANSWER + page / 4 % (N_FAILURES - FAILURE_ANSWER));
		break;
	case ALL_CHANGE:
		o = OUTCOME_CHANGED;
		break;
	case ALL_GONE:
		o = OUTCOME_GONE;
		break;
	case ALL_FAIL:
		o = OUTCOME_FAILED;
		break;
	default:
		break;
	}
	hit = s->goal == GOAL_ALIVE ? o <= OUTCOME_CHANGED :
	      o == OUTCOME_CHANGED || o == OUTCOME_GONE;
	return (struct delivery){ .outcome = o, .hit = hit,
		.failure = o == OUTCOME_FAILED ? failure : FAILURE_UNKNOWN };
}

static int deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                   struct err *err)
{
	struct trial *t = self;

	(void)err;
	for (size_t i = 0; i < n; i++)
		ret[i] = fate_of(t->s, offers[i].page, t->e.view.cycle);
	return 0;
}

static bool trial_open(struct trial *t, const struct setting *s)
{
	const struct replay *r = &s->w->r;
	struct err err;

	*t = (struct trial){ .s = s };
	if (policy_new(&t->policy, s->spec, &err) < 0) {
		/* an extreme may contradict the defaults of other options */
		assert_int_equal(err.code, E_USAGE);
		return false;
	}
	if (policy_needs(t->policy) & ~r->prepared.have & ~(unsigned)NEED_TRUTH) {
		policy_free(t->policy);
		return false;           /* nobody can prepare it yet */
	}
	engine_init(&t->e, &r->pages, t->policy, r->start);
	prepare_view(&r->prepared, &t->e.view);
	t->e.view.seed = 5;
	t->e.view.goal = s->goal;
	t->e.view.observe = s->observe;
	t->e.view.cycle_seconds = DAY_SECONDS;
	t->e.source = (struct source){ .self = t, .deliver = deliver };
	t->truth = mem_zalloc(r->pages.n, 1);
	/* nobody else can look */
	if (policy_needs(t->policy) & NEED_TRUTH)
		t->e.view.truth = t->truth;
	t->since = mem_array(r->pages.n, sizeof *t->since);
	t->next = mem_array(r->pages.n, sizeof *t->next);
	if (policy_needs(t->policy) & NEED_FUTURE) {
		t->e.view.stale_since = t->since;
		t->e.view.next_change = t->next;
	}
	for (uint32_t i = 0; i < r->pages.n; i++)
		t->e.visits.state[i] = PAGE_HERE;
	return true;
}

static void trial_close(struct trial *t)
{
	for (int c = 0; c < CYCLES; c++)
		free(t->past[c].v);
	engine_release(&t->e);
	policy_free(t->policy);
	free(t->truth);
	free(t->since);
	free(t->next);
}

static int64_t moment(uint32_t cycle)
{
	return TRACE_START + (int64_t)cycle * DAY_SECONDS;
}

/* Budget spent to the last open page; nothing twice; numbers that are numbers. */
static void check_cycle(const struct trial *t, const uint8_t *open_before)
{
	const struct engine *e = &t->e;
	uint32_t n = e->view.n_pages, n_open = 0, spent = 0;
	uint8_t *seen = mem_zalloc(n, 1);

	for (size_t i = 0; i < e->cycle.n_seen; i++) {
		const struct seen *s = &e->cycle.seen[i];

		assert_true(s->page < n);
		assert_int_equal(open_before[s->page], PAGE_HERE);
		assert_int_equal(seen[s->page]++, 0);
		assert_true(isfinite(s->score));
		assert_true(isnan(s->probability) || (s->probability >= 0 && s->probability <= 1));
		assert_true(s->reason < N_REASONS);
		spent += s->outcome != OUTCOME_BLOCKED;
	}
	for (uint32_t i = 0; i < n; i++) {
		n_open += open_before[i] == PAGE_HERE && !seen[i];
	}
	assert_true(spent <= t->s->budget);
	assert_int_equal(spent, e->cycle.n_spent);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(e->visits.state[i] & ~PAGE_HERE, 0);
	if (spent < t->s->budget && !e->retry.backoff.hosts.n)  /* else some may rest */
		assert_int_equal(n_open, 0);
	free(seen);
}

static void run_cycle(struct trial *t, uint32_t cycle)
{
	uint32_t n = t->e.view.n_pages;
	uint8_t *before = mem_alloc(n);
	struct err err;

	memcpy(before, t->e.visits.state, n);
	for (uint32_t i = 0; i < n; i++) {
		t->truth[i] = fate_of(t->s, i, cycle).hit;
		t->since[i] = t->truth[i] ? moment(cycle) - i : INT64_MAX;
		t->next[i] = moment(cycle) + (i * 7919) % 1000000;
	}
	assert_int_equal(engine_cycle(&t->e, moment(cycle), t->s->budget, &err), 0);
	check_cycle(t, before);
	free(before);
	t->past[cycle - 1].v = mem_array(t->e.cycle.n_seen + 1, sizeof(struct seen));
	memcpy(t->past[cycle - 1].v, t->e.cycle.seen, t->e.cycle.n_seen * sizeof(struct seen));
	t->past[cycle - 1].n = t->e.cycle.n_seen;
}

static void assert_same_cycle(const struct trial *a, const struct trial *b, int c)
{
	if (a->past[c].n != b->past[c].n)
		fail_msg("%s: cycle %d has %zu visits, then %zu", a->s->spec, c + 1,
		         a->past[c].n, b->past[c].n);
	for (size_t i = 0; i < a->past[c].n; i++) {
		const struct seen *x = &a->past[c].v[i], *y = &b->past[c].v[i];

		if (x->page != y->page || x->score != y->score || x->reason != y->reason)
			fail_msg("%s: cycle %d, visit %zu: page %u (%.9g, %s), then %u (%.9g, %s)",
			         a->s->spec, c + 1, i, x->page, (double)x->score,
			         reason_name(x->reason), y->page, (double)y->score,
			         reason_name(y->reason));
	}
}

/* A fresh instance that is told of the first cycles goes on as the first did. */
static void check_recall(const struct trial *first, int n_past)
{
	struct trial t;

	assert_true(trial_open(&t, first->s));
	for (int c = 0; c < n_past; c++)
		engine_recall(&t.e, moment((uint32_t)c + 1), first->s->budget, first->past[c].v,
		              first->past[c].n);
	run_cycle(&t, (uint32_t)n_past + 1);
	assert_same_cycle(first, &t, n_past);
	trial_close(&t);
}

static void try_setting(const struct setting *s)
{
	struct trial a, b;
	bool recall;

	if (!trial_open(&a, s))
		return;
	/* Clusters are made of what is here when they are first needed, and are too
	 * dear to be made for cycles that are only recalled: after a restart a policy
	 * may group pages otherwise than if it had gone on. */
	recall = s->fate == MIXED && !(policy_needs(a.policy) & NEED_CLUSTERS);
	for (uint32_t c = 1; c <= CYCLES; c++)
		run_cycle(&a, c);
	assert_true(trial_open(&b, s));
	for (uint32_t c = 1; c <= CYCLES; c++) {
		run_cycle(&b, c);
		assert_same_cycle(&a, &b, (int)c - 1);
	}
	trial_close(&b);
	for (int c = 1; recall && c < CYCLES; c += 2)
		check_recall(&a, c);
	trial_close(&a);
}

/* One spec in every world, with every fate and budget. */
static void try_everywhere(const char *spec)
{
	for (int w = 0; w < 2; w++) {
		uint32_t n = worlds[w].r.pages.n;
		uint32_t budgets[] = { 1, n / 12 + 1, n + 5 };

		for (int k = 0; k < N_FATES * 3 * 3; k++) {
			struct setting s = {
				.w = &worlds[w], .spec = spec, .fate = (enum fate)(k % N_FATES),
				.budget = budgets[k / N_FATES % 3],
				.goal = k / N_FATES / 3 == 1 ? GOAL_ALIVE : GOAL_CHANGED,
				.observe = k / N_FATES / 3 == 2 ? OBSERVE_CYCLE : OBSERVE_LOCAL,
			};

			try_setting(&s);
		}
	}
}

static void try_spec(const char *spec)
{
	for (int k = 0; k < 3; k++) {
		struct setting s = {
			.w = &worlds[0], .spec = spec, .fate = MIXED,
			.goal = k & 1 ? GOAL_ALIVE : GOAL_CHANGED,
			.budget = k & 2 ? worlds[0].r.pages.n : worlds[0].r.pages.n / 12 + 1,
		};

		try_setting(&s);
	}
}

static void try_value(const struct policy_ops *ops, const char *key, const char *value,
                      size_t size)
{
	char spec[SPEC_MAX];

	snprintf(spec, sizeof spec, "%s:%s=%.*s", ops->name, key, (int)size, value);
	try_spec(spec);
}

static void try_number(const struct policy_ops *ops, const struct option_spec *s,
                       const char *key, double x)
{
	char value[40];

	snprintf(value, sizeof value, s->type == OPTION_INT ? "%.0f" : "%.17g", x);
	try_value(ops, key, value, strlen(value));
}

static void try_option(const struct policy_ops *ops, const struct option_spec *s)
{
	char key[64];

	option_display(s, key);
	if (s->type == OPTION_FLAG) {
		try_value(ops, key, "0", 1);
		try_value(ops, key, "1", 1);
	} else if (s->type == OPTION_CHOICE) {
		for (const char *p = s->choices; *p; p += *p == '|') {
			const char *end = strchrnul(p, '|');

			try_value(ops, key, p, (size_t)(end - p));
			p = end;
		}
	} else if (s->type == OPTION_SHARE) {
		try_value(ops, key, "1", 1);
		try_value(ops, key, "100%", 4);
	} else if (s->type == OPTION_DURATION) {
		try_value(ops, key, "1s", 2);
		try_value(ops, key, "520w", 4);
	} else if (s->max > s->min) {
		try_number(ops, s, key, s->min);
		try_number(ops, s, key, s->max);
	}
}

static void keeps_the_rules(void **state)
{
	const struct policy_ops *ops = *state;
	char spec[SPEC_MAX];

	try_everywhere(ops->name);
	for (const struct option_spec *s = ops->options; s && s->name; s++)
		try_option(ops, s);
	if (!strcmp(ops->name, "neighbour")) {
		for (int k = 0; k < 2 * 15; k++) {
			snprintf(spec, sizeof spec, "neighbour:by=%s,d=%d", k & 1 ? "link" : "dir",
			         k / 2 - 6);
			try_spec(spec);
		}
		try_spec("neighbour:by=dir,d=3,cousins=1");
		try_spec("neighbour:by=link,phi=weighted,count=visits,trigger=changed");
	}
	if (!strcmp(ops->name, "site")) {
		try_spec("site:sample=1");
		try_spec("site:sample=1000000000");
		try_spec("site:sample=3,variant=adaptive");
	}
}

int main(void)
{
	struct CMUnitTest tests[200];
	size_t n = 0;
	int rc;

	world_open(&worlds[0], many_pages);
	world_open(&worlds[1], one_page);
	for (const struct policy_ops *ops; n < 200 && (ops = policy_at(n)); n++)
		tests[n] = (struct CMUnitTest){ ops->name, keeps_the_rules, NULL, NULL,
		                                (void *)(uintptr_t)ops };
	rc = _cmocka_run_group_tests("policies", tests, n, NULL, NULL);
	for (int w = 0; w < 2; w++) {
		replay_close(&worlds[w].r);
		history_release(&worlds[w].h);
	}
	return rc;
}
