/* SPDX-License-Identifier: Apache-2.0 */
/* off_policy.c - the estimate from sums, and the sums from a store; see
 * off_policy.h. */
#include "engine/recall/off_policy.h"

#include <math.h>
#include <stdio.h>

#include "base/math/stat.h"
#include "base/mem.h"
#include "engine/archive/judge.h"
#include "engine/recall/dry.h"

#define FEW 10          /* hits or misses from which their own spread is believed */

void off_policy_add(struct off_policy_sums *s, double target, double p, bool known, bool hit)
{
	double w;

	s->n_visits++;
	s->n_known += known;
	s->n_hits += known && hit;
	if (!(p > 0 && p <= 1)) {
		s->n_without++;
		return;
	}
	if (!(target > 0))
		return;
	w = target / p;
	s->seen += w;
	if (!known)
		return;
	s->n_matched++;
	s->weight += w;
	s->square += w * w * (1 - p);
	if (hit) {
		s->n_matched_hits++;
		s->hits += w;
		s->square_hits += w * w * (1 - p);
	}
}

static void refuse(struct off_policy_estimate *e, const char *why)
{
	e->refused = true;
	e->ratio = e->low = e->high = NAN;
	snprintf(e->why, sizeof e->why, "%s", why);
}

void off_policy_judge(const struct off_policy_sums *s, double confidence,
                      struct off_policy_estimate *ret)
{
	struct off_policy_estimate *e = ret;
	double z, n, var, unseen, trials, middle, half;
	bool few = s->n_matched_hits < FEW || s->n_matched - s->n_matched_hits < FEW;

	*e = (struct off_policy_estimate){
		.logged_ratio = s->n_known ? (double)s->n_hits / (double)s->n_known : 0,
		.support = s->planned > 0 ? s->seen / s->planned : 0,
	};
	/* visits logged with certainty add nothing to the variance */
	n = s->square > 0 ? s->weight * s->weight / s->square : (double)s->n_matched;
	e->effective = fmin(n, (double)s->n_matched);
	if (s->n_without == s->n_visits) {
		refuse(e, s->n_visits ? "the visits were logged without probabilities" :
		                        "there are no visits of own cycles");
		return;
	}
	if (e->effective < OFF_POLICY_VISITS_LEAST) {
		char text[200];

		snprintf(text, sizeof text, "only %llu of its pages are among the visits logged with "
		         "a probability, worth %.1f visits; %d are needed",
		         (unsigned long long)s->n_matched, e->effective, OFF_POLICY_VISITS_LEAST);
		refuse(e, text);
		return;
	}
	unseen = fmax(0, 1 - e->support - 2 / sqrt(n));
	if (unseen > OFF_POLICY_UNSEEN_MOST || e->support < 1 - 2 * OFF_POLICY_UNSEEN_MOST) {
		char text[200];

		snprintf(text, sizeof text, "the log could have seen only about %.0f %% of what it "
		         "would fetch", 100 * e->support);
		refuse(e, text);
		return;
	}
	e->ratio = s->hits / s->weight;
	/* sum of (w (1 - p)^1/2 (hit - ratio))^2 */
	var = (s->square_hits * (1 - 2 * e->ratio) + s->square * e->ratio * e->ratio) /
	      (s->weight * s->weight);
	z = stat_normal_quantile(0.5 + confidence / 2);
	trials = var > 0 ? e->ratio * (1 - e->ratio) / var : n;
	stat_wilson(e->ratio, few ? fmin(n, trials) : trials, z, &middle, &half);
	e->low = fmax(0, middle - half);
	e->high = fmin(1, middle + half);
	if (s->square <= 0)
		e->low = e->high = e->ratio;
	unseen = fmin(1, fmax(0, 1 - e->support));
	if (e->support < 1 - 2 / sqrt(n)) {
		e->low *= 1 - unseen;
		e->high += unseen * (1 - e->high);
	}
}

/* The log in memory. */
struct logged { uint32_t cycle, page; float probability; uint8_t outcome; bool first; };

struct log {
	VEC(struct logged) visits;      /* of own cycles, in order */
	VEC(int64_t) times;             /* by own cycle, from 1 */
	uint8_t *known;                 /* by page: we had a copy */
	uint32_t n_pages;
	float *share;                   /* by page: of the plans of one cycle */
};

static int read_page(void *arg, const struct store_page *p, struct err *err)
{
	struct log *l = arg;

	if (p->number != l->n_pages)
		return err_set(err, E_STORE, "page %u is missing from the store", l->n_pages);
	l->n_pages++;
	return 0;
}

static int read_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct log *l = arg;

	(void)err;
	while (l->times.n < c->number)
		vec_push(&l->times, c->time);
	return 0;
}

static int read_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct log *l = arg;
	struct logged x = { v->cycle, v->page, v->probability, v->outcome, false };

	if (v->cycle > l->times.n)
		return err_set(err, E_STORE, "table visits, row of page %u, column cycle: there is no "
		               "cycle %u; restore a backup", v->page, v->cycle);
	if (v->goal != GOAL_CHANGED)
		return 0;
	if (judge_first((enum outcome)v->outcome, l->known[v->page]) && v->capture) {
		l->known[v->page] = 1;
		x.first = true;
	}
	if (v->cycle)
		vec_push(&l->visits, x);
	return 0;
}

static int log_read(struct log *l, struct store *s, struct err *err)
{
	int rc = store_pages(s, 0, read_page, l, err);

	l->known = mem_zalloc(l->n_pages, 1);
	l->share = mem_zalloc(l->n_pages, sizeof *l->share);
	if (rc == 0)
		rc = store_cycles(s, 0, read_cycle, l, err);
	return rc == 0 ? store_visits(s, 0, UINT32_MAX, read_visit, l, err) : rc;
}

static void log_release(struct log *l)
{
	vec_release(&l->visits);
	vec_release(&l->times);
	free(l->known);
	free(l->share);
}

/* Add one plan of the cycle to the shares.  1: it asks in rounds. */
static int plan_once(struct log *l, struct store *s, const struct off_policy_opts *o,
                     uint32_t seed, size_t from, uint32_t budget, double *ret_planned,
                     struct err *err)
{
	uint32_t cycle = l->visits.v[from].cycle;
	int64_t now = l->times.v[cycle - 1];
	struct resume_opts ro = {
		.policy = o->policy, .seed = o->seed + seed, .cycle_seconds = o->cycle_seconds,
		.goal = GOAL_CHANGED, .site_by_domain = o->site_by_domain, .before_cycle = cycle,
		.states_then = true,
	};
	struct resumed r;
	int rc = resume(&r, s, &ro, err);

	if (rc == 0)
		rc = dry_cycle(&r, now, budget, NULL, err);
	for (size_t i = 0; rc == 0 && i < r.engine.cycle.n_seen; i++) {
		const struct seen *x = &r.engine.cycle.seen[i];

		if (x->round > 1 && x->reason != REASON_FILL)
			rc = 1;
		l->share[x->page] += 1.f / (float)o->n_seeds;
		*ret_planned += 1.0 / o->n_seeds;
	}
	resume_release(&r);
	return rc;
}

/* The visits of one cycle, from..to.  1: the policy asks in rounds. */
static int add_cycle(struct off_policy_run *run, struct log *l, struct store *s,
                     const struct off_policy_opts *o, size_t from, size_t to,
                     struct err *err)
{
	uint32_t budget = 0;
	int rc = 0;

	memset(l->share, 0, l->n_pages * sizeof *l->share);
	for (size_t i = from; i < to; i++)
		budget += l->visits.v[i].outcome != OUTCOME_BLOCKED;
	for (uint32_t k = 0; k < o->n_seeds && rc == 0; k++)
		rc = plan_once(l, s, o, k, from, budget, &run->sums.planned, err);
	for (size_t i = from; i < to && rc == 0; i++) {
		const struct logged *x = &l->visits.v[i];

		off_policy_add(&run->sums, (double)l->share[x->page], (double)x->probability,
		               x->outcome < OUTCOME_FAILED && !x->first,
		               judge_hit((enum outcome)x->outcome, x->first));
	}
	run->n_cycles++;
	return rc;
}

int off_policy_run(struct off_policy_run *ret, struct store *s,
                   const struct off_policy_opts *opts, struct err *err)
{
	struct log l = { 0 };
	int rc = log_read(&l, s, err);

	*ret = (struct off_policy_run){ 0 };
	for (size_t i = 0, to; i < l.visits.n && rc == 0; i = to) {
		bool any = false;

		for (to = i; to < l.visits.n && l.visits.v[to].cycle == l.visits.v[i].cycle; to++)
			any |= !l.visits.v[to].first;
		/* a cycle of first copies only has nothing to compare */
		if (any)
			rc = add_cycle(ret, &l, s, opts, i, to, err);
	}
	if (rc >= 0)
		off_policy_judge(&ret->sums, opts->confidence, &ret->estimate);
	if (rc == 1) {
		refuse(&ret->estimate, "it asks in rounds: what it would ask next depends on answers "
		       "that the log does not hold");
		rc = 0;
	}
	log_release(&l);
	return rc;
}
