/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - `freshet export`: what the repository holds, for other
 * programs.  One kind is one line in the table below.
 */
#include <math.h>
#include <stdio.h>

#include "cli/repository.h"
#include "policy/policy.h"

struct export_opts { const char *since; };

static const struct option_spec export_options[] = {
	OPT_TEXT(export_opts, since, NULL, "TIME|last",
	         "changed: only what was seen since then, or in the last cycle"),
	OPT_END
};

struct exporting {
	struct store *store;
	struct json j;
	int64_t since;
	uint32_t last_cycle;
	uint64_t n;
};

static void json_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (!t)
		return;
	when_iso(t, text);
	json_kstr(j, key, text);
}

static int export_page(void *arg, const struct store_page *p, struct err *err)
{
	struct exporting *e = arg;
	struct json *j = &e->j;

	(void)err;
	json_object(j);
	json_key(j, "url");
	json_strn(j, p->url.s, p->url.size);
	json_kstr(j, "state", p->state == STORE_PAGE_HERE ? "here" :
	          p->state == STORE_PAGE_GONE ? "gone" : "left");
	json_time(j, "added", p->added);
	json_time(j, "last_visit", p->last_visit);
	json_time(j, "last_change", p->last_change);
	json_kint(j, "visits", p->visits);
	json_kint(j, "changes", p->changes);
	json_end_object(j);
	json_newline(j);
	return 0;
}

static int export_pages(struct exporting *e, struct err *err)
{
	return store_pages(e->store, export_page, e, err);
}

struct export_kind { const char *name; int (*run)(struct exporting *e, struct err *err); };

static const struct export_kind kinds[] = {
	{ "pages", export_pages },
};

static int export_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct export_opts *o = opts;
	struct exporting e = { 0 };
	const struct export_kind *kind = NULL;
	int rc;

	(void)n_args;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, args[0]))
			kind = &kinds[i];
	if (!kind)
		return err_set(err, E_USAGE, "export: '%s' is none of the kinds in --help", args[0]);
	if (o->since && strcmp(o->since, "last") &&
	    !when_parse(o->since, strlen(o->since), &e.since))
		return err_set(err, E_USAGE, "since: '%s' is neither a time nor `last`", o->since);
	rc = repository_open(cli, &e.store, err);
	if (rc < 0)
		return rc;
	json_to_file(&e.j, stdout);
	rc = kind->run(&e, err);
	store_close(e.store);
	return rc;
}

const struct command command_export = {
	.name = "export",
	.arguments = "pages",
	.summary = "what the repository holds, as JSON Lines",
	.description = "pages: every page, one JSON object a line.",
	.examples = "  freshet -C crawl export pages > pages.jsonl\n",
	.options = export_options,
	.opts_size = sizeof(struct export_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.run = export_run,
};
