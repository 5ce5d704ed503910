/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - which figures, out of which data; see figures.h. */
#include "cli/figures/figures.h"

#include <stdio.h>

#include "base/io/progress.h"
#include "engine/history/trace.h"

static const struct figure_paper *const papers[] = { &figures_paper1, &figures_paper2,
                                                     &figures_paper3, &figures_paper4,
                                                     &figures_beyond };

static const struct figure *figure_find(const struct figure_paper *p, const char *id,
                                        size_t n)
{
	for (size_t i = 0; i < p->n_figures; i++)
		if (strlen(p->figures[i].id) == n && !strncmp(p->figures[i].id, id, n))
			return &p->figures[i];
	return NULL;
}

/* "paper1" is every figure of it, "paper1:fig5,fig6" those. */
static int choose(struct figures *f, const char *which, struct err *err)
{
	size_t n = strcspn(which, ":"), n_papers = sizeof papers / sizeof *papers;

	for (size_t i = 0; i < n_papers && !f->paper; i++)
		if (strlen(papers[i]->name) == n && !strncmp(papers[i]->name, which, n))
			f->paper = papers[i];
	if (!f->paper)
		return err_set(err, E_USAGE, "figures: '%s' is none of paper1, paper2, paper3, "
		               "paper4, beyond", which);
	f->chosen = mem_zalloc(f->paper->n_figures, sizeof *f->chosen);
	if (!which[n]) {
		for (; f->n < f->paper->n_figures; f->n++)
			f->chosen[f->n] = &f->paper->figures[f->n];
		return 0;
	}
	for (const char *id = which + n + 1; *id; id += n + (id[n] == ',')) {
		n = strcspn(id, ",");
		if (f->n == f->paper->n_figures || !figure_find(f->paper, id, n)) {
			char ids[200] = "";

			for (size_t i = 0; i < f->paper->n_figures; i++)
				snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%s",
				         i ? ", " : "", f->paper->figures[i].id);
			return err_set(err, E_USAGE, "figures: '%.*s' is no figure of %s, which has %s",
			               (int)n, id, f->paper->name, ids);
		}
		f->chosen[f->n++] = figure_find(f->paper, id, n);
	}
	return 0;
}

/* Facts of pages are read only for figures that look at them: they cost memory. */
static int load_history(struct figures *f, int n_args, char **args, struct err *err)
{
	const char *name = f->ask->detect ? f->ask->detect : f->paper->detect;
	struct progress progress = { 0 };
	struct trace_report report = { .report = log_warn_text, .progress = progress_bytes,
	                               .arg = &progress };
	struct detector detect;
	int rc = detector_parse(&detect, name, err);

	if (rc < 0)
		return rc;
	history_init(&f->history, detect, WANT_LINKS | WANT_FACTS);
	progress_start(&progress, "reading", "MB", 0);
	rc = trace_load(&f->history, (const char *const *)args, (size_t)n_args, &report, err);
	progress_end(&progress);
	if (rc == 0 && report.n_bad)
		log_warn("%llu lines or records could not be read", (unsigned long long)report.n_bad);
	if (rc == 0 && f->history.n_no_key)
		log_warn("%llu records lack the digest that --detect %s compares",
		         (unsigned long long)f->history.n_no_key, name);
	return rc;
}

static int make_all(struct figures *f, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++) {
		const struct figure *d = f->chosen[i];

		if (!d->make)
			continue;
		rc = d->make(f, d, &f->plots[i], err);
		f->plots[i].id = d->id;
		f->plots[i].title = d->title;
		f->plots[i].x_label = d->x_label;
		f->plots[i].y_label = d->y_label;
		f->plots[i].x_log = d->x_log;
	}
	return rc ? rc : figures_replay(f, err);
}

static void figures_release(struct figures *f)
{
	for (size_t i = 0; i < f->n && f->plots; i++)
		plot_release(&f->plots[i]);
	free(f->plots);
	free(f->chosen);
	if (f->paper && f->paper->graph)
		figure_graph_close(&f->graph);
	history_release(&f->history);
}

int figures_run(struct cli *cli, const struct figure_request *ask, int n_args,
                char **args, struct err *err)
{
	struct figures f = { .ask = ask };
	int rc = choose(&f, ask->which, err);

	if (rc == 0) {
		f.plots = mem_zalloc(f.n, sizeof *f.plots);
		rc = f.paper->graph ? figure_graph_open(&f.graph, n_args, args, err) :
		     load_history(&f, n_args, args, err);
	}
	if (rc == 0)
		rc = make_all(&f, err);
	if (rc == 0 && ask->svg)
		rc = figures_draw(&f, ask->svg, err);
	if (rc == 0 && cli->common.json)
		figures_print_json(&f);
	else if (rc == 0)
		figures_print(&f, stdout);
	figures_release(&f);
	return rc;
}
