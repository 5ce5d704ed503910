/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_set.c - `freshet set` and `freshet get`: settings of a repository. */
#include <stdio.h>

#include "base/near.h"
#include "cli/frame/crawling.h"
#include "engine/recall/planning.h"
#include "fetch/gate.h"

/* Check texts that have a grammar now, not when they are used. */
static int check_meaning(const char *name, const char *value, struct err *err)
{
	struct gate gate = { 0 };
	int rc;

	if (!strcmp(name, "allow_net"))
		rc = crawling_allow(&gate, value, err);
	else if (!strcmp(name, "contact"))
		rc = crawling_contact(value, err);
	else
		rc = planning_check(name, value, err);
	gate_release(&gate);
	return rc;
}

/* Try the value on a scratch copy of the option's struct. */
static int check_value(const struct option_spec *s, const char *value, struct err *err)
{
	struct option_spec scratch = *s;
	union { char bytes[sizeof(struct option_list)]; double d; int64_t i; void *p;
	        struct share share; struct option_list list; } place = { { 0 } };
	int rc;

	scratch.offset = 0;
	rc = option_set(&scratch, &place, value, err);
	if (s->type == OPTION_LIST)
		free(place.list.v);
	return rc < 0 ? rc : check_meaning(s->name, value, err);
}

static int no_setting(const char *name, struct err *err)
{
	struct near near = near_begin(name, strlen(name));
	const struct command *c;
	char shown[2][64];
	int kept = 0;

	for (size_t i = 0; (c = command_at(i)); i++) {
		for (const struct option_spec *s = c->options; s && s->name; s++) {
			if (!s->setting)
				continue;
			option_display(s, shown[!kept]);
			near_try(&near, shown[!kept]);
			if (near.best == shown[!kept])
				kept = !kept;
		}
	}
	if (near.best)
		return err_set(err, E_USAGE, "no setting '%s'; did you mean %s? `freshet get --all` "
		               "lists them", name, near.best);
	return err_set(err, E_USAGE, "no setting '%s'; `freshet get --all` lists them", name);
}

static int set_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct option_spec *spec = setting_find(args[0]);
	const char *value = n_args > 1 ? args[1] : NULL;
	struct store *s;
	char name[64];
	int rc;

	(void)opts;
	if (!spec)
		return no_setting(args[0], err);
	if (value && (rc = check_value(spec, value, err)) < 0)
		return rc;
	option_display(spec, name);
	rc = repository_open(cli, &s, err);
	if (rc < 0)
		return rc;
	if ((rc = store_begin(s, err)) == 0 &&
	    (rc = store_setting_put(s, name, value, err)) == 0)
		rc = store_commit(s, err);
	store_close(s);
	if (rc == 0 && cli->common.json) {
		struct json j;

		cli_json_begin(&j, "set");
		json_kstr(&j, "key", name);
		json_kstr(&j, "value", value);
		cli_json_end(&j);
	}
	return rc;
}

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
	if (g->only ? strcmp(g->only, key) != 0 : !strncmp(key, "state.", 6))
		return 0;               /* state is the engine's own */
	g->found = true;
	if (g->j)
		json_kstr(g->j, key, value);
	else if (g->only)
		printf("%s\n", value);
	else
		printf("%s %s\n", key, value);
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
	struct store *s;
	struct json j;
	int rc;

	if (o->all) {
		print_all(cli->common.json);
		return 0;
	}
	if (g.only && !setting_find(g.only))
		return no_setting(g.only, err);
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
	}
	else if (rc == 0 && g.only && !g.found)
		log_info("%s is not set; `freshet get --all` tells defaults", g.only);
	store_close(s);
	return rc;
}

const struct command command_set = {
	.name = "set",
	.arguments = "KEY [VALUE]",
	.summary = "set a setting of the repository; without a value, unset it",
	.description = "Settings carry the names of options and are used where the option is not "
		"given.\n`freshet get --all` lists them.",
	.examples = "  freshet -C crawl set contact https://example.org/crawler\n",
	.n_args_min = 1,
	.n_args_max = 2,
	.run = set_run,
};

const struct command command_get = {
	.name = "get",
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
	.run = get_run,
};
