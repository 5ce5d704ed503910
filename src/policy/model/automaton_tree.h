/* SPDX-License-Identifier: Apache-2.0 */
/*
 * automaton_tree.h - H-TRAA: a binary tree of two-armed automata whose leaves
 * are the pages, grown along the directory tree.
 */
#ifndef POLICY_MODEL_AUTOMATON_TREE_H
#define POLICY_MODEL_AUTOMATON_TREE_H

#include "policy/policy.h"

struct automaton_node {
	uint32_t parent;                /* NODE_NONE at the root */
	uint32_t child[2];              /* a node, or LEAF | page */
	uint32_t n_open;                /* pages below that can still be drawn */
	uint16_t state;                 /* 1..N; share of child[0] is state/(N + 1) */
};

struct automaton_tree {
	struct automaton_node *nodes;
	uint32_t n_nodes, n_states, n_pages;
	uint32_t *leaf_parent;          /* by page */
	uint32_t root;                  /* a node, or LEAF | page, or NODE_NONE */
	uint64_t draws;                 /* descents in this cycle */
};

void automaton_tree_begin(struct automaton_tree *t, const struct view *v, uint32_t n_states);
void automaton_tree_ask(struct automaton_tree *t, const struct view *v, struct plan *plan);
void automaton_tree_tell(struct automaton_tree *t, const struct view *v, uint32_t page,
                         bool hit);
/* What it learnt, written, or read into one that is fresh and has the same pages. */
void automaton_tree_freeze(struct automaton_tree *t, const struct view *v, uint32_t n_states,
                           struct frozen *f);
void automaton_tree_release(struct automaton_tree *t);
/* The probability that one descent ends at a page, all pages being open. */
double automaton_tree_share(const struct automaton_tree *t, uint32_t page);

#endif
