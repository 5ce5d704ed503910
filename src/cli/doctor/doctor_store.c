/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_store.c - what the tables say: contact, pages, cycles, names of hosts. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/when.h"
#include "cli/doctor/doctor.h"
#include "cli/frame/crawling.h"
#include "web/url/url.h"

#define NAMES_MAX 3                     /* hosts whose names are resolved */
#define NAMES_PAGES 10000               /* pages looked at for them */
#define OPEN_LONG (7 * DAY_SECONDS)     /* a cycle open for longer was forgotten */
#define CLOCK_AHEAD 60                  /* seconds; less is no sign of a wrong clock */

static int check_contact(struct doctor *d, struct err *err)
{
	struct err why = { 0 };
	char *contact;
	int rc = store_setting_get(d->store, "contact", &contact, err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		doctor_find(d, "contact", VERDICT_ADVICE, "not set|freshet set contact "
		            "mailto:you@example.org: webmasters must be able to reach you, and cycle, "
		            "run and live ask for it");
	else if (crawling_contact(contact, &why) < 0)
		doctor_find(d, "contact", VERDICT_WRONG, "%s", why.text);
	else
		doctor_find(d, "contact", VERDICT_GOOD, "%s", contact);
	if (rc > 0)
		free(contact);
	return 0;
}

static int check_pages(struct doctor *d, struct err *err)
{
	struct store_counts c;
	int rc = store_count(d->store, &c, err);

	if (rc < 0)
		return rc;
	if (!c.pages)
		doctor_find(d, "store", VERDICT_ADVICE, "no pages|freshet import FILE... or freshet add "
		            "URL... puts pages under care");
	else
		doctor_find(d, "store", VERDICT_GOOD, "%llu pages, %llu captures, %llu cycles; schema "
		            "%d", (unsigned long long)c.pages, (unsigned long long)c.captures,
		            (unsigned long long)c.cycles, STORE_SCHEMA);
	return 0;
}

static int last_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct store_cycle *last = arg;

	(void)err;
	last->number = c->number;
	last->time = c->time;
	last->open = c->open;
	return 0;
}

static int check_cycles(struct doctor *d, struct err *err)
{
	struct store_cycle last = { 0 };
	int rc = store_cycles(d->store, 0, last_cycle, &last, err);
	char at[21];

	if (rc < 0 || !last.number)
		return rc;
	when_iso(last.time, at);
	if (last.time > d->now + CLOCK_AHEAD)
		doctor_find(d, "clock", VERDICT_WRONG, "cycle %u began at %s, which is to come|set the "
		            "clock, of this machine or of the one that crawled", last.number, at);
	else if (last.open && last.time < d->now - OPEN_LONG)
		doctor_find(d, "cycles", VERDICT_ADVICE, "cycle %u is open since %s|freshet cycle goes "
		            "on with it; freshet end ends one of other crawlers", last.number, at);
	else
		doctor_find(d, "cycles", VERDICT_GOOD, "cycle %u of %s, %s", last.number, at,
		            last.open ? "open" : "ended");
	return 0;
}

struct names { char host[NAMES_MAX][URL_HOST_MAX + 1]; size_t n; uint32_t seen; };

/* The first hosts that are names, not addresses. */
static int find_names(void *arg, const struct store_page *p, struct err *err)
{
	struct names *names = arg;
	struct url_parts parts;
	char *host = names->host[names->n];
	size_t size;

	(void)err;
	if (++names->seen > NAMES_PAGES)
		return 1;
	url_split(p->url.s, p->url.size, &parts);
	size = parts.host_end - parts.host;
	if (parts.ip || size > URL_HOST_MAX)
		return 0;
	memcpy(host, p->url.s + parts.host, size);
	host[size] = 0;
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(host, names->host[i]))
			return 0;
	return ++names->n == NAMES_MAX;
}

/* Resolve all at once; what is not there in time is given up. */
static int check_names(struct doctor *d, struct err *err)
{
	static struct names names;              /* used by threads that may outlive this call */
	static struct gaicb asked[NAMES_MAX];
	struct gaicb *list[NAMES_MAX];
	struct timespec wait = { .tv_sec = d->names_seconds };
	unsigned n_good = 0;
	int rc;

	names = (struct names){ 0 };
	rc = store_pages(d->store, 0, find_names, &names, err);
	if (rc < 0 || !names.n)
		return rc < 0 ? rc : 0;
	for (size_t i = 0; i < names.n; i++) {
		asked[i] = (struct gaicb){ .ar_name = names.host[i] };
		list[i] = &asked[i];
	}
	if (getaddrinfo_a(GAI_NOWAIT, list, (int)names.n, NULL))
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		const struct gaicb *one = &asked[i];

		while (gai_error(&asked[i]) == EAI_INPROGRESS && !gai_suspend(&one, 1, &wait))
			;
		if (!gai_error(&asked[i])) {
			n_good++;
			freeaddrinfo(asked[i].ar_result);
		} else {
			const char *why = gai_error(&asked[i]) == EAI_INPROGRESS ? "no answer in time" :
				gai_strerror(gai_error(&asked[i]));

			doctor_find(d, "names", VERDICT_ADVICE, "%s: %s|see whether the resolver "
			            "(/etc/resolv.conf) answers, and whether the host is still there",
			            names.host[i], why);
		}
	}
	if (n_good)
		doctor_find(d, "names", VERDICT_GOOD, "%u of %zu hosts have addresses", n_good,
		            names.n);
	return 0;
}

int doctor_store(struct doctor *d, struct err *err)
{
	int rc;

	if ((!d->fleet && (rc = check_pages(d, err)) < 0) || (rc = check_contact(d, err)) < 0 ||
	    (!d->fleet && (rc = check_cycles(d, err)) < 0))
		return rc;
	return check_names(d, err);
}
