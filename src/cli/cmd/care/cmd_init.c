/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_init.c - `freshet init`: make a repository. */

#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "repo/fleet/fleet.h"
#include "repo/place.h"

struct init_opts { int64_t shards; };

static const struct option_spec init_options[] = {
	OPT_INT(init_opts, shards, 1, 1, 65536, "of a fleet on PostgreSQL: parts that pages are dealt out to, by "
	        "domain; said once, before there are pages"),
	OPT_END
};

static int make_shards(struct cli *cli, int64_t n, struct err *err)
{
	struct fleet *f = NULL;
	char where[4096];
	int rc = repository_where(cli, where, sizeof where, err);

	if (rc == 0 && !fleet_is_for(where))
		return n == 1 ? 0 : err_set(err, E_USAGE, "--shards: a fleet needs PostgreSQL: give --store "
		                            "postgresql://host/database");
	if (rc == 0)
		rc = fleet_open(&f, where, err);
	if (rc == 0)
		rc = fleet_make(f, (uint32_t)n, err);
	fleet_close(f);
	return rc;
}

/* What comes next?  On one more machine of a fleet that is there: to work. */
static void say_next(const struct cli *cli, const char *dir, bool was_there)
{
	char where[4096], option[REPOSITORY_OPTION_SIZE];
	uint32_t n = 0;

	if (!cli_given(cli, "shards") && repository_where(cli, where, sizeof where, NULL) == 0)
		n = shards_at(where);
	if (n > 1)
		log_info("repository in %s, of a fleet of %u shards; next: freshet %swork", dir, n,
		         repository_option(dir, option));
	else
		log_info("repository in %s%s; next: freshet %simport FILE...", dir,
		         was_there ? " was there already" : "", repository_option(dir, option));
}

static int init_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const char *dir = n_args ? args[0] : cli->common.repository;
	const struct init_opts *o = opts;
	bool was_there = place_is_repository(dir);
	struct store *s;
	int rc = repository_create(cli, dir, &s, err);

	if (rc < 0)
		return rc;
	store_close(s);
	if (cli_given(cli, "shards") && (rc = make_shards(cli, o->shards, err)) < 0)
		return rc;
	if (cli->common.json) {
		struct json j;

		cli_json_begin(&j, "init");
		json_kstr(&j, "repository", dir);
		json_kint(&j, "shards", o->shards);
		cli_json_end(&j);
	} else {
		say_next(cli, dir, was_there);
	}
	return 0;
}

const struct command command_init = {
	.name = "init",
	.reach = MAY_WRITE_ARGS | MAY_SKIP_STORE,
	.arguments = "[DIR]",
	.summary = "make a repository: DIR/freshet.db and DIR/warc/",
	.description = "A repository that is already there is left as it is.\n\n"
		"With --store postgresql://... and --shards it is a fleet: many machines run `freshet\n"
		"work` on it. docs/fleet.md tells how many shards are good.",
	.examples = "  freshet init crawl\n",
	.options = init_options,
	.opts_size = sizeof(struct init_opts),
	.n_args_min = 0,
	.n_args_max = 1,
	.run = init_run,
};
