/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - `freshet export`: data of the repository for other programs.  A kind is
 * a function of cli/export and one line in the table below.
 */
#include <ctype.h>
#include <stdio.h>

#include "cli/export/export.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"

struct export_opts {
	const char *since, *after, *output, *tag;
	bool extended;
	int64_t limit;
	int compress;
};

static const struct option_spec export_options[] = {
	OPT_TEXT(export_opts, tag, NULL, "TAG", "pages: only those that have this tag"),
	OPT_TEXT(export_opts, since, NULL, "TIME|DURATION|last",
	         "changed, visits, atom: only what was seen since then, that long ago until now, or in the "
	         "last cycle"),
	OPT_TEXT(export_opts, after, NULL, "CURSOR|begin",
	         "changed: every change behind this cursor, in order, and a last line with the next cursor"),
	OPT_INT(export_opts, limit, 100, 1, 1e6, "atom: entries, the newest"),
	OPT_FLAG(export_opts, extended, "cdxj: with what was read out of the pages, so that the "
	         "history can be replayed without its content"),
	{ .name = "compress", .type = OPTION_CHOICE, .def = "gzip", .choices = "gzip|zstd",
	  .arg = "gzip|zstd", .offset = offsetof(struct export_opts, compress),
	  .help = "warc: how; zstd: .warc.zst with a dictionary learned from the pages" },
	{ .name = "output", .type = OPTION_TEXT, .offset = offsetof(struct export_opts, output),
	  .arg = "FILE", .letter = 'o', .written = true, .help = "where to; .gz and .zst are compressed; warc, "
	  "folder: a folder; wacz: a file" },
	OPT_END
};

struct export_kind {
	const char *name;
	export_kind_run *run;
	export_kind_run *end;           /* when all shards have run; or NULL */
	bool own_output;                /* it opens its output itself */
	bool sorted;                    /* its lines are */
	bool since, extended, limit, tag, compress; /* options that it takes */
};

static const struct export_kind kinds[] = {
	{ .name = "pages", .run = export_pages, .tag = true },
	{ .name = "changed", .run = export_changed, .since = true },
	{ .name = "visits", .run = export_visits, .since = true },
	{ .name = "atom", .run = export_atom, .end = export_atom_end, .since = true, .limit = true },
	{ .name = "cdxj", .run = export_index, .extended = true, .sorted = true },
	{ .name = "warc", .run = export_archive, .own_output = true,
	  .compress = true },
	{ .name = "wacz", .run = export_package, .own_output = true },
	{ .name = "folder", .run = export_folder, .own_output = true },
};

static int last_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	if (!c->open)
		*(uint32_t *)arg = c->number;
	return 0;
}

/* A duration with its unit: that long ago. */
static bool parse_ago(const char *s, int64_t *ret)
{
	int64_t seconds;

	if (!*s || !isalpha((unsigned char)s[strlen(s) - 1]) || !duration_parse(s, &seconds))
		return false;
	*ret = clock_now() - seconds;
	return true;
}

/* --since: a time, a duration, or the last complete cycle (no cycle yet: nothing). */
static int parse_since(struct exporting *e, const char *s, struct err *err)
{
	int rc;

	e->since = INT64_MIN;
	e->to_cycle = UINT32_MAX;
	if (!s)
		return 0;
	if (strcmp(s, "last"))
		return when_parse(s, strlen(s), &e->since) || parse_ago(s, &e->since) ? 0 :
		       err_set(err, E_USAGE, "since: '%s' is neither a time such as 2022-10-01, nor a "
		               "duration such as 2d (that long ago), nor `last`", s);
	rc = store_cycles(e->store, STORE_NEWEST, last_cycle, &e->from, err);
	e->to_cycle = e->from ? e->from + 1 : 0;
	return rc;
}

/* Report the number of lines, unless the lines themselves went to standard output. */
static void tell_written(const struct exporting *e, const char *kind)
{
	const char *path = e->to;
	struct json j;

	if (e->to_cycle == 0)
		log_info("no cycle is complete yet: --since last has nothing to show");
	if (!path || !strcmp(path, "-"))
		return;
	if (!e->cli->common.json) {
		log_info("%llu line%s written to %s", (unsigned long long)e->n_written,
		         e->n_written == 1 ? "" : "s", path);
		return;
	}
	cli_json_begin(&j, "export");
	json_kstr(&j, "kind", kind);
	json_kstr(&j, "file", path);
	json_kint(&j, "written", (int64_t)e->n_written);
	cli_json_end(&j);
}

extern const struct command command_export;

/* What was asked for, is it of this kind? */
static int check_options(const struct cli *cli, const struct export_opts *o,
                         const struct export_kind *kind, struct err *err)
{
	if (kind->own_output && !o->output)
		return err_set(err, E_USAGE, "export %s: say where to with -o %s", kind->name,
		               kind->run == export_package ? "FILE.wacz" : "FOLDER");
	if (o->since && !kind->since)
		return err_set(err, E_USAGE, "export %s: --since goes with changed, visits and atom",
		               kind->name);
	if (o->after && (kind->run != export_changed || o->since))
		return err_set(err, E_USAGE, "export %s: --after goes with changed, without --since",
		               kind->name);
	if (o->extended && !kind->extended)
		return err_set(err, E_USAGE, "export %s: --extended goes with cdxj", kind->name);
	if (cli_given(cli, "limit") && !kind->limit)
		return err_set(err, E_USAGE, "export %s: --limit goes with atom", kind->name);
	if (cli_given(cli, "compress") && !kind->compress)
		return err_set(err, E_USAGE, "export %s: --compress goes with warc", kind->name);
	if (o->tag && !kind->tag)
		return err_set(err, E_USAGE, "export %s: --tag goes with pages", kind->name);
	if (shards_any(cli) && cli->shard < 0 && kind->sorted && o->extended)
		return err_set(err, E_USAGE, "export %s --extended: of a fleet, one shard at a time: say which "
		               "with --shard K", kind->name);
	return 0;
}

/* Export one store: that of the shard that the command is at. */
static int export_store(struct exporting *e, struct err *err)
{
	const struct export_opts *o = e->cli->opts;
	int rc = repository_read(e->cli, &e->store, err);

	if (rc < 0)
		return rc;
	rc = tagged_load(&e->tagged, e->store, o->tag, err);
	if (rc == 0)
		rc = parse_since(e, o->since, err);
	if (rc == 0)
		rc = e->run(e, err);
	tagged_release(&e->tagged);
	store_close(e->store);
	e->store = NULL;
	return rc;
}

static int export_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct export_opts *o = opts;
	struct exporting e = { .cli = cli, .to = o->output, .extended = o->extended,
	                       .limit = o->limit, .compress = o->compress,
	                       .to_cycle = UINT32_MAX };
	const struct export_kind *kind = NULL;
	struct output *out = NULL;
	int rc;

	(void)n_args;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, args[0]))
			kind = &kinds[i];
	if (!kind)
		return err_set(err, E_USAGE, "export: '%s' is none of %s", args[0],
		               command_export.arguments);
	if ((rc = check_options(cli, o, kind, err)) < 0)
		return rc;
	e.run = kind->run;
	if (!kind->own_output)
		rc = output_open(&out, o->output, err);
	if (rc == 0) {
		e.out = out ? output_file(out) : NULL;
		if (e.out)
			json_to_file(&e.j, e.out);
		rc = o->after ? export_feed(&e, strcmp(o->after, "begin") ? o->after : NULL, err) :
		     shards_any(cli) && cli->shard < 0 ? export_each(&e, export_store, kind->sorted, err) :
		     export_store(&e, err);
		if (rc == 0 && kind->end)
			rc = kind->end(&e, err);
		export_atom_release(&e);
		if (rc == 0 && out)
			rc = output_close(out, err);
		else
			output_abandon(out);
	}
	if (rc == 0 && out)
		tell_written(&e, kind->name);
	return rc;
}

const struct command command_export = {
	.name = "export",
	.on_fleet = FLEET_SELF,
	.arguments = "pages|changed|visits|atom|cdxj|warc|wacz|folder",
	.summary = "what the repository holds, for other programs",
	.description =
		"pages: every page, one JSON object a line.\n\n"
		"changed: the pages that were found new, changed or gone, each once, with what was found\n"
		"last, what it asks of robots (an indexer leaves out noindex) and where its content lies;\n"
		"--since TIME, --since 2d (two days ago until now), or --since last for the last complete\n"
		"cycle. --after CURSOR tells every change behind the cursor, in order; the last line has\n"
		"the cursor for the next time, so a program that keeps it misses none. A cursor that is\n"
		"refused (status 2) is too old.\n\n"
		"visits: every visit with its outcome, the cause if it failed or was blocked, and with\n"
		"what probability and why the page was asked for.\n\n"
		"atom: an Atom feed of the newest changes, for a feed reader, with the first lines that\n"
		"differ where both copies are at hand.\n\n"
		"cdxj: an index of all captures, sorted; with --extended a trace that `freshet\n"
		"replay` reads.\n\n"
		"warc: the records of all captures whose content is at hand, as WARC/1.1 files in\n"
		"the folder -o names.\n\n"
		"wacz: the same, with an index and the list of pages, as one WACZ file for\n"
		"ReplayWeb.page and its like.\n\n"
		"folder: the newest copy of every page as a file in the folder -o names, links\n"
		"rewritten, so that a browser can open it (docs/everyday.md has the names). What is\n"
		"there already is written again only if it changed.\n\n"
		"Of a fleet all shards are written: into one file, but warc and folder into a folder for\n"
		"each, wacz into FILE-shard-K.wacz. atom and cdxj --extended are of one, --shard K.",
	.examples =
		"  freshet -C crawl export changed --since last\n"
		"  freshet -C crawl export changed --after begin\n"
		"  freshet -C crawl export atom --since 7d -o changes.atom\n"
		"  freshet -C crawl export cdxj --extended -o history.cdxj.gz\n"
		"  freshet -C crawl export wacz -o crawl.wacz    # open it on replayweb.page\n"
		"  freshet -C crawl export warc -o archive/\n"
		"  freshet -C crawl export folder -o mirror/\n",
	.options = export_options,
	.opts_size = sizeof(struct export_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.run = export_run,
};
