/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_ask.c - `freshet ask` and `freshet end`: pages for other crawlers. */
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "cli/print/ask_print.h"
#include "engine/book/touch.h"
#include "engine/client/client.h"

struct ask_opts {
	const char *policy, *client, *agent;
	struct share budget, site_share, retry_share, notifier_share;
	int64_t every, now, max_age, count, seconds, per_host, max_requests;
	int aim, weight, format;
	double delay;
	bool new_cycle;
};

enum format { FORMAT_JSONL, FORMAT_URLS };

static const struct option_spec ask_options[] = {
	{ .name = "count", .type = OPTION_INT, .def = "100", .min = 1, .max = CLIENT_WANT_MAX,
	  .arg = "N", .offset = offsetof(struct ask_opts, count), .help = "pages, at most" },
	{ .name = "for", .type = OPTION_DURATION, .def = "30m", .arg = "DURATION",
	  .offset = offsetof(struct ask_opts, seconds),
	  .help = "time to tell of them; what is not told by then has lapsed" },
	OPT_TEXT(ask_opts, client, NULL, "NAME",
	         "who asks: asking again, it gets first what it has not told"),
	OPT_TEXT(ask_opts, agent, NULL, "TOKEN",
	         "its product token in robots.txt, for `robots` of the offers; without one the "
	         "rules for all robots are looked at"),
	{ .name = "per_host", .type = OPTION_INT, .def = "0", .min = 0, .max = 1e9, .arg = "N",
	  .offset = offsetof(struct ask_opts, per_host),
	  .help = "pages of one host in the hands of this client at a time; 0: any number" },
	{ .name = "max_requests", .type = OPTION_INT, .def = "1", .min = 1, .max = 1000,
	  .arg = "N", .offset = offsetof(struct ask_opts, max_requests),
	  .help = "requests held for each page, its redirects included" },
	{ .name = "policy", .type = OPTION_TEXT, .def = "auto", .arg = "SPEC",
	  .offset = offsetof(struct ask_opts, policy), .setting = true,
	  .help = "the policy: name or name:key=value,..." },
	SETTING_AIM(ask_opts),
	{ .name = "budget", .type = OPTION_SHARE, .def = "2%", .arg = "N|N%",
	  .offset = offsetof(struct ask_opts, budget), .setting = true,
	  .help = "requests of a cycle, as a number or a share of the pages" },
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION",
	  .offset = offsetof(struct ask_opts, every), .setting = true,
	  .help = "time between cycles: an open one ends when the next is due" },
	{ .name = "max_age", .type = OPTION_DURATION, .arg = "DURATION",
	  .offset = offsetof(struct ask_opts, max_age), .setting = true,
	  .help = "no page stays unvisited longer" },
	{ .name = "site_share", .type = OPTION_SHARE, .arg = "N|N%",
	  .offset = offsetof(struct ask_opts, site_share), .setting = true,
	  .help = "no domain gets more of a cycle, unless it has more of the pages; default: "
	          "its share of the pages and half of the rest" },
	{ .name = "notifier_share", .type = OPTION_SHARE, .def = TOUCH_SHARE, .arg = "N|N%",
	  .offset = offsetof(struct ask_opts, notifier_share), .setting = true,
	  .help = "pages that a notifier touched get at most this part of a cycle, for each "
	          "notifier" },
	{ .name = "retry_share", .type = OPTION_SHARE, .def = "5%", .arg = "N|N%",
	  .offset = offsetof(struct ask_opts, retry_share), .setting = true,
	  .help = "pages that failed and have rested get at most this part of a cycle, one "
	          "request at least" },
	{ .name = "delay", .type = OPTION_SECONDS, .def = "1s", .min = 0, .max = 3600,
	  .arg = "DURATION", .offset = offsetof(struct ask_opts, delay), .setting = true,
	  .help = "pause between requests to one host, over all clients (not_before)" },
	OPT_CHOICE(ask_opts, format, "jsonl|urls", "jsonl",
	           "JSON Lines with all that is known; or URLs only"),
	{ .name = "new", .type = OPTION_FLAG, .offset = offsetof(struct ask_opts, new_cycle),
	  .help = "end a cycle that is open, and begin a new one" },
	OPT_TIME(ask_opts, now, NULL, "the engine's clock, for trials"),
	OPT_END
};

static void print_asked(const struct cli *cli, const struct client_asked *r, int format)
{
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, "ask");
		ask_print_json(&j, r);
		cli_json_end(&j);
		return;
	}
	json_to_file(&j, stdout);
	for (size_t i = 0; i < r->n; i++)
		if (format == FORMAT_URLS)
			puts(r->offers[i].url);
		else
			ask_print_offer(&j, &r->offers[i]);
	if (!r->n && format == FORMAT_JSONL)
		ask_print_none(&j, r);
}

/* The client of a command; the store is open and its settings are in the options. */
static void open_client(struct client **ret, struct store *s, const struct cli *cli,
                        const struct ask_opts *o)
{
	struct client_opts co = {
		.policy = o->policy, .seed = (uint64_t)cli->common.seed, .budget = o->budget,
		.rules = { .aim = (enum aim)o->aim, .weight = (enum weight_by)o->weight,
		           .every = o->every, .max_age = o->max_age,
		           .site_share = o->site_share, .retry_share = o->retry_share },
		.notifier_share = o->notifier_share,
		.delay = o->delay,
	};

	client_open(ret, s, &co);
}

static int ask_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct ask_opts *o = opts;
	struct client_asked r = { 0 };
	struct client *c = NULL;
	struct store *store = NULL;
	struct arena texts = { 0 };
	int rc = repository_open(cli, &store, err);

	(void)n_args;
	(void)args;
	if (rc == 0)
		rc = repository_settings(cli, store, &texts, err);
	if (rc == 0 && o->seconds <= 0)
		rc = err_set(err, E_USAGE, "--for: must be longer than 0");
	if (rc == 0) {
		struct client_asking a = {
			.name = o->client, .agent = o->agent, .want = (uint32_t)o->count,
			.seconds = o->seconds,
			.per_host = (uint32_t)o->per_host, .max_requests = (uint32_t)o->max_requests,
			.now = o->now ? o->now : clock_now(), .anew = o->new_cycle,
		};

		open_client(&c, store, cli, o);
		rc = client_ask(c, &a, &r, err);
	}
	if (r.ended)
		log_info("cycle %u is over", r.ended);
	if (rc == 0 && r.begun)
		log_info("cycle %u is open, with %u request%s; `freshet end` ends it", r.cycle.number,
		         r.cycle.budget, r.cycle.budget == 1 ? "" : "s");
	if (rc == 0 && !r.begun && !r.cycle.open && r.answer == CLIENT_DONE)
		log_info("there are no pages: `freshet import` puts some under care");
	if (rc == 0 && r.taken_off)
		log_info("%u requests were taken off its budget: cycles before spent them beyond theirs",
		         r.taken_off);
	if (rc == 0 && !r.begun && (cli_given(cli, "budget") || cli_given(cli, "policy")))
		log_info("cycle %u was opened with %u requests and the policy %.*s: what is given now is "
		         "not used; --new ends it and begins another", r.cycle.number, r.cycle.budget,
		         (int)r.cycle.policy.size, r.cycle.policy.s);
	if (rc == 0)
		print_asked(cli, &r, o->format);
	client_close(c);
	store_close(store);
	arena_release(&texts);
	return rc;
}

struct end_opts { int64_t now; };

static const struct option_spec end_options[] = {
	OPT_TIME(end_opts, now, NULL, "the engine's clock, for trials"),
	OPT_END
};

static int end_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct end_opts *o = opts;
	struct ask_opts none = { .policy = "auto" };
	struct client *c = NULL;
	struct store *store = NULL;
	struct store_cycle row;
	struct json j;
	int rc = repository_open(cli, &store, err);

	(void)n_args;
	(void)args;
	if (rc == 0) {
		open_client(&c, store, cli, &none);
		rc = client_end(c, o->now ? o->now : clock_now(), &row, err);
	}
	if (rc == 0 && (shards_count(cli) < 2 || cli->common.shard >= 0))
		rc = err_set(err, E_USAGE, "no cycle is open for other crawlers; `freshet ask` opens "
		             "one");
	else if (rc == 0)
		log_info("shard %d: no cycle is open for other crawlers", cli->shard);
	if (rc > 0 && cli->common.json) {
		cli_json_begin(&j, "end");
		json_kint(&j, "cycle", row.number);
		json_kint(&j, "budget", row.budget);
		json_kint(&j, "downloads", row.downloads);
		json_kint(&j, "new", row.fresh);
		json_kint(&j, "changed", row.changed);
		json_kint(&j, "same", row.same);
		json_kint(&j, "gone", row.gone);
		json_kint(&j, "failed", row.failed);
		json_kint(&j, "blocked", row.blocked);
		json_kint(&j, "overspent", last_cycle_overspent(&row));
		cli_json_end(&j);
	} else if (rc > 0) {
		printf("cycle %u: %u of %u requests, %u new, %u changed, %u same, %u gone, %u failed\n",
		       row.number, row.downloads, row.budget, row.fresh, row.changed, row.same,
		       row.gone, row.failed);
	}
	client_close(c);
	store_close(store);
	return rc < 0 ? rc : 0;
}

const struct command command_ask = {
	.name = "ask",
	.on_fleet = FLEET_ONE,
	.fleet_instead = "or let crawlers ask `freshet serve --take N`, which leases pages of all shards "
	                 "under the fleet's budget",
	.arguments = "",
	.summary = "pages for another crawler to fetch now, as leases",
	.description =
		"Opens a cycle if none is open, and hands out its next pages, one JSON object a line:\n"
		"`lease`, `url` (canonical), `given` (as you wrote it), `etag` and `last_modified` of our\n"
		"copy, `last_visit`, `not_before` (when the host may be asked), `until` (when the lease\n"
		"lapses), `max_requests`, `score`, `probability`, `reason`. Where there is nothing now,\n"
		"one line: {\"wait\":SECONDS}, or {\"done\":true} when the budget is spent and everything is\n"
		"told.\n\n"
		"Tell what came of each page with `freshet tell`, as soon as it is known and in any order:\n"
		"the policy learns within the cycle. No page is given to two clients. A lease that is not\n"
		"told in time (--for) has lapsed: its requests stay spent, and a late outcome is still\n"
		"taken until the cycle ends. A page that was not fetched goes back with the outcome\n"
		"`release`. `freshet end` ends the cycle; it also ends when the next is due (--every).\n\n"
		"Who fetches obeys robots.txt and keeps to `not_before`.",
	.examples =
		"  freshet -C crawl ask --count 50 --client alpha > offers.jsonl\n"
		"  freshet -C crawl tell outcomes.jsonl\n"
		"  freshet -C crawl end\n",
	.options = ask_options,
	.opts_size = sizeof(struct ask_opts),
	.run = ask_run,
};

const struct command command_end = {
	.name = "end",
	.on_fleet = FLEET_EACH,
	.arguments = "",
	.summary = "end the cycle that is open for other crawlers",
	.description =
		"Offers that nobody told of have lapsed: their requests are spent. What the cycle spent\n"
		"beyond its budget is taken off the next, whoever opens it.",
	.examples = "  freshet -C crawl end\n",
	.options = end_options,
	.opts_size = sizeof(struct end_opts),
	.run = end_run,
};
