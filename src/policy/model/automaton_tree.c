/* SPDX-License-Identifier: Apache-2.0 */
/*
 * automaton_tree.c - H-TRAA on the directory tree; see automaton_tree.h.
 *
 * A node with state s of N sends a draw left with share s/(N+1).  When the page
 * drawn is found changed, every node on its path moves towards the side taken,
 * with the share of the other side as probability: left s+1 with 1-share, right
 * s-1 with share.  The drift share (1-share) (p_left - p_right) is 0 where both
 * sides are equally likely to be found changed, which is the game's aim.
 *
 * The tree: the pages and subdirectories of a directory are joined in a balanced
 * binary way, then the directories of a site, then the sites; so neighbours share
 * what they learn.  Pages drawn in a cycle are not drawn again: subtrees without
 * an open page are skipped.
 *
 * Cost.  O(pages) to build and at the start of a cycle, O(depth) a draw and a
 * visit; 24 bytes a page.
 */
#include "policy/model/automaton_tree.h"

#include <math.h>

#include "base/math/rng.h"
#include "policy/plan.h"

#define NODE_NONE UINT32_MAX
#define LEAF 0x80000000u
#define RNG_MOVE (RNG_USER + 1)

static void set_parent(struct automaton_tree *t, uint32_t item, uint32_t parent)
{
	if (item & LEAF)
		t->leaf_parent[item & ~LEAF] = parent;
	else
		t->nodes[item].parent = parent;
}

/* Join items into one balanced subtree; returns its top. */
static uint32_t join(struct automaton_tree *t, const uint32_t *items, size_t n)
{
	uint32_t left, right, node;

	if (n == 1)
		return items[0];
	left = join(t, items, n / 2);
	right = join(t, items + n / 2, n - n / 2);
	node = t->n_nodes++;
	t->nodes[node] = (struct automaton_node){ .parent = NODE_NONE, .child = { left, right },
	                                          .state = (uint16_t)((t->n_states + 1) / 2) };
	set_parent(t, left, node);
	set_parent(t, right, node);
	return node;
}

/* Directories from the last to the first: children come before their parents. */
static void build(struct automaton_tree *t, const struct view *v)
{
	const struct tree *d = v->tree;
	uint32_t *top = mem_array(d->n_dirs, sizeof *top);
	VEC(uint32_t) items = { 0 };
	VEC(uint32_t) roots = { 0 };

	for (uint32_t dir = d->n_dirs; dir-- > 0;) {
		items.n = 0;
		for (uint32_t i = d->dir_first[dir]; i < d->dir_first[dir + 1]; i++)
			vec_push(&items, LEAF | d->dir_pages[i]);
		for (uint32_t i = d->child_first[dir]; i < d->child_first[dir + 1]; i++)
			if (top[d->child_dirs[i]] != NODE_NONE)
				vec_push(&items, top[d->child_dirs[i]]);
		top[dir] = items.n ? join(t, items.v, items.n) : NODE_NONE;
	}
	for (uint32_t dir = 0; dir < d->n_dirs; dir++)
		if (d->dir_parent[dir] == DIR_NONE && top[dir] != NODE_NONE)
			vec_push(&roots, top[dir]);
	t->root = roots.n ? join(t, roots.v, roots.n) : NODE_NONE;
	vec_release(&items);
	vec_release(&roots);
	free(top);
}

static uint32_t open_below(const struct automaton_tree *t, const struct view *v, uint32_t item)
{
	return item & LEAF ? view_open(v, item & ~LEAF) : t->nodes[item].n_open;
}

static void make_ready(struct automaton_tree *t, const struct view *v, uint32_t n_states)
{
	if (t->nodes)
		return;
	t->n_pages = v->n_pages;
	t->n_states = n_states > 65534 ? 65534 : n_states;
	t->nodes = mem_array(v->n_pages + 1, sizeof *t->nodes);
	t->leaf_parent = mem_array(v->n_pages + 1, sizeof *t->leaf_parent);
	for (uint32_t i = 0; i < v->n_pages; i++)
		t->leaf_parent[i] = NODE_NONE;
	build(t, v);
}

void automaton_tree_freeze(struct automaton_tree *t, const struct view *v, uint32_t n_states,
                           struct frozen *f)
{
	make_ready(t, v, n_states);
	for (uint32_t i = 0; i < t->n_nodes && !f->bad; i++) {
		frozen_value(f, &t->nodes[i].state);
		frozen_check(f, t->nodes[i].state >= 1 && t->nodes[i].state <= t->n_states);
	}
}

void automaton_tree_begin(struct automaton_tree *t, const struct view *v, uint32_t n_states)
{
	make_ready(t, v, n_states);
	t->draws = 0;
	/* a node is made after its children, so one pass in order counts them */
	for (uint32_t i = 0; i < t->n_nodes; i++)
		t->nodes[i].n_open = open_below(t, v, t->nodes[i].child[0]) +
		                     open_below(t, v, t->nodes[i].child[1]);
}

static double share(const struct automaton_tree *t, uint32_t node)
{
	return t->nodes[node].state / (t->n_states + 1.0);
}

static uint32_t draw_page(struct automaton_tree *t, const struct view *v)
{
	uint32_t at = t->root;
	struct rng r;

	rng_init(&r, rng_draw(v->seed, v->cycle, t->draws++, RNG_SAMPLE));
	while (!(at & LEAF)) {
		const struct automaton_node *n = &t->nodes[at];
		int side = rng_next_unit(&r) < share(t, at) ? 0 : 1;

		if (!open_below(t, v, n->child[side]))
			side = 1 - side;
		at = n->child[side];
	}
	return at & ~LEAF;
}

void automaton_tree_ask(struct automaton_tree *t, const struct view *v, struct plan *plan)
{
	while (plan_room(plan) && t->root != NODE_NONE && open_below(t, v, t->root)) {
		uint32_t page = draw_page(t, v);

		plan_take(plan, page, automaton_tree_share(t, page), NAN, REASON_CHANCE);
		for (uint32_t at = t->leaf_parent[page]; at != NODE_NONE; at = t->nodes[at].parent)
			t->nodes[at].n_open--;
	}
}

void automaton_tree_tell(struct automaton_tree *t, const struct view *v, uint32_t page,
                         bool hit)
{
	uint32_t below = LEAF | page, at = t->leaf_parent[page], level = 0;

	for (; hit && at != NODE_NONE; below = at, at = t->nodes[at].parent, level++) {
		struct automaton_node *n = &t->nodes[at];
		bool left = n->child[0] == below;
		double chance = left ? 1 - share(t, at) : share(t, at);

		if (rng_unit(rng_draw(v->seed, v->cycle, (uint64_t)level << 32 | page, RNG_MOVE)) >=
		    chance)
			continue;
		if (left && n->state < t->n_states)
			n->state++;
		else if (!left && n->state > 1)
			n->state--;
	}
}

double automaton_tree_share(const struct automaton_tree *t, uint32_t page)
{
	uint32_t below = LEAF | page;
	double p = 1;

	for (uint32_t at = t->leaf_parent[page]; at != NODE_NONE; at = t->nodes[at].parent) {
		p *= t->nodes[at].child[0] == below ? share(t, at) : 1 - share(t, at);
		below = at;
	}
	return p;
}

void automaton_tree_release(struct automaton_tree *t)
{
	free(t->nodes);
	free(t->leaf_parent);
	*t = (struct automaton_tree){ 0 };
}
