/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planning_explain(): for every policy of the catalogue it says of a page what two plans say that
 * are made apart from each other, each by an engine that has read the store anew: that of the next
 * cycle and, of a page that is not in it, that of all pages.  It reads the pages once; twice only
 * if somebody has written meanwhile.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/recall/planning.h"
#include "policy/catalogue/catalogue.h"
#include "repo/store_backend.h"
#include "../../../lib/bed.h"

#define PAGES 150
#define CYCLES 7
#define BUDGET 12
#define DAY 86400

static int64_t moment(uint32_t cycle)
{
	return INT64_C(1700000000) + (int64_t)cycle * DAY;
}

static void add_visit(struct store *s, uint32_t cycle, uint32_t page, uint64_t capture)
{
	uint64_t u = rng_draw(1, cycle, page, RNG_USER) % 100;
	struct store_visit v = { .cycle = cycle, .page = page, .capture = capture,
		.time = moment(cycle), .score = 0.5f, .probability = NAN,
		.outcome = page % 19 == 7 ? OUTCOME_FAILED : u < page / 30 * 20 ? OUTCOME_CHANGED :
		           OUTCOME_SAME };
	struct err err;

	v.hit = v.outcome == OUTCOME_CHANGED;
	v.cause = v.outcome == OUTCOME_FAILED ? CAUSE_STATUS : CAUSE_NONE;
	v.status = v.outcome == OUTCOME_FAILED ? 503 : 200;
	assert_int_equal(store_visit_add(s, &v, &err), 0);
}

static void add_copy(struct store *s, uint32_t page)
{
	char links[100];
	int n = snprintf(links, sizeof links, "http://site%u.example/d%u/%u", page * 7 % PAGES % 4,
	                 page * 7 % PAGES / 20, page * 7 % PAGES);
	struct store_capture c = { .page = page, .time = moment(0) - DAY, .status = 200,
		.length = 1000, .bytes_text = -1, .words = 100, .images = -1, .tables = -1,
		.emails = -1, .outlinks = 1, .digest = { "x", 1 }, .links = { links, (size_t)n } };
	struct err err;

	assert_int_equal(store_capture_add(s, &c, &err), 1);
	add_visit(s, 0, page, c.id);
}

static void open_bed(struct bed *b)
{
	struct err err;

	bed_open(b, "127.0.0.1");
	for (uint32_t i = 0; i < PAGES; i++)
		bed_add(b, "http://site%u.example/d%u/%u", i % 4, i / 20, i);
	assert_int_equal(store_begin(b->store, &err), 0);
	for (uint32_t i = 0; i < PAGES; i++)
		add_copy(b->store, i);
	for (uint32_t cycle = 1; cycle <= CYCLES; cycle++) {
		struct store_cycle row = { .number = cycle, .time = moment(cycle), .budget = 30,
		                           .policy = { "x", 1 }, .pages = PAGES };

		assert_int_equal(store_cycle_put(b->store, &row, &err), 0);
		for (uint32_t i = 0; i < PAGES; i++)
			if (rng_draw(2, cycle, i, RNG_SAMPLE) % 5 == 0)
				add_visit(b->store, cycle, i, 0);
	}
	assert_int_equal(store_commit(b->store, &err), 0);
}

static struct planning_opts options(const char *policy)
{
	return (struct planning_opts){
		.resume = { .policy = policy, .seed = 3, .cycle_seconds = DAY,
		            .aim = AIM_FRESHNESS, .snapshot = true },
		.budget = { BUDGET, false }, .site_share = { 50, true },
		.retry_share = { 5, true }, .now = moment(CYCLES + 1),
	};
}

/* ---- the oracle: plans made apart ---- */

struct places { struct seen seen[PAGES + 1]; size_t rank[PAGES + 1], n; };

static void note(struct places *p, const struct engine *e)
{
	memset(p, 0, sizeof *p);
	p->n = e->cycle.n_seen;
	for (size_t i = p->n; i-- > 0;) {
		p->seen[e->cycle.seen[i].page] = e->cycle.seen[i];
		p->rank[e->cycle.seen[i].page] = i + 1;
	}
}

static void plan_next(struct store *s, const struct planning_opts *o, struct places *ret,
                      char *chosen, size_t size)
{
	struct planning p = { 0 };
	struct err err;

	assert_int_equal(planning_open(&p, s, o, &err), 0);
	assert_int_equal(planning_make(&p, &err), 0);
	note(ret, &p.r.engine);
	snprintf(chosen, size, "%s", policy_chosen(p.r.policy));
	planning_release(&p);
}

static void plan_all(struct store *s, const struct planning_opts *o, struct places *ret,
                     const char *chosen)
{
	struct resume_opts ro = o->resume;
	struct resumed r;
	struct err err;

	ro.snapshot = false;
	ro.before_cycle = CYCLES + 1;
	assert_int_equal(resume(&r, s, &ro, &err), 0);
	policy_hold(r.policy, chosen);
	r.engine.retry.share = (struct share){ 100, true };
	assert_int_equal(dry_cycle(&r, o->now, r.has.loaded.n_here, NULL, &err), 0);
	note(ret, &r.engine);
	resume_release(&r);
}

/* ---- */

static uint32_t n_reads;
static const struct store_ops *true_ops;

static int count_pages_read(struct store *s, store_page_each *each, void *arg, struct err *err)
{
	n_reads++;
	return true_ops->pages_brief(s, each, arg, err);
}

/* Explain a page; add one (to another program's connection) before, if the path is given. */
static uint32_t explain(struct store *s, const struct planning_opts *o, uint32_t page,
                        const char *meanwhile, struct explanation *ret, struct seen *ret_seen)
{
	struct store_ops ops = *s->ops;
	struct planning p = { 0 };
	struct store *other;
	uint32_t number;
	struct err err;

	true_ops = s->ops;
	ops.pages_brief = count_pages_read;
	n_reads = 0;
	s->ops = &ops;
	assert_int_equal(planning_open(&p, s, o, &err), 0);
	if (meanwhile) {
		assert_int_equal(store_open(&other, meanwhile, STORE_EXISTING, &err), 0);
		assert_int_equal(store_begin(other, &err), 0);
		assert_int_equal(store_page_add(other, (struct text){ "http://site1.example/new", 24 },
		                                1, &number, &err), 1);
		assert_int_equal(store_commit(other, &err), 0);
		store_close(other);
	}
	*ret = (struct explanation){ 0 };
	assert_int_equal(store_page_get(s, page, &ret->page, &err), 1);
	if (planning_explain(&p, ret, &err) < 0)
		fail_msg("%s", err.text);
	if (ret->seen)
		*ret_seen = *ret->seen;
	planning_release(&p);
	s->ops = true_ops;
	return n_reads;
}

static void compare(const char *policy, const struct explanation *x, const struct seen *seen,
                    const struct places *next, const struct places *all, uint32_t page)
{
	bool late = !next->rank[page];
	const struct places *in = late ? all : next;

	if (!in->rank[page]) {
		assert_null(x->seen);
		return;
	}
	if (!x->seen || x->late != late || x->rank != in->rank[page] || x->n != in->n ||
	    seen->score < in->seen[page].score || seen->score > in->seen[page].score ||
	    seen->reason != in->seen[page].reason)
		fail_msg("%s: page %u has rank %zu of %zu, and not %zu of %zu", policy, page, x->rank,
		         x->n, in->rank[page], in->n);
	assert_int_equal(x->cycles, late && in->rank[page] <= BUDGET ? 2 :
	                 (in->rank[page] + BUDGET - 1) / BUDGET);
}

static void says_what_plans_say(void **state)
{
	const struct policy_ops *ops = *state;
	struct planning_opts o = options(ops->name);
	static struct places next, all;
	uint32_t n_late = 0;
	char chosen[300];
	struct bed b;

	if (ops->only_replay)
		return;
	open_bed(&b);
	plan_next(b.store, &o, &next, chosen, sizeof chosen);
	plan_all(b.store, &o, &all, chosen);
	for (uint32_t page = 0; page < PAGES; page += 9) {
		struct explanation x;
		struct seen seen;
		uint32_t reads = explain(b.store, &o, page, NULL, &x, &seen);

		compare(ops->name, &x, &seen, &next, &all, page);
		n_late += !next.rank[page];
		/* columns of features count what is told, so they are made anew */
		if (strcmp(ops->name, "cluster"))
			assert_int_equal(reads, 1);
	}
	assert_in_range(n_late, 1, PAGES);
	bed_close(&b);
}

/* The page that came meanwhile is in the plan of all pages. */
static void what_came_meanwhile_is_seen(void **state)
{
	struct planning_opts o = options("oldest");
	static struct places next, all;
	struct explanation x;
	uint32_t page = 0;
	struct seen seen;
	char chosen[300];
	struct bed b;

	(void)state;
	open_bed(&b);
	plan_next(b.store, &o, &next, chosen, sizeof chosen);
	while (next.rank[page])
		page++;
	assert_int_equal(explain(b.store, &o, page, b.db, &x, &seen), 2);
	plan_all(b.store, &o, &all, chosen);
	assert_int_equal(all.n, next.n ? x.n : 0);
	compare("oldest", &x, &seen, &next, &all, page);
	bed_close(&b);
}

int main(void)
{
	struct CMUnitTest tests[100] = { cmocka_unit_test(what_came_meanwhile_is_seen) };
	size_t n = 1;

	for (const struct policy_ops *ops; n < 100 && (ops = policy_at(n - 1)); n++)
		tests[n] = (struct CMUnitTest){ ops->name, says_what_plans_say, NULL, NULL,
		                                (void *)(uintptr_t)ops };
	return _cmocka_run_group_tests("planning", tests, n, NULL, NULL);
}
