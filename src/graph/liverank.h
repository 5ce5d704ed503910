/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liverank.h - in which order to test the pages of an old crawl for life.
 *
 * After Huynh, Mathieu, Viennot, "LiveRank: how to refresh old crawls" (2014).
 * Pages are numbers.  One object is one run: it returns the next page to test and is told
 * the answer.  Answers may come later, so it serves a simulation page by page as well as
 * a crawler in batches.
 *
 *   l = liverank_new(&world, &opts);
 *   while ((page = liverank_next(l)) != GRAPH_NONE)
 *           liverank_tell(l, page, is_alive(page));
 *
 * Every page comes exactly once, those of the training set first.  A page that is told
 * without having come (tested before this run) belongs to the training set; it still
 * comes later, and the caller skips it.
 */
#ifndef GRAPH_LIVERANK_H
#define GRAPH_LIVERANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"
#include "graph/pagerank.h"

enum liverank_order {
	LIVERANK_RANDOM,        /* R */
	LIVERANK_INDEGREE,      /* I: most links in first */
	LIVERANK_PAGERANK,      /* P */
	LIVERANK_ALIVE,         /* Pa: PageRank whose teleport is the sample's living */
	LIVERANK_ALIVE_DEAD,    /* Pa+/-: that over PageRank from the sample's dead */
	LIVERANK_SITE,          /* ASF: sites by the share of their sample alive */
	LIVERANK_BFS,           /* breadth first from the sample through living pages */
	LIVERANK_ALIVE_INDEGREE,/* AI: most known living pages linking to it */
	LIVERANK_ORACLE,        /* the living first: knows world.truth */
};
#define LIVERANK_ORDERS "random|indegree|pagerank|alive|alive-dead|site|bfs|" \
	"alive-indegree|oracle"

enum liverank_by {
	LIVERANK_BY_RANDOM, LIVERANK_BY_PAGERANK, LIVERANK_BY_INDEGREE,
	LIVERANK_BY_SYSTEMATIC          /* every (n / z)th from a random start, shuffled */
};
#define LIVERANK_SAMPLES "random|pagerank|indegree|systematic"

struct liverank_world {
	const struct graph *out;
	const struct pagerank_matrix *matrix;   /* of out; alive and alive-dead need it */
	const double *pagerank;                 /* NULL where only random is wanted */
	const uint32_t *in_degree;              /* likewise */
	const uint32_t *sites;                  /* by page, 0 .. n_sites - 1; for site */
	uint32_t n_sites;
	const uint8_t *truth;                   /* for oracle */
};

struct liverank_opts {
	enum liverank_order order;
	uint32_t sample;                /* pages of the training set */
	enum liverank_by by;
	bool spread;                    /* no two of the sample linked, while it can be */
	bool random_ties;               /* else ties go by PageRank */
	uint64_t seed;
};

struct liverank;

/* E_USAGE if the world lacks what the order needs. */
MUST_CHECK int liverank_new(struct liverank **ret, const struct liverank_world *world,
                            const struct liverank_opts *opts, struct err *err);
void liverank_free(struct liverank *l);                 /* NULL is fine */
uint32_t liverank_next(struct liverank *l);             /* GRAPH_NONE at the end */
void liverank_tell(struct liverank *l, uint32_t page, bool alive);
/* Does the next page belong to the training set? */
bool liverank_in_sample(const struct liverank *l);

/*
 * cost(alpha) of an order: tests made until the share alpha of all living pages
 * is found, over alpha times the living pages: 1 is perfect (more where alpha of them is
 * no whole number), n / n_alive is chance.  NAN where nothing is alive.  alphas ascending, in (0, 1].
 */
void liverank_cost(const uint32_t *order, uint32_t n, const uint8_t *alive,
                   const double *alphas, unsigned n_alphas, double *ret_costs);

#endif
