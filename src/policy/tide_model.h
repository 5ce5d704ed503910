/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_model.h - when did the pages of a directory change?
 *
 * Model.  Every directory v has a hazard q(v, j) for each of the last 64 cycles:
 * the chance that one of its pages changed in cycle j.  A copy taken in cycle
 * `last` is stale with chance 1 - prod over last < j <= now of (1 - q(v, j)).
 *
 * Learning.  A visit is interval-censored: unchanged, the page was at risk in
 * every cycle since `last`; changed, one event is spread over those cycles as
 * the hazards say (one step of EM) and the page was at risk until it.  So a
 * visit today also corrects the past, and with it the chances of all pages not
 * visited since.
 *
 * Pooling.  Events and exposure are passed up the tree, but a child speaks in its
 * parent for at most `voice` visits, so a parent's rate is that of its children
 * and not of its most visited child; rates are passed down as priors.
 *
 * Memory.  A directory that was never visited, nor anything below it, has its
 * parent's hazards by definition and needs none; half a KiB for the others.  Hazards
 * are not kept: they are made from the root down, one level of scratch each, when a
 * visit is learnt or a host scored.  A visit costs O(depth * cycles); a host
 * O(directories below it).
 * Blind spot.  Within a directory pages differ only by their last visit.
 */
#ifndef POLICY_TIDE_MODEL_H
#define POLICY_TIDE_MODEL_H

#include "base/mem.h"
#include "policy/view.h"

#define TIDE_CYCLES 64          /* a power of two */
#define TIDE_DEPTH_MAX 72       /* levels of directories, with room */

struct tide_params {
	double voice, voice_base;       /* visits a child speaks for: in a cycle, at large */
	double discount;                /* of the long-run rate, a cycle */
	double k_base;                  /* strength of the long-run rate's prior */
	double k_site, k_dir;           /* strength of a cycle's prior */
};

/* Totals with the children's voices, by cycle modulo TIDE_CYCLES. */
struct tide_ring {
	float events[TIDE_CYCLES], exposure[TIDE_CYCLES];
};

/* What a node's ring says, given its parent's level. */
struct tide_level {
	float hazard[TIDE_CYCLES];
	float alive[TIDE_CYCLES];       /* log of the chance to survive up to j */
	float base;                     /* long-run hazard */
};

struct tide_node {
	uint32_t dir;
	float own_events, own_exposure; /* discounted sums, own pages */
	float events, exposure;         /* with the children's voices */
};

struct tide_root { double events, exposure; };  /* of one host, since ever */

struct tide_model {
	struct tide_params par;
	const struct tree *tree;
	uint32_t now, first;            /* cycles of the ring: first .. now */
	double base;                    /* of a host nobody has visited */
	uint32_t *node;                 /* by directory: node + 1, or 0 */
	uint32_t *root;                 /* by directory: its host's root */
	VEC(struct tide_node) nodes;
	VEC(struct tide_ring) rings;    /* one a node */
	struct tide_root *roots;        /* by directory; only roots are used */
	struct tide_level *level;       /* TIDE_DEPTH_MAX: of the path made last */
	uint32_t path;                  /* node that it leads to, or PAGE_NONE */
	int depth;                      /* its level */
	bool alone;                     /* only the current cycle counts */
};

void tide_model_init(struct tide_model *m, const struct tree *tree,
                     const struct tide_params *par);
void tide_model_release(struct tide_model *m);
/* A new cycle: shift the rings, discount. */
void tide_model_begin(struct tide_model *m, uint32_t cycle);
/* Make the levels of a directory's path; the deepest that is known, or -1. */
int tide_model_refresh(struct tide_model *m, uint32_t dir);
/* Make one level of a path, the one above (-1: none) being made. */
int tide_level_refresh(struct tide_model *m, uint32_t node, int above);
/* Expected log-survival since `last`, at most 0, by a level (or -1): of a copy, and of
 * what a visit would be told (the same, unless only the current cycle counts). */
float tide_model_survival_of_copy(const struct tide_model *m, int level, uint32_t last);
float tide_model_survival(const struct tide_model *m, int level, uint32_t last);
/* A visit told what happened since `last`. */
void tide_model_learn(struct tide_model *m, uint32_t dir, uint32_t last, bool hit);

#endif
