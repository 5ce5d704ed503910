/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of visits: against a naive reading of random visits, when nothing is kept, and when
 * counts of older cycles come out of the file, after which cycles, pages and late visits came.
 * A file of another past, and a damaged one, are not used.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/recall/visit_counts.h"
#include "engine/view/load.h"
#include "../../../lib/bed.h"

#define PAGES 400               /* at first */
#define PAGES_MAX 500
#define CYCLES 12
#define SITES 7

struct world {
	struct bed bed;
	struct rng rng;
	uint32_t n_pages, n_cycles;
	VEC(struct store_visit) visits; /* as they come out of the store */
};

static void add_pages(struct world *w, uint32_t n)
{
	for (; n; n--, w->n_pages++)
		bed_add(&w->bed, "http://site%u.example/%u",
		        w->n_pages < PAGES ? w->n_pages % SITES : w->n_pages % (SITES + 2), w->n_pages);
}

static void add_visit(struct world *w, uint32_t cycle, uint32_t page)
{
	static const enum cause causes[] = { CAUSE_STATUS, CAUSE_DNS, CAUSE_BUDGET, CAUSE_STOPPED };
	struct store_visit v = { .cycle = cycle, .page = page, .score = NAN, .probability = NAN,
		.time = 100000 * (int64_t)cycle + (int64_t)rng_below(&w->rng, 90000) };
	struct err err;

	/* pages of one in three always have an answer */
	v.outcome = (uint8_t)rng_below(&w->rng, page % 3 ? 5 : 3);
	v.hit = v.outcome == OUTCOME_CHANGED || v.outcome == OUTCOME_GONE;
	v.cause = (uint8_t)(v.outcome < 3 ? 0 : causes[rng_below(&w->rng, 4)]);
	assert_int_equal(store_visit_add(w->bed.store, &v, &err), 0);
	v.goal = cycle % 5 == 4 ? GOAL_ALIVE : GOAL_CHANGED;
	vec_push(&w->visits, v);
}

static void add_cycle(struct world *w, bool imported)
{
	uint32_t cycle = imported ? 0 : ++w->n_cycles;
	struct store_cycle row = { .number = cycle, .time = 100000 * (int64_t)cycle,
		.goal = cycle % 5 == 4 ? GOAL_ALIVE : GOAL_CHANGED, .policy = { "x", 1 } };
	struct err err;

	assert_int_equal(store_begin(w->bed.store, &err), 0);
	if (cycle)
		assert_int_equal(store_cycle_put(w->bed.store, &row, &err), 0);
	for (uint32_t i = 0; i < w->n_pages; i++)
		if (rng_below(&w->rng, 2))
			add_visit(w, cycle, i);
	assert_int_equal(store_commit(w->bed.store, &err), 0);
}

static void open_world(struct world *w, uint64_t seed, uint32_t cycles)
{
	*w = (struct world){ 0 };
	rng_init(&w->rng, seed);
	bed_open(&w->bed, "127.0.0.1");
	add_pages(w, PAGES);
	add_cycle(w, true);
	while (w->n_cycles < cycles)
		add_cycle(w, false);
}

static void close_world(struct world *w)
{
	vec_release(&w->visits);
	bed_close(&w->bed);
}

/* ---- the oracle ---- */

static bool is_answer(const struct store_visit *v)
{
	return v->outcome < OUTCOME_FAILED && v->goal == GOAL_CHANGED;
}

/* Of one page: from its own list of visits. */
static void check_page(const struct world *w, const struct visit_counts *c, uint32_t page)
{
	uint32_t answered = 0, hits = 0, failed = 0, blocked = 0, row = 0;
	int64_t last = 0;

	for (size_t i = 0; i < w->visits.n; i++) {
		const struct store_visit *v = &w->visits.v[i];

		if (v->page != page)
			continue;
		answered += is_answer(v);
		hits += is_answer(v) && v->hit;
		last = is_answer(v) ? v->time : last;
		failed += v->outcome == OUTCOME_FAILED;
		blocked += v->outcome == OUTCOME_BLOCKED;
		row = v->outcome < OUTCOME_FAILED ? 0 :
		      row + (v->cause != CAUSE_BUDGET && v->cause != CAUSE_STOPPED);
	}
	assert_int_equal(c->answered[page], answered);
	assert_int_equal(c->hits[page], hits);
	assert_int_equal(c->last[page], last);
	assert_int_equal(c->failing_at[page] > 0, failed + blocked > 0);
	if (c->failing_at[page]) {
		const struct failing_row *f = &c->failing.v[c->failing_at[page] - 1];

		assert_int_equal(f->page, page);
		assert_int_equal(f->failing.failed, failed);
		assert_int_equal(f->failing.blocked, blocked);
		assert_int_equal(f->failing.times, row);
	}
}

static void check_site(const struct world *w, const struct visit_counts *c,
                       const struct pages *p, uint32_t site)
{
	struct site_counts k = { 0 };
	static int64_t before[PAGES_MAX];

	memset(before, 0, sizeof before);
	for (size_t i = 0; i < w->visits.n; i++) {
		const struct store_visit *v = &w->visits.v[i];

		if (p->site[v->page] != site)
			continue;
		k.visits++;
		k.failed += v->outcome == OUTCOME_FAILED;
		k.blocked += v->outcome == OUTCOME_BLOCKED;
		if (!is_answer(v))
			continue;
		k.answered++;
		k.updates += v->hit;
		k.last_visit = v->time > k.last_visit ? v->time : k.last_visit;
		if (before[v->page] && v->time > before[v->page]) {
			k.repeated++;
			k.changed += v->hit;
			k.exposure += (double)(v->time - before[v->page]) / 86400;
		}
		before[v->page] = v->time;
	}
	assert_memory_equal(&c->sites[site], &k, sizeof k);
}

/* The newest changes have times that no other change exceeds. */
static void check_changes(const struct world *w, const struct visit_counts *c)
{
	uint64_t n = 0, later = 0;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < c->newest.n; i++)
		least = c->newest.v[i].time < least ? c->newest.v[i].time : least;
	for (size_t i = 0; i < w->visits.n; i++) {
		const struct store_visit *v = &w->visits.v[i];

		n += v->hit && v->cycle && v->goal == GOAL_CHANGED;
		later += v->hit && v->cycle && v->goal == GOAL_CHANGED && v->time > least;
	}
	assert_int_equal(c->n_changes, n);
	assert_int_equal(c->newest.n, n < VISIT_CHANGES_MAX ? n : VISIT_CHANGES_MAX);
	assert_in_range(later, 0, VISIT_CHANGES_MAX);
	for (size_t i = 0; i < c->newest.n; i++)
		assert_true(c->newest.v[i].hit && c->newest.v[i].cycle);
}

/* Returns how many visits came out of the file. */
static uint64_t check(const struct world *w)
{
	struct pages_opts po = { 0 };
	struct visit_counts c;
	struct loaded l;
	struct err err;
	uint64_t kept;

	assert_int_equal(load_pages(&l, w->bed.store, &po, &err), 0);
	if (visit_counts_load(&c, w->bed.store, &l.pages, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_visits, w->visits.n);
	for (uint32_t i = 0; i < w->n_pages; i++)
		check_page(w, &c, i);
	for (uint32_t i = 0; i < l.pages.tree.n_sites; i++)
		check_site(w, &c, &l.pages, i);
	check_changes(w, &c);
	kept = c.n_kept;
	visit_counts_release(&c);
	loaded_release(&l);
	return kept;
}

static uint64_t visits_before(const struct world *w, uint32_t cycle)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->visits.n; i++)
		n += w->visits.v[i].cycle < cycle;
	return n;
}

static void counts_are_those_of_the_visits(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct world w;
		uint64_t kept = 0;

		open_world(&w, seed, 5);
		assert_int_equal(check(&w), 0);
		while (w.n_cycles < CYCLES) {
			/* all but the visits of the newest cycle */
			assert_in_range(check(&w), kept, visits_before(&w, w.n_cycles));
			kept = check(&w);
			assert_true(kept + 1000 > visits_before(&w, w.n_cycles));
			add_pages(&w, w.n_cycles % 3 ? 11 : 0);
			add_cycle(&w, false);
		}
		assert_true(kept > 2000);
		close_world(&w);
	}
}

/* Of the newest cycle a visit may come late. */
static void late_visits_are_seen(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	open_world(&w, 4, 8);
	check(&w);
	assert_int_equal(store_begin(w.bed.store, &err), 0);
	add_visit(&w, 8, 3);
	assert_int_equal(store_commit(w.bed.store, &err), 0);
	assert_int_equal(check(&w), visits_before(&w, 8));
	close_world(&w);
}

/* The visit comes into an older cycle; in the list, where the store has it. */
static void another_past_is_counted(void **state)
{
	struct store_visit late;
	struct world w;
	struct err err;
	size_t at;

	(void)state;
	open_world(&w, 5, 8);
	check(&w);
	assert_true(check(&w) > 0);
	assert_int_equal(store_begin(w.bed.store, &err), 0);
	add_visit(&w, 2, 4);
	assert_int_equal(store_commit(w.bed.store, &err), 0);
	late = w.visits.v[w.visits.n - 1];
	at = (size_t)visits_before(&w, 3) - 1;
	memmove(&w.visits.v[at + 1], &w.visits.v[at], (w.visits.n - 1 - at) * sizeof late);
	w.visits.v[at] = late;
	assert_int_equal(check(&w), 0);
	assert_true(check(&w) > 0);
	close_world(&w);
}

/* Another program adds pages, and two cycles, after pages were read. */
static void what_came_meanwhile_is_not_lost(void **state)
{
	struct pages_opts po = { 0 };
	struct visit_counts c;
	struct loaded l;
	struct world w;
	struct err err;

	(void)state;
	open_world(&w, 7, 8);
	assert_int_equal(load_pages(&l, w.bed.store, &po, &err), 0);
	add_pages(&w, 20);
	add_cycle(&w, false);
	add_cycle(&w, false);
	assert_int_equal(visit_counts_load(&c, w.bed.store, &l.pages, NULL, &err), 0);
	visit_counts_release(&c);
	loaded_release(&l);
	check(&w);
	assert_true(check(&w) > 0);
	close_world(&w);
}

static void damaged_files_are_not_used(void **state)
{
	char name[SCRATCH_PATH + 100];
	struct world w;

	(void)state;
	open_world(&w, 6, 8);
	snprintf(name, sizeof name, "%s" VISIT_COUNTS_END, store_file(w.bed.store));
	for (int i = 0; i < 20; i++) {
		FILE *f;
		long size, at;
		int byte;

		check(&w);
		assert_true(check(&w) > 0);
		f = fopen(name, "r+b");
		assert_non_null(f);
		fseek(f, 0, SEEK_END);
		size = ftell(f);
		at = (long)rng_below(&w.rng, (uint32_t)size);
		fseek(f, at, SEEK_SET);
		byte = fgetc(f);
		fseek(f, at, SEEK_SET);
		fputc(byte ^ 1 << i % 8, f);
		fclose(f);
		assert_int_equal(check(&w), 0);
	}
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_of_the_visits),
		cmocka_unit_test(late_visits_are_seen),
		cmocka_unit_test(another_past_is_counted),
		cmocka_unit_test(what_came_meanwhile_is_not_lost),
		cmocka_unit_test(damaged_files_are_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
