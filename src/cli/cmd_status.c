/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - `freshet status`: what the repository holds, site by site too. */
#include <math.h>
#include <stdio.h>

#include "cli/repository.h"
#include "engine/load.h"
#include "engine/page_copy.h"
#include "engine/sites.h"

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

static int status_totals(struct cli *cli, struct store *s, const struct status_opts *o,
                         struct err *err)
{
	struct pages_opts po = { 0 };
	struct store_counts c;
	struct loaded l = { 0 };
	int rc = 0;

	if ((!o->check || (rc = store_check(s, err)) == 0) &&
	    (rc = store_count(s, &c, err)) == 0 && (rc = load_pages(&l, s, &po, err)) == 0) {
		if (cli->common.json)
			print_json(&c, &l);
		else
			print_text(&c, &l);
	}
	loaded_release(&l);
	return rc;
}

struct ordering { int sort; const struct pages *pages; };

static double sort_value(const struct site_status *r, int sort)
{
	double v = sort == 0 ? (double)r->visits : sort == 1 ? (double)r->updates :
	           sort == 2 ? r->probability : r->rate;

	return isnan(v) ? -1 : v;
}

static int compare_sites(const void *pa, const void *pb, void *arg)
{
	const struct site_status *a = pa, *b = pb;
	const struct ordering *o = arg;
	double x = sort_value(a, o->sort), y = sort_value(b, o->sort);

	if (o->sort < 4 && (x < y || x > y))
		return x > y ? -1 : 1;
	return strcmp(strtab_get(&o->pages->site_names, a->site),
	              strtab_get(&o->pages->site_names, b->site));
}

static void number_cell(struct table *t, double v, const char *format)
{
	char text[40] = "-";

	if (!isnan(v)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof text, format, v);
#pragma GCC diagnostic pop
	}
	table_cell(t, "%s", text);
}

static void time_cell(struct table *t, int64_t v)
{
	char text[21] = "-";

	if (v)
		when_iso(v, text);
	table_cell(t, "%.16s", text);
}

static void sites_table(const struct site_status *rows, uint32_t n, const struct pages *p,
                        const uint64_t *access)
{
	static const char *const heads[] = { "<site", "pages", "visits", "updates", "probability",
		"changes/day", "low", "high", "<last visit", "<next expected", "accessibility" };
	struct table *t = table_new(heads, access ? 11 : 10);

	for (uint32_t i = 0; i < n; i++) {
		const struct site_status *r = &rows[i];

		table_cell(t, "%s", strtab_get(&p->site_names, r->site));
		table_cell(t, "%u", r->pages);
		table_cell(t, "%llu", (unsigned long long)r->visits);
		table_cell(t, "%llu", (unsigned long long)r->updates);
		number_cell(t, r->probability, "%.3f");
		number_cell(t, r->rate, "%.4f");
		number_cell(t, r->rate_low, "%.4f");
		number_cell(t, r->rate_high, "%.4f");
		time_cell(t, r->last_visit);
		time_cell(t, r->next);
		if (access)
			table_cell(t, "%llu", (unsigned long long)access[r->site]);
	}
	table_print(t, stdout);
	table_free(t);
}

static void sites_json(const struct site_status *rows, uint32_t n, const struct pages *p,
                       const uint64_t *access)
{
	struct json j;
	char t[21];

	cli_json_begin(&j, "status");
	json_key(&j, "by_site");
	json_array(&j);
	for (uint32_t i = 0; i < n; i++) {
		const struct site_status *r = &rows[i];

		json_object(&j);
		json_kstr(&j, "site", strtab_get(&p->site_names, r->site));
		json_kint(&j, "pages", r->pages);
		json_kint(&j, "gone", r->gone);
		json_kint(&j, "visits", (int64_t)r->visits);
		json_kint(&j, "updates", (int64_t)r->updates);
		json_knum(&j, "probability", r->probability);
		json_knum(&j, "rate_per_day", r->rate);
		json_knum(&j, "rate_low", r->rate_low);
		json_knum(&j, "rate_high", r->rate_high);
		when_iso(r->last_visit, t);
		json_kstr(&j, "last_visit", r->last_visit ? t : NULL);
		when_iso(r->next, t);
		json_kstr(&j, "next", r->next ? t : NULL);
		if (access)
			json_kint(&j, "accessibility", (int64_t)access[r->site]);
		json_end_object(&j);
	}
	json_end_array(&j);
	cli_json_end(&j);
}

static int status_sites(struct cli *cli, struct store *s, const struct status_opts *o,
                        struct err *err)
{
	struct resume_opts ro = { .policy = o->policy, .seed = (uint64_t)cli->common.seed,
	                          .cycle_seconds = o->every };
	struct site_status *rows = NULL;
	uint64_t *access = NULL;
	struct resumed r;
	int rc = resume(&r, s, &ro, err);

	if (rc == 0)
		rc = sites_status(&r, s, o->every, &rows, err);
	if (rc == 0 && o->accessibility) {
		access = mem_zalloc(r.loaded.pages.tree.n_sites, sizeof *access);
		rc = access_count(s, cli->common.repository, &r.loaded.pages, access, err);
	}
	if (rc == 0) {
		struct ordering order = { o->sort, &r.loaded.pages };
		uint32_t n = r.loaded.pages.tree.n_sites;

		qsort_r(rows, n, sizeof *rows, compare_sites, &order);
		if (cli->common.json)
			sites_json(rows, n, &r.loaded.pages, access);
		else
			sites_table(rows, n, &r.loaded.pages, access);
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
	if (rc == 0)
		rc = o->sites ? status_sites(cli, s, o, err) : status_totals(cli, s, o, err);
	store_close(s);
	arena_release(&keep);
	return rc;
}

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.summary = "what the repository holds",
	.description =
		"With --sites, for each site the visits, the updates they found, the probability that\n"
		"the policy visits a page of it in the next cycle (for policies that can say it), the\n"
		"changes a day of a page with their 95 % interval, the last visit, and when the next\n"
		"is expected.",
	.examples =
		"  freshet -C crawl status\n"
		"  freshet -C crawl status --sites --sort rate\n",
	.options = status_options,
	.opts_size = sizeof(struct status_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.run = status_run,
};
