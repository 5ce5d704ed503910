/* SPDX-License-Identifier: Apache-2.0 */
/* crawl_print.c - the report of a cycle, as JSON and as a row of a table. */
#include "cli/print/crawl_print.h"

#include "base/cause.h"
#include "base/when.h"
#include "cli/frame/command.h"
#include "cli/print/history_print.h"

static void discovery_json(struct json *j, const struct discovery *d)
{
	json_key(j, "discovery");
	json_object(j);
	json_kint(j, "share", d->share);
	json_kint(j, "found", d->found);
	json_kint(j, "added", d->added);
	json_kint(j, "waiting", d->waiting);
	json_kint(j, "asked_new", d->asked_new);
	json_kint(j, "asked_told", d->asked_told);
	json_kint(j, "asked_hubs", d->asked_hubs);
	json_kint(j, "aliases", d->aliases);
	json_kint(j, "outside", d->outside);
	json_kint(j, "nofollow", d->nofollow);
	json_kint(j, "sitemaps", d->sitemaps);
	json_kint(j, "sitemap_requests", d->sitemap_requests);
	json_kint(j, "dates", d->dates);
	json_key(j, "refused");
	json_object(j);
	for (unsigned i = 1; i < N_REFUSALS; i++)
		if (d->refused[i])
			json_kint(j, refusal_name(i), d->refused[i]);
	json_end_object(j);
	json_end_object(j);
}

static void discovery_text(const struct discovery *d)
{
	const char *before = "; refused: ";

	printf("discovery: %u of the requests; %u URLs found, %u added, %u waiting", d->share,
	       d->found, d->added, d->waiting);
	for (unsigned i = 1; i < N_REFUSALS; i++) {
		if (!d->refused[i])
			continue;
		printf("%s%u %s", before, d->refused[i], refusal_name(i));
		before = ", ";
	}
	printf("\n           asked: %u new, %u told by sitemaps, %u hubs; %u sitemaps in %u "
	       "requests, apart from the budget\n", d->asked_new, d->asked_told, d->asked_hubs,
	       d->sitemaps, d->sitemap_requests);
}

void crawl_print_json(struct json *j, const struct crawl_report *r)
{
	const struct store_cycle *c = &r->cycle;
	char t[15];

	when_digits(c->time, t);
	cli_json_schema(j, "cycle");
	json_kint(j, "cycle", c->number);
	json_kstr(j, "time", t);
	json_kstr(j, "policy", r->policy);
	json_kstr(j, "aim", aim_name(r->aim));
	if (*r->explain)
		json_kstr(j, "explain", r->explain);
	cycle_counts_json(j, c);
	json_key(j, "seconds");
	json_object(j);
	json_knum(j, "plan", c->seconds_plan);
	json_knum(j, "total", c->seconds_total);
	json_end_object(j);
	json_kbool(j, "complete", !r->stopped);
	if (r->guarantee_broken)
		json_kbool(j, "guarantee_broken", true);
	json_kbool(j, "resumed", r->resumed);
	json_kint(j, "not_modified", r->not_modified);
	json_kint(j, "unasked", r->unasked);
	json_kint(j, "taken_off", r->taken_off);
	json_kint(j, "late", r->late);
	json_kint(j, "lapsed", r->lapsed);
	json_kint(j, "given_up", r->given_up);
	json_kint(j, "resting", r->resting);
	json_kint(j, "retried", r->retried);
	json_key(j, "validators");
	json_object(j);
	json_kint(j, "checks", r->checks);
	json_kint(j, "lies", r->lies);
	json_end_object(j);
	json_kint(j, "robots_requests", (int64_t)r->fetch.robots_requests);
	json_kint(j, "moved", r->moved);
	json_kint(j, "robots_budgeted", (int64_t)r->fetch.robots_budgeted);
	json_kint(j, "bytes", (int64_t)r->fetch.bytes);
	if (r->discovery.on)
		discovery_json(j, &r->discovery);
	json_key(j, "reasons");
	json_object(j);
	for (int i = 1; i < FETCH_N_ERRORS; i++)
		if (r->reasons[i])
			json_kint(j, fetch_error_name((enum fetch_error)i), r->reasons[i]);
	if (r->reasons[FETCH_OK])
		json_kint(j, "status", r->reasons[FETCH_OK]);
	json_end_object(j);
	cli_json_end(j);
}

static void print_error(enum fetch_error e)
{
	const char *name = fetch_error_name(e);

	printf("%s (%s)", name, cause_text(cause_find(name, strlen(name))));
}

void crawl_print_table(const struct crawl_report *r, bool first)
{
	static const char *const heads[] = { "cycle", "<time", "budget", "requests", "new",
		"changed", "same", "gone", "failed", "blocked", "ratio", "seconds" };
	const struct store_cycle *c = &r->cycle;
	struct table *t = table_new(heads, 12);
	char when[21];
	const char *between = "";
	uint32_t lapsed = r->reasons[FETCH_LAPSED];     /* these were requested, though they count as blocked */
	uint32_t given_back = c->blocked - (lapsed < c->blocked ? lapsed : c->blocked);

	when_iso(c->time, when);
	table_cell(t, "%u", c->number);
	table_cell(t, "%s", when);
	table_cell(t, "%u", c->budget);
	table_cell(t, "%u", c->downloads);
	table_cell(t, "%u", c->fresh);
	table_cell(t, "%u", c->changed);
	table_cell(t, "%u", c->same);
	table_cell(t, "%u", c->gone);
	table_cell(t, "%u", c->failed);
	table_cell(t, "%u", c->blocked);
	table_cell(t, "%.3f", cycle_change_ratio(c));
	table_cell(t, "%.1f", c->seconds_total);
	if (first)
		table_print(t, stdout);
	else
		table_print_more(t, stdout);
	table_free(t);
	if (c->failed + c->blocked) {
		printf("not had: ");
		for (int i = 0; i < FETCH_N_ERRORS; i++) {
			if (!r->reasons[i])
				continue;
			printf("%s%u ", between, r->reasons[i]);
			if (i == FETCH_OK)
				printf("with an error as answer (404, 500, ...)");
			else if (i == FETCH_GATE)
				printf("for an address that is not public (--allow-net opens your own)");
			else
				print_error((enum fetch_error)i);
			between = ", ";
		}
		putchar('\n');
	}
	if (r->discovery.on)
		discovery_text(&r->discovery);
	if (r->unasked)
		printf("redirects took the requests of %u page%s planned\n", r->unasked,
		       r->unasked == 1 ? " that was" : "s that were");
	if (r->fetch.robots_budgeted)
		printf("redirects to other sites cost %llu requests for robots.txt there\n",
		       (unsigned long long)r->fetch.robots_budgeted);
	if (r->given_up)
		printf("%s and its like had their part (--site-share): the requests of %u pages went to "
		       "others\n", *r->full_site ? r->full_site : "a site", r->given_up);
	if (r->resting)
		printf("%u page%s after failures and %s left alone; %u %s back from a rest\n",
		       r->resting, r->resting == 1 ? " rests" : "s rest",
		       r->resting == 1 ? "was" : "were", r->retried,
		       r->retried == 1 ? "was" : "were");
	if (r->lies)
		printf("%u pages had changed though their validators had not: such sites are asked "
		       "without conditions\n", r->lies);
	if (given_back && c->downloads)
		printf("blocked pages were not asked: %u request%s given back\n", given_back,
		       given_back == 1 ? " was" : "s were");
}

void crawl_print_doing(struct json *j, const struct crawl_doing *d)
{
	cli_json_schema(j, "doing");
	json_kint(j, "cycle", d->cycle->number);
	json_kint(j, "budget", d->cycle->budget);
	json_kint(j, "spent", d->spent);
	json_kint(j, "visits", d->visits);
	json_knum(j, "seconds", d->seconds);
	json_knum(j, "seconds_left", d->seconds_left);
	json_kint(j, "active", d->active);
	json_kint(j, "planned", d->planned);
	json_kint(j, "requests", (int64_t)d->fetch.requests);
	json_kint(j, "bytes", (int64_t)d->fetch.bytes);
	json_kint(j, "hosts_waiting", d->n_waiting);
	json_kint(j, "hosts_resting", d->n_resting);
	json_key(j, "hosts");
	json_array(j);
	for (unsigned i = 0; i < d->n_hosts; i++) {
		const struct crawl_doing_host *h = &d->hosts[i];

		json_object(j);
		json_kstr(j, "host", h->name);
		json_kint(j, "pages", h->pages);
		json_knum(j, "pause", h->pause);
		if (h->rests > 0)
			json_knum(j, "rests", h->rests);
		json_kstr(j, "why", h->rests > 0 ? "it asked to be left alone" :
		          h->pause > 0 ? "the pause between its requests" : "answers are awaited");
		json_end_object(j);
	}
	json_end_array(j);
	cli_json_end(j);
}
