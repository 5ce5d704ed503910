/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_live.c - `freshet live`: which pages of an old crawl or list still live.
 *
 * Files are imported into the repository, which is made if it is not there; the
 * run is a cycle of it with goal alive (engine/crawl/life.h).  The list goes to standard
 * output and the table to standard error, or with -o the list to a file and the
 * table to standard output.
 */
#include <stdio.h>

#include "base/io/output.h"
#include "cli/frame/crawling.h"
#include "cli/print/live_print.h"
#include "cli/report/report.h"
#include "engine/import/import.h"

struct live_args {
	struct web_opts web;
	const char *policy, *order, *part, *output, *report;
	struct share budget, sample;
	double target;
	int format, method;
	bool sample_only, again;
};

static const struct option_spec live_options[] = {
	OPT_DOUBLE(live_args, target, 0.8, 0, 1, "end when this share of what lives is found, by the "
	           "upper end of the estimate; 0: test everything"),
	OPT_SHARE(live_args, budget, NULL, "end after so many requests, as a number or a share of "
	          "the pages; without --target nothing else ends it"),
	OPT_TEXT(live_args, order, NULL, "NAME[:...]",
	         "a LiveRank order: random, indegree, pagerank, alive, alive-dead, site, bfs, "
	         "alive-indegree, with :sample=N|N%,by=... as in `freshet rank`"),
	OPT_TEXT(live_args, policy, "auto", "SPEC",
	         "any other policy; auto is evidence, which learns from URLs and links"),
	OPT_SHARE(live_args, sample, NULL, "most pages of the random sample that the estimate rests "
	          "on; default: until 200 live, at least 100 and 1 %, "
	          "at most 15 % (or 100, if that is more)"),
	OPT_TEXT(live_args, part, NULL, "I/P",
	         "be the I-th of P crawlers that share a static or sample-based order"),
	OPT_FLAG(live_args, sample_only, "end when the random sample is tested"),
	OPT_CHOICE(live_args, method, "head|get", "head",
	           "ask by HEAD where that is enough, or always by GET"),
	OPT_FLAG(live_args, again, "begin anew instead of going on with the last run"),
	OPT_CHOICE(live_args, format, "urls|jsonl|cdxj", "urls", "how the living are listed"),
	{ .name = "output", .type = OPTION_TEXT, .offset = offsetof(struct live_args, output),
	  .arg = "FILE", .letter = 'o', .written = true, .help = "where the living are listed; .gz and .zst are "
	  "compressed" },
	OPT_OUTPUT(live_args, report, NULL, "FILE", "show it in one HTML file, too"),
	WEB_OPTIONS(live_args),
	OPT_END
};

/* Import the files into the repository; importing twice does no harm. */
static int import_files(struct crawling *c, struct cli *cli, int n, char **files,
                        struct err *err)
{
	uint64_t n_warned = 0;
	struct import i = { .store = c->store, .folder = cli->common.repository,
	                    .now = clock_now(), .report = log_warn_few, .arg = &n_warned };
	struct import_settings *as;
	int rc = import_settings_load(&as, &i, err);

	i.latest = i.now + IMPORT_FUTURE;
	for (int k = 0; k < n && rc >= 0; k++)
		rc = import_file(&i, files[k], err);
	import_settings_free(as);
	if (i.stats.n_pages)
		log_info("%llu new pages", (unsigned long long)i.stats.n_pages);
	return rc;
}

/* The policy: --policy, or the order as one; the part is an option of it. */
static int make_spec(const struct live_args *o, const struct cli *cli, struct buf *spec,
                     struct err *err)
{
	unsigned part = 0, parts = 0;
	char end;

	if (o->order && cli_given(cli, "policy"))
		return err_set(err, E_USAGE, "--order and --policy: give one of them");
	if (o->order)
		buf_printf(spec, "liverank:order=%.*s%s%s", (int)strcspn(o->order, ":"), o->order,
		           strchr(o->order, ':') ? "," : "",
		           strchr(o->order, ':') ? strchr(o->order, ':') + 1 : "");
	else
		buf_str(spec, o->policy);
	if (!o->part)
		return 0;
	if (sscanf(o->part, "%u/%u%c", &part, &parts, &end) != 2 || !part || part > parts ||
	    parts > 65536)
		return err_set(err, E_USAGE, "--part: I/P with I from 1 to P, as 2/3");
	if (strncmp(buf_text(spec), "liverank", 8))
		return err_set(err, E_USAGE, "--part needs a static or sample-based --order: of one "
		               "that learns from every answer no part is known beforehand");
	buf_printf(spec, "%spart=%u,parts=%u", strchr(buf_text(spec), ':') ? "," : ":", part - 1,
	           parts);
	return 0;
}

static int set_live(struct crawling *c, struct cli *cli, const struct live_args *o,
                    const char *policy, struct err *err)
{
	int rc = crawling_set(c, cli, &o->web, err);

	c->crawl.goal = GOAL_ALIVE;
	c->crawl.policy = policy;
	c->crawl.budget = o->budget;
	c->crawl.cycle_seconds = DAY_SECONDS;
	c->crawl.life = (struct life_opts){
		.target = o->budget.value > 0 && !cli_given(cli, "target") ? 0 : o->target,
		.estimate = !cli_given(cli, "target") || o->target > 0, .sample = o->sample,
		.sample_only = o->sample_only, .get_first = o->method == 1,
		.again = o->again,
	};
	return rc;
}

/* Write the list to its file, or to standard output. */
static int write_list(struct crawling *c, const struct cli *cli, const struct live_args *o,
                      uint32_t cycle, struct err *err)
{
	struct output *out;
	int rc;

	if (cli->common.json && !o->output)
		return 0;
	rc = output_open(&out, o->output, err);
	if (rc < 0)
		return rc;
	rc = live_print_list(c->store, cycle, (enum live_format)o->format,
	                     cli->common.repository, output_file(out), err);
	if (rc < 0) {
		output_abandon(out);
		return rc;
	}
	return output_close(out, err);
}

static int write_report(const struct cli *cli, const char *path, const struct crawl_report *r,
                        const struct life_opts *live, struct err *err)
{
	const struct life_report *l = &r->life;
	char title[80], n[3][32];
	struct report_head head = { title, cli->line, clock_now() };
	struct report report;
	int rc;

	snprintf(title, sizeof title, "What still lives of %s pages", report_count(l->pages, n[0]));
	report_init(&report);
	live_print_json(report_json(&report), r, live);
	report_say(&report, "%s pages live, found with %s requests.", report_count(l->alive, n[0]),
	           report_count(life_requests(l, r->cycle.downloads), n[1]));
	if (l->estimated)
		report_say(&report, "By the random sample %s live, %s to %s.",
		           report_count(l->estimate, n[0]), report_count(l->low, n[1]),
		           report_count(l->high, n[2]));
	rc = report_write(&report, path, &head, err);
	report_release(&report);
	return rc;
}

static int live_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct live_args *o = opts;
	struct crawling c = { 0 };
	struct crawl_report r = { 0 };
	struct err listing;
	struct buf spec;
	struct json j;
	int rc = report_check(o->report, err), rc2;

	buf_init(&spec, 1000);
	json_to_file(&j, stdout);
	if (rc == 0)
		rc = n_args ? repository_create(cli, cli->common.repository, &c.store, err) :
		     repository_open(cli, &c.store, err);
	if (rc == 0)
		rc = repository_settings(cli, c.store, &c.texts, err);
	if (rc == 0)
		rc = make_spec(o, cli, &spec, err);
	if (rc == 0)
		rc = set_live(&c, cli, o, buf_text(&spec), err);
	if (rc == 0)
		rc = import_files(&c, cli, n_args, args, err);
	if (rc == 0) {
		progress_start(&c.progress, "looking for life", "pages", 0);
		rc = crawl_cycle(c.store, &c.crawl, &r, err);
		progress_end(&c.progress);
		crawling_warn(&c, &r);
	}
	if (r.resumed && (rc == 0 || rc == E_STOP || rc == E_NET))
		log_info("went on with run %u, by %s; --again starts anew", r.cycle.number, r.policy);
	if (*r.explain)
		log_info("%s chose %s", r.policy, r.explain);
	if (r.cycle.number && (rc == 0 || rc == E_STOP || rc == E_NET)) {
		rc2 = write_list(&c, cli, o, r.cycle.number, rc < 0 ? &listing : err);
		if (cli->common.json)
			live_print_json(&j, &r, &c.crawl.life);
		else
			live_print_table(&r, &c.crawl.life, o->output ? stdout : stderr);
		fflush(stdout);
		rc = rc < 0 ? rc : rc2;
		if (rc == 0 && o->report)
			rc = write_report(cli, o->report, &r, &c.crawl.life, err);
	}
	buf_release(&spec);
	crawling_close(&c);
	return rc;
}

const struct command command_live = {
	.name = "live",
	.reach = MAY_CONNECT | MAY_READ_ARGS,
	.on_fleet = FLEET_ONE,
	.fleet_instead = "of each shard on its own",
	.arguments = "[FILE...]",
	.summary = "find what still lives of an old crawl or list, with few requests",
	.description =
		"FILE is a URL list, CDX, CDXJ, WARC, sitemap, list of links or adjacency file; it is\n"
		"imported into the repository, which is made if there is none. Without one, the pages\n"
		"of the repository are tested.\n\n"
		"A random sample comes first: it says how many pages live, with a 95 % interval. Then\n"
		"pages are tested in the order of the policy until --target of the interval's upper\n"
		"end is found, or the budget is spent. A test is a HEAD, and a GET where HEAD does not\n"
		"tell; pages that say \"page not found\" or \"error 404\", or that answer as a sibling\n"
		"with a made-up name does, are soft 404s and dead. A redirect counts once for the place\n"
		"it leads to. The budget counts requests for pages; robots.txt and siblings are counted\n"
		"apart, and in the cost.\n\n"
		"The living are listed on standard output, or in the file of -o. A run that was broken\n"
		"off, or ended too early, is gone on with by the next start; several crawlers can share\n"
		"an order by --part, from copies of one repository in which --sample-only was run.",
	.examples =
		"  freshet -C old live links.txt --target 0.8 > alive.txt\n"
		"  freshet -C old live --order alive-dead:sample=1% --budget 10000 -o alive.cdxj "
		"--format cdxj\n",
	.options = live_options,
	.opts_size = sizeof(struct live_args),
	.n_args_min = 0,
	.n_args_max = -1,
	.exits = "0 done; so is a budget that was spent before the target\n"
		"4 nothing at all could be reached\n"
		"130 interrupted: all that was fetched is kept, and the next start goes on\n",
	.run = live_run,
};
