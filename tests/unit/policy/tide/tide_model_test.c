/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide's model against a naive one that keeps every visit and works all hazards out
 * anew, by the formulas of docs/policies.md, in double precision; and the chances that
 * are made of it.
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
#include "graph/graph.h"
#include "policy/tide/tide.h"
#include "policy/tide/tide_model.h"
#include "../../../lib/stage.h"

#define DIRS 30
#define CYCLES 14

/* Two sites, the first with many directories; parents first. */
static const uint32_t parent[DIRS] = {
	DIR_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, DIR_NONE, 23, 24,
	24, 0, 0, 0,
};
static const struct tree tree = { .n_dirs = DIRS, .n_sites = 2, .dir_parent = parent };

static const struct tide_params usual = {
	.voice = 3, .voice_base = 12, .discount = 0.9, .k_base = 15, .k_site = 8, .k_dir = 2,
};

struct naive {
	double events[DIRS][CYCLES + 1], exposure[DIRS][CYCLES + 1];    /* of its own pages */
	double hazard[DIRS][CYCLES + 1], base[DIRS];
	double all;                                                     /* of unknown hosts */
	uint32_t now;
};

static uint32_t root_of(uint32_t d)
{
	return parent[d] == DIR_NONE ? d : root_of(parent[d]);
}

static double clip(double x, double lo, double hi)
{
	return fmin(fmax(x, lo), hi);
}

static void begin(struct naive *n, uint32_t cycle)
{
	double x = 1, y = 1 / 0.03;

	n->now = cycle;
	for (uint32_t site = 0; site < DIRS; site++) {
		double events = 0, exposure = 0;

		for (uint32_t d = 0; d < DIRS; d++)
			for (uint32_t j = 1; j < cycle && root_of(d) == site; j++) {
				events += n->events[d][j];
				exposure += n->exposure[d][j];
			}
		x += events / (1 + exposure / 500);
		y += exposure / (1 + exposure / 500);
	}
	n->all = fmin(0.5, x / y);
}

/* Sums with the children's voices, then rates from the roots down. */
static void hazards(struct naive *n)
{
	double a[DIRS][CYCLES + 1], b[DIRS][CYCLES + 1], x[DIRS] = { 0 }, y[DIRS] = { 0 };

	memcpy(a, n->events, sizeof a);
	memcpy(b, n->exposure, sizeof b);
	for (uint32_t d = 0; d < DIRS; d++)
		for (uint32_t j = 1; j <= n->now; j++) {
			x[d] += pow(0.9, n->now - j) * n->events[d][j];
			y[d] += pow(0.9, n->now - j) * n->exposure[d][j];
		}
	for (uint32_t d = DIRS; d-- > 0;) {
		uint32_t up = parent[d];

		if (up == DIR_NONE)
			continue;
		for (uint32_t j = 1; j <= n->now; j++) {
			a[up][j] += a[d][j] / (1 + b[d][j] / 3);
			b[up][j] += b[d][j] / (1 + b[d][j] / 3);
		}
		x[up] += x[d] / (1 + y[d] / 12);
		y[up] += y[d] / (1 + y[d] / 12);
	}
	for (uint32_t d = 0; d < DIRS; d++) {
		bool root = parent[d] == DIR_NONE;
		double above = root ? n->all : n->base[parent[d]], k = root ? 8 : 2, ratio;

		n->base[d] = fmin(0.98, (x[d] + 15 * above) / (y[d] + 15));
		ratio = clip(n->base[d] / above, 1 / 8.0, 8);
		for (uint32_t j = 1; j <= n->now; j++) {
			double prior = root ? n->base[d] :
			               fmin(0.98, n->hazard[parent[d]][j] * ratio);

			n->hazard[d][j] = clip((a[d][j] + k * prior) / (b[d][j] + k), 1e-6, 0.98);
		}
	}
}

/* A changed visit is spread over its interval by the hazards known before it. */
static void learn(struct naive *n, uint32_t d, uint32_t last, bool hit)
{
	double survive = 1, sum = 0, f[CYCLES + 1], before = 0;

	hazards(n);
	for (uint32_t j = last + 1; j <= n->now; j++) {
		f[j] = n->hazard[d][j] * survive;
		sum += f[j];
		survive *= 1 - n->hazard[d][j];
	}
	for (uint32_t j = last + 1; j <= n->now; j++) {
		n->exposure[d][j] += hit ? 1 - before : 1;
		n->events[d][j] += hit ? f[j] / sum : 0;
		before += f[j] / sum;
	}
}

static void near_to(const char *what, uint32_t d, double x, double want)
{
	if (!(fabs(x - want) <= 2e-4 * (fabs(want) + 0.01)))
		fail_msg("%s of %u is %.7g, not %.7g", what, d, x, want);
}

static void compare(struct tide_model *m, struct naive *n)
{
	hazards(n);
	for (uint32_t d = 0; d < DIRS; d++) {
		int level = tide_model_refresh(m, d);
		double sum = 0;

		if (level < 0)
			continue;
		if (m->node[d])
			near_to("base", d, (double)m->level[level].base, n->base[d]);
		for (uint32_t j = n->now; j > 0; j--) {
			near_to("hazard", d, (double)m->level[level].hazard[m->slot[j - 1].column],
			        n->hazard[d][j]);
			sum += log1p(-n->hazard[d][j]);
			near_to("survival", d, (double)tide_model_survival(m, level, j - 1), sum);
		}
	}
}

static void model_is_the_naive_one(void **state)
{
	static struct naive n;
	struct tide_model m;
	double most = 0;
	struct rng r;

	(void)state;
	rng_init(&r, 8);
	tide_model_init(&m, &tree, &usual);
	for (uint32_t c = 1; c <= CYCLES; c++) {
		tide_model_begin(&m, c, 1);
		begin(&n, c);
		near_to("rate of unknown hosts", 0, m.base, n.all);
		for (int i = 0; i < 60; i++) {
			/* 2 changes all the time, 3 to 20 never, 25 in a burst of cycle 5 */
			uint32_t d = i % 3 ? (uint32_t)rng_below(&r, c < 4 ? 21 : DIRS) : 2;
			uint32_t last = c - 1 - (uint32_t)rng_below(&r, c < 4 ? c : 4);
			bool hit = d == 2 || (d == 25 && last < 5 && c >= 5) ||
			           (d > 20 && rng_below(&r, 5) == 0);

			tide_model_learn(&m, d, last, hit);
			learn(&n, d, last, hit);
			if (i % 10 == 0)
				compare(&m, &n);
		}
		compare(&m, &n);
		/* a ring has room for the slots there were, by fours */
		assert_int_equal(m.rings.n, m.nodes.n * 2 * ((c + 3) / 4 * 4));
		most = fmax(most, n.base[2] / n.base[0]);
	}
	assert_true(most > 9);          /* so the bound of 8 has been met */
	tide_model_release(&m);
}

static double ever_of(struct tide_model *m, uint32_t dir)
{
	return (double)m->level[tide_model_refresh(m, dir)].ever;
}

/* A page that changes once a day is found changed every day, then after forty days, again
 * and again.  Those finds do not say when it changed; they must not make it seem slower. */
static void finding_a_change_never_lowers_the_rate(void **state)
{
	const double day = 1 / 14.0;
	struct tide_model m;
	uint32_t cycle = 0;
	double was;

	(void)state;
	tide_model_init(&m, &tree, &usual);
	for (int i = 0; i < 30; i++) {
		tide_model_begin(&m, ++cycle, day);
		tide_model_learn(&m, 0, cycle - 1, true);
	}
	was = ever_of(&m, 0);
	assert_true(was > 0.5 * 14);    /* changes in two weeks */
	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < 40; k++)
			tide_model_begin(&m, ++cycle, day);
		tide_model_learn(&m, 0, cycle - 40, true);
		if (ever_of(&m, 0) < was * (1 - 1e-4))
			fail_msg("find %d: %.3f changes in two weeks, were %.3f", i, ever_of(&m, 0), was);
	}
	/* being found as it was does */
	tide_model_learn(&m, 0, cycle - 10, false);
	assert_true(ever_of(&m, 0) < was);
	tide_model_release(&m);
}

/* A host that changed often rests for long, as visits see, and then changes in one burst, as
 * others see.  That its other pages are found changed after it does say when: they were quiet
 * as long as the rest was, and the rate falls. */
static void a_burst_that_was_dated_lowers_the_rate(void **state)
{
	struct tide_model m;
	uint32_t cycle = 0;
	double was;

	(void)state;
	tide_model_init(&m, &tree, &usual);
	while (cycle < 40) {
		tide_model_begin(&m, ++cycle, 1);
		for (int i = 0; i < 40; i++)
			tide_model_learn(&m, 0, cycle - 1, cycle <= 20);
		if (cycle > 20 && cycle % 5 == 0)
			tide_model_learn(&m, 0, 20, false);
	}
	tide_model_begin(&m, ++cycle, 1);
	for (int i = 0; i < 20; i++)
		tide_model_learn(&m, 0, cycle - 1, true);
	was = ever_of(&m, 0);
	for (int i = 0; i < 20; i++)
		tide_model_learn(&m, 0, 20, true);
	if (!(ever_of(&m, 0) < 0.9 * was))
		fail_msg("%.4f changes in two weeks, were %.4f", ever_of(&m, 0), was);
	tide_model_release(&m);
}

/* Of twenty hosts one changes every day; of each of the others 20 visits, five units of time
 * apart, find one change.  For an unknown host that makes a high mean, but what is usual is
 * one change in a hundred units. */
static void one_wild_host_does_not_speak_for_the_others(void **state)
{
	uint32_t root[21];
	const struct tree hosts = { .n_dirs = 21, .n_sites = 21, .dir_parent = root };
	struct tide_model m;

	(void)state;
	for (int i = 0; i < 21; i++)
		root[i] = DIR_NONE;
	tide_model_init(&m, &hosts, &usual);
	for (uint32_t c = 1; c <= 140; c++) {
		tide_model_begin(&m, c, 1 / 14.0);
		for (uint32_t d = 1; d < 20; d++)
			if (c % 70 == 0)
				for (int page = 0; page < 10; page++)
					tide_model_learn(&m, d, c - 70, c == 140 && page == 0);
		tide_model_learn(&m, 0, c - 1, true);
	}
	tide_model_begin(&m, 141, 1 / 14.0);
	assert_true(m.base > 5 * 0.01);
	if (!(m.usual > 0.5 * 0.01 && m.usual < 2 * 0.01))
		fail_msg("usual rate %.4f", m.usual);
	tide_model_release(&m);
}

/* Half of the directories change a lot, the others hardly. */
static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	const struct stage *s = arg;
	double often = s->e.view.dir[page] % 2 ? 0.6 : 0.05;

	return rng_unit(rng_draw(1, cycle, page, RNG_USER)) < often ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static void open_pages(struct stage *s)
{
	stage_open(s);
	for (int i = 0; i < 240; i++) {
		char url[80], links[80];

		snprintf(url, sizeof url, "http://%c.example/d%d/%s%d", 'a' + i % 2, i % 8,
		         i % 3 ? "news" : "item", i);
		snprintf(links, sizeof links, "/d%d/news%d /d0/item0", (i + 2) % 8, i + 2);
		trace_add(&s->h, url, 0, "a", i % 5 ? links : NULL);
	}
	stage_play(s, "tide");
	s->fate = fate;
	s->arg = s;
}

static double logit_of(double p)
{
	return log(p / (1 - p));
}

#define HOSTS 3                 /* that of stage_open() is one */
#define TELL_EACH 5             /* one page in so many is visited in the last cycle */

/* Hits less expected, and their variance, by host and cycle of the last visit. */
struct cohorts { double sum[HOSTS][CYCLES], var[HOSTS][CYCLES]; };

/* Visit some pages; each was a hit with the chance of the regression on its features. */
static void visit_some(struct stage *s, struct cohorts *ret)
{
	struct tide_state *t = s->policy->state;

	memset(ret, 0, sizeof *ret);
	for (uint32_t i = 0; i < s->r.pages.n; i += TELL_EACH) {
		uint32_t host = s->e.view.site[i], last = s->e.visits.last_cycle[i];
		int level = tide_model_refresh(&t->model, tide_home(s->e.view.tree, s->e.view.dir[i]));
		struct seen seen = { .page = i, .known = true, .hit = i % 3 == 0 };
		float x[TIDE_FEATURES];
		double c = 0;

		assert_true(host < HOSTS && last < CYCLES);
		tide_features(s->policy, &s->e.view, i, tide_model_survival(&t->model, level, last), x);
		for (int k = 0; k < TIDE_FEATURES; k++)
			c += t->weight[k] * (double)x[k];
		c = clip(1 / (1 + exp(-c)), 0.001, 0.999);
		ret->sum[host][last] += (seen.hit ? 1 : 0) - c;
		ret->var[host][last] += c * (1 - c);
		policy_tell(s->policy, &s->e.view, &seen);
	}
}

/* The features by their definitions; and each page's chance, which is scored directory
 * by directory from factors, is the regression's on its features. */
static void chances_are_those_of_the_features(void **state)
{
	struct stage s;
	struct tide_state *t;
	struct cohorts cohorts;
	uint32_t visited = 0, in_cohorts = 0;

	(void)state;
	open_pages(&s);
	for (int c = 0; c < 8; c++)
		stage_cycle(&s, 60);
	t = s.policy->state;
	s.e.view.cycle++;
	s.e.view.room = 60;
	policy_begin(s.policy, &s.e.view);
	tide_set_fixed(s.policy, &s.e.view);    /* as the first ask() of a cycle does */
	visit_some(&s, &cohorts);
	tide_rescore(s.policy, &s.e.view, false);
	for (uint32_t i = 0; i < s.r.pages.n; i++) {
		const struct tide_page *h = policy_page(s.policy, i);
		uint32_t host = s.e.view.site[i], last = s.e.visits.last_cycle[i];
		uint32_t age = s.e.view.cycle - last;
		int level = tide_model_refresh(&t->model, tide_home(s.e.view.tree, s.e.view.dir[i]));
		double y = -(double)tide_model_survival(&t->model, level, last);
		double sum = 0, k0 = (double)t->k_page;
		double a = k0 + (double)h->hits, b = k0 + (double)h->expected;
		float x[TIDE_FEATURES];

		if (i % TELL_EACH == 0)         /* no more open */
			continue;
		tide_features(s.policy, &s.e.view, i, -0.009f, x);      /* hardly a chance */
		near_to("tree", i, (double)x[TIDE_TREE], log(expm1(a * log1p(0.009 / b))));
		tide_features(s.policy, &s.e.view, i, (float)-y, x);
		near_to("tree", i, (double)x[TIDE_TREE], log(clip(expm1(a * log1p(y / b)), 1e-5, 1e4)));
		near_to("age", i, (double)x[TIDE_AGE], log(age * (double)t->age_unit));
		near_to("cohort", i, (double)x[TIDE_COHORT],
		        cohorts.sum[host][last] / (1 + cohorts.var[host][last]));
		in_cohorts += cohorts.var[host][last] > 0;
		near_to("history", i, (double)x[TIDE_HISTORY],
		        log(((double)h->hits + 1) / ((double)h->expected + 1)));
		near_to("links", i, (double)x[TIDE_OUT],
		        log1p((double)graph_degree(s.e.view.links, i)));
		near_to("rank", i, (double)x[TIDE_RANK],
		        log(s.e.view.pagerank[i] * s.r.pages.n + 1e-3));
		assert_true(x[TIDE_VISITED] == (h->expected > 0) && x[TIDE_ONE] == 1);
		for (int k = 0; k < TIDE_FEATURES; k++)
			sum += t->weight[k] * (double)x[k];
		if (!(fabs(logit_of((double)h->chance) - sum) < 2e-3 * (1 + fabs(sum))))
			fail_msg("page %u: chance %g, not %g", i, (double)h->chance, 1 / (1 + exp(-sum)));
		visited += h->expected > 0;
	}
	assert_in_range(visited, 80, 192);
	assert_in_range(in_cohorts, 100, 192);
	assert_true(t->k_page > 0.15f && t->k_page < 20);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model_is_the_naive_one),
		cmocka_unit_test(finding_a_change_never_lowers_the_rate),
		cmocka_unit_test(a_burst_that_was_dated_lowers_the_rate),
		cmocka_unit_test(one_wild_host_does_not_speak_for_the_others),
		cmocka_unit_test(chances_are_those_of_the_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
