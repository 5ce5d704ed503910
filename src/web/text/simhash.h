/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simhash.h - a 64-bit fingerprint that changes little when a text does.
 *
 * Charikar's simhash: bit i of the result is the majority of bit i over the
 * hashes of all features, each occurrence counting once.  Two texts that share
 * most features differ in few bits (Manku et al. call 3 a near-duplicate).
 *
 * The 64 counters are kept bit-sliced: plane k holds bit k of every counter, so
 * adding eight hashes is seven carry-save adders on whole words instead of 512
 * additions; and there are four sets of counters side by side, which vector
 * instructions add to at once.
 */
#ifndef WEB_TEXT_SIMHASH_H
#define WEB_TEXT_SIMHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIMHASH_PLANES 40               /* counts to 2^40 */
#define SIMHASH_LANES 4                 /* sets of counters, added up at the end */

struct simhash {                        /* zeroed: empty */
	uint64_t plane[SIMHASH_PLANES][SIMHASH_LANES];
	uint64_t n;
};

void simhash_add(struct simhash *s, const uint64_t *hashes, size_t n);

/* The fingerprint; 0 for no features.  Adding may go on afterwards. */
uint64_t simhash_value(const struct simhash *s);

static inline unsigned simhash_distance(uint64_t a, uint64_t b)
{
	return (unsigned)__builtin_popcountll(a ^ b);
}

#endif
