/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_copy.c - `freshet copy`: the tables of a repository into another store. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io/progress.h"
#include "cli/frame/crawling.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "repo/copy/copy.h"
#include "repo/place.h"

/* A folder is a repository, or becomes one; all else is the name of a store. */
static bool is_folder(const char *arg)
{
	struct stat st;

	return (stat(arg, &st) == 0 && S_ISDIR(st.st_mode)) || !strchr(arg, ':');
}

static int open_source(const char *arg, struct store **ret, struct err *err)
{
	char where[PLACE_SIZE];
	int rc = 0;

	if (is_folder(arg))
		rc = place_find(arg, where, err);
	else
		snprintf(where, sizeof where, "%.*s", (int)sizeof where - 1, arg);
	if (rc == 0 && shards_at(where) > 1)
		rc = err_set(err, E_USAGE, "%s: this is a fleet of %u shards, which one store cannot hold: "
		             "`freshet export cdxj` and `export warc` write all of them, for `freshet import`; "
		             "&shard=K behind the URL copies one", arg, shards_at(where));
	return rc < 0 ? rc : store_open(ret, where, STORE_READ, err);
}

static int open_target(struct cli *cli, const char *arg, struct store **ret, struct err *err)
{
	return is_folder(arg) ? repository_create(cli, arg, ret, err) :
		store_open(ret, arg, STORE_CREATE, err);
}

static int show(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;

	p->total = total;
	progress_set(p, done);
	return crawling_stopped();
}

static void print(const struct cli *cli, const struct copy_report *r)
{
	struct json j;

	if (!cli->common.json) {
		for (int i = 0; i < N_COPY_TABLES; i++)
			if (r->tables[i].rows)
				printf("%-10s%12" PRIu64 " rows  %016" PRIx64 "\n",
				       copy_table_name((enum copy_table)i), r->tables[i].rows,
				       r->tables[i].hash);
		return;
	}
	cli_json_begin(&j, "copy");
	json_kbool(&j, "resumed", r->resumed);
	json_key(&j, "tables");
	json_object(&j);
	for (int i = 0; i < N_COPY_TABLES; i++) {
		char hash[20];

		snprintf(hash, sizeof hash, "%016" PRIx64, r->tables[i].hash);
		json_key(&j, copy_table_name((enum copy_table)i));
		json_object(&j);
		json_kint(&j, "rows", (int64_t)r->tables[i].rows);
		json_kstr(&j, "digest", hash);
		json_end_object(&j);
	}
	json_end_object(&j);
	cli_json_end(&j);
}

static int copy_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct store *from = NULL, *to = NULL;
	struct progress progress = { 0 };
	struct copy_report r;
	int rc = open_source(args[0], &from, err);

	(void)opts;
	(void)n_args;
	crawling_signals();
	if (rc == 0)
		rc = open_target(cli, args[1], &to, err);
	if (rc == 0 && (rc = store_lock(to, err)) == 0) {
		progress_start(&progress, "copying", "rows", 0);
		rc = copy_store(from, to, show, &progress, &r, err);
		progress_end(&progress);
	}
	store_close(from);
	store_close(to);
	if (rc == 0)
		print(cli, &r);
	if (rc == 0 && is_folder(args[0]))
		log_info("the tables are copied; the archive stays in %s/warc", args[0]);
	return rc;
}

const struct command command_copy = {
	.name = "copy",
	.reach = MAY_WRITE_ARGS | MAY_SKIP_STORE,
	.arguments = "FROM TO",
	.summary = "copy the tables of a repository into another store",
	.description =
		"FROM and TO are folders of repositories, or stores as --store takes them. All rows are\n"
		"copied: pages, captures, visits, cycles, settings and what a cycle remembers; not the\n"
		"WARC files, which stay where they are. TO must be empty. A copy that was broken off is\n"
		"gone on with by the same command.\n"
		"\n"
		"At the end both are read through: every table must have as many rows and the same\n"
		"digest of all their fields, which is printed.",
	.examples = "  freshet copy crawl backup\n"
	            "  freshet copy crawl 'postgresql://db.example/crawl?schema=news'\n",
	.n_args_min = 2,
	.n_args_max = 2,
	.run = copy_run,
};
