/* SPDX-License-Identifier: Apache-2.0 */
/* replay_json.c - an experiment as JSON or CSV; see replay_print.h. */
#include "cli/replay/replay_print.h"

#include "cli/frame/command.h"
#include "cli/replay/replay_sites.h"
#include "engine/replay/replay_fail.h"
#include "engine/replay/replay_search.h"
#include "policy/policy.h"

static void json_cycles(struct json *j, const struct replay *r, const struct policy_result *p)
{
	bool can_fail = replay_can_fail(r), search = r->search != NULL;

	json_key(j, "cycles");
	json_array(j);
	for (uint32_t c = 0; c < p->runs[0].n_cycles; c++) {
		const struct cycle_measure *m = &p->runs[0].cycles[c];
		char t[15];

		when_digits(m->time, t);
		json_object(j);
		json_kint(j, "cycle", c + 1);
		json_kstr(j, "time", t);
		json_kint(j, "downloads", m->downloads);
		json_kint(j, "changed", m->changed);
		json_kint(j, "changed_cycle", m->changed_cycle);
		json_kint(j, "late", m->late);
		json_kint(j, "gone", m->gone);
		if (can_fail) {
			json_kint(j, "failed", m->failed);
			json_kint(j, "resting", m->resting);
		}
		json_kint(j, "samples", m->samples);
		json_kint(j, "guaranteed", m->guaranteed);
		json_kint(j, "pages", m->pages);
		json_knum(j, "change_ratio", m->change_ratio);
		json_knum(j, "change_ratio_cycle", m->change_ratio_cycle);
		json_knum(j, "weighted_change_ratio", m->weighted_change_ratio);
		json_knum(j, "freshness", m->freshness);
		json_knum(j, "change_ratio_mean", p->by_cycle[c]);
		json_knum(j, "freshness_mean", p->freshness_by_cycle[c]);
		json_knum(j, "weighted_freshness", m->weighted_freshness);
		json_knum(j, "freshness_before", m->freshness_before);
		json_knum(j, "ndcg", m->ndcg);
		json_knum(j, "age_days", m->age_days);
		json_knum(j, "age_all_days", m->age_all_days);
		json_knum(j, "max_unvisited_days", m->max_unvisited_days);
		if (search) {
			json_knum(j, "freshness_at_k", m->freshness_at_k);
			json_knum(j, "map_at_k", m->map_at_k);
			json_knum(j, "embarrassment", m->embarrassment);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_mean(struct json *j, const struct experiment *x, const struct policy_result *p)
{
	bool search = x->replay->search != NULL;

	json_key(j, "mean");
	json_object(j);
	json_knum(j, "change_ratio", p->change_ratio.mean);
	json_knum(j, "change_ratio_se", p->change_ratio.se);
	json_knum(j, "change_ratio_cycle", p->change_ratio_cycle.mean);
	json_knum(j, "change_ratio_cycle_se", p->change_ratio_cycle.se);
	json_knum(j, "weighted_change_ratio", p->weighted_change_ratio.mean);
	json_knum(j, "weighted_change_ratio_se", p->weighted_change_ratio.se);
	json_knum(j, "freshness", p->freshness.mean);
	json_knum(j, "freshness_se", p->freshness.se);
	json_knum(j, "weighted_freshness", p->weighted_freshness.mean);
	json_knum(j, "freshness_before", p->freshness_before.mean);
	json_knum(j, "freshness_time", p->freshness_time.mean);
	json_knum(j, "freshness_time_se", p->freshness_time.se);
	json_knum(j, "weighted_freshness_time", p->weighted_freshness_time.mean);
	json_knum(j, "age_time_days", p->age_time_days.mean);
	json_knum(j, "age_time_days_se", p->age_time_days.se);
	json_knum(j, "weighted_age_time_days", p->weighted_age_time_days.mean);
	json_knum(j, "ndcg", p->ndcg.mean);
	json_knum(j, "ndcg_se", p->ndcg.se);
	json_knum(j, "age_days", p->age_days.mean);
	json_knum(j, "max_unvisited_days", p->max_unvisited_days.mean);
	json_knum(j, "late_share", p->late_share.mean);
	json_knum(j, "sample_share", p->sample_share.mean);
	if (replay_can_fail(x->replay))
		json_knum(j, "failed_share", replay_failed_share(x, p));
	if (search) {
		json_knum(j, "freshness_at_k", p->freshness_at_k.mean);
		json_knum(j, "freshness_at_k_se", p->freshness_at_k.se);
		json_knum(j, "map_at_k", p->map_at_k.mean);
		json_knum(j, "map_at_k_se", p->map_at_k.se);
		json_knum(j, "embarrassment", p->embarrassment.mean);
	}
	json_end_object(j);
}

static void json_cost(struct json *j, const struct policy_result *p)
{
	json_key(j, "cost");
	json_array(j);
	for (int a = 0; a < REPLAY_ALPHAS; a++) {
		if (p->cost[a].mean <= 0)
			continue;
		json_array(j);
		json_num(j, replay_alpha(a));
		json_num(j, p->cost[a].mean);
		json_end_array(j);
	}
	json_end_array(j);
}

static void json_trace(struct json *j, const struct replay *r)
{
	char t[15];

	json_key(j, "trace");
	json_object(j);
	json_kint(j, "pages", r->pages.n);
	json_kint(j, "repository", r->n_repository);
	json_kint(j, "sites", r->pages.tree.n_sites);
	json_kint(j, "captures", (int64_t)r->history->captures.n);
	when_digits(r->start, t);
	json_kstr(j, "start", t);
	when_digits(r->end, t);
	json_kstr(j, "end", t);
	json_end_object(j);
}

/* Every pair of policies: [policy, policy, measure, t]. */
static void json_t_table(struct json *j, const struct experiment *x)
{
	json_key(j, "t_table");
	json_array(j);
	for (size_t a = 0; a < x->n_results; a++) {
		for (size_t b = a + 1; b < x->n_results; b++) {
			for (int k = 0; k < N_SEARCH_KINDS; k++) {
				json_array(j);
				json_str(j, x->results[a].spec);
				json_str(j, x->results[b].spec);
				json_str(j, search_kind_name((enum search_kind)k));
				json_num(j, experiment_compare_search(x, a, b, (enum search_kind)k).t);
				json_end_array(j);
			}
		}
	}
	json_end_array(j);
}

void replay_print_json(const struct replay_output *o, struct json *j)
{
	const struct experiment *x = o->x;
	const struct replay *r = x->replay;

	cli_json_schema(j, "replay");
	json_trace(j, r);
	json_kint(j, "cycle_seconds", r->opts.cycle_seconds);
	json_kint(j, "budget", r->budget);
	json_kint(j, "seeds", x->n_seeds);
	json_kstr(j, "goal", r->opts.goal == GOAL_ALIVE ? "alive" : "changed");
	json_kstr(j, "observe", r->opts.observe == OBSERVE_CYCLE ? "cycle" : "local");
	json_kstr(j, "aim", aim_name(r->opts.aim));
	json_kstr(j, "weight", weight_name(r->opts.weight));
	if (r->opts.shards.count) {
		const struct shard_opts *s = &r->opts.shards;

		json_key(j, "shards");
		json_object(j);
		json_kint(j, "count", s->count);
		json_kint(j, "loaded", s->loaded && s->loaded < s->count ? s->loaded : s->count);
		json_kstr(j, "by", s->by_domain ? "domain" : "host");
		json_kstr(j, "split", s->fixed ? "fixed" : "market");
		json_end_object(j);
	}
	json_key(j, "runs");
	json_array(j);
	for (size_t i = 0; i < x->n_results; i++) {
		const struct policy_result *p = &x->results[i];

		json_object(j);
		json_kstr(j, "policy", p->spec);
		json_mean(j, x, p);
		if (r->opts.goal == GOAL_ALIVE)
			json_cost(j, p);
		if (*p->runs[0].explain)
			json_kstr(j, "explain", p->runs[0].explain);
		if (r->opts.max_age || r->opts.max_age_cycles)
			json_kbool(j, "guarantee_broken", replay_guarantee_broken(x, p));
		json_key(j, "seconds");
		json_object(j);
		json_knum(j, "plan", o->no_time ? 0 : p->plan_seconds);
		json_knum(j, "total", o->no_time ? 0 : p->total_seconds);
		json_end_object(j);
		json_cycles(j, r, p);
		if (r->opts.by_site)
			replay_sites_json(o->sites, p, o->sites_most, j);
		json_end_object(j);
	}
	json_end_array(j);
	if (r->search)
		json_t_table(j, x);
	cli_json_end(j);
}

void replay_print_csv(const struct replay_output *o, FILE *out)
{
	const struct experiment *x = o->x;

	if (o->first)
		fputs("cycle_seconds,budget,policy,seed,cycle,time,downloads,changed,changed_cycle,"
		      "change_ratio,change_ratio_cycle,weighted_change_ratio,freshness,"
		      "weighted_freshness,age_days,max_unvisited_days,freshness_before,ndcg\n", out);
	for (size_t i = 0; i < x->n_results; i++) {
		for (uint32_t k = 0; k < x->n_seeds; k++) {
			for (uint32_t c = 0; c < x->replay->n_cycles; c++) {
				const struct cycle_measure *m = &x->results[i].runs[k].cycles[c];
				char t[15];

				when_digits(m->time, t);
				fprintf(out, "%lld,%u,\"%s\",%llu,%u,%s,%u,%u,%u,%.6f,%.6f,%.6f,%.6f,"
				        "%.6f,%.3f,%.1f,%.6f,%.6f\n", (long long)x->replay->opts.cycle_seconds,
				        x->replay->budget, x->results[i].spec,
				        (unsigned long long)x->seed + k, c + 1, t,
				        m->downloads, m->changed, m->changed_cycle, m->change_ratio,
				        m->change_ratio_cycle, m->weighted_change_ratio, m->freshness,
				        m->weighted_freshness, m->age_days, m->max_unvisited_days,
				        m->freshness_before, m->ndcg);
			}
		}
	}
}
