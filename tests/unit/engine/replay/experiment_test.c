/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps, threads, and what policies can and cannot know.
 *
 * In a world of independent pages of one rate every download is a coin of the
 * same bias, whatever was seen before: under `cycle` observation a policy that
 * differs from random has peeked.  The standard error is that of the coins, not
 * an estimate.  In a world of bursts following changed samples must pay.
 *
 * Plain only.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/replay/experiment.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/trace.h"

static void expect_expansion(const char *spec, const char *const *want, size_t n)
{
	struct option_list list = { 0 };
	struct arena keep = { 0 };
	struct err err;

	assert_int_equal(policy_expand(spec, &list, &keep, &err), 0);
	assert_int_equal(list.n, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(list.v[i], want[i]);
	free(list.v);
	arena_release(&keep);
}

static void ranges_stand_for_each_value(void **state)
{
	static const char *const plain[] = { "site:sample=sqrt" };
	static const char *const d[] = { "neighbour:by=dir,d=-1,phi=always",
		"neighbour:by=dir,d=0,phi=always", "neighbour:by=dir,d=1,phi=always" };
	static const char *const two[] = { "x:a=1,b=3", "x:a=1,b=4", "x:a=2,b=3", "x:a=2,b=4" };
	struct option_list list = { 0 };
	struct arena keep = { 0 };
	struct err err;
	size_t n = 0;

	(void)state;
	expect_expansion(plain[0], plain, 1);
	expect_expansion("neighbour:by=dir,d=-1..1,phi=always", d, 3);
	expect_expansion("x:a=1..2,b=3..4", two, 4);
	assert_int_equal(policy_expand("x:a=3..1", &list, &keep, &err), E_USAGE);
	assert_int_equal(policy_expand("x:a=1..100000000", &list, &keep, &err), E_USAGE);
	list.n = 0;
	assert_int_equal(policy_expand("all", &list, &keep, &err), 0);
	while (policy_at(n))
		n++;
	assert_int_equal(list.n, n);
	list.n = 0;
	assert_int_equal(policy_expand("nothing:d=1..2", &list, &keep, &err), 0);
	assert_int_equal(policy_list_needs(&list, &(unsigned){ 0 }, &err), E_USAGE);
	free(list.v);
	arena_release(&keep);
}

struct bench { struct history h; struct replay r; struct option_list specs; };

static void bench_open(struct bench *b, const struct world_opts *o, struct replay_opts *ro)
{
	unsigned needs = 0;
	struct err err;

	history_init(&b->h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS | WANT_FACTS);
	trace_world(&b->h, o);
	assert_int_equal(history_finish(&b->h, &err), 0);
	ro->cycle_seconds = o->step_seconds;
	ro->start = o->start;
	ro->end = o->start + o->steps * o->step_seconds;
	if (policy_list_needs(&b->specs, &needs, &err) < 0 ||
	    replay_open(&b->r, &b->h, ro, needs, &err) < 0)
		fail_msg("%s", err.text);
}

static void bench_close(struct bench *b)
{
	replay_close(&b->r);
	history_release(&b->h);
	free(b->specs.v);
}

static void add_spec(struct bench *b, const char *spec)
{
	mem_grow((void **)&b->specs.v, &b->specs.cap, b->specs.n + 1, sizeof *b->specs.v);
	b->specs.v[b->specs.n++] = spec;
}

static void add_everything(struct bench *b)
{
	static const char *const more[] = {
		"site:variant=adaptive", "site:variant=proportional", "frequency:estimator=mle",
		"neighbour:by=link,d=3", "neighbour:by=link,d=-2", "neighbour:by=dir,d=2",
		"neighbour:by=dir,d=-3", "neighbour:by=dir,phi=always", "neighbour:phi=history",
		"neighbour:phi=weighted", "neighbour:phi=pagerank",
	};

	for (size_t i = 0; policy_at(i); i++)
		add_spec(b, policy_at(i)->name);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		add_spec(b, more[i]);
}

static void nobody_peeks(void **state)
{
	struct replay_opts ro = { .budget = { 10, true }, .observe = OBSERVE_CYCLE };
	struct bench b = { 0 };
	struct experiment x;
	struct world_opts o;
	struct err err;
	double random = 0, n_downloads, se;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 12;
	o.steps = 30;
	o.rate = 0.1;
	o.rate_spread = o.site_spread = o.dir_spread = o.burst = o.death = 0;
	add_everything(&b);
	bench_open(&b, &o, &ro);
	assert_int_equal(experiment_run(&x, &b.r, &b.specs, 1, 1, 2, NULL, NULL, &err), 0);
	n_downloads = (double)b.r.n_cycles * b.r.budget;
	se = sqrt(2 * o.rate * (1 - o.rate) / n_downloads);
	for (size_t i = 0; i < x.n_results; i++)
		if (!strcmp(x.results[i].spec, "random"))
			random = x.results[i].change_ratio_cycle.mean;
	assert_true(fabs(random - o.rate) < 3 * se);
	for (size_t i = 0; i < x.n_results; i++) {
		const struct policy_result *p = &x.results[i];
		double z = (p->change_ratio_cycle.mean - random) / se;
		bool knows = policy_find(p->spec, strcspn(p->spec, ":"))->only_replay;

		if (knows ? z < 3 : fabs(z) > 3)
			fail_msg("%s: ChangeRatio %.4f, random %.4f: %.1f standard errors", p->spec,
			         p->change_ratio_cycle.mean, random, z);
	}
	experiment_release(&x);
	bench_close(&b);
}

/* Every policy of the catalogue in a small world; two seeds. */
static void everyone(struct bench *b, struct experiment *x, const struct world_opts *o,
                     struct replay_opts *ro)
{
	struct err err;

	*b = (struct bench){ 0 };
	add_everything(b);
	bench_open(b, o, ro);
	assert_int_equal(experiment_run(x, &b->r, &b->specs, 3, 2, 2, NULL, NULL, &err), 0);
}

/* Whatever the policy: what never changes is never found changed, what changes in every
 * cycle always is, and a budget for all pages leaves none stale, so that both readings of
 * "changed" are one. */
static void limits_hold_for_everyone(void **state)
{
	static const struct { double rate, budget, ratio; } limits[] = {
		{ 0, 10, 0 }, { 1, 10, 1 }, { 0.2, 100, -1 },
	};
	struct world_opts o;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 4;
	o.dirs = 3;
	o.steps = 6;
	o.rate_spread = o.site_spread = o.dir_spread = o.burst = o.death = 0;
	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
		struct replay_opts ro = { .budget = { limits[k].budget, true } };
		struct experiment x;
		struct bench b;

		o.rate = limits[k].rate;
		everyone(&b, &x, &o, &ro);
		for (size_t i = 0; i < x.n_results; i++)
			for (uint32_t c = 0; c < b.r.n_cycles; c++) {
				const struct cycle_measure *m = &x.results[i].runs[0].cycles[c];

				if (m->downloads != b.r.budget ||
				    (limits[k].ratio >= 0 && m->change_ratio != limits[k].ratio))
					fail_msg("%s, cycle %u: %u downloads, ChangeRatio %.3f",
					         x.results[i].spec, c + 1, m->downloads, m->change_ratio);
				if (limits[k].budget == 100 && (m->freshness != 1 || m->age_days != 0 ||
				                                m->changed != m->changed_cycle))
					fail_msg("%s, cycle %u: freshness %.3f, changed %u and %u",
					         x.results[i].spec, c + 1, m->freshness, m->changed,
					         m->changed_cycle);
			}
		experiment_release(&x);
		bench_close(&b);
	}
}

/* The one that knows what a visit would find is the ceiling, in both readings. */
static void nobody_passes_the_oracle(void **state)
{
	struct world_opts o;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 6;
	o.steps = 20;
	for (int k = 0; k < 2; k++) {
		struct replay_opts ro = { .budget = { 5, true },
		                          .observe = k ? OBSERVE_CYCLE : OBSERVE_LOCAL };
		struct experiment x;
		struct bench b;
		double most = 0;

		everyone(&b, &x, &o, &ro);
		for (int pass = 0; pass < 2; pass++)
			for (size_t i = 0; i < x.n_results; i++) {
				const struct policy_result *p = &x.results[i];
				double ratio = k ? p->change_ratio_cycle.mean : p->change_ratio.mean;

				if (!strcmp(p->spec, "oracle"))
					most = ratio;
				if (pass && ratio > most)
					fail_msg("%s: %.4f, the oracle %.4f", p->spec, ratio, most);
			}
		assert_true(most > 0.5);
		experiment_release(&x);
		bench_close(&b);
	}
}

/* Pages appear while it runs (--join) and disappear: the budget is still spent, on pages
 * that are there, each once; freshness is a share. */
static void pages_come_and_go_under_everyone(void **state)
{
	struct replay_opts ro = { .budget = { 10, true }, .join = true };
	struct world_opts o;
	struct experiment x;
	struct bench b = { 0 };
	struct err err;
	uint32_t grew = 0, shrank = 0;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 4;
	o.dirs = 3;
	o.steps = 12;
	o.death = 0.05;
	add_everything(&b);
	history_init(&b.h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS | WANT_FACTS);
	trace_world(&b.h, &o);
	for (int i = 0; i < 60; i++) {          /* a new site, and new pages of an old one */
		char url[64];

		snprintf(url, sizeof url, "http://%s.example/new/%d", i % 2 ? "site1" : "late", i);
		trace_add(&b.h, url, 14.0 * (2 + i / 10) + 1, "a", "/new/1 /");
		trace_add(&b.h, url, 14.0 * (4 + i / 10) + 1, "b", "/new/3");
	}
	assert_int_equal(history_finish(&b.h, &err), 0);
	ro.cycle_seconds = o.step_seconds;
	ro.start = o.start;
	ro.end = o.start + o.steps * o.step_seconds;
	if (replay_open(&b.r, &b.h, &ro, ~0u, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(experiment_run(&x, &b.r, &b.specs, 3, 1, 2, NULL, NULL, &err), 0);
	for (size_t i = 0; i < x.n_results; i++)
		for (uint32_t c = 0; c < b.r.n_cycles; c++) {
			const struct cycle_measure *m = &x.results[i].runs[0].cycles[c];

			if (m->downloads != b.r.budget || !(m->freshness >= 0 && m->freshness <= 1))
				fail_msg("%s, cycle %u: %u downloads of %u, freshness %.3f",
				         x.results[i].spec, c + 1, m->downloads, b.r.budget, m->freshness);
			grew += c && m->pages > m[-1].pages;
			shrank += c && m->pages < m[-1].pages;
		}
	assert_true(grew > x.n_results && shrank > x.n_results);
	experiment_release(&x);
	bench_close(&b);
}

static void neighbours_follow_bursts(void **state)
{
	struct replay_opts ro = { .budget = { 5, true }, .observe = OBSERVE_CYCLE };
	struct bench b = { 0 };
	struct experiment x;
	struct world_opts o;
	struct err err;
	double sum = 0, squares = 0;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 12;
	o.steps = 30;
	o.rate_spread = o.site_spread = o.dir_spread = 0;
	add_spec(&b, "random");
	add_spec(&b, "neighbour:by=dir,d=0");
	bench_open(&b, &o, &ro);
	assert_int_equal(experiment_run(&x, &b.r, &b.specs, 1, 5, 2, NULL, NULL, &err), 0);
	assert_true(x.results[1].change_ratio_cycle.mean - x.results[0].change_ratio_cycle.mean >
	            3 * hypot(x.results[0].change_ratio_cycle.se,
	                      x.results[1].change_ratio_cycle.se));
	/* the paired test over cycles, of the local reading, by the textbook */
	for (uint32_t c = 0; c < b.r.n_cycles; c++) {
		double d = 0;

		for (int k = 0; k < 5; k++)
			d += (x.results[1].runs[k].cycles[c].change_ratio -
			      x.results[0].runs[k].cycles[c].change_ratio) / 5;
		sum += d;
		squares += d * d;
	}
	sum /= b.r.n_cycles;
	squares = (squares / b.r.n_cycles - sum * sum) / (b.r.n_cycles - 1);
	assert_true(fabs(experiment_compare(&x, 1, 0).t - sum / sqrt(squares)) < 1e-6);
	experiment_release(&x);
	bench_close(&b);
}

/* Where sites, directories and pages die random needs n/n_a downloads for each living
 * page; links of the dead tell less than of the living; knowing directories, a fifth of the
 * pages still dies by chance: nothing can cost less than 1/.8. */
static void the_living_are_found(void **state)
{
	static const char *const specs[] = { "random", "liverank:order=alive",
		"liverank:order=alive-dead", "liverank:order=site", "evidence" };
	struct replay_opts ro = { .budget = { 100, true }, .goal = GOAL_ALIVE };
	struct bench b = { 0 };
	struct experiment x;
	struct world_opts o;
	struct err err;
	double cost[5], alive = 0;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 40;
	o.steps = 1;
	o.rate = o.burst = o.death = 0;
	o.site_dies = o.dir_dies = 0.3;
	o.page_dies = 0.2;
	for (int i = 0; i < 5; i++)
		add_spec(&b, specs[i]);
	bench_open(&b, &o, &ro);
	assert_int_equal(experiment_run(&x, &b.r, &b.specs, 1, 3, 2, NULL, NULL, &err), 0);
	for (int i = 0; i < 5; i++)
		cost[i] = x.results[i].cost[9].mean;    /* at alpha = 0.5 */
	alive = x.results[0].change_ratio.mean;         /* one cycle asks for all */
	assert_true(fabs(cost[0] * alive - 1) < 0.05);
	for (int i = 1; i < 5; i++)
		if (!(cost[i] < 0.8 * cost[0] && cost[i] > 1.25 * 0.97))
			fail_msg("%s: %.3f, random %.3f", specs[i], cost[i], cost[0]);
	assert_true(cost[2] < cost[1]);
	assert_true(cost[4] < cost[2] && cost[4] < cost[3]);
	experiment_release(&x);
	bench_close(&b);
}

struct told { size_t n, total; bool in_order; };

static void count_cycle(void *arg, size_t n, size_t total)
{
	struct told *t = arg;

	t->in_order &= n == t->n + 1;
	t->n = n;
	t->total = total;
}

/* All that is not a time must be the same, whoever did the work. */
static void threads_do_not_matter(void **state)
{
	struct replay_opts ro = { .budget = { 5, true } };
	struct bench b = { 0 };
	struct told told = { .in_order = true };
	struct experiment one, four;
	struct world_opts o;
	struct err err;

	(void)state;
	trace_world_defaults(&o);
	o.sites = 5;
	o.steps = 10;
	add_spec(&b, "site");
	add_spec(&b, "neighbour:by=link,d=2");
	add_spec(&b, "random");
	bench_open(&b, &o, &ro);
	assert_int_equal(experiment_run(&one, &b.r, &b.specs, 7, 4, 1, NULL, NULL, &err), 0);
	assert_int_equal(experiment_run(&four, &b.r, &b.specs, 7, 4, 4, count_cycle, &told, &err),
	                 0);
	/* each cycle of each run was told of */
	assert_true(told.in_order);
	assert_int_equal(told.n, 3 * 4 * b.r.n_cycles);
	assert_int_equal(told.total, told.n);
	for (size_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < 4; k++) {
			for (uint32_t c = 0; c < b.r.n_cycles; c++) {
				struct cycle_measure u = one.results[i].runs[k].cycles[c];
				struct cycle_measure v = four.results[i].runs[k].cycles[c];

				u.plan_seconds = v.plan_seconds = u.total_seconds = v.total_seconds = 0;
				assert_memory_equal(&u, &v, sizeof u);
			}
		}
		/* and seeds do matter */
		assert_true(one.results[i].change_ratio.se > 0);
	}
	experiment_release(&one);
	experiment_release(&four);
	bench_close(&b);
}

/* The mean and its error over seeds, from the runs by the textbook. */
static void means_are_means(void **state)
{
	struct replay_opts ro = { .budget = { 5, true } };
	struct bench b = { 0 };
	struct experiment x;
	struct world_opts o;
	struct err err;
	double sum = 0, squares = 0, by_seed[4] = { 0 };

	(void)state;
	trace_world_defaults(&o);
	o.sites = 5;
	o.steps = 10;
	add_spec(&b, "random");
	bench_open(&b, &o, &ro);
	assert_int_equal(experiment_run(&x, &b.r, &b.specs, 7, 4, 2, NULL, NULL, &err), 0);
	for (int k = 0; k < 4; k++) {
		for (uint32_t c = 0; c < b.r.n_cycles; c++) {
			const struct cycle_measure *m = &x.results[0].runs[k].cycles[c];

			by_seed[k] += (double)m->changed / m->downloads / b.r.n_cycles;
		}
		sum += by_seed[k];
	}
	for (int k = 0; k < 4; k++)
		squares += (by_seed[k] - sum / 4) * (by_seed[k] - sum / 4);
	assert_true(fabs(x.results[0].change_ratio.mean - sum / 4) < 1e-9);
	assert_true(fabs(x.results[0].change_ratio.se - sqrt(squares / 3 / 4)) < 1e-9);
	experiment_release(&x);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_stand_for_each_value),
		cmocka_unit_test(nobody_peeks),
		cmocka_unit_test(limits_hold_for_everyone),
		cmocka_unit_test(nobody_passes_the_oracle),
		cmocka_unit_test(pages_come_and_go_under_everyone),
		cmocka_unit_test(neighbours_follow_bursts),
		cmocka_unit_test(the_living_are_found),
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(means_are_means),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
