/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stormcrawler.c - Apache StormCrawler's AdaptiveScheduler, with a budget.
 *
 * Rule (minutes): an interval of 1440 at first; changed: I = (1 - dec) I + dec min,
 * dec 0.5, min 60; unchanged: I = (1 + inc) I up to max, inc 0.5, max 20160 (14
 * days).  A fetch error is tried again after 120 minutes and wipes what was learnt:
 * the next visit starts from the first interval again.
 *
 * Blind spot.  With max at 14 days every quiet page asks for a visit each two
 * weeks; under a budget the order among the overdue decides everything.
 * Cost.  O(pages) a cycle, O(1) a visit, 8 bytes a page.
 */
#include <math.h>

#include "policy/model/interval.h"

#define ERROR_WAIT (120 * 60.0)

struct stormcrawler_opts { double inc, dec; int64_t start, min, max; };

struct stormcrawler_page { struct interval_page wait; float interval; };

static const struct option_spec stormcrawler_options[] = {
	OPT_DOUBLE(stormcrawler_opts, inc, 0.5, 0, 10, "growth for an unchanged page"),
	OPT_DOUBLE(stormcrawler_opts, dec, 0.5, 0, 1, "step towards min for a changed page"),
	OPT_DURATION(stormcrawler_opts, start, "1d", "interval of a page not yet visited"),
	OPT_DURATION(stormcrawler_opts, min, "1h", "shortest interval"),
	OPT_DURATION(stormcrawler_opts, max, "14d", "longest interval"),
	OPT_END
};

static void stormcrawler_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct stormcrawler_opts *o = p->opts;

	interval_ask(p, v, plan, (double)o->start);
}

static void stormcrawler_tell(struct policy *p, const struct view *v,
                              const struct seen *seen)
{
	const struct stormcrawler_opts *o = p->opts;
	struct stormcrawler_page *h = policy_page(p, seen->page);
	double interval = h->interval > 0 ? (double)h->interval : (double)o->start;

	if (!seen->known) {
		h->interval = 0;
		h->wait.interval = (float)((double)(v->now - v->last_visit[seen->page]) +
		                           ERROR_WAIT);
		return;
	}
	if (seen->hit)
		interval = (1 - o->dec) * interval + o->dec * (double)o->min;
	else
		interval = fmin((1 + o->inc) * interval, (double)o->max);
	h->interval = h->wait.interval = (float)interval;
}

static int stormcrawler_check(const void *opts, struct err *err)
{
	const struct stormcrawler_opts *o = opts;

	if (o->min <= 0 || o->max < o->min || o->start <= 0)
		return err_set(err, E_USAGE, "needs 0 < min <= max and 0 < start");
	return 0;
}

const struct policy_ops policy_stormcrawler = {
	.name = "stormcrawler",
	.summary = "Apache StormCrawler's adaptive intervals, most overdue first",
	.origin = "Apache StormCrawler, AdaptiveScheduler",
	.options = stormcrawler_options,
	.opts_size = sizeof(struct stormcrawler_opts),
	.page_size = sizeof(struct stormcrawler_page),
	.check = stormcrawler_check,
	.ask = stormcrawler_ask,
	.tell = stormcrawler_tell,
	.freeze = policy_freeze_nothing,
};
