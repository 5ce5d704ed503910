/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shards_run.c - one run of a replay in shards: an engine each, and the market between them;
 * see shards.h.
 *
 * Cost.  That of the engines, and a bid for every grant: O(pages of the shard).
 */
#include "engine/replay/shards.h"

#include "policy/catalogue/catalogue.h"

/* A shard with its engine.  Places: where fewer shards can be loaded than there are. */
struct shard_engine {
	struct run *run;
	const struct shard *shard;
	uint32_t number;
	struct engine engine;
	struct policy *policy;          /* NULL: the shard has no page */
	uint8_t *truth;                 /* as the run's, by page of the shard */
	int64_t *stale_since, *next_change;
	struct features features;
	struct replay_links links;      /* scratch */
	bool has_features;
	bool begun;                     /* its cycle is open */
	bool placed;
};

struct shards_run {
	struct shard_engine *v;
	uint32_t n, n_places;
	struct market market;
};

static struct shard_engine *engine_of(struct run *run, uint32_t page)
{
	return &run->shards->v[run->r->shards.shard_of[page]];
}

/* ---- what a shard sees of the replay ---- */

static int deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                   struct err *err)
{
	const struct shard_engine *s = self;

	(void)err;
	for (size_t i = 0; i < n; i++)
		replay_answer(s->run, s->shard->global[offers[i].page], &ret[i]);
	return 0;
}

static bool copy_facts(const void *self, uint32_t page, bool older, struct page_facts *ret)
{
	const struct shard_engine *s = self;

	return replay_copy_facts(s->run, s->shard->global[page], older, ret);
}

static const uint32_t *copy_links(const void *self, uint32_t page, size_t *ret_n)
{
	struct shard_engine *s = (struct shard_engine *)(uintptr_t)self;
	const struct shard_set *set = &s->run->r->shards;
	size_t n;
	const uint32_t *all = replay_copy_links(s->run, s->shard->global[page], &n);

	s->links.pages.n = 0;
	for (size_t i = 0; i < n; i++)
		if (set->shard_of[all[i]] == s->number)
			vec_push(&s->links.pages, set->local[all[i]]);
	*ret_n = s->links.pages.n;
	return s->links.pages.v;
}

static void set_view(struct shard_engine *s, const struct run *run)
{
	struct view *v = &s->engine.view;
	const struct view *all = &run->engine.view;
	size_t n = s->shard->pages.n;

	prepare_view(&s->shard->prepared, v);
	v->seed = all->seed;
	v->goal = all->goal;
	v->observe = all->observe;
	v->aim = all->aim;
	v->cycle_seconds = all->cycle_seconds;
	v->threads = all->threads;
	v->n_shards = run->r->shards.n;
	if (all->weight)
		v->weight = s->shard->weight;
	if (all->truth)
		v->truth = s->truth = mem_zalloc(n, sizeof *s->truth);
	if (all->next_change) {
		v->stale_since = s->stale_since = mem_zalloc(n, sizeof *s->stale_since);
		v->next_change = s->next_change = mem_zalloc(n, sizeof *s->next_change);
	}
	if (policy_needs(s->policy) & NEED_CLUSTERS) {
		struct feature_source source = { s, copy_facts, copy_links };

		features_init(&s->features, &s->shard->pages, &source);
		v->features = &s->features.maker;
		s->has_features = true;
	}
}

static void begin_shard(struct shard_engine *s, struct run *run, uint32_t number)
{
	struct engine *e = &s->engine;
	struct err err;

	*s = (struct shard_engine){ .run = run, .shard = &run->r->shards.v[number],
	                            .number = number };
	/* the run has made a policy of this spec already */
	if (!s->shard->pages.n || policy_new(&s->policy, run->policy, &err) < 0)
		return;
	engine_init(e, &s->shard->pages, s->policy, run->r->start);
	set_view(s, run);
	e->rules = run->engine.rules;
	e->rules.metered = true;
	e->ceiling.share = run->engine.ceiling.share;
	e->ceiling.fleet = run->shards->n < 2 ? (struct ceiling_fleet){ 0 } :
	                   (struct ceiling_fleet){ run->r->budget, run->r->n_repository };
	e->retry.share = run->engine.retry.share;
	e->source = (struct source){ .self = s, .deliver = deliver };
	for (uint32_t i = 0; i < s->shard->pages.n; i++)
		e->visits.state[i] = run->engine.visits.state[s->shard->global[i]];
}

void shards_begin(struct run *run)
{
	const struct replay *r = run->r;
	struct shards_run *all = mem_zalloc(1, sizeof *all);

	run->shards = all;
	all->n = r->shards.n;
	all->n_places = r->opts.shards.loaded ? r->opts.shards.loaded : all->n;
	all->v = mem_zalloc(all->n, sizeof *all->v);
	all->market.n = all->n;
	all->market.shards = mem_zalloc(all->n, sizeof *all->market.shards);
	for (uint32_t k = 0; k < all->n; k++) {
		begin_shard(&all->v[k], run, k);
		for (uint32_t i = 0; i < r->shards.v[k].pages.n; i++)
			all->market.shards[k].pages +=
				r->copy_at_start[r->shards.v[k].global[i]] != NEVER;
	}
}

void shards_end(struct run *run)
{
	struct shards_run *all = run->shards;

	for (uint32_t k = 0; all && k < all->n; k++) {
		struct shard_engine *s = &all->v[k];

		if (!s->policy)
			continue;
		engine_release(&s->engine);
		if (s->has_features)
			features_release(&s->features);
		vec_release(&s->links.pages);
		free(s->truth);
		free(s->stale_since);
		free(s->next_change);
		policy_free(s->policy);
	}
	if (all) {
		free(all->market.shards);
		free(all->v);
	}
	free(all);
	run->shards = NULL;
}

const struct policy *shards_policy(const struct run *run)
{
	for (uint32_t k = 0; k < run->shards->n; k++)
		if (run->shards->v[k].policy)
			return run->shards->v[k].policy;
	return NULL;
}

void shards_join(struct run *run, uint32_t page)
{
	struct visits *to = &engine_of(run, page)->engine.visits;
	uint32_t i = run->r->shards.local[page];

	to->state[i] |= PAGE_HERE;
	to->last_cycle[i] = run->engine.view.cycle;
	to->last_visit[i] = run->engine.visits.last_visit[page];
}

void shards_note(struct run *run, uint32_t page, bool hit)
{
	features_note(&engine_of(run, page)->features, run->r->shards.local[page], hit);
}

/* ---- a cycle ---- */

/* The truth of the moment, for policies that know it. */
static void show_truth(struct shard_engine *s)
{
	const struct run *run = s->run;

	for (uint32_t i = 0; i < s->shard->pages.n; i++) {
		uint32_t page = s->shard->global[i];

		if (s->truth)
			s->truth[i] = run->truth[page];
		if (s->next_change) {
			s->stale_since[i] = run->stale_since[page];
			s->next_change[i] = run->next_change[page];
		}
	}
}

static void bid(struct shards_run *all, struct shard_engine *s)
{
	double from = engine_seconds();
	struct demand d;
	bool can = engine_demand(&s->engine, &d);

	market_bid(&all->market, s->number, &d, can);
	s->engine.cycle.plan_seconds += engine_seconds() - from;
}

/* The shard is loaded: its cycle opens, unless it did already. */
static void load(struct shards_run *all, struct shard_engine *s, int64_t now)
{
	const struct replay *r = s->run->r;

	s->placed = true;
	if (s->begun)
		return;
	s->begun = true;
	show_truth(s);
	s->engine.view.shared = market_shared(&all->market);
	engine_begin(&s->engine, now, market_expect(&all->market, s->number));
	if (r->opts.shards.fixed)
		return;
	bid(all, s);
}

/* What a shard did in its turn becomes part of what the run did. */
static void gather(struct shard_engine *s, size_t from)
{
	struct cycle *to = &s->run->engine.cycle;
	const struct cycle *c = &s->engine.cycle;

	for (size_t i = from; i < c->n_seen; i++) {
		mem_grow((void **)&to->seen, &to->cap_seen, to->n_seen + 1, sizeof *to->seen);
		to->seen[to->n_seen] = c->seen[i];
		to->seen[to->n_seen++].page = s->shard->global[c->seen[i].page];
	}
}

/* Spend n more requests; what cannot be spent is returned. */
static int work(struct shards_run *all, struct shard_engine *s, uint32_t n, struct err *err)
{
	size_t from = s->engine.cycle.n_seen;
	enum ask why;
	int rc;

	market_grant(&all->market, s->number, n);
	engine_grant(&s->engine, n);
	rc = engine_work(&s->engine, &why, err);
	if (rc < 0)
		return rc;
	gather(s, from);
	market_return(&all->market, s->number, engine_ungrant(&s->engine));
	all->market.shards[s->number].done = why == ASK_DONE;
	return 0;
}

/* One turn of every shard that is loaded.  Returns how many were granted something. */
static int take_turns(struct shards_run *all, uint32_t *ret_n, struct err *err)
{
	int rc = 0;

	*ret_n = 0;
	for (uint32_t k = 0; k < all->n && rc == 0; k++) {
		struct shard_engine *s = &all->v[k];
		uint32_t n = s->placed ? market_offer(&all->market, k, MARKET_WAITS) : 0;

		if (!n)
			continue;
		rc = work(all, s, n, err);
		if (rc == 0 && all->n > 1)
			bid(all, s);
		++*ret_n;
	}
	return rc;
}

/* Shards that are offered nothing make place for those that wait: first those that had no
 * place yet in this cycle, then those that are offered something.  True: some place changed. */
static bool change_places(struct shards_run *all, int64_t now)
{
	uint32_t n_placed = 0;
	bool changed = false;

	for (uint32_t k = 0; k < all->n; k++)
		n_placed += all->v[k].placed;
	for (int late = 0; late < 2; late++) {
		for (uint32_t k = 0, give = 0; k < all->n; k++) {
			struct shard_engine *s = &all->v[k];

			if (!s->policy || s->placed || s->begun != late ||
			    (late && !market_offer(&all->market, k, MARKET_WAITS)))
				continue;
			while (n_placed >= all->n_places && give < all->n &&
			       (!all->v[give].placed || market_offer(&all->market, give, MARKET_WAITS)))
				give++;
			if (n_placed >= all->n_places && give >= all->n)
				break;
			if (n_placed >= all->n_places) {
				all->v[give].placed = false;
				n_placed--;
			}
			load(all, s, now);
			n_placed++;
			changed = true;
		}
	}
	return changed;
}

static int run_market(struct shards_run *all, int64_t now, struct err *err)
{
	uint32_t n = 0;
	int rc = 0;

	do {
		bool changed = change_places(all, now);

		rc = take_turns(all, &n, err);
		if (rc == 0 && !n && !changed)
			break;
	} while (rc == 0);
	return rc;
}

/* Every shard spends its part by pages, and no more. */
static int run_fixed(struct shards_run *all, int64_t now, struct err *err)
{
	int rc = 0;

	for (uint32_t k = 0; k < all->n && rc == 0; k++) {
		all->market.shards[k].not_comparable = true;
		if (all->v[k].policy)
			load(all, &all->v[k], now);
	}
	for (uint32_t k = 0; k < all->n && rc == 0; k++)
		if (all->v[k].policy)
			rc = work(all, &all->v[k], market_offer(&all->market, k, MARKET_WAITS), err);
	return rc;
}

/* The run's engine shows what the shards did. */
static void put_together(struct run *run)
{
	struct engine *e = &run->engine;

	for (uint32_t k = 0; k < run->shards->n; k++) {
		struct shard_engine *s = &run->shards->v[k];
		const struct cycle *c = &s->engine.cycle;

		if (!s->policy)
			continue;
		engine_end(&s->engine);
		s->begun = s->placed = false;
		e->cycle.plan_seconds += c->plan_seconds;
		e->cycle.n_guaranteed += c->n_guaranteed;
		e->cycle.guarantee_broken |= c->guarantee_broken;
		e->retry.n_resting += s->engine.retry.n_resting;
		for (uint32_t i = 0; i < s->shard->pages.n; i++) {
			uint32_t page = s->shard->global[i];

			e->visits.state[page] = s->engine.visits.state[i];
			e->visits.last_cycle[page] = s->engine.visits.last_cycle[i];
			e->visits.last_visit[page] = s->engine.visits.last_visit[i];
		}
	}
}

int shards_cycle(struct run *run, int64_t now, struct err *err)
{
	struct engine *e = &run->engine;
	struct shards_run *all = run->shards;
	int rc;

	e->view.now = now;
	e->view.cycle++;
	e->cycle.n_seen = 0;
	e->cycle.plan_seconds = 0;
	e->cycle.n_guaranteed = e->retry.n_resting = 0;
	e->cycle.guarantee_broken = false;
	market_next(&all->market, run->r->budget);
	for (uint32_t k = 0; k < all->n; k++)
		all->market.shards[k].done = !all->v[k].policy;
	rc = run->r->opts.shards.fixed ? run_fixed(all, now, err) : run_market(all, now, err);
	put_together(run);
	return rc;
}
