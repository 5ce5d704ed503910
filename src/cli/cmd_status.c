/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - `freshet status`: what the repository holds. */
#include <stdio.h>

#include "cli/repository.h"
#include "engine/load.h"

struct status_opts { bool check; };

static const struct option_spec status_options[] = {
	OPT_FLAG(status_opts, check, "check the integrity of the tables, too"),
	OPT_END
};

static void print_json(const struct store_counts *c, const struct loaded *l)
{
	struct json j;
	char t[21];

	cli_json_begin(&j, "status");
	json_kint(&j, "pages", (int64_t)c->pages);
	json_kint(&j, "sites", l->pages.tree.n_sites);
	json_kint(&j, "directories", l->pages.tree.n_dirs);
	json_kint(&j, "captures", (int64_t)c->captures);
	json_kint(&j, "visits", (int64_t)c->visits);
	json_kint(&j, "cycles", (int64_t)c->cycles);
	json_kint(&j, "gone", (int64_t)c->gone);
	if (c->captures) {
		when_iso(c->first_capture, t);
		json_kstr(&j, "first_capture", t);
		when_iso(c->last_capture, t);
		json_kstr(&j, "last_capture", t);
	}
	json_kint(&j, "view_bytes", (int64_t)loaded_memory(l));
	cli_json_end(&j);
}

static void print_text(const struct store_counts *c, const struct loaded *l)
{
	char from[21], to[21];

	printf("pages        %llu", (unsigned long long)c->pages);
	if (c->gone)
		printf(" (%llu gone)", (unsigned long long)c->gone);
	printf("\nsites        %u\ndirectories  %u\ncaptures     %llu", l->pages.tree.n_sites,
	       l->pages.tree.n_dirs, (unsigned long long)c->captures);
	if (c->captures) {
		when_iso(c->first_capture, from);
		when_iso(c->last_capture, to);
		printf(", %s to %s", from, to);
	}
	printf("\nvisits       %llu\ncycles       %llu\n", (unsigned long long)c->visits,
	       (unsigned long long)c->cycles);
}

static int status_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct status_opts *o = opts;
	struct pages_opts po = { 0 };
	struct store_counts c;
	struct loaded l = { 0 };
	struct store *s;
	int rc = repository_open(cli, &s, err);

	(void)n_args;
	(void)args;
	if (rc < 0)
		return rc;
	if ((!o->check || (rc = store_check(s, err)) == 0) &&
	    (rc = store_count(s, &c, err)) == 0 && (rc = load_pages(&l, s, &po, err)) == 0) {
		if (cli->common.json)
			print_json(&c, &l);
		else
			print_text(&c, &l);
	}
	loaded_release(&l);
	store_close(s);
	return rc;
}

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.summary = "what the repository holds",
	.options = status_options,
	.opts_size = sizeof(struct status_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.run = status_run,
};
