/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_rank.c - `freshet rank`: a graph file's statistics, its PageRank, and what
 * every LiveRank order would cost where it is known which pages are alive.
 */
#include <stdio.h>
#include <time.h>

#include "base/io/output.h"
#include "base/mem.h"
#include "cli/frame/command.h"
#include "cli/frame/repository.h"
#include "cli/rank/rank_load.h"
#include "cli/rank/rank_memory.h"
#include "cli/rank/rank_print.h"
#include "cli/rank/rank_write.h"
#include "cli/report/report.h"
#include "graph/graph_file.h"
#include "graph/pagerank.h"

struct rank_opts {
	const char *truth, *pagerank, *save, *links, *report;
	struct option_list order;
	int64_t top, seeds, max_iterations, threads;
	double damping, tolerance;
	int dangling;
};

static const struct option_spec rank_options[] = {
	OPT_TEXT(rank_opts, truth, NULL, "FILE",
	         "which pages are alive: `url TAB 0|1`, `id TAB 0|1`, or a later crawl's URLs"),
	OPT_LIST(rank_opts, order, "SPEC",
	         "a LiveRank order, NAME[:sample=N|N%,by=random|pagerank|indegree|systematic,"
	         "spread=0|1,ties=pagerank|random], or the policy `evidence` with its parameters; "
	         "default: all of LiveRank's"),
	OPT_INT(rank_opts, seeds, 5, 1, 1000, "repetitions of each order"),
	OPT_TEXT(rank_opts, pagerank, NULL, "OUT.tsv", "write the PageRank of every node"),
	OPT_INT(rank_opts, top, 0, 0, 4294967295.0, "show the nodes of highest PageRank"),
	OPT_OUTPUT(rank_opts, save, NULL, "FILE", "save the graph so that it can be mapped"),
	OPT_OUTPUT(rank_opts, links, NULL, "OUT.tsv", "write the graph as a list of links"),
	OPT_OUTPUT(rank_opts, report, NULL, "FILE", "show it in one HTML file, too"),
	OPT_DOUBLE(rank_opts, damping, 0.85, 0, 0.999999, "damping factor"),
	OPT_DOUBLE(rank_opts, tolerance, 1e-9, 1e-15, 1, "L1 norm of the residual to reach"),
	OPT_INT(rank_opts, max_iterations, 300, 1, 1000000, "most passes over the links"),
	OPT_CHOICE(rank_opts, dangling, "uniform|teleport|drop", "uniform",
	           "where the rank of nodes without links goes"),
	OPT_INT(rank_opts, threads, 0, 0, 256, "threads; 0: all processors"),
	OPT_END
};

static double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* By links out; those into a node are known from the matrix, or from the packed rows. */
static void count_degrees(struct ranked *r, const struct pagerank_matrix *m,
                          const struct graph_pack *pack)
{
	const struct graph *g = &r->g.text.graph;
	uint32_t *in = mem_big((g->n_nodes + 1ul) * sizeof *in);

	if (m)
		pagerank_in_degrees(m, in);
	r->loops = m ? pagerank_loops(m) : graph_pack_in_degrees(pack, in);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint64_t n = graph_degree(g, v);

		r->dangling += n == 0;
		r->unlinked += in[v] == 0;
		r->out_classes[rank_degree_class(n) % DEGREE_CLASSES]++;
		r->in_classes[rank_degree_class(in[v]) % DEGREE_CLASSES]++;
		r->out_most = n > r->out_most ? (uint32_t)n : r->out_most;
		r->in_most = in[v] > r->in_most ? in[v] : r->in_most;
	}
	mem_big_free(in, (g->n_nodes + 1ul) * sizeof *in);
}

/* A place in the order: higher ranks first, smaller numbers first among equals. */
static bool is_before(const double *rank, uint32_t a, uint32_t b)
{
	return rank[a] != rank[b] ? rank[a] > rank[b] : a < b;
}

/* heap[0] is the last of n in the order; it sinks to where it belongs. */
static void sink(const double *rank, uint32_t *heap, size_t n)
{
	uint32_t v = heap[0];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && is_before(rank, heap[child], heap[child + 1]);
		if (!is_before(rank, v, heap[child]))
			break;
		heap[at] = heap[child];
	}
	heap[at] = v;
}

/* The n nodes of highest rank, in order; O(nodes * log n). */
static void find_top(struct ranked *r, uint64_t n)
{
	uint32_t n_nodes = r->g.text.graph.n_nodes, *top, used = 0;

	if (n > n_nodes)
		n = n_nodes;
	top = mem_array(n + 1, sizeof *top);
	for (uint32_t v = 0; v < n_nodes && n; v++) {
		if (used < n) {
			uint32_t at = used++;

			for (; at && is_before(r->rank, top[(at - 1) / 2], v); at = (at - 1) / 2)
				top[at] = top[(at - 1) / 2];
			top[at] = v;
		} else if (is_before(r->rank, v, top[0])) {
			top[0] = v;
			sink(r->rank, top, n);
		}
	}
	r->n_top = used;
	while (used > 1) {
		uint32_t last = top[0];

		top[0] = top[--used];
		sink(r->rank, top, used);
		top[used] = last;
	}
	r->top = top;
}

/* Is there room for the graph laid out anew?  A quarter is left for all else. */
static bool has_room(const struct graph *g)
{
	uint64_t need = pagerank_memory(g), room = rank_memory();

	if (need <= room / 4 * 3)
		return true;
	log_info("%llu MB are needed to lay the graph out in memory, and there are %llu: it is read "
	         "in the order of its file, once a pass, and packed as far as there is room",
	         (unsigned long long)(need >> 20), (unsigned long long)(room >> 20));
	return false;
}

/* What is left for packed rows; an eighth is left for all else, and for pages of the file. */
static uint64_t room_for_rows(const struct graph *g)
{
	uint64_t room = rank_memory(), vectors = (uint64_t)g->n_nodes * PAGERANK_STREAM_NODE;

	room -= room / 8;
	return room > vectors ? room - vectors : 0;
}

static int compute(struct ranked *r, struct cli *cli, const struct rank_opts *o,
                   struct err *err)
{
	struct pagerank_opts po = { .damping = o->damping, .tolerance = o->tolerance,
		.max_iterations = (unsigned)o->max_iterations, .threads = (unsigned)o->threads,
		.dangling = (enum pagerank_dangling)o->dangling };
	const struct graph *g = &r->g.text.graph;
	const double *teleport = NULL;
	struct pagerank_matrix *m = NULL;
	struct graph_pack pack = { 0 };
	double t0 = clock_seconds();
	int rc;

	if (r->g.text.alive || has_room(g))     /* LiveRank's orders need it whatever it takes */
		m = pagerank_prepare(g);
	else
		graph_pack(&pack, g, room_for_rows(g));
	r->rank = mem_big(((size_t)g->n_nodes + 1) * sizeof *r->rank);
	rc = m ? pagerank_solve(m, &po, 1, &teleport, &r->rank, &r->result, err) :
	     pagerank_stream(&pack, &po, r->rank, &r->result, err);
	r->seconds = clock_seconds() - t0;
	count_degrees(r, m, &pack);
	graph_pack_release(&pack);
	if (rc == 0 && r->g.text.alive)
		rc = rank_orders_run(&r->g, m, r->rank, &o->order, (uint64_t)cli->common.seed,
		                     (unsigned)o->seeds, (unsigned)o->threads, &r->orders,
		                     &r->n_orders, err);
	pagerank_free(m);
	if (rc == 0 && o->top)
		find_top(r, (uint64_t)o->top);
	return rc;
}

static int write_report(const struct ranked *r, const struct cli *cli, const char *path,
                        struct err *err)
{
	char title[100], nodes[32], links[32];
	struct report_head head = { title, cli->line, clock_now() };
	struct report report;
	int rc;

	snprintf(title, sizeof title, "A graph of %s nodes and %s links",
	         report_count(r->g.text.graph.n_nodes, nodes),
	         report_count(r->g.text.graph.n_links, links));
	report_init(&report);
	rank_print_json(r, report_json(&report));
	rank_say(r, &report);
	rc = report_write(&report, path, &head, err);
	report_release(&report);
	return rc;
}

static int rank_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct rank_opts *o = opts;
	struct ranked r = { 0 };
	struct json j;
	int rc = report_check(o->report, err);

	if (rc == 0 && (rc = output_check(o->pagerank, err)) == 0 &&
	    (rc = output_check(o->links, err)) == 0)
		rc = output_check(o->save, err);
	if (rc == 0)
		rc = n_args ? rank_load(&r.g, n_args, args, err) :
		     rank_load_repository(&r.g, cli, err);
	if (rc == 0 && o->truth)
		rc = rank_load_truth(&r.g, o->truth, err);
	if (rc == 0 && o->order.n && !r.g.text.alive)
		rc = err_set(err, E_USAGE, "--order needs to know which pages are alive: give "
		             "--truth FILE");
	if (rc == 0)
		rc = compute(&r, cli, o, err);
	if (rc == 0 && o->pagerank)
		rc = rank_write(&r, o->pagerank, err);
	if (rc == 0 && o->links)
		rc = rank_write_links(&r, o->links, err);
	if (rc == 0 && o->save)
		rc = graph_file_save(&r.g.text.graph, o->save, err);
	json_to_file(&j, stdout);
	if (rc == 0 && cli->common.json)
		rank_print_json(&r, &j);
	else if (rc == 0)
		rank_print_text(&r);
	if (rc == 0 && o->report)
		rc = write_report(&r, cli, o->report, err);
	mem_big_free(r.rank, ((size_t)r.g.text.graph.n_nodes + 1) * sizeof *r.rank);
	free(r.orders);
	free(r.top);
	rank_release(&r.g);
	return rc;
}

const struct command command_rank = {
	.name = "rank",
	.reach = MAY_READ_ARGS | MAY_READ_INSTEAD,
	.on_fleet = FLEET_ONE,
	.arguments = "[GRAPH...]",
	.summary = "PageRank and LiveRank of a graph file",
	.description =
		"Reads a graph, shows what it is like and computes its PageRank. A graph is the base\n"
		"name of a WebGraph BVGraph, a list of links (numbers or URLs, one link a line), an\n"
		"adjacency file (`url TAB alive TAB links`), or a file written by --save, which is\n"
		"mapped instead of read; texts may be compressed, and several make one graph. Without\n"
		"one, the links between the pages of the repository are taken.\n\n"
		"Where it is known which pages are still alive (--truth, or an adjacency file), every\n"
		"LiveRank order is run: its cost at a share of the living pages is the number of tests\n"
		"made until that share is found, over that share of their number; 1 is perfect, pages /\n"
		"alive is chance. --order evidence is what `live` does by default: it learns from URLs\n"
		"and links, and where nodes have no URLs from links alone.",
	.examples =
		"  freshet rank cnr-2000 --top 10          # a BVGraph\n"
		"  freshet rank links.tsv.gz --pagerank ranks.tsv --save links.graph\n"
		"  freshet rank old.tsv --order alive-dead:sample=2% --order bfs --json\n"
		"  freshet rank old.tsv --order evidence --order alive-dead --seeds 10\n",
	.options = rank_options,
	.opts_size = sizeof(struct rank_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = rank_run,
};
