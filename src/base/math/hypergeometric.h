/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hypergeometric.h - how many of n things have a mark, from a sample of them
 * drawn without replacement.
 *
 * The interval is exact (Clopper and Pearson's construction on the hypergeometric
 * distribution): it holds the truth at least as often as it says, whatever the
 * truth is, and shrinks to a point when the sample becomes the whole.  It stays
 * valid when the drawing stops at the first size of at least l at which there are k
 * marks, or at a largest size.  Why: let K be the truth and u(m) the largest number
 * of marks among m that is too small for it (chance 2.5 % or less), which rises with
 * m.  The bounds fail above only by stopping with u(m) marks or fewer; at sizes with
 * u(m) < k that cannot be but at the largest, and at the first size where u(m) >= k
 * every run that would fail there or later has u(m) marks or fewer: one tail at one
 * size.  Below, with the smallest number that is too large, o(m), a run fails at the
 * first size it may stop at, or later with exactly k >= o(m) marks, and has then
 * o(m) or more at the last size where k >= o(m): one tail again.
 */
#ifndef BASE_MATH_HYPERGEOMETRIC_H
#define BASE_MATH_HYPERGEOMETRIC_H

#include <stdint.h>

/* P(X <= x): x marks or fewer among m drawn from n of which `marked` have it. */
double hypergeometric_below(uint64_t n, uint64_t marked, uint64_t m, uint64_t x);

/* From x marks among m drawn of n: the two-sided interval at this confidence
 * (0.95), ends included.  m = 0: 0 and n. */
void hypergeometric_interval(uint64_t n, uint64_t m, uint64_t x, double confidence,
                             uint64_t *ret_low, uint64_t *ret_high);

#endif
