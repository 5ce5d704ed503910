/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - what a policy would ask for next, as a curve: how many pages at which score.
 *
 * A fleet spends one budget on many shards.  Each shard bids with its curve, and budget goes
 * where the scores are highest (engine/market/market.h).
 *
 * Scores are counted in buckets on one grid for all shards: each octave, from 2^k up to
 * 2^(k+1), is divided into 64 equal parts, which are 0.8 to 1.6 % of a score.  The chances of
 * the best pages of several shards often differ by no more than some per cent: a coarse grid
 * cannot tell which is the best.  A curve has 1024 buckets, from that of its best score
 * downwards, a range of 65,536 to 1.  All lower scores, also 0 and less, are in the last one.
 * The curve does not depend on the order in which scores are added.
 *
 * A place on the grid is called a level: a bucket, and how far in it.  Within a bucket scores
 * are taken to lie evenly.
 *
 * An owner of pages may have a ceiling (engine/cycle/ceiling.h): of its pages no more than that
 * has room for are in the curve, the best ones.  With all of them a shard of few owners would look
 * richer than it is, and others would wait for pages that it never asks for.
 *
 * Others are told a packed curve, of 64 buckets: single ones next to the best score, where a
 * price is made first, and wider ones below.
 */
#ifndef POLICY_DEMAND_H
#define POLICY_DEMAND_H

#include <stdint.h>

#include "base/mem.h"
#include "policy/shared.h"

#define DEMAND_BUCKETS 1024
#define DEMAND_OCTAVE 64        /* buckets */
#define DEMAND_PACKED 64

/* What owners have room for; the caller's while a curve is made. */
struct demand_limits {
	const uint32_t *owner;          /* by site */
	uint32_t *room;                 /* by owner; UINT32_MAX: for all its pages */
	VEC(struct demand_page { double score; uint32_t owner; }) pages;        /* of the others */
};

struct demand {                         /* zeroed: nothing is wanted */
	uint32_t first;                 /* pages wanted at any price */
	int32_t top;                    /* count[i] is of bucket top - i */
	uint32_t count[DEMAND_BUCKETS];
	struct shared shared;           /* what the policy says to other shards */
	struct demand_limits *limits;   /* while it is made; NULL: none */
};

/* Add n pages of a score; INFINITY: wanted at any price. */
void demand_add(struct demand *d, double score, uint32_t n);
/* Add a page of a site; one whose owner has not room for all counts in demand_limit(). */
void demand_page(struct demand *d, uint32_t site, double score);
/* Of these pages the best count.  The curve is made: it has no limits any more. */
void demand_limit(struct demand *d);
/* All pages of the curve, without `first`. */
uint64_t demand_total(const struct demand *d);
/* Pages wanted where one costs so much: `first`, and those of this level and above. */
double demand_at(const struct demand *d, double level);
/* Take the n best pages away: they were asked for. */
void demand_spend(struct demand *d, uint32_t n);
/* The lowest level of the last bucket: from here down nothing more is wanted. */
double demand_bottom(const struct demand *d);

/* The packed counts; and back: first and top are kept, pages of a wide bucket lie evenly. */
void demand_pack(const struct demand *d, uint32_t ret[DEMAND_PACKED]);
void demand_unpack(struct demand *d, const uint32_t packed[DEMAND_PACKED]);

/* -INFINITY for 0 and less. */
double demand_level(double score);
double demand_score(double level);

#endif
