/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_answer.c - what an answer means for its job, and for its host.
 *
 * 429 and 503 put the host to rest.  A redirect is a new hop and repeats all checks
 * (fetch_job.c).  A HEAD that failed may be repeated as GET.
 */
#include "fetch/fetch_inner.h"

#include <string.h>

#include "base/math/rng.h"
#include "base/when.h"

#define GUESTS_REST 600         /* seconds that guests of a host rest */

/* Seconds of Retry-After; -1: missing or malformed. */
static double retry_after(const struct transfer *t, int64_t now)
{
	const char *v, *d;
	size_t n, d_size;
	int64_t when;
	double seconds = 0;

	if (!fetch_header(t->head.data, t->head.size, "Retry-After", &v, &n) || !n)
		return -1;
	if (v[0] >= '0' && v[0] <= '9') {
		for (size_t i = 0; i < n; i++) {
			if (v[i] < '0' || v[i] > '9')
				return -1;
			seconds = seconds * 10 + (v[i] - '0');
		}
		return seconds;
	}
	if (!when_parse_http(v, n, &when))
		return -1;
	/* by the server's own clock, if it sends Date */
	if (fetch_header(t->head.data, t->head.size, "Date", &d, &d_size))
		(void)when_parse_http(d, d_size, &now);
	return when > now ? (double)(when - now) : 0;
}

static bool is_failure(enum fetch_error e)
{
	return e == FETCH_CONNECT || e == FETCH_TLS || e == FETCH_TIMEOUT ||
		e == FETCH_RESET || e == FETCH_PROTOCOL || e == FETCH_DNS;
}

/* Drop the last answer of a job that continues: a waiting job must not hold a transfer.
 * */
static void forget_answer(struct fetch *f, struct job *j)
{
	if (j->transfer)
		fetch_recycle(f, j->transfer);
	j->transfer = NULL;
}

/* Copy the answer of a redirect; all copies together are bounded by HOPS_HELD_MAX. */
static struct fetch_hop copy_hop(struct fetch *f, const struct job *j, const struct transfer *t)
{
	struct fetch_hop h = { .url = mem_strdup(j->url.data), .status = t->status,
		.time = j->time, .head_size = t->head.size, .body_size = t->body.size };
	size_t ip = strlen(t->ip) + 1;
	char *copy;

	if (h.body_size > HOP_BODY_MAX)
		h.body_size = HOP_BODY_MAX;
	h.cut = t->cut != FETCH_WHOLE || h.body_size < t->body.size;
	if (j->is_robots || f->hops_held + h.head_size + h.body_size > HOPS_HELD_MAX) {
		f->stats.hops_dropped += !j->is_robots;
		h.head_size = h.body_size = 0;
		return h;
	}
	f->hops_held += h.head_size + h.body_size;
	copy = mem_alloc(h.head_size + h.body_size + ip);
	memcpy(copy, buf_text(&t->head), h.head_size);
	memcpy(copy + h.head_size, buf_text(&t->body), h.body_size);
	memcpy(copy + h.head_size + h.body_size, t->ip, ip);
	h.head = copy;
	h.body = copy + h.head_size;
	h.ip = h.body + h.body_size;
	return h;
}

bool job_redirect(struct fetch *f, struct job *j, struct transfer *t, double now)
{
	const char *v;
	size_t n;
	struct err err;
	struct buf to;
	int s = t->status;
	const char *why = NULL;

	if (s != 301 && s != 302 && s != 303 && s != 307 && s != 308)
		return false;
	if (!fetch_header(t->head.data, t->head.size, "Location", &v, &n) || !n)
		return false;           /* an answer like any other */
	buf_init(&to, URL_SIZE_MAX);
	if (j->tells_secret)
		why = "its target holds what was sent as a secret";
	else if (j->hops.n >= f->opt.max_redirects)
		why = "too many redirects";
	else if (url_resolve(j->url.data, j->url.size, v, n, &to, &err))
		why = err.text;
	else if (to.size == j->url.size && !memcmp(to.data, j->url.data, to.size))
		why = "redirect to itself";
	for (size_t i = 0; !why && i < j->hops.n; i++)
		if (!strcmp(j->hops.v[i].url, buf_text(&to)))
			why = "redirect loop";
	if (why) {
		job_done(f, j, FETCH_REDIRECT, "%s", why);
	} else if (f->stopped) {
		job_done(f, j, FETCH_STOPPED, NULL);
	} else if (now >= f->cycle.ask_until) {
		job_give_up(f, j);
	} else if (!j->is_robots && f->opt.follows &&
	           !f->opt.follows(f->opt.arg, to.data, to.size)) {
		job_done(f, j, FETCH_MOVED, "to %.400s", buf_text(&to));
	} else if (!job_may_spend(f, j, FETCH_MORE)) {
		job_done(f, j, FETCH_BUDGET, "the redirect was not followed");
	} else {
		vec_push(&j->hops, copy_hop(f, j, t));
		buf_clear(&j->url);
		buf_add(&j->url, to.data, to.size);
		forget_answer(f, j);
		job_queue(f, j, now, true);     /* first, unless it is a guest there */
	}
	buf_release(&to);
	return true;
}

/* The address cannot be reached: queue the job for the host's next address, if there is
 * one. No request was sent, and polite decides when the next address may be tried. */
static bool next_pin(struct fetch *f, struct job *j, const struct transfer *t, double now)
{
	struct host *p = &f->hosts.v[j->host];

	if ((t->error != FETCH_CONNECT && t->error != FETCH_TIMEOUT) || t->received ||
	    t->connect_seconds > 0 || p->n_pins < 2 || ++j->pins_tried >= p->n_pins)
		return false;
	if (j->pin == p->pin)           /* else another job has moved the host */
		host_use_address(f, j->host, (p->pin + 1) % p->n_pins);
	polite_cancel(f->polite, j->host);
	polite_add_first(f->polite, j->host, j->number, now);
	return true;
}

static bool try_again(struct fetch *f, struct job *j, double now)
{
	if (f->stopped || j->tries >= f->opt.retries || job_is_late(f, j, now) ||
	    polite_blocked(f->polite, j->host, now) > f->opt.polite.max_wait ||
	    !job_may_spend(f, j, FETCH_MORE))
		return false;
	j->tries++;
	f->stats.retries++;
	j->pins_tried = 0;
	forget_answer(f, j);
	polite_add_first(f->polite, j->host, j->number, now);
	return true;
}

static void page_answered(struct fetch *f, struct job *j, struct transfer *t, double now,
                          bool throttled)
{
	j->transfer = t;
	if (throttled) {
		j->blocked = polite_blocked(f->polite, j->host, now);
		if (!try_again(f, j, now))
			job_done(f, j, FETCH_BACKOFF, "status %d: the host rests for %.0f s",
			         t->status, j->blocked);
		return;
	}
	if (j->method == FETCH_HEAD && j->second_opinion && !f->stopped &&
	    (t->status >= 400 || t->error == FETCH_TIMEOUT || t->error == FETCH_RESET ||
	     t->error == FETCH_PROTOCOL) && job_may_spend(f, j, FETCH_MORE)) {
		j->method = FETCH_GET;
		j->head_status = t->status;
		j->pins_tried = 0;
		forget_answer(f, j);
		polite_add_first(f->polite, j->host, j->number, now);
		return;
	}
	if (t->error != FETCH_OK)
		job_done(f, j, t->error, "%s", t->why);
	else if (t->status == 304 && !j->conditional)
		job_done(f, j, FETCH_PROTOCOL, "304 to a request without validators");
	else if (!job_redirect(f, j, t, now))
		job_done(f, j, FETCH_OK, NULL);
}

/* Mask the values of Set-Cookie: they may be a login of the user's. */
static void hide_cookies(char *head, size_t size)
{
	const char *v, *end = head + size;
	size_t n;

	while (fetch_header(head, (size_t)(end - head), "Set-Cookie", &v, &n)) {
		head += v - head;
		memset(head, '*', n);
	}
}

/* What was sent as a secret is not kept, though the server may send it back. */
static void hide_secrets(struct job *j, struct transfer *t)
{
	const char *v;
	size_t n;

	j->tells_secret = false;
	if (!asking_has_secrets(j->extra) || !t->head.size)
		return;
	j->tells_secret = fetch_header(t->head.data, t->head.size, "Location", &v, &n) &&
	                  asking_shows(j->extra, v, n);
	hide_cookies(t->head.data, t->head.size);
	asking_mask(j->extra, t->head.data, t->head.size);
	asking_mask(j->extra, t->body.data, t->body.size);
}

/* A failure is the host's, unless a redirect of another host led to it: that may have named a
 * port where nobody listens, to have us leave the host alone.  Then it counts for guests. */
static enum polite_end end_of(struct fetch *f, const struct job *j, bool failed, double now)
{
	struct host *p = &f->hosts.v[j->host];

	if (!job_is_guest(j))
		return failed ? POLITE_FAILED : POLITE_ANSWERED;
	p->guest_failures = failed ? p->guest_failures + 1 : 0;
	if (p->guest_failures >= f->opt.polite.failure_limit) {
		p->guest_failures = 0;
		p->guests_until = now + GUESTS_REST;
	}
	return failed ? POLITE_CUT : POLITE_ANSWERED;
}

void job_answered(struct fetch *f, struct job *j, struct transfer *t, double now)
{
	bool throttled = t->error == FETCH_OK && (t->status == 429 || t->status == 503);
	bool cut = t->error == FETCH_TIMEOUT && now >= t->until;        /* by us */
	double draw = rng_unit(rng_draw(f->opt.seed, f->draws++, j->host, RNG_JITTER));

	if (!cut && next_pin(f, j, t, now)) {
		fetch_recycle(f, t);
		return;
	}
	hide_secrets(j, t);
	j->bytes += t->received;
	f->stats.bytes += t->received;
	if (cut && j->is_robots)
		t->error = FETCH_STOPPED;       /* this is no failure of robots.txt */
	polite_done(f->polite, j->host, now, throttled ? POLITE_THROTTLED : cut ? POLITE_CUT
		: end_of(f, j, is_failure(t->error), now),
		throttled ? retry_after(t, j->time) : -1, draw);
	if (j->is_robots && throttled && try_again(f, j, now))
		fetch_recycle(f, t);
	else if (j->is_robots)
		robots_done(f, j, t, now);
	else
		page_answered(f, j, t, now, throttled);
}
