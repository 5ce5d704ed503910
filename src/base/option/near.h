/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.h - find the name that the user probably meant.
 *
 *     struct near n = near_begin("polcy");
 *     for each name: near_try(&n, name);
 *     n.best                              // "policy", or NULL
 */
#ifndef BASE_OPTION_NEAR_H
#define BASE_OPTION_NEAR_H

#include <stddef.h>

#define NEAR_LENGTH_MAX 40      /* longer names are not compared */
#define NEAR_DISTANCE 2         /* letters replaced, inserted, deleted, or two swapped */

struct near {
	const char *wanted;
	size_t size;
	const char *best;       /* as given to near_try() */
	size_t distance;
};

struct near near_begin(const char *wanted, size_t size);
void near_try(struct near *n, const char *name);
/* The number of single changes that make b from a. */
size_t near_distance(const char *a, size_t n_a, const char *b, size_t n_b);

#endif
