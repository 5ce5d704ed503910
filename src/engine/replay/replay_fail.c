/* SPDX-License-Identifier: Apache-2.0 */
/* replay_fail.c - see replay_fail.h.  Cost of a call: O(log recorded failures). */
#include "engine/replay/replay_fail.h"

#include <math.h>

#include "base/math/rng.h"
#include "engine/replay/replay_run.h"

enum { IF = RNG_USER, FROM, EVER, LENGTH };     /* what is drawn */

static double draw(const struct replay *r, unsigned level, uint32_t number, unsigned purpose)
{
	return rng_unit(rng_draw(r->opts.fail_seed, level, number, purpose));
}

/* The newest failure of the page that is not older than a cycle nor than its newest
 * state. */
static enum failure recorded(const struct replay *r, uint32_t page, uint32_t current,
                             int64_t now)
{
	const struct history *h = r->history;
	const struct history_failure *f = history_failure_at(h, page, now);

	if (!f || now - f->time >= r->opts.cycle_seconds ||
	    (current != NEVER && f->time <= h->captures.v[current].time))
		return FAILURE_NO;
	return retry_judge(OUTCOME_FAILED, CAUSE_STATUS, f->status);
}

static bool fails_at(const struct replay *r, unsigned level, uint32_t number, int64_t now)
{
	double whole = (double)(r->end - r->start), from, length;

	/* three chances to fail that together make the share */
	if (draw(r, level, number, IF) >= 1 - cbrt(1 - r->opts.fail))
		return false;
	from = whole / 2 * draw(r, level, number, FROM);
	length = draw(r, level, number, EVER) < 0.5 ? whole :
	         whole / 4 * draw(r, level, number, LENGTH);
	return (double)(now - r->start) >= from && (double)(now - r->start) <= from + length;
}

enum failure replay_failing(const struct replay *r, uint32_t page, uint32_t current,
                            int64_t now)
{
	enum failure f = r->history->failures.n ? recorded(r, page, current, now) : FAILURE_NO;

	if (f != FAILURE_NO || !(r->opts.fail > 0))
		return f;
	if (fails_at(r, 0, r->pages.site[page], now))
		return FAILURE_CONNECT;
	if (fails_at(r, 1, r->pages.dir[page], now))
		return FAILURE_ANSWER;
	return fails_at(r, 2, page, now) ? FAILURE_FORBIDDEN : FAILURE_NO;
}

bool replay_can_fail(const struct replay *r)
{
	return r->opts.fail > 0 || r->history->failures.n;
}
