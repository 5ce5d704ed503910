/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liverank.c - the orders of LiveRank (Huynh, Mathieu, Viennot 2014) as a policy:
 * which pages of an old crawl to test first, so that the living come early.
 *
 * The orders themselves are graph/liverank.h: static (random, indegree, pagerank),
 * by a training set (alive, alive-dead, site), and dynamic (bfs, alive-indegree).
 * Under goal `alive` a page is tested once for all; what earlier cycles found is
 * told again at the beginning of a cycle and takes the place of the sample.  Under
 * goal `changed`, which the authors left for future work, every cycle is a run of
 * its own and "alive" reads "changed".
 *
 * Rounds.  The training set is one; static and sample-based orders then ask for
 * all the rest at once, dynamic ones `batch` pages at a time, since each answer
 * may move the next question.
 *
 * Cost.  That of the order: O(links) and PageRanks for the sample-based ones; one
 * byte a page.
 */
#include <math.h>

#include "graph/liverank.h"
#include "policy/plan.h"

#define SAMPLE_LEAST 100

struct live_opts { int order, by; struct share sample; bool spread; int ties; int64_t batch; };

struct live_state {
	struct pagerank_matrix *matrix;
	uint32_t *in_degree;
	struct liverank *run;
	bool broken;                    /* the order cannot be made: the engine fills up */
};

enum { UNTESTED, FOUND_DEAD, FOUND_ALIVE };

static const struct option_spec live_options[] = {
	OPT_CHOICE(live_opts, order, "random|indegree|pagerank|alive|alive-dead|site|bfs|"
	           "alive-indegree", "alive-dead", "the order in which pages are tested"),
	OPT_SHARE(live_opts, sample, NULL, "training set; default: 1 %, at least 100"),
	OPT_CHOICE(live_opts, by, LIVERANK_SAMPLES, "random", "how the training set is chosen"),
	OPT_FLAG(live_opts, spread, "no two pages of the training set are linked"),
	OPT_CHOICE(live_opts, ties, "pagerank|random", "pagerank", "what decides between equals"),
	OPT_INT(live_opts, batch, 1, 1, 1000000, "bfs and alive-indegree: pages of a round"),
	OPT_END
};

static unsigned live_needs(const void *opts)
{
	(void)opts;
	return NEED_LINKS | NEED_PAGERANK;
}

static void set_up(struct live_state *s, const struct view *v)
{
	if (s->matrix)
		return;
	s->matrix = pagerank_prepare(v->links);
	s->in_degree = mem_zalloc(v->n_pages, sizeof *s->in_degree);
	graph_in_degrees(v->links, s->in_degree);
}

static uint32_t sample_size(const struct live_opts *o, const struct view *v, uint32_t tested)
{
	uint64_t z = o->sample.value > 0 ? share_of(o->sample, v->n_pages) :
	             v->n_pages / 100 > SAMPLE_LEAST ? v->n_pages / 100 : SAMPLE_LEAST;

	if (z > v->n_pages)
		z = v->n_pages;
	return z > tested ? (uint32_t)z - tested : 0;
}

static void live_begin(struct policy *p, const struct view *v)
{
	const struct live_opts *o = p->opts;
	struct live_state *s = p->state;
	struct liverank_opts lo = {
		.order = (enum liverank_order)o->order, .by = (enum liverank_by)o->by,
		.spread = o->spread, .random_ties = o->ties == 1, .seed = v->seed + v->cycle,
	};
	struct liverank_world w;
	uint32_t tested = 0;

	set_up(s, v);
	w = (struct liverank_world){ .out = v->links, .matrix = s->matrix, .pagerank = v->pagerank,
	                             .in_degree = s->in_degree, .sites = v->site,
	                             .n_sites = v->tree->n_sites };
	liverank_free(s->run);
	s->run = NULL;
	for (uint32_t i = 0; i < v->n_pages && v->goal == GOAL_ALIVE; i++)
		tested += *(uint8_t *)policy_page(p, i) != UNTESTED;
	lo.sample = sample_size(o, v, tested);
	s->broken = liverank_new(&s->run, &w, &lo, NULL) < 0;
	for (uint32_t i = 0; i < v->n_pages && tested && !s->broken; i++) {
		uint8_t known = *(uint8_t *)policy_page(p, i);

		if (known != UNTESTED)
			liverank_tell(s->run, i, known == FOUND_ALIVE);
	}
}

static void live_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct live_opts *o = p->opts;
	struct live_state *s = p->state;
	bool dynamic = o->order >= LIVERANK_BFS, sample;
	uint32_t page;

	if (s->broken)
		return;
	sample = liverank_in_sample(s->run);
	if (dynamic && !sample)
		plan_limit(plan, (uint32_t)o->batch);
	while (plan_room(plan) && liverank_in_sample(s->run) == sample &&
	       (page = liverank_next(s->run)) != GRAPH_NONE)
		if (view_open(v, page))
			plan_take(plan, page, 0, NAN, sample ? REASON_SAMPLE : REASON_RANK);
}

static void live_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct live_state *s = p->state;

	if (!seen->known)
		return;
	if (v->goal == GOAL_ALIVE)
		*(uint8_t *)policy_page(p, seen->page) = seen->hit ? FOUND_ALIVE : FOUND_DEAD;
	if (!s->broken)
		liverank_tell(s->run, seen->page, seen->hit);
}

static void live_release(struct policy *p)
{
	struct live_state *s = p->state;

	liverank_free(s->run);
	pagerank_free(s->matrix);
	free(s->in_degree);
}

const struct policy_ops policy_liverank = {
	.name = "liverank",
	.summary = "orders that find the living pages of an old crawl first",
	.origin = "LiveRank; Huynh, Mathieu, Viennot 2014",
	.options = live_options,
	.opts_size = sizeof(struct live_opts),
	.state_size = sizeof(struct live_state),
	.page_size = sizeof(uint8_t),
	.needs = live_needs,
	.begin = live_begin,
	.ask = live_ask,
	.tell = live_tell,
	.release = live_release,
};
