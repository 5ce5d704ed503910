/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide: its model against closed forms and hand-worked numbers, and the regression it
 * corrects itself with.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/catalogue/catalogue.h"
#include "policy/model/logistic.h"
#include "policy/tide/tide.h"
#include "policy/tide/tide_model.h"
#include "../../../lib/stage.h"

#define ASSERT_NEAR(x, y, tolerance) do { \
	double x_ = (x), y_ = (y); \
	if (!(fabs(x_ - y_) <= (tolerance))) \
		fail_msg("%s = %.9g, not %.9g", #x, x_, y_); \
} while (0)

static const struct tide_params usual = {
	.voice = 3, .voice_base = 12, .discount = 0.9, .k_base = 15, .k_site = 8, .k_dir = 2,
};

/* A root with two directories below it. */
static const uint32_t parent[] = { DIR_NONE, 0, 0 };
static const struct tree small = { .n_dirs = 3, .n_sites = 1, .dir_parent = parent };

/* One unchanged visit in cycle 1, by hand.  Root: events 0, exposure 1 in the
 * directory; the root hears 1 / (1 + 1/3) = 0.75 of it. */
static void hazards_by_hand(void **state)
{
	struct tide_model m;
	double base0 = 0.03, root, dir, y, q0, q1;
	int node;

	(void)state;
	tide_model_init(&m, &small, &usual);
	tide_model_begin(&m, 1, 1);
	ASSERT_NEAR(tide_model_survival(&m, -1, 0), log1p(-base0), 1e-6);
	tide_model_refresh(&m, 1);
	tide_model_learn(&m, 1, 0, false);
	node = tide_model_refresh(&m, 1);
	y = 1 / (1 + 1 / 12.0);                 /* of the long-run exposure */
	root = 15 * base0 / (y + 15);
	dir = 15 * root / (1 + 15);
	q0 = 8 * root / (0.75 + 8);
	q1 = 2 * (q0 * dir / root) / (1 + 2);
	ASSERT_NEAR(m.level[0].base, root, 1e-7);
	ASSERT_NEAR(m.level[node].base, dir, 1e-7);
	ASSERT_NEAR(m.level[0].hazard[m.slot[0].column], q0, 1e-7);
	ASSERT_NEAR(m.level[node].hazard[m.slot[0].column], q1, 1e-7);
	ASSERT_NEAR(tide_model_survival(&m, node, 0), log1p(-q1), 1e-6);
	/* the other directory was never visited: it has the root's hazards */
	ASSERT_NEAR(tide_model_survival(&m, tide_model_refresh(&m, 2), 0), log1p(-q0), 1e-6);
	tide_model_release(&m);
}

/* What an unknown host is expected to do, after a changed visit of another: hosts
 * speak with weight 1 / (1 + exposure / 500) beside a prior of 1 in 1/0.03. */
static void hosts_inform_each_other(void **state)
{
	struct tide_model m;
	double w = 1 / (1 + 1 / 500.0);

	(void)state;
	tide_model_init(&m, &small, &usual);
	tide_model_begin(&m, 1, 1);
	tide_model_learn(&m, 1, 0, true);
	tide_model_begin(&m, 2, 1);
	ASSERT_NEAR(m.base, (1 + w) / (1 / 0.03 + w), 1e-7);
	tide_model_learn(&m, 2, 1, false);
	tide_model_begin(&m, 3, 1);
	w = 1 / (1 + 2 / 500.0);
	ASSERT_NEAR(m.base, (1 + w) / (1 / 0.03 + 2 * w), 1e-7);
	tide_model_release(&m);
}

/* A family seen 3 more than expected, variance 0.5: 3 / 1.5 in the log-odds. */
static void family_effect_by_hand(void **state)
{
	struct tide_state s = { .weight = { [TIDE_FAMILY] = 0.7 } };
	struct tide_family g = { .sum = 3, .var = 0.5f };

	(void)state;
	ASSERT_NEAR((double)tide_factor(&s, TIDE_FAMILY, &g), exp(0.7 * 2), 1e-5);
}

/* Two hits of chance .25 and .5 and a miss of .5, of pages of one host that were last visited
 * in cycle 2: .75 + .5 - .5 more than expected.  Nobody else hears of them: pages of that host
 * that were last visited in another cycle, another host, the next cycle. */
static void cohort_by_hand(void **state)
{
	static const uint32_t parents[] = { DIR_NONE, 0, DIR_NONE };
	static const struct tree two = { .n_dirs = 3, .n_sites = 2, .dir_parent = parents };
	struct tide_state s = { .ready = true };
	struct tide_family g;

	(void)state;
	tide_model_init(&s.model, &two, &usual);
	s.cohorts_of = mem_zalloc(s.model.n_roots, sizeof *s.cohorts_of);
	for (uint32_t c = 1; c <= 4; c++)
		tide_model_begin(&s.model, c, 1);
	tide_cohort_learn(&s, 1, 3, true, 0.9);
	tide_cohort_learn(&s, 0, 2, true, 0.25);
	tide_cohort_learn(&s, 0, 2, true, 0.5);
	tide_cohort_learn(&s, 0, 2, false, 0.5);
	tide_cohort_learn(&s, 0, 4, true, 0.5);         /* visited just now: no time has passed */
	g = tide_cohort(&s, 0, 2);
	ASSERT_NEAR(g.sum, 0.75, 1e-6);
	ASSERT_NEAR(g.var, 0.1875 + 0.25 + 0.25, 1e-6);
	ASSERT_NEAR(tide_cohort(&s, 1, 3).sum, 0.1, 1e-6);
	for (uint32_t last = 0; last <= 4; last++) {
		assert_true(last == 2 || tide_cohort(&s, 0, last).var == 0);
		assert_true(last == 3 || tide_cohort(&s, 1, last).var == 0);
	}
	s.model.alone = true;                           /* told of the cycle: one cohort a host */
	tide_cohort_learn(&s, 1, 0, true, 0.5);
	ASSERT_NEAR(tide_cohort(&s, 1, 1).sum, 0.1 + 0.5, 1e-6);
	tide_cohort_begin(&s);
	assert_true(tide_cohort(&s, 0, 2).var == 0);
	vec_release(&s.cohorts);
	free(s.cohorts_of);
	tide_model_release(&s.model);
}

/* A changed visit over three cycles of equal hazard q spreads one event as
 * q, q(1-q), q(1-q)^2 over their sum, and is at risk until it. */
static void changed_visit_is_spread(void **state)
{
	struct tide_model m;
	double q = 0.03, f[3], sum = 0, before = 0;
	struct tide_ring r;

	(void)state;
	tide_model_init(&m, &small, &usual);
	tide_model_begin(&m, 3, 1);
	tide_model_learn(&m, 1, 0, true);
	r = tide_ring_of(&m, m.node[1] - 1);
	for (int j = 0; j < 3; j++)
		sum += f[j] = q * pow(1 - q, j);
	for (int j = 0; j < 3; j++) {
		ASSERT_NEAR(r.events[m.slot[j].column], f[j] / sum, 1e-6);
		ASSERT_NEAR(r.exposure[m.slot[j].column], 1 - before, 1e-6);
		before += f[j] / sum;
	}
	tide_model_release(&m);
}

/* Pages that change with chance x in each cycle, visited at random: the long-run
 * hazard finds x, although intervals are censored. */
static void finds_a_constant_rate(void **state)
{
	(void)state;
	for (int k = 0; k < 3; k++) {
		double x = (double[]){ 0.02, 0.1, 0.4 }[k], sum = 0;
		struct tide_model m;
		uint32_t last[500] = { 0 };

		tide_model_init(&m, &small, &usual);
		for (uint32_t c = 1; c <= 100; c++) {
			tide_model_begin(&m, c, 1);
			for (uint32_t p = 0; p < 500; p++) {
				bool hit = false;

				if (rng_draw(1, c, p, RNG_USER) % 8)
					continue;
				for (uint32_t j = last[p] + 1; j <= c; j++)
					hit |= rng_unit(rng_draw(2, j, p, RNG_USER)) < x;
				tide_model_learn(&m, 1, last[p], hit);
				last[p] = c;
			}
			if (c > 60)
				sum += (double)m.level[tide_model_refresh(&m, 1)].base / 40;
		}
		ASSERT_NEAR(sum / x, 1, 0.1);
		tide_model_release(&m);
	}
}

/* Everything changed in cycle 5 and never else: a page last seen before it is
 * stale, one seen since is not, and old visits teach it. */
static void a_burst_is_remembered(void **state)
{
	struct tide_model m;
	int node;

	(void)state;
	tide_model_init(&m, &small, &usual);
	for (uint32_t c = 1; c <= 9; c++) {
		tide_model_begin(&m, c, 1);
		for (int i = 0; i < 12; i++) {
			/* pages last seen 1 .. 3 cycles ago */
			uint32_t last = c > 1 + (uint32_t)i % 3 ? c - 1 - (uint32_t)i % 3 : 0;

			tide_model_refresh(&m, 1);
			tide_model_learn(&m, 1, last, last < 5 && c >= 5);
		}
	}
	node = tide_model_refresh(&m, 1);
	assert_true(tide_model_survival(&m, node, 4) < log(0.2));
	assert_true(tide_model_survival(&m, node, 5) > log(0.8));
	tide_model_release(&m);
}

/* Told of the cycle alone, a visit is at risk in that cycle only, but a copy still ages:
 * unvisited hosts by the closed form, and a burst that only its own cycle was told of. */
static void copies_age_though_only_the_cycle_is_told(void **state)
{
	struct tide_model m;
	int node;

	(void)state;
	tide_model_init(&m, &small, &usual);
	m.alone = true;
	tide_model_begin(&m, 4, 1);
	ASSERT_NEAR(tide_model_survival(&m, -1, 1), log1p(-0.03), 1e-6);
	ASSERT_NEAR(tide_model_survival_of_copy(&m, -1, 1), 3 * log1p(-0.03), 1e-6);
	tide_model_release(&m);
	tide_model_init(&m, &small, &usual);
	m.alone = true;
	for (uint32_t c = 1; c <= 8; c++) {
		tide_model_begin(&m, c, 1);
		for (int i = 0; i < 12; i++)
			tide_model_learn(&m, 1, 0, c == 5);
	}
	node = tide_model_refresh(&m, 1);
	assert_true(tide_model_survival_of_copy(&m, node, 4) < log(0.2));
	assert_true(tide_model_survival_of_copy(&m, node, 5) > log(0.8));
	ASSERT_NEAR(tide_model_survival(&m, node, 4), tide_model_survival(&m, node, 7), 0);
	tide_model_release(&m);
}

static void regression_finds_weights(void **state)
{
	enum { N = 20000 };
	static float x[N][3];
	static uint8_t y[N];
	const struct logistic_prior prior[3] = { { 0, 1 }, { 0, 1 }, { 0, 1 } };
	const double truth[3] = { 0.8, -1.5, 0.3 };
	double w[3] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 5);
	for (int i = 0; i < N; i++) {
		double s = 0;

		for (int k = 0; k < 3; k++) {
			x[i][k] = k == 2 ? 1 : (float)rng_normal(&r);
			s += truth[k] * (double)x[i][k];
		}
		y[i] = rng_next_unit(&r) < 1 / (1 + exp(-s));
	}
	logistic_fit(&x[0][0], y, N, 3, prior, w);
	for (int k = 0; k < 3; k++)
		ASSERT_NEAR(w[k], truth[k], 0.08);
	/* without rows it is the prior */
	logistic_fit(&x[0][0], y, 0, 3, (struct logistic_prior[]){ { 1, 9 }, { 2, 9 }, { 3, 9 } },
	             w);
	ASSERT_NEAR(w[0], 1, 1e-9);
	ASSERT_NEAR(w[2], 3, 1e-9);
	/* all hits, separable: held by the ridge */
	memset(y, 1, N);
	w[0] = w[1] = w[2] = 0;
	logistic_fit(&x[0][0], y, 100, 3, prior, w);
	for (int k = 0; k < 3; k++)
		assert_true(isfinite(w[k]) && fabs(w[k]) < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hazards_by_hand),
		cmocka_unit_test(hosts_inform_each_other),
		cmocka_unit_test(family_effect_by_hand),
		cmocka_unit_test(cohort_by_hand),
		cmocka_unit_test(changed_visit_is_spread),
		cmocka_unit_test(finds_a_constant_rate),
		cmocka_unit_test(a_burst_is_remembered),
		cmocka_unit_test(copies_age_though_only_the_cycle_is_told),
		cmocka_unit_test(regression_finds_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
