/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_evidence.c - the recovery of a whole old crawl planned by `evidence`, next to
 * LiveRank's Pa+/- and a random order.
 *
 * A made-up crawl: a hundred pages a directory, fifty directories a site, eight links
 * a page within its directory; a third of the directories live.  Every page is
 * asked for.  Printed are the seconds by the clock and of the processors without making
 * the crawl, microseconds a page, peak bytes a page, and the cost at .5 and .9.  A polite
 * crawler spends a second of waiting and about a millisecond of its processor on a
 * request.
 *
 *   bench_evidence                       the usual runs
 *   bench_evidence PAGES [POLICY]        one of them
 */
#include <stdio.h>
#include <sys/resource.h>

#include "base/math/rng.h"
#include "child.h"
#include "engine/cycle/cycle.h"
#include "engine/view/prepare.h"
#include "policy/catalogue/catalogue.h"

#define PAGES_A_DIR 100
#define DIRS_A_SITE 50
#define LINKS 8
#define SEED 7
#define URL_ROOM 64

struct world {
	struct pages pages;
	struct prepared prepared;
	uint32_t links[LINKS];
	uint64_t asked, found, all;
	double cost[2];
};

static bool lives(uint32_t page)
{
	double p = rng_unit(rng_draw(SEED, 0, page / PAGES_A_DIR, RNG_WORLD)) < 0.33 ? 0.95 : 0.03;

	return rng_unit(rng_draw(SEED, 1, page, RNG_WORLD)) < p;
}

static const uint32_t *links_of(const void *from, uint32_t page, size_t *ret_n)
{
	struct world *w = (struct world *)(uintptr_t)from;
	uint32_t first = page / PAGES_A_DIR * PAGES_A_DIR;

	*ret_n = 0;
	for (uint32_t k = 0; k < LINKS; k++) {
		uint32_t to = first + (uint32_t)(rng_draw(SEED, k, page, RNG_USER) % PAGES_A_DIR);

		if (to < w->pages.n && to != page)
			w->links[(*ret_n)++] = to;
	}
	return w->links;
}

static void make_world(struct world *w, uint32_t n, unsigned needs)
{
	char *pool = mem_array(n, URL_ROOM);
	uint64_t *offset = mem_array((size_t)n + 1, sizeof *offset), at = 0;
	struct err err;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t dir = i / PAGES_A_DIR;

		offset[i] = at;
		at += (uint64_t)snprintf(pool + at, URL_ROOM, "http://s%07u.example/d%u/p%u.html",
		                         dir / DIRS_A_SITE, dir % DIRS_A_SITE, i % PAGES_A_DIR) + 1;
		w->all += lives(i);
	}
	offset[n] = at;
	pages_init(&w->pages, pool, offset, n, &(struct pages_opts){ 0 });
	if (prepare(&w->prepared, &w->pages, needs, links_of, w, &err) < 0)
		exit(1);
}

static int find(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                struct err *err)
{
	struct world *w = self;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		ret[i].hit = lives(offers[i].page);
		ret[i].outcome = ret[i].hit ? OUTCOME_SAME : OUTCOME_GONE;
		w->asked++;
		w->found += ret[i].hit;
		for (int k = 0; k < 2; k++)
			if (w->cost[k] <= 0 && (double)w->found >= (k ? 0.9 : 0.5) * (double)w->all)
				w->cost[k] = (double)w->asked / (double)w->found;
	}
	return 0;
}

static int run_one(uint32_t n, const char *spec)
{
	struct world w = { .asked = 0 };
	struct policy *policy;
	struct engine e;
	struct err err;
	double wall, cpu;
	struct rusage use;

	if (policy_new(&policy, spec, &err) < 0)
		return 2;
	make_world(&w, n, policy_needs(policy));
	cpu = cpu_now();
	wall = wall_now();
	engine_init(&e, &w.pages, policy, 0);
	prepare_view(&w.prepared, &e.view);
	e.view.seed = SEED;
	e.view.goal = GOAL_ALIVE;
	for (uint32_t i = 0; i < n; i++)
		e.visits.state[i] = PAGE_HERE;
	e.source = (struct source){ .self = &w, .deliver = find };
	if (engine_cycle(&e, 1000, n, &err) < 0)
		return 1;
	cpu = cpu_now() - cpu;
	wall = wall_now() - wall;
	getrusage(RUSAGE_SELF, &use);
	printf("%-28s %9u pages: %7.2f s by the clock, %7.2f of processors, %6.1f us a page, "
	       "%4.0f bytes a page, cost %.3f at .5, %.3f at .9\n", spec, n, wall, cpu,
	       wall / n * 1e6, (double)use.ru_maxrss * 1024 / n, w.cost[0], w.cost[1]);
	engine_release(&e);
	policy_free(policy);
	prepare_release(&w.prepared);
	pages_release(&w.pages);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {
		"100000 evidence", "1000000 evidence", "1000000 liverank:order=alive-dead",
		"1000000 random",
	};

	if (argc > 1) {
		uint32_t n = (uint32_t)strtoul(argv[1], NULL, 10);

		return n < 1000 ? 2 : run_one(n, argc > 2 ? argv[2] : "evidence");
	}
	child_each(argv[0], usual, sizeof usual / sizeof *usual);
	return 0;
}
