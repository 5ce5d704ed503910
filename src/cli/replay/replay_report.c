/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_report.c - the verdict over policies, in words; see replay_report.h.
 *
 * A policy that knows the truth is an upper bound and never the winner.  The paired
 * t-test of the table says whether the best two differ.  The text says so if there was
 * only one seed.
 */
#include "cli/replay/replay_report.h"

#include <math.h>
#include <stdlib.h>

#define CHANCE_P 0.05
#define COST_ALPHA 15                   /* of replay_alpha(): 0.80 */
#define NONE ((size_t)-1)
#define SITES_MOST 1000                 /* of each policy; more would make a slow page */

void replay_report_init(struct replay_report *r, bool wanted)
{
	*r = (struct replay_report){ .wanted = wanted };
	report_init(&r->report);
}

void replay_report_release(struct replay_report *r)
{
	report_release(&r->report);
	free(r->winners);
}

static bool is_named(const char *spec, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(spec, name, n) && (!spec[n] || spec[n] == ':');
}

static size_t find_named(const struct experiment *x, const char *name)
{
	for (size_t i = 0; i < x->n_results; i++)
		if (is_named(x->results[i].spec, name))
			return i;
	return NONE;
}

/* Larger is better.  Goal alive: few downloads for each living page. */
static double merit(const struct experiment *x, size_t i)
{
	double cost = x->results[i].cost[COST_ALPHA].mean;

	if (x->replay->opts.goal != GOAL_ALIVE)
		return experiment_merit(x, i);
	return cost > 0 ? 1 / cost : 0;
}

/* The best policy that does not know the truth; NONE: there is none. */
static size_t find_best(const struct experiment *x)
{
	size_t best = NONE;

	for (size_t i = 0; i < x->n_results; i++)
		if (!replay_knows_truth(x->results[i].spec) &&
		    (best == NONE || merit(x, i) > merit(x, best)))
			best = i;
	return best;
}

/* The next policy below the best one. */
static size_t find_next(const struct experiment *x, size_t best)
{
	size_t next = NONE;

	for (size_t i = 0; i < x->n_results; i++)
		if (merit(x, i) < merit(x, best) && !replay_knows_truth(x->results[i].spec) &&
		    (next == NONE || merit(x, i) > merit(x, next)))
			next = i;
	return next;
}

/* Another policy with the same result: `auto` equals the policy that it chose. */
static size_t find_same(const struct experiment *x, size_t best)
{
	for (size_t i = 0; i < x->n_results; i++)
		if (i != best && !replay_knows_truth(x->results[i].spec) &&
		    fabs(merit(x, i) - merit(x, best)) < 1e-12)
			return i;
	return NONE;
}

/* The policy that found the most changes, under another aim. */
static size_t find_most_changes(const struct experiment *x)
{
	size_t best = NONE;

	for (size_t i = 0; i < x->n_results; i++)
		if (!replay_knows_truth(x->results[i].spec) && (best == NONE ||
		    x->results[i].change_ratio.mean > x->results[best].change_ratio.mean))
			best = i;
	return best;
}

static size_t find_freshest(const struct experiment *x)
{
	size_t best = NONE;

	for (size_t i = 0; i < x->n_results; i++)
		if (!replay_knows_truth(x->results[i].spec) && (best == NONE ||
		    x->results[i].freshness.mean > x->results[best].freshness.mean))
			best = i;
	return best;
}

static void say_alive(struct report *r, const struct experiment *x, size_t best)
{
	const struct policy_result *p = &x->results[best];
	size_t random = find_named(x, "random");
	double cost = p->cost[COST_ALPHA].mean;

	if (!(cost > 0)) {
		report_say(r, "No policy found 80 %% of the living pages: give more cycles or a "
		           "larger --budget.");
		return;
	}
	report_say(r, "%s finds 80 %% of the living pages at the lowest cost: %.2f downloads for "
	           "each.", p->spec, cost);
	if (random != NONE && random != best && x->results[random].cost[COST_ALPHA].mean > 0)
		report_say(r, "Random needs %.2f.", x->results[random].cost[COST_ALPHA].mean);
}

static void say_changes(struct report *r, const struct experiment *x, size_t best)
{
	const struct policy_result *p = &x->results[best];
	size_t random = find_named(x, "random"), oracle = find_named(x, "oracle");
	size_t next = find_next(x, best), same = find_same(x, best);
	double base = random == NONE ? 0 : x->results[random].change_ratio.mean;

	report_say(r, "%s finds the most changes: %.1f %% of its downloads had changed%s", p->spec,
	           100 * p->change_ratio.mean, random == best || base <= 0 ? "." : ",");
	if (random != best && base > 0)
		report_say(r, "%.1f times as many as random (%.1f %%).", p->change_ratio.mean / base,
		           100 * base);
	if (oracle != NONE)
		report_say(r, "Knowing the truth, %.1f %% would have been possible.",
		           100 * x->results[oracle].change_ratio.mean);
	if (same != NONE)
		report_say(r, "%s does exactly as well.", x->results[same].spec);
	if (next != NONE) {
		struct stat_test t = experiment_compare(x, best, next);

		if (t.p < CHANCE_P && next == random)
			return;                 /* said above */
		if (t.p < CHANCE_P)
			report_say(r, "The next best is %s with %.1f %%.", x->results[next].spec,
			           100 * x->results[next].change_ratio.mean);
		else
			report_say(r, "Its lead over %s (%.1f %%) may be chance.",
			           x->results[next].spec,
			           100 * x->results[next].change_ratio.mean);
	}
}

/* "94.1 %", or "12.3 days". */
static const char *shown_merit(const struct experiment *x, size_t i, char out[32])
{
	double m = experiment_merit(x, i);

	if (x->replay->opts.aim == AIM_AGE)
		snprintf(out, 32, "%.1f days", -m);
	else
		snprintf(out, 32, "%.1f %%", 100 * m);
	return out;
}

/* Aims freshness and age: the state of the copies, day by day. */
static void say_copies(struct report *r, const struct experiment *x, size_t best)
{
	bool age = x->replay->opts.aim == AIM_AGE;
	size_t random = find_named(x, "random"), next = find_next(x, best);
	size_t same = find_same(x, best), most = find_most_changes(x);
	char a[32], b[32];

	report_say(r, age ? "%s leaves copies false for the shortest time: %s on the mean of all "
	           "copies and days." : "%s keeps the freshest copies: %s of them were true, on the "
	           "mean of all days.", x->results[best].spec, shown_merit(x, best, a));
	if (random != NONE && random != best)
		report_say(r, "Random has %s.", shown_merit(x, random, a));
	for (size_t i = 0; i < x->n_results; i++)
		if (replay_knows_truth(x->results[i].spec))
			report_say(r, "Knowing the truth, %s has %s.", x->results[i].spec,
			           shown_merit(x, i, a));
	if (same != NONE)
		report_say(r, "%s does exactly as well.", x->results[same].spec);
	if (next != NONE && next != random)
		report_say(r, experiment_compare(x, best, next).p < CHANCE_P ?
		           "The next best is %s with %s." : "Its lead over %s (%s) may be chance.",
		           x->results[next].spec, shown_merit(x, next, b));
	report_say(r, "%s %s the most changes: %.1f %% of its downloads had changed.",
	           x->results[most].spec, most == best ? "also finds" : "finds",
	           100 * x->results[most].change_ratio.mean);
}

static void say_one(struct report *r, const struct experiment *x, size_t best)
{
	size_t fresh = find_freshest(x);
	bool changes = x->replay->opts.aim == AIM_CHANGES;

	if (x->replay->opts.goal == GOAL_ALIVE)
		say_alive(r, x, best);
	else if (changes)
		say_changes(r, x, best);
	else
		say_copies(r, x, best);
	if (x->replay->opts.goal != GOAL_ALIVE && changes)
		report_say(r, "%s %s the freshest copies: %.1f %% true after a cycle.",
		           x->results[fresh].spec, fresh == best ? "also keeps" : "keeps",
		           100 * x->results[fresh].freshness.mean);
	if (x->n_seeds == 1)
		report_say(r, "This is one seed only: repeat with --seeds before relying on it.");
}

static void count_winner(struct replay_report *r, const char *spec)
{
	for (size_t i = 0; i < r->n_winners; i++) {
		if (!strcmp(r->winners[i].spec, spec)) {
			r->winners[i].n++;
			return;
		}
	}
	r->winners = mem_resize(r->winners, r->n_winners + 1, sizeof *r->winners);
	r->winners[r->n_winners++] = (struct replay_winner){ spec, 1 };
}

/* Several experiments: how often each policy is the best. */
static void say_many(struct replay_report *r)
{
	size_t best = 0;

	for (size_t i = 1; i < r->n_winners; i++)
		if (r->winners[i].n > r->winners[best].n)
			best = i;
	buf_clear(&r->report.verdict);
	if (!r->n_winners)
		return;
	report_say(&r->report, "%s leads in %u of %u settings of cycle length and budget.",
	           r->winners[best].spec, r->winners[best].n, r->n_experiments);
	for (size_t i = 0; i < r->n_winners; i++)
		if (i != best)
			report_say(&r->report, "%s leads in %u.", r->winners[i].spec, r->winners[i].n);
}

void replay_report_add(struct replay_report *r, const struct replay_output *o)
{
	const struct experiment *x = o->x;
	struct replay_output inside = *o;
	size_t best = find_best(x);
	char pages[32], sites[32];

	r->n_experiments++;
	if (!r->wanted)
		return;
	inside.sites_most = SITES_MOST;
	replay_print_json(&inside, report_json(&r->report));
	if (r->n_experiments == 1)
		snprintf(r->title, sizeof r->title, "%zu %s on the history of %s pages of %s site%s",
		         x->n_results, x->n_results == 1 ? "policy" : "policies",
		         report_count(x->replay->n_repository, pages),
		         report_count(x->replay->pages.tree.n_sites, sites),
		         x->replay->pages.tree.n_sites == 1 ? "" : "s");
	if (best == NONE)
		return;
	count_winner(r, x->results[best].spec);
	if (r->n_experiments == 1)
		say_one(&r->report, x, best);
}

int replay_report_write(struct replay_report *r, const char *path, const struct cli *cli,
                        int64_t made, struct err *err)
{
	struct report_head head = { r->title, cli->line, made };

	if (r->n_experiments > 1)
		say_many(r);
	return report_write(&r->report, path, &head, err);
}
