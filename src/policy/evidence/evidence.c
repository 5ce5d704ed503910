/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.c - our policy for goal `alive`: the URL tree of the tested pages says
 * where life is, a small logistic model adds name families, links and statics.
 *
 * Order.  A sample spread evenly over the sorted URLs (1 %) opens, in which a page
 * counts by the root of the pages whose directories are alike but for numbers: versions
 * of one manual and months of one archive live and die together.  Ten of its pages are
 * tested, then more until two live, at most 0.15 % of all; later as many as the root of
 * the number of chosen pages that were dead: while the choice is good there is no
 * need to look elsewhere, and the longer nothing new was found the less there is to
 * find.  Where most tests miss, a fifth of them times the share that missed, which is more: the
 * place where life is has not been met yet, and only chance can meet it.  (How much is
 * alive is estimated by the engine, from a sample of its own.)
 * Everything else is the highest score, in batches of a tenth of what was tested and
 * at most 0.1 % of the pages, of one host at most a 500th of what was tested.
 * From single pages on: small batches matter more than any feature, and a batch that
 * ends where a host comes again costs a polite crawler no time.  Most of what a larger
 * one loses is saved by doubt (evidence_model.c).  Within a batch hosts take turns.
 *
 * Under goal `changed`, on trial, "alive" reads "changed" and every cycle is a run of
 * its own, as of liverank: who changed before says little of who changed now, and what
 * changed now is found place by place.  Nothing is remembered from cycle to cycle.
 *
 * Cost.  See evidence_queue.c: some two hundred scorings of all pages in a recovery of all
 * of them, each a few nanoseconds a page.  About 70 bytes a page, links apart, and 80 a
 * place or name.
 * Blind spot.  Where neither names nor links tell survivors apart, it is random.
 * Where few live, the first of them must be met by chance.
 */
#include "policy/evidence/evidence.h"

#include <math.h>

#include "base/math/rng.h"

#define OPENING_LEAST 10        /* tests before anything is chosen */
#define OPENING_ALIVE 2         /* living pages that end the opening */
#define OPENING_MOST 20         /* tests at the most, or this share of all pages: */
#define OPENING_SHARE 0.0015
#define EXPLORE_MISSED 0.2      /* of the misses, times their share: see owed() */
#define HOST_SHARE 0.002        /* of the tests: pages of one host in a batch */

static const struct option_spec evidence_options[] = {
	OPT_DOUBLE(evidence_opts, sample, 0.01, 0, 1, "share of pages in the sample"),
	OPT_DOUBLE(evidence_opts, share, 1, 0, 100,
	           "how much more or less of it is tested later"),
	OPT_DOUBLE(evidence_opts, voice, 3, 0.1, 1e9,
	           "tests for which a directory speaks in its parent"),
	OPT_FLAG(evidence_opts, nourl, "do not look at URLs"),
	OPT_FLAG(evidence_opts, nolinks, "do not look at links"),
	OPT_FLAG(evidence_opts, nofit, "keep the prior weights"),
	OPT_END
};

static unsigned evidence_needs(const void *opts)
{
	const struct evidence_opts *o = opts;

	return (o->nolinks ? 0u : NEED_LINKS | NEED_PAGERANK) | (o->nourl ? 0u : NEED_FAMILIES);
}

/* The view, without what the options hide. */
static struct view shown(const struct view *v, const struct evidence_opts *o)
{
	struct view r = *v;

	if (o->nolinks) {
		r.links = r.links_in = NULL;
		r.pagerank = NULL;
	}
	for (int f = 0; o->nourl && f < N_FAMILIES; f++)
		r.family[f] = NULL;
	return r;
}

static void evidence_begin(struct policy *p, const struct view *v)
{
	struct evidence_state *s = p->state;
	const struct evidence_opts *o = p->opts;
	struct view r = shown(v, o);

	s->queue_ready = false;
	if (s->ready && v->goal == GOAL_ALIVE)
		return;
	if (s->ready) {                 /* changes are found anew in each cycle */
		evidence_model_release(s);
	} else {
		evidence_world_init(&s->world, &r, !o->nourl, o->sample);
		evidence_queue_init(s, v->n_pages);
	}
	evidence_model_init(s, &r);
	s->ready = true;
}

/* Up to n pages of the sample that are still open. */
static void take_sample(const struct evidence_state *s, const struct view *v,
                        struct plan *plan, uint32_t n)
{
	const struct evidence_world *w = &s->world;

	for (uint32_t i = 0; i < w->n_sample && n; i++)
		if (view_open(v, w->sample[i])) {
			plan_take(plan, w->sample[i], 0, NAN, REASON_SAMPLE);
			n--;
		}
}

struct pick {
	struct offer offer;
	uint32_t site;
	uint32_t at;            /* place by score */
	uint32_t turn;          /* how many of its host come before */
};

static int by_site(const void *pa, const void *pb)
{
	const struct pick *a = pa, *b = pb;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int by_turn(const void *pa, const void *pb)
{
	const struct pick *a = pa, *b = pb;

	if (a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The pages taken last so that hosts take turns: none is asked twice in a row while
 * another waits. */
static void take_turns(struct plan *plan, const struct view *v, size_t from)
{
	size_t n = plan->n_taken - from;
	struct pick *picks = mem_array(n, sizeof *picks);

	for (size_t i = 0; i < n; i++)
		picks[i] = (struct pick){ .offer = plan->taken[from + i], .at = (uint32_t)i,
		                          .site = v->site[plan->taken[from + i].page] };
	qsort(picks, n, sizeof *picks, by_site);
	for (size_t i = 1; i < n; i++)
		if (picks[i].site == picks[i - 1].site)
			picks[i].turn = picks[i - 1].turn + 1;
	qsort(picks, n, sizeof *picks, by_turn);
	for (size_t i = 0; i < n; i++)
		plan->taken[from + i] = picks[i].offer;
	free(picks);
}

/* The highest scores, each in doubt until all are chosen; until a host has its part. */
static void take_best(struct evidence_state *s, const struct view *v,
                      const struct evidence_opts *o, struct plan *plan)
{
	uint32_t each = (uint32_t)fmax(1, HOST_SHARE * (double)s->n_tests);
	uint32_t *of_host = mem_zalloc(v->tree->n_sites, sizeof *of_host);
	size_t from = plan->n_taken;

	while (plan_room(plan)) {
		double score;
		uint32_t page = evidence_queue_pop(s, v, &score);

		if (page == PAGE_NONE)
			break;
		if (of_host[v->site[page]]++ == each) {
			evidence_queue_push(s, page);
			break;
		}
		plan_take(plan, page, score, NAN, REASON_CHANCE);
		evidence_doubt(s, o, page);
	}
	free(of_host);
	evidence_settle(s);
	take_turns(plan, v, from);
}

/* Tests that the opening may still need; 0: it is over.  With hidden URLs the one rate
 * of all pages is made from it, so that it is not cut short. */
static double opening_left(const struct evidence_state *s, const struct view *v,
                           const struct evidence_opts *o)
{
	double most = fmax(OPENING_MOST, floor(OPENING_SHARE * v->n_pages));
	double least = !o->nourl && s->n_alive >= OPENING_ALIVE ? OPENING_LEAST : most;

	return fmax(0, least - (double)s->n_tests);
}

/* Pages of the sample that the misses so far call for and that were not tested yet. */
static double owed(const struct evidence_state *s, const struct evidence_opts *o)
{
	double miss = (double)s->n_misses, share = miss / (miss + (double)s->n_alive + 1);

	return fmax(0, o->share * fmax(sqrt(miss), EXPLORE_MISSED * miss * share) -
	               (double)s->n_explored);
}

static void evidence_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct evidence_state *s = p->state;
	const struct evidence_opts *o = p->opts;
	struct view r = shown(v, o);
	double left = opening_left(s, v, o), t = (double)s->n_tests, b;

	if (left > 0) {
		/* small blocks: any page may end it, and the first rows have features */
		b = ceil(fmin(left, fmax(1, t / 8)));
		plan_limit(plan, (uint32_t)b);
		take_sample(s, v, plan, (uint32_t)b);
		if (plan->n_taken)
			return;
	}
	b = floor(fmax(1, fmin(0.1 * t, 0.001 * v->n_pages)));
	plan_limit(plan, (uint32_t)b);
	take_sample(s, v, plan, (uint32_t)fmin(owed(s, o), b));
	take_best(s, &r, o, plan);
}

static void evidence_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct evidence_state *s = p->state;
	const struct evidence_opts *o = p->opts;
	struct view r = shown(v, o);

	if (!seen->known)
		return;
	s->n_misses += seen->reason == REASON_CHANCE && !seen->hit;
	s->n_explored += seen->reason == REASON_SAMPLE && opening_left(s, v, o) <= 0;
	s->n_alive += seen->hit;
	evidence_learn(s, &r, o, seen->page, seen->hit,
	               seen->reason == REASON_SAMPLE || seen->reason == REASON_RANDOM);
}

/* Under goal changed only the sample is remembered, which was drawn from the pages that were
 * here at first, and is larger if pages came.  Under goal alive all tests are, and no
 * snapshot is made: a run that looks for life knows nothing of those before it. */
static void evidence_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	struct evidence_state *s = p->state;
	struct evidence_world *w = &s->world;
	uint8_t made = s->ready;
	size_t n, cap = 0;

	f->bad |= v->goal == GOAL_ALIVE;
	frozen_same(f, v->n_pages);
	frozen_value(f, &made);
	if (!made || f->bad)
		return;
	if (f->thaw) {
		evidence_begin(p, v);
		free(w->sample);
		w->sample = NULL;
		w->n_sample = 0;
	}
	n = w->n_sample;
	frozen_array(f, (void **)&w->sample, &n, &cap, sizeof *w->sample);
	frozen_check(f, n <= v->n_pages);
	w->n_sample = (uint32_t)n;
	for (uint32_t i = 0; f->thaw && i < w->n_sample; i++)
		frozen_check(f, w->sample[i] < v->n_pages);
}

static void evidence_release(struct policy *p)
{
	struct evidence_state *s = p->state;

	if (!s->ready)
		return;
	evidence_queue_release(s);
	evidence_model_release(s);
	evidence_world_release(&s->world);
}

const struct policy_ops policy_evidence = {
	.name = "evidence",
	.summary = "where life is, by URL tree, families and links: our policy for goal alive",
	.origin = "ours",
	.patience = 1,
	.options = evidence_options,
	.opts_size = sizeof(struct evidence_opts),
	.state_size = sizeof(struct evidence_state),
	.needs = evidence_needs,
	.begin = evidence_begin,
	.ask = evidence_ask,
	.tell = evidence_tell,
	.release = evidence_release,
	.freeze = evidence_freeze,
};
