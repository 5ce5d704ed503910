/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_lcs.h - which items of two sequences do not belong to their longest
 * common subsequence.
 *
 * Myers, "An O(ND) difference algorithm and its variations" (1986), the variation
 * in linear space: find the middle of a shortest edit script from both ends, then
 * the two halves.  Time (n + m) * LCS_COST_MAX at most: where two stretches have
 * more differences than that, all of both counts as different.
 */
#ifndef WEB_PAGE_CHANGE_LCS_H
#define WEB_PAGE_CHANGE_LCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LCS_COST_MAX 1024               /* differences searched for from each end */

/* Items are given by their hashes.  The flags must be false before. */
void lcs_mark(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
              bool *ret_removed, bool *ret_added);

#endif
