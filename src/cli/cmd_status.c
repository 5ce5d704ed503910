/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - `freshet status`: what the repository holds, site by site too. */
#include <stdio.h>

#include "cli/history_print.h"
#include "cli/repository.h"
#include "engine/page_copy.h"

struct status_opts {
	bool check, sites, accessibility;
	int sort;
	const char *policy;
	int64_t every;
};

static const struct option_spec status_options[] = {
	OPT_FLAG(status_opts, check, "check the integrity of the tables, too"),
	OPT_FLAG(status_opts, sites, "each site: visits, updates, probability, change rate"),
	OPT_FLAG(status_opts, accessibility, "with --sites: count the changes that concern "
	         "accessibility, by reading the archived copies"),
	OPT_CHOICE(status_opts, sort, "visits|updates|probability|rate|name", "visits",
	           "order of --sites"),
	{ .name = "policy", .type = OPTION_TEXT, .def = "automaton:unit=site", .arg = "SPEC",
	  .offset = offsetof(struct status_opts, policy), .setting = true,
	  .help = "whose probabilities --sites shows" },
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION",
	  .offset = offsetof(struct status_opts, every), .setting = true,
	  .help = "time between cycles" },
	OPT_END
};

static int status_totals(struct cli *cli, struct store *s, struct err *err)
{
	struct pages_opts po = { 0 };
	struct status_counts c;
	struct loaded l = { 0 };
	int rc;

	if ((rc = status_count(s, &c, err)) == 0 && (rc = load_pages(&l, s, &po, err)) == 0) {
		struct json j;

		json_to_file(&j, stdout);
		if (cli->common.json)
			status_print_json(&j, &c, &l);
		else
			status_print_text(&c, &l);
	}
	loaded_release(&l);
	return rc;
}

static int status_sites(struct cli *cli, struct store *s, const struct status_opts *o,
                        struct err *err)
{
	struct progress progress = { 0 };
	struct resume_opts ro = { .policy = o->policy, .seed = (uint64_t)cli->common.seed,
	                          .cycle_seconds = o->every, .progress = &progress };
	struct site_status *rows = NULL;
	struct status_counts counts;
	uint64_t *access = NULL;
	struct resumed r;
	int rc = resume(&r, s, &ro, err);

	if (rc == 0 && o->check)
		rc = store_check(s, err);
	if (rc == 0)
		rc = status_count(s, &counts, err);
	if (rc == 0)
		rc = sites_status(&r, s, o->every, &rows, err);
	if (rc == 0 && o->accessibility) {
		access = mem_zalloc(r.loaded.pages.tree.n_sites, sizeof *access);
		rc = access_count(s, cli->common.repository, &r.loaded.pages, access, err);
	}
	if (rc == 0) {
		uint32_t n = r.loaded.pages.tree.n_sites;
		struct json j;

		sites_sort(rows, n, &r.loaded.pages, (enum sites_order)o->sort);
		json_to_file(&j, stdout);
		if (cli->common.json)
			sites_print_json(&j, &counts, &r.loaded, rows, n, access);
		else
			sites_print_table(rows, n, &r.loaded.pages, access);
	}
	free(access);
	free(rows);
	resume_release(&r);
	return rc;
}

static int status_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct status_opts *o = opts;
	struct arena keep = { 0 };
	struct store *s;
	int rc = repository_open(cli, &s, err);

	(void)n_args;
	(void)args;
	if (rc < 0)
		return rc;
	rc = repository_settings(cli, s, &keep, err);
	if (rc == 0 && o->check)
		rc = store_check(s, err);
	if (rc == 0)
		rc = o->sites ? status_sites(cli, s, o, err) : status_totals(cli, s, err);
	store_close(s);
	arena_release(&keep);
	return rc;
}

static const char *const status_needs[][2] = {
	{ "sort", "sites" }, { "accessibility", "sites" }, { "policy", "sites" },
	{ "every", "sites" }, { NULL, NULL },
};

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.summary = "what the repository holds",
	.description =
		"A visit is a page asked for in a cycle, or by live, whatever came of it, or a capture\n"
		"that an archive brought; failed and blocked ones (robots.txt, addresses that are not\n"
		"public) count too. A visit may take several requests, as redirects do: `freshet log`\n"
		"tells both, and the budget counts requests.\n\n"
		"With --sites, for each site the visits (all of them: they add up to those above), the\n"
		"failed and blocked ones among them, the updates they found, the probability that the\n"
		"policy visits a page of it in the next cycle (for policies that can say it), the\n"
		"changes a day of a page with their 95 % interval (by the visits that looked for\n"
		"changes and had an answer), the last of those, and when the next is expected.",
	.examples =
		"  freshet -C crawl status\n"
		"  freshet -C crawl status --sites --sort rate\n",
	.options = status_options,
	.opts_size = sizeof(struct status_opts),
	.needs = status_needs,
	.n_args_min = 0,
	.n_args_max = 0,
	.run = status_run,
};
