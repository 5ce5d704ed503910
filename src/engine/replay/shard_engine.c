/* SPDX-License-Identifier: Apache-2.0 */
/* shard_engine.c - see shard_engine.h. */
#include "engine/replay/shard_engine.h"

#include "policy/catalogue/catalogue.h"

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

void shard_engine_begin(struct shard_engine *s, struct run *run, uint32_t number)
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
	e->ceiling.fleet = run->r->shards.n < 2 ? (struct ceiling_fleet){ 0 } :
	                   (struct ceiling_fleet){ run->r->budget, run->r->n_repository };
	e->retry.share = run->engine.retry.share;
	e->source = (struct source){ .self = s, .deliver = deliver };
	for (uint32_t i = 0; i < s->shard->pages.n; i++)
		e->visits.state[i] = run->engine.visits.state[s->shard->global[i]];
}

void shard_engine_see(struct shard_engine *s)
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

void shard_engine_end(struct shard_engine *s)
{
	if (!s->policy)
		return;
	engine_release(&s->engine);
	if (s->has_features)
		features_release(&s->features);
	vec_release(&s->links.pages);
	free(s->truth);
	free(s->stale_since);
	free(s->next_change);
	policy_free(s->policy);
}
