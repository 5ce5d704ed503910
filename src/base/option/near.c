/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.c - see near.h.  The distance counts changed, added, left out and exchanged
 * neighbouring letters (optimal string alignment), in O(length squared).
 */
#include "base/option/near.h"

#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t near_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t d[NEAR_LENGTH_MAX + 1][NEAR_LENGTH_MAX + 1];

	if (n_a > NEAR_LENGTH_MAX || n_b > NEAR_LENGTH_MAX)
		return NEAR_LENGTH_MAX;
	for (size_t i = 0; i <= n_a; i++) {
		for (size_t k = 0; k <= n_b; k++) {
			if (!i || !k) {
				d[i][k] = i + k;
				continue;
			}
			d[i][k] = least(d[i - 1][k - 1] + (a[i - 1] != b[k - 1]),
			                least(d[i - 1][k], d[i][k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	}
	return d[n_a][n_b];
}

struct near near_begin(const char *wanted, size_t size)
{
	/* in a short word fewer letters may be wrong */
	return (struct near){ .wanted = wanted, .size = size,
	                      .distance = least(NEAR_DISTANCE, size / 2) + 1 };
}

void near_try(struct near *n, const char *name)
{
	size_t distance = near_distance(n->wanted, n->size, name, strlen(name));

	/* an abbreviation (the beginning of a name) is near */
	if (n->size >= 3 && !strncmp(n->wanted, name, n->size) && distance > 1)
		distance = 1;
	if (distance < n->distance) {
		n->distance = distance;
		n->best = name;
	}
}
