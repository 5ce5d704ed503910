/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_world.c - the tree of the URLs, and pages by place and by name.
 *
 * Tree.  The path of a page: host, directories one by one (10 parts at most), then the
 * first two words of the file name without its extension.  Each prefix is a node under a
 * common root, found by the hash of (parent, part); parents have smaller numbers than
 * children.
 * Leaves.  Pages of one node whose directories are in the same groups: all that a place
 * gives to a score is the same for the pages of a leaf.  Leaves are numbered so that those
 * below a node are in a row.
 * Names.  Pages of one site with one file name have the same words and the same form.
 *
 * Cost.  O(bytes of URLs), once; 24 bytes a page, 24 a leaf, 12 a node, 16 a name.
 */
#include <ctype.h>
#include <math.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "policy/evidence/evidence.h"

#define PARTS_MAX 10

static const enum family family_of[N_GROUPS] = {
	[GROUP_NAME] = FAMILY_NAME, [GROUP_LAST] = FAMILY_LAST, [GROUP_DIRS] = FAMILY_SHAPE,
};

struct builder {
	struct map nodes, leaves, names, groups[N_GROUPS], words;
	VEC(uint32_t) parent, word;
	VEC(struct evidence_leaf) leaf;
	VEC(struct evidence_name) name;
};

static uint32_t step_down(struct builder *b, uint32_t parent, const char *s, const char *end)
{
	uint64_t key = hash_bytes(s, (size_t)(end - s), rng_mix(parent + 1));
	bool fresh;
	uint32_t id = map_intern(&b->nodes, key, (uint32_t)b->parent.n, &fresh);

	if (fresh)
		vec_push(&b->parent, parent);
	return id;
}

static uint32_t place(struct builder *b, const struct evidence_cut *c, uint32_t *ret_host)
{
	uint32_t node = *ret_host = step_down(b, 0, c->host, c->host_end);
	const char *s = c->path, *e;
	int words = 0;

	for (int parts = 1; parts < PARTS_MAX && s < c->name; parts++) {
		while (s < c->name && *s == '/')
			s++;
		e = s;
		while (e < c->name && *e != '/')
			e++;
		if (e > s)
			node = step_down(b, node, s, e);
		s = e;
	}
	for (s = c->name; s < c->name_end && words < 2; words++) {
		while (s < c->name_end && !isalpha((unsigned char)*s))
			s++;
		for (e = s; e < c->name_end && isalpha((unsigned char)*e); e++)
			;
		if (e > s)
			node = step_down(b, node, s, e);
		s = e;
	}
	return node;
}

static uint32_t family(const struct view *v, int group, uint32_t page)
{
	const uint32_t *of = v->family[family_of[group]];

	return of ? of[page] : 0;
}

static uint32_t leaf_at(struct builder *b, const struct view *v, uint32_t page,
                        uint32_t node, uint32_t host)
{
	struct evidence_leaf leaf = { .node = node, .host = host };
	uint64_t key = rng_mix(node + 1);
	bool fresh;
	uint32_t id;

	for (int g = N_NAME_GROUPS; g < N_GROUPS; g++) {
		leaf.group[g - N_NAME_GROUPS] = family(v, g, page);
		key = rng_mix(key + leaf.group[g - N_NAME_GROUPS]);
	}
	id = map_intern(&b->leaves, key, (uint32_t)b->leaf.n, &fresh);
	if (fresh)
		vec_push(&b->leaf, leaf);
	return id;
}

static void find_words(struct evidence_world *w, struct builder *b, const char *name,
                       const char *end, uint64_t site)
{
	uint64_t words[EVIDENCE_WORDS_MAX];
	int n = evidence_words(name, end, site, words);
	bool fresh;

	for (int i = 0; i < n; i++) {
		vec_push(&b->word, map_intern(&b->words, words[i], w->n_words, &fresh));
		w->n_words += fresh;
	}
}

static uint32_t group_at(struct evidence_world *w, struct builder *b, int group, uint64_t key)
{
	bool fresh;
	uint32_t id = map_intern(&b->groups[group], key, w->n_group[group], &fresh);

	w->n_group[group] += fresh;
	return id;
}

/* The name of a page; c NULL: URLs are hidden.  Then all pages have one name of one word,
 * whose effect tells how well choosing goes; in the fit it takes that off what links are
 * worth. */
static uint32_t name_at(struct evidence_world *w, struct builder *b, const struct view *v,
                        uint32_t page, const struct evidence_cut *c)
{
	static const char same[] = "a";
	uint64_t site = c ? rng_mix(v->site[page]) : 0;
	struct evidence_name name = { .first = (uint32_t)b->word.n,
	                              .group[GROUP_NAME] = family(v, GROUP_NAME, page) };
	uint64_t key = c ? hash_bytes(c->name, (size_t)(c->end - c->name),
	                              rng_mix(site + name.group[GROUP_NAME])) : 0;
	bool fresh;
	uint32_t id = map_intern(&b->names, key, (uint32_t)b->name.n, &fresh);

	if (!fresh)
		return id;
	name.group[GROUP_FORM] = group_at(w, b, GROUP_FORM, c ? evidence_form(c, site) : 0);
	name.group[GROUP_EXT] = group_at(w, b, GROUP_EXT, c ? hash_bytes(c->name_end,
	                                 (size_t)(c->end - c->name_end), site) : 0);
	find_words(w, b, c ? c->name : same, c ? c->name_end : same + 1, site);
	vec_push(&b->name, name);
	return id;
}

static void place_page(struct evidence_world *w, struct builder *b, const struct view *v,
                       uint32_t i, bool urls)
{
	struct evidence_cut c;
	uint32_t node = 0, host = 0;

	w->statics[i] = (struct evidence_static){ 0 };
	if (urls) {
		evidence_cut_url(view_url(v, i), &c);
		node = place(b, &c, &host);
		w->statics[i] = evidence_find_static(&c);
	}
	w->leaf_of[i] = leaf_at(b, v, i, node, host);
	w->name_of[i] = name_at(w, b, v, i, urls ? &c : NULL);
	if (v->pagerank)
		w->statics[i].rank = logf((float)(v->pagerank[i] * v->n_settled) + 1e-6f);
	if (w->statics[i].length > w->length_max)
		w->length_max = w->statics[i].length;
}

/* Leaves numbered anew, so that those at and below each node are in a row. */
static void order_leaves(struct evidence_world *w)
{
	uint32_t *next = mem_array(w->n_nodes, sizeof *next);
	uint32_t *number = mem_array(w->n_leaves, sizeof *number);
	struct evidence_leaf *leaf = mem_array((size_t)w->n_leaves + 1, sizeof *leaf);

	w->leaf_first = mem_zalloc(w->n_nodes, sizeof *w->leaf_first);
	w->leaf_end = mem_zalloc(w->n_nodes, sizeof *w->leaf_end);      /* first: how many */
	for (uint32_t i = 0; i < w->n_leaves; i++)
		w->leaf_end[w->leaf[i].node]++;
	memcpy(next, w->leaf_end, w->n_nodes * sizeof *next);           /* its own */
	for (uint32_t i = w->n_nodes; i-- > 1;)
		w->leaf_end[w->parent[i]] += w->leaf_end[i];
	for (uint32_t i = 0; i < w->n_nodes; i++) {
		uint32_t own = next[i], *above = &next[w->parent[i]];

		if (i) {
			w->leaf_first[i] = *above;
			*above += w->leaf_end[i];
		}
		w->leaf_end[i] += w->leaf_first[i];
		next[i] = w->leaf_first[i] + own;       /* where its children's begin */
	}
	for (uint32_t i = 0; i < w->n_nodes; i++)
		next[i] = w->leaf_first[i];
	for (uint32_t i = 0; i < w->n_leaves; i++) {
		number[i] = next[w->leaf[i].node]++;
		leaf[number[i]] = w->leaf[i];
	}
	leaf[w->n_leaves] = (struct evidence_leaf){ 0 };
	free(w->leaf);
	w->leaf = leaf;
	free(next);
	for (uint32_t i = 0; i < w->n_pages; i++)
		w->leaf_of[i] = number[w->leaf_of[i]];
	free(number);
}

/* The pages of each leaf in a row. */
static void order_pages(struct evidence_world *w)
{
	uint32_t at = 0;

	w->order = mem_array(w->n_pages, sizeof *w->order);
	w->slot = mem_array(w->n_pages, sizeof *w->slot);
	for (uint32_t i = 0; i < w->n_pages; i++)
		w->leaf[w->leaf_of[i]].first++;
	for (uint32_t i = 0; i <= w->n_leaves; i++) {   /* the end of each */
		at += w->leaf[i].first;
		w->leaf[i].first = at;
	}
	for (uint32_t i = w->n_pages; i-- > 0;) {
		w->slot[i] = --w->leaf[w->leaf_of[i]].first;
		w->order[w->slot[i]] = i;
	}
}

void evidence_world_init(struct evidence_world *w, const struct view *v, bool urls,
                         double sample)
{
	struct builder b = { .nodes = { 0 } };
	uint32_t n = v->n_pages;

	*w = (struct evidence_world){ .n_pages = n };
	w->leaf_of = mem_array(n, sizeof *w->leaf_of);
	w->name_of = mem_array(n, sizeof *w->name_of);
	w->statics = mem_array(n, sizeof *w->statics);
	for (int g = 0; g < N_GROUPS; g++)
		if (g != GROUP_FORM && g != GROUP_EXT && v->family[family_of[g]])
			w->n_group[g] = v->n_family[family_of[g]];
	vec_push(&b.parent, 0);
	for (uint32_t i = 0; i < n; i++)
		place_page(w, &b, v, i, urls);
	w->n_nodes = (uint32_t)b.parent.n;
	w->n_leaves = (uint32_t)b.leaf.n;
	w->n_names = (uint32_t)b.name.n;
	vec_push(&b.name, ((struct evidence_name){ .first = (uint32_t)b.word.n }));
	w->parent = b.parent.v;
	w->leaf = b.leaf.v;
	w->name = b.name.v;
	w->word = b.word.v;
	map_release(&b.nodes);
	map_release(&b.leaves);
	map_release(&b.names);
	for (int g = 0; g < N_GROUPS; g++)
		map_release(&b.groups[g]);
	map_release(&b.words);
	order_leaves(w);
	order_pages(w);
	evidence_standardise(w, v);
	evidence_draw_sample(w, v, urls, sample);
}

void evidence_world_release(struct evidence_world *w)
{
	free(w->parent);
	free(w->leaf_first);
	free(w->leaf_end);
	free(w->leaf);
	free(w->name);
	free(w->word);
	free(w->leaf_of);
	free(w->name_of);
	free(w->order);
	free(w->slot);
	free(w->statics);
	free(w->sample);
	*w = (struct evidence_world){ 0 };
}
