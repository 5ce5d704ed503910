/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_pool.h - the best pages, in two levels of heaps.
 *
 * Each leaf holds its pages of the pool in its first slots, as a heap by what they add to
 * their place (evidence_state.key); a heap holds the leaves by place and best page.  What
 * moves a place, doubts above all, moves one leaf and not its pages.
 * evidence_queue.c says which pages are in it, and when they are scored.
 */
#ifndef POLICY_EVIDENCE_POOL_H
#define POLICY_EVIDENCE_POOL_H

#include "base/math/rng.h"
#include "policy/evidence/evidence.h"

#define EVIDENCE_NOISE 1e-5     /* by which leaves of the same score differ */

/* A leaf's key in the heap of leaves, if its best page has this score. */
static inline double evidence_pool_key(const struct evidence_state *s, float score,
                                       uint32_t page)
{
	return (double)score + EVIDENCE_NOISE * rng_unit(evidence_chance(s->seed, page));
}

/* Put a leaf into the heap of leaves where its best page says. */
void evidence_pool_rank(struct evidence_state *s, uint32_t leaf);
/* Put a page into the pool, or move it, by what it adds to its place; its leaf is to be
 * ranked. */
void evidence_pool_add(struct evidence_state *s, uint32_t leaf, uint32_t page, float key);
/* Remove the best page of a leaf. */
void evidence_pool_drop(struct evidence_state *s, uint32_t leaf);
/* The best page of a leaf is scored anew and put where it belongs, and the leaf with it. */
void evidence_pool_sink(struct evidence_state *s, uint32_t leaf, float place);
void evidence_pool_empty(struct evidence_state *s);
/* Put all of these into an empty pool, and rank their leaves; `pages` is scratch then. */
void evidence_pool_fill(struct evidence_state *s, uint32_t *pages, size_t n);
/* Score all pages of a leaf anew: those that reach the floor come into the pool. */
void evidence_pool_score_leaf(struct evidence_state *s, const struct view *v, uint32_t leaf);
/* The same for one page and its place. */
void evidence_pool_score_page(struct evidence_state *s, const struct view *v, uint32_t page);

#endif
