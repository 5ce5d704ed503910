/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_replay.c - runs the figures that are replays; see figures.h.
 *
 * Figures share settings (cycle length, budget, what policies are told), and
 * within one setting policies: both are collected first, so that nothing is run
 * twice and the progress line knows the total.
 */
#include "cli/figures/figures.h"

#include <math.h>
#include <stdio.h>

#include "base/io/progress.h"
#include "base/thread/pool.h"
#include "engine/replay/replay_search.h"
#include "policy/model/grouping.h"

struct setting {
	struct replay_opts opts;
	uint32_t cycles_most;
	bool search;
	struct option_list specs;
	unsigned needs;
};

/* A setting of a figure; point: the n-th of that figure. */
struct use { size_t figure, setting, point; };

struct figure_plan {
	VEC(struct setting) settings;
	VEC(struct use) uses;
	struct grouping_share *groups;
	struct arena texts;
	size_t n_runs;
};

struct meter { struct progress progress; size_t before, runs; };

static void show_done(void *arg, size_t n, size_t total)
{
	struct meter *m = arg;

	progress_set(&m->progress, m->before + (total ? n * m->runs / total : 0));
}

static size_t setting_add(struct figure_plan *plan, const struct setting *s)
{
	for (size_t i = 0; i < plan->settings.n; i++) {
		const struct setting *o = &plan->settings.v[i];

		if (o->opts.cycle_seconds == s->opts.cycle_seconds && o->search == s->search &&
		    o->opts.budget.value == s->opts.budget.value &&
		    o->opts.budget.percent == s->opts.budget.percent &&
		    o->opts.observe == s->opts.observe && o->opts.weights == s->opts.weights &&
		    o->cycles_most == s->cycles_most)
			return i;
	}
	vec_push(&plan->settings, *s);
	return plan->settings.n - 1;
}

static int spec_add(struct setting *s, const char *spec, struct arena *arena,
                    struct err *err)
{
	struct option_list all = { 0 };
	int rc = policy_expand(spec, &all, arena, err);

	for (size_t i = 0; i < all.n && rc == 0; i++) {
		size_t k = 0;

		while (k < s->specs.n && strcmp(s->specs.v[k], all.v[i]))
			k++;
		if (k < s->specs.n)
			continue;
		mem_grow((void **)&s->specs.v, &s->specs.cap, s->specs.n + 1, sizeof *s->specs.v);
		s->specs.v[s->specs.n++] = all.v[i];
	}
	free(all.v);
	return rc;
}

/* The settings of one figure: every cycle length with every budget. */
static int plan_figure(struct figure_plan *plan, const struct figures *f, size_t at,
                       struct err *err)
{
	const struct figure *d = f->chosen[at];
	struct setting s = { .cycles_most = d->cycles_most, .search = d->search, .opts = {
		.start = f->ask->start, .end = f->ask->end, .weights = d->weights,
		.observe = f->ask->observe_given ? f->ask->observe : d->observe,
		.nearest = f->ask->nearest, .join = f->ask->join,
		.site_by_domain = f->ask->site_by_domain, .groups = plan->groups } };
	size_t point = 0;
	int rc = 0;

	for (const char *c = d->cycles; *c && rc == 0; c += strcspn(c, ","), c += *c == ',') {
		const char *cycle = arena_strndup(&plan->texts, c, strcspn(c, ","));

		if (!duration_parse(cycle, &s.opts.cycle_seconds))
			return err_set(err, E_USAGE, "figure %s: cycle '%s'", d->id, cycle);
		for (const char *b = d->budgets; *b && rc == 0; b += strcspn(b, ","), b += *b == ',') {
			const char *budget = arena_strndup(&plan->texts, b, strcspn(b, ","));
			struct use use = { .figure = at, .point = point++ };

			if (!share_parse(budget, &s.opts.budget))
				return err_set(err, E_USAGE, "figure %s: budget '%s'", d->id, budget);
			use.setting = setting_add(plan, &s);
			vec_push(&plan->uses, use);
			for (size_t i = 0; i < d->n_lines && rc == 0; i++)
				rc = spec_add(&plan->settings.v[use.setting], d->lines[i].spec,
				              &plan->texts, err);
		}
	}
	return rc;
}

static void figure_plan_release(struct figure_plan *plan)
{
	for (size_t i = 0; i < plan->settings.n; i++)
		free(plan->settings.v[i].specs.v);
	vec_release(&plan->settings);
	vec_release(&plan->uses);
	grouping_share_free(plan->groups);
	arena_release(&plan->texts);
}

static size_t n_points(const struct figure_plan *plan, size_t figure)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->uses.n; i++)
		n += plan->uses.v[i].figure == figure;
	return n;
}

static size_t find_spec(const struct experiment *x, const char *spec)
{
	for (size_t i = 0; i < x->n_results; i++)
		if (!strcmp(x->results[i].spec, spec))
			return i;
	return 0;               /* not reached: all specs were planned */
}

/* One number over the seeds: of one cycle, or (c < 0) the mean over all. */
static void fill(struct plot_series *s, size_t point, const struct experiment *x,
                 size_t policy, size_t measure, long c)
{
	const struct replay_run *runs = x->results[policy].runs;
	struct stat_mean m = { 0 };

	for (uint32_t k = 0; k < x->n_seeds; k++)
		stat_add(&m, c < 0 ? replay_mean(&runs[k], measure) :
		         replay_number(&runs[k].cycles[c], measure));
	s->y[point] = m.mean;
	s->se[point] = x->n_seeds > 1 ? stat_se(&m) : NAN;
}

static void setting_name(const struct replay *r, const struct figure *d,
                         char out[PLOT_LABEL])
{
	bool cycles = strchr(d->cycles, ','), budgets = strchr(d->budgets, ',');
	char length[24];

	duration_format(r->opts.cycle_seconds, length);
	snprintf(out, PLOT_LABEL, "%s%s", cycles ? length : "", cycles && budgets ? ", " : "");
	if (budgets || !cycles)
		snprintf(out + strlen(out), PLOT_LABEL - strlen(out), "%g %%",
		         r->opts.budget.value);
}

static void series_name(struct plot_series *s, const struct replay *r,
                        const struct figure *d, size_t line, size_t points)
{
	char name[PLOT_LABEL];

	setting_name(r, d, name);
	if (points > 1)
		snprintf(s->label, sizeof s->label, "%.50s, %.25s", d->lines[line].label, name);
	else
		snprintf(s->label, sizeof s->label, "%s", d->lines[line].label);
}

/* The caption: what the axes do not say. */
static void describe_run(struct plot *p, const struct figure *d,
                         const struct experiment *x)
{
	const struct replay *r = x->replay;
	char from[21], to[21], length[24], how[100] = "";

	when_iso(r->start, from);
	when_iso(r->start + r->n_cycles * r->opts.cycle_seconds, to);
	duration_format(r->opts.cycle_seconds, length);
	if (!strchr(d->cycles, ','))
		snprintf(how, sizeof how, "cycles of %s, ", length);
	if (!strchr(d->budgets, ','))
		snprintf(how + strlen(how), sizeof how - strlen(how), "budget %g %%, ",
		         r->opts.budget.value);
	snprintf(p->caption, sizeof p->caption, "%s%s%u pages of %u sites, %.10s to %.10s, %s"
	         "%u seed%s%s, policies told the %s reading of changed.", d->note ? d->note : "",
	         d->note ? " " : "", r->n_repository, r->pages.tree.n_sites, from, to, how,
	         x->n_seeds, x->n_seeds == 1 ? "" : "s", x->n_seeds == 1 || d->axis == AXIS_TEST ?
	         "" : d->kind == PLOT_LINES ? " (band: ± standard error)" : " (± standard error)",
	         r->opts.observe == OBSERVE_CYCLE ? "cycle" : "local");
}

/* The size of a plot is known when its first setting is open. */
static void size_plot(struct plot *p, const struct figure *d, const struct experiment *x,
                      size_t points)
{
	long lo = 0, hi = 0;

	if (d->axis == AXIS_SETTING) {
		plot_init(p, d->kind, d->n_lines, points);
	} else if (d->axis == AXIS_TEST) {
		plot_init(p, PLOT_TABLE, d->n_against, d->n_lines - d->n_against);
	} else if (d->axis == AXIS_CYCLES) {
		plot_init(p, d->kind, d->n_lines * points, x->replay->n_cycles);
		for (size_t i = 0; i < p->n_x; i++)
			p->x[i] = (double)(i + 1);
	} else {
		for (size_t i = 0; i < d->n_lines; i++) {
			const char *to = strstr(d->lines[i].spec, "..");
			long last = to ? strtol(to + 2, NULL, 10) : d->lines[i].first;

			lo = !i || d->lines[i].first < lo ? d->lines[i].first : lo;
			hi = !i || last > hi ? last : hi;
		}
		plot_init(p, d->kind, d->n_lines * points, (size_t)(hi - lo + 1));
		for (size_t i = 0; i < p->n_x; i++)
			p->x[i] = (double)(lo + (long)i);
	}
	p->id = d->id;
	p->title = d->title;
	p->x_label = d->x_label;
	p->y_label = d->y_label;
	p->x_log = d->x_log;
	p->base = d->base;
	describe_run(p, d, x);
}

static void fill_range(struct plot *p, const struct figure *d, size_t line,
                       struct plot_series *s, const struct experiment *x,
                       struct arena *arena)
{
	struct option_list all = { 0 };
	struct err err;
	size_t at = (size_t)(d->lines[line].first - (long)p->x[0]);

	if (policy_expand(d->lines[line].spec, &all, arena, &err) < 0)
		return;                 /* not reached: it was expanded before */
	/* a policy without the parameter has the same value everywhere */
	for (size_t i = 0; i < (all.n > 1 ? all.n : p->n_x); i++)
		fill(s, all.n > 1 ? at + i : i, x, find_spec(x, all.v[all.n > 1 ? i : 0]),
		     d->measure, -1);
	free(all.v);
}

static void fill_tests(struct plot *p, const struct figure *d, const struct experiment *x)
{
	size_t n_rows = d->n_lines - d->n_against;

	p->decimals = 2;
	for (size_t i = 0; i < d->n_lines; i++) {
		bool row = i < n_rows;

		snprintf(row ? p->names[i] : p->series[i - n_rows].label, PLOT_LABEL, "%s",
		         d->lines[i].label);
	}
	for (size_t i = 0; i < n_rows; i++)
		for (size_t k = n_rows; k < d->n_lines; k++)
			p->series[k - n_rows].y[i] = experiment_compare_search(x,
				find_spec(x, d->lines[i].spec), find_spec(x, d->lines[k].spec),
				d->test).t;
}

static void fill_figure(struct figures *f, const struct figure_plan *plan,
                        const struct use *use, const struct experiment *x,
                        struct arena *arena)
{
	const struct figure *d = f->chosen[use->figure];
	struct plot *p = &f->plots[use->figure];
	size_t points = n_points(plan, use->figure);

	if (!p->n_series)
		size_plot(p, d, x, points);
	if (d->axis == AXIS_TEST) {
		fill_tests(p, d, x);
		return;
	}
	for (size_t i = 0; i < d->n_lines; i++) {
		struct plot_series *s = &p->series[d->axis == AXIS_SETTING ? i :
		                                   i * points + use->point];
		size_t policy = find_spec(x, d->lines[i].spec);

		series_name(s, x->replay, d, i, d->axis == AXIS_SETTING ? 1 : points);
		if (d->axis == AXIS_SETTING) {
			if (d->kind == PLOT_LINES)
				p->x[use->point] = x->replay->opts.budget.value;
			else
				setting_name(x->replay, d, p->names[use->point]);
			fill(s, use->point, x, policy, d->measure, -1);
		} else if (d->axis == AXIS_RANGE) {
			fill_range(p, d, i, s, x, arena);
		} else {
			for (size_t c = 0; c < p->n_x && c < x->replay->n_cycles; c++)
				fill(s, c, x, policy, d->measure, (long)c);
		}
	}
}

static int open_setting(struct figures *f, const struct setting *s, struct replay *r,
                        struct replay_search *search, struct err *err)
{
	static const struct search_opts so = { .k = 10, .relevant = 10, .n_queries = 100,
		.weight_text = 0.5, .weight_rank = 0.5 };
	struct search_opts own = so;
	int rc = replay_open(r, &f->history, &s->opts, s->needs, err);

	own.seed = f->ask->seed;
	if (rc == 0 && s->cycles_most && r->n_cycles > s->cycles_most)
		r->n_cycles = s->cycles_most;
	if (rc == 0 && s->search)
		rc = replay_search_open(search, r, &own, NULL, NULL, err);
	if (rc < 0 && s->search)
		err_prefix(err, "figures that search");
	return rc;
}

static int run_setting(struct figures *f, struct figure_plan *plan, size_t at,
                       struct meter *meter, struct err *err)
{
	const struct setting *s = &plan->settings.v[at];
	unsigned threads = f->ask->threads ? f->ask->threads : pool_threads();
	struct replay_search search = { 0 };
	struct experiment x = { 0 };
	struct replay r = { 0 };
	int rc = open_setting(f, s, &r, &search, err);

	meter->runs = s->specs.n * f->ask->n_seeds;
	if (rc == 0)
		rc = experiment_run(&x, &r, &s->specs, f->ask->seed, f->ask->n_seeds, threads,
		                    show_done, meter, err);
	for (size_t i = 0; i < plan->uses.n && rc == 0; i++)
		if (plan->uses.v[i].setting == at)
			fill_figure(f, plan, &plan->uses.v[i], &x, &plan->texts);
	meter->before += meter->runs;
	experiment_release(&x);
	replay_search_close(&search);
	replay_close(&r);
	return rc;
}

int figures_replay(struct figures *f, struct err *err)
{
	struct figure_plan plan = { .groups = grouping_share_new() };
	struct meter meter = { 0 };
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++)
		if (!f->chosen[i]->make)
			rc = plan_figure(&plan, f, i, err);
	for (size_t i = 0; i < plan.settings.n && rc == 0; i++) {
		rc = policy_list_needs(&plan.settings.v[i].specs, &plan.settings.v[i].needs, err);
		plan.n_runs += plan.settings.v[i].specs.n * f->ask->n_seeds;
	}
	progress_start(&meter.progress, "replaying", "runs", plan.n_runs);
	for (size_t i = 0; i < plan.settings.n && rc == 0; i++)
		rc = run_setting(f, &plan, i, &meter, err);
	progress_end(&meter.progress);
	figure_plan_release(&plan);
	return rc;
}
