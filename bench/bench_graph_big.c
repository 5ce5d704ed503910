/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_graph_big.c - a web graph of uk-2006's size on a small machine.
 *
 *   bench_graph_big [MILLIONS OF PAGES [FOLDER]]     default 31.3, $TMPDIR or /tmp
 *   bench_graph_big make MILLIONS FILE       only this: the graph, saved in a file, for
 *                                            `freshet rank FILE`
 *
 * 31.3 million pages and 814 million links are made page by page in a shuffled
 * order (so that the builder has to sort), built in bounded memory, saved,
 * mapped, and ranked with one vector, with two, and in the order of the file, as
 * `rank` does where memory is short.  Ends with the peak of resident memory and of
 * temporary files.  Not part of `make bench`.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "clock.h"
#include "graph/graph_file.h"
#include "graph/pagerank.h"
#include "graph_made.h"

#define MEAN_LINKS 33.2         /* before doubles are dropped: 26 remain */
#define BUILD_MEMORY ((size_t)1 << 30)
#define SEED 2006

static double peak_gib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1048576;
}

static _Noreturn void stop(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

/* Page i of the shuffled order: a step that shares no factor with n. */
static uint32_t shuffled(uint32_t i, uint32_t n)
{
	uint64_t step = (uint64_t)((double)n * 0.618) | 1;

	for (;;) {
		uint64_t a = step, b = n;

		while (b) {
			uint64_t t = a % b;

			a = b;
			b = t;
		}
		if (a == 1)
			return (uint32_t)(i * step % n);
		step += 2;
	}
}

static uint64_t build(uint32_t n, const char *folder, const char *path)
{
	struct graph_build_opts opts = { .dedupe = true, .memory = BUILD_MEMORY,
	                                 .tmp_dir = folder };
	struct graph_builder *b = graph_builder_new(&opts);
	uint32_t links[GRAPH_MADE_LINKS_MAX];
	uint64_t n_links = 0;
	struct graph g;
	struct err err;
	double t0 = wall_now();

	for (uint32_t i = 0; i < n; i++) {
		uint32_t page = shuffled(i, n);
		unsigned k = graph_made_web_page(page, n, MEAN_LINKS, SEED, links);

		for (unsigned j = 0; j < k; j++)
			if (graph_builder_add(b, page, links[j], &err))
				stop(&err);
		n_links += k;
	}
	printf("made     %10llu links in %.0f s (sorted runs on disk: %.1f GB)\n",
	       (unsigned long long)n_links, wall_now() - t0, (double)n_links * 8e-9);
	t0 = wall_now();
	if (graph_builder_finish(b, n, &g, &err))
		stop(&err);
	printf("built    %10llu links, doubles dropped, in %.0f s\n",
	       (unsigned long long)g.n_links, wall_now() - t0);
	t0 = wall_now();
	if (graph_file_save(&g, path, &err))
		stop(&err);
	printf("saved    in %.0f s\n", wall_now() - t0);
	fflush(stdout);
	graph_release(&g);
	return n_links;
}

/* Returns the clock's seconds; processor time, which a busy machine distorts
 * less, goes to *ret_cpu. */
static double solve(const struct pagerank_matrix *m, unsigned n, double *const *x,
                    double *ret_cpu)
{
	const double *teleports[2] = { 0 };
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	struct pagerank_result res[2];
	struct err err;
	double t0 = wall_now(), c0 = clock_of(CLOCK_PROCESS_CPUTIME_ID), s;

	if (pagerank_solve(m, &o, n, teleports, x, res, &err))
		stop(&err);
	s = wall_now() - t0;
	*ret_cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - c0;
	printf("ranked   %u vector%s in %.1f s (cpu %.1f s), %u passes, residual %.1e\n", n,
	       n > 1 ? "s" : "", s, *ret_cpu, res[0].iterations, res[0].residual);
	fflush(stdout);
	return s;
}

/* Without the layout, rows packed in `memory` bytes: the clock's seconds, as above. */
static double stream(const struct graph *g, size_t memory, double *x, double *ret_cpu)
{
	struct graph_pack pack;
	struct pagerank_opts o = PAGERANK_DEFAULTS;
	struct pagerank_result res;
	struct err err;
	double t0 = wall_now(), c0 = clock_of(CLOCK_PROCESS_CPUTIME_ID), s;

	graph_pack(&pack, g, memory);
	if (pagerank_stream(&pack, &o, x, &res, &err))
		stop(&err);
	graph_pack_release(&pack);
	s = wall_now() - t0;
	*ret_cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - c0;
	printf("streamed 1 vector in %.1f s (cpu %.1f s), %u passes, residual %.1e, %s\n", s, *ret_cpu,
	       res.iterations, res.residual, memory ? "packed" : "from the file");
	return s;
}

int main(int argc, char **argv)
{
	uint32_t n = (uint32_t)((argc > 1 ? atof(argv[1]) : 31.3) * 1e6);
	bool only_make = argc == 4 && !strcmp(argv[1], "make");
	const char *folder = argc > 2 && !only_make ? argv[2] : getenv("TMPDIR");
	char path[1024];
	struct pagerank_matrix *m;
	double *x[2], t0, c0, one, two, streamed, prepared, cpu[4], made;
	struct stat st;
	struct graph g;
	struct err err;

	if (!getenv("OMP_WAIT_POLICY")) {       /* waiting must not count as work */
		setenv("OMP_WAIT_POLICY", "passive", 1);
		execv("/proc/self/exe", argv);
	}
	if (!folder)
		folder = "/tmp";
	if (only_make) {
		build((uint32_t)(atof(argv[2]) * 1e6), folder, argv[3]);
		return 0;
	}
	snprintf(path, sizeof path, "%s/freshet-big-%ld.graph", folder, (long)getpid());
	made = (double)build(n, folder, path) * 8e-9;
	printf("peak so far %.1f GiB resident\n", peak_gib());
	t0 = wall_now();
	if (graph_file_map(path, true, &g, &err))
		stop(&err);
	printf("mapped   %u nodes, %llu links, every byte checked, in %.1f s\n", g.n_nodes,
	       (unsigned long long)g.n_links, wall_now() - t0);
	t0 = wall_now();
	c0 = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	m = pagerank_prepare(&g);
	prepared = wall_now() - t0;
	cpu[2] = clock_of(CLOCK_PROCESS_CPUTIME_ID) - c0;
	printf("prepared in %.1f s (cpu %.1f s)\n", prepared, cpu[2]);
	for (int k = 0; k < 2; k++)
		x[k] = mem_big((size_t)n * sizeof **x);
	one = solve(m, 1, x, &cpu[0]);
	two = solve(m, 2, x, &cpu[1]);
	pagerank_free(m);
	stream(&g, 0, x[1], &cpu[3]);
	streamed = stream(&g, SIZE_MAX, x[1], &cpu[3]);
	stat(path, &st);
	printf("RATIO two vectors / one %.2f (cpu %.2f)\n", two / one, cpu[1] / cpu[0]);
	printf("RATIO in the order of the file, packed / prepared and ranked %.2f (cpu %.2f)\n",
	       streamed / (prepared + one), cpu[3] / (cpu[2] + cpu[0]));
	printf("peak: %.1f GiB resident, %.1f GB of files\n", peak_gib(),
	       made > (double)st.st_size * 1e-9 ? made : (double)st.st_size * 1e-9);
	graph_release(&g);
	unlink(path);
	return 0;
}
