/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_init.c - `freshet init`: make a repository. */

#include "cli/frame/repository.h"

static int init_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const char *dir = n_args ? args[0] : cli->common.repository;
	struct store *s;
	int rc = repository_create(cli, dir, &s, err);

	(void)opts;
	if (rc < 0)
		return rc;
	store_close(s);
	if (cli->common.json) {
		struct json j;

		cli_json_begin(&j, "init");
		json_kstr(&j, "repository", dir);
		cli_json_end(&j);
	} else {
		bool here = !strcmp(dir, ".");

		log_info("repository in %s; next: freshet %s%s%simport FILE...", dir,
		         here ? "" : "-C ", here ? "" : dir, here ? "" : " ");
	}
	return 0;
}

const struct command command_init = {
	.name = "init",
	.arguments = "[DIR]",
	.summary = "make a repository: DIR/freshet.db and DIR/warc/",
	.description = "A repository that is already there is left as it is.",
	.examples = "  freshet init crawl\n",
	.n_args_min = 0,
	.n_args_max = 1,
	.run = init_run,
};
