/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cycle.c - `freshet cycle` and `freshet run`: the live web.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "cli/frame/crawling.h"
#include "cli/print/crawl_print.h"
#include "cli/print/history_report.h"

#define CLOCK_BEHIND 60         /* seconds; less is not reported */

struct cycle_opts {
	struct web_opts web;
	const char *policy, *detect, *stem;
	struct share budget, site_share, retry_share;
	int64_t every, max_age, cycles, confirmations, cycle_time, host_time;
	int words, aim, weight;
	bool no_requests, new_cycle;
	struct share discover;
	bool discover_nofollow;
	int64_t discover_per_directory, discover_per_site;
	struct option_list ignore;
	const char *report;
};

#define CYCLE_OPTIONS \
	SETTING(cycle_opts, "policy", policy, OPTION_TEXT, "auto", "SPEC", \
	        "the policy: name or name:key=value,..."), \
	SETTING_AIM(cycle_opts), \
	SETTING(cycle_opts, "budget", budget, OPTION_SHARE, "2%", "N|N%", \
	        "requests of a cycle, as a number or a share of the pages"), \
	SETTING(cycle_opts, "every", every, OPTION_DURATION, "1d", "DURATION", \
	        "time between cycles"), \
	SETTING(cycle_opts, "cycle_time", cycle_time, OPTION_DURATION, NULL, "DURATION", \
	        "a cycle ends after it, whatever is left; default: under `run` when the next " \
	        "is due, else it has no end"), \
	SETTING(cycle_opts, "host_time", host_time, OPTION_DURATION, NULL, "DURATION", \
	        "a host's part of a cycle ends after it, whatever is left of it"), \
	SETTING(cycle_opts, "max_age", max_age, OPTION_DURATION, NULL, "DURATION", \
	        "no page stays unvisited longer"), \
	SETTING(cycle_opts, "site_share", site_share, OPTION_SHARE, NULL, "N|N%", \
	        "no domain gets more of a cycle, unless it has more of the pages; default: " \
	        "its share of the pages and half of the rest"), \
	SETTING(cycle_opts, "retry_share", retry_share, OPTION_SHARE, "5%", "N|N%", \
	        "pages that failed and have rested get at most this part of a cycle, one request " \
	        "at least"), \
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
	{ .name = "new", .type = OPTION_FLAG, .offset = offsetof(struct cycle_opts, new_cycle), \
	  .help = "end a cycle that was broken off, and begin a new one" }, \
	OPT_TEXT(cycle_opts, report, NULL, "FILE", \
	         "show it and the history of the repository in one HTML file, too")

static const struct option_spec cycle_options[] = { CYCLE_OPTIONS, OPT_END };
static const struct option_spec run_options[] = {
	CYCLE_OPTIONS,
	OPT_INT(cycle_opts, cycles, 0, 0, 1e9, "end after so many; 0: go on until stopped"),
	OPT_END
};

/* Called before the first request. */
static void on_goes_on(void *arg, const struct crawl_report *r)
{
	const struct store_cycle *c = &r->cycle;
	uint32_t left = c->budget - (c->downloads < c->budget ? c->downloads : c->budget);

	(void)arg;
	log_info("going on with cycle %u, which had been broken off: %u of its %u requests are "
	         "left, and its policy is %s. A budget or policy given now is not used; --new ends "
	         "this cycle and begins another", c->number, left, c->budget, r->policy);
	if (r->lapsed)
		log_warn("%u pages were under way when it was broken off: their requests are spent, and "
		         "this cycle does not ask for them again (lapsed)", r->lapsed);
}

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
	c->crawl.anew = o->new_cycle;
	c->crawl.goes_on = on_goes_on;
	c->crawl.aim = (enum aim)o->aim;
	c->crawl.weight = (enum weight_by)o->weight;
	c->crawl.words = (enum crawl_words)o->words;
	c->crawl.stem = o->stem;
	c->crawl.no_requests = o->no_requests;
	c->crawl.discover = (struct discover_opts){ o->discover,
		(uint32_t)o->discover_per_directory, (uint32_t)o->discover_per_site,
		o->discover_nofollow };
	c->crawl.budget = o->budget;
	c->crawl.site_share = o->site_share;
	c->crawl.retry_share = o->retry_share;
	c->crawl.cycle_seconds = o->every;
	if (rc == 0)
		rc = guarantee_cycles(o->max_age, o->every, &c->crawl.max_age, err);
	c->crawl.confirmations = (unsigned)o->confirmations;
	c->crawl.fetch.cycle_seconds = (double)o->cycle_time;
	c->crawl.fetch.host_seconds = (double)o->host_time;
	return rc;
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
	crawl_print_json(report_json(&r), c);
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
	l->crawl.left = l->progress.on ? crawling_left : NULL;
	rc = crawl_cycle(l->store, &l->crawl, &r, err);
	l->crawl.anew = false;          /* the next start resumes this cycle */
	progress_end(&l->progress);
	crawling_warn(l, &r);
	if (r.guarantee_broken)
		log_warn("the budget cannot keep --max-age: raise one of them");
	if (r.resting && l->crawl.max_age)
		log_info("--max-age does not hold for %u page%s after failures", r.resting,
		         r.resting == 1 ? " that rests" : "s that rest");
	if (r.clock_behind > CLOCK_BEHIND)
		log_warn("the clock is %lld s behind cycle %u: is it right?",
		         (long long)r.clock_behind, r.cycle.number - 1);
	if (r.late)
		log_info("%u pages were not asked for: the time of the cycle (--cycle-time, or the next "
		         "one is due), or of their host (--host-time), was over", r.late);
	if (*r.explain && !l->shown)
		log_info("%s chose %s", r.policy, r.explain);
	if (r.cycle.number && (rc == 0 || rc == E_STOP || rc == E_NET)) {
		if (cli->common.json)
			crawl_print_json(&j, &r);
		else
			crawl_print_table(&r, !l->shown);
		l->shown = true;
		fflush(stdout);
		if (rc == 0 && o->report && (rc = write_report(l, cli, o, &r, err)) < 0 && goes_on) {
			log_warn("%s", err->text);      /* a report that fails does not stop the cycles */
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

/* Seconds of a clock that nobody can set, and that runs while the machine is suspended.
 * */
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

/* The time of the next slot; of missed slots only the last is made up for. */
static double next_slot(double slot, double every, double now)
{
	double missed = floor((now - slot) / every);

	if (missed > 1)
		log_warn("the last cycle took as long as %.0f: %.0f left out", missed, missed - 1);
	return slot + every * fmax(missed, 1);
}

/* A cycle must end when the next slot is due.  One that began late (the machine slept, or
 * planning took long) may last until the slot after that. */
static double slot_seconds(double slot, double every, double now)
{
	double left = slot + every - now;

	return left > every / 2 ? left : left + every;
}

/* May the error be gone in the next slot? */
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
	l.crawl.keep = &l.fetch;        /* keep robots.txt and resting hosts from cycle to cycle */
	for (int64_t i = 0; rc == 0 && (!o->cycles || i < o->cycles); i++) {
		if (i && !o->web.now) {
			slot = next_slot(slot, (double)o->every, uptime());
			if (!wait_until(slot))
				break;
		}
		if (!o->cycle_time && !o->web.now)
			l.crawl.fetch.cycle_seconds = slot_seconds(slot, (double)o->every, uptime());
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
		"apart, but for that of sites to which only redirects lead. Hosts are asked politely\n"
		"(--delay, robots.txt, Retry-After); a site that wants longer pauses than --crawl-delay\n"
		"is skipped. Only public addresses and ports of the web are asked, whatever names and\n"
		"redirects say; --allow-net opens networks of your own. The answers are in DIR/warc; a page that is gone or fails keeps its copy.\n\n"
		"SIGINT and SIGTERM finish what is in flight; a second one stops at once. A cycle that\n"
		"was broken off, also by a crash, is gone on with at the next start, with its own budget\n"
		"and policy; --new ends it and begins another. Pages that were under way at a crash are\n"
		"not asked for again in that cycle (`lapsed`); the second time in a row it counts as a\n"
		"failure of the page.",
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
		"clock. A cycle ends when the next is due: pages that were not asked for by then are left\n"
		"alone, and what is under way is cut. With a longer --cycle-time the next follows at once,\n"
		"and those that were due meanwhile are left out. A network that is down and a repository that another\n"
		"command is busy with are waited for. With --now the clock of the engine is moved by\n"
		"--every after each cycle and nothing is waited for.",
	.examples = "  freshet -C crawl run --every 12h --budget 5%\n",
	.options = run_options,
	.opts_size = sizeof(struct cycle_opts),
	.run = run_run,
};
