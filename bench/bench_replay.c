/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_replay.c - what a cycle costs as the repository grows.
 *
 * Made-up worlds of 10^5, 10^6 and 10^7 pages are replayed for some cycles at a
 * budget of 2 %.  If a cycle costs O(pages + downloads), the time a page stays
 * the same from size to size, but for caches: 10^5 pages lie in them, 10^7 do
 * not.  The peer is therefore the memory itself: `pass`, one plain reading of the
 * arrays that the clock of replay has to move anyway, measured in the same run.
 *
 *   bench_replay [LARGEST]       sizes up to LARGEST (default 10000000)
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/archive/world.h"
#include "engine/replay/replay.h"

#define CYCLES 4
#define LINKED_MAX 1000000      /* beyond it the worlds have no links */

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double resident_bytes(void)
{
	long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static int add_record(void *arg, const struct record *r, struct err *err)
{
	return history_add(arg, r, err);
}

static void give_up(const struct err *err)
{
	fprintf(stderr, "bench_replay: %s\n", err->text);
	exit(1);
}

/* About n pages: a site has 12 directories of 13 pages on average. */
static void make_world(struct history *h, double n)
{
	struct world_opts o = { 0 };
	struct err err;

	option_defaults(world_options, &o);
	o.sites = (int64_t)(n / 158) + 1;
	o.steps = CYCLES;
	o.links = n <= LINKED_MAX ? 5 : 0;
	history_init(h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	if (world_generate(&o, add_record, h, &err) < 0 || history_finish(h, &err) < 0)
		give_up(&err);
}

/* One reading of every page's captures, sites and directories: nanoseconds. */
static double pass_ns(const struct replay *r)
{
	const struct history *h = r->history;
	uint64_t sum = 0;
	double from = cpu_seconds();

	for (int k = 0; k < CYCLES; k++)
		for (uint32_t i = 0; i < h->n_pages; i++)
			sum += (uint64_t)h->captures.v[h->first[i]].time + r->pages.site[i] +
			       r->pages.dir[i];
	if (sum == 1)
		puts("");
	return (cpu_seconds() - from) * 1e9 / CYCLES / h->n_pages;
}

static const char *const policies[] = { "random", "round-robin", "oldest", "site", "frequency",
	"neighbour:by=dir,d=1", "neighbour:by=dir,d=-6", "neighbour:by=link,d=3" };

#define N_POLICIES (sizeof policies / sizeof *policies)

/* ns a page and cycle of each policy; 0: not run. */
static void bench_size(double size, double ns[N_POLICIES + 1])
{
	struct replay_opts o = { .cycle_seconds = 14 * DAY_SECONDS, .budget = { 2, true } };
	double from = cpu_seconds(), before = resident_bytes();
	struct history h;
	struct replay r;
	struct err err;

	make_world(&h, size);
	o.start = h.begin;
	o.end = o.start + CYCLES * o.cycle_seconds;
	if (replay_open(&r, &h, &o, size <= LINKED_MAX ? NEED_LINKS : 0, &err) < 0)
		give_up(&err);
	printf("%9u pages  made in %5.1f s, %4.0f bytes a page held\n", r.pages.n,
	       cpu_seconds() - from, (resident_bytes() - before) / r.pages.n);
	ns[N_POLICIES] = pass_ns(&r);
	for (size_t i = 0; i < N_POLICIES; i++) {
		struct replay_run run;

		ns[i] = 0;
		if (strstr(policies[i], "link") && size > LINKED_MAX)
			continue;
		replay_run(&r, policies[i], 1, &run);
		if (run.code < 0)
			give_up(&run.err);
		ns[i] = run.total_seconds * 1e9 / run.n_cycles / r.pages.n;
		replay_run_release(&run);
	}
	replay_close(&r);
	history_release(&h);
}

int main(int argc, char **argv)
{
	static const double sizes[] = { 1e5, 1e6, 1e7 };
	double largest = argc > 1 ? atof(argv[1]) : 1e7, ns[3][N_POLICIES + 1];
	int n = 0;

	for (; n < 3 && sizes[n] <= largest; n++) {
		bench_size(sizes[n], ns[n]);
		fflush(stdout);
	}
	printf("\nreplay, ns a page and cycle, budget 2 %% (processor time, one thread)\n"
	       "%-24s %8s %8s %8s   each step of 10\n", "policy", "10^5", "10^6", "10^7");
	for (size_t i = 0; i <= N_POLICIES; i++) {
		printf("%-24s", i < N_POLICIES ? policies[i] : "(pass over the arrays)");
		for (int k = 0; k < 3; k++) {
			if (k < n && ns[k][i] > 0)
				printf(" %8.1f", ns[k][i]);
			else
				printf(" %8s", "-");
		}
		printf("  ");
		for (int k = 1; k < n; k++)
			if (ns[k][i] > 0)
				printf(" x%.2f", ns[k][i] / ns[k - 1][i]);
		printf("\n");
	}
	return 0;
}
