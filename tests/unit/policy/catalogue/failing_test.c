/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that fail for ever must not cost a policy its harvest.
 *
 * One test a policy of the catalogue: 30 % of the pages always fail.  Once each of them has
 * failed, the policy's ChangeRatio must be at least 90 % of the one that it has when those
 * pages are not there at all, with the same requests.  The first cycles have a budget for
 * everything, so that "once each has failed" comes soon for all.
 *
 * Plain only.
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
#include "policy/catalogue/catalogue.h"
#include "../../../lib/stage.h"

#define HOSTS 8
#define DIRS 5
#define PAGES 1000
#define BUDGET 60
#define CYCLES 24
#define SEEDS 3

struct web {
	struct stage stage;
	uint64_t seed;
	uint32_t *who;                  /* by page: which of the PAGES it is */
	uint32_t *copy;                 /* by page: the version we have */
	uint8_t *truth, *failed;        /* by page; failed: at least once */
	uint32_t n_failed;              /* such pages */
	uint32_t downloads, changed, failures;
};

static bool fails(uint64_t seed, uint32_t who)
{
	return rng_unit(rng_draw(seed, 0, who, RNG_USER)) < 0.3;
}

/* How often a page has changed until a cycle: at a pace of its own, or with its directory. */
static uint32_t version(uint64_t seed, uint32_t who, uint32_t cycle)
{
	double u = rng_unit(rng_draw(seed, 0, who, RNG_USER + 1)), pace = 0.3 * u * u * u;
	uint32_t n = 0, dir = who % (HOSTS * DIRS);

	for (uint32_t c = 1; c <= cycle; c++) {
		bool burst = rng_unit(rng_draw(seed, c, dir, RNG_USER + 2)) < 0.04;

		n += rng_unit(rng_draw(seed, c, who, RNG_USER + 3)) < (burst ? 0.7 : pace);
	}
	return n;
}

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	struct web *w = arg;
	uint32_t who = w->who[page], now;

	w->downloads++;
	if (who == UINT32_MAX)
		return OUTCOME_SAME;
	if (fails(w->seed, who)) {
		w->failures++;
		w->n_failed += !w->failed[page];
		w->failed[page] = 1;
		return OUTCOME_FAILED;
	}
	now = version(w->seed, who, cycle);
	if (now == w->copy[page])
		return OUTCOME_SAME;
	w->copy[page] = now;
	w->changed++;
	return OUTCOME_CHANGED;
}

static void open_web(struct web *w, uint64_t seed, bool only_living)
{
	*w = (struct web){ .seed = seed };
	stage_open(&w->stage);
	for (uint32_t i = 0; i < PAGES; i++) {
		char url[80];

		if (only_living && fails(seed, i))
			continue;
		snprintf(url, sizeof url, "http://h%u.example/d%u/p%u", i % HOSTS,
		         i / HOSTS % DIRS, i);
		trace_add(&w->stage.h, url, 0, "a", NULL);
	}
	w->stage.needs = ~0u;
	w->stage.fate = fate;
	w->stage.arg = w;
}

static void play(struct web *w, const char *spec, enum failure failure)
{
	uint32_t n;

	w->stage.failure = failure;
	stage_play(&w->stage, spec);
	w->stage.e.view.seed = w->seed;
	n = w->stage.r.pages.n;
	w->who = mem_array(n, sizeof *w->who);
	w->copy = mem_zalloc(n, sizeof *w->copy);
	w->truth = mem_zalloc(n, 1);
	w->failed = mem_zalloc(n, 1);
	w->stage.e.view.truth = w->truth;
	for (uint32_t i = 0; i < n; i++) {
		const char *p = strstr(pages_url(&w->stage.r.pages, i), "/p");

		if (!p || sscanf(p, "/p%u", &w->who[i]) != 1)
			w->who[i] = UINT32_MAX;         /* the page that makes the history long */
	}
}

static void cycle(struct web *w, uint32_t budget)
{
	for (uint32_t i = 0; i < w->stage.r.pages.n; i++)
		w->truth[i] = w->who[i] != UINT32_MAX && !fails(w->seed, w->who[i]) &&
			version(w->seed, w->who[i], w->stage.e.view.cycle + 1) != w->copy[i];
	stage_cycle(&w->stage, budget);
}

static void close_web(struct web *w)
{
	stage_close(&w->stage);
	free(w->who);
	free(w->copy);
	free(w->truth);
	free(w->failed);
}

/* The share of downloads that found a change, after cycles that visit everything: as many
 * as it takes until each page that fails has failed (if only the living are there: *warm). */
static double harvest(const char *spec, uint64_t seed, bool only_living, enum failure failure,
                      int *warm)
{
	struct web w;
	uint32_t all = 0;
	double ratio;
	int n = 0;

	for (uint32_t i = 0; i < PAGES && !only_living; i++)
		all += fails(seed, i);
	open_web(&w, seed, only_living);
	play(&w, spec, failure);
	for (; only_living ? n < *warm : w.n_failed < all; n++) {
		assert_true(n < 8);
		cycle(&w, PAGES + 1);
	}
	*warm = n;
	w.downloads = w.changed = w.failures = 0;
	for (int c = 0; c < CYCLES; c++)
		cycle(&w, BUDGET);
	assert_int_equal(w.downloads, CYCLES * BUDGET);
	assert_true(w.failures <= CYCLES * BUDGET / 20);
	ratio = (double)w.changed / w.downloads;
	close_web(&w);
	return ratio;
}

static void keeps_its_harvest(void **state)
{
	const struct policy_ops *ops = *state;
	static const enum failure kinds[] = { FAILURE_FORBIDDEN, FAILURE_ANSWER, FAILURE_RESET };

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		double with = 0, without = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			int warm;

			with += harvest(ops->name, seed, false, kinds[k], &warm);
			without += harvest(ops->name, seed, true, kinds[k], &warm);
		}
		if (with < 0.9 * without)
			fail_msg("%s, failure %d: ChangeRatio %.4f, on the living alone %.4f", ops->name,
			         kinds[k], with / SEEDS, without / SEEDS);
	}
}

int main(void)
{
	struct CMUnitTest tests[200];
	size_t n = 0;

	for (const struct policy_ops *ops; n < 200 && (ops = policy_at(n)); n++)
		tests[n] = (struct CMUnitTest){ ops->name, keeps_its_harvest, NULL, NULL,
		                                (void *)(uintptr_t)ops };
	return _cmocka_run_group_tests("failing pages", tests, n, NULL, NULL);
}
