/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_ask.c - `freshet ask` and `freshet end`: pages for other crawlers. */
#include <stdio.h>

#include "cli/frame/repository.h"
#include "engine/client/client.h"

struct ask_opts {
	const char *policy, *client;
	struct share budget, site_share, retry_share;
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

static void json_ktime(struct json *j, const char *key, int64_t t)
{
	char text[15];

	if (t)
		when_digits(t, text);
	json_kstr(j, key, t ? text : NULL);
}

static void print_offer(struct json *j, const struct client_offer *o)
{
	json_object(j);
	json_kstr(j, "lease", o->lease);
	json_kstr(j, "url", o->url);
	json_kstr(j, "etag", o->etag);
	json_kstr(j, "last_modified", o->last_modified);
	json_ktime(j, "last_visit", o->last_visit);
	json_ktime(j, "not_before", o->not_before);
	json_ktime(j, "until", o->until);
	json_kint(j, "max_requests", o->max_requests);
	json_knum(j, "score", o->score);
	json_knum(j, "probability", o->probability);
	json_kstr(j, "reason", o->reason);
	if (o->again)
		json_kbool(j, "again", true);
	json_end_object(j);
	if (!j->depth)
		json_newline(j);
}

/* One line that stands for no page. */
static void print_none(struct json *j, const struct client_asked *r)
{
	json_object(j);
	if (r->answer == CLIENT_WAIT)
		json_kint(j, "wait", r->wait);
	else
		json_kbool(j, "done", true);
	json_end_object(j);
	json_newline(j);
}

static void print_json(const struct client_asked *r)
{
	struct json j;

	cli_json_begin(&j, "ask");
	json_kint(&j, "cycle", r->cycle.number);
	json_ktime(&j, "time", r->cycle.time);
	json_kbool(&j, "begun", r->begun);
	json_kint(&j, "budget", r->cycle.budget);
	json_kint(&j, "downloads", r->cycle.downloads);
	json_key(&j, "offers");
	json_array(&j);
	for (size_t i = 0; i < r->n; i++)
		print_offer(&j, &r->offers[i]);
	json_end_array(&j);
	if (r->answer == CLIENT_WAIT)
		json_kint(&j, "wait", r->wait);
	json_kbool(&j, "done", r->answer == CLIENT_DONE);
	cli_json_end(&j);
}

static void print_asked(const struct cli *cli, const struct client_asked *r, int format)
{
	struct json j;

	if (cli->common.json) {
		print_json(r);
		return;
	}
	json_to_file(&j, stdout);
	for (size_t i = 0; i < r->n; i++)
		if (format == FORMAT_URLS)
			puts(r->offers[i].url);
		else
			print_offer(&j, &r->offers[i]);
	if (!r->n && format == FORMAT_JSONL)
		print_none(&j, r);
}

/* The client of a command; the store is open and its settings are in the options. */
static void open_client(struct client **ret, struct store *s, const struct cli *cli,
                        const struct ask_opts *o, char folder[4096])
{
	struct client_opts co = {
		.policy = o->policy, .seed = (uint64_t)cli->common.seed, .budget = o->budget,
		.rules = { .aim = (enum aim)o->aim, .weight = (enum weight_by)o->weight,
		           .every = o->every, .max_age = o->max_age,
		           .site_share = o->site_share, .retry_share = o->retry_share },
		.delay = o->delay, .warc_folder = folder,
	};

	snprintf(folder, 4096, "%.4000s/warc", cli->common.repository);
	client_open(ret, s, &co);
}

static int ask_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct ask_opts *o = opts;
	struct client_asked r = { 0 };
	struct client *c = NULL;
	struct store *store = NULL;
	struct arena keep = { 0 };
	char folder[4096];
	int rc = repository_open(cli, &store, err);

	(void)n_args;
	(void)args;
	if (rc == 0)
		rc = repository_settings(cli, store, &keep, err);
	if (rc == 0 && o->seconds <= 0)
		rc = err_set(err, E_USAGE, "--for: must be longer than 0");
	if (rc == 0) {
		struct client_asking a = {
			.name = o->client, .want = (uint32_t)o->count, .seconds = o->seconds,
			.per_host = (uint32_t)o->per_host, .max_requests = (uint32_t)o->max_requests,
			.now = o->now ? o->now : clock_now(), .anew = o->new_cycle,
		};

		open_client(&c, store, cli, o, folder);
		rc = client_ask(c, &a, &r, err);
	}
	if (r.ended)
		log_info("cycle %u is over", r.ended);
	if (rc == 0 && r.begun)
		log_info("cycle %u is open, with %u requests; `freshet end` ends it", r.cycle.number,
		         r.cycle.budget);
	else if (rc == 0 && (cli_given(cli, "budget") || cli_given(cli, "policy")))
		log_info("cycle %u was opened with %u requests and the policy %.*s: what is given now is "
		         "not used; --new ends it and begins another", r.cycle.number, r.cycle.budget,
		         (int)r.cycle.policy.size, r.cycle.policy.s);
	if (rc == 0)
		print_asked(cli, &r, o->format);
	client_close(c);
	store_close(store);
	arena_release(&keep);
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
	char folder[4096];
	int rc = repository_open(cli, &store, err);

	(void)n_args;
	(void)args;
	if (rc == 0) {
		open_client(&c, store, cli, &none, folder);
		rc = client_end(c, o->now ? o->now : clock_now(), &row, err);
	}
	if (rc == 0)
		rc = err_set(err, E_USAGE, "no cycle is open for other crawlers; `freshet ask` opens "
		             "one");
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
		json_kint(&j, "overspent", ledger_overspent(&row));
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
	.arguments = "",
	.summary = "pages for another crawler to fetch now, as leases",
	.description =
		"Opens a cycle if none is open, and hands out its next pages, one JSON object a line:\n"
		"`lease`, `url`, `etag` and `last_modified` of our copy, `last_visit`, `not_before` (when\n"
		"the host may be asked), `until` (when the lease lapses), `max_requests`, `score`,\n"
		"`probability`, `reason`. Where there is nothing now, one line: {\"wait\":SECONDS}, or\n"
		"{\"done\":true} when the budget is spent and everything is told.\n\n"
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
	.arguments = "",
	.summary = "end the cycle that is open for other crawlers",
	.description =
		"Offers that nobody told of have lapsed: their requests are spent. What the cycle spent\n"
		"beyond its budget is taken off the next.",
	.examples = "  freshet -C crawl end\n",
	.options = end_options,
	.opts_size = sizeof(struct end_opts),
	.run = end_run,
};
