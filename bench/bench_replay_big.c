/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_replay_big.c - an experiment on a large history: a made-up world of 1,000,000 pages,
 * 104 cycles of a week at 2 %, all policies, side by side on all processors.
 *
 *   bench_replay_big [PAGES [CYCLES [POLICIES [THREADS]]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/thread/pool.h"
#include "clock.h"
#include "engine/archive/world.h"
#include "engine/replay/experiment.h"

#define PAGES_A_SITE 158        /* 12 directories of 13 pages, on average */

static int add_record(void *arg, const struct record *r, struct err *err)
{
	return history_add(arg, r, err);
}

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "bench_replay_big: %s\n", err->text);
	exit(1);
}

static void make_world(struct history *h, double pages, int64_t cycles)
{
	struct world_opts o = { 0 };
	struct err err;

	option_defaults(world_options, &o);
	o.sites = (int64_t)(pages / PAGES_A_SITE) + 1;
	o.steps = cycles;
	o.links = 3;
	history_init(h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	must(world_generate(&o, add_record, h, &err), &err);
	must(history_finish(h, &err), &err);
}

int main(int argc, char **argv)
{
	double pages = argc > 1 ? atof(argv[1]) : 1e6, wall = wall_now(), cpu = cpu_now();
	int64_t cycles = argc > 2 ? atol(argv[2]) : 104;
	unsigned threads = argc > 4 ? (unsigned)atoi(argv[4]) : pool_threads(), needs;
	struct replay_opts o = { .cycle_seconds = 7 * DAY_SECONDS, .budget = { 2, true },
	                         .aim = AIM_FRESHNESS };
	struct option_list specs = { 0 };
	struct arena arena = { 0 };
	struct experiment x;
	struct rusage use;
	struct history h;
	struct replay r;
	struct err err;

	make_world(&h, pages, cycles);
	must(policy_expand(argc > 3 ? argv[3] : "all", &specs, &arena, &err), &err);
	must(policy_list_needs(&specs, &needs, &err), &err);
	o.start = h.begin;
	o.end = o.start + cycles * o.cycle_seconds;
	must(replay_open(&r, &h, &o, needs, &err), &err);
	printf("%u pages, %u cycles; made and opened in %.1f s by the clock, %.1f of processors\n",
	       r.pages.n, r.n_cycles, wall_now() - wall, cpu_now() - cpu);
	wall = wall_now();
	cpu = cpu_now();
	must(experiment_run(&x, &r, &specs, 1, 1, threads, NULL, NULL, &err), &err);
	wall = wall_now() - wall;
	cpu = cpu_now() - cpu;
	for (size_t i = 0; i < x.n_results; i++)
		printf("%-28s %8.1f s of its thread, %8.1f of them planning, freshness %.4f\n",
		       x.results[i].spec, x.results[i].total_seconds, x.results[i].plan_seconds,
		       x.results[i].freshness.mean);
	getrusage(RUSAGE_SELF, &use);
	printf("%zu policies on %u threads: %.1f s by the clock, %.1f of processors, %.2f GiB\n",
	       x.n_results, threads, wall, cpu, (double)use.ru_maxrss / 1048576);
	experiment_release(&x);
	replay_close(&r);
	history_release(&h);
	arena_release(&arena);
	return 0;
}
