/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_import.c - `freshet import` and `freshet add`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io/progress.h"
#include "cli/frame/repository.h"
#include "engine/archive/ignore.h"
#include "engine/book/import.h"
#include "web/page/change.h"

#define WARNINGS_SHOWN 20       /* the rest is counted */

struct import_opts {
	bool all_errors;
	int64_t now;
	const char *detect, *stem, *word_list;
	struct option_list ignore;
};

#define SETTING(n, t, d, a, h) \
	{ .name = #n, .type = t, .def = d, .arg = a, .help = h, .setting = true, \
	  .offset = offsetof(struct import_opts, n) }

static const struct option_spec import_options[] = {
	OPT_FLAG(import_opts, all_errors, "report every malformed line, not only the first 20"),
	SETTING(detect, OPTION_TEXT, "bytes", "HOW",
	        "whose settings the pages of a WARC are read by: bytes, text, tags, near:BITS"),
	SETTING(ignore, OPTION_LIST, NULL, "RULES",
	        "elements left out of them, as in `#clock, .ad`, for all sites or `HOST: RULES`"),
	SETTING(stem, OPTION_TEXT, NULL, "LANGUAGE",
	        "count stems of words (english, french, ...); settled by the first words"),
	{ .name = "words", .type = OPTION_TEXT, .offset = offsetof(struct import_opts, word_list),
	  .arg = "FILE", .help = "the words that the terms of a CDXJ file count, one a line; "
	  "default: words.txt beside it" },
	OPT_TIME(import_opts, now, NULL, "as if it were this time; for histories that are made up"),
	OPT_END
};

struct reporting {
	struct progress progress;
	uint64_t shown;
	bool all;
};

static void show_bad(void *arg, const char *text)
{
	struct reporting *r = arg;

	if (r->all || r->shown < WARNINGS_SHOWN)
		log_warn("%s", text);
	if (r->shown++ == WARNINGS_SHOWN && !r->all)
		log_warn("more follow; --all-errors shows them");
}

static bool show_progress(void *arg, uint64_t n_done)
{
	struct reporting *r = arg;

	return progress_set(&r->progress, n_done);
}

static void print_stats(const struct cli *cli, const struct import_stats *s)
{
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, cli->command->name);
		json_kint(&j, "pages", (int64_t)s->n_pages);
		json_kint(&j, "known", (int64_t)s->n_known);
		json_kint(&j, "captures", (int64_t)s->n_captures);
		json_kint(&j, "doubles", (int64_t)s->n_doubles);
		json_kint(&j, "malformed", (int64_t)s->n_bad);
		json_kint(&j, "other", (int64_t)s->n_other);
		json_kint(&j, "future", (int64_t)s->n_future);
		cli_json_end(&j);
		return;
	}
	printf("%llu new page%s", (unsigned long long)s->n_pages, s->n_pages == 1 ? "" : "s");
	if (s->n_known)
		printf(", %llu known", (unsigned long long)s->n_known);
	if (s->n_captures || s->n_doubles)
		printf(", %llu capture%s", (unsigned long long)s->n_captures,
		       s->n_captures == 1 ? "" : "s");
	if (s->n_doubles)
		printf(" (%llu already there)", (unsigned long long)s->n_doubles);
	if (s->n_bad)
		printf(", %llu malformed", (unsigned long long)s->n_bad);
	if (s->n_other)
		printf(", %llu other record%s", (unsigned long long)s->n_other,
		       s->n_other == 1 ? "" : "s");
	if (s->n_future)
		printf(", %llu dated in the future and left out", (unsigned long long)s->n_future);
	putchar('\n');
}

/* After an error: say what was imported nevertheless. */
static int tell_kept(const struct import_stats *s, int rc, struct err *err)
{
	struct err why = *err;

	if (!s->n_pages && !s->n_captures)
		return err_set(err, rc, "%s; nothing new was kept", why.text);
	return err_set(err, rc, "%s; %llu new page%s and %llu capture%s that came before it are "
	               "kept: the same import goes on with the rest", why.text,
	               (unsigned long long)s->n_pages, s->n_pages == 1 ? "" : "s",
	               (unsigned long long)s->n_captures, s->n_captures == 1 ? "" : "s");
}

static bool was_something(const struct import_stats *s)
{
	return s->n_pages || s->n_known || s->n_captures || s->n_doubles;
}

static int check_some(const struct import_stats *s, struct err *err)
{
	if (!s->n_bad || s->n_other || s->n_future || was_something(s))
		return 0;
	return err_set(err, E_PARSE, "nothing in it could be read: `freshet import --help` tells "
	               "what files may be");
}

static int import_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct import_opts *o = opts;
	struct reporting r = { .all = o->all_errors };
	struct import i = { .folder = cli->common.repository,
	                    .now = o->now ? o->now : clock_now(),
	                    .report = show_bad, .progress = show_progress, .arg = &r };
	struct detector detect = { 0 };
	struct ignore_list rules = { 0 };
	struct arena keep = { 0 };
	int rc = repository_open(cli, &i.store, err);

	if (rc < 0)
		return rc;
	rc = repository_settings(cli, i.store, &keep, err);
	if (rc == 0)
		rc = detector_parse(&detect, o->detect, err);
	for (size_t k = 0; k < o->ignore.n && rc == 0; k++)
		rc = ignore_list_add(&rules, o->ignore.v[k], err);
	i.latest = i.now + IMPORT_FUTURE;
	i.detector = &detect;
	i.rules = &rules;
	i.stem = o->stem;
	i.word_list = o->word_list;
	if (rc == 0 && o->word_list && access(o->word_list, R_OK))
		rc = err_errno(err, E_IO, "words: %s", o->word_list);
	progress_start(&r.progress, "importing", "rows", 0);
	for (int k = 0; k < n_args && rc >= 0; k++)
		rc = import_file(&i, args[k], err);
	progress_end(&r.progress);
	store_close(i.store);
	ignore_list_release(&rules);
	arena_release(&keep);
	if (rc < 0)
		return tell_kept(&i.kept, rc, err);
	print_stats(cli, &i.stats);
	return check_some(&i.stats, err);
}

/* Requires a scheme: the name of a file would look like a host. */
static int add_url(struct import *i, const char *url, struct err *err)
{
	if (!strstr(url, "://") && !access(url, F_OK))
		return err_set(err, E_USAGE, "%s: is a file here: `freshet import` reads it; the URL of a "
		               "page begins with http:// or https://", url);
	return import_url(i, url, err);
}

struct add_opts { double weight; };

static const struct option_spec add_options[] = {
	OPT_DOUBLE(add_opts, weight, 1, 0, STORE_WEIGHT_MAX,
	           "how much these pages count under --weight given"),
	OPT_END
};

static int add_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct reporting r = { 0 };
	struct import i = { .folder = cli->common.repository, .now = clock_now(),
	                    .report = show_bad, .arg = &r };
	struct import_settings *as;
	int rc = repository_open(cli, &i.store, err);

	if (rc < 0)
		return rc;
	i.weigh = cli_given(cli, "weight");
	i.weight = ((const struct add_opts *)opts)->weight;
	rc = import_settings_load(&as, &i, err);
	for (int k = 0; k < n_args && rc >= 0; k++)
		rc = strcmp(args[k], "-") ? add_url(&i, args[k], err) : import_file(&i, "-", err);
	store_close(i.store);
	import_settings_free(as);
	if (rc >= 0)
		print_stats(cli, &i.stats);
	return rc < 0 ? rc : check_some(&i.stats, err);
}

const struct command command_import = {
	.name = "import",
	.arguments = "FILE...",
	.summary = "pages and their history from files: URL lists, CDX, CDXJ, WARC, sitemaps, "
		"link graphs",
	.description =
		"The kind of a file is found by looking into it; gz and zst are unpacked; `-` is\n"
		"standard input; a folder stands for the WARC, CDX and CDXJ files in it. In a URL\n"
		"list, one URL a line, lines that begin with # are comments; a number behind the URL\n"
		"(or, in lines of JSON, the key `weight`) is how much the page counts under\n"
		"--weight given. Malformed lines are reported with their number and reason, and the\n"
		"rest is imported.\n\n"
		"Captures dated more than a day in the future are left out and counted: a page seen\n"
		"then would never be old, and no policy would ask for it.\n\n"
		"Importing again what is there changes nothing; an import that was cut off is\n"
		"finished by running it again.",
	.examples =
		"  freshet -C crawl import urls.txt.gz\n"
		"  freshet -C crawl import trace             # a folder of archives\n"
		"  zcat lists/*.gz | freshet -C crawl import -\n",
	.options = import_options,
	.opts_size = sizeof(struct import_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.archives = true,
	.run = import_run,
};

const struct command command_add = {
	.name = "add",
	.arguments = "URL...",
	.summary = "put pages under care",
	.description =
		"A URL without a scheme is one of http; `-` reads a list from standard input, as\n"
		"`freshet import -` does. A page that is there already gets the weight, too.",
	.examples = "  freshet -C crawl add https://example.org/news/\n"
		"  freshet -C crawl add --weight 5 https://example.org/\n",
	.options = add_options,
	.opts_size = sizeof(struct add_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.run = add_run,
};
