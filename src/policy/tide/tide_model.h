/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_model.h - when did the pages of a directory change?
 *
 * Model.  Every directory v has a hazard q(v, j) for each slot j of the past: the chance
 * that one of its pages changed in it.  A copy taken in slot `last` is stale with chance
 * 1 - prod over last < j <= now of (1 - q(v, j)).
 *
 * Time.  A slot is one cycle at first.  The latest 28 stay so; of older ones always two
 * are made one, four of each size, so that 64 slots reach back for years of daily
 * cycles and what is long past is told apart less finely.  Rates, discounts and prior
 * strengths are of time, whose unit is two weeks: the same past teaches the same, in
 * however many cycles it was seen.
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
 * Hosts that are rebuilt all the time.  A change found long after the last visit does not
 * tell when it came; the slots, drawn to the usual, make it late.  So no change may lower a
 * rate, unless other visits to the host dated it, nor one wild host what is expected of the
 * others.
 *
 * Memory.  A directory that was never visited, nor anything below it, has its
 * parent's hazards by definition and needs none; others need 8 bytes a slot.  Hazards
 * are not kept: they are made from the root down, one level of scratch each, when a
 * visit is learnt or a host scored.  A visit costs O(depth * cycles); a host
 * O(directories below it).
 * Blind spot.  Within a directory pages differ only by their last visit.
 */
#ifndef POLICY_TIDE_TIDE_MODEL_H
#define POLICY_TIDE_TIDE_MODEL_H

#include "base/mem.h"
#include "policy/frozen.h"
#include "policy/view.h"

#define TIDE_SLOTS 64
#define TIDE_UNIT (14 * 86400.0)        /* seconds; all rates are for so long */
#define TIDE_DEPTH_MAX 72       /* levels of directories, with room */

struct tide_params {
	double voice, voice_base;       /* visits a child speaks for: in a cycle, at large */
	double discount;                /* of the long-run rate, a unit of time */
	double k_base;                  /* strength of the long-run rate's prior, units */
	double k_site, k_dir;           /* strength of a slot's prior, visits */
};

/* Totals with the children's voices, by column of a slot. */
struct tide_ring { float *events, *exposure; };

/* Cycles first .. last; units of time in all; 2^size cycles, or more in the oldest. */
struct tide_slot { uint32_t first, last; float width; uint8_t column, size; };

/* What a node's ring says, given its parent's level. */
struct tide_level {
	float hazard[TIDE_SLOTS];       /* by column */
	float alive[TIDE_SLOTS];        /* log of the chance to survive up to a slot's end */
	float base;                     /* long-run hazard, a unit of time */
	float ever;                     /* the same of all time, not discounted */
	float mean;                     /* the mean of the hazards over all time */
};

struct tide_node {
	uint32_t dir;
	float own_events, own_exposure; /* discounted sums, own pages */
	float events, exposure;         /* with the children's voices */
	float all_events, all_exposure; /* the same, since ever */
};

/* Of one host, since ever.  calm: of visits that found nothing, the changes by which more
 * than one had been expected, discounted; a site that is rebuilt all the time has none. */
struct tide_root { double events, exposure, calm; };

struct tide_model {
	struct tide_params par;
	const struct tree *tree;
	struct tide_slot slot[TIDE_SLOTS];      /* the oldest first */
	uint32_t n_slots, now;          /* now: the cycle */
	uint32_t n_columns;             /* that were ever in use */
	float width[TIDE_SLOTS];        /* by column */
	float span;                     /* units of time in all slots */
	double fade[TIDE_SLOTS];        /* by slot: what an event in it still counts for */
	/* rates of a host nobody has visited, a unit of time: the mean one, by which its pages
	 * may have changed, and the usual one, by which they will */
	double base, usual;
	uint32_t *node;                 /* by directory: node + 1, or 0 */
	uint32_t *root;                 /* by directory: the number of its host */
	VEC(struct tide_node) nodes;
	VEC(float) rings;               /* one a node: tide_ring_room() events, as many exposures */
	struct tide_root *roots;        /* by host */
	uint32_t *root_dir;             /* by host: its directory */
	uint32_t n_roots;
	struct tide_level *level;       /* TIDE_DEPTH_MAX: of the path made last */
	uint32_t path;                  /* node that it leads to, or PAGE_NONE */
	int depth;                      /* its level */
	bool alone;                     /* only the current cycle counts */
};

/* The columns that a ring has room for: those in use, and a few more. */
#define TIDE_RING_STEP 4u
static inline uint32_t tide_ring_room(const struct tide_model *m)
{
	return (m->n_columns + TIDE_RING_STEP - 1) / TIDE_RING_STEP * TIDE_RING_STEP;
}
static inline struct tide_ring tide_ring_of(const struct tide_model *m, uint32_t node)
{
	size_t room = tide_ring_room(m);
	float *events = m->rings.v + 2 * room * node;

	return (struct tide_ring){ events, events + room };
}

/* What the rates of an unknown host are made of; sums over hosts. */
struct tide_sums { double events, exposure, logs, voices; };

/* The sums where no host is known; and the hosts of a model, added. */
struct tide_sums tide_sums_first(void);
void tide_model_sum(const struct tide_model *m, struct tide_sums *add);
/* Set base and usual. */
void tide_model_set_rates(struct tide_model *m, const struct tide_sums *s);

void tide_model_init(struct tide_model *m, const struct tree *tree,
                     const struct tide_params *par);
void tide_model_release(struct tide_model *m);
/* What it learnt, written, or read into one that is fresh. */
void tide_model_freeze(struct tide_model *m, struct frozen *f);
/* A new cycle, so many units of time after the last: a new slot, discount. */
void tide_model_begin(struct tide_model *m, uint32_t cycle, double width);
/* Make the levels of a directory's path; the deepest that is known, or -1.  Only that one
 * can be asked for survival. */
int tide_model_refresh(struct tide_model *m, uint32_t dir);
/* Make one level of a path, the one above (-1: none) being made; and what is asked for
 * survival in it. */
int tide_level_refresh(struct tide_model *m, uint32_t node, int above);
void tide_level_survive(struct tide_model *m, int level);
/* From 0 to 1: is the host of a directory known to rest at times? */
float tide_model_rests(const struct tide_model *m, uint32_t dir);
/* The rate at which the pages of a directory will change, by a level (or -1). */
float tide_model_rate(const struct tide_model *m, uint32_t dir, int level);
/* Expected log-survival since `last`, at most 0, by a level (or -1): of a copy, and of
 * what a visit would be told (the same, unless only the current cycle counts). */
float tide_model_survival_of_copy(const struct tide_model *m, int level, uint32_t last);
float tide_model_survival(const struct tide_model *m, int level, uint32_t last);
/* PAGE_NONE: it is a host's. */
uint32_t tide_parent_node(const struct tide_model *m, uint32_t node);
/* tide_slots.c: a new slot for the next cycle, so many units of time long. */
void tide_slot_add(struct tide_model *m, double width);
/* The first slot that is not wholly in or before a cycle; *ret_part: the part of it that
 * comes after. */
uint32_t tide_slot_after(const struct tide_model *m, uint32_t cycle, float *ret_part);
/* tide_learn.c: a visit to a page of this directory will be learnt soon: its memory is
 * fetched into the cache. */
void tide_model_soon(const struct tide_model *m, uint32_t dir);
/* A visit told what happened since `last`. */
void tide_model_learn(struct tide_model *m, uint32_t dir, uint32_t last, bool hit);

#endif
