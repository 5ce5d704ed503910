/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `freshet report`: a repository's own history in one HTML file. */
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "cli/print/history_report.h"
#include "engine/book/touch.h"

struct report_opts {
	const char *out, *policy;
	int64_t every, clusters, max_age, now;
	struct share budget, site_share, retry_share, notifier_share;
	int aim, weight;
};

static const struct option_spec report_options[] = {
	OPT_OUTPUT(report_opts, out, "freshet-report.html", "FILE", "the file to write"),
	{ .name = "report", .type = OPTION_TEXT, .arg = "FILE", .written = true, .help = "the same, as other "
	  "commands call it", .offset = offsetof(struct report_opts, out) },
	OPT_INT(report_opts, clusters, 12, 0, 1000, "clusters of pages to show, of at most 100,000 "
	        "chosen by chance; 0: none"),
	{ .name = "policy", .type = OPTION_TEXT, .def = "auto", .arg = "SPEC",
	  .offset = offsetof(struct report_opts, policy), .setting = true,
	  .help = "what the next cycle goes by; the sites show its probabilities, if it can say "
	          "them" },
	{ .name = "budget", .type = OPTION_SHARE, .def = "2%", .arg = "N|N%",
	  .offset = offsetof(struct report_opts, budget), .setting = true,
	  .help = "of the next cycle" },
	{ .name = "max-age", .type = OPTION_DURATION, .arg = "DURATION",
	  .offset = offsetof(struct report_opts, max_age), .setting = true,
	  .help = "no page stays unvisited longer" },
	{ .name = "site-share", .type = OPTION_SHARE, .arg = "N|N%",
	  .offset = offsetof(struct report_opts, site_share), .setting = true,
	  .help = "of the next cycle that a domain may have" },
	{ .name = "notifier_share", .type = OPTION_SHARE, .def = TOUCH_SHARE, .arg = "N|N%",
	  .offset = offsetof(struct report_opts, notifier_share), .setting = true,
	  .help = "pages that a notifier touched get at most this part of a cycle, for each "
	          "notifier" },
	{ .name = "retry_share", .type = OPTION_SHARE, .def = "5%", .arg = "N|N%",
	  .offset = offsetof(struct report_opts, retry_share), .setting = true,
	  .help = "of the next cycle that pages may have which failed and have rested" },
	SETTING_AIM(report_opts),
	OPT_TIME(report_opts, now, NULL, "as if it were this time"),
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION",
	  .offset = offsetof(struct report_opts, every), .setting = true,
	  .help = "time between cycles" },
	OPT_END
};

static void print_done(const struct cli *cli, const struct report *r, const char *path)
{
	struct json j;

	if (!cli->common.json) {
		printf("%s\nreport: %s\n", buf_text(&r->verdict), path);
		return;
	}
	cli_json_begin(&j, "report");
	json_kstr(&j, "report", path);
	json_kstr(&j, "verdict", buf_text(&r->verdict));
	cli_json_end(&j);
}

static int write_report(struct cli *cli, struct store *s, const struct report_opts *o,
                        struct err *err)
{
	struct progress progress = { 0 };
	struct planning_opts next = {
		.resume = { .policy = o->policy, .seed = (uint64_t)cli->common.seed,
		            .aim = (enum aim)o->aim, .weight = (enum weight_by)o->weight,
		            .cycle_seconds = o->every, .progress = &progress,
		            .snapshot = repository_is_usual(cli) },
		.budget = o->budget, .max_age = o->max_age, .site_share = o->site_share,
		.retry_share = o->retry_share, .notifier_share = o->notifier_share,
		.now = o->now ? o->now : clock_now(),
	};
	struct history_report_opts ho = {
		.policy = o->policy, .cycle_seconds = o->every, .seed = (uint64_t)cli->common.seed,
		.clusters = (uint32_t)o->clusters, .verdict = true,
		.folder = cli->common.repository, .plan = &next, .progress = &progress,
	};
	char title[300];
	struct report_head head = { title, cli->line, clock_now() };
	struct report r;
	struct buf out;
	int rc;

	snprintf(title, sizeof title, "The repository %s", cli->common.repository);
	if (shards_count(cli) > 1)
		snprintf(title, sizeof title, "The repository %.200s, shard %d", cli->common.repository,
		         cli->shard);
	buf_init(&out, BUF_NO_LIMIT);
	shards_file(cli, o->out, &out);
	report_init(&r);
	rc = history_report_add(&r, s, &ho, err);
	if (rc == 0)
		rc = report_write(&r, buf_text(&out), &head, err);
	if (rc == 0)
		print_done(cli, &r, buf_text(&out));
	report_release(&r);
	buf_release(&out);
	return rc;
}

static int report_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct report_opts *o = opts;
	struct arena texts = { 0 };
	struct store *s;
	int rc = report_check(o->out, err);

	if (n_args)
		cli->common.repository = args[0];
	if (rc < 0 || (rc = repository_read(cli, &s, err)) < 0)
		return rc;
	rc = repository_settings(cli, s, &texts, err);
	if (rc == 0)
		rc = write_report(cli, s, o, err);
	store_close(s);
	arena_release(&texts);
	return rc;
}

const struct command command_report = {
	.name = "report",
	.on_fleet = FLEET_EACH,
	.reach = MAY_READ_ARGS,
	.arguments = "[DIR]",
	.summary = "the repository's own history in one HTML file",
	.description =
		"What the cycles found, the latest changes with the first lines that differ, pages that\n"
		"fail or were never reached, what the next cycle will take, the sites and how often they\n"
		"change, and the clusters of pages, as charts with the tables behind them. The file is\n"
		"complete in itself: it opens without a server and asks nothing of the network. `replay`,\n"
		"`rank`, `cluster`, `cycle`, `run`, `live` and `demo` write such a file of their results\n"
		"with --report FILE. Of a fleet, a file for each shard: freshet-report-shard-K.html.",
	.examples =
		"  freshet report crawl --out crawl.html\n"
		"  freshet -C crawl report --clusters 0\n",
	.options = report_options,
	.opts_size = sizeof(struct report_opts),
	.n_args_min = 0,
	.n_args_max = 1,
	.run = report_run,
};
