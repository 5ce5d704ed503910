/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hypergeometric.h - how many of n things have a mark, from a sample of them
 * drawn without replacement.
 *
 * The interval is exact (Clopper and Pearson's construction on the hypergeometric
 * distribution): it holds the truth at least as often as it says, whatever the
 * truth is, and shrinks to a point when the sample becomes the whole.  It stays
 * valid when the drawing stops at the k-th mark or at a fixed size, whichever
 * comes first: the outcomes are then still ordered by what they say of the truth,
 * and P(at most x marks among m) bounds the chance of any outcome that says less.
 */
#ifndef BASE_HYPERGEOMETRIC_H
#define BASE_HYPERGEOMETRIC_H

#include <stdint.h>

/* P(X <= x): x marks or fewer among m drawn from n of which `marked` have it. */
double hypergeometric_below(uint64_t n, uint64_t marked, uint64_t m, uint64_t x);

/* From x marks among m drawn of n: the two-sided interval at this confidence
 * (0.95), ends included.  m = 0: 0 and n. */
void hypergeometric_interval(uint64_t n, uint64_t m, uint64_t x, double confidence,
                             uint64_t *ret_low, uint64_t *ret_high);

#endif
