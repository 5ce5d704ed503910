/* SPDX-License-Identifier: Apache-2.0 */
/* replay_all.c - policies on a recorded history, by every cycle length and budget. */
#include "cli/cmd/lab/replay_all.h"

#include <stdio.h>

#include "base/io/progress.h"
#include "base/log.h"
#include "base/thread/pool.h"
#include "cli/frame/repository.h"
#include "cli/replay/replay_report.h"
#include "cli/replay/replay_sites.h"
#include "cli/replay/replay_visits.h"
#include "engine/replay/experiment.h"
#include "engine/replay/replay_search.h"
#include "policy/model/grouping.h"

/* For --doing: cycles done of all, instead of the progress line. */
static bool write_done(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct json j;

	json_to_file(&j, arg);
	cli_json_schema(&j, "doing");
	json_kstr(&j, "what", what);
	json_kint(&j, "done", (int64_t)done);
	json_kint(&j, "total", (int64_t)total);
	cli_json_end(&j);
	fflush(arg);
	return false;
}

static void show_done(void *arg, size_t n, size_t total)
{
	(void)total;
	progress_set(arg, n);
}

/* "90d" or "6": in seconds or in cycles. */
static int parse_max_age(const char *s, struct replay_opts *o, struct err *err)
{
	int64_t n;

	if (!s)
		return 0;
	if (!duration_parse(s, &n) || n < 1)
		return err_set(err, E_USAGE, "--max-age: '%s' is neither a duration nor a number of "
		               "cycles", s);
	if (s[strspn(s, "0123456789")])
		o->max_age = n;
	else
		o->max_age_cycles = (uint32_t)(n > UINT32_MAX ? UINT32_MAX : n);
	return 0;
}

/* "30%" or "30%,7": a share of the pages, and the seed that says which. */
static int parse_fail(const char *s, struct replay_opts *o, struct err *err)
{
	const char *comma = s ? strchrnul(s, ',') : NULL;
	char part[32], *end = part;
	struct share share;

	if (!s)
		return 0;
	snprintf(part, sizeof part, "%.*s", (int)(comma - s), s);
	if (!share_parse(part, &share) || !share.percent)
		return err_set(err, E_USAGE, "--fail: '%s' does not begin with a share such as 30%%", s);
	o->fail = share.value / 100;
	o->fail_seed = 1;
	if (*comma) {
		o->fail_seed = strtoull(comma + 1, &end, 10);
		if (!comma[1] || comma[1 + strspn(comma + 1, "0123456789")])
			return err_set(err, E_USAGE, "--fail: '%s' is not a seed", comma + 1);
	}
	return 0;
}

/* The comma-separated parts of a text. */
static void split_list(const char *text, struct option_list *ret, struct arena *arena)
{
	while (*text) {
		const char *end = strchrnul(text, ',');

		mem_grow((void **)&ret->v, &ret->cap, ret->n + 1, sizeof *ret->v);
		ret->v[ret->n++] = arena_strndup(arena, text, (size_t)(end - text));
		text = *end ? end + 1 : end;
	}
}

static int open_search(struct replay_search *s, struct replay *r,
                       const struct replay_cli_opts *o, const struct strtab *words,
                       uint64_t seed, struct err *err)
{
	struct search_opts so = {
		.k = (uint32_t)o->k, .relevant = (uint32_t)o->relevant,
		.n_queries = (uint32_t)o->n_queries, .weight_text = o->text_weight,
		.weight_rank = 1 - o->text_weight, .divide_by_found = o->map_divisor == 1,
		.seed = seed,
	};
	int rc = replay_search_open(s, r, &so, o->queries, words, err);

	if (rc == 0 && s->n_dropped)
		log_warn("%u queries have no word of the collection", s->n_dropped);
	return rc;
}

/* If a crawl took weeks, or one capture is much older, few pages exist at the default
 * start: suggest another. */
static void warn_of_start(const struct replay *r)
{
	char start[21];

	if (r->opts.start || r->opts.join || r->n_repository >= r->pages.n / 4)
		return;
	when_iso(r->start, start);
	log_warn("only %u of %u pages were there at the start, %.10s; a later --start has more of "
	         "them, --join lets them enter", r->n_repository, r->pages.n, start);
}

static int run_one(struct cli *cli, const struct replay_cli_opts *o, const struct history *h,
                   const struct strtab *words, const struct replay_opts *ro,
                   const struct option_list *specs, unsigned needs,
                   struct replay_report *report, struct err *err)
{
	/* the lines of --visits must be in the order of the runs */
	unsigned threads = o->visits ? 1 : o->threads ? (unsigned)o->threads : pool_threads();
	struct progress progress = { 0 };
	struct experiment x = { 0 };
	struct replay r;
	struct replay_search search = { 0 };
	int rc = replay_open(&r, h, ro, needs, err);

	if (rc == 0 && o->search)
		rc = open_search(&search, &r, o, words, (uint64_t)cli->common.seed, err);
	if (rc == 0)
		warn_of_start(&r);
	if (rc == 0 && o->doing && !(progress.arg = fopen(o->doing, "ae")))
		rc = err_errno(err, E_IO, "--doing: %s", o->doing);
	if (rc == 0) {
		progress.watch = o->doing ? write_done : NULL;
		progress_start(&progress, "replaying", "cycles",
		               specs->n * (uint64_t)o->seeds * r.n_cycles);
		rc = experiment_run(&x, &r, specs, (uint64_t)cli->common.seed,
		                    (uint32_t)o->seeds, threads, show_done, &progress, err);
		progress_end(&progress);
	}
	if (progress.arg)
		fclose(progress.arg);
	if (rc == 0) {
		struct replay_sites sites;
		struct replay_output out = { .x = &x, .sites = &sites, .no_time = o->no_time,
		                             .first = !report->n_experiments };
		struct json j;

		replay_sites_init(&sites, &x);
		json_to_file(&j, stdout);
		if (cli->common.json)
			replay_print_json(&out, &j);
		else if (o->csv)
			replay_print_csv(&out, stdout);
		else
			replay_print_table(&out, stdout);
		fflush(stdout);
		replay_report_add(report, &out);
		replay_sites_release(&sites);
	}
	experiment_release(&x);
	replay_search_close(&search);
	replay_close(&r);
	return rc;
}

int replay_all(struct cli *cli, const struct replay_cli_opts *o, const struct history *h,
               const struct strtab *words, const struct option_list *specs, unsigned needs,
               struct err *err)
{
	struct replay_opts ro = {
		.start = o->start, .end = o->end, .goal = (enum goal)o->goal,
		.aim = (enum aim)o->aim, .weight = (enum weight_by)o->weight,
		.observe = (enum observe)o->observe, .nearest = o->at == 1, .join = o->join,
		.weights = (enum replay_weights)o->weights, .site_by_domain = o->site_by == 1,
		.by_site = o->by_site, .site_share = o->site_share, .retry_share = o->retry_share,
		.shards = { .count = (uint32_t)o->shards, .loaded = (uint32_t)o->loaded,
		            .by_domain = o->shard_by == 1, .fixed = o->split == 1 },
		.groups = needs & NEED_CLUSTERS ? grouping_share_new() : NULL,
	};
	struct option_list cycles = { 0 }, budgets = { 0 };
	struct replay_report report;
	struct arena texts = { 0 };
	struct replay_visits visits = { 0 };
	int rc = parse_max_age(o->max_age, &ro, err);

	if (rc == 0)
		rc = parse_fail(o->fail, &ro, err);
	if (rc == 0)
		rc = replay_visits_open(&visits, o->visits, &ro, err);
	replay_report_init(&report, o->report);
	split_list(o->cycle, &cycles, &texts);
	split_list(o->budget, &budgets, &texts);
	for (size_t i = 0; i < cycles.n && rc == 0; i++) {
		if (!duration_parse(cycles.v[i], &ro.cycle_seconds))
			rc = err_set(err, E_USAGE, "--cycle: '%s' is not a duration such as 12h or 2w",
			             cycles.v[i]);
		for (size_t k = 0; k < budgets.n && rc == 0; k++) {
			if (!share_parse(budgets.v[k], &ro.budget))
				rc = err_set(err, E_USAGE, "--budget: '%s' is neither a number from "
				             "1 on nor a share up to 100%%", budgets.v[k]);
			else
				rc = run_one(cli, o, h, words, &ro, specs, needs, &report, err);
		}
	}
	rc = replay_visits_close(&visits, rc, err);
	if (rc == 0 && o->report)
		rc = replay_report_write(&report, o->report, cli, o->no_time ? 0 : clock_now(), err);
	replay_report_release(&report);
	grouping_share_free(ro.groups);
	free(cycles.v);
	free(budgets.v);
	arena_release(&texts);
	return rc;
}
