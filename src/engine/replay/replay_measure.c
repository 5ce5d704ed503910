/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_measure.c - what a replay is judged by: measures of the truth that the history
 * knows and no policy sees (ChangeRatio in both readings, weighted, freshness, age, the
 * cost of finding the living, search quality).  docs/formats.md lists them, at `replay`.
 *
 * Cost.  O(downloads) for the visits, O(pages) for the repository, a cycle.
 */
#include "engine/replay/replay_run.h"
#include "engine/replay/shards.h"

#include <math.h>

int64_t stale_since(const struct run *run, uint32_t page, uint32_t current)
{
	const struct history *h = run->r->history;
	uint32_t k = run->copy[page];

	for (k++; k < current; k++)
		if (!history_same(h, run->copy[page], k))
			break;
	return h->captures.v[k].time;
}

void measure_before(struct run *run, struct cycle_measure *m)
{
	uint32_t n = 0, stale = 0, alive = 0, hidden = 0;

	for (uint32_t i = 0; i < run->r->pages.n; i++) {
		if (!(run->engine.visits.state[i] & PAGE_HERE))
			continue;
		n++;
		stale += changed_local(run, i);
		alive += is_alive(run, i);
		hidden += changed_local(run, i) && failing(run, i) != FAILURE_NO;
	}
	run->n_there = run->r->opts.goal == GOAL_ALIVE ? alive : stale - hidden;
	m->freshness_before = n ? 1 - (double)stale / n : 1;
}

/* A hit at place i of the downloads counts 1/log2(i + 1); as a share of what an order
 * with all hits first would have. */
static double normalised_gain(const struct run *run, double gain)
{
	size_t n = run->engine.cycle.n_seen < run->n_there ? run->engine.cycle.n_seen : run->n_there;
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most += 1 / log2((double)i + 2);
	return most > 0 ? gain / most : 1;
}

void measure_repository(struct run *run, struct cycle_measure *m)
{
	const struct visits *visits = &run->engine.visits;
	double fresh = 0, weight = 0, fresh_weight = 0, age = 0, oldest = 0;
	uint32_t n = 0, stale = 0;

	for (uint32_t i = 0; i < run->r->pages.n; i++) {
		if (!(visits->state[i] & PAGE_HERE))
			continue;
		n++;
		if (run->sites) {
			struct site_measure *s = &run->sites[run->r->pages.site[i]];

			s->copies++;
			s->fresh += !changed_local(run, i);
		}
		weight += run->r->weight[i];
		oldest = fmax(oldest, (double)(m->time - visits->last_visit[i]));
		if (!changed_local(run, i)) {
			fresh++;
			fresh_weight += run->r->weight[i];
		} else {
			stale++;
			/* the nearest capture may lie ahead of the clock */
			age += fmax(0, (double)(m->time - stale_since(run, i, run->current[i])));
		}
	}
	m->pages = n;
	m->freshness = n ? fresh / n : 1;
	m->weighted_freshness = weight > 0 ? fresh_weight / weight : 1;
	m->age_all_days = n ? age / n / DAY_SECONDS : 0;
	m->age_days = stale ? age / stale / DAY_SECONDS : 0;
	m->max_unvisited_days = oldest / DAY_SECONDS;
}

void measure_visits(struct run *run, int64_t before, struct cycle_measure *m)
{
	const struct engine *e = &run->engine;
	double weighted = 0, gain = 0;

	for (size_t i = 0; i < e->cycle.n_seen; i++) {
		const struct seen *s = &e->cycle.seen[i];
		bool failed = s->outcome == OUTCOME_FAILED;
		bool local = run->r->opts.goal == GOAL_ALIVE ? s->hit :
		             !failed && changed_local(run, s->page);

		m->downloads++;
		m->failed += failed;
		if (run->sites) {
			struct site_measure *site = &run->sites[run->r->pages.site[s->page]];

			site->downloads++;
			site->changed += local;
		}
		m->gone += s->outcome == OUTCOME_GONE;
		m->samples += s->reason == REASON_SAMPLE || s->reason == REASON_EXPLORE;
		m->changed += local;
		m->changed_cycle += run->r->opts.goal == GOAL_ALIVE ? s->hit :
		                    !failed && changed_cycle(run, s->page);
		weighted += local ? run->r->weight[s->page] : 0;
		gain += local ? 1 / log2((double)i + 2) : 0;
		if (failed)
			continue;               /* our copy is what it was */
		if (local && run->copy[s->page] != NEVER && changed_local(run, s->page))
			m->late += stale_since(run, s->page, run->current[s->page]) <= before;
		if (run->older) {
			run->older[s->page] = run->copy[s->page];
			if (run->shards)
				shards_note(run, s->page, s->hit);
			else
				features_note(&run->features, s->page, s->hit);
		}
		run->copy[s->page] = run->current[s->page];
		if (run->r->search)
			replay_search_put(&run->index, run->r, s->page, run->copy[s->page]);
	}
	m->ndcg = normalised_gain(run, gain);
	m->guaranteed = e->cycle.n_guaranteed;
	m->guarantee_broken = e->cycle.guarantee_broken;
	m->resting = e->retry.n_resting;
	if (m->downloads) {
		m->change_ratio = (double)m->changed / m->downloads;
		m->change_ratio_cycle = (double)m->changed_cycle / m->downloads;
		m->weighted_change_ratio = weighted / m->downloads;
	}
}

void measure_cost(struct run *run, struct replay_run *ret)
{
	const struct engine *e = &run->engine;

	for (size_t i = 0; i < e->cycle.n_seen; i++) {
		run->n_probes++;
		run->n_found += e->cycle.seen[i].hit;
		while (run->n_found && run->n_alphas < REPLAY_ALPHAS &&
		       (double)run->n_found >= replay_alpha(run->n_alphas) * run->n_alive - 1e-9)
			ret->cost[run->n_alphas++] = (double)run->n_probes / (double)run->n_found;
	}
}

static bool copy_is_fresh(const void *arg, uint32_t page)
{
	return !changed_local(arg, page);
}

void measure_search(struct run *run, uint32_t cycle, struct cycle_measure *m,
                           struct replay_run *ret)
{
	struct search_measure s = { 0 };

	replay_search_measure(&run->index, run->r, cycle, run->current, copy_is_fresh, run, &s);
	m->freshness_at_k = s.freshness.mean;
	m->map_at_k = s.map.mean;
	m->embarrassment = s.embarrassment.mean;
	stat_merge(&ret->search.freshness, &s.freshness);
	stat_merge(&ret->search.map, &s.map);
	stat_merge(&ret->search.embarrassment, &s.embarrassment);
}

struct site_truth *replay_site_truth(const struct replay *r)
{
	struct site_truth *ret = mem_zalloc(r->pages.tree.n_sites, sizeof *ret);
	const struct history *h = r->history;

	for (uint32_t i = 0; i < r->pages.n; i++) {
		uint32_t at = r->copy_at_start[i];

		if (at == NEVER)
			continue;
		ret[r->pages.site[i]].pages++;
		for (uint64_t k = (uint64_t)at + 1; k < h->first[i + 1] &&
		     h->captures.v[k].time <= r->end; k++)
			ret[r->pages.site[i]].changes += !history_same(h, (uint32_t)k - 1, (uint32_t)k);
	}
	return ret;
}

void replay_run_release(struct replay_run *run)
{
	free(run->cycles);
	free(run->sites);
	*run = (struct replay_run){ 0 };
}

double replay_mean(const struct replay_run *run, size_t offset)
{
	double sum = 0;

	for (uint32_t c = 0; c < run->n_cycles; c++)
		sum += replay_number(&run->cycles[c], offset);
	return run->n_cycles ? sum / run->n_cycles : 0;
}

double replay_max(const struct replay_run *run, size_t offset)
{
	double most = 0;

	for (uint32_t c = 0; c < run->n_cycles; c++)
		most = fmax(most, replay_number(&run->cycles[c], offset));
	return most;
}
