/* SPDX-License-Identifier: Apache-2.0 */
/* polite_rest.c - when a host rests: blocks, incidents, pauses; see polite.h. */
#include "fetch/polite/polite_inner.h"

#include <math.h>

void polite_drain(struct polite *p, uint32_t i)
{
	struct host *h = &p->hosts.v[i];

	if (h->draining || h->first == POLITE_NONE)
		return;
	h->draining = true;
	h->next_drained = p->drained;
	p->drained = i;
	polite_list_host(p, i);
}

/* Block the host.  Answers to requests sent before the block belong to the same incident:
 * their Retry-After may lengthen the block, but they do not count as new incidents. */
static void block(struct polite *p, struct host *h, double now, double retry_after,
                  double draw)
{
	const struct polite_options *o = &p->opt;
	bool same = now < h->blocked_until;
	double wait = 0, until;

	if (!same && now - h->last_incident > o->forgive_after)
		h->incidents = 0;
	if (!same) {
		/* With Retry-After the first incident has no wait of its own. */
		unsigned step = retry_after < 0 ? h->incidents : h->incidents - 1;

		if (retry_after < 0 || h->incidents)
			wait = ldexp(o->backoff, (int)(step < 60 ? step : 60));
		if (wait > o->backoff_cap)
			wait = o->backoff_cap;
		h->incidents++;
	}
	if (retry_after > o->retry_after_cap)
		retry_after = o->retry_after_cap;
	if (retry_after > wait)
		wait = retry_after;
	if (wait < h->delay)
		wait = h->delay;
	until = now + wait * (1 + o->jitter * draw);
	if (until > h->blocked_until)
		h->blocked_until = h->last_incident = until;
}

double polite_done(struct polite *p, uint32_t host, double now, enum polite_end end,
                   double retry_after, double draw)
{
	struct host *h = &p->hosts.v[host];
	double blocked;

	polite_close_slot(p, host);
	if (p->opt.host_connections == 1)
		h->ready = now + h->delay;
	if (end == POLITE_ANSWERED)
		h->failures = 0;
	else if (end == POLITE_THROTTLED)
		block(p, h, now, retry_after, draw);
	else if (end == POLITE_FAILED && ++h->failures >= p->opt.failure_limit) {
		h->failures = 0;
		block(p, h, now, -1, draw);
	}
	blocked = polite_blocked(p, host, now);
	if (blocked > p->opt.max_wait)
		polite_drain(p, host);
	polite_list_host(p, host);
	return blocked;
}

bool polite_take_blocked(struct polite *p, double now, uint32_t *ret_host,
                         uint32_t *ret_job)
{
	while (p->drained != POLITE_NONE) {
		uint32_t i = p->drained;
		struct host *h = &p->hosts.v[i];

		if (h->first != POLITE_NONE && h->blocked_until - now > p->opt.max_wait) {
			*ret_host = i;
			*ret_job = polite_take_job(p, i);
			return true;
		}
		p->drained = h->next_drained;
		h->next_drained = POLITE_NONE;
		h->draining = false;
		polite_list_host(p, i);
	}
	return false;
}

void polite_rest(struct polite *p, uint32_t host, double now, double seconds)
{
	struct host *h = &p->hosts.v[host];

	if (seconds > p->opt.retry_after_cap)
		seconds = p->opt.retry_after_cap;
	if (now + seconds <= h->blocked_until)
		return;
	h->blocked_until = h->last_incident = now + seconds;
	h->incidents += !h->incidents;
	if (seconds > p->opt.max_wait)
		polite_drain(p, host);
	polite_list_host(p, host);
}

bool polite_resting(const struct polite *p, double now, uint32_t *at, const char **ret_name,
                    double *ret_seconds)
{
	for (; *at < p->hosts.n; ++*at) {
		*ret_seconds = polite_blocked(p, *at, now);
		if (*ret_seconds > 0) {
			*ret_name = strtab_get(&p->host_names, *at);
			return true;
		}
	}
	return false;
}

bool polite_pausing(const struct polite *p, double now, uint32_t *at, const char **ret_name,
                    double *ret_seconds)
{
	for (; *at < p->hosts.n; ++*at) {
		/* one that is being asked has its pause ahead */
		const struct host *h = &p->hosts.v[*at];
		double until = h->open && polite_moment(h) < now + h->delay ? now + h->delay : polite_moment(h);

		if (until > now) {
			*ret_seconds = until - now;
			*ret_name = strtab_get(&p->host_names, *at);
			return true;
		}
	}
	return false;
}

void polite_hold(struct polite *p, uint32_t host, double now, double seconds)
{
	struct host *h = &p->hosts.v[host];

	if (now + seconds > h->ready)
		h->ready = now + seconds;
	polite_list_host(p, host);
}

double polite_blocked(const struct polite *p, uint32_t host, double now)
{
	double left = p->hosts.v[host].blocked_until - now;

	return left > 0 ? left : 0;
}
