/* SPDX-License-Identifier: Apache-2.0 */
/* replay_print.c - an experiment as a table; replay_json.c has JSON and CSV. */
#include "cli/replay/replay_print.h"

#include "cli/frame/command.h"
#include "cli/replay/replay_sites.h"
#include "engine/replay/replay_fail.h"
#include "engine/replay/replay_search.h"
#include "policy/catalogue/catalogue.h"
#include "policy/policy.h"

#define STAR_P 0.05             /* two-sided, for the mark in the table */

/* Policies, those that serve the aim best first. */
static size_t *ranked(const struct experiment *x)
{
	size_t *order = mem_array(x->n_results, sizeof *order);

	for (size_t i = 0; i < x->n_results; i++) {
		size_t k = i;

		for (; k > 0 && experiment_merit(x, order[k - 1]) < experiment_merit(x, i); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	return order;
}

bool replay_knows_truth(const char *spec)
{
	const struct policy_ops *ops = policy_find(spec, strcspn(spec, ":"));

	return ops && ops->only_replay;
}

/* The first policy of the order that others are compared with; n_results: none. */
static size_t best_rival(const struct experiment *x, const size_t *order)
{
	for (size_t i = 0; i < x->n_results; i++)
		if (!replay_knows_truth(x->results[order[i]].spec))
			return order[i];
	return x->n_results;
}

static const char *goal_title(const struct replay *r)
{
	return r->opts.goal == GOAL_ALIVE ? "AliveRatio" : "ChangeRatio";
}

static void print_head(const struct replay_output *o, FILE *out)
{
	const struct replay *r = o->x->replay;
	char from[21], to[21], length[24];
	/* days, and of short cycles the time of day, too */
	int shown = r->opts.cycle_seconds < DAY_SECONDS ? 16 : 10;

	when_iso(r->start, from);
	when_iso(r->end, to);
	duration_format(r->opts.cycle_seconds, length);
	fprintf(out, "%s%u page%s of %u site%s, %.*s to %.*s, %u cycle%s of %s, budget %u ",
	        o->first ? "" : "\n", r->n_repository, r->n_repository == 1 ? "" : "s",
	        r->pages.tree.n_sites, r->pages.tree.n_sites == 1 ? "" : "s", shown, from, shown, to,
	        r->n_cycles, r->n_cycles == 1 ? "" : "s", length, r->budget);
	if (r->budget > r->n_repository)
		fputs("(more than there are pages)", out);
	else
		fprintf(out, "(%.1f %%)", 100.0 * r->budget / r->n_repository);
	fprintf(out, ", %u seed%s, observing %s", o->x->n_seeds, o->x->n_seeds == 1 ? "" : "s",
	        r->opts.observe == OBSERVE_CYCLE ? "cycle" : "local");
	if (r->opts.goal == GOAL_CHANGED)
		fprintf(out, ", aim %s", aim_name(r->opts.aim));
	if (r->opts.weight != WEIGHT_NONE)
		fprintf(out, ", weight %s", weight_name(r->opts.weight));
	if (r->opts.shards.count) {
		fprintf(out, "; %u shard%s by %s", r->opts.shards.count,
		        r->opts.shards.count == 1 ? "" : "s",
		        r->opts.shards.by_domain ? "domain" : "host");
		if (r->opts.shards.fixed)
			fputs(", the budget split by pages", out);
		else if (r->opts.shards.loaded)
			fprintf(out, ", %u loaded at a time, one budget", r->opts.shards.loaded);
		else
			fputs(", one budget", out);
	}
	fputs("\n\n", out);
}

/* The standard error over seeds: one seed has none, which is not 0. */
static void error_cell(struct table *t, const struct experiment *x, double se)
{
	if (x->n_seeds > 1)
		table_cell(t, "%.4f", se);
	else
		table_cell(t, "-");
}

/* Measures of the searches, and t-values of MAP@k between the policies. */
static void print_search(const struct experiment *x, const size_t *order, FILE *out)
{
	static const char *const heads[] = { "<policy", "freshness@k", "+-", "MAP@k", "+-",
	                                     "embarrassment", "+-" };
	struct table *t = table_new(heads, 7);

	fprintf(out, "\nSearch: %u queries, top %u\n\n", x->replay->search->set.n_queries,
	        x->replay->search->set.opts.k);
	for (size_t i = 0; i < x->n_results; i++) {
		const struct policy_result *p = &x->results[order[i]];
		const struct estimate *e[] = { &p->freshness_at_k, &p->map_at_k, &p->embarrassment };

		table_cell(t, "%s", p->spec);
		for (int k = 0; k < 3; k++) {
			table_cell(t, "%.4f", e[k]->mean);
			error_cell(t, x, e[k]->se);
		}
	}
	table_print(t, out);
	table_free(t);
	for (int k = 0; k < N_SEARCH_KINDS && x->n_results > 1; k++) {
		fprintf(out, "\nt-values of %s, row against column (* p < %.2f)\n",
		        search_kind_name((enum search_kind)k), STAR_P);
		fprintf(out, "%-34s", "");
		for (size_t b = 0; b + 1 < x->n_results; b++)
			fprintf(out, " %7zu. ", b + 1);
		fputc('\n', out);
		for (size_t a = 0; a < x->n_results; a++) {
			fprintf(out, "%2zu. %-30.30s", a + 1, x->results[order[a]].spec);
			for (size_t b = 0; b < a; b++) {
				struct stat_test s = experiment_compare_search(x, order[a], order[b],
				                                               (enum search_kind)k);

				fprintf(out, " %8.2f%s", s.t, s.p < STAR_P ? "*" : " ");
			}
			fputc('\n', out);
		}
	}
}

/* Goal alive: downloads for each living page found, at shares of all of them. */
static void print_costs(const struct experiment *x, const size_t *order, FILE *out)
{
	static const int shown[] = { 1, 3, 5, 9, 13, 15, 17, 18 };
	const char *heads[] = { "<cost at alpha", "0.10", "0.20", "0.30", "0.50", "0.70", "0.80",
	                        "0.90", "0.95" };
	struct table *t = table_new(heads, sizeof heads / sizeof *heads);

	for (size_t i = 0; i < x->n_results; i++) {
		const struct policy_result *p = &x->results[order[i]];

		table_cell(t, "%s", p->spec);
		for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
			double c = p->cost[shown[k]].mean;

			if (c > 0)
				table_cell(t, "%.3f", c);
			else
				table_cell(t, "-");
		}
	}
	fputc('\n', out);
	table_print(t, out);
	table_free(t);
}

bool replay_guarantee_broken(const struct experiment *x, const struct policy_result *p)
{
	bool broken = false;

	for (uint32_t k = 0; k < x->n_seeds; k++)
		for (uint32_t c = 0; c < p->runs[k].n_cycles; c++)
			broken |= p->runs[k].cycles[c].guarantee_broken;
	return broken;
}

double replay_failed_share(const struct experiment *x, const struct policy_result *p)
{
	double failed = 0, all = 0;

	for (uint32_t k = 0; k < x->n_seeds; k++)
		for (uint32_t c = 0; c < p->runs[k].n_cycles; c++) {
			failed += p->runs[k].cycles[c].failed;
			all += p->runs[k].cycles[c].downloads;
		}
	return all > 0 ? failed / all : 0;
}

/* The measures of a table: that of the aim first, with its standard error. */
struct column { const char *title; size_t offset; int places; };
#define COLUMN(title, field, places) { title, offsetof(struct policy_result, field), places }
#define COLUMNS_MOST 9

static size_t choose_columns(const struct replay *r, struct column c[COLUMNS_MOST])
{
	const struct column time = COLUMN("over time", freshness_time, 4);
	const struct column old = COLUMN("age all d", age_time_days, 2);
	const struct column ratio = COLUMN(NULL, change_ratio, 4);
	const struct column weighted[] = { COLUMN("weighted", weighted_change_ratio, 4),
		COLUMN("weighted time", weighted_freshness_time, 4),
		COLUMN("weighted age d", weighted_age_time_days, 2) };
	const struct column rest[] = { COLUMN("cycle", change_ratio_cycle, 4),
		COLUMN("freshness", freshness, 4), COLUMN("age d", age_days, 1),
		COLUMN("unvisited d", max_unvisited_days, 0) };
	enum aim aim = r->opts.goal == GOAL_ALIVE ? AIM_CHANGES : r->opts.aim;
	size_t n = 0;

	if (r->opts.weight != WEIGHT_NONE)
		c[n++] = weighted[aim];
	c[n++] = aim == AIM_FRESHNESS ? time : aim == AIM_AGE ? old : ratio;
	if (aim != AIM_CHANGES)
		c[n++] = ratio;
	c[n++] = rest[0];
	if (r->opts.weight == WEIGHT_NONE || aim != AIM_CHANGES)
		c[n++] = weighted[0];
	for (size_t i = 1; i < sizeof rest / sizeof *rest; i++)
		c[n++] = rest[i];
	for (size_t i = 0; i < n; i++)
		c[i].title = c[i].title ? c[i].title : goal_title(r);
	return n;
}

void replay_print_table(const struct replay_output *o, FILE *out)
{
	const struct experiment *x = o->x;
	struct column columns[COLUMNS_MOST];
	size_t n_columns = choose_columns(x->replay, columns), n_heads = 0;
	const char *heads[COLUMNS_MOST + 5] = { [0] = "<policy" };
	struct table *t;
	bool can_fail = replay_can_fail(x->replay);
	size_t *order = ranked(x);
	size_t best = best_rival(x, order);
	bool broken = false, starred = false;

	n_heads = 1;
	for (size_t k = 0; k < n_columns; k++) {
		heads[n_heads++] = columns[k].title;
		if (k == 0)
			heads[n_heads++] = "+-";
	}
	heads[n_heads++] = "plan s";
	heads[n_heads++] = "";
	if (can_fail)
		heads[n_heads++] = "failed";
	t = table_new(heads, n_heads);
	print_head(o, out);
	for (size_t i = 0; i < x->n_results; i++) {
		const struct policy_result *p = &x->results[order[i]];
		bool rival = best < x->n_results && order[i] != best && !replay_knows_truth(p->spec);
		bool star = rival && experiment_compare(x, order[i], best).p < STAR_P;

		table_cell(t, "%s", p->spec);
		for (size_t k = 0; k < n_columns; k++) {
			const struct estimate *e = (const void *)((const char *)p + columns[k].offset);

			table_cell(t, "%.*f", columns[k].places, e->mean);
			if (k == 0)
				error_cell(t, x, e->se);
		}
		if (o->no_time)
			table_cell(t, "-");
		else
			table_cell(t, "%.3f", p->plan_seconds);
		table_cell(t, "%s", star ? "*" : "");
		if (can_fail)
			table_cell(t, "%.1f %%", 100 * replay_failed_share(x, p));
		starred |= star;
		broken |= replay_guarantee_broken(x, p);
	}
	table_print(t, out);
	table_free(t);
	if (x->replay->opts.goal == GOAL_ALIVE)
		print_costs(x, order, out);
	if (starred)
		fprintf(out, "\n* differs from %s, the best%s, by more than chance (paired t-test over "
		        "cycles, p < %.2f)\n", x->results[best].spec,
		        best == order[0] ? "" : " that does not know the future", STAR_P);
	if (x->replay->search)
		print_search(x, order, out);
	if (x->replay->opts.by_site)
		replay_sites_table(o->sites, best < x->n_results ? best : order[0], out);
	for (size_t i = 0; i < x->n_results; i++)
		if (*x->results[order[i]].runs[0].explain)
			fprintf(out, "\n%s chose %s.\n", x->results[order[i]].spec,
			        x->results[order[i]].runs[0].explain);
	if (broken)
		fprintf(out, "The budget cannot keep --max-age in every cycle: raise the budget or "
		        "the age.\n");
	free(order);
}
