/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - what a policy would ask for next, as a curve: how many pages at which score.
 *
 * A fleet spends one budget on many shards.  Each shard bids with its curve, and budget goes
 * where the scores are highest (engine/market/market.h).
 *
 * Scores are counted in buckets on one grid for all shards: bucket b holds scores from
 * 2^(b/4) up to 2^((b+1)/4), which is 19 % more.  A curve has 64 of them, from that of its
 * best score downwards, a range of 65,536 to 1.  All lower scores, also 0 and less, are in
 * the last one.  The curve does not depend on the order in which scores are added.
 *
 * A place on the grid is called a level: a bucket, and how far in it.  Level 4 log2(s)
 * belongs to score s.  Within a bucket scores are taken to lie evenly.
 */
#ifndef POLICY_DEMAND_H
#define POLICY_DEMAND_H

#include <stdint.h>

#define DEMAND_BUCKETS 64
#define DEMAND_OCTAVE 4         /* buckets */

struct demand {                         /* zeroed: nothing is wanted */
	uint32_t first;                 /* pages wanted at any price */
	int32_t top;                    /* count[i] is of bucket top - i */
	uint32_t count[DEMAND_BUCKETS];
};

/* Add n pages of a score; INFINITY: wanted at any price. */
void demand_add(struct demand *d, double score, uint32_t n);
/* All pages of the curve, without `first`. */
uint64_t demand_total(const struct demand *d);
/* Pages wanted where one costs so much: `first`, and those of this level and above. */
double demand_at(const struct demand *d, double level);
/* Take the n best pages away: they were asked for. */
void demand_spend(struct demand *d, uint32_t n);
/* The lowest level of the last bucket: from here down nothing more is wanted. */
double demand_bottom(const struct demand *d);

/* -INFINITY for 0 and less. */
double demand_level(double score);
double demand_score(double level);

#endif
