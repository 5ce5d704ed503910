/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_job.c - the checks before a request of a job; fetch_answer.c has what follows.
 *
 * robots.txt of the origin must be known and allow the URL.  The name must be
 * resolved, and every address must pass the gate; one bad address refuses the host.
 * Behind a proxy the name itself must look public.  The connection goes to one of the
 * checked addresses.  If that one cannot be reached, the job is queued again for the next
 * address, at the pace of that address.
 */
#include "fetch/fetch_inner.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "web/rules/robots.h"

#define DNS_FAILED_AGE 60       /* seconds until a failed lookup is tried again */

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
void host_use_address(struct fetch *f, uint32_t host, unsigned pin)
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
		if (f->opt.family && sa->sa_family != f->opt.family)
			continue;
		pin = &p->pins[p->n_pins++];
		snprintf(pin->text, sizeof pin->text,
		         sa->sa_family == AF_INET6 ? "[%.45s]" : "%s", text);
		pin->address = polite_address(f->polite, party, gate_party(sa, party));
	}
	if (!p->n_pins) {
		host_set_error(p, FETCH_DNS, f->opt.family == AF_INET6 ?
		               "no IPv6 address (--ip 6)" : "no IPv4 address (--ip 4)");
		return;
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

bool job_is_guest(const struct job *j)
{
	return j->host != j->home;
}

/* Guests have failed here of late, and nobody else waits for this one. */
static bool is_unwelcome(const struct fetch *f, const struct job *j, double now)
{
	uint32_t n;

	if (!job_is_guest(j) || now >= f->hosts.v[j->host].guests_until)
		return false;
	if (!j->is_robots)
		return true;
	n = f->origins.v[j->origin].parked.first;
	while (n != NONE && f->jobs.v[n]->home != j->host)
		n = f->jobs.v[n]->next;
	return n == NONE;
}

void host_hurry(struct fetch *f, const struct job *j)
{
	struct host *p = &f->hosts.v[j->host];
	char name[URL_HOST_MAX + 3];

	if (p->known != ASKED || !p->asked_by_guest || job_is_guest(j))
		return;
	p->asked_by_guest = false;
	host_name(j, name);
	resolve_ask(f->resolve, name, j->host, false);
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
			p->asked_by_guest = job_is_guest(j);
			resolve_ask(f->resolve, name, j->host, p->asked_by_guest);
		}
		host_hurry(f, j);
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

bool job_may_spend(struct fetch *f, struct job *j, enum fetch_spend what)
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
	if (j->begun || job_may_spend(f, j, what)) {
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

	if (payer != NONE && !job_may_spend(f, f->jobs.v[payer], FETCH_MORE))
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

/* What the user wants sent with this very URL, and taken of its answer. */
static void add_extra(struct fetch *f, struct job *j, struct wire_request *r)
{
	if (!f->opt.asking)
		return;
	if (!j->extra)
		j->extra = asking_extra_new();
	asking_for(f->opt.asking, j->url.data, j->url.size, (int64_t)time(NULL), j->extra);
	r->extra = j->extra;
	if (j->is_robots || j->any_type)
		return;
	r->accept = j->extra->accept;
	if (j->extra->max_body)
		r->max_body = j->extra->max_body;
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
	if (is_unwelcome(f, j, now)) {
		polite_cancel(f->polite, j->host);
		job_done(f, j, FETCH_BACKOFF, "redirects to this host have failed");
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
	add_extra(f, j, &r);
	r.until = job_until(f, j);
	polite_start(f->polite, j->host, now);
	if (fetch_program_takes(f, j, &r))
		fetch_program_start(f, j, &r, now);
	else
		wire_start(f->wire, &r, now);
}
