/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nutch.c - Apache Nutch's AdaptiveFetchSchedule, with a budget.
 *
 * Rule (nutch-default.xml): an interval of 30 days at first; a changed page's
 * interval is multiplied by 1 - dec (0.2), an unchanged one's by 1 + inc (0.4).
 * sync_delta: with delta the time from the page's modification to the fetch, an
 * interval shorter than delta becomes delta, it is held within 60 s and a year, and
 * the next fetch is set at now - delta * 0.3 + interval, so that a page fetched long
 * after it changed is tried again sooner.  A delta beyond the longest interval counts
 * as that (NUTCH-1564 as its comment has it: unchanged pages were asked for at once).
 * No page waits longer than 90 days (db.fetch.interval.max).  Error: one day later,
 * the interval kept; that three errors make a page gone is left to the engine.  When
 * a page was last modified we know only from our own visits: the moment of the last
 * one that found it changed.
 *
 * Blind spot.  The interval settles where 60 % of visits find a change, whatever
 * the budget; nothing is learnt from other pages.
 * Cost.  O(pages) a cycle, O(1) a visit, 16 bytes a page.
 */
#include <math.h>

#include "policy/model/interval.h"

#define DAY 86400.0
#define WAIT_MAX (90 * DAY)
#define RETRY DAY

struct nutch_opts {
	double inc, dec, rate;
	int64_t start, min, max;
	bool nosync;
};

static const struct option_spec nutch_options[] = {
	OPT_DOUBLE(nutch_opts, inc, 0.4, 0, 10, "growth of the interval of an unchanged page"),
	OPT_DOUBLE(nutch_opts, dec, 0.2, 0, 0.99, "shrinking of the interval of a changed page"),
	OPT_DURATION(nutch_opts, start, "30d", "interval of a page not yet visited"),
	OPT_DURATION(nutch_opts, min, "60s", "shortest interval"),
	OPT_DURATION(nutch_opts, max, "365d", "longest interval"),
	OPT_FLAG(nutch_opts, nosync, "do not move visits towards the time of change"),
	OPT_DOUBLE(nutch_opts, rate, 0.3, 0, 1, "share of the time since the change to move by"),
	OPT_END
};

struct nutch_page { struct interval_page wait; float interval; int64_t modified; };

static void nutch_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct nutch_opts *o = p->opts;

	interval_ask(p, v, plan, fmin((double)o->start, WAIT_MAX));
}

static void nutch_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct nutch_opts *o = p->opts;
	struct nutch_page *h = policy_page(p, seen->page);
	double interval = h->interval > 0 ? (double)h->interval : (double)o->start, wait;
	double delta = 0;

	if (!seen->known) {
		h->wait.interval = (float)((double)(v->now - v->last_visit[seen->page]) + RETRY);
		return;
	}
	interval *= seen->hit ? 1 - o->dec : 1 + o->inc;
	if (seen->hit)
		h->modified = v->now;
	if (!o->nosync && h->modified)
		delta = (double)(v->now - h->modified);
	interval = fmin(fmax(fmax(interval, delta), (double)o->min), (double)o->max);
	wait = interval - fmin(delta, (double)o->max) * o->rate;
	h->interval = (float)interval;
	h->wait.interval = (float)fmin(fmax(wait, (double)o->min), WAIT_MAX);
}

static int nutch_check(const void *opts, struct err *err)
{
	const struct nutch_opts *o = opts;

	if (o->min <= 0 || o->max < o->min || o->start <= 0)
		return err_set(err, E_USAGE, "needs 0 < min <= max and 0 < start");
	return 0;
}

const struct policy_ops policy_nutch = {
	.name = "nutch",
	.summary = "Apache Nutch's adaptive intervals, most overdue first",
	.origin = "Apache Nutch, AdaptiveFetchSchedule",
	.options = nutch_options,
	.opts_size = sizeof(struct nutch_opts),
	.page_size = sizeof(struct nutch_page),
	.check = nutch_check,
	.ask = nutch_ask,
	.tell = nutch_tell,
	.freeze = policy_freeze_nothing,
};
