/* SPDX-License-Identifier: Apache-2.0 */
/* CLS and CB on a world of planted clusters: sample sizes worked by hand, the
 * order of downloads, caps, merging, clustering anew, and almost nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "base/mem.h"
#include "cluster/rows.h"
#include "engine/cycle/cycle.h"
#include "policy/catalogue/catalogue.h"

struct world {
	uint32_t n, n_groups;           /* page i is of group i % n_groups */
	bool (*changes)(uint32_t page, uint32_t group, uint32_t cycle);
	struct engine e;
	struct pages pages;
	struct feature_maker maker;
	struct policy *policy;
	unsigned n_made;                /* clusterings asked for */
};

/* Page i of group g: direction g, tilted more the larger i is. */
static void make_rows(void *self, const struct view *v, enum feature_set set, struct rows *ret)
{
	struct world *w = self;

	(void)set;
	w->n_made++;
	rows_init_dense(ret, v->n_pages, w->n_groups + 1);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		rows_dense(ret, i)[i % w->n_groups] = 1;
		rows_dense(ret, i)[w->n_groups] = 0.3f * (float)i / (float)v->n_pages;
	}
	rows_unit(ret);
}

static int deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                   struct err *err)
{
	struct world *w = self;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		uint32_t page = offers[i].page;

		ret[i].hit = w->changes(page, page % w->n_groups, w->e.view.cycle);
		ret[i].outcome = ret[i].hit ? OUTCOME_CHANGED : OUTCOME_SAME;
	}
	return 0;
}

static void world_open(struct world *w, uint32_t n, uint32_t n_groups, const char *spec)
{
	uint64_t *offset = mem_array((size_t)n + 1, sizeof *offset);
	char *pool = mem_alloc((size_t)n * 40 + 1);
	struct pages_opts opts = { 0 };
	struct err err;
	size_t at = 0;

	w->n = n;
	w->n_groups = n_groups;
	for (uint32_t i = 0; i < n; i++) {
		offset[i] = at;
		at += (size_t)sprintf(pool + at, "http://s.example/p%u", i) + 1;
	}
	offset[n] = at;
	pages_init(&w->pages, pool, offset, n, &opts);
	assert_int_equal(policy_new(&w->policy, spec, &err), 0);
	engine_init(&w->e, &w->pages, w->policy, 0);
	memset(w->e.visits.state, PAGE_HERE, n);
	w->maker = (struct feature_maker){ w, make_rows };
	w->e.view.features = &w->maker;
	w->e.view.seed = 4;
	w->e.source = (struct source){ .self = w, .deliver = deliver };
}

static void world_close(struct world *w)
{
	engine_release(&w->e);
	policy_free(w->policy);
	pages_release(&w->pages);
}

/* One cycle; downloads and samples of each group, every page at most once. */
static void run_cycle(struct world *w, uint32_t budget, uint32_t *downloads, uint32_t *samples)
{
	uint8_t *seen = calloc(w->n + 1, 1);
	struct err err;

	memset(downloads, 0, w->n_groups * sizeof *downloads);
	memset(samples, 0, w->n_groups * sizeof *samples);
	assert_int_equal(engine_cycle(&w->e, w->e.view.cycle * 100, budget, &err), 0);
	assert_int_equal(w->e.cycle.n_seen, budget < w->n ? budget : w->n);
	for (size_t i = 0; i < w->e.cycle.n_seen; i++) {
		uint32_t page = w->e.cycle.seen[i].page;

		assert_false(seen[page]);
		seen[page] = 1;
		downloads[page % w->n_groups]++;
		samples[page % w->n_groups] += w->e.cycle.seen[i].reason == REASON_SAMPLE;
	}
	free(seen);
}

/* Group 0 always changes, 1 never, of 2 every second page of its list. */
static bool three_kinds(uint32_t page, uint32_t group, uint32_t cycle)
{
	(void)cycle;
	return group == 0 || (group == 2 && page / 3 % 2);
}

static void test_samples_and_downloads_by_hand(void **state)
{
	struct world w = { .changes = three_kinds };
	uint32_t downloads[3], samples[3];

	(void)state;
	/* R = 60, k = 3: at most 20 samples each.  0 and 1 have no variance: 5; 2 is
	 * half and half, which needs 44 for +-0.1: the cap.  30 are left, for the
	 * rest of group 0. */
	world_open(&w, 120, 3, "cluster:k=3,features=static");
	run_cycle(&w, 60, downloads, samples);
	assert_true(samples[0] == 5 && samples[1] == 5 && samples[2] == 20);
	assert_true(downloads[0] == 35 && downloads[1] == 5 && downloads[2] == 20);
	/* each sample of group 0 has lambda = 1, so its score is 1 - 1/e */
	for (size_t i = 0; i < w.e.cycle.n_seen; i++)
		if (w.e.cycle.seen[i].reason == REASON_GROUP)
			assert_true(fabs((double)w.e.cycle.seen[i].score - (1 - exp(-1))) < 1e-6);
	/* Cycle 2, weights=non: frequencies 1 and 0 again in 0 and 1 (their samples
	 * are the same pages); in group 2 too, for those changed twice or never. */
	run_cycle(&w, 60, downloads, samples);
	assert_true(samples[0] == 5 && samples[1] == 5 && samples[2] == 20);
	assert_int_equal(w.n_made, 1);
	world_close(&w);
}

/* Student's t for a confidence of 0.8 (z = 1.2816) by its expansion in 1/nu. */
static double t_of(double nu)
{
	double z = 1.2816, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	return z + (z3 + z) / (4 * nu) + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * nu * nu * nu);
}

/* A mixed cluster is sampled until t s / sqrt(n) <= delta for the first time, n >= 5
 * (about 44 for 0.1 where half have changed); lambda is 0 or 1 in the first cycle. */
static void test_sampling_ends_with_the_t_rule(void **state)
{
	(void)state;
	for (int d = 100; d <= 200; d += 10) {
		struct world w = { .changes = three_kinds };
		uint32_t downloads[3], samples[3], n = 0, hits = 0;
		char spec[80];

		snprintf(spec, sizeof spec, "cluster:k=3,features=static,delta=0.%d", d);
		world_open(&w, 300, 3, spec);
		run_cycle(&w, 240, downloads, samples);         /* at most 80 samples each */
		assert_in_range(samples[2], 8, 60);
		for (size_t i = 0; i < w.e.cycle.n_seen; i++) {
			double p, width;

			if (w.e.cycle.seen[i].reason != REASON_SAMPLE || w.e.cycle.seen[i].page % 3 != 2)
				continue;
			n++;
			hits += w.e.cycle.seen[i].hit;
			p = (double)hits / n;
			width = n > 1 ? t_of(n - 1.0) * sqrt(p * (1 - p) / (n - 1.0)) : 1;
			if (n >= 5)
				assert_int_equal(width <= d / 1000.0, n == samples[2]);
		}
		world_close(&w);
	}
	assert_true(fabs(t_of(4) - 1.533) < 0.001);
}

static void test_samples_are_the_nearest_and_stay(void **state)
{
	struct world w = { .changes = three_kinds };
	uint32_t downloads[3], samples[3], first[15], n = 0;

	(void)state;
	world_open(&w, 120, 3, "cluster:k=3,features=static,delta=1");
	for (int cycle = 0; cycle < 3; cycle++) {
		run_cycle(&w, 15, downloads, samples);
		n = 0;
		for (size_t i = 0; i < w.e.cycle.n_seen; i++) {
			assert_int_equal(w.e.cycle.seen[i].reason, REASON_SAMPLE);
			if (cycle)
				assert_int_equal(first[n], w.e.cycle.seen[i].page);
			first[n++] = w.e.cycle.seen[i].page;
		}
		/* the tilt rises with the number, its mean is in the middle */
		for (size_t i = 0; i < n; i++)
			assert_true(first[i] > 40 && first[i] < 80);
	}
	world_close(&w);
	/* drawn at random they differ from cycle to cycle */
	w = (struct world){ .changes = three_kinds };
	world_open(&w, 120, 3, "cluster:k=3,features=static,delta=1,samples=random");
	run_cycle(&w, 15, downloads, samples);
	n = 0;
	for (size_t i = 0; i < w.e.cycle.n_seen; i++)
		first[n++] = w.e.cycle.seen[i].page;
	run_cycle(&w, 15, downloads, samples);
	n = 0;
	for (size_t i = 0; i < w.e.cycle.n_seen; i++)
		n += first[i] != w.e.cycle.seen[i].page;
	assert_true(n > 5);
	world_close(&w);
}

static void test_cap_and_merging(void **state)
{
	struct world w = { .changes = three_kinds };
	uint32_t downloads[3], samples[3];

	(void)state;
	/* cap=0.5 of 60: at most 10 samples each */
	world_open(&w, 120, 3, "cluster:k=3,features=static,cap=0.5");
	run_cycle(&w, 60, downloads, samples);
	assert_true(samples[0] == 5 && samples[1] == 5 && samples[2] == 10);
	assert_int_equal(downloads[0], 40);
	world_close(&w);
	/* 12 downloads: 5 samples each allow two clusters, not three */
	w = (struct world){ .changes = three_kinds };
	world_open(&w, 120, 3, "cluster:k=3,features=static");
	run_cycle(&w, 12, downloads, samples);
	assert_true(samples[0] + samples[1] + samples[2] <= 12);
	world_close(&w);
	/* fewer than 5: one cluster, and the cap beats the 5 */
	w = (struct world){ .changes = three_kinds };
	world_open(&w, 120, 3, "cluster:k=3,features=static,cap=0.5");
	run_cycle(&w, 4, downloads, samples);
	assert_int_equal(samples[0] + samples[1] + samples[2], 2);
	world_close(&w);
}

static void test_clusters_anew_when_features_are_dynamic(void **state)
{
	static const struct { const char *spec, *cycles; } cases[] = {
		{ "cluster:k=3,features=static", "1 " },
		{ "cluster:k=3,features=url", "1 " },
		{ "cluster:k=3,features=dynamic", "1 3 7 11 " },
		{ "cluster:k=3", "1 3 7 11 " },
		{ "cluster:k=3,recluster=2", "1 3 5 7 9 11 " },
		{ "cluster:k=3,recluster=0", "1 " },
	};
	uint32_t downloads[3], samples[3];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world w = { .changes = three_kinds };
		char made[80] = "";
		unsigned before = 0;

		world_open(&w, 120, 3, cases[i].spec);
		for (int cycle = 1; cycle <= 12; cycle++, before = w.n_made) {
			size_t at = strlen(made);

			run_cycle(&w, 30, downloads, samples);
			if (w.n_made > before)
				snprintf(made + at, sizeof made - at, "%d ", cycle);
		}
		assert_string_equal(made, cases[i].cycles);
		world_close(&w);
	}
}

/* In cycle 1 group 0 changed, from then on group 1 does. */
static bool changes_over(uint32_t page, uint32_t group, uint32_t cycle)
{
	(void)page;
	return group == (cycle > 1);
}

/* When do the downloads follow?  In cycle 2 the new group weighs 1 (short), 2/3
 * (arith, geo) or 1/2 (non: a tie); in cycle 3 it has 2/3 of non, too. */
static void test_weights(void **state)
{
	static const struct { const char *spec; uint32_t follows; } cases[] = {
		{ "cluster:k=3,features=static,weights=short,delta=1", 2 },
		{ "cluster:k=3,features=static,weights=geo,delta=1", 2 },
		{ "cluster:k=3,features=static,weights=arith,delta=1", 2 },
		{ "cluster:k=3,features=static,weights=non,delta=1", 3 },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct world w = { .changes = changes_over };
		uint32_t downloads[3], samples[3];

		world_open(&w, 120, 3, cases[i].spec);
		run_cycle(&w, 40, downloads, samples);
		assert_true(downloads[0] == 30 && downloads[1] == 5);
		for (uint32_t cycle = 2; cycle <= 4; cycle++) {
			run_cycle(&w, 40, downloads, samples);
			if (cycle >= cases[i].follows)
				assert_int_equal(downloads[1], 30);
		}
		world_close(&w);
	}
}

static void test_neighbour_by_cluster(void **state)
{
	struct world w = { .changes = three_kinds };
	uint32_t downloads[4], samples[4];

	(void)state;
	/* A changed sample of group 0 brings all of it; group 1 only samples. */
	world_open(&w, 120, 3, "neighbour:by=cluster,k=3,d=0");
	run_cycle(&w, 90, downloads, samples);
	assert_true(downloads[0] == 40 && downloads[2] == 40);
	assert_int_equal(downloads[1], samples[1]);
	world_close(&w);
	/* d=2 reaches every cluster: once a sample changed all follow */
	w = (struct world){ .changes = three_kinds };
	world_open(&w, 120, 3, "neighbour:by=cluster,k=3,d=2");
	run_cycle(&w, 120, downloads, samples);
	assert_true(samples[0] + samples[1] + samples[2] < 20);
	world_close(&w);
}

static bool never(uint32_t page, uint32_t group, uint32_t cycle)
{
	(void)page;
	(void)group;
	(void)cycle;
	return false;
}

static void test_small_and_still_worlds(void **state)
{
	static const char *const specs[] = { "cluster", "cluster:k=100000,cap=0.001",
	                                     "cluster:samples=random,count=visits",
	                                     "neighbour:by=cluster,d=8" };
	uint32_t downloads[3], samples[3];

	(void)state;
	for (uint32_t n = 1; n < 8; n++) {
		for (size_t i = 0; i < 4; i++) {
			for (int blind = 0; blind < 2; blind++) {
				struct world w = { .changes = never };

				world_open(&w, n, 3, specs[i]);
				if (blind)
					w.e.view.features = NULL;
				for (uint32_t cycle = 0; cycle < 4; cycle++) {
					run_cycle(&w, 1 + cycle * 2, downloads, samples);
					for (size_t k = 0; k < w.e.cycle.n_seen; k++)
						assert_true(isfinite(w.e.cycle.seen[k].score));
				}
				world_close(&w);
			}
		}
	}
}

static void test_same_seed_same_plan(void **state)
{
	struct world a = { .changes = three_kinds }, b = { .changes = three_kinds };
	uint32_t downloads[3], samples[3];

	(void)state;
	world_open(&a, 300, 3, "cluster:k=10,samples=random");
	world_open(&b, 300, 3, "cluster:k=10,samples=random");
	b.e.view.threads = 1;
	for (int cycle = 0; cycle < 5; cycle++) {
		run_cycle(&a, 100, downloads, samples);
		run_cycle(&b, 100, downloads, samples);
		for (size_t i = 0; i < a.e.cycle.n_seen; i++)
			assert_int_equal(a.e.cycle.seen[i].page, b.e.cycle.seen[i].page);
	}
	world_close(&a);
	world_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_and_downloads_by_hand),
		cmocka_unit_test(test_sampling_ends_with_the_t_rule),
		cmocka_unit_test(test_samples_are_the_nearest_and_stay),
		cmocka_unit_test(test_cap_and_merging),
		cmocka_unit_test(test_clusters_anew_when_features_are_dynamic),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_neighbour_by_cluster),
		cmocka_unit_test(test_small_and_still_worlds),
		cmocka_unit_test(test_same_seed_same_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
