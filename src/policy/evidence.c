/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.c - our policy for goal `alive`: the URL tree of the tested pages says
 * where life is, a small logistic model adds name families, links and statics.
 *
 * Order.  A systematic sample over the sorted URLs (1 %) opens: its first pages
 * are tested at once, and 3 % of every later batch come from the rest of it, so
 * it stays a fair sample that estimates how much is alive.  Everything else is
 * the highest score, in batches of a tenth of what was tested, at least 20 and at
 * most 0.1 % of the pages: small batches matter more than any feature.
 *
 * Under goal `changed` the same machinery ranks by the chance of a change, as if
 * pages changed once; it then is a static order that learns.
 *
 * Cost.  O(pages) a batch, about 0.1 us a page; O(depth + links) a test.  About
 * 200 bytes a page with links.
 * Blind spot.  Where neither names nor links tell survivors apart, it is random.
 */
#include "policy/evidence.h"

#include <math.h>

#include "base/rng.h"

static const struct option_spec evidence_options[] = {
	OPT_DOUBLE(evidence_opts, sample, 0.01, 0, 1, "share of the systematic sample"),
	OPT_DOUBLE(evidence_opts, share, 0.03, 0, 1, "part of a batch that comes from it"),
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

	if (s->ready)
		return;
	evidence_world_init(&s->world, &r, !o->nourl, o->sample);
	evidence_model_init(s, &r);
	s->ready = true;
}

static void fix_statics(struct evidence_state *s, const struct view *v)
{
	for (uint32_t i = 0; i < v->n_pages; i++) {
		const float *x = s->world.statics + (size_t)i * N_STATICS;
		float sum = (float)s->weight[EVIDENCE_ONE];

		for (int k = 0; k < N_STATICS; k++)
			sum += (float)s->weight[EVIDENCE_STATIC + k] * x[k];
		s->fixed[i] = sum;
	}
	s->stale_fixed = false;
}

/* Up to n pages of the sample that are still open. */
static void take_sample(const struct evidence_state *s, const struct view *v,
                        struct plan *plan, uint32_t n)
{
	const struct evidence_world *w = &s->world;

	for (uint32_t i = 0; i < w->n_sample && n; i++)
		if (view_open(v, w->sample[i])) {
			plan_take(plan, w->sample[i], 0, (double)w->n_sample / v->n_pages,
			          REASON_SAMPLE);
			n--;
		}
}

static void evidence_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct evidence_state *s = p->state;
	const struct evidence_opts *o = p->opts;
	struct view r = shown(v, o);
	double first = fmax(20, 0.0015 * v->n_pages), t = (double)s->n_tested, b;

	if (t < first) {
		/* doubling blocks, so that the first rows already have features */
		b = fmin(first - t, fmax(5, t));
		plan_limit(plan, (uint32_t)ceil(b));
		take_sample(s, v, plan, (uint32_t)ceil(b));
		if (plan->n_taken)
			return;
	}
	b = floor(fmax(20, fmin(0.1 * t, 0.001 * v->n_pages)));
	plan_limit(plan, (uint32_t)b);
	take_sample(s, v, plan, (uint32_t)(floor(o->share * (t + b)) - floor(o->share * t)));
	if (s->stale_fixed)
		fix_statics(s, &r);
	evidence_rates(s);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			plan_offer(plan, i, (double)evidence_score(s, &r, i), NAN, REASON_CHANCE);
}

static void evidence_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct evidence_opts *o = p->opts;
	struct view r = shown(v, o);

	if (seen->known)
		evidence_learn(p->state, &r, o, seen->page, seen->hit);
}

static void evidence_release(struct policy *p)
{
	struct evidence_state *s = p->state;

	if (!s->ready)
		return;
	evidence_model_release(s);
	evidence_world_release(&s->world);
}

const struct policy_ops policy_evidence = {
	.name = "evidence",
	.summary = "where life is, by URL tree, families and links: our policy for goal alive",
	.origin = "ours",
	.options = evidence_options,
	.opts_size = sizeof(struct evidence_opts),
	.state_size = sizeof(struct evidence_state),
	.needs = evidence_needs,
	.begin = evidence_begin,
	.ask = evidence_ask,
	.tell = evidence_tell,
	.release = evidence_release,
};
