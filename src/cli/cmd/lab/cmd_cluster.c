/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cluster.c - `freshet cluster`: the clusters of a repository or of recorded
 * histories, and how many of them to make.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/frame/repository.h"
#include "cli/print/cluster_print.h"
#include "cli/print/cluster_run.h"
#include "cli/report/report.h"
#include "engine/import/import_words.h"
#include "engine/history/trace.h"

struct cluster_cli_opts {
	int64_t k, folds, most, top, trials, refine, sample;
	int features, choose;
	bool choose_k;
	const char *words, *report;
};

static const struct option_spec cluster_options[] = {
	OPT_INT(cluster_cli_opts, k, 100, 1, 100000, "clusters"),
	OPT_CHOICE(cluster_cli_opts, features, SET_CHOICES, "combined",
	           "what pages are clustered by"),
	OPT_CHOICE(cluster_cli_opts, choose, "best|largest", "best",
	           "which cluster is divided next: by gain, or the largest"),
	OPT_INT(cluster_cli_opts, trials, 10, 1, 1000, "pairs of seeds tried for a division"),
	OPT_INT(cluster_cli_opts, refine, 0, 0, 1000,
	        "passes at the end in which pages go to the nearest cluster of all"),
	OPT_INT(cluster_cli_opts, sample, 100000, 0, 4294967295.0,
	        "of a repository with more pages so many are clustered, chosen by chance; 0: all"),
	OPT_INT(cluster_cli_opts, top, 20, 1, 100000, "clusters shown, the largest first; "
	        "--json shows all"),
	OPT_FLAG(cluster_cli_opts, choose_k, "the mean cosine over k by cross-validation, and "
	         "where it bends"),
	OPT_INT(cluster_cli_opts, folds, 10, 2, 100, "of the cross-validation"),
	OPT_INT(cluster_cli_opts, most, 1000, 2, 100000, "largest k of the cross-validation"),
	OPT_TEXT(cluster_cli_opts, words, NULL, "FILE",
	         "names of the content's words, one a line; default: the repository's, or "
	         "words.txt beside the first file"),
	OPT_OUTPUT(cluster_cli_opts, report, NULL, "FILE", "show it in one HTML file, too"),
	OPT_END
};

static int open_repository(struct cluster_origin *o, struct cli *cli, uint32_t most,
                           struct err *err)
{
	struct progress progress = { 0 };
	int rc = repository_read(cli, &o->store, err);

	return rc < 0 ? rc : cluster_open(o, (uint64_t)cli->common.seed, most, &progress, err);
}

static int open_files(struct cluster_origin *o, struct cli *cli, int n, char **files, struct err *err)
{
	struct trace_report report = { .report = log_warn_text };
	struct detector detect = { .kind = DETECT_BYTES };
	int rc;

	history_init(&o->history, detect, WANT_LINKS | WANT_FACTS);
	rc = trace_load(&o->history, (const char *const *)files, (size_t)n, &report, err);
	if (rc < 0)
		return rc;
	copies_pages(&o->history, &o->own_pages, &o->own_visits);
	copies_from_history(&o->own_copies, &o->history, &o->own_pages);
	pages_view(&o->own_pages, &o->own_visits, &o->own_view);
	o->own_view.seed = (uint64_t)cli->common.seed;
	o->own_view.cycle = 1;
	o->pages = &o->own_pages;
	o->copies = &o->own_copies;
	o->view = &o->own_view;
	return 0;
}

static void origin_close(struct cluster_origin *o)
{
	cluster_close(o);
	store_close(o->store);
	history_release(&o->history);
	import_words_release(&o->words);
	lexicon_release(&o->list);
}

/* Names of the words: a list that was given, the repository's or that of the files. */
static int find_words(struct cluster_origin *from, const struct cluster_cli_opts *o, int n_args,
                      char **args, struct err *err)
{
	char path[4096];
	const char *slash;

	if (o->words)
		return lexicon_read(&from->list, o->words, err);
	if (!n_args)
		return import_words_load(&from->words, from->store, NULL, false, err);
	if (from->history.lexicon.words.n)
		return 0;
	slash = strrchr(args[0], '/');
	snprintf(path, sizeof path, "%.*swords.txt", slash ? (int)(slash - args[0] + 1) : 0,
	         args[0]);
	return access(path, R_OK) ? 0 : lexicon_read(&from->list, path, err);
}

static void run_choose(const struct cluster_cli_opts *o, const struct rows *here,
                       const struct bisect_options *bo, struct cluster_output *out)
{
	uint32_t grid[CHOOSE_GRID_MAX];
	uint32_t most = here->n / 2 < (uint64_t)o->most ? here->n / 2 : (uint32_t)o->most;
	uint32_t n = choose_grid(most ? most : 1, grid);

	out->points = mem_array(n, sizeof *out->points);
	out->n_points = n;
	choose_k(here, grid, n, (unsigned)o->folds, bo, out->points);
}

static void print_output(const struct cluster_output *out, bool json)
{
	struct json j;

	json_to_file(&j, stdout);
	if (json)
		cluster_print_json(out, &j);
	else if (out->points)
		cluster_print_curve(out);
	else
		cluster_print_table(out);
}

static void say_clusters(struct report *r, const struct cluster_output *out)
{
	uint32_t most = 0, least = 0;

	for (uint32_t i = 1; i < out->clusters.k; i++) {
		most = out->described[i].changes > out->described[most].changes ? i : most;
		least = out->described[i].changes < out->described[least].changes ? i : least;
	}
	report_say(r, "A page of the liveliest cluster, mostly of %s, changes %.2f times in 30 "
	           "days, one of the quietest, mostly of %s, %.2f times.",
	           strtab_get(&out->pages->site_names, out->described[most].site[0]),
	           out->described[most].changes,
	           strtab_get(&out->pages->site_names, out->described[least].site[0]),
	           out->described[least].changes);
}

static int write_report(const struct cluster_output *out, const struct cli *cli,
                        const char *path, struct err *err)
{
	char title[80], n[32];
	struct report_head head = { title, cli->line, clock_now() };
	struct report r;
	int rc;

	report_init(&r);
	cluster_print_json(out, report_json(&r));
	snprintf(title, sizeof title, "Clusters of %s pages", report_count(out->n_pages, n));
	if (out->points)
		report_say(&r, "The curve bends at k = %u; past k = %u doubling it adds less than "
		           "5 %%.", choose_knee(out->points, out->n_points),
		           choose_doubling(out->points, out->n_points));
	else if (out->clusters.k)
		say_clusters(&r, out);
	rc = report_write(&r, path, &head, err);
	report_release(&r);
	return rc;
}

static int cluster_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct cluster_cli_opts *o = opts;
	struct cluster_origin from = { 0 };
	struct bisect_options bo = {
		.k = (uint32_t)o->k, .seed = (uint64_t)cli->common.seed,
		.choose = (enum bisect_choose)o->choose, .trials = (unsigned)o->trials,
		.refine = o->choose_k ? 0 : (unsigned)o->refine,
	};
	struct cluster_output out = { .set = (enum feature_set)o->features,
	                              .top = (uint32_t)o->top };
	struct rows rows, here;
	int rc = report_check(o->report, err);

	if (rc == 0)
		rc = n_args ? open_files(&from, cli, n_args, args, err)
		            : open_repository(&from, cli, (uint32_t)o->sample, err);
	if (rc == 0)
		rc = find_words(&from, o, n_args, args, err);
	if (rc == 0) {
		out.features = &from.copies->features;
		out.pages = from.pages;
		features_rows(&from.copies->features, from.view, out.set, &rows);
		features_rows_here(&rows, from.view, &here);
		out.n_pages = here.n;
		out.n_here = from.chosen ? from.n_here : here.n;
		out.words = from.list.words.n ? &from.list.words :
		            n_args ? &from.history.lexicon.words : &from.words.words.words;
		if (o->choose_k)
			run_choose(o, &here, &bo, &out);
		else
			cluster_pages(&from, &rows, &bo, &out);
		if (!o->choose_k && out.n_pages > 1 && out.clusters.k == out.n_pages)
			log_info("every page is a cluster of its own: give a smaller --k; --choose-k "
			         "finds one");
		print_output(&out, cli->common.json);
		if (o->report)
			rc = write_report(&out, cli, o->report, err);
		rows_release(&rows);
		rows_release(&here);
	}
	clusters_release(&out.clusters);
	free(out.described);
	free(out.points);
	origin_close(&from);
	return rc;
}

static const char *const cluster_needs[][2] = {
	{ "folds", "choose_k" }, { "most", "choose_k" }, { NULL, NULL },
};

const struct command command_cluster = {
	.name = "cluster",
	.reach = MAY_READ_ARGS | MAY_READ_INSTEAD,
	.on_fleet = FLEET_ONE,
	.arguments = "[TRACE...]",
	.summary = "the clusters of pages, what defines them, how often they change",
	.description =
		"Clusters the pages of the repository, or those of CDXJ files as they were at the\n"
		"end, by repeated bisection. Shows for each cluster its size, the sites it mixes,\n"
		"what stands out in it, how often its pages change, and the clusters nearest to it.\n"
		"\n"
		"With --choose-k: for a range of k the mean cosine of pages held out to the nearest\n"
		"of k clusters made without them, and where that curve bends.",
	.examples =
		"  freshet cluster --k 50                  # the repository\n"
		"  freshet cluster trace/*.cdxj.gz --features content\n"
		"  freshet cluster --choose-k --features url --json\n",
	.options = cluster_options,
	.opts_size = sizeof(struct cluster_cli_opts),
	.needs = cluster_needs,
	.n_args_min = 0,
	.n_args_max = -1,
	.archives = true,
	.run = cluster_run,
};
