/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages fail, and their sites: random visits against a naive reading of them, made
 * backwards from each page's last. */
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
#include "../../../lib/bed.h"

#define SITES 5
#define PAGES 40
#define CYCLES 8
#define SEEDS 30

struct world {
	struct bed bed;
	struct store_visit visit[CYCLES + 1][PAGES];    /* cycle 0: none */
	bool made[CYCLES + 1][PAGES];
	bool gone[PAGES];
};

static void add_visits(struct world *w, uint64_t seed)
{
	static const enum cause causes[] = { CAUSE_STATUS, CAUSE_DNS, CAUSE_ROBOTS, CAUSE_BUDGET,
	                                     CAUSE_STOPPED, CAUSE_NONE };
	struct store_page p, was;
	struct rng g;
	struct err err;

	rng_init(&g, seed);
	for (int i = 0; i < PAGES; i++)
		bed_add(&w->bed, "http://site%d.example/%d", i % SITES, i);
	assert_int_equal(store_begin(w->bed.store, &err), 0);
	for (uint32_t c = 1; c <= CYCLES; c++) {
		for (uint32_t i = 0; i < PAGES; i++) {
			struct store_visit v = { .cycle = c, .page = i, .time = 1000 * c + i,
				.score = NAN, .probability = NAN };

			if (rng_below(&g, 3) == 0)
				continue;
			/* sites differ: those of a small number nearly always fail */
			v.outcome = (uint8_t)(rng_below(&g, 10) < 2 * (i % SITES) ?
				rng_below(&g, 3) : 3 + rng_below(&g, 2));
			v.cause = (uint8_t)(v.outcome < 3 ? 0 : causes[rng_below(&g, 6)]);
			v.status = v.cause == CAUSE_STATUS ? 400 + (int)rng_below(&g, 200) : 0;
			assert_int_equal(store_visit_add(w->bed.store, &v, &err), 0);
			w->visit[c][i] = v;
			w->made[c][i] = true;
		}
	}
	for (uint32_t i = 0; i < PAGES; i++) {
		w->gone[i] = rng_below(&g, 10) == 0;
		assert_int_equal(store_page_get(w->bed.store, i, &p, &err), 1);
		was = p;
		p.state = w->gone[i] ? STORE_PAGE_GONE : STORE_PAGE_HERE;
		assert_int_equal(store_page_update(w->bed.store, &was, &p, &err), 0);
	}
	assert_int_equal(store_commit(w->bed.store, &err), 0);
}

static bool is_failure(const struct store_visit *v)
{
	return v->outcome >= 3 && v->cause != CAUSE_BUDGET && v->cause != CAUSE_STOPPED;
}

static struct failing naive(const struct world *w, uint32_t page)
{
	struct failing f = { 0 };
	bool alike = true;

	for (uint32_t c = 1; c <= CYCLES; c++) {
		f.failed += w->made[c][page] && w->visit[c][page].outcome == 3;
		f.blocked += w->made[c][page] && w->visit[c][page].outcome == 4;
	}
	for (uint32_t c = CYCLES; c >= 1; c--) {
		const struct store_visit *v = &w->visit[c][page];

		if (w->made[c][page] && v->outcome < 3)
			break;
		if (!w->made[c][page] || !is_failure(v))
			continue;
		if (!f.times) {
			f.last = v->time;
			f.outcome = (enum outcome)v->outcome;
			f.cause = (enum cause)v->cause;
			f.status = v->status;
		}
		alike = alike && v->outcome == f.outcome && v->cause == f.cause &&
			v->status == f.status;
		f.alike += alike;
		f.times++;
		f.since = v->time;
	}
	return f;
}

static void check_equal(const struct failing *a, const struct failing *b)
{
	assert_int_equal(a->failed, b->failed);
	assert_int_equal(a->blocked, b->blocked);
	assert_int_equal(a->times, b->times);
	if (!a->times)
		return;
	assert_int_equal(a->alike, b->alike);
	assert_int_equal(a->since, b->since);
	assert_int_equal(a->last, b->last);
	assert_int_equal(a->outcome, b->outcome);
	assert_int_equal(a->cause, b->cause);
	assert_int_equal(a->status, b->status);
}

/* Each row by counting over the pages of its site, and no site left out. */
static void check_sites(const struct loaded *l, const struct failing *by_page)
{
	uint32_t n, pages = 0, seen = 0, failing = 0;
	struct failing_site *rows = failing_sites(&l->pages, by_page, NULL, 0, &n);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t of[256] = { 0 }, times = 0, here = 0, blocked = 0, most = 0;
		int64_t since = INT64_MAX, last = 0;

		for (uint32_t i = 0; i < PAGES; i++) {
			const struct failing *f = &by_page[i];

			if (l->pages.site[i] != rows[k].site || !f->times)
				continue;
			here++;
			times += f->times;
			blocked += f->outcome == OUTCOME_BLOCKED;
			of[f->cause]++;
			since = f->since < since ? f->since : since;
			last = f->last > last ? f->last : last;
		}
		for (int c = 0; c < 256; c++)
			most = of[c] > most ? of[c] : most;
		assert_int_equal(rows[k].pages, PAGES / SITES);
		assert_int_equal(rows[k].failing, here);
		assert_int_equal(rows[k].blocked, blocked);
		assert_int_equal(rows[k].failed, here - blocked);
		assert_int_equal(rows[k].times, times);
		assert_int_equal(rows[k].of_cause, most);
		assert_int_equal(of[rows[k].cause], most);
		assert_int_equal(rows[k].since, since);
		assert_int_equal(rows[k].last, last);
		assert_true(k == 0 || rows[k - 1].failing >= here);
		seen += here;
	}
	free(rows);
	free(failing_list(&l->pages, by_page, &pages));
	for (uint32_t i = 0; i < PAGES; i++)
		failing += by_page[i].times > 0;
	assert_int_equal(seen, failing);
	assert_int_equal(pages, failing);
}

static void test_against_a_naive_reading(void **state)
{
	struct pages_opts po = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w = { 0 };
		struct loaded l = { 0 };
		struct failing *by_page = NULL, one;
		struct visit_counts counts;
		struct err err;

		bed_open(&w.bed, "127.0.0.0/8");
		add_visits(&w, seed);
		assert_int_equal(load_pages(&l, w.bed.store, &po, &err), 0);
		assert_int_equal(visit_counts_load(&counts, w.bed.store, &l.pages, NULL, &err), 0);
		by_page = failing_pages(&counts, &l);
		for (uint32_t i = 0; i < PAGES; i++) {
			struct failing want = naive(&w, i);

			assert_int_equal(failing_page(w.bed.store, i, &one, &err), 0);
			check_equal(&one, &want);
			if (w.gone[i])
				want.times = 0;
			check_equal(&by_page[i], &want);
		}
		check_sites(&l, by_page);
		free(by_page);
		visit_counts_release(&counts);
		loaded_release(&l);
		bed_close(&w.bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_a_naive_reading) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
