/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_write.c - verdicts into the store and out of it, and what they add up to.
 *
 * A visit row tells everything: outcome SAME lives, GONE is not there (with a
 * status below 300: a soft 404), FAILED gave no answer or a bad one, BLOCKED was
 * not asked; the status is the page's own, so 3xx is a redirect; hit is as in
 * life.h.  Where a redirect led is kept as the only link of a capture with its
 * status.  Pages that are not there are gone for the repository; all else in it
 * stays as it was: a test of life is no visit that could tell a change.
 */
#include "engine/crawl/life_inner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math/hypergeometric.h"
#include "base/mem.h"
#include "engine/archive/judge.h"

#define STATE_KEY "live"          /* "CYCLE PROBES ROBOTS MIXED" */

static enum liveness_class class_of(enum outcome o, int status)
{
	if (status >= 300 && status < 400)
		return LIVENESS_REDIRECT;
	if (o == OUTCOME_SAME)
		return LIVENESS_REAL_200;
	if (o == OUTCOME_GONE)
		return status < 300 ? LIVENESS_SOFT_404 : LIVENESS_NOT_FOUND;
	return status ? LIVENESS_OTHER : LIVENESS_NO_ANSWER;
}

/* Count a verdict; alive_url: the URL that lives, or NULL. */
static void count(struct crawl *c, uint32_t page, enum outcome o, int status, bool hit,
                  const char *alive_url)
{
	struct life_report *r = &c->report->life;
	bool known = recall_life(o, status) < OUTCOME_FAILED, fresh = false;

	c->life->verdict[page] = !known ? VERDICT_UNKNOWN : hit ? VERDICT_HIT : VERDICT_DEAD;
	if (o == OUTCOME_BLOCKED) {
		r->blocked++;
		return;
	}
	r->tested++;
	r->classes[class_of(o, status)]++;
	r->soft_404 += class_of(o, status) == LIVENESS_SOFT_404;
	r->hits += hit;
	if (alive_url)
		strtab_intern(&c->life->found, alive_url, strlen(alive_url), &fresh);
	r->alive += fresh;
	if (alive_url && status >= 300) {
		r->redirects_alive++;
		r->targets += fresh;
	}
}

static void count_row(struct store_cycle *row, enum outcome o)
{
	row->same += o == OUTCOME_SAME;
	row->gone += o == OUTCOME_GONE;
	row->failed += o == OUTCOME_FAILED;
	row->blocked += o == OUTCOME_BLOCKED;
}

static int write_visit(struct crawl *c, struct store_visit *v, const char *target,
                       struct err *err)
{
	struct store_capture way = { .page = v->page, .time = v->time, .status = v->status,
		.length = -1, .bytes_text = -1, .words = -1, .images = -1, .tables = -1,
		.emails = -1, .outlinks = -1, .offset = -1, .size = -1 };
	struct store_page p, was;
	int rc;

	if (target) {
		way.links = (struct text){ target, strlen(target) };
		rc = store_capture_put(c->store, &way, STORE_NEXT, err);
		if (rc < 0)
			return rc;
		v->capture = way.id;
	}
	if (v->outcome == OUTCOME_GONE) {
		rc = store_page_get(c->store, v->page, &p, err);
		was = p;
		p.state = STORE_PAGE_GONE;
		if (rc <= 0 || (rc = store_page_update(c->store, &was, &p, err)) < 0)
			return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", v->page);
	}
	return store_visit_add(c->store, v, err);
}

static void show_progress(const struct crawl *c)
{
	const struct life_report *r = &c->report->life;
	const struct engine *e = &c->resumed->engine;
	double target = c->opts->life.target;

	if (!c->opts->progress)
		return;
	if (!sample_is_whole(&e->sample))
		c->opts->progress(c->opts->arg, (uint32_t)r->tested, e->sample.n);
	else if (target > 0)
		c->opts->progress(c->opts->arg, (uint32_t)r->hits,
		                  (uint32_t)ceil(target * (double)c->life->sample_high));
	else
		c->opts->progress(c->opts->arg, (uint32_t)r->tested, (uint32_t)r->pages);
}

static enum outcome outcome_of(const struct life_slot *s, enum liveness_class target,
                               enum fetch_error error)
{
	struct answer a = { .by = TOLD_BY_OURS, .status = s->answer.status };

	if (life_forbidden(s, error))
		a.fate = ANSWER_BLOCKED;
	return judge_life(&a, target == LIVENESS_SOFT_404);
}

int life_write(struct crawl *c, uint32_t slot, enum liveness_class target,
               enum fetch_error error, struct err *err)
{
	struct life *l = c->life;
	struct life_slot *s = &l->slots.v[slot];
	const struct offer *o = &engine_lease(&c->resumed->engine, s->lease)->offer;
	enum outcome outcome = outcome_of(s, target, error);
	bool lives = outcome == OUTCOME_SAME;
	const char *end = s->answer.redirects ? s->final_url : NULL;
	struct store_visit v = {
		.cycle = c->report->cycle.number, .page = o->page, .time = s->time,
		.outcome = (uint8_t)outcome, .reason = o->reason, .score = o->score,
		.status = end ? s->first_status : s->answer.status,
		.probability = o->probability, .place = s->lease, .hit = lives,
	};
	struct delivery d = { .extra = (s->requests > 1 ? s->requests - 1 : 0) + s->robots };
	struct store_page known;
	int rc = 0;

	if (outcome >= OUTCOME_FAILED)
		v.cause = (uint8_t)(error == FETCH_OK ? CAUSE_STATUS : crawl_cause(error));
	if (lives && end) {             /* the target may be a page of the list, too */
		rc = store_page_find(c->store, (struct text){ end, strlen(end) }, &known, err);
		if (rc < 0)
			return rc;
		v.hit = rc == 0;
	}
	v.extra = d.extra;
	rc = write_visit(c, &v, lives ? end : NULL, err);
	if (rc < 0)
		return rc;
	count(c, o->page, outcome, v.status, v.hit, !lives ? NULL : end ? end :
	      pages_url(&c->resumed->has.loaded.pages, o->page));
	count_row(&c->report->cycle, outcome);
	if (outcome >= OUTCOME_FAILED)
		c->report->reasons[error]++;
	d.outcome = recall_life(outcome, v.status);
	d.hit = v.hit;
	engine_tell(&c->resumed->engine, s->lease, &d);
	c->report->visits++;
	c->report->answered += s->answer.status > 0 || s->answer.redirects;
	c->batch.n++;
	crawl_sent_read(c, s->lease);
	crawl_quiet_answered(c, s->lease);
	life_free_slot(l, slot);
	show_progress(c);
	return 0;
}

int life_recall(struct crawl *c, const struct store_visit *v, struct err *err)
{
	const char *alive_url = NULL;
	struct store_capture way;
	char *target = NULL;
	int rc = 0;

	if (v->page >= c->resumed->has.loaded.pages.n)
		return 0;               /* a page that was added after we read the pages */
	if (v->outcome == OUTCOME_SAME)
		alive_url = pages_url(&c->resumed->has.loaded.pages, v->page);
	if (v->capture && (rc = store_capture_get(c->store, v->capture, &way, err)) > 0 &&
	    way.links.s)
		alive_url = target = mem_strndup(way.links.s, way.links.size);
	if (rc >= 0)
		count(c, v->page, (enum outcome)v->outcome, v->status, v->hit, alive_url);
	c->report->answered += v->status > 0;
	c->report->visits++;
	free(target);
	return rc < 0 ? rc : 0;
}

/* Rounds may test more pages than the rule of the sample wants.  The sample is the pages
 * up to where the rule ends it; pages after that are found, but not part of it. */
void life_bounds(const struct engine *e, const uint8_t *verdict, uint64_t n,
                 struct life_bounds *ret)
{
	uint64_t m = 0, x = 0;

	for (uint32_t i = 0; i < e->sample.n; i++) {
		uint8_t v = verdict[e->sample.pages[i]];

		if (v == VERDICT_NONE || (m >= e->sample.rule.least && x >= e->sample.rule.hits))
			break;
		m += v >= VERDICT_DEAD;
		x += v == VERDICT_HIT;
	}
	ret->sample = m;
	ret->hits = x;
	hypergeometric_interval(n, m, x, LIFE_CONFIDENCE, &ret->low, &ret->high);
}

static void read_sample(struct crawl *c)
{
	struct life_report *r = &c->report->life;
	struct life *l = c->life;
	struct life_bounds b;

	life_bounds(&c->resumed->engine, l->verdict, r->pages - r->blocked, &b);
	r->sample = b.sample;
	r->sample_hits = b.hits;
	r->estimated = b.sample > 0;
	l->sample_low = b.low;
	l->sample_high = b.high;
	l->bounded = sample_is_whole(&c->resumed->engine.sample);
}

void life_estimate(struct crawl *c)
{
	const struct life_opts *o = &c->opts->life;
	struct life_report *r = &c->report->life;
	struct life *l = c->life;
	uint64_t n = r->pages - r->blocked, rest = n > r->tested ? n - r->tested : 0;
	double bound;

	if (!l->bounded)
		read_sample(c);
	r->low = l->sample_low > r->hits ? l->sample_low : r->hits;
	r->high = l->sample_high < r->hits + rest ? l->sample_high : r->hits + rest;
	if (r->high < r->hits)          /* we found more than the sample says there are */
		r->high = r->hits;
	if (r->low > r->high)
		r->low = r->high;
	r->estimate = r->sample ? (uint64_t)((double)n * (double)r->sample_hits /
	                                     (double)r->sample + 0.5) : 0;
	r->estimate = r->estimate < r->low ? r->low : r->estimate > r->high ? r->high :
		r->estimate;
	r->ended = !rest;
	/* one of several crawlers finds only its share of the pages after the sample */
	bound = (double)r->sample_hits +
		(double)(r->high - r->sample_hits) / (l->parts > 1 ? l->parts : 1);
	r->reached = o->target > 0 && l->bounded && (double)r->hits >= o->target * bound - 1e-9;
}

bool life_enough(void *self)
{
	struct crawl *c = self;
	const struct life_opts *o = &c->opts->life;

	if (c->life->spent >= c->budget || c->life->over)
		return true;
	if ((o->target <= 0 && !o->sample_only) || !sample_is_whole(&c->resumed->engine.sample))
		return false;
	life_estimate(c);
	return o->sample_only || c->report->life.reached;
}

int life_commit(struct crawl *c, struct err *err)
{
	struct life_report *r = &c->report->life;
	struct fetch_stats stats = { 0 };
	char state[100];

	if (c->fetch)
		fetch_stats(c->fetch, &stats);
	r->robots += stats.robots_requests - c->robots_counted;
	c->robots_counted = stats.robots_requests;
	snprintf(state, sizeof state, "%u %llu %llu %d", c->report->cycle.number,
	         (unsigned long long)r->probes, (unsigned long long)r->robots,
	         c->report->resumed && !c->same_policy);
	return store_state_put(c->store, STORE_OF_SHARD, STATE_KEY, state, err);
}

int life_state(struct crawl *c, struct err *err)
{
	struct life_report *r = &c->report->life;
	unsigned long long probes, robots;
	char *state = NULL;
	unsigned cycle, mixed = 0;
	int rc = store_state_get(c->store, STORE_OF_SHARD, STATE_KEY, &state, err);

	if (rc > 0 && sscanf(state, "%u %llu %llu %u", &cycle, &probes, &robots, &mixed) >= 3 &&
	    cycle == c->report->cycle.number) {
		r->probes = probes;
		r->robots = robots;
		if (mixed)              /* an earlier start had another policy */
			c->same_policy = false;
	}
	free(state);
	return rc < 0 ? rc : 0;
}
