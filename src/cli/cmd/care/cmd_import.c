/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_import.c - `freshet import` and `freshet add`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io/progress.h"
#include "cli/cmd/care/import_fleet.h"
#include "cli/frame/crawling.h"
#include "cli/frame/scope_options.h"
#include "engine/archive/site_detect.h"
#include "engine/import/import.h"
#include "engine/index/index_server.h"
#include "web/page/change.h"

#define WARNINGS_SHOWN 20       /* the rest is counted */

struct import_opts {
	bool all_errors, restore, dry_run;
	struct option_list tag, include, exclude;
	int64_t now;
	const char *detect, *stem, *word_list;
	struct option_list ignore;
	struct web_opts web;            /* for index servers */
};


static const struct option_spec import_options[] = {
	OPT_FLAG(import_opts, all_errors, "report every malformed line, not only the first 20"),
	SETTING(import_opts, "detect", detect, OPTION_TEXT, "bytes", "HOW",
	        "whose settings the pages of a WARC are read by: " DETECTOR_CHOICES),
	SETTING(import_opts, "ignore", ignore, OPTION_LIST, NULL, "RULES",
	        "elements left out of them, as in `#clock, .ad`, for all sites or `HOST: RULES`"),
	SETTING(import_opts, "stem", stem, OPTION_TEXT, NULL, "LANGUAGE",
	        "count stems of words (english, french, ...); settled by the first words"),
	{ .name = "words", .type = OPTION_TEXT, .offset = offsetof(struct import_opts, word_list),
	  .arg = "FILE", .help = "the words that the terms of a CDXJ file count, one a line; "
	  "default: words.txt beside it" },
	OPT_LIST(import_opts, tag, "TAG", "give each page that is named this tag"),
	OPT_FLAG(import_opts, restore, "bring back pages that were removed and are named again"),
	SCOPE_OPTIONS(import_opts),
	SETTING(import_opts, "contact", web.contact, OPTION_TEXT, NULL, "URL|MAIL",
	        "index servers: whom their owner can ask; part of the User-Agent"),
	SETTING_RANGED(import_opts, "delay", web.delay, OPTION_SECONDS, "1s", 0, 3600, "DURATION",
	               "index servers: pause between requests"),
	SETTING(import_opts, "proxy", web.proxy, OPTION_TEXT, NULL, "URL",
	        "index servers: http, https, socks4a or socks5h proxy"),
	SETTING(import_opts, "ca_file", web.ca_file, OPTION_TEXT, NULL, "FILE",
	        "index servers: certificates to trust instead"),
	SETTING(import_opts, "allow_net", web.allow_net, OPTION_LIST, NULL, "CIDR",
	        "index servers: a network of your own that may be asked though it is not public"),
	OPT_FLAG(import_opts, dry_run, "keep nothing; say what would come"),
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

static void print_stats(const struct cli *cli, const struct import_stats *s, bool dry)
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
		json_kint(&j, "out_of_scope", (int64_t)s->n_outside);
		json_kint(&j, "removed", (int64_t)s->n_removed);
		json_kint(&j, "restored", (int64_t)s->n_back);
		cli_json_end(&j);
		return;
	}
	printf("%s%llu new page%s", dry ? "would be: " : "", (unsigned long long)s->n_pages, s->n_pages == 1 ? "" : "s");
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
	if (s->n_outside)
		printf(", %llu out of scope", (unsigned long long)s->n_outside);
	if (s->n_back)
		printf(", %llu brought back", (unsigned long long)s->n_back);
	if (s->n_removed)
		printf(", %llu removed before (they stay so; --restore brings them back)",
		       (unsigned long long)s->n_removed);
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
	return s->n_pages || s->n_known || s->n_captures || s->n_doubles || s->n_outside;
}

static int check_some(const struct import_stats *s, struct err *err)
{
	if (!s->n_bad || s->n_other || s->n_future || was_something(s))
		return 0;
	return err_set(err, E_PARSE, "nothing in it could be read: `freshet import --help` tells "
	               "what files may be");
}

static int import_server(struct cli *cli, struct import *i, const struct web_opts *o,
                         const char *url, struct err *err)
{
	struct crawling c = { .store = i->store };
	int rc = crawling_set(&c, cli, o, err);

	if (rc == 0)
		rc = index_server_import(i, url, &c.crawl.fetch, c.crawl.stop, err);
	c.store = NULL;                 /* the caller's */
	crawling_close(&c);
	return rc;
}

static int import_files(struct import *i, int n, char **args, struct err *err)
{
	int rc = 0;

	for (int k = 0; k < n && rc >= 0; k++)
		rc = import_file(i, args[k], err);
	return rc;
}

static bool any_server(int n, char **args)
{
	for (int i = 0; i < n; i++)
		if (index_server_is(args[i]))
			return true;
	return false;
}

/* Of a fleet. */
static void say_left(uint32_t shards)
{
	if (shards)
		log_info("pages of %u shard%s are in the inbox: %s", shards,
		         shards == 1 ? "" : "s", shards == 1 ? "the worker that holds it adds them" :
		         "the workers that hold them add the pages");
}

static int import_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct import_opts *o = opts;
	struct reporting r = { .all = o->all_errors };
	struct import i = { .folder = cli->common.repository,
	                    .now = o->now ? o->now : clock_now(),
	                    .report = show_bad, .progress = show_progress, .arg = &r };
	struct site_settings sites = { 0 };
	struct detectors detect = { .sites = &sites };
	struct ignore_list rules = { 0 };
	struct care_rules care = { 0 };
	struct arena texts = { 0 };
	uint32_t left = 0;
	int rc = shards_any(cli) ? repository_read(cli, &i.store, err) :
	         repository_open(cli, &i.store, err);

	if (rc < 0)
		return rc;
	rc = repository_settings(cli, i.store, &texts, err);
	if (rc == 0)
		rc = scope_options_load(cli, i.store, &o->include, &o->exclude, &care, err);
	i.care = &care;
	i.restore = o->restore;
	i.dry = o->dry_run;
	i.tags = o->tag.v;
	i.n_tags = o->tag.n;
	if (rc == 0)
		rc = site_settings_load(&sites, i.store, err);
	if (rc == 0)
		rc = detector_parse(&detect.general, o->detect, err);
	for (size_t k = 0; k < o->ignore.n && rc == 0; k++)
		rc = ignore_list_add(&rules, o->ignore.v[k], err);
	if (rc == 0)
		rc = site_ignore_add(&rules, &sites, err);
	i.latest = i.now + IMPORT_FUTURE;
	i.detectors = &detect;
	i.rules = &rules;
	i.stem = o->stem;
	i.word_list = o->word_list;
	if (rc == 0 && o->word_list && access(o->word_list, R_OK))
		rc = err_errno(err, E_IO, "words: %s", o->word_list);
	progress_start(&r.progress, "importing", "rows", 0);
	if (rc >= 0 && shards_any(cli) && !i.dry && !any_server(n_args, args))
		rc = import_fleet(cli, &i, import_files, n_args, args, &left, err);
	else if (rc >= 0 && shards_any(cli) && !i.dry)
		rc = err_set(err, E_USAGE, "an index server fills one repository: import it into a "
		             "folder, export its CDXJ, and import that here");
	else
		for (int k = 0; k < n_args && rc >= 0; k++)
			rc = index_server_is(args[k]) ? import_server(cli, &i, &o->web, args[k], err) :
			     import_file(&i, args[k], err);
	progress_end(&r.progress);
	store_close(i.store);
	ignore_list_release(&rules);
	site_settings_release(&sites);
	care_rules_release(&care);
	map_release(&i.met);
	arena_release(&texts);
	if (rc < 0)
		return tell_kept(&i.kept, rc, err);
	print_stats(cli, &i.stats, o->dry_run);
	say_left(left);
	return left ? 0 : check_some(&i.stats, err);
}

/* Requires a scheme: the name of a file would look like a host. */
static int add_url(struct import *i, const char *url, struct err *err)
{
	if (!strstr(url, "://") && !access(url, F_OK))
		return err_set(err, E_USAGE, "%s: is a file here: `freshet import` reads it; the URL of a "
		               "page begins with http:// or https://", url);
	return import_url(i, url, err);
}

struct add_opts { double weight; struct option_list tag; };

static const struct option_spec add_options[] = {
	OPT_DOUBLE(add_opts, weight, 1, 0, STORE_WEIGHT_MAX,
	           "how much these pages count under --weight given"),
	OPT_LIST(add_opts, tag, "TAG", "give these pages this tag"),
	OPT_END
};

/* One URL of several: what is wrong with it does not end the others. */
static int add_one(struct import *i, const char *url, struct err *err)
{
	int rc = strcmp(url, "-") ? add_url(i, url, err) : import_file(i, "-", err);

	if (rc != E_USAGE)
		return rc;
	i->stats.n_bad++;
	i->report(i->arg, err->text);
	return 0;
}

static int add_all(struct import *i, int n, char **args, struct err *err)
{
	int rc = 0;

	for (int k = 0; k < n && rc >= 0; k++)
		rc = n > 1 ? add_one(i, args[k], err) :
		     strcmp(args[k], "-") ? add_url(i, args[k], err) : import_file(i, "-", err);
	return rc;
}

static int add_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct add_opts *o = opts;
	struct reporting r = { 0 };
	struct import i = { .folder = cli->common.repository, .now = clock_now(),
	                    .report = show_bad, .arg = &r, .restore = true };
	struct import_settings *as;
	uint32_t left = 0;
	int rc = shards_any(cli) ? repository_read(cli, &i.store, err) :
	         repository_open(cli, &i.store, err);

	if (rc < 0)
		return rc;
	i.weigh = cli_given(cli, "weight");
	i.weight = o->weight;
	i.tags = o->tag.v;
	i.n_tags = o->tag.n;
	rc = import_settings_load(&as, &i, err);
	if (rc == 0)
		rc = shards_any(cli) ? import_fleet(cli, &i, add_all, n_args, args, &left, err) :
		     add_all(&i, n_args, args, err);
	store_close(i.store);
	import_settings_free(as);
	if (rc < 0)
		return rc;
	if (i.stats.n_outside && !i.stats.n_pages && !i.stats.n_known)
		return err_set(err, E_USAGE, "the rules of scope leave %s out: `freshet get` shows "
		               "include and exclude", i.stats.n_outside == 1 ? "it" : "them");
	print_stats(cli, &i.stats, false);
	say_left(left);
	return left ? 0 : check_some(&i.stats, err);
}

const struct command command_import = {
	.name = "import",
	.reach = MAY_READ_ARGS | MAY_ASK_ARGS,
	.on_fleet = FLEET_SELF,
	.arguments = "FILE...",
	.summary = "pages and their history from files: URL lists, CDX, CDXJ, WARC, WACZ, sitemaps, "
		"link graphs, crawl.log",
	.description =
		"The kind of a file is found by looking into it; gz and zst are unpacked; `-` is standard\n"
		"input; a folder stands for the WARC, WACZ, CDX and CDXJ files in it. Heritrix's\n"
		"crawl.log and the text of Nutch's `readdb -dump` are read, too. cdx+URL asks an index\n"
		"server (pywb, Common Crawl, the Internet Archive, OutbackCDX), page by page; broken off,\n"
		"the same import goes on there. In a URL list, one URL a line, lines that begin with #\n"
		"are comments; a URL without a scheme is one of http, if it begins with a host that has a\n"
		"dot; a number behind the URL (or, in lines of JSON, the key `weight`) is how much the\n"
		"page counts under --weight given. Malformed lines are reported with their number and\n"
		"reason, and the rest is imported.\n\n"
		"Captures dated more than a day in the future are left out and counted: a page seen\n"
		"then would never be old, and no policy would ask for it.\n\n"
		"URLs that the rules of scope leave out (--include, --exclude, or the settings of these\n"
		"names) are counted and left out; --dry-run shows what rules would do. Pages that were\n"
		"removed stay removed, unless --restore is given.\n\n"
		"Importing again what is there changes nothing; an import that was cut off is\n"
		"finished by running it again.",
	.examples =
		"  freshet -C crawl import urls.txt.gz\n"
		"  freshet -C crawl import trace             # a folder of archives\n"
		"  zcat lists/*.gz | freshet -C crawl import -\n"
		"  freshet -C crawl import site.wacz\n"
		"  freshet -C crawl import 'cdx+https://index.example.org/cdx?url=example.com/*'\n"
		"  freshet -C crawl import urls.txt.gz --exclude '*.pdf' --dry-run\n",
	.options = import_options,
	.opts_size = sizeof(struct import_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.archives = true,
	.exits = "0 done; lines that could not be read are counted, and do not end the rest\n"
		"130 interrupted: what was read is kept\n",
	.run = import_run,
};

const struct command command_add = {
	.name = "add",
	.on_fleet = FLEET_SELF,
	.arguments = "URL...",
	.summary = "put pages under care",
	.description =
		"A URL without a scheme is one of http, if it begins with a host that has a dot; `-`\n"
		"reads a list from standard input, as `freshet import -` does. A page that is there\n"
		"already gets weight and tags, too; one that was removed comes back, with its history.\n"
		"A URL that cannot be read is reported and counted, and the others are added.",
	.examples = "  freshet -C crawl add https://example.org/news/\n"
		"  freshet -C crawl add --weight 5 --tag news https://example.org/\n",
	.options = add_options,
	.opts_size = sizeof(struct add_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.run = add_run,
};
