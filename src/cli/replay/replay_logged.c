/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_logged.c - `replay --logged`: how other policies would have done in the
 * cycles that a repository made, as a table or JSON; see engine/recall/off_policy.h.
 */
#include "cli/replay/replay_logged.h"

#include <stdio.h>

#include "base/io/progress.h"
#include "base/mem.h"
#include "cli/frame/repository.h"
#include "cli/report/report.h"
#include "repo/place.h"

static void print_table(const struct off_policy_run *runs, const struct option_list *specs,
                        double confidence)
{
	const char *heads[] = { "<policy", "ChangeRatio", "low", "high", "visits worth", "reach" };
	struct table *t = table_new(heads, sizeof heads / sizeof *heads);
	const struct off_policy_sums *s = &runs[0].sums;

	printf("%u cycles, %llu visits, %llu with a probability", runs[0].n_cycles,
	       (unsigned long long)s->n_visits, (unsigned long long)(s->n_visits - s->n_without));
	if (s->n_known)
		printf("; ChangeRatio of the %llu to pages of which\nthere was a copy, and that had an "
		       "answer: %.4f", (unsigned long long)s->n_known, runs[0].estimate.logged_ratio);
	fputs("\n\n", stdout);
	for (size_t i = 0; i < specs->n; i++) {
		const struct off_policy_estimate *e = &runs[i].estimate;

		table_cell(t, "%s", specs->v[i]);
		for (int k = 0; k < 3; k++) {
			if (e->refused)
				table_cell(t, "-");
			else
				table_cell(t, "%.4f", k == 0 ? e->ratio : k == 1 ? e->low : e->high);
		}
		table_cell(t, "%.1f", e->effective);
		table_cell(t, "%.2f", e->support);
	}
	table_print(t, stdout);
	table_free(t);
	printf("\nEach policy is told all that was known before a cycle and plans as many downloads "
	       "as it made;\nlow and high: %g %% interval. What it would have done had it planned all "
	       "along is not told.\n", 100 * confidence);
	for (size_t i = 0; i < specs->n; i++)
		if (runs[i].estimate.refused)
			printf("%s: cannot be told: %s\n", specs->v[i], runs[i].estimate.why);
}

static void print_json(struct json *j, const struct off_policy_run *runs,
                       const struct option_list *specs, double confidence)
{
	cli_json_schema(j, "replay");
	json_key(j, "logged");
	json_object(j);
	json_kint(j, "cycles", runs[0].n_cycles);
	json_kint(j, "visits", (int64_t)runs[0].sums.n_visits);
	json_kint(j, "with_probability",
	          (int64_t)(runs[0].sums.n_visits - runs[0].sums.n_without));
	json_kint(j, "with_copy", (int64_t)runs[0].sums.n_known);
	json_knum(j, "change_ratio", runs[0].estimate.logged_ratio);
	json_end_object(j);
	json_knum(j, "confidence", confidence);
	json_key(j, "runs");
	json_array(j);
	for (size_t i = 0; i < specs->n; i++) {
		const struct off_policy_estimate *e = &runs[i].estimate;

		json_object(j);
		json_kstr(j, "policy", specs->v[i]);
		json_knum(j, "change_ratio", e->ratio);
		json_knum(j, "low", e->low);
		json_knum(j, "high", e->high);
		json_kint(j, "matched", (int64_t)runs[i].sums.n_matched);
		json_knum(j, "effective_visits", e->effective);
		json_knum(j, "support", e->support);
		json_kbool(j, "refused", e->refused);
		if (e->refused)
			json_kstr(j, "why", e->why);
		json_end_object(j);
	}
	json_end_array(j);
	cli_json_end(j);
}

static int write_report(const struct off_policy_run *runs, const struct option_list *specs,
                        double confidence, const struct cli *cli, const char *path,
                        struct err *err)
{
	char title[80];
	struct report_head head = { title, cli->line, clock_now() };
	const struct off_policy_estimate *best = NULL;
	size_t which = 0;
	struct report r;
	int rc;

	for (size_t i = 0; i < specs->n; i++) {
		const struct off_policy_estimate *e = &runs[i].estimate;

		if (!e->refused && (!best || e->ratio > best->ratio)) {
			best = e;
			which = i;
		}
	}
	snprintf(title, sizeof title, "%zu policies by the log of %u cycles", specs->n,
	         runs[0].n_cycles);
	report_init(&r);
	print_json(report_json(&r), runs, specs, confidence);
	if (best)
		report_say(&r, "By the log, %s would have found most: %.1f %% of its downloads would "
		           "have found a change (%g %% interval: %.1f to %.1f).", specs->v[which],
		           100 * best->ratio, 100 * confidence, 100 * best->low, 100 * best->high);
	else
		report_say(&r, "The log cannot tell of any of these policies; the table says why.");
	report_say(&r, "The visits themselves found %.1f %%.",
	           100 * runs[0].estimate.logged_ratio);
	rc = report_write(&r, path, &head, err);
	report_release(&r);
	return rc;
}

int replay_logged(struct cli *cli, const char *repository, const struct option_list *specs,
                  struct off_policy_opts opts, const char *report, struct err *err)
{
	struct off_policy_run *runs = mem_zalloc(specs->n, sizeof *runs);
	struct store *store = NULL;
	struct progress progress = { 0 };
	struct json j;
	char path[PLACE_SIZE];
	int rc = place_find(repository, path, err);

	if (rc == 0)
		rc = store_open(&store, path, STORE_READ, err);
	progress_start(&progress, "planning again", "policies", specs->n);
	for (size_t i = 0; i < specs->n && rc == 0; i++) {
		opts.policy = specs->v[i];
		rc = off_policy_run(&runs[i], store, &opts, err);
		progress_set(&progress, i + 1);
	}
	progress_end(&progress);
	json_to_file(&j, stdout);
	if (rc == 0 && cli->common.json)
		print_json(&j, runs, specs, opts.confidence);
	else if (rc == 0)
		print_table(runs, specs, opts.confidence);
	if (rc == 0 && report)
		rc = write_report(runs, specs, opts.confidence, cli, report, err);
	store_close(store);
	free(runs);
	return rc;
}
