/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cycle.c - `freshet cycle` and `freshet run`: the live web.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/when.h"
#include "cli/cmd/crawl/cycle_opts.h"
#include "cli/print/crawl_print.h"
#include "cli/print/history_report.h"
#include "engine/book/last_cycle.h"

#define CLOCK_BEHIND 60         /* seconds; less is not reported */

static const struct option_spec cycle_options[] = { CYCLE_OPTIONS, OPT_END };
static const struct option_spec run_options[] = {
	CYCLE_OPTIONS,
	OPT_INT(cycle_opts, cycles, 0, 0, 1e9, "end after so many; 0: go on until stopped"),
	OPT_END
};

static const char *const cycle_needs[][2] = {
	{ "on_change_shell", "on_change" }, { "on_change_time", "on_change" }, { NULL, NULL },
};

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

static void on_doing(void *arg, const struct crawl_doing *now)
{
	struct crawling *l = arg;
	struct json j;

	if (l->progress.on)
		crawling_doing(l, now);
	if (!l->doing_to)
		return;
	json_to_file(&j, l->doing_to);
	crawl_print_doing(&j, now);
	fflush(l->doing_to);
}

static int one_cycle(struct crawling *l, const struct cli *cli, const struct cycle_opts *o,
                     bool goes_on, struct err *err)
{
	struct on_change run = cycle_what_to_run(cli, o, l);
	struct crawl_report r;
	struct json j;
	int rc;

	json_to_file(&j, stdout);
	progress_start(&l->progress, "fetching", "requests", 0);
	l->crawl.doing = l->progress.on || l->doing_to ? on_doing : NULL;
	rc = crawl_cycle(l->store, &l->crawl, &r, err);
	l->crawl.anew = false;          /* the next start resumes this cycle */
	progress_end(&l->progress);
	crawling_warn(l, &r);
	if (r.guarantee_broken)
		log_warn("the budget cannot keep --max-age: raise one of them");
	if (r.resting && l->crawl.max_age)
		log_info("--max-age does not hold for %u page%s after failures", r.resting,
		         r.resting == 1 ? " that rests" : "s that rest");
	if (r.clock_behind > CLOCK_BEHIND) {
		char by[24];

		duration_format(r.clock_behind, by);
		log_warn("the clock is %s behind cycle %u: is it right?", by, r.cycle.number - 1);
	}
	if (r.taken_off)
		log_info("%u requests were taken off the budget: cycles before spent them beyond theirs",
		         r.taken_off);
	if (r.late)
		log_info("%u pages were not asked for: the time of the cycle (--cycle-time, or the next "
		         "one is due), or of their host (--host-time), was over", r.late);
	if (r.moved)
		log_info("%u page%s moved for good, and %s followed from now on: `freshet moved` lists "
		         "them", r.moved, r.moved == 1 ? " has" : "s have", r.moved == 1 ? "is" : "are");
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
		if (rc == 0)
			rc = on_change_run(&run, l->store, r.cycle.number, err);
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
	care_rules_release(&((struct cycle_opts *)opts)->care);
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

/* The first slot: now, or when the cycle before this program has lasted --every. */
static int first_slot(struct crawling *l, const struct cycle_opts *o, double *ret,
                      struct err *err)
{
	int64_t wait = 0;
	int rc = o->web.now || o->new_cycle ? 0 :
	         last_cycle_wait(l->store, o->every, clock_now(), &wait, err);
	char left[24];

	*ret = uptime() + (double)wait;
	if (rc == 0 && wait) {
		duration_format(wait, left);
		log_info("the next cycle is due in %s (--every); `freshet cycle` makes one now", left);
	}
	return rc;
}

static int run_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct cycle_opts *o = opts;
	struct crawling l = { 0 };
	int rc = cycle_open(&l, cli, o, err);
	double slot = 0;

	(void)n_args;
	(void)args;
	if (rc == 0 && o->every <= 0)
		rc = err_set(err, E_USAGE, "--every: must be longer than 0");
	if (rc == 0)
		rc = first_slot(&l, o, &slot, err);
	l.crawl.fetcher = &l.fetch;     /* it remembers robots.txt and resting hosts */
	l.crawl.resumed = &l.resumed;   /* and the engine with what it has learnt */
	for (int64_t i = 0; rc == 0 && (!o->cycles || i < o->cycles); i++) {
		if (i && !o->web.now)
			slot = next_slot(slot, (double)o->every, uptime());
		if (!o->web.now && !wait_until(slot))
			break;
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
	care_rules_release(&o->care);
	if (rc == 0 && crawling_stopped())
		rc = err_set(err, E_STOP, "stopped between two cycles");
	return rc;
}

const struct command command_cycle = {
	.name = "cycle",
	.reach = MAY_CONNECT,
	.on_fleet = FLEET_ONE,
	.fleet_instead = "`freshet work` runs cycles on all of them",
	.arguments = "",
	.summary = "one cycle on the live web: plan, fetch, detect, archive, learn",
	.description =
		"The budget counts requests: pages, redirect hops and retries; robots.txt is counted\n"
		"apart, but for that of sites to which only redirects lead. Hosts are asked politely\n"
		"(--delay, robots.txt, Retry-After); a site that wants longer pauses than --crawl-delay\n"
		"is skipped. Only public addresses and ports of the web are asked, whatever names and\n"
		"redirects say; --allow-net opens networks of your own. The answers are in DIR/warc; a\n"
		"page that is gone or fails keeps its copy.\n\n"
		"SIGINT and SIGTERM finish what is in flight; a second one stops at once. A cycle that\n"
		"was broken off, also by a crash, is gone on with at the next start, with its own budget,\n"
		"policy and aim; --new ends it and begins another. Pages that were under way at a crash are\n"
		"not asked for again in that cycle (`lapsed`); the second time in a row it counts as a\n"
		"failure of the page.\n\n"
		"--credentials names a file as .netrc is, of mode 600: `machine example.org login ME\n"
		"password SECRET`, `machine example.org:8443 bearer TOKEN` or `machine example.org header\n"
		"\"X-Api-Key: KEY\"`. An entry holds for https at that host and port and for nothing else;\n"
		"plain http is written http://HOST. --cookies names a file of Netscape's format. Neither is\n"
		"sent to where redirects lead, unless that is theirs, too; what servers say back of them is\n"
		"masked, and the archive has requests without them.\n\n"
		"--on-change runs a program of yours when the cycle is over, if it found pages new,\n"
		"changed or gone: their list, as `freshet export changed` writes it, is its standard\n"
		"input. FRESHET_CYCLE and FRESHET_REPOSITORY are in its environment. Words are parted\n"
		"by blanks, and no shell reads them unless --on-change-shell is given. What it fails\n"
		"at is reported and does not end the crawl.",
	.examples =
		"  freshet -C crawl set contact mailto:crawl@example.org\n"
		"  freshet -C crawl cycle --budget 1000\n"
		"  freshet -C crawl cycle --credentials logins --header 'Accept-Language: de'\n"
		"  freshet -C crawl cycle --user-agent mybot/1.0 --accept 'text/*' --limit-rate 500k\n",
	.options = cycle_options,
	.opts_size = sizeof(struct cycle_opts),
	.needs = cycle_needs,
	.exits = "0 done; a spent budget is done, and so is a cycle in which pages failed\n"
		"4 nothing at all could be reached\n"
		"130 interrupted: all that was fetched is kept, and the next start goes on\n",
	.run = cycle_run,
};

const struct command command_run = {
	.name = "run",
	.reach = MAY_CONNECT,
	.on_fleet = FLEET_ONE,
	.fleet_instead = "`freshet work` runs cycles on all of them",
	.arguments = "",
	.summary = "cycles on the live web until told to stop",
	.description =
		"One cycle every --every, counted from the start of the first, whatever is done to the\n"
		"clock. The first begins at once; if the repository had a cycle less than --every ago, it\n"
		"begins when that time is over, so a program that is started again keeps to the budget\n"
		"(--new does not wait). A cycle ends when the next is due: pages that were not asked for\n"
		"by then are left alone, and what is under way is cut. With a longer --cycle-time the next\n"
		"follows at once, and those that were due meanwhile are left out. A network that is down\n"
		"and a repository that another command is busy with are waited for. With --now the clock\n"
		"of the engine is moved by --every after each cycle and nothing is waited for.\n"
		"--on-change: see `freshet help cycle`.",
	.examples = "  freshet -C crawl run --every 12h --budget 5%\n"
	            "  freshet -C crawl run --every 1h --on-change 'tee -a changes.jsonl'\n",
	.options = run_options,
	.opts_size = sizeof(struct cycle_opts),
	.needs = cycle_needs,
	.exits = "0 all cycles of --cycles are done\n"
		"130 interrupted: all that was fetched is kept, and the next start goes on\n",
	.run = run_run,
};
