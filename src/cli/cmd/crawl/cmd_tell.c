/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tell.c - `freshet tell`: outcomes fetched by another crawler. */
#include <stdio.h>

#include "base/io/input.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/fleet/work.h"
#include "engine/book/tell.h"

struct tell_opts { int64_t confirmations, now; bool add; };

static const struct option_spec tell_options[] = {
	{ .name = "confirmations", .type = OPTION_INT, .def = "2", .min = 1, .max = 100, .arg = "N",
	  .offset = offsetof(struct tell_opts, confirmations), .setting = true,
	  .help = "times a page must be seen gone before it is believed" },
	OPT_FLAG(tell_opts, add, "put pages under care that are not; else their lines are left out "
	         "and counted"),
	OPT_TIME(tell_opts, now, NULL, "the time of outcomes that carry none"),
	OPT_END
};

static void print_some(uint64_t n, const char *what)
{
	if (n)
		printf("; %llu %s", (unsigned long long)n, what);
}

/* On a fleet: each line goes to the shard of its page. */
static int tell_fleet(struct cli *cli, const struct tell_opts *o, const char *path,
                      struct err *err)
{
	struct inbox_stats done = { 0 };
	struct shards_mail mail;
	struct input *in;
	struct told told;
	struct buf texts;
	uint32_t left = 0;
	uint64_t bad = 0, n = 0;
	struct json j;
	char *line;
	size_t size;
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	buf_init(&texts, 4 * (size_t)TELL_LINE_MAX);
	shards_mail_begin(&mail, cli, "tell", o->add ? "#add" : NULL);
	while ((rc = input_line(in, TELL_LINE_MAX - 1, &line, &size, err)) > 0) {
		const char *why = size ? tell_parse(&told, &texts, line, size) : NULL;

		n++;
		if (!why && size && !told.url.s)
			why = "on a fleet a line needs the url";
		if (why) {
			bad++;
			log_warn("%s:%llu: %s", path, (unsigned long long)n, why);
		} else if (size && (rc = shards_mail_line(&mail, cli,
		           fleet_shard_of(cli->shards->list, cli->shards->n,
		                          shard_hash(told.url.s, told.url.size)),
		           (struct text){ line, size }, err)) < 0) {
			break;
		}
	}
	input_close(in);
	if (rc == 0)
		rc = shards_mail_end(&mail, cli, &done, &left, err);
	shards_mail_release(&mail, cli);
	buf_release(&texts);
	if (rc < 0)
		return rc;
	if (cli->common.json) {
		cli_json_begin(&j, "tell");
		json_kint(&j, "told", (int64_t)done.told);
		json_kint(&j, "malformed", (int64_t)(bad + done.bad - done.unknown));
		json_kint(&j, "unknown", (int64_t)done.unknown);
		json_kint(&j, "shards_left", left);
		cli_json_end(&j);
	} else {
		printf("%llu outcome%s", (unsigned long long)done.told, done.told == 1 ? "" : "s");
		print_some(done.unknown, "not under care (--add puts them there)");
		print_some(bad, "malformed");
		putchar('\n');
	}
	if (left || done.waiting)
		log_info("some are in the inbox of their shards: they are taken when the shard's part of the "
		         "cycle is over");
	return 0;
}

static int tell_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct tell_opts *o = opts;
	uint64_t n_warned = 0;
	struct tell t = { .report = log_warn_few, .arg = &n_warned };
	struct arena texts = { 0 };
	struct json j;
	int rc;

	(void)n_args;
	if (shards_any(cli))
		return tell_fleet(cli, o, args[0], err);
	rc = repository_open(cli, &t.store, err);
	if (rc == 0)
		rc = repository_settings(cli, t.store, &texts, err);
	if (rc == 0) {
		t.now = o->now ? o->now : clock_now();
		t.confirmations = (unsigned)o->confirmations;
		t.add = o->add;
		rc = tell_file(&t, args[0], err);
	}
	if (rc == 0 && t.stats.n_bad && !t.stats.n_lines && !t.stats.n_given_back &&
	    !t.stats.n_repeated)
		rc = t.stats.n_unknown == t.stats.n_bad ?
		     err_set(err, E_USAGE, "%s: none of these pages is under care; --add puts them "
		             "there", args[0]) :
		     err_set(err, E_PARSE, "%s: no line of it is an outcome; `freshet tell --help` "
		             "shows one", args[0]);
	store_close(t.store);
	arena_release(&texts);
	if (rc < 0)
		return rc;
	if (t.stats.n_future)
		log_warn("%llu line%s a time in the future: taken for now; is the other crawler's "
		         "clock right?", (unsigned long long)t.stats.n_future,
		         t.stats.n_future == 1 ? " has" : "s have");
	if (t.ended)
		log_info("cycle %u, which had been broken off, is over: the next `freshet cycle` "
		         "begins a new one", t.ended);
	if (cli->common.json) {
		cli_json_begin(&j, "tell");
		json_kint(&j, "cycle", t.stats.n_lines ? t.cycle : 0);
		json_kint(&j, "told", (int64_t)t.stats.n_lines);
		json_kint(&j, "new", (int64_t)t.stats.fresh);
		json_kint(&j, "changed", (int64_t)t.stats.changed);
		json_kint(&j, "same", (int64_t)t.stats.same);
		json_kint(&j, "gone", (int64_t)t.stats.gone);
		json_kint(&j, "failed", (int64_t)t.stats.failed);
		json_kint(&j, "malformed", (int64_t)(t.stats.n_bad - t.stats.n_unknown));
		json_kint(&j, "future", (int64_t)t.stats.n_future);
		json_kint(&j, "released", (int64_t)t.stats.n_given_back);
		json_kint(&j, "repeated", (int64_t)t.stats.n_repeated);
		json_kint(&j, "late", (int64_t)t.stats.n_late);
		json_kint(&j, "unknown", (int64_t)t.stats.n_unknown);
		cli_json_end(&j);
		return 0;
	}
	printf("%llu outcome%s: %llu new, %llu changed, %llu same, %llu gone, %llu failed",
	       (unsigned long long)t.stats.n_lines, t.stats.n_lines == 1 ? "" : "s",
	       (unsigned long long)t.stats.fresh,
	       (unsigned long long)t.stats.changed, (unsigned long long)t.stats.same,
	       (unsigned long long)t.stats.gone, (unsigned long long)t.stats.failed);
	print_some(t.stats.n_given_back, "released");
	print_some(t.stats.n_repeated, "told before");
	print_some(t.stats.n_late, "late");
	print_some(t.stats.n_unknown, "not under care (--add puts them there)");
	print_some(t.stats.n_bad - t.stats.n_unknown, "malformed");
	putchar('\n');
	return 0;
}

const struct command command_tell = {
	.name = "tell",
	.reach = MAY_READ_ARGS,
	.on_fleet = FLEET_SELF,
	.arguments = "FILE",
	.summary = "outcomes fetched by another crawler (JSON Lines)",
	.description =
		"Each line is an object with `lease` (as `freshet ask` gave it) or `url`, and `outcome`\n"
		"(same, changed, gone, failed, blocked, or release: not fetched) or `status` (and\n"
		"`digest`). It may have `etag` and `last_modified`, which come back with the next offer,\n"
		"`links` (a list), `cause` (of what failed or was blocked: dns, timeout, robots ...;\n"
		"docs/formats.md lists them), `requests` (that it cost, redirects included), `time`, and\n"
		"`score`, `probability`, `reason` as `freshet plan --format jsonl` printed them. A time more\n"
		"than a day in the future is taken for now. `-` is standard input.\n\n"
		"Nothing comes under care unasked: lines about a page that is not, or was removed, are\n"
		"left out and counted. --add, or `add` true in a line, puts it there, if it is in scope.\n"
		"What was offered is taken in any case.\n\n"
		"If a cycle is open (`freshet ask`), all goes into that: each page once, the first that\n"
		"tells wins. Pages that nobody was offered count as spent. Else the lines of a file are one\n"
		"cycle, and a cycle of `freshet cycle` or `live` that was broken off ends as it is. A lease\n"
		"of a cycle that is over is taken as `late`, and costs nothing. The lines of a file are kept\n"
		"together or, if something fails, not at all.",
	.examples = "  freshet -C crawl tell outcomes.jsonl\n"
		"  freshet -C crawl tell --add outcomes.jsonl   # pages of another crawler, too\n",
	.options = tell_options,
	.opts_size = sizeof(struct tell_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.run = tell_run,
};
