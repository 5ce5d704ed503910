/* SPDX-License-Identifier: Apache-2.0 */
/* rank_print.c - see rank_print.h. */
#include "cli/rank/rank_print.h"

#include <string.h>

#include "cli/frame/command.h"
#include "cli/report/report.h"

#define SAY_ALPHA 15                    /* index: rank_alpha() of it is 0.80 */

unsigned rank_degree_class(uint64_t degree)
{
	return degree ? 64 - (unsigned)__builtin_clzll(degree) : 0;
}

static void print_degrees(const struct ranked *r)
{
	static const char *const heads[] = { "<degree", "nodes by links out", "by links in" };
	struct table *t = table_new(heads, 3);
	unsigned last = rank_degree_class(r->out_most > r->in_most ? r->out_most : r->in_most);

	for (unsigned c = 0; c <= last; c++) {
		if (c < 2)
			table_cell(t, "%u", c);
		else
			table_cell(t, "%llu - %llu", 1ull << (c - 1), (1ull << c) - 1);
		table_cell(t, "%llu", (unsigned long long)r->out_classes[c]);
		table_cell(t, "%llu", (unsigned long long)r->in_classes[c]);
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
}

static void print_orders(const struct ranked *r)
{
	static const char *const heads[] = { "<cost at share alive found", "0.1", "0.2", "0.3",
		"0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95" };
	struct table *t = table_new(heads, 11);

	for (size_t i = 0; i < r->n_orders; i++) {
		table_cell(t, "%s", r->orders[i].spec);
		for (unsigned a = 1; a < RANK_ALPHAS; a += 2)
			table_cell(t, "%.3f", r->orders[i].cost[a].mean);
		table_cell(t, "%.3f", r->orders[i].cost[RANK_ALPHAS - 1].mean);
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
}

void rank_print_text(const struct ranked *r)
{
	const struct graph *g = &r->g.text.graph;

	printf("nodes         %u\nlinks         %llu\n", g->n_nodes,
	       (unsigned long long)g->n_links);
	printf("no links out  %llu\nno links in   %llu\nto themselves %llu\n",
	       (unsigned long long)r->dangling, (unsigned long long)r->unlinked,
	       (unsigned long long)r->loops);
	if (r->g.text.n_outside)
		printf("left out      %llu links to pages outside\n",
		       (unsigned long long)r->g.text.n_outside);
	if (r->g.text.alive)
		printf("alive         %llu\n", (unsigned long long)r->g.n_alive);
	printf("pagerank      %u passes, residual %.2g%s, %.2f s\n", r->result.iterations,
	       r->result.residual, r->result.converged ? "" : " (not converged)", r->seconds);
	print_degrees(r);
	for (uint32_t i = 0; i < r->n_top; i++) {
		printf("%s%.9f  ", i ? "" : "\n", r->rank[r->top[i]]);
		if (r->g.text.names.n)
			log_print_plain(strtab_get(&r->g.text.names, r->top[i]));
		else
			printf("%u", r->top[i]);
		putchar('\n');
	}
	if (r->n_orders)
		print_orders(r);
}

static void json_orders(struct json *j, const struct ranked *r)
{
	json_key(j, "orders");
	json_array(j);
	for (size_t i = 0; i < r->n_orders; i++) {
		json_object(j);
		json_kstr(j, "order", r->orders[i].spec);
		json_key(j, "cost");
		json_array(j);
		for (unsigned a = 0; a < RANK_ALPHAS; a++) {
			json_array(j);
			json_num(j, rank_alpha(a));
			json_num(j, r->orders[i].cost[a].mean);
			json_end_array(j);
		}
		json_end_array(j);
		json_key(j, "cost_se");
		json_array(j);
		for (unsigned a = 0; a < RANK_ALPHAS; a++)
			json_num(j, stat_se(&r->orders[i].cost[a]));
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_classes(struct json *j, const char *key, const uint64_t *classes)
{
	json_key(j, key);
	json_array(j);
	for (unsigned c = 0; c < DEGREE_CLASSES; c++) {
		if (!classes[c])
			continue;
		json_array(j);
		json_int(j, c ? (int64_t)1 << (c - 1) : 0);
		json_int(j, (int64_t)classes[c]);
		json_end_array(j);
	}
	json_end_array(j);
}

void rank_print_json(const struct ranked *r, struct json *j)
{
	const struct graph *g = &r->g.text.graph;

	cli_json_schema(j, "rank");
	json_key(j, "graph");
	json_object(j);
	json_kint(j, "nodes", g->n_nodes);
	json_kint(j, "links", (int64_t)g->n_links);
	json_kint(j, "dangling", (int64_t)r->dangling);
	json_kint(j, "no_links_in", (int64_t)r->unlinked);
	json_kint(j, "loops", (int64_t)r->loops);
	json_classes(j, "out_degrees", r->out_classes);
	json_classes(j, "in_degrees", r->in_classes);
	json_end_object(j);
	json_key(j, "alive");
	if (r->g.text.alive)
		json_int(j, (int64_t)r->g.n_alive);
	else
		json_null(j);
	json_orders(j, r);
	json_key(j, "pagerank");
	json_object(j);
	json_kint(j, "iterations", r->result.iterations);
	json_knum(j, "residual", r->result.residual);
	json_kbool(j, "converged", r->result.converged);
	json_knum(j, "seconds", r->seconds);
	json_end_object(j);
	json_key(j, "top");
	json_array(j);
	for (uint32_t i = 0; i < r->n_top; i++) {
		json_array(j);
		if (r->g.text.names.n)
			json_str(j, strtab_get(&r->g.text.names, r->top[i]));
		else
			json_int(j, r->top[i]);
		json_num(j, r->rank[r->top[i]]);
		json_end_array(j);
	}
	json_end_array(j);
	cli_json_end(j);
}

void rank_say(const struct ranked *r, struct report *report)
{
	const struct rank_order_result *best = NULL, *random = NULL;
	char n[32], alive[32];

	for (size_t i = 0; i < r->n_orders; i++) {
		const struct rank_order_result *o = &r->orders[i];

		if (!strncmp(o->spec, "random", 6))
			random = o;
		if (strncmp(o->spec, "oracle", 6) &&
		    (!best || o->cost[SAY_ALPHA].mean < best->cost[SAY_ALPHA].mean))
			best = o;
	}
	if (!best) {
		report_say(report, "PageRank %s after %u passes over the links, to a residual of "
		           "%.1g.", r->result.converged ? "converged" : "did not converge",
		           r->result.iterations, r->result.residual);
		return;
	}
	report_say(report, "%s of %s pages are alive. To find 80 %% of them, %s is cheapest: "
	           "%.2f tests for each living page found.", report_count(r->g.n_alive, alive),
	           report_count(r->g.text.graph.n_nodes, n), best->spec,
	           best->cost[SAY_ALPHA].mean);
	if (random && random != best)
		report_say(report, "Random order needs %.2f.", random->cost[SAY_ALPHA].mean);
}
