/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_liverank_big.c - every LiveRank order on a web of uk-2002's size.
 *
 *   bench_liverank_big [MILLIONS OF PAGES [FOLDER]]     default 18.5, $TMPDIR or /tmp
 *
 * 18.5 million pages and 298 million links are made and saved by a child; 6.4 % of
 * the pages live, clustered by site.  Then, each in a process of its own so that
 * its memory is its own: the file is mapped, PageRank computed, and one order run
 * from its sample to the last page.  The walks come first on a quarter of the pages
 * too: their time a link shows how they grow.  Not part of `make bench`.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "child.h"
#include "clock.h"
#include "graph/graph_file.h"
#include "graph/liverank.h"
#include "graph/pagerank.h"
#include "graph_made.h"

#define MEAN_LINKS 18.5         /* before doubles are dropped: 16.1 remain */
#define BUILD_MEMORY ((size_t)1 << 30)
#define SEED 2002
#define ALIVE 0.064
#define SAMPLE_SHARE 0.0054     /* 100,000 of uk-2002 */

static _Noreturn void stop(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void build(uint32_t n, const char *folder, const char *path)
{
	struct graph_build_opts opts = { .dedupe = true, .memory = BUILD_MEMORY,
	                                 .tmp_dir = folder };
	struct graph_builder *b = graph_builder_new(&opts);
	uint32_t links[GRAPH_MADE_LINKS_MAX];
	double t0 = wall_now();
	struct graph g;
	struct err err;

	for (uint32_t i = 0; i < n; i++) {
		unsigned k = graph_made_web_page(i, n, MEAN_LINKS, SEED, links);

		for (unsigned j = 0; j < k; j++)
			if (graph_builder_add(b, i, links[j], &err))
				stop(&err);
	}
	if (graph_builder_finish(b, n, &g, &err) || graph_file_save(&g, path, &err))
		stop(&err);
	printf("graph     %u pages, %llu links, made and saved in %.0f s\n", n,
	       (unsigned long long)g.n_links, wall_now() - t0);
	fflush(stdout);
	graph_release(&g);
}

struct world {
	struct graph g;
	struct liverank_world w;
	uint32_t *degrees, *sites, n_alive;
	uint8_t *truth;
	double *rank;
};

/* What every order needs, from the file on. */
static void load(struct world *x, const char *path)
{
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	struct pagerank_result res;
	const double *teleport = NULL;
	struct pagerank_matrix *m;
	struct err err;
	uint32_t n;

	if (graph_file_map(path, false, &x->g, &err))
		stop(&err);
	n = x->g.n_nodes;
	m = pagerank_prepare(&x->g);
	x->rank = mem_big((size_t)n * sizeof *x->rank);
	o.tolerance = 1e-9;
	if (pagerank_solve(m, &o, 1, &teleport, &x->rank, &res, &err))
		stop(&err);
	x->degrees = mem_array(n, sizeof *x->degrees);
	x->sites = mem_array(n, sizeof *x->sites);
	x->truth = mem_array(n, 1);
	graph_in_degrees(&x->g, x->degrees);
	graph_made_life(n, ALIVE, SEED, x->truth);
	x->w = (struct liverank_world){ .out = &x->g, .matrix = m, .pagerank = x->rank,
		.in_degree = x->degrees, .sites = x->sites, .truth = x->truth };
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || graph_made_web_site(i, n, SEED) == i)
			x->w.n_sites++;
		x->sites[i] = x->w.n_sites - 1;
		x->n_alive += x->truth[i];
	}
}

static const char *const names[] = { "random", "indegree", "pagerank", "alive", "alive-dead",
	"site", "bfs", "alive-indegree", "oracle" };

/* One order, in the process that is asked for it. */
static void run(const char *path, enum liverank_order order)
{
	static const double alphas[] = { 0.1, 0.2, 0.5, 0.8 };
	struct liverank_opts o = { .order = order, .seed = 1 };
	double t0 = wall_now(), t1, c0, costs[4];
	struct world x = { 0 };
	struct liverank *l;
	struct err err;
	uint32_t *got, page, n = 0;
	struct rusage u;

	load(&x, path);
	o.sample = (uint32_t)(SAMPLE_SHARE * x.g.n_nodes);
	got = mem_array(x.g.n_nodes, sizeof *got);
	t1 = wall_now();
	c0 = cpu_now();
	if (liverank_new(&l, &x.w, &o, &err))
		stop(&err);
	while ((page = liverank_next(l)) != GRAPH_NONE) {
		got[n++] = page;
		liverank_tell(l, page, x.truth[page]);
	}
	if (n != x.g.n_nodes) {
		fprintf(stderr, "%s: %u pages of %u\n", names[order], n, x.g.n_nodes);
		exit(1);
	}
	c0 = cpu_now() - c0;
	t1 = wall_now() - t1;
	liverank_cost(got, n, x.truth, alphas, 4, costs);
	getrusage(RUSAGE_SELF, &u);
	printf("%-15s %7.1f %7.1f %9.1f %6.2f   %6.2f %6.2f %6.2f %6.2f   %6.1f\n", names[order],
	       t1, c0, wall_now() - t0, (double)u.ru_maxrss / 1048576, costs[0], costs[1],
	       costs[2], costs[3], c0 * 1e9 / (double)x.g.n_links);
	fflush(stdout);
}

static void all_orders(const char *self, uint32_t n, const char *folder, bool walks)
{
	char path[1024], command[2200];

	snprintf(path, sizeof path, "%s/freshet-liverank-%ld.graph", folder, (long)getpid());
	snprintf(command, sizeof command, "%s --build %u %s %s", self, n, folder, path);
	child_must(command);
	printf("%-15s %7s %7s %9s %6s   %27s   %6s\n", "order", "wall s", "cpu s", "end-end s",
	       "GiB", "cost at .1    .2    .5    .8", "ns/link");
	fflush(stdout);
	for (int i = walks ? LIVERANK_BFS : 0; i <= (walks ? LIVERANK_ALIVE_INDEGREE :
	     LIVERANK_ORACLE); i++) {
		snprintf(command, sizeof command, "%s --run %s %d", self, path, i);
		child_must(command);
	}
	unlink(path);
}

int main(int argc, char **argv)
{
	uint32_t n;
	const char *folder;

	if (!getenv("OMP_WAIT_POLICY")) {       /* waiting must not count as work */
		setenv("OMP_WAIT_POLICY", "passive", 1);
		execv("/proc/self/exe", argv);
	}
	if (argc == 5 && !strcmp(argv[1], "--build")) {
		build((uint32_t)atol(argv[2]), argv[3], argv[4]);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "--run")) {
		run(argv[2], (enum liverank_order)atoi(argv[3]));
		return 0;
	}
	n = (uint32_t)((argc > 1 ? atof(argv[1]) : 18.5) * 1e6);
	folder = argc > 2 ? argv[2] : getenv("TMPDIR");
	folder = folder ? folder : "/tmp";
	all_orders(argv[0], n / 4, folder, true);
	all_orders(argv[0], n, folder, false);
	return 0;
}
