/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - `freshet status`: what the repository holds, site by site too. */
#include <stdio.h>

#include "base/io/output.h"
#include "cli/cmd/read/fleet_print.h"
#include "cli/frame/repository.h"
#include "cli/frame/tagged.h"
#include "cli/print/failing_print.h"
#include "cli/print/history_print.h"
#include "engine/changes/page_copy.h"

struct status_opts {
	bool shards, workers, check, sites, failing, accessibility;
	int sort;
	const char *policy, *tag;
	int64_t every, now;
};

static const struct option_spec status_options[] = {
	OPT_FLAG(status_opts, check, "look for damage in the tables, too; `freshet check` looks at all"),
	OPT_FLAG(status_opts, sites, "each site: visits, failures, updates, change rate"),
	OPT_FLAG(status_opts, failing, "the pages and sites whose last visits failed or were "
	         "blocked: why, since when, how often"),
	OPT_FLAG(status_opts, accessibility, "with --sites: count the changes that concern "
	         "accessibility, by reading the archived copies"),
	OPT_FLAG(status_opts, shards, "of a fleet, each shard: who has it, what it is at, its budget"),
	OPT_FLAG(status_opts, workers, "of a fleet, each worker: is it alive, its shards, its pace"),
	OPT_CHOICE(status_opts, sort, "visits|updates|probability|rate|name", "visits",
	           "order of --sites"),
	{ .name = "policy", .type = OPTION_TEXT, .def = "auto", .arg = "SPEC",
	  .offset = offsetof(struct status_opts, policy), .setting = true,
	  .help = "whose probabilities --sites shows, if it can say them" },
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION",
	  .offset = offsetof(struct status_opts, every), .setting = true,
	  .help = "time between cycles" },
	OPT_TEXT(status_opts, tag, NULL, "TAG", "only pages that have this tag, one by one: what the "
	         "last visit found, and when"),
	OPT_TIME(status_opts, now, NULL, "with --failing and --sites: as if it were this time"),
	OPT_END
};

static int status_totals(struct cli *cli, struct store *s, bool checked, struct err *err)
{
	struct progress progress = { 0 };
	struct status_counts c;
	int rc = status_count(s, &c, &progress, err);

	if (rc == 0) {
		struct json j;

		c.checked = checked;
		json_to_file(&j, output_standard());
		if (cli->common.json)
			status_print_json(&j, &c);
		else
			status_print_text(&c);
	}
	return rc;
}

/* The engine decides which pages rest; the policy does not matter. */
static int status_failing(struct cli *cli, struct store *s, const struct status_opts *o,
                          struct err *err)
{
	struct progress progress = { 0 };
	struct resume_opts ro = { .seed = (uint64_t)cli->common.seed,
	                          .cycle_seconds = o->every, .progress = &progress };
	struct visit_counts visits = { 0 };
	struct failing_table t = { 0 };
	struct status_counts c;
	struct resumed r;
	int rc = resume(&r, s, &ro, err);

	if (rc == 0)
		rc = status_count(s, &c, &progress, err);
	if (rc == 0)
		rc = visit_counts_load(&visits, s, &r.has.loaded.pages, &progress, err);
	if (rc == 0) {
		struct json j;

		failing_table_make(&t, &visits, &r.has.loaded, &r, o->now ? o->now : clock_now());
		c.checked = o->check;
		json_to_file(&j, output_standard());
		if (cli->common.json)
			status_print_failing(&j, &c, &t, UINT32_MAX);
		else
			failing_print_text(&t);
	}
	failing_table_release(&t);
	visit_counts_release(&visits);
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
	struct site_settings settings = { 0 };
	struct visit_counts visits = { 0 };
	struct status_counts counts;
	uint64_t *access = NULL;
	struct sites x;
	int rc = sites_open(&x, s, &ro, err);

	if (rc == 0)
		rc = status_count(s, &counts, &progress, err);
	if (rc == 0)
		rc = visit_counts_load(&visits, s, &x.loaded->pages, &progress, err);
	if (rc == 0)
		rows = sites_status(x.loaded, x.says, &visits, o->every,
		                    o->now ? o->now : clock_now());
	if (rc == 0)
		rc = site_settings_load(&settings, s, err);
	for (uint32_t i = 0; rc == 0 && i < x.loaded->pages.tree.n_sites; i++)
		rows[i].settings = &settings;
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
		json_to_file(&j, output_standard());
		if (cli->common.json)
			sites_print_json(&j, &counts, x.loaded, o->policy, rows, n, access);
		else
			sites_print_table(cli, rows, n, p, access);
		if (!x.says && cli_given(cli, "policy"))
			log_info("%s cannot say with which probability it chooses a page: `freshet plan` "
			         "shows what it would choose", o->policy);
	}
	free(access);
	free(rows);
	visit_counts_release(&visits);
	site_settings_release(&settings);
	sites_close(&x);
	return rc;
}

/* ---- pages with a tag ---- */

struct tagged_status {
	struct json *j;                 /* or NULL: the table */
	struct table *table;
	struct store *store;
	struct store_visit last;        /* visit of the page at hand */
	bool any;
};

static int keep_last(void *arg, const struct store_visit *v, struct err *err)
{
	struct tagged_status *t = arg;

	(void)err;
	t->last = *v;
	t->any = true;
	return 0;
}

/* "new", "changed", "same", "gone", "failed 503", "blocked robots"; "-": never asked for. */
static struct cause_words last_words(const struct tagged_status *t)
{
	struct cause_words w = { "-" };

	if (t->any && t->last.outcome >= OUTCOME_FAILED)
		return cause_words((enum outcome)t->last.outcome, t->last.cause, t->last.status);
	if (t->any)
		snprintf(w.text, sizeof w.text, "%s", visit_is_first(&t->last) ? "new" :
		         outcome_name((enum outcome)t->last.outcome));
	return w;
}

static void print_time(const struct tagged_status *t, const char *key, int64_t time)
{
	char text[21] = "-";

	if (time)
		when_iso(time, text);
	if (!t->j)
		table_cell(t->table, "%s", text);
	else if (time)
		json_kstr(t->j, key, text);
}

static int show_tagged(void *arg, const struct store_page *page, struct err *err)
{
	struct tagged_status *t = arg;
	char *url = mem_strndup(page->url.s, page->url.size);
	const char *care = store_care_name(page->care);
	struct store_page p = *page;
	int rc;

	t->any = false;
	rc = store_visits_of(t->store, &p.number, 1, 0, UINT32_MAX, keep_last, t, err);
	if (rc == 0 && t->j) {
		json_object(t->j);
		json_kstr(t->j, "url", url);
		json_kstr(t->j, "state", store_state_name(p.state));
		if (care)
			json_kstr(t->j, "care", care);
		json_kstr(t->j, "last", last_words(t).text);
		json_kint(t->j, "visits", p.visits);
		json_kint(t->j, "changed", p.changes);
	} else if (rc == 0) {
		table_cell(t->table, "%s", care ? care : last_words(t).text);
		table_cell(t->table, "%u", p.visits);
		table_cell(t->table, "%u", p.changes);
	}
	if (rc == 0) {
		print_time(t, "last_visit", p.last_visit);
		print_time(t, "last_change", p.last_change);
	}
	if (rc == 0 && t->j)
		json_end_object(t->j);
	else if (rc == 0)
		table_cell(t->table, "%s", log_plain(url));
	free(url);
	return rc;
}

static int status_tagged(struct cli *cli, struct store *s, const char *tag, struct err *err)
{
	static const char *const heads[] = { "<last", "visits", "changed", "<last visit",
	                                     "<last change", "<url" };
	struct tagged_status t = { .store = s };
	struct tagged pages = { 0 };
	struct json j;
	int rc = tagged_load(&pages, s, tag, err);

	if (rc == 0 && cli->common.json) {
		cli_json_begin(&j, "status");
		json_kstr(&j, "tag", tag);
		json_key(&j, "tagged");
		json_array(&j);
		t.j = &j;
	}
	t.table = table_new(heads, 6);
	if (rc == 0)
		rc = store_pages_get(s, pages.pages.v, pages.pages.n, show_tagged, &t, err);
	if (t.j) {
		json_end_array(&j);
		cli_json_end(&j);
	}
	if (!t.j && rc == 0)
		table_finish(cli, t.table);
	else
		table_free(t.table);
	tagged_release(&pages);
	return rc;
}

static int first_problem(void *arg, const struct store_problem *p, struct err *err)
{
	(void)arg;
	return err_set(err, E_STORE, "%s", p->text);
}

static int status_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err);

/* Reports that are made of pages: shard by shard. */
static int each_shard(struct cli *cli, void *opts, struct err *err)
{
	int rc = 0;

	table_join_begin(cli);
	for (size_t i = 0; i < cli->shards->n && rc == 0; i++) {
		cli->shard = cli->shards->list[i].shard;
		rc = status_run(cli, opts, 0, NULL, err);
	}
	table_join_end(cli);
	cli->shard = -1;
	return rc;
}

static int status_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct status_opts *o = opts;
	struct arena texts = { 0 };
	struct store *s;
	int rc;

	(void)n_args;
	(void)args;
	if (o->sites && o->failing)
		return err_set(err, E_USAGE, "--sites and --failing are two reports: choose one");
	if (o->tag && (o->sites || o->failing))
		return err_set(err, E_USAGE, "--tag lists pages: it goes without --sites and --failing");
	for (int i = 0; i < 2; i++) {
		static const char *const of_both[] = { "every", "now" };

		if (cli_given(cli, of_both[i]) && !o->sites && !o->failing)
			return err_set(err, E_USAGE, "status: --%s goes with --sites or --failing",
			               of_both[i]);
	}
	if ((o->shards || o->workers) && !shards_any(cli))
		return err_set(err, E_USAGE, "status: --shards and --workers are of a fleet, and this is "
		               "none, or nobody works on it");
	if (shards_any(cli) && (o->shards || o->workers ||
	                        (cli->shard < 0 && !o->sites && !o->failing && !o->tag && !o->check)))
		return fleet_print_status(cli, o->shards, o->workers, err);
	if (shards_any(cli) && cli->shard < 0)
		return each_shard(cli, opts, err);
	if ((rc = repository_read(cli, &s, err)) < 0)
		return rc;
	rc = repository_settings(cli, s, &texts, err);
	if (rc == 0 && o->check)
		rc = store_check(s, first_problem, NULL, err);
	if (rc == 0 && o->check && !cli->common.json)
		puts("check        no damage in the tables");
	if (rc == 0)
		rc = o->tag ? status_tagged(cli, s, o->tag, err) :
		     o->sites ? status_sites(cli, s, o, err) :
		     o->failing ? status_failing(cli, s, o, err) :
		     status_totals(cli, s, o->check, err);
	store_close(s);
	arena_release(&texts);
	return rc;
}

static const char *const status_needs[][2] = {
	{ "sort", "sites" }, { "accessibility", "sites" }, { "policy", "sites" }, { NULL, NULL },
};

const struct command command_status = {
	.name = "status",
	.on_fleet = FLEET_SELF,
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
		"visit is expected. With --json also `fresh`, the share of its copies that are true by\n"
		"now, as these rates and the time since the last visits let one expect.\n\n"
		"With --failing, the sites with pages whose last visits failed or were blocked, with\n"
		"the most frequent cause, and these pages, those that fail longest first: what the\n"
		"last visit brought (a status, or a cause: docs/formats.md lists them), since when\n"
		"there was no answer, when it was tried last, how often in a row, and until when it is\n"
		"left alone (a site, if all of it is). Pages that are gone do not fail.\n\n"
		"With --tag, the pages that have it, one by one: what the last visit found, in the words\n"
		"that `freshet log` has, too (new, changed, same, gone, failed and blocked with the\n"
		"cause), or why the page is not asked for.",
	.examples =
		"  freshet -C crawl status\n"
		"  freshet -C crawl status --sites --sort rate\n"
		"  freshet -C crawl status --failing\n"
		"  freshet -C crawl status --tag news\n",
	.options = status_options,
	.opts_size = sizeof(struct status_opts),
	.needs = status_needs,
	.n_args_min = 0,
	.n_args_max = 0,
	.read = true,
	.run = status_run,
};
