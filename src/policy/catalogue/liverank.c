/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liverank.c - the orders of LiveRank (Huynh, Mathieu, Viennot 2014) as a policy:
 * which pages of an old crawl to test first, so that the living come early.
 *
 * The orders themselves are graph/liverank.h: static (random, indegree, pagerank),
 * by a training set (alive, alive-dead, site), and dynamic (bfs, alive-indegree).
 * Under goal `alive` a page is tested only once.  The first ask() makes the order.
 * Random pages that were tested before (by earlier cycles, by the engine, or before a
 * crash) are then part of the training set.  So a resumed cycle has the same order.
 * Under goal `changed`, which the authors left for future work, every cycle makes a new
 * order, and "alive" means "changed".
 *
 * Parts.  The pages of a static or sample-based order after its training set are dealt to
 * `parts` crawlers: the i-th page goes to part i mod parts.  Every crawler needs the
 * outcomes of the training set.  So each tests all of it, or starts with a copy of a
 * repository in which it was tested.
 *
 * Rounds.  The training set is one round.  Static and sample-based orders then plan all
 * the rest at once; dynamic ones plan `batch` pages at a time, since each answer may
 * change the next choice.
 *
 * Cost.  That of the order: O(links) and PageRanks for the sample-based ones; one
 * byte a page.
 */
#include <math.h>

#include "graph/liverank.h"
#include "policy/plan.h"

#define SAMPLE_LEAST 100

struct live_opts {
	int order, by, ties;
	struct share sample;
	bool spread;
	int64_t batch, part, parts;
};

struct live_state {
	struct pagerank_matrix *matrix;
	uint32_t *in_degree;
	struct liverank *run;
	bool broken;                    /* the order cannot be made: the engine fills up */
	uint64_t index;                 /* in the order after the training set */
	VEC(uint32_t) told;             /* in this cycle, before the run was made */
};

/* What is known of a page; kept for ever under goal alive.  OWN: tested by this cycle's
 * run, which will come to it again; from SAMPLE_DEAD on: random pages tested before. */
enum { UNTESTED, TESTED, OWN_DEAD, OWN_ALIVE, SAMPLE_DEAD, SAMPLE_ALIVE };

static const struct option_spec live_options[] = {
	OPT_CHOICE(live_opts, order, "random|indegree|pagerank|alive|alive-dead|site|bfs|"
	           "alive-indegree", "alive-dead", "the order in which pages are tested"),
	OPT_SHARE(live_opts, sample, NULL, "training set; default: 1 %, at least 100"),
	OPT_CHOICE(live_opts, by, LIVERANK_SAMPLES, "random", "how the training set is chosen"),
	OPT_FLAG(live_opts, spread, "no two pages of the training set are linked"),
	OPT_CHOICE(live_opts, ties, "pagerank|random", "pagerank", "what decides between equals"),
	OPT_INT(live_opts, batch, 1, 1, 1000000, "bfs and alive-indegree: pages of a round"),
	OPT_INT(live_opts, part, 0, 0, 65535, "of `parts` crawlers the one that this is, from 0"),
	OPT_INT(live_opts, parts, 1, 1, 65536, "crawlers among whom the order is dealt"),
	OPT_END
};

static unsigned live_needs(const void *opts)
{
	(void)opts;
	return NEED_LINKS | NEED_PAGERANK;
}

static int live_check(const void *opts, struct err *err)
{
	const struct live_opts *o = opts;

	if (o->part >= o->parts)
		return err_set(err, E_USAGE, "part must be below parts (%lld)", (long long)o->parts);
	if (o->parts > 1 && o->order >= LIVERANK_BFS)
		return err_set(err, E_USAGE, "bfs and alive-indegree cannot be dealt to crawlers: "
		               "every answer moves the next question");
	return 0;
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
	struct live_state *s = p->state;

	set_up(s, v);
	liverank_free(s->run);
	s->run = NULL;
	s->broken = false;
	s->index = 0;
	s->told.n = 0;
	for (uint32_t i = 0; i < v->n_pages && v->goal == GOAL_ALIVE; i++) {
		uint8_t *known = policy_page(p, i);

		if (*known == OWN_DEAD || *known == OWN_ALIVE)
			*known = *known == OWN_ALIVE ? SAMPLE_ALIVE : SAMPLE_DEAD;
	}
}

/* Does a random page that was tested before count for the training set? */
static bool counts(const struct live_opts *o)
{
	return o->order != LIVERANK_SITE &&
	       (o->by == LIVERANK_BY_RANDOM || o->by == LIVERANK_BY_SYSTEMATIC);
}

static void recall(struct policy *p, uint32_t page)
{
	struct live_state *s = p->state;
	uint8_t known = *(uint8_t *)policy_page(p, page);

	if (known >= OWN_DEAD)
		liverank_tell(s->run, page, known == OWN_ALIVE || known == SAMPLE_ALIVE);
}

static void make_run(struct policy *p, const struct view *v)
{
	const struct live_opts *o = p->opts;
	struct live_state *s = p->state;
	struct liverank_opts lo = {
		.order = (enum liverank_order)o->order, .by = (enum liverank_by)o->by,
		.spread = o->spread, .random_ties = o->ties == 1, .seed = v->seed + v->cycle,
	};
	struct liverank_world w = {
		.out = v->links, .matrix = s->matrix, .pagerank = v->pagerank,
		.in_degree = s->in_degree, .sites = v->site, .n_sites = v->tree->n_sites,
	};
	uint32_t tested = 0;

	for (uint32_t i = 0; i < v->n_pages && v->goal == GOAL_ALIVE && counts(o); i++) {
		uint8_t known = *(uint8_t *)policy_page(p, i);

		tested += known >= SAMPLE_DEAD || (known && v->last_cycle[i] != v->cycle);
	}
	lo.sample = sample_size(o, v, tested);
	s->broken = liverank_new(&s->run, &w, &lo, NULL) < 0;
	if (s->broken || v->goal != GOAL_ALIVE)
		return;
	/* this cycle's visits in the order told: dynamic orders depend on it */
	for (size_t i = 0; i < s->told.n; i++)
		recall(p, s->told.v[i]);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (v->last_cycle[i] != v->cycle)
			recall(p, i);
}

static void live_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct live_opts *o = p->opts;
	struct live_state *s = p->state;
	bool dynamic = o->order >= LIVERANK_BFS, sample;
	uint32_t page;

	if (!s->run && !s->broken)
		make_run(p, v);
	if (s->broken)
		return;
	sample = liverank_in_sample(s->run);
	if (dynamic && !sample)
		plan_limit(plan, (uint32_t)o->batch);
	while (plan_room(plan) && liverank_in_sample(s->run) == sample &&
	       (page = liverank_next(s->run)) != GRAPH_NONE) {
		if (!sample && s->index++ % (uint64_t)o->parts != (uint64_t)o->part)
			continue;
		if (view_open(v, page))
			plan_take(plan, page, 0, NAN, sample ? REASON_SAMPLE : REASON_RANK);
	}
}

/* Sample-based orders learn from the training set only, so later tests do not change the
 * order when a cycle is resumed.  Dynamic orders learn from all tests. */
static void live_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct live_opts *o = p->opts;
	struct live_state *s = p->state;
	bool learns = o->order >= LIVERANK_BFS || seen->reason == REASON_SAMPLE ||
	              seen->reason == REASON_RANDOM;

	if (!seen->known)
		return;
	if (v->goal == GOAL_ALIVE)
		*(uint8_t *)policy_page(p, seen->page) = !learns ? TESTED :
			(uint8_t)((seen->reason == REASON_RANDOM ? SAMPLE_DEAD : OWN_DEAD) + seen->hit);
	if (s->run)
		liverank_tell(s->run, seen->page, seen->hit);
	else
		vec_push(&s->told, seen->page);
}

static void live_release(struct policy *p)
{
	struct live_state *s = p->state;

	liverank_free(s->run);
	pagerank_free(s->matrix);
	free(s->in_degree);
	vec_release(&s->told);
}

const struct policy_ops policy_liverank = {
	.name = "liverank",
	.summary = "orders that find the living pages of an old crawl first",
	.origin = "LiveRank; Huynh, Mathieu, Viennot 2014",
	.patience = 1,
	.options = live_options,
	.opts_size = sizeof(struct live_opts),
	.state_size = sizeof(struct live_state),
	.page_size = sizeof(uint8_t),
	.needs = live_needs,
	.check = live_check,
	.begin = live_begin,
	.ask = live_ask,
	.tell = live_tell,
	.release = live_release,
	/* Under goal changed every cycle has an order of its own; under goal alive page memory has
	 * what was tested. */
	.freeze = policy_freeze_nothing,
};
