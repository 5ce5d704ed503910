/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thompson.c - discounted Thompson sampling with pooled priors.
 *
 * Model.  A page changes in a cycle with chance x.  x has the prior
 * Beta(k m, k (1 - m)), m being the mean of its directory, itself drawn to that
 * of its site and of everything (alone=1: m is the mean of everything).  Evidence
 * is discounted by g every cycle for all pages, so that old visits fade.
 * An unchanged visit after t cycles is t failures; a changed one is one success
 * and, the cycle of the change being unknown, half of the others failures.
 * Each cycle draws x for each page, scores 1 - (1 - x)^age, and takes the best.
 *
 * The Beta draw is a Gamma ratio (Marsaglia and Tsang); about 0.2 us a page.
 * Cost.  O(pages) a cycle, O(1) a visit; 12 bytes a page.
 * Blind spot.  Within a cycle nothing is learnt.
 */
#include <math.h>

#include "base/math/rng.h"
#include "policy/plan.h"

struct thompson_opts { double keep, k; bool alone; };

static const struct option_spec thompson_options[] = {
	OPT_DOUBLE(thompson_opts, keep, 0.95, 0.01, 1, "what evidence keeps of its weight, a cycle"),
	OPT_DOUBLE(thompson_opts, k, 4, 0.01, 1e6, "strength of the prior"),
	OPT_FLAG(thompson_opts, alone, "no pooling by directory and site"),
	OPT_END
};

/* Successes and failures, worth their weight of cycle `when`. */
struct beta { float hits, misses; uint32_t when; };

struct thompson_state { struct beta all, *site, *dir; };

static void fade(struct beta *b, uint32_t cycle, double keep)
{
	float f = (float)pow(keep, cycle - b->when);

	b->hits *= f;
	b->misses *= f;
	b->when = cycle;
}

static double mean_of(const struct beta *b, uint32_t cycle, double keep, double prior, double k)
{
	double f = pow(keep, cycle - b->when);

	return (f * (double)b->hits + k * prior) /
	       (f * (double)(b->hits + b->misses) + k);
}

static void thompson_begin(struct policy *p, const struct view *v)
{
	struct thompson_state *s = p->state;

	if (!s->dir) {
		s->dir = mem_zalloc(v->tree->n_dirs, sizeof *s->dir);
		s->site = mem_zalloc(v->tree->n_sites, sizeof *s->site);
	}
}

/* Gamma(a, 1); for a < 1 the boost by a power of a uniform. */
static double draw_gamma(struct rng *r, double a)
{
	double boost = 1, d, c;

	if (a < 1) {
		boost = pow(1 - rng_next_unit(r), 1 / a);
		a += 1;
	}
	d = a - 1.0 / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		double x = rng_normal(r), t = 1 + c * x, v = t * t * t, u = 1 - rng_next_unit(r);

		if (t > 0 && log(u) < x * x / 2 + d - d * v + d * log(v))
			return d * v * boost;
	}
}

static double draw_beta(struct rng *r, double a, double b)
{
	double x = draw_gamma(r, fmax(a, 1e-3)), y = draw_gamma(r, fmax(b, 1e-3));

	return x + y > 0 ? x / (x + y) : 0;
}

static void thompson_walk(struct policy *p, const struct view *v, struct plan *plan,
                          struct demand *demand)
{
	const struct thompson_opts *o = p->opts;
	const struct thompson_state *s = p->state;
	double all = mean_of(&s->all, v->cycle, o->keep, 0.05, 20), f;

	for (uint32_t d = 0; d < v->tree->n_dirs; d++) {
		double m = all;

		if (!o->alone) {
			m = mean_of(&s->site[v->tree->dir_site[d]], v->cycle, o->keep, m, o->k);
			m = mean_of(&s->dir[d], v->cycle, o->keep, m, o->k);
		}
		for (uint32_t i = v->tree->dir_first[d]; i < v->tree->dir_first[d + 1]; i++) {
			uint32_t page = v->tree->dir_pages[i], age = view_age(v, page);
			const struct beta *h = policy_page(p, page);
			struct rng r;
			double x;

			if (!view_open(v, page))
				continue;
			f = pow(o->keep, v->cycle - h->when);
			rng_init(&r, rng_draw(v->seed, v->cycle, page, RNG_NOISE));
			x = draw_beta(&r, f * (double)h->hits + o->k * m,
			              f * (double)h->misses + o->k * (1 - m));
			if (v->observe == OBSERVE_CYCLE || v->goal == GOAL_ALIVE)
				age = 1;
			x = -expm1(age * log1p(-fmin(x, 1 - 1e-9)));
			if (plan)
				plan_offer(plan, page, x, NAN, REASON_CHANCE);
			else
				demand_page(demand, v->site[page], x);
		}
	}
}

static void thompson_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	thompson_walk(p, v, plan, NULL);
}

static bool thompson_demand(struct policy *p, const struct view *v, struct demand *ret)
{
	thompson_walk(p, v, NULL, ret);
	return true;
}

static void thompson_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct thompson_opts *o = p->opts;
	struct thompson_state *s = p->state;
	struct beta *all[] = { policy_page(p, seen->page), &s->dir[v->dir[seen->page]],
	                       &s->site[v->site[seen->page]], &s->all };
	float gap = (float)seen->gap;

	if (v->observe == OBSERVE_CYCLE || v->goal == GOAL_ALIVE)
		gap = 1;
	if (!seen->known || gap <= 0)
		return;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		fade(all[i], v->cycle, o->keep);
		all[i]->hits += seen->hit ? 1.f : 0.f;
		all[i]->misses += seen->hit ? (gap - 1) / 2 : gap;
	}
}

static void thompson_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	struct thompson_state *s = p->state;

	thompson_begin(p, v);           /* it has room for what is read */
	frozen_value(f, &s->all);
	frozen_rows(f, s->site, v->tree->n_sites, sizeof *s->site);
	frozen_rows(f, s->dir, v->tree->n_dirs, sizeof *s->dir);
}

static void thompson_release(struct policy *p)
{
	struct thompson_state *s = p->state;

	free(s->dir);
	free(s->site);
}

const struct policy_ops policy_thompson = {
	.name = "thompson",
	.summary = "a bandit: chances drawn from pooled, discounted evidence",
	.origin = "Thompson sampling, discounted (Raj & Kalyani), pooled",
	.comparable = true,
	.options = thompson_options,
	.opts_size = sizeof(struct thompson_opts),
	.state_size = sizeof(struct thompson_state),
	.page_size = sizeof(struct beta),
	.begin = thompson_begin,
	.ask = thompson_ask,
	.demand = thompson_demand,
	.tell = thompson_tell,
	.release = thompson_release,
	.freeze = thompson_freeze,
};
