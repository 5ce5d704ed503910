/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_job.c - one request of a job: checks before it, meaning of the answer.
 *
 * Before: robots.txt of the origin must be known and allow the URL.  The name must be
 * resolved, and every address must pass the gate; one bad address refuses the host.
 * Behind a proxy the name itself must look public.  The connection goes to one of the
 * checked addresses.  If that one cannot be reached, the job is queued again for the next
 * address, at the pace of that address.
 *
 * After: 429 and 503 put the host to rest.  A redirect is a new hop and repeats all
 * checks. A HEAD that failed may be repeated as GET.
 */
#include "fetch/fetch_inner.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/math/rng.h"
#include "base/when.h"
#include "web/rules/robots.h"

#define DNS_FAILED_AGE 60       /* seconds until a failed lookup is tried again */

/* ---- before ---- */

static void host_name(const struct job *j, char out[URL_HOST_MAX + 3])
{
	const struct url_parts *p = &j->parts;
	const char *s = j->url.data + p->host;
	size_t n = p->host_end - p->host;

	if (n >= 2 && s[0] == '[')
		s++, n -= 2;
	if (n > URL_HOST_MAX)
		n = URL_HOST_MAX;
	memcpy(out, s, n);
	out[n] = '\0';
}

static void host_set_error(struct host *p, enum fetch_error error, const char *why)
{
	p->error = error;
	free(p->why);
	p->why = why ? mem_strdup(why) : NULL;
}

/* Use this address of the host from now on, at the pace of the address. */
static void host_use_address(struct fetch *f, uint32_t host, unsigned pin)
{
	struct host *p = &f->hosts.v[host];

	p->pin = pin;
	polite_set_address(f->polite, host, p->pins[pin].address);
}

/* Check all addresses, store them as text, tell polite the first one. */
static void host_set_addresses(struct fetch *f, uint32_t host, const struct sockaddr_storage *a,
                            int n)
{
	struct host *p = &f->hosts.v[host];

	free(p->pins);
	p->pins = mem_zalloc((size_t)n, sizeof *p->pins);
	p->n_pins = p->pin = 0;
	for (int i = 0; i < n; i++) {
		const struct sockaddr *sa = (const struct sockaddr *)&a[i];
		const char *why = gate_refuses(f->opt.gate, sa);
		char text[GATE_TEXT], line[160];
		uint8_t party[GATE_PARTY];
		struct pin *pin;

		gate_text(sa, text);
		if (why) {
			snprintf(line, sizeof line, "%s: %s", text, why);
			host_set_error(p, FETCH_GATE, line);
			return;
		}
		pin = &p->pins[p->n_pins++];
		snprintf(pin->text, sizeof pin->text,
		         sa->sa_family == AF_INET6 ? "[%.45s]" : "%s", text);
		pin->address = polite_address(f->polite, party, gate_party(sa, party));
	}
	host_set_error(p, FETCH_OK, NULL);
	host_use_address(f, host, 0);
}

void host_resolved(struct fetch *f, const struct resolve_answer *a, double now)
{
	struct host *p = &f->hosts.v[a->tag];
	struct list parked = p->parked;

	p->known = KNOWN;
	p->until = now + (a->n > 0 ? f->opt.dns_age : DNS_FAILED_AGE);
	if (a->n > 0)
		host_set_addresses(f, a->tag, a->addresses, a->n);
	else
		host_set_error(p, FETCH_DNS, a->why);
	p->parked = (struct list){ NONE, NONE };
	while (parked.first != NONE) {
		struct job *j = f->jobs.v[parked.first];

		parked.first = j->next;
		polite_add(f->polite, a->tag, j->number, now);
	}
}

/* Is the host resolved?  If not, the job is parked or queued. */
static bool host_is_resolved(struct fetch *f, struct job *j, double now)
{
	struct host *p = &f->hosts.v[j->host];
	char name[URL_HOST_MAX + 3];
	struct sockaddr_storage literal;

	if (p->known == KNOWN && now > p->until)
		p->known = UNKNOWN;
	host_name(j, name);
	if (p->known == UNKNOWN && gate_literal(name, &literal)) {
		p->known = KNOWN;
		p->until = now + f->opt.dns_age;
		polite_cancel(f->polite, j->host);
		host_set_addresses(f, j->host, &literal, 1);
		polite_add_first(f->polite, j->host, j->number, now);
		return false;           /* queued again: now the pace of the address applies, too */
	}
	if (p->known != KNOWN) {
		polite_cancel(f->polite, j->host);
		list_push(f, &p->parked, j);
		if (p->known == UNKNOWN) {
			p->known = ASKED;
			resolve_ask(f->resolve, name, j->host);
		}
		return false;
	}
	return true;
}

/* May the host be asked?  If not, the job is done. */
static bool host_allows(struct fetch *f, struct job *j)
{
	const struct host *p = &f->hosts.v[j->host];

	if (p->error == FETCH_OK)
		return true;
	polite_cancel(f->polite, j->host);
	job_done(f, j, p->error, "%s", p->why ? p->why : "");
	return false;
}

static bool may_spend(struct fetch *f, struct job *j, enum fetch_spend what)
{
	if (j->is_robots || j->only_robots)
		return true;
	if (f->opt.spend && !f->opt.spend(f->opt.arg, j->page, j->site, what))
		return false;
	j->granted += what == FETCH_MORE;
	return true;
}

/* May the job send its first request, or fetch robots.txt for it?  If not, it is done. */
static bool may_begin(struct fetch *f, struct job *j, enum fetch_spend what)
{
	if (j->begun || may_spend(f, j, what)) {
		j->begun = j->begun || what == FETCH_FIRST;
		return true;
	}
	polite_cancel(f->polite, j->host);
	job_done(f, j, FETCH_BUDGET, "no request was left for it");
	return false;
}

/* Note, for opt.sent(), that a request of this page is about to be sent. */
static void tell_sent(struct fetch *f, const struct job *page)
{
	if (f->opt.sent && !page->only_robots)
		vec_push(&f->sent, ((struct fetch_sent){ page->page, page->site }));
}

/* Count the next request on the budget of the page that pays; false: not granted. */
static bool count_request(struct fetch *f, struct job *j)
{
	uint32_t payer = j->is_robots ? robots_payer(f, j) : NONE;

	if (payer != NONE && !may_spend(f, f->jobs.v[payer], FETCH_MORE))
		return false;
	j->granted -= j->granted && j->requests;
	j->requests++;
	if (payer != NONE) {
		f->jobs.v[payer]->robots++;
		f->jobs.v[payer]->granted--;
		f->stats.robots_budgeted++;
		tell_sent(f, f->jobs.v[payer]);
	} else if (j->is_robots) {
		f->stats.robots_requests++;
	} else {
		f->stats.requests++;
		tell_sent(f, j);
	}
	return true;
}

void job_dispatch(struct fetch *f, struct job *j, double now)
{
	struct host *p;
	char name[URL_HOST_MAX + 3];
	struct wire_request r = { .owner = j->number, .url = j->url.data,
		.origin_size = j->parts.path,
		.head_only = j->method == FETCH_HEAD && !j->is_robots,
		.max_body = j->is_robots ? ROBOTS_SIZE_MAX + 1 : f->opt.max_body };
	const char *why;

	if (job_is_late(f, j, now)) {
		polite_cancel(f->polite, j->host);
		job_give_up(f, j);
		return;
	}
	if (!may_begin(f, j, FETCH_LOOK) || !robots_ask(f, j, now))
		return;
	if (j->only_robots) {
		polite_cancel(f->polite, j->host);
		job_done(f, j, FETCH_OK, NULL);
		return;
	}
	host_name(j, name);
	r.proxy = proxy_for(&f->proxy, j->parts.https, name);
	if (r.proxy && (why = gate_refuses_name(f->opt.gate, name))) {
		polite_cancel(f->polite, j->host);
		job_done(f, j, FETCH_GATE, "%s: %s", name, why);
		return;
	}
	if ((!r.proxy && !host_is_resolved(f, j, now)) || !may_begin(f, j, FETCH_FIRST))
		return;
	if (!r.proxy) {
		if (!host_allows(f, j))
			return;
		p = &f->hosts.v[j->host];
		j->pin = p->pin;
		r.pin = p->pins[p->pin].text;
	}
	if (f->opt.head && !j->is_robots && !j->requests && j->method == FETCH_HEAD) {
		f->opt.head(f->opt.arg, j->page, &j->method, &j->second_opinion);
		r.head_only = j->method == FETCH_HEAD;
	}
	/* validators belong to the page's own URL, not to a redirect's target */
	if (!j->is_robots && !j->hops.n) {
		r.etag = j->etag;
		r.last_modified = j->last_modified;
	}
	j->conditional = r.etag || r.last_modified;
	if (!j->pins_tried && !count_request(f, j)) {
		polite_cancel(f->polite, j->host);
		job_done(f, j, FETCH_BUDGET, "no request is left for it");
		return;
	}
	j->time = (int64_t)time(NULL);
	span_start_host(f, j->host, now);
	r.until = job_until(f, j);
	polite_start(f->polite, j->host, now);
	wire_start(f->wire, &r, now);
}

/* ---- after ---- */

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
		wire_recycle(f->wire, j->transfer);
	j->transfer = NULL;
}

/* Copy the answer of a redirect; all copies together are bounded by HOPS_HELD_MAX. */
static struct fetch_hop keep_hop(struct fetch *f, const struct job *j, const struct transfer *t)
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
	if (j->hops.n >= f->opt.max_redirects)
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
	} else if (!may_spend(f, j, FETCH_MORE)) {
		job_done(f, j, FETCH_BUDGET, "the redirect was not followed");
	} else {
		vec_push(&j->hops, keep_hop(f, j, t));
		buf_clear(&j->url);
		buf_add(&j->url, to.data, to.size);
		forget_answer(f, j);
		job_queue(f, j, now, true);     /* first in the queue: begun jobs go before new ones */
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
	    !may_spend(f, j, FETCH_MORE))
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
	     t->error == FETCH_PROTOCOL) && may_spend(f, j, FETCH_MORE)) {
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

void job_answered(struct fetch *f, struct job *j, struct transfer *t, double now)
{
	bool throttled = t->error == FETCH_OK && (t->status == 429 || t->status == 503);
	bool cut = t->error == FETCH_TIMEOUT && now >= t->until;        /* by us */
	double draw = rng_unit(rng_draw(f->opt.seed, f->draws++, j->host, RNG_JITTER));

	if (!cut && next_pin(f, j, t, now)) {
		wire_recycle(f->wire, t);
		return;
	}
	j->bytes += t->received;
	f->stats.bytes += t->received;
	if (cut && j->is_robots)
		t->error = FETCH_STOPPED;       /* this is no failure of robots.txt */
	polite_done(f->polite, j->host, now, throttled ? POLITE_THROTTLED : cut ? POLITE_CUT
		: is_failure(t->error) ? POLITE_FAILED : POLITE_ANSWERED,
		throttled ? retry_after(t, j->time) : -1, draw);
	if (j->is_robots && throttled && try_again(f, j, now))
		wire_recycle(f->wire, t);
	else if (j->is_robots)
		robots_done(f, j, t, now);
	else
		page_answered(f, j, t, now, throttled);
}
