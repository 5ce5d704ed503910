/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_get.c - `freshet get`: the settings that a repository has, or could have. */
#include <stdio.h>

#include "cli/frame/repository.h"

struct get_opts { bool all; };

static const struct option_spec get_options[] = {
	OPT_FLAG(get_opts, all, "every setting there is, with its meaning"),
	OPT_END
};

struct getting { struct json *j; const char *only; bool found; };

static int print_setting(void *arg, const char *key, const char *value, struct err *err)
{
	struct getting *g = arg;

	(void)err;
	if (g->only && strcmp(g->only, key))
		return 0;
	g->found = true;
	if (g->j)
		json_kstr(g->j, key, value);
	for (const char *line = value; !g->j; ) {       /* headers: one a line */
		size_t size = strcspn(line, "\n");

		printf("%s%s%.*s\n", g->only ? "" : key, g->only ? "" : " ", (int)size, line);
		if (!line[size])
			break;
		line += size + 1;
	}
	return 0;
}

static void print_known(const struct option_spec *s, struct json *j)
{
	char name[64];

	option_display(s, name);
	if (!j) {
		printf("%-22s  %s%s%s%s\n", name, s->help, s->def ? " (default " : "",
		       s->def ? s->def : "", s->def ? ")" : "");
		return;
	}
	json_object(j);
	cli_json_option(j, s);
	json_end_object(j);
}

/* Every setting there is, each once; j may be NULL. */
static void each_known(struct json *j)
{
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++)
		for (const struct option_spec *s = c->options; s && s->name; s++)
			if (s->setting && setting_find(s->name) == s)
				print_known(s, j);
}

static void print_all(bool as_json)
{
	struct json j;

	if (!as_json) {
		each_known(NULL);
		return;
	}
	cli_json_begin(&j, "get");
	json_key(&j, "known");
	json_array(&j);
	each_known(&j);
	json_end_array(&j);
	cli_json_end(&j);
}

static int get_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct get_opts *o = opts;
	struct getting g = { .only = n_args ? args[0] : NULL };
	const struct option_spec *known = NULL;
	struct store *s;
	struct json j;
	int rc;

	if (o->all) {
		print_all(cli->common.json);
		return 0;
	}
	if (g.only && !(known = setting_find(g.only)))
		return setting_unknown(g.only, err);
	rc = repository_read(cli, &s, err);
	if (rc < 0)
		return rc;
	if (cli->common.json) {
		cli_json_begin(&j, "get");
		json_key(&j, "settings");
		json_object(&j);
		g.j = &j;
	}
	rc = store_settings(s, print_setting, &g, err);
	if (g.j) {
		json_end_object(&j);
		cli_json_end(&j);
	} else if (rc == 0 && known && !g.found) {
		log_info("%s is not set%s%s", g.only, known->def ? "; the default is " : "",
		         known->def ? known->def : "");
	}
	store_close(s);
	return rc;
}

const struct command command_get = {
	.name = "get",
	.on_fleet = FLEET_SELF,
	.arguments = "[KEY]",
	.summary = "show settings of the repository",
	.examples =
		"  freshet -C crawl get\n"
		"  freshet -C crawl get contact\n"
		"  freshet get --all                       # every setting there is\n",
	.options = get_options,
	.opts_size = sizeof(struct get_opts),
	.n_args_min = 0,
	.n_args_max = 1,
	.read = true,
	.run = get_run,
};
