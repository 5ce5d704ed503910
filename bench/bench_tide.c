/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tide.c - one cycle's planning on a large repository, by `tide` and by any other
 * policy for goal changed.
 *
 * A made-up repository without URL text: pages in directories in sites, ten pages
 * a directory, a hundred directories a site; each cycle one directory in fifty
 * bursts and then all its pages are stale.  Policies that need links have five a page,
 * to pages of its site; those that cluster have 18 columns, in which pages of a
 * directory are alike.  Budget 2 %.  Each run is a process of
 * its own: seconds of its last cycle by the clock and of the processors (every batch
 * planned and learnt from; a made-up download costs next to nothing), peak bytes a page of
 * the whole process, and ChangeRatio.
 *
 *   bench_tide                              the usual runs
 *   bench_tide PAGES [CYCLES [POLICY [AIM]]]        one of them
 */
#include <stdio.h>
#include <sys/resource.h>

#include "base/math/rng.h"
#include "child.h"
#include "engine/cycle/cycle.h"
#include "cluster/rows.h"
#include "graph/graph.h"
#include "policy/catalogue/catalogue.h"

#define PAGES_A_DIR 10
#define DIRS_A_SITE 100
#define SITE (PAGES_A_DIR * DIRS_A_SITE)        /* pages of it */
#define LINKS 5                 /* of a page */
#define COLUMNS 18              /* of a row to cluster by */
#define BURST 0.02
#define SEED 7

struct world {
	struct pages pages;
	uint32_t *parent, *dir_site, *depth, *dir_first, *dir_pages, *child_first, *child_dirs;
	uint32_t *site_first;
	uint32_t *family[N_FAMILIES];
	uint32_t *burst;                /* by directory: cycle of its last one */
	struct graph links, links_in;
	struct feature_maker features;
	uint8_t *truth;                 /* by page: is our copy stale? */
	double *rank;
	uint32_t *last;                 /* our own copy's cycle */
	uint32_t cycle;
	uint64_t hits;
};

static uint32_t *numbers(uint32_t n)
{
	return mem_array((size_t)n + 1, sizeof(uint32_t));
}

/* Directory k of a site hangs below directory (k - 1) / 4 of it. */
static void make_tree(struct world *w, uint32_t n_dirs)
{
	struct tree *t = &w->pages.tree;
	uint32_t at = 0;

	w->parent = numbers(n_dirs);
	w->dir_site = numbers(n_dirs);
	w->depth = numbers(n_dirs);
	w->child_first = numbers(n_dirs);
	w->child_dirs = numbers(n_dirs);
	for (uint32_t d = 0; d < n_dirs; d++) {
		uint32_t root = d / DIRS_A_SITE * DIRS_A_SITE, k = d - root;

		w->parent[d] = k ? root + (k - 1) / 4 : DIR_NONE;
		w->dir_site[d] = d / DIRS_A_SITE;
		w->depth[d] = k ? w->depth[w->parent[d]] + 1 : 0;
		w->child_first[d] = at;
		for (uint32_t c = 4 * k + 1; c <= 4 * k + 4; c++)
			if (c < DIRS_A_SITE && root + c < n_dirs)
				w->child_dirs[at++] = root + c;
	}
	w->child_first[n_dirs] = at;
	*t = (struct tree){ .n_dirs = n_dirs, .n_sites = (n_dirs - 1) / DIRS_A_SITE + 1,
		.dir_parent = w->parent, .dir_site = w->dir_site, .dir_depth = w->depth,
		.dir_first = w->dir_first, .dir_pages = w->dir_pages,
		.child_first = w->child_first, .child_dirs = w->child_dirs,
		.dir_alone = mem_zalloc(n_dirs, 1) };
}

static void make_world(struct world *w, uint32_t n)
{
	uint32_t n_dirs = (n - 1) / PAGES_A_DIR + 1;

	w->pages.n = w->pages.n_settled = n;
	w->pages.site = numbers(n);
	w->pages.dir = numbers(n);
	w->dir_first = numbers(n_dirs);
	w->dir_pages = numbers(n);
	w->rank = mem_array(n, sizeof *w->rank);
	w->last = mem_zalloc(n, sizeof *w->last);
	w->burst = mem_zalloc(n_dirs, sizeof *w->burst);
	for (int f = 0; f < N_FAMILIES; f++)
		w->family[f] = numbers(n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t dir = i / PAGES_A_DIR, site = dir / DIRS_A_SITE;

		w->pages.dir[i] = dir;
		w->pages.site[i] = site;
		w->dir_pages[i] = i;
		if (i % PAGES_A_DIR == 0)
			w->dir_first[dir] = i;
		w->rank[i] = 1.0 / n;
		/* names are mostly their own, the other families are shared */
		w->family[FAMILY_NAME][i] = i;
		w->family[FAMILY_WORD][i] = i / 2;
		w->family[FAMILY_LAST][i] = dir;
		w->family[FAMILY_SHAPE][i] = dir / 2;
	}
	w->dir_first[n_dirs] = n;
	make_tree(w, n_dirs);
	w->site_first = numbers(w->pages.tree.n_sites);
	for (uint32_t s = 0; s <= w->pages.tree.n_sites; s++)
		w->site_first[s] = s * SITE < n ? s * SITE : n;
	w->pages.tree.site_first = w->site_first;
	w->pages.tree.site_pages = w->dir_pages;
}

static void make_links(struct world *w)
{
	uint32_t n = w->pages.n, *to;
	uint64_t *offset;

	graph_alloc(&w->links, n, (uint64_t)n * LINKS, &offset, &to);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = i / SITE * SITE, size = n - first < SITE ? n - first : SITE;

		offset[i] = (uint64_t)i * LINKS;
		for (uint32_t k = 0; k < LINKS; k++)
			to[offset[i] + k] = first + (uint32_t)(rng_draw(SEED, k, i, RNG_USER) % size);
		graph_sort_row(to + offset[i], LINKS);
	}
	offset[n] = (uint64_t)n * LINKS;
	graph_transpose(&w->links, &w->links_in);
}

/* Columns of a directory, and a little of a page's own. */
static void make_rows(void *self, const struct view *v, enum feature_set set, struct rows *ret)
{
	(void)self;
	(void)set;
	rows_init_dense(ret, v->n_pages, COLUMNS);
	for (uint32_t i = 0; i < v->n_pages; i++)
		for (uint32_t k = 0; k < COLUMNS; k++)
			rows_dense(ret, i)[k] = (float)(rng_unit(rng_draw(SEED, k, v->dir[i], RNG_USER)) +
			                                0.2 * rng_unit(rng_draw(SEED, k, i, RNG_WORLD)));
	rows_unit(ret);
}

static void set_view(struct world *w, struct view *v, unsigned needs)
{
	static const uint32_t divide[N_FAMILIES] = { 1, 2, PAGES_A_DIR, 2 * PAGES_A_DIR };

	for (int f = 0; f < N_FAMILIES; f++) {
		v->family[f] = w->family[f];
		v->n_family[f] = w->pages.n / divide[f] + 1;
	}
	v->pagerank = w->rank;
	if (needs & NEED_LINKS) {
		make_links(w);
		v->links = &w->links;
		v->links_in = &w->links_in;
	}
	if (needs & NEED_CLUSTERS) {
		w->features = (struct feature_maker){ .rows = make_rows };
		v->features = &w->features;
	}
	if (needs & NEED_TRUTH)
		v->truth = w->truth = mem_zalloc(w->pages.n, 1);
	v->seed = SEED;
	v->cycle_seconds = 14 * 86400;
}

static int find(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                struct err *err)
{
	struct world *w = self;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		uint32_t page = offers[i].page;

		ret[i].hit = w->burst[w->pages.dir[page]] > w->last[page];
		ret[i].outcome = ret[i].hit ? OUTCOME_CHANGED : OUTCOME_SAME;
		w->last[page] = w->cycle;
		w->hits += ret[i].hit;
		if (w->truth)
			w->truth[page] = 0;
	}
	return 0;
}

/* It can do without links, and is measured without. */
static bool is_tide(const char *spec)
{
	return !strncmp(spec, "tide", 4) || !strncmp(spec, "auto:", 5) || !strcmp(spec, "auto");
}

/* dearest: the processors' seconds of the dearest cycle. */
struct cost { double wall, cpu, ratio, dearest; };

static struct cost play(struct world *w, const char *spec, enum aim aim, uint32_t cycles)
{
	struct engine e;
	struct policy *policy;
	struct err err;
	uint32_t budget = w->pages.n / 50;
	struct cost cost = { 0 };

	if (policy_new(&policy, spec, &err) < 0)
		exit(1);
	engine_init(&e, &w->pages, policy, 0);
	set_view(w, &e.view, is_tide(spec) ? 0 : policy_needs(policy));
	e.view.aim = aim;
	for (uint32_t i = 0; i < w->pages.n; i++)
		e.visits.state[i] = PAGE_HERE;
	e.source = (struct source){ .self = w, .deliver = find };
	memset(w->last, 0, w->pages.n * sizeof *w->last);
	memset(w->burst, 0, w->pages.tree.n_dirs * sizeof *w->burst);
	for (w->cycle = 1; w->cycle <= cycles; w->cycle++) {
		for (uint32_t d = 0; d < w->pages.tree.n_dirs; d++)
			if (rng_unit(rng_draw(SEED, w->cycle, d, RNG_WORLD)) < BURST)
				w->burst[d] = w->cycle;
		for (uint32_t i = 0; w->truth && i < w->pages.n; i++)
			w->truth[i] |= w->burst[w->pages.dir[i]] == w->cycle;
		w->hits = 0;
		cost.wall = wall_now();
		cost.cpu = cpu_now();
		if (engine_cycle(&e, (int64_t)w->cycle * 14 * 86400, budget, &err) < 0)
			exit(1);
		cost.wall = wall_now() - cost.wall;
		cost.cpu = cpu_now() - cost.cpu;
		cost.ratio = (double)w->hits / budget;
		cost.dearest = cost.cpu > cost.dearest ? cost.cpu : cost.dearest;
	}
	engine_release(&e);
	policy_free(policy);
	return cost;
}

static int run_one(uint32_t n, uint32_t cycles, const char *spec, enum aim aim)
{
	struct world w = { .cycle = 0 };
	struct cost cost;
	struct rusage use;

	make_world(&w, n);
	cost = play(&w, spec, aim, cycles);
	getrusage(RUSAGE_SELF, &use);
	printf("%-24s aim %-9s %10u pages, cycle %2u: %7.2f s by the clock, %7.2f of processors "
	       "(%.2f in the dearest cycle), %4.0f bytes a page at the peak (%.2f GiB), "
	       "ChangeRatio %.3f\n", spec, aim_name(aim), n, cycles, cost.wall, cost.cpu,
	       cost.dearest, (double)use.ru_maxrss * 1024 / n, (double)use.ru_maxrss / 1048576,
	       cost.ratio);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {
		"10000000 4 frequency", "10000000 4 tide", "10000000 4 tide changes",
		"1000000 4 tide", "1000000 60 tide",
	};

	if (argc > 1) {
		uint32_t n = (uint32_t)strtoul(argv[1], NULL, 10);
		uint32_t cycles = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 4;
		enum aim aim;

		if (n < 1000 || !cycles || !aim_find(argc > 4 ? argv[4] : AIM_DEFAULT, &aim))
			return 2;
		return run_one(n, cycles, argc > 3 ? argv[3] : "tide", aim);
	}
	printf("budget 2 %%, ten pages a directory; wanted of 10,000,000 pages: under 6 s, "
	       "under 150 bytes a page\n");
	child_each(argv[0], usual, sizeof usual / sizeof *usual);
	return 0;
}
