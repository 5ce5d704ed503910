/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_prune.c - `freshet prune` and `compact`: old copies go, files and tables get smaller. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/care/prune_fleet.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/book/care.h"
#include "engine/book/lock.h"
#include "engine/prune/prune.h"

struct prune_opts {
	int64_t keep, keep_versions, now;
	const char *site, *tag;
	struct option_list match;
	bool dry_run;
};

static const struct option_spec prune_options[] = {
	OPT_DURATION(prune_opts, keep, NULL, "keep copies of this time, and the one that was true "
	             "when it began"),
	{ .name = "keep_versions", .type = OPTION_INT, .min = 1, .max = 1e6, .arg = "N",
	  .offset = offsetof(struct prune_opts, keep_versions),
	  .help = "keep so many different copies of each page" },
	OPT_TEXT(prune_opts, site, NULL, "HOST", "only pages of a host and of its subdomains"),
	OPT_LIST(prune_opts, match, "RULE", "only pages that one of these rules fits: a prefix, a "
	         "glob or regex:R; `freshet help set` has the forms"),
	OPT_TEXT(prune_opts, tag, NULL, "TAG", "only pages that have this tag"),
	OPT_FLAG(prune_opts, dry_run, "change nothing; say what would go"),
	OPT_TIME(prune_opts, now, NULL, "count back from this time"),
	OPT_END
};

struct compact_opts { int64_t now; };

static const struct option_spec compact_options[] = { OPT_END };

static void warn(void *arg, const char *text)
{
	(void)arg;
	log_warn("%s: left as it is", text);
}

/* The numbers of the pages that --site, --match and --tag choose; none given: all. */
static int choose(struct prune *p, const struct prune_opts *o, uint32_t **ret, struct err *err)
{
	struct care_which which = { .site = o->site, .tag = o->tag };
	struct care_pages pages = { 0 };
	int rc = 0;

	*ret = NULL;
	if (!o->site && !o->tag && !o->match.n)
		return 0;
	for (size_t i = 0; i < o->match.n && rc == 0; i++)
		rc = scope_list_add(&which.match, o->match.v[i], err);
	if (rc == 0)
		rc = care_choose(&pages, p->store, &which, err);
	if (rc == 0) {
		*ret = mem_array(pages.pages.n + 1, sizeof **ret);
		for (size_t i = 0; i < pages.pages.n; i++)
			(*ret)[i] = pages.pages.v[i].page;
		p->pages = *ret;
		p->n_pages = pages.pages.n;
	}
	scope_list_release(&which.match);
	care_pages_release(&pages);
	return rc;
}

static void json_files(struct json *j, const struct prune *p)
{
	json_key(j, "files");
	json_object(j);
	json_kint(j, "before", (int64_t)p->files_before);
	json_kint(j, "after", (int64_t)p->files_after);
	json_kint(j, "deleted", (int64_t)p->files_deleted);
	json_kint(j, "rewritten", (int64_t)p->files_rewritten);
	json_kint(j, "merged", (int64_t)p->files_merged);
	json_kint(j, "left", (int64_t)p->files_left);
	json_kint(j, "bytes_before", (int64_t)p->bytes_before);
	json_kint(j, "bytes_after", (int64_t)p->bytes_after);
	json_end_object(j);
}

/* Of a fleet: shards that somebody holds, files on other machines. */
static void json_left(struct json *j, const struct prune_fleet *f)
{
	json_kint(j, "shards_held", f->n_held);
	json_kint(j, "files_elsewhere", (int64_t)f->n_elsewhere);
}

static void print_json(const struct prune *p, const struct prune_fleet *f)
{
	struct json j;

	cli_json_begin(&j, "prune");
	json_kint(&j, "captures", (int64_t)p->n_captures);
	json_kint(&j, "dropped", (int64_t)p->n_dropped);
	json_kint(&j, "pages", (int64_t)p->n_thinned);
	json_kint(&j, "bytes_dropped", (int64_t)p->bytes_dropped);
	json_kbool(&j, "dry_run", p->dry_run);
	if (!p->dry_run)
		json_files(&j, p);
	if (f->p)
		json_left(&j, f);
	cli_json_end(&j);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_text(const struct prune *p)
{
	printf("%llu of %llu captures %s, of %llu page%s", (unsigned long long)p->n_dropped,
	       (unsigned long long)p->n_captures, p->dry_run ? "would go" : "went",
	       (unsigned long long)p->n_thinned, plural(p->n_thinned));
	if (p->dry_run)
		printf("; their records in warc/ have %.1f MB", (double)p->bytes_dropped / 1e6);
	else
		printf("; archive files: %llu deleted, %llu written anew, %.1f MB before, %.1f MB "
		       "now", (unsigned long long)p->files_deleted,
		       (unsigned long long)p->files_rewritten, (double)p->bytes_before / 1e6,
		       (double)p->bytes_after / 1e6);
	printf("\n");
}

/* Files were left for want of room: that is no success. */
static int say_no_room(const struct prune *p, struct err *err)
{
	return p->no_room ? err_set(err, E_IO, "%s/warc: no room to write a file anew: make some (as "
	                            "much as the largest file has) and run the command again; "
	                            "nothing is lost", p->folder) : 0;
}

/* The rows of a store that is open and locked. */
static int prune_pages(void *arg, struct prune *p, struct err *err)
{
	uint32_t *pages = NULL;
	int rc = choose(p, arg, &pages, err);

	if (rc == 0)
		rc = prune_rows(p, err);
	p->pages = NULL;
	free(pages);
	return rc;
}

static int prune_one(struct cli *cli, const struct prune_opts *o, struct prune *p,
                     struct err *err)
{
	int rc = o->dry_run ? repository_read(cli, &p->store, err) :
	         repository_open(cli, &p->store, err);

	if (rc < 0)
		return rc;
	if (!o->dry_run)
		rc = lock_wait(p->store, err);
	if (rc == 0)
		rc = prune_pages((void *)(uintptr_t)o, p, err);
	if (rc == 0 && !o->dry_run)
		rc = sweep_run(p, err);
	if (rc == 0 && !o->dry_run)
		rc = store_tidy(p->store, false, err);
	store_unlock(p->store);
	store_close(p->store);
	return rc;
}

static int prune_cmd(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct prune_opts *o = opts;
	struct prune p = { .folder = cli->common.repository, .dry_run = o->dry_run,
	                   .now = cli_given(cli, "now") ? o->now : clock_now(), .report = warn };
	struct prune_fleet f = { .rows = prune_pages, .arg = opts };
	int rc;

	(void)n_args, (void)args;
	if (!cli_given(cli, "keep") && !cli_given(cli, "keep_versions"))
		return err_set(err, E_USAGE, "prune: what shall stay? Give --keep 90d, --keep-versions 3, "
		               "or both");
	p.rule.since = cli_given(cli, "keep") ? p.now - o->keep : INT64_MAX;
	p.rule.versions = cli_given(cli, "keep_versions") ? (uint32_t)o->keep_versions : 0;
	rc = shards_any(cli) ? prune_fleet(cli, &p, &f, err) : prune_one(cli, o, &p, err);
	if (rc == 0) {
		if (cli->common.json)
			print_json(&p, &f);
		else
			print_text(&p);
		rc = say_no_room(&p, err);
	}
	return rc == 0 ? prune_fleet_say(&f, err) : rc;
}

/* Bytes of the tables; 0: they are elsewhere. */
static uint64_t tables_size(const struct store *s)
{
	struct stat st;

	return store_file(s) && stat(store_file(s), &st) == 0 ? (uint64_t)st.st_size : 0;
}

static int compact_one(struct cli *cli, struct prune *p, uint64_t *ret_before,
                       uint64_t *ret_after, struct err *err)
{
	int rc = repository_open(cli, &p->store, err);

	if (rc < 0)
		return rc;
	*ret_before = tables_size(p->store);
	rc = lock_wait(p->store, err);
	if (rc == 0)
		rc = prune_merge(p, err);
	if (rc == 0)
		rc = store_tidy(p->store, true, err);
	*ret_after = tables_size(p->store);
	store_unlock(p->store);
	store_close(p->store);
	return rc;
}

static int compact_cmd(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct prune p = { .folder = cli->common.repository, .now = clock_now(), .report = warn };
	struct prune_fleet f = { .merge = true };
	uint64_t before = 0, after = 0;
	struct json j;
	int rc;

	(void)opts, (void)n_args, (void)args;
	rc = shards_any(cli) ? prune_fleet(cli, &p, &f, err) :
	     compact_one(cli, &p, &before, &after, err);
	if (rc == 0 && cli->common.json) {
		cli_json_begin(&j, "compact");
		json_files(&j, &p);
		json_key(&j, "tables");
		json_object(&j);
		json_kint(&j, "bytes_before", (int64_t)before);
		json_kint(&j, "bytes_after", (int64_t)after);
		json_end_object(&j);
		if (f.p)
			json_left(&j, &f);
		cli_json_end(&j);
	} else if (rc == 0) {
		printf("archive files: %llu before, %llu now", (unsigned long long)p.files_before,
		       (unsigned long long)p.files_after);
		if (before)
			printf("; tables: %.1f MB before, %.1f MB now", (double)before / 1e6,
			       (double)after / 1e6);
		printf("\n");
	}
	if (rc == 0)
		rc = say_no_room(&p, err);
	return rc == 0 ? prune_fleet_say(&f, err) : rc;
}

const struct command command_prune = {
	.name = "prune",
	.arguments = "",
	.summary = "let old copies go, from the tables and from the archive files",
	.description =
		"Copies that are neither younger than --keep nor among the last --keep-versions go. Of\n"
		"every page stay: the newest good copy, the newest answer of any kind, and the copy that\n"
		"a kept \"unchanged\" refers to. With --keep also stays the copy that was true when that\n"
		"time began, so a change within it can still be shown. Visits stay: policies keep what\n"
		"they learnt, and no cursor of `export changed` or of the library moves.\n\n"
		"Archive files that Freshet wrote (freshet-*.warc.gz or .zst in warc/) are deleted when\n"
		"no copy lies in them, and written anew without the old records when these are a fifth or\n"
		"more; that needs room for one such file. Answers that broke off, which no copy refers\n"
		"to, go with it. Archives that you imported from elsewhere are never touched: only what\n"
		"the tables know of them goes.\n\n"
		"It waits for a cycle to end. If it is stopped or killed, nothing that stays is lost: the\n"
		"next prune, or the next cycle, finishes or undoes what was begun.\n\n"
		PRUNE_FLEET_HELP,
	.examples =
		"  freshet -C crawl prune --keep 90d --dry-run\n"
		"  freshet -C crawl prune --keep-versions 3\n"
		"  freshet -C crawl prune --keep 30d --keep-versions 2 --site example.org --json\n",
	.options = prune_options,
	.opts_size = sizeof(struct prune_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.exits = "3 no room to write an archive file anew, which is left as it is; or another error of a file\n"
		"5 of a fleet: workers held shards, which were left out\n",
	.on_fleet = FLEET_ALWAYS,
	.run = prune_cmd,
};

const struct command command_compact = {
	.name = "compact",
	.arguments = "",
	.summary = "merge small archive files, and give unused space of the tables back",
	.description =
		"Each cycle begins a new archive file. This merges those below 100 MB into files of up to\n"
		"1 GB; every record stays, byte for byte, and is read back before the old files go. Then\n"
		"the tables are written anew without their gaps (SQLite), or cleared of dead rows\n"
		"(PostgreSQL, VACUUM). That needs as much room again on the disk for a while.\n\n"
		"It loses nothing; `freshet prune` does. It waits for a cycle to end, and may be killed.\n\n"
		PRUNE_FLEET_HELP,
	.examples = "  freshet -C crawl compact\n",
	.options = compact_options,
	.opts_size = sizeof(struct compact_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.exits = "3 no room for a merged file; the small ones are left as they are\n"
		"5 of a fleet: workers held shards, which were left out\n",
	.on_fleet = FLEET_ALWAYS,
	.run = compact_cmd,
};
