/* SPDX-License-Identifier: Apache-2.0 */
/* rank_evidence.c - see rank_evidence.h. */
#include "cli/rank/rank_evidence.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/import/import.h"
#include "engine/replay/experiment.h"

#define EVIDENCE "evidence"
#define TEXT_MAX ((size_t)1 << 30)      /* of the links of one page */

bool rank_is_evidence(const char *spec)
{
	size_t n = strlen(EVIDENCE);

	return !strncmp(spec, EVIDENCE, n) && (!spec[n] || spec[n] == ':');
}

/* A node as the URL of a page.  Numbers are padded, so that URLs sort as they do. */
static int name_node(const struct rank_graph *g, uint32_t v, struct buf *ret, struct err *err)
{
	const char *name;

	if (!g->sites) {
		buf_printf(ret, "http://graph.invalid/%010u", v);
		return 0;
	}
	name = strtab_get(&g->text.names, v);
	if (import_link(NULL, 0, name, strlen(name), ret) == 0)
		return 0;
	return err_set(err, E_USAGE, "`%s` is no URL: give all nodes URLs, or number them: then "
	               "links alone decide", name);
}

/* One page on both days; *ret_cut counts the links that a capture has no room for. */
static int add_node(struct history *h, const struct rank_graph *g, uint32_t v, struct buf *url,
                    struct buf *links, uint64_t *ret_cut, struct err *err)
{
	const struct graph *out = &g->text.graph;
	uint64_t degree = graph_degree(out, v);
	struct record r = { .time = DAY_SECONDS, .status = 200, .length = -1,
		.digest = { "A", 1 }, .facts.words = -1 };
	int rc = 0;

	buf_clear(links);
	*ret_cut += degree > RECORD_LINKS_MAX ? degree - RECORD_LINKS_MAX : 0;
	for (uint64_t i = 0; rc == 0 && i < degree && i < RECORD_LINKS_MAX; i++) {
		if (i)
			buf_byte(links, ' ');
		rc = name_node(g, out->targets[out->offsets[v] + i], links, err);
	}
	buf_clear(url);
	if (rc == 0)
		rc = name_node(g, v, url, err);
	if (rc < 0)
		return rc;
	r.url = (struct text){ url->data, url->size };
	if (degree)
		r.links = (struct text){ links->data, links->size };
	rc = history_add(h, &r, err);
	if (rc < 0)
		return rc;
	r.links = (struct text){ 0 };
	r.time += DAY_SECONDS;
	r.status = g->text.alive[v] ? 200 : 404;
	return history_add(h, &r, err);
}

static int make_history(struct history *ret, const struct rank_graph *g, struct err *err)
{
	uint32_t n = g->text.graph.n_nodes;
	struct buf url, links;
	uint64_t cut = 0;
	int rc = 0;

	buf_init(&url, TEXT_MAX);
	buf_init(&links, TEXT_MAX);
	history_init(ret, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	for (uint32_t v = 0; rc == 0 && v < n; v++)
		rc = add_node(ret, g, v, &url, &links, &cut, err);
	buf_release(&url);
	buf_release(&links);
	if (rc == 0)
		rc = history_finish(ret, err);
	if (rc == 0 && ret->n_pages != n)
		rc = err_set(err, E_USAGE, "%u of %u nodes are other spellings of the same URLs: write "
		             "each page in one way", n - ret->n_pages, n);
	if (rc == 0 && cut)
		log_info("%llu links are left out: of a page at most %d are read",
		         (unsigned long long)cut, RECORD_LINKS_MAX);
	return rc;
}

/* Cost as of liverank_cost().  A replay divides the tests by the pages found, which is the
 * next whole number. */
static double to_liverank(double cost, double alpha, uint64_t n_alive)
{
	double wanted = alpha * (double)n_alive;

	return cost > 0 ? cost * ceil(wanted - 1e-9) / wanted : NAN;
}

static int run_history(const struct history *h, uint64_t n_alive, const char *spec,
                       uint64_t seed, unsigned n_seeds, unsigned threads,
                       struct rank_order_result *result, struct err *err)
{
	struct replay_opts opts = { .cycle_seconds = DAY_SECONDS, .budget = { 100, true },
		.goal = GOAL_ALIVE, .aim = AIM_FRESHNESS };
	struct option_list list = { .v = &spec, .n = 1 };
	struct experiment x = { 0 };
	struct replay r = { 0 };
	unsigned needs;
	int rc = policy_list_needs(&list, &needs, err);

	if (rc < 0)
		return rc;
	rc = replay_open(&r, h, &opts, needs, err);
	if (rc == 0)
		rc = experiment_run(&x, &r, &list, seed, n_seeds, threads, NULL, NULL, err);
	for (unsigned s = 0; rc == 0 && s < n_seeds; s++)
		for (unsigned a = 0; a < RANK_ALPHAS; a++)
			stat_add(&result->cost[a], to_liverank(x.results[0].runs[s].cost[a],
			                                       rank_alpha(a), n_alive));
	experiment_release(&x);
	replay_close(&r);
	return rc;
}

int rank_evidence_run(const struct rank_graph *g, const char *spec, uint64_t seed,
                      unsigned n_seeds, unsigned threads, struct rank_order_result *result,
                      struct err *err)
{
	struct option_list check = { .v = &spec, .n = 1 };
	struct history h = { 0 };
	struct buf by_links;
	unsigned needs;
	int rc = policy_list_needs(&check, &needs, err);

	if (rc < 0)
		return rc;
	buf_init(&by_links, TEXT_MAX);
	buf_printf(&by_links, "%s%cnourl=1%c", spec, strchr(spec, ':') ? ',' : ':', 0);
	rc = make_history(&h, g, err);
	if (rc == 0)
		rc = run_history(&h, g->n_alive, g->sites ? spec : by_links.data, seed, n_seeds,
		                 threads, result, err);
	buf_release(&by_links);
	history_release(&h);
	return rc;
}
