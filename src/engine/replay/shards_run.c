/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shards_run.c - one run of a replay in shards: an engine each (shard_engine.h), and the market
 * between them; see shards.h.
 *
 * Cost.  That of the engines, and a bid for every grant: O(pages of the shard).
 */
#include "engine/replay/shard_engine.h"

struct shards_run {
	struct shard_engine *v;
	uint32_t n, n_places;
	struct market market;
};

static struct shard_engine *engine_of(struct run *run, uint32_t page)
{
	return &run->shards->v[run->r->shards.shard_of[page]];
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
		shard_engine_begin(&all->v[k], run, k);
		for (uint32_t i = 0; i < r->shards.v[k].pages.n; i++)
			all->market.shards[k].pages +=
				r->copy_at_start[r->shards.v[k].global[i]] != NEVER;
	}
}

void shards_end(struct run *run)
{
	struct shards_run *all = run->shards;

	for (uint32_t k = 0; all && k < all->n; k++)
		shard_engine_end(&all->v[k]);
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
	shard_engine_see(s);
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
