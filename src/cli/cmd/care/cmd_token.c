/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_token.c - `freshet token`: who may use the service. */
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "serve/token/tokens.h"

struct token_opts { int right; };

static const struct option_spec token_options[] = {
	OPT_CHOICE(token_opts, right, RIGHT_CHOICES, "read", "what a new token may do: read; "
	           "lease pages and tell outcomes as well; or everything"),
	OPT_END
};

static void print_token(const struct cli *cli, const char *name, enum right right,
                        const char *text)
{
	struct json j;

	if (!cli->common.json) {
		puts(text);
		return;
	}
	cli_json_begin(&j, "token");
	json_kstr(&j, "name", name);
	json_kstr(&j, "right", right_name(right));
	json_kstr(&j, "token", text);
	cli_json_end(&j);
}

static int list(const struct cli *cli, struct store *s, struct err *err)
{
	static const char *const heads[] = { "<name", "<right", "<made" };
	struct tokens t = { 0 };
	struct table *table = table_new(heads, 3);
	struct json j;
	int rc = tokens_load(&t, s, err);

	if (rc == 0 && cli->common.json) {
		cli_json_begin(&j, "token");
		json_key(&j, "tokens");
		json_array(&j);
	}
	for (size_t i = 0; rc == 0 && i < t.v.n; i++) {
		const struct token *one = &t.v.v[i];
		char made[21];

		when_iso(one->made, made);
		if (cli->common.json) {
			json_object(&j);
			json_kstr(&j, "name", one->name);
			json_kstr(&j, "right", right_name(one->right));
			json_kstr(&j, "made", made);
			json_end_object(&j);
		} else {
			table_cell(table, "%s", one->name);
			table_cell(table, "%s", right_name(one->right));
			table_cell(table, "%s", made);
		}
	}
	if (rc == 0 && cli->common.json) {
		json_end_array(&j);
		cli_json_end(&j);
	} else if (rc == 0 && t.v.n) {
		table_print(table, stdout);
	} else if (rc == 0) {
		log_info("there is no token; `freshet token add NAME` makes one");
	}
	table_free(table);
	tokens_release(&t);
	return rc;
}

static int token_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct token_opts *o = opts;
	bool adds = !strcmp(args[0], "add"), removes = !strcmp(args[0], "remove");
	enum right right = (enum right)(o->right + RIGHT_READ);
	char text[TOKEN_TEXT];
	struct fleet *fleet = cli->shards ? cli->shards->fleet : NULL;
	struct store *s = NULL;
	struct json j;
	int rc = 0;

	if (!(adds || removes ? n_args == 2 : n_args == 1 && !strcmp(args[0], "list")))
		return err_set(err, E_USAGE, "token: wants add NAME, remove NAME or list");
	if (cli_given(cli, "right") && !adds)
		return err_set(err, E_USAGE, "token: --right goes with add");
	if (cli->common.shard >= 0)
		return err_set(err, E_USAGE, "token: --shard means nothing here: tokens are of the fleet");
	if (!adds && !removes)
		rc = repository_read(cli, &s, err);
	else if (!fleet)
		rc = repository_open(cli, &s, err);
	if (rc < 0)
		return rc;
	if (adds)
		rc = tokens_add(s, fleet, args[1], right, clock_now(), text, err);
	else if (removes)
		rc = tokens_remove(s, fleet, args[1], err);
	else
		rc = list(cli, s, err);
	store_close(s);
	if (rc == 0 && adds) {
		print_token(cli, args[1], right, text);
		log_info("it is shown this once; from now on `freshet serve` asks everybody for a token");
	} else if (rc == 0 && removes && cli->common.json) {
		cli_json_begin(&j, "token");
		json_kstr(&j, "removed", args[1]);
		cli_json_end(&j);
	}
	return rc;
}

const struct command command_token = {
	.name = "token",
	.arguments = "add NAME | remove NAME | list",
	.summary = "who may use `freshet serve`",
	.description =
		"A token is a random text that a client sends as `Authorization: Bearer TOKEN`, or that a\n"
		"person gives the dashboard. It is shown once; the repository keeps its digest. As soon as\n"
		"there is one, every request needs one, on loopback, too. A running service knows of new\n"
		"and removed tokens within a second. Tokens of a fleet are for all its shards; they are made\n"
		"and removed whoever holds shards.",
	.examples = "  freshet -C crawl token add crawler --right lease\n"
		"  freshet -C crawl token list\n",
	.options = token_options,
	.opts_size = sizeof(struct token_opts),
	.n_args_min = 1,
	.n_args_max = 2,
	.on_fleet = FLEET_SELF,
	.run = token_run,
};
