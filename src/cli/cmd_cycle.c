/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cycle.c - `freshet cycle` and `freshet run`: the live web.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "cli/crawling.h"
#include "cli/history_print.h"
#include "cli/history_report.h"

#define CLOCK_BEHIND 60         /* seconds; less is nothing to talk of */

struct cycle_opts {
	struct web_opts web;
	const char *policy, *detect, *stem;
	struct share budget, site_share;
	int64_t every, max_age, cycles, confirmations;
	int words;
	bool no_requests;
	struct share discover;
	bool discover_nofollow;
	int64_t discover_per_directory, discover_per_site;
	struct option_list ignore;
	const char *report;
};

#define CYCLE_OPTIONS \
	SETTING(cycle_opts, "policy", policy, OPTION_TEXT, "auto", "SPEC", \
	        "the policy: name or name:key=value,..."), \
	SETTING(cycle_opts, "budget", budget, OPTION_SHARE, "2%", "N|N%", \
	        "requests of a cycle, as a number or a share of the pages"), \
	SETTING(cycle_opts, "every", every, OPTION_DURATION, "1d", "DURATION", \
	        "time between cycles"), \
	SETTING(cycle_opts, "max_age", max_age, OPTION_DURATION, NULL, "DURATION", \
	        "no page stays unvisited longer"), \
	SETTING(cycle_opts, "site_share", site_share, OPTION_SHARE, NULL, "N|N%", \
	        "no site gets more of a cycle, unless it has more of the pages; default: " \
	        "50% if there are 20 sites or more"), \
	SETTING(cycle_opts, "detect", detect, OPTION_TEXT, "bytes", "HOW", \
	        "what counts as a change: bytes, text, tags, near:BITS"), \
	SETTING_RANGED(cycle_opts, "confirmations", confirmations, OPTION_INT, "2", 1, 100, \
	               "N", "times a page must be seen gone before it is believed"), \
	SETTING(cycle_opts, "ignore", ignore, OPTION_LIST, NULL, "RULES", \
	        "elements that are no change, as in `#clock, .ad`, for all sites or " \
	        "`HOST: RULES`"), \
	{ .name = "words", .type = OPTION_CHOICE, .def = "auto", .choices = "auto|no|yes", \
	  .arg = "auto|no|yes", .setting = true, .offset = offsetof(struct cycle_opts, words), \
	  .help = "count the words of pages, for search and clusters; auto: if there are " \
	          "words already, or the policy needs them" }, \
	SETTING(cycle_opts, "stem", stem, OPTION_TEXT, NULL, "LANGUAGE", \
	        "count stems of words (english, french, ...); settled by the first words"), \
	SETTING(cycle_opts, "discover", discover, OPTION_SHARE, NULL, "N|N%", \
	        "requests of a cycle that are for new pages of the same sites"), \
	SETTING_RANGED(cycle_opts, "discover_per_directory", discover_per_directory, \
	               OPTION_INT, "100", 1, 1e9, "N", \
	               "new pages of a directory, ever"), \
	SETTING_RANGED(cycle_opts, "discover_per_site", discover_per_site, OPTION_INT, \
	               "10000", 1, 1e9, "N", "new pages of a site, ever"), \
	{ .name = "discover_nofollow", .type = OPTION_FLAG, .setting = true, \
	  .offset = offsetof(struct cycle_opts, discover_nofollow), \
	  .help = "new pages are found behind links marked nofollow, too" }, \
	{ .name = "no_requests", .type = OPTION_FLAG, .setting = true, \
	  .offset = offsetof(struct cycle_opts, no_requests), \
	  .help = "archive answers only, without the requests they answer" }, \
	WEB_OPTIONS(cycle_opts), \
	OPT_TEXT(cycle_opts, report, NULL, "FILE", \
	         "show it and the history of the repository in one HTML file, too")

static const struct option_spec cycle_options[] = { CYCLE_OPTIONS, OPT_END };
static const struct option_spec run_options[] = {
	CYCLE_OPTIONS,
	OPT_INT(cycle_opts, cycles, 0, 0, 1e9, "end after so many; 0: go on until stopped"),
	OPT_END
};

static int cycle_open(struct crawling *c, struct cli *cli, struct cycle_opts *o,
                      struct err *err)
{
	int rc = report_check(o->report, err);

	if (rc == 0)
		rc = crawling_open(c, cli, err);
	if (rc == 0)
		rc = crawling_set(c, cli, &o->web, err);
	for (size_t i = 0; rc == 0 && i < o->ignore.n; i++)
		rc = ignore_list_add(&c->crawl.ignore, o->ignore.v[i], err);
	if (rc == 0)
		rc = detector_parse(&c->crawl.detect, o->detect, err);
	c->crawl.policy = o->policy;
	c->crawl.words = (enum crawl_words)o->words;
	c->crawl.stem = o->stem;
	c->crawl.no_requests = o->no_requests;
	c->crawl.discover = (struct discover_opts){ o->discover,
		(uint32_t)o->discover_per_directory, (uint32_t)o->discover_per_site,
		o->discover_nofollow };
	c->crawl.budget = o->budget;
	c->crawl.site_share = o->site_share;
	c->crawl.cycle_seconds = o->every;
	if (rc == 0)
		rc = guarantee_cycles(o->max_age, o->every, &c->crawl.max_age, err);
	c->crawl.confirmations = (unsigned)o->confirmations;
	return rc;
}

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

static void print_json(struct json *j, const struct crawl_report *r)
{
	const struct store_cycle *c = &r->cycle;
	char t[15];

	when_digits(c->time, t);
	cli_json_schema(j, "cycle");
	json_kint(j, "cycle", c->number);
	json_kstr(j, "time", t);
	json_kstr(j, "policy", r->policy);
	if (*r->explain)
		json_kstr(j, "explain", r->explain);
	cycle_counts_json(j, c);
	json_key(j, "seconds");
	json_object(j);
	json_knum(j, "plan", c->seconds_plan);
	json_knum(j, "total", c->seconds_total);
	json_end_object(j);
	json_kbool(j, "complete", !r->stopped);
	json_kbool(j, "resumed", r->resumed);
	json_kint(j, "not_modified", r->not_modified);
	json_kint(j, "unasked", r->unasked);
	json_kint(j, "given_up", r->given_up);
	json_key(j, "validators");
	json_object(j);
	json_kint(j, "checks", r->checks);
	json_kint(j, "lies", r->lies);
	json_end_object(j);
	json_kint(j, "robots_requests", (int64_t)r->fetch.robots_requests);
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

static void print_text(const struct crawl_report *r, bool first)
{
	static const char *const heads[] = { "cycle", "<time", "budget", "requests", "new",
		"changed", "same", "gone", "failed", "blocked", "ratio", "seconds" };
	const struct store_cycle *c = &r->cycle;
	struct table *t = table_new(heads, 12);
	char when[21];
	const char *between = "";

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
			printf("%s%u %s", between, r->reasons[i],
			       i == FETCH_OK ? "with an error as answer (404, 500, ...)" :
			       i == FETCH_GATE ? "for an address that is not public" :
			       fetch_error_name((enum fetch_error)i));
			between = ", ";
		}
		putchar('\n');
	}
	if (r->discovery.on)
		discovery_text(&r->discovery);
	if (r->unasked)
		printf("redirects took the requests of %u pages that were planned\n", r->unasked);
	if (r->given_up)
		printf("%s and its like had their part (--site-share): the requests of %u pages went to "
		       "others\n", *r->full_site ? r->full_site : "a site", r->given_up);
	if (r->lies)
		printf("%u pages had changed though their validators had not: such sites are asked "
		       "without conditions\n", r->lies);
	if (c->blocked && c->downloads)
		printf("the requests of %u blocked page%s went to others\n", c->blocked,
		       c->blocked == 1 ? "" : "s");
}

static int write_report(struct crawling *l, const struct cli *cli,
                        const struct cycle_opts *o, const struct crawl_report *c,
                        struct err *err)
{
	struct history_report_opts ho = { .policy = o->policy, .cycle_seconds = o->every,
	                                  .seed = (uint64_t)cli->common.seed, .verdict = true };
	char title[300];
	struct report_head head = { title, cli->line, o->web.now ? o->web.now : clock_now() };
	struct report r;
	int rc;

	snprintf(title, sizeof title, "Cycle %u of the repository %s", c->cycle.number,
	         cli->common.repository);
	report_init(&r);
	print_json(report_json(&r), c);
	report_say(&r, "Cycle %u asked for %u pages and found %u changed and %u gone; %u could "
	           "not be had.", c->cycle.number, c->cycle.downloads, c->cycle.changed,
	           c->cycle.gone, c->cycle.failed + c->cycle.blocked);
	rc = history_report_add(&r, l->store, &ho, err);
	if (rc == 0)
		rc = report_write(&r, o->report, &head, err);
	report_release(&r);
	return rc;
}

static int one_cycle(struct crawling *l, const struct cli *cli, const struct cycle_opts *o,
                     bool goes_on, struct err *err)
{
	struct crawl_report r;
	struct json j;
	int rc;

	json_to_file(&j, stdout);
	progress_start(&l->progress, "fetching", "requests", 0);
	rc = crawl_cycle(l->store, &l->crawl, &r, err);
	progress_end(&l->progress);
	if (r.guarantee_broken)
		log_warn("the budget cannot keep --max-age: raise one of them");
	if (r.clock_behind > CLOCK_BEHIND)
		log_warn("the clock is %lld s behind cycle %u: is it right?",
		         (long long)r.clock_behind, r.cycle.number - 1);
	if (r.resumed)
		log_info("went on with cycle %u, which had been broken off", r.cycle.number);
	if (*r.explain && !l->shown)
		log_info("%s chose %s", r.policy, r.explain);
	if (r.cycle.number && (rc == 0 || rc == E_STOP || rc == E_NET)) {
		if (cli->common.json)
			print_json(&j, &r);
		else
			print_text(&r, !l->shown);
		l->shown = true;
		fflush(stdout);
		if (rc == 0 && o->report && (rc = write_report(l, cli, o, &r, err)) < 0 && goes_on) {
			log_warn("%s", err->text);      /* the cycles matter more */
			rc = 0;
		}
	}
	return rc;
}

static int cycle_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct crawling l = { 0 };
	int rc = cycle_open(&l, cli, opts, err);

	(void)n_args;
	(void)args;
	if (rc == 0)
		rc = one_cycle(&l, cli, opts, false, err);
	crawling_close(&l);
	return rc;
}

/* Seconds that no clock setting moves and no suspension of the machine stops. */
static double uptime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* False if a signal came before the time did. */
static bool wait_until(double when)
{
	while (!crawling_stopped() && uptime() < when) {
		double left = fmin(when - uptime(), 1);
		struct timespec t = { 0, (long)(fmin(fmax(left, 0), 0.999) * 1e9) + 1 };

		nanosleep(&t, NULL);    /* a signal ends it */
	}
	return !crawling_stopped();
}

/* When the slot after `slot` is due; of those that were missed, only the last. */
static double next_slot(double slot, double every, double now)
{
	double missed = floor((now - slot) / every);

	if (missed > 1)
		log_warn("the last cycle took as long as %.0f: %.0f left out", missed, missed - 1);
	return slot + every * fmax(missed, 1);
}

/* May the next slot go better? */
static bool is_passing(int rc, int64_t cycles)
{
	return rc == E_NET || (rc == E_BUSY && cycles > 0);
}

static int run_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct cycle_opts *o = opts;
	struct crawling l = { 0 };
	int rc = cycle_open(&l, cli, o, err);
	double slot = uptime();

	(void)n_args;
	(void)args;
	if (rc == 0 && o->every <= 0)
		rc = err_set(err, E_USAGE, "--every: must be longer than 0");
	l.crawl.keep = &l.fetch;        /* robots.txt and resting hosts are not forgotten */
	for (int64_t i = 0; rc == 0 && (!o->cycles || i < o->cycles); i++) {
		if (i && !o->web.now) {
			slot = next_slot(slot, (double)o->every, uptime());
			if (!wait_until(slot))
				break;
		}
		rc = one_cycle(&l, cli, o, true, err);
		if (is_passing(rc, i)) {
			log_warn("%s", err->text);
			rc = 0;
		}
		if (o->web.now)
			l.crawl.now += o->every;
	}
	crawling_close(&l);
	if (rc == 0 && crawling_stopped())
		rc = err_set(err, E_STOP, "stopped between two cycles");
	return rc;
}

const struct command command_cycle = {
	.name = "cycle",
	.arguments = "",
	.summary = "one cycle on the live web: plan, fetch, detect, archive, learn",
	.description =
		"The budget counts requests: pages, redirect hops and retries; robots.txt is counted\n"
		"apart. Hosts are asked politely (--delay, robots.txt, Retry-After). Only public\n"
		"addresses are asked, whatever names and redirects say; --allow-net opens networks of\n"
		"your own. The answers are in DIR/warc; a page that is gone or fails keeps its copy.\n\n"
		"SIGINT and SIGTERM finish what is in flight. A cycle that was broken off, also by a\n"
		"crash, is gone on with at the next start.",
	.examples =
		"  freshet -C crawl set contact mailto:crawl@example.org\n"
		"  freshet -C crawl cycle --budget 1000\n",
	.options = cycle_options,
	.opts_size = sizeof(struct cycle_opts),
	.run = cycle_run,
};

const struct command command_run = {
	.name = "run",
	.arguments = "",
	.summary = "cycles on the live web until told to stop",
	.description =
		"One cycle every --every, counted from the start of the first, whatever is done to the\n"
		"clock; a cycle that takes longer is followed by the next at once, and those that were\n"
		"due meanwhile are left out. A network that is down and a repository that another\n"
		"command is busy with are waited for. With --now the clock of the engine is moved by\n"
		"--every after each cycle and nothing is waited for.",
	.examples = "  freshet -C crawl run --every 12h --budget 5%\n",
	.options = run_options,
	.opts_size = sizeof(struct cycle_opts),
	.run = run_run,
};
