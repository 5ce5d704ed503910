/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_run.c - run one policy with one seed on recorded history.
 *
 * Each run keeps three capture numbers a page: our copy, what is live now, what
 * was live one cycle ago.  Moving the clock advances the live ones, O(pages +
 * captures) over all cycles; a download only compares numbers.
 *
 * Cost.  O(pages + downloads) a cycle; 12 bytes a page and run beyond the view,
 * 24 where pages are clustered.
 */
#include "engine/replay/replay_run.h"
#include "engine/replay/shards.h"
#include "policy/catalogue/catalogue.h"

#include <omp.h>
#include <stdio.h>

static bool is_hit(const struct run *run, uint32_t page)
{
	if (run->r->opts.goal == GOAL_ALIVE)
		return is_alive(run, page);
	if (failing(run, page) != FAILURE_NO)
		return false;
	if (run->r->opts.observe == OBSERVE_CYCLE)
		return changed_cycle(run, page);
	return changed_local(run, page);
}

void replay_answer(const struct run *run, uint32_t page, struct delivery *ret)
{
	ret->hit = is_hit(run, page);
	ret->failure = failing(run, page);
	if (ret->failure != FAILURE_NO)         /* under goal alive a failing page is dead */
		ret->outcome = run->r->opts.goal == GOAL_ALIVE ? OUTCOME_GONE : OUTCOME_FAILED;
	else
		ret->outcome = is_gone(run, run->current[page]) ? OUTCOME_GONE :
		               changed_local(run, page) ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static int replay_deliver(void *self, const struct offer *offers, size_t n,
                          struct delivery *ret, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < n; i++)
		replay_answer(self, offers[i].page, &ret[i]);
	return 0;
}

/* Move the clock: what is live at t. */
static void move_clock(struct run *run, int64_t t)
{
	const struct replay *r = run->r;
	const struct history *h = r->history;

	run->now = t;
	for (uint32_t i = 0; i < h->n_pages; i++) {
		uint32_t at = run->current[i];

		run->before[i] = at;
		if (r->opts.nearest) {
			int64_t k = history_at(h, i, t, true);

			at = k < 0 ? NEVER : (uint32_t)k;
		} else {
			uint64_t next = at == NEVER ? h->first[i] : (uint64_t)at + 1;

			while (next < h->first[i + 1] && h->captures.v[next].time <= t)
				at = (uint32_t)next++;
		}
		run->current[i] = at;
	}
}

/* Add pages that appeared or came back since the last cycle: a copy is taken at once, and
 * from the next cycle on they may be visited. */
static void join_pages(struct run *run, int64_t t)
{
	struct visits *visits = &run->engine.visits;

	for (uint32_t i = 0; i < run->r->pages.n; i++) {
		if ((visits->state[i] & PAGE_HERE) || run->current[i] == run->before[i] ||
		    is_gone(run, run->current[i]) ||
		    run->r->history->captures.v[run->current[i]].moved)
			continue;
		visits->state[i] |= PAGE_HERE;
		visits->last_cycle[i] = run->engine.view.cycle;
		visits->last_visit[i] = t;
		run->copy[i] = run->current[i];
		if (run->shards)
			shards_join(run, i);
		if (run->r->search)
			replay_search_put(&run->index, run->r, i, run->copy[i]);
	}
}

bool replay_copy_facts(const void *self, uint32_t page, bool older, struct page_facts *ret)
{
	const struct run *run = self;
	const struct history *h = run->r->history;
	uint32_t capture = older ? run->older[page] : run->copy[page];

	return capture != NEVER && facts_get(&h->facts, h->captures.v[capture].facts, ret);
}

const uint32_t *replay_copy_links(const void *self, uint32_t page, size_t *ret_n)
{
	const struct run *run = self;

	*ret_n = 0;
	return run->copy[page] == NEVER ? NULL :
	       history_links(run->r->history, run->copy[page], ret_n);
}

static void offer_features(struct run *run)
{
	struct feature_source source = { run, replay_copy_facts, replay_copy_links };

	run->older = mem_array(run->r->pages.n, sizeof *run->older);
	memset(run->older, 0xff, run->r->pages.n * sizeof *run->older);
	if (run->r->shards.n)                           /* each has its own */
		return;
	features_init(&run->features, &run->r->pages, &source);
	run->engine.view.features = &run->features.maker;
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
	v->aim = r->opts.aim;
	if (r->opts.weight != WEIGHT_NONE)
		v->weight = r->weight;
	v->cycle_seconds = r->opts.cycle_seconds;
	v->threads = 1;                 /* runs go side by side; run_cycles() may raise it */
	if (!r->opts.join)              /* with it groups are made anew, from other features */
		v->groups = r->opts.groups;
	run->engine.rules.max_age = r->max_age;
	run->engine.ceiling.share = r->opts.site_share;
	run->engine.retry.share = r->opts.retry_share;
	run->can_fail = replay_can_fail(r);
	run->engine.source = (struct source){ .self = run, .deliver = replay_deliver };
	run->copy = mem_array(n, sizeof *run->copy);
	run->current = mem_array(n, sizeof *run->current);
	run->before = mem_array(n, sizeof *run->before);
	run->truth = mem_zalloc(n, sizeof *run->truth);
	if (policy_needs(policy) & NEED_TRUTH)
		v->truth = run->truth;
	if (policy_needs(policy) & NEED_FUTURE) {
		v->stale_since = run->stale_since = mem_array(n, sizeof *run->stale_since);
		v->next_change = run->next_change = mem_array(n, sizeof *run->next_change);
	}
	if (policy_needs(policy) & NEED_CLUSTERS)
		offer_features(run);
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = history_at(r->history, i, r->start, r->opts.nearest);

		run->copy[i] = r->copy_at_start[i];
		run->current[i] = at < 0 ? NEVER : (uint32_t)at;
		if (run->copy[i] != NEVER)
			run->engine.visits.state[i] = PAGE_HERE;
	}
	if (r->search)
		replay_search_begin(&run->index, r, run->copy);
}

static void run_release(struct run *run)
{
	shards_end(run);
	free(run->copy);
	free(run->current);
	free(run->before);
	free(run->truth);
	free(run->stale_since);
	free(run->next_change);
	if (run->engine.view.features)
		features_release(&run->features);
	free(run->older);
	search_index_release(&run->index);
	engine_release(&run->engine);
}

static void tell_cycle(const struct run *run, uint32_t cycle, int64_t time)
{
	const struct engine *e = &run->engine;
	struct replay_cycle c = { .policy = run->policy, .seed = e->view.seed, .cycle = cycle,
		.time = time, .pages = &run->r->pages, .seen = e->cycle.seen, .n_seen = e->cycle.n_seen };

	run->r->opts.each_cycle(run->r->opts.each_arg, &c);
}

/* For policies, and for what they call: a run has no more processors than its share, or
 * threads of runs side by side would wait for one another. */
static void use_threads(struct run *run, unsigned n)
{
	run->engine.view.threads = n;
	omp_set_num_threads((int)n);
}

static int run_cycles(struct run *run, struct replay_run *ret, struct err *err)
{
	const struct replay *r = run->r;

	for (uint32_t c = 0; c < r->n_cycles; c++) {
		struct cycle_measure *m = &ret->cycles[c];
		double from = engine_seconds();
		int rc;

		use_threads(run, r->opts.threads ? r->opts.threads(r->opts.done_arg) : 1);
		m->time = r->start + (int64_t)(c + 1) * r->opts.cycle_seconds;
		move_clock(run, m->time);
		measure_time(run, m->time - r->opts.cycle_seconds, m->time);
		if (run->engine.view.truth)
			for (uint32_t i = 0; i < r->pages.n; i++)
				run->truth[i] = is_hit(run, i);
		if (run->next_change)
			find_future(run);
		if (c == 0)
			for (uint32_t i = 0; i < r->pages.n; i++)
				run->n_alive += run->engine.visits.state[i] & PAGE_HERE &&
				                is_alive(run, i);
		measure_before(run, m);
		rc = run->shards ? shards_cycle(run, m->time, err) :
		     engine_cycle(&run->engine, m->time, r->budget, err);
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
		m->plan_seconds = run->engine.cycle.plan_seconds;
		m->total_seconds = engine_seconds() - from;
		ret->plan_seconds += m->plan_seconds;
		ret->total_seconds += m->total_seconds;
		if (r->opts.cycle_done && r->opts.cycle_done(r->opts.done_arg))
			return err_set(err, E_STOP, "the replay was stopped");
	}
	move_clock(run, r->end);
	measure_time(run, r->start + (int64_t)r->n_cycles * r->opts.cycle_seconds, r->end);
	ret->time = measured_time(run);
	return 0;
}

void replay_run(const struct replay *r, const char *policy, uint64_t seed,
                struct replay_run *ret)
{
	int threads = omp_get_max_threads();    /* of the caller */
	struct run run = { 0 };
	struct policy *p;

	*ret = (struct replay_run){ .n_cycles = r->n_cycles };
	ret->code = policy_new(&p, policy, &ret->err);
	if (ret->code < 0)
		return;
	ret->cycles = mem_zalloc(r->n_cycles, sizeof *ret->cycles);
	if (r->opts.by_site)
		ret->sites = mem_zalloc(r->pages.tree.n_sites, sizeof *ret->sites);
	run_init(&run, r, p, seed);
	run.sites = ret->sites;
	run.policy = p->spec;
	if (r->shards.n)
		shards_begin(&run);
	ret->code = run_cycles(&run, ret, &ret->err);
	if (policy_explain(run.shards ? shards_policy(&run) : p))
		snprintf(ret->explain, sizeof ret->explain, "%s",
		         policy_explain(run.shards ? shards_policy(&run) : p));
	run_release(&run);
	policy_free(p);
	omp_set_num_threads(threads);
}
