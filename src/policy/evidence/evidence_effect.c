/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_effect.c - how much more than its place a page lives, by its groups, the words
 * of its name, and its links.
 *
 * An effect is u = sum (y - e) / (1 + sum e (1 - e)) over the tested pages, y the outcome
 * and e the rate that the tree gives without that test: one Newton step of a random
 * effect of unit precision.
 */
#include <math.h>

#include "graph/graph.h"
#include "policy/evidence/evidence.h"
#include "policy/sweep.h"

#define MANY_TESTS 16           /* from this share of the pages on most have one near */

static void group_add(struct group_effect *g, struct effect e)
{
	g->e.sum += e.sum;
	g->e.var += e.var;
	g->value = effect_value(g->e);
}

/* base: NULL, or what pages' links give to their scores, of which a part is `weight`
 * times the effect. */
static void teach_near(const struct graph *g, uint32_t page, struct effect e,
                       struct effect *effect, float weight, float *base)
{
	uint64_t n;
	const uint32_t *near = graph_links(g, page, &n);

	for (uint64_t i = 0; i < n; i++) {
		struct effect *at = &effect[near[i]];
		float was = base ? effect_value(*at) : 0;

		at->sum += e.sum;
		at->var += e.var;
		if (base)
			base[near[i]] += weight * (effect_value(*at) - was);
	}
}

void evidence_teach_effects(struct evidence_state *s, const struct view *v, uint32_t page,
                            struct effect e, bool base)
{
	const struct evidence_world *w = &s->world;
	const struct evidence_name *name = &w->name[w->name_of[page]];
	const struct evidence_leaf *leaf = &w->leaf[w->leaf_of[page]];
	float *to = base ? s->base : NULL;

	for (int g = 0; g < N_GROUPS; g++)
		if (w->n_group[g])
			group_add(&s->group[g][g < N_NAME_GROUPS ? name->group[g] :
			                       leaf->group[g - N_NAME_GROUPS]], e);
	for (uint32_t i = name[0].first; i < name[1].first; i++)
		group_add(&s->word[w->word[i]], e);
	if (s->out) {
		teach_near(v->links_in, page, e, s->out,
		           (float)s->weight[EVIDENCE_LINK + LINK_OUT], to);
		teach_near(v->links, page, e, s->in,
		           (float)s->weight[EVIDENCE_LINK + LINK_IN], to);
	}
}

void evidence_forget_effects(struct evidence_state *s, uint32_t n_pages)
{
	const struct evidence_world *w = &s->world;

	for (int g = 0; g < N_GROUPS; g++)
		memset(s->group[g], 0, w->n_group[g] * sizeof *s->group[g]);
	memset(s->word, 0, w->n_words * sizeof *s->word);
	if (s->out) {
		memset(s->out, 0, n_pages * sizeof *s->out);
		memset(s->in, 0, n_pages * sizeof *s->in);
	}
}

/* What is known of pages is passed on to those that are linked with them. */
struct spreading {
	const struct graph *to, *from;  /* links there; the same, turned round */
	const struct effect *effect;
	uint8_t *known;                 /* pages with a neighbour that is known; NULL: all may be */
	float *value, *ret;
};

/* Threads may mark the same page: they write the same. */
static void mark_known(void *arg, unsigned block, size_t first, size_t end)
{
	const struct spreading *s = arg;

	(void)block;
	for (size_t i = first; i < end; i++) {
		uint64_t n;
		const uint32_t *near = graph_links(s->to, (uint32_t)i, &n);

		for (uint64_t k = 0; s->effect[i].var > 0 && k < n; k++)
			__atomic_store_n(&s->known[near[k]], 1, __ATOMIC_RELAXED);
	}
}

static void find_values(void *arg, unsigned block, size_t first, size_t end)
{
	const struct spreading *s = arg;

	(void)block;
	for (size_t i = first; i < end; i++)
		s->value[i] = effect_value(s->effect[i]);
}

/* The values of the neighbours of each page, over the root of their number. */
static void sum_values(void *arg, unsigned block, size_t first, size_t end)
{
	const struct spreading *s = arg;

	(void)block;
	for (size_t i = first; i < end; i++) {
		uint64_t n = 0;
		const uint32_t *near = s->known && !s->known[i] ? NULL :
		                       graph_links(s->from, (uint32_t)i, &n);
		float sum = 0;

		for (uint64_t k = 0; k < n; k++)
			sum += s->value[near[k]];
		s->ret[i] = n ? sum / sqrtf((float)n) : 0;
	}
}

static void spread(const struct view *v, struct spreading s, bool few)
{
	size_t n = v->n_pages;
	unsigned blocks = sweep_blocks(n);

	s.value = mem_array(n, sizeof *s.value);
	s.known = few ? mem_zalloc(n, 1) : NULL;
	if (few)
		sweep(v, n, blocks, mark_known, &s);
	sweep(v, n, blocks, find_values, &s);
	sweep(v, n, blocks, sum_values, &s);
	free(s.value);
	free(s.known);
}

void evidence_spread_links(struct evidence_state *s, const struct view *v)
{
	bool few = s->n_tests < v->n_pages / MANY_TESTS;

	if (!s->out)
		return;
	spread(v, (struct spreading){ .to = v->links, .from = v->links_in, .effect = s->out,
	                              .ret = s->cocited }, few);
	spread(v, (struct spreading){ .to = v->links_in, .from = v->links, .effect = s->in,
	                              .ret = s->cociting }, few);
}

float evidence_words_value(const struct evidence_state *s, uint32_t name)
{
	const struct evidence_world *w = &s->world;
	uint32_t from = w->name[name].first, to = w->name[name + 1].first;
	float sum = 0;

	for (uint32_t i = from; i < to; i++)
		sum += s->word[w->word[i]].value;
	return to > from ? sum / sqrtf((float)(to - from)) : 0;
}

float evidence_weigh_name(const struct evidence_state *s, uint32_t name)
{
	float sum = (float)s->weight[EVIDENCE_WORDS] * evidence_words_value(s, name);

	for (int g = 0; g < N_NAME_GROUPS; g++)
		sum += (float)s->weight[EVIDENCE_GROUP + g] *
		       s->group[g][s->world.name[name].group[g]].value;
	return sum;
}
