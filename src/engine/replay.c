/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - the recorded past as source and clock; see replay.h.
 *
 * Each run keeps three capture numbers a page: our copy, what is live now, what
 * was live one cycle ago.  Moving the clock advances the live ones, O(pages +
 * captures) over all cycles; a download only compares numbers.
 *
 * Cost.  O(pages + downloads) a cycle; 12 bytes a page and run beyond the view,
 * 24 where pages are clustered.
 */
#include "engine/replay.h"

#include "engine/replay_search.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "engine/features.h"

#define NEVER PAGE_NONE
#define BUDGET_MAX 0x7fffffff
#define CYCLES_MAX 10000000

struct run {                    /* one policy, one seed */
	const struct replay *r;
	struct engine engine;
	uint32_t *copy, *live, *before;         /* captures, or NEVER */
	uint8_t *truth;
	struct features features;               /* only for policies that cluster */
	uint32_t *older;                        /* the copy before, for them */
	struct search_index index;              /* only with r->search */
	uint32_t n_alive;                       /* goal alive: to be found */
	uint64_t n_probes, n_found;
	int n_alphas;                           /* reached so far */
};

struct kept { VEC(uint32_t) pages; };
struct start_links { const struct replay *r; struct kept *kept; };

/* The links of a copy at the start.  Those to pages that appear later count only
 * if such pages join: else they would drain PageRank. */
static const uint32_t *links_at_start(const void *from, uint32_t page, size_t *ret_n)
{
	const struct start_links *l = from;
	const struct replay *r = l->r;
	const uint32_t *all;
	size_t n;

	*ret_n = 0;
	if (r->copy_at_start[page] == NEVER)
		return NULL;
	all = history_links(r->history, r->copy_at_start[page], &n);
	l->kept->pages.n = 0;
	for (size_t i = 0; i < n; i++)
		if (r->opts.join || r->copy_at_start[all[i]] != NEVER)
			vec_push(&l->kept->pages, all[i]);
	*ret_n = l->kept->pages.n;
	return l->kept->pages.v;
}

static int prepare_all(struct replay *r, unsigned needs, struct err *err)
{
	struct kept kept = { 0 };
	struct start_links l = { r, &kept };
	int rc = prepare(&r->prepared, &r->pages, needs, links_at_start, &l, err);

	vec_release(&kept.pages);
	if (rc == 0 && (needs & NEED_SIZES)) {
		r->prepared.size = mem_zalloc(r->pages.n, 1);
		for (uint32_t i = 0; i < r->pages.n; i++)
			if (r->copy_at_start[i] != NEVER)
				r->prepared.size[i] = r->history->captures.v[r->copy_at_start[i]].size;
	}
	return rc;
}

static int64_t next_midnight(int64_t t)
{
	return (t + DAY_SECONDS - 1) / DAY_SECONDS * DAY_SECONDS;
}

static int no_cycle(const struct replay *r, struct err *err)
{
	char start[21], end[21], length[24], first[21], last[21];

	when_iso(r->start, start);
	when_iso(r->end, end);
	when_iso(r->history->begin, first);
	when_iso(r->history->end, last);
	duration_format(r->opts.cycle_seconds, length);
	if (r->end <= r->start && !r->opts.start && !r->opts.end)
		return err_set(err, E_USAGE, "the history covers only %.16s to %.16s: a replay needs "
		               "captures over days; within a day give --start, --end and a short "
		               "--cycle", first, last);
	return err_set(err, E_USAGE, "no whole cycle of %s lies between %.10s and %.10s (the "
	               "history goes from %.10s to %.10s): choose a shorter --cycle, or another "
	               "--start or --end", length, start, end, first, last);
}

static int plan_cycles(struct replay *r, struct err *err)
{
	const struct replay_opts *o = &r->opts;
	int64_t n;

	r->start = o->start ? o->start : next_midnight(r->history->begin);
	r->end = o->end ? o->end : next_midnight(r->history->end);
	if (o->cycle_seconds <= 0)
		return err_set(err, E_USAGE, "cycle: must be longer than 0");
	n = (r->end - r->start) / o->cycle_seconds;
	if (n < 1)
		return no_cycle(r, err);
	if (n > CYCLES_MAX)
		return err_set(err, E_USAGE, "%lld cycles: choose a longer --cycle", (long long)n);
	r->n_cycles = (uint32_t)n;
	r->max_age = o->max_age_cycles ? o->max_age_cycles :
	             (uint32_t)(o->max_age / o->cycle_seconds);
	if (o->max_age && !r->max_age)
		return err_set(err, E_USAGE, "max-age: shorter than one cycle: choose a longer "
		               "age, or a shorter --cycle");
	return 0;
}

static void find_copies(struct replay *r)
{
	const struct history *h = r->history;

	r->copy_at_start = mem_array(h->n_pages, sizeof *r->copy_at_start);
	for (uint32_t i = 0; i < h->n_pages; i++) {
		int64_t at = history_at(h, i, r->start, false);

		while (at >= (int64_t)h->first[i] &&
		       (h->captures.v[at].gone || h->captures.v[at].moved))
			at--;
		if (at < (int64_t)h->first[i])
			at = -1;
		r->copy_at_start[i] = at >= 0 ? (uint32_t)at : NEVER;
		r->n_repository += at >= 0;
	}
}

/* PageRank times N, the mean over the repository being 1: pages of the trace
 * that appear later hold some of the rank, which would raise all others. */
static void find_weights(struct replay *r)
{
	uint32_t n = r->pages.n;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += r->copy_at_start[i] != NEVER ? r->prepared.pagerank[i] : 0;
	r->weight = mem_array(n, sizeof *r->weight);
	for (uint32_t i = 0; i < n; i++) {
		if (r->opts.weights == WEIGHTS_PAGERANK10)
			r->weight[i] = r->prepared.pagerank10[i];
		else
			r->weight[i] = (float)(r->prepared.pagerank[i] * r->n_repository / sum);
	}
}

/* A share is of the pages at the start; a number stands as it is. */
static uint32_t find_budget(const struct replay *r)
{
	if (r->opts.budget.percent)
		return (uint32_t)share_of(r->opts.budget, r->n_repository);
	return (uint32_t)fmin(fmax(1, round(r->opts.budget.value)), BUDGET_MAX);
}

int replay_open(struct replay *r, const struct history *h, const struct replay_opts *opts,
                unsigned needs, struct err *err)
{
	struct pages_opts po = { .site_by_domain = opts->site_by_domain, .borrow = true };
	int rc;

	*r = (struct replay){ .history = h, .opts = *opts };
	rc = plan_cycles(r, err);
	if (rc < 0)
		return rc;
	find_copies(r);
	if (!r->n_repository)
		return err_set(err, E_USAGE, "no page has a capture at or before the start: "
		               "choose a later --start");
	r->budget = find_budget(r);
	pages_init(&r->pages, h->urls.pool, h->urls.offset, h->n_pages, &po);
	rc = prepare_all(r, needs | NEED_PAGERANK, err);
	if (rc < 0)
		return rc;
	find_weights(r);
	return 0;
}

void replay_close(struct replay *r)
{
	pages_release(&r->pages);
	prepare_release(&r->prepared);
	free(r->weight);
	free(r->copy_at_start);
	*r = (struct replay){ 0 };
}

static bool differs(const struct run *run, uint32_t a, uint32_t b)
{
	if (a == NEVER || b == NEVER)
		return a != b;
	return !history_same(run->r->history, a, b);
}

static bool is_gone(const struct run *run, uint32_t capture)
{
	return capture == NEVER || run->r->history->captures.v[capture].gone;
}

static bool changed_local(const struct run *run, uint32_t page)
{
	return differs(run, run->copy[page], run->live[page]);
}

static bool changed_cycle(const struct run *run, uint32_t page)
{
	return differs(run, run->before[page], run->live[page]);
}

static bool is_hit(const struct run *run, uint32_t page)
{
	if (run->r->opts.goal == GOAL_ALIVE)
		return !is_gone(run, run->live[page]);
	if (run->r->opts.observe == OBSERVE_CYCLE)
		return changed_cycle(run, page);
	return changed_local(run, page);
}

static int replay_deliver(void *self, const struct offer *offers, size_t n,
                          struct delivery *ret, struct err *err)
{
	struct run *run = self;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		uint32_t page = offers[i].page;

		ret[i].hit = is_hit(run, page);
		ret[i].outcome = is_gone(run, run->live[page]) ? OUTCOME_GONE :
		                 changed_local(run, page) ? OUTCOME_CHANGED : OUTCOME_SAME;
	}
	return 0;
}

/* Move the clock: what is live at t. */
static void move_clock(struct run *run, int64_t t)
{
	const struct replay *r = run->r;
	const struct history *h = r->history;

	for (uint32_t i = 0; i < h->n_pages; i++) {
		uint32_t at = run->live[i];

		run->before[i] = at;
		if (r->opts.nearest) {
			int64_t k = history_at(h, i, t, true);

			at = k < 0 ? NEVER : (uint32_t)k;
		} else {
			uint64_t next = at == NEVER ? h->first[i] : (uint64_t)at + 1;

			while (next < h->first[i + 1] && h->captures.v[next].time <= t)
				at = (uint32_t)next++;
		}
		run->live[i] = at;
	}
}

/* Pages that appeared or came back since the last cycle: a copy is taken when
 * they are discovered, and from the next cycle on they may be asked for. */
static void join_pages(struct run *run, int64_t t)
{
	struct visits *visits = &run->engine.visits;

	for (uint32_t i = 0; i < run->r->pages.n; i++) {
		if ((visits->state[i] & PAGE_HERE) || run->live[i] == run->before[i] ||
		    is_gone(run, run->live[i]) ||
		    run->r->history->captures.v[run->live[i]].moved)
			continue;
		visits->state[i] |= PAGE_HERE;
		visits->last_cycle[i] = run->engine.view.cycle;
		visits->last_visit[i] = t;
		run->copy[i] = run->live[i];
		if (run->r->search)
			replay_search_put(&run->index, run->r, i, run->copy[i]);
	}
}

/* When our copy first became untrue. */
static int64_t stale_since(const struct run *run, uint32_t page)
{
	const struct history *h = run->r->history;
	uint32_t k = run->copy[page];

	for (k++; k < run->live[page]; k++)
		if (!history_same(h, run->copy[page], k))
			break;
	return h->captures.v[k].time;
}

static void measure_repository(struct run *run, struct cycle_measure *m)
{
	const struct visits *visits = &run->engine.visits;
	double fresh = 0, weight = 0, fresh_weight = 0, age = 0, oldest = 0;
	uint32_t n = 0, stale = 0;

	for (uint32_t i = 0; i < run->r->pages.n; i++) {
		if (!(visits->state[i] & PAGE_HERE))
			continue;
		n++;
		weight += run->r->weight[i];
		oldest = fmax(oldest, (double)(m->time - visits->last_visit[i]));
		if (!changed_local(run, i)) {
			fresh++;
			fresh_weight += run->r->weight[i];
		} else {
			stale++;
			/* the nearest capture may lie ahead of the clock */
			age += fmax(0, (double)(m->time - stale_since(run, i)));
		}
	}
	m->pages = n;
	m->freshness = n ? fresh / n : 1;
	m->weighted_freshness = weight > 0 ? fresh_weight / weight : 1;
	m->age_days = stale ? age / stale / DAY_SECONDS : 0;
	m->max_unvisited_days = oldest / DAY_SECONDS;
}

static void measure_visits(struct run *run, int64_t before, struct cycle_measure *m)
{
	const struct engine *e = &run->engine;
	double weighted = 0;

	for (size_t i = 0; i < e->n_seen; i++) {
		const struct seen *s = &e->seen[i];
		bool local = run->r->opts.goal == GOAL_ALIVE ? s->hit : changed_local(run, s->page);

		m->downloads++;
		m->gone += s->outcome == OUTCOME_GONE;
		m->samples += s->reason == REASON_SAMPLE || s->reason == REASON_EXPLORE;
		m->changed += local;
		m->changed_cycle += run->r->opts.goal == GOAL_ALIVE ? s->hit :
		                    changed_cycle(run, s->page);
		weighted += local ? run->r->weight[s->page] : 0;
		if (local && run->copy[s->page] != NEVER && changed_local(run, s->page))
			m->late += stale_since(run, s->page) <= before;
		if (run->older) {
			run->older[s->page] = run->copy[s->page];
			features_note(&run->features, s->page, s->hit);
		}
		run->copy[s->page] = run->live[s->page];
		if (run->r->search)
			replay_search_put(&run->index, run->r, s->page, run->copy[s->page]);
	}
	m->guaranteed = e->n_guaranteed;
	m->guarantee_broken = e->guarantee_broken;
	if (m->downloads) {
		m->change_ratio = (double)m->changed / m->downloads;
		m->change_ratio_cycle = (double)m->changed_cycle / m->downloads;
		m->weighted_change_ratio = weighted / m->downloads;
	}
}

static bool copy_facts(const void *self, uint32_t page, bool older, struct page_facts *ret)
{
	const struct run *run = self;
	const struct history *h = run->r->history;
	uint32_t capture = older ? run->older[page] : run->copy[page];

	return capture != NEVER && facts_get(&h->facts, h->captures.v[capture].facts, ret);
}

static const uint32_t *copy_links(const void *self, uint32_t page, size_t *ret_n)
{
	const struct run *run = self;

	*ret_n = 0;
	return run->copy[page] == NEVER ? NULL :
	       history_links(run->r->history, run->copy[page], ret_n);
}

static void offer_features(struct run *run)
{
	struct feature_source source = { run, copy_facts, copy_links };

	features_init(&run->features, &run->r->pages, &source);
	run->older = mem_array(run->r->pages.n, sizeof *run->older);
	memset(run->older, 0xff, run->r->pages.n * sizeof *run->older);
	run->engine.view.features = &run->features.maker;
}

/* Goal alive: where the visits of a cycle pass a share of all living pages. */
static void measure_cost(struct run *run, struct replay_run *ret)
{
	const struct engine *e = &run->engine;

	for (size_t i = 0; i < e->n_seen; i++) {
		run->n_probes++;
		run->n_found += e->seen[i].hit;
		while (run->n_found && run->n_alphas < REPLAY_ALPHAS &&
		       (double)run->n_found >= replay_alpha(run->n_alphas) * run->n_alive - 1e-9)
			ret->cost[run->n_alphas++] = (double)run->n_probes / (double)run->n_found;
	}
}

static void run_init(struct run *run, const struct replay *r, struct policy *policy,
                     uint64_t seed)
{
	uint32_t n = r->pages.n;
	struct view *v = &run->engine.view;

	run->r = r;
	engine_init(&run->engine, &r->pages, policy, r->start);
	prepare_view(&r->prepared, v);
	v->seed = seed;
	v->goal = r->opts.goal;
	v->observe = r->opts.observe;
	v->cycle_seconds = r->opts.cycle_seconds;
	v->threads = 1;                 /* runs go side by side */
	run->engine.max_age = r->max_age;
	run->engine.source = (struct source){ .self = run, .deliver = replay_deliver };
	run->copy = mem_array(n, sizeof *run->copy);
	run->live = mem_array(n, sizeof *run->live);
	run->before = mem_array(n, sizeof *run->before);
	run->truth = mem_zalloc(n, sizeof *run->truth);
	if (policy_needs(policy) & NEED_TRUTH)
		v->truth = run->truth;
	if (policy_needs(policy) & NEED_CLUSTERS)
		offer_features(run);
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = history_at(r->history, i, r->start, r->opts.nearest);

		run->copy[i] = r->copy_at_start[i];
		run->live[i] = at < 0 ? NEVER : (uint32_t)at;
		if (run->copy[i] != NEVER)
			run->engine.visits.state[i] = PAGE_HERE;
	}
	if (r->search)
		replay_search_begin(&run->index, r, run->copy);
}

static void run_release(struct run *run)
{
	engine_release(&run->engine);
	free(run->copy);
	free(run->live);
	free(run->before);
	free(run->truth);
	if (run->older)
		features_release(&run->features);
	free(run->older);
	search_index_release(&run->index);
}

static double clock_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static bool copy_is_fresh(const void *arg, uint32_t page)
{
	return !changed_local(arg, page);
}

static void measure_search(struct run *run, uint32_t cycle, struct cycle_measure *m,
                           struct replay_run *ret)
{
	struct search_measure s = { 0 };

	replay_search_measure(&run->index, run->r, cycle, run->live, copy_is_fresh, run, &s);
	m->freshness_at_k = s.freshness.mean;
	m->map_at_k = s.map.mean;
	m->embarrassment = s.embarrassment.mean;
	stat_merge(&ret->search.freshness, &s.freshness);
	stat_merge(&ret->search.map, &s.map);
	stat_merge(&ret->search.embarrassment, &s.embarrassment);
}

static void tell_cycle(const struct run *run, uint32_t cycle, int64_t time)
{
	const struct engine *e = &run->engine;
	struct replay_cycle c = { .policy = e->policy->spec, .seed = e->view.seed, .cycle = cycle,
		.time = time, .pages = &run->r->pages, .seen = e->seen, .n_seen = e->n_seen };

	run->r->opts.each_cycle(run->r->opts.each_arg, &c);
}

static int run_cycles(struct run *run, struct replay_run *ret, struct err *err)
{
	const struct replay *r = run->r;

	for (uint32_t c = 0; c < r->n_cycles; c++) {
		struct cycle_measure *m = &ret->cycles[c];
		double from = clock_seconds();
		int rc;

		m->time = r->start + (int64_t)(c + 1) * r->opts.cycle_seconds;
		move_clock(run, m->time);
		if (run->engine.view.truth)
			for (uint32_t i = 0; i < r->pages.n; i++)
				run->truth[i] = is_hit(run, i);
		if (c == 0)
			for (uint32_t i = 0; i < r->pages.n; i++)
				run->n_alive += run->engine.visits.state[i] & PAGE_HERE &&
				                !is_gone(run, run->live[i]);
		rc = engine_cycle(&run->engine, m->time, r->budget, err);
		if (rc < 0)
			return rc;
		if (r->opts.each_cycle)
			tell_cycle(run, c + 1, m->time);
		if (r->opts.goal == GOAL_ALIVE)
			measure_cost(run, ret);
		measure_visits(run, m->time - r->opts.cycle_seconds, m);
		if (r->opts.join && r->opts.goal == GOAL_CHANGED)
			join_pages(run, m->time);
		measure_repository(run, m);
		if (r->search)
			measure_search(run, c, m, ret);
		m->plan_seconds = run->engine.plan_seconds;
		m->total_seconds = clock_seconds() - from;
		ret->plan_seconds += m->plan_seconds;
		ret->total_seconds += m->total_seconds;
	}
	return 0;
}

void replay_run(const struct replay *r, const char *policy, uint64_t seed,
                struct replay_run *ret)
{
	struct run run = { 0 };
	struct policy *p;

	*ret = (struct replay_run){ .n_cycles = r->n_cycles };
	ret->code = policy_new(&p, policy, &ret->err);
	if (ret->code < 0)
		return;
	ret->cycles = mem_zalloc(r->n_cycles, sizeof *ret->cycles);
	run_init(&run, r, p, seed);
	ret->code = run_cycles(&run, ret, &ret->err);
	if (policy_explain(p))
		snprintf(ret->explain, sizeof ret->explain, "%s", policy_explain(p));
	run_release(&run);
	policy_free(p);
}

void replay_run_release(struct replay_run *run)
{
	free(run->cycles);
	*run = (struct replay_run){ 0 };
}

double replay_mean(const struct replay_run *run, size_t offset)
{
	double sum = 0;

	for (uint32_t c = 0; c < run->n_cycles; c++)
		sum += *(const double *)((const char *)&run->cycles[c] + offset);
	return run->n_cycles ? sum / run->n_cycles : 0;
}

double replay_max(const struct replay_run *run, size_t offset)
{
	double most = 0;

	for (uint32_t c = 0; c < run->n_cycles; c++)
		most = fmax(most, *(const double *)((const char *)&run->cycles[c] + offset));
	return most;
}
