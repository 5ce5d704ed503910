/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_span.c - time limits of a cycle, and of each host in it.
 *
 * No request is sent in the last tenth of the time, at most SPAN_GRACE seconds.  At the
 * end transfers are cut.  So a transfer that is cut had some time, and a host that
 * answers is not taken for one that does not.
 */
#include "fetch/fetch_inner.h"

#include <math.h>

#define SPAN_GRACE 30           /* seconds */

struct span span_begin(double seconds, double now)
{
	if (!(seconds > 0))
		return (struct span){ INFINITY, INFINITY };
	return (struct span){ now + seconds - fmin(seconds / 10, SPAN_GRACE), now + seconds };
}

void span_start_host(struct fetch *f, uint32_t host, double now)
{
	struct span *s = &f->hosts.v[host].part;

	if (s->until == 0)
		*s = span_begin(f->opt.host_seconds, now);
}

double job_until(const struct fetch *f, const struct job *j)
{
	return fmin(f->cycle.until, f->hosts.v[j->host].part.until);
}

bool job_is_late(const struct fetch *f, const struct job *j, double now)
{
	const struct span *part = &f->hosts.v[j->host].part;

	return now >= f->cycle.ask_until || (part->until > 0 && now >= part->ask_until);
}

void job_give_up(struct fetch *f, struct job *j)
{
	if (j->is_robots || !j->requests)
		job_done(f, j, FETCH_STOPPED, NULL);
	else
		job_done(f, j, FETCH_TIMEOUT, "%s", SPAN_OVER);
}

bool fetch_over(const struct fetch *f)
{
	return wire_now() >= f->cycle.ask_until;
}
