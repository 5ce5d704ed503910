/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - `freshet status`: what the repository holds, site by site too. */
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/print/failing_print.h"
#include "cli/print/history_print.h"
#include "engine/recall/page_copy.h"

struct status_opts {
	bool check, sites, failing, accessibility;
	int sort;
	const char *policy;
	int64_t every, now;
};

static const struct option_spec status_options[] = {
	OPT_FLAG(status_opts, check, "check the integrity of the tables, too"),
	OPT_FLAG(status_opts, sites, "each site: visits, failures, updates, change rate"),
	OPT_FLAG(status_opts, failing, "the pages and sites whose last visits failed or were "
	         "blocked: why, since when, how often"),
	OPT_FLAG(status_opts, accessibility, "with --sites: count the changes that concern "
	         "accessibility, by reading the archived copies"),
	OPT_CHOICE(status_opts, sort, "visits|updates|probability|rate|name", "visits",
	           "order of --sites"),
	{ .name = "policy", .type = OPTION_TEXT, .def = "auto", .arg = "SPEC",
	  .offset = offsetof(struct status_opts, policy), .setting = true,
	  .help = "whose probabilities --sites shows, if it can say them" },
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION",
	  .offset = offsetof(struct status_opts, every), .setting = true,
	  .help = "time between cycles" },
	OPT_TIME(status_opts, now, NULL, "with --failing: as if it were this time"),
	OPT_END
};

static int status_totals(struct cli *cli, struct store *s, bool checked, struct err *err)
{
	struct pages_opts po = { 0 };
	struct status_counts c;
	struct loaded l = { 0 };
	int rc;

	if ((rc = status_count(s, &c, err)) == 0 && (rc = load_pages(&l, s, &po, err)) == 0) {
		struct json j;

		c.checked = checked;
		json_to_file(&j, stdout);
		if (cli->common.json)
			status_print_json(&j, &c, &l);
		else
			status_print_text(&c, &l);
	}
	loaded_release(&l);
	return rc;
}

/* The engine decides which pages rest; the policy does not matter. */
static int status_failing(struct cli *cli, struct store *s, const struct status_opts *o,
                          struct err *err)
{
	struct progress progress = { 0 };
	struct resume_opts ro = { .seed = (uint64_t)cli->common.seed,
	                          .cycle_seconds = o->every, .progress = &progress };
	struct failing_table t = { 0 };
	struct status_counts c;
	struct resumed r;
	int rc = resume(&r, s, &ro, err);

	if (rc == 0)
		rc = status_count(s, &c, err);
	if (rc == 0)
		rc = failing_table_load(&t, s, &r.has.loaded, &r, o->now ? o->now : clock_now(), err);
	if (rc == 0) {
		struct json j;

		c.checked = o->check;
		json_to_file(&j, stdout);
		if (cli->common.json)
			status_print_failing(&j, &c, &r.has.loaded, &t, UINT32_MAX);
		else
			failing_print_text(&t);
	}
	failing_table_release(&t);
	resume_release(&r);
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
	struct sites x;
	int rc = sites_open(&x, s, &ro, err);

	if (rc == 0)
		rc = status_count(s, &counts, err);
	if (rc == 0)
		rc = sites_status(x.loaded, x.says, s, o->every, &rows, err);
	if (rc == 0 && o->accessibility) {
		access = mem_zalloc(x.loaded->pages.tree.n_sites, sizeof *access);
		rc = access_count(s, cli->common.repository, &x.loaded->pages, access, err);
	}
	if (rc == 0) {
		const struct pages *p = &x.loaded->pages;
		uint32_t n = p->tree.n_sites;
		struct json j;

		counts.checked = o->check;
		sites_sort(rows, n, p, (enum sites_order)o->sort);
		json_to_file(&j, stdout);
		if (cli->common.json)
			sites_print_json(&j, &counts, x.loaded, o->policy, rows, n, access);
		else
			sites_print_table(rows, n, p, access);
		if (!x.says && cli_given(cli, "policy"))
			log_info("%s cannot say with which probability it chooses a page: `freshet plan` "
			         "shows what it would choose", o->policy);
	}
	free(access);
	free(rows);
	sites_close(&x);
	return rc;
}

static int status_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct status_opts *o = opts;
	struct arena keep = { 0 };
	struct store *s;
	int rc;

	(void)n_args;
	(void)args;
	if (o->sites && o->failing)
		return err_set(err, E_USAGE, "--sites and --failing are two reports: choose one");
	if (cli_given(cli, "every") && !o->sites && !o->failing)
		return err_set(err, E_USAGE, "status: --every goes with --sites or --failing");
	if ((rc = repository_read(cli, &s, err)) < 0)
		return rc;
	rc = repository_settings(cli, s, &keep, err);
	if (rc == 0 && o->check)
		rc = store_check(s, err);
	if (rc == 0 && o->check && !cli->common.json)
		puts("check        no damage in the tables");
	if (rc == 0)
		rc = o->sites ? status_sites(cli, s, o, err) :
		     o->failing ? status_failing(cli, s, o, err) :
		     status_totals(cli, s, o->check, err);
	store_close(s);
	arena_release(&keep);
	return rc;
}

static const char *const status_needs[][2] = {
	{ "sort", "sites" }, { "accessibility", "sites" }, { "policy", "sites" },
	{ "now", "failing" }, { NULL, NULL },
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
		"failed and the blocked ones among them, the updates they found, the changes a day of a\n"
		"page with their 95 % interval (by the visits that looked for changes and had an\n"
		"answer) and the last of those; for a policy that can say it (automaton) also the\n"
		"probability that it visits a page of the site in the next cycle, and when the next\n"
		"visit is expected.\n\n"
		"With --failing, the sites with pages whose last visits failed or were blocked, with\n"
		"the most frequent cause, and these pages, those that fail longest first: what the\n"
		"last visit brought (a status, or a cause: docs/formats.md lists them), since when\n"
		"there was no answer, when it was tried last, how often in a row, and until when it is\n"
		"left alone (a site, if all of it is). Pages that are gone do not fail.",
	.examples =
		"  freshet -C crawl status\n"
		"  freshet -C crawl status --sites --sort rate\n"
		"  freshet -C crawl status --failing\n",
	.options = status_options,
	.opts_size = sizeof(struct status_opts),
	.needs = status_needs,
	.n_args_min = 0,
	.n_args_max = 0,
	.run = status_run,
};
