/* SPDX-License-Identifier: Apache-2.0 */
/* change_lcs.c - Myers' linear-space difference; see change_lcs.h. */
#include "web/page/change_lcs.h"

#include <string.h>

#include "base/mem.h"

#define NOWHERE (-1L)                   /* no path ends on this diagonal */

struct lcs {
	const uint64_t *a, *b;
	bool *removed, *added;
	/* furthest x reached on each diagonal from the start and from the end */
	long *forward, *backward;
};

struct box {                            /* items a..a_end against b..b_end */
	long a, a_end, b, b_end;
};

/*
 * Furthest x on diagonal k with d differences, before the diagonal is followed:
 * one down from diagonal k + 1 or one right from k - 1, inside the box.
 */
static long furthest(const long *reach, long d, long k, long n, long m)
{
	long down = k + 1 <= d - 1 ? reach[k + 1] : NOWHERE;
	long right = k - 1 >= -(d - 1) && reach[k - 1] >= 0 ? reach[k - 1] + 1 : NOWHERE;

	if (!d)
		return 0;
	if (down - k > m)
		down = NOWHERE;
	if (right > n)
		right = NOWHERE;
	return down > right ? down : right;
}

/* Where a shortest edit script can be cut in two; false: it is too long. */
static bool find_middle(struct lcs *l, const struct box *box, long *ret_x, long *ret_y)
{
	const uint64_t *a = l->a + box->a, *b = l->b + box->b;
	long n = box->a_end - box->a, m = box->b_end - box->b, delta = n - m, x, other;

	for (long d = 0; d <= LCS_COST_MAX; d++) {
		for (long k = -d; k <= d; k += 2) {
			x = furthest(l->forward, d, k, n, m);
			while (x >= 0 && x < n && x - k < m && a[x] == b[x - k])
				x++;
			l->forward[k] = x;
			other = delta - k;
			if (x >= 0 && delta & 1 && other >= -(d - 1) && other <= d - 1 &&
			    l->backward[other] >= 0 && x + l->backward[other] >= n) {
				*ret_x = x;
				*ret_y = x - k;
				return true;
			}
		}
		for (long k = -d; k <= d; k += 2) {
			x = furthest(l->backward, d, k, n, m);
			while (x >= 0 && x < n && x - k < m && a[n - 1 - x] == b[m - 1 - (x - k)])
				x++;
			l->backward[k] = x;
			other = delta - k;
			if (x >= 0 && !(delta & 1) && other >= -d && other <= d &&
			    l->forward[other] >= 0 && x + l->forward[other] >= n) {
				*ret_x = n - x;
				*ret_y = m - (x - k);
				return true;
			}
		}
	}
	return false;
}

static void mark(struct lcs *l, struct box box)
{
	long x, y;

	while (box.a < box.a_end && box.b < box.b_end && l->a[box.a] == l->b[box.b])
		box.a++, box.b++;
	while (box.a < box.a_end && box.b < box.b_end &&
	       l->a[box.a_end - 1] == l->b[box.b_end - 1])
		box.a_end--, box.b_end--;
	if (box.a < box.a_end && box.b < box.b_end && find_middle(l, &box, &x, &y)) {
		mark(l, (struct box){ box.a, box.a + x, box.b, box.b + y });
		mark(l, (struct box){ box.a + x, box.a_end, box.b + y, box.b_end });
		return;
	}
	if (box.a < box.a_end)
		memset(l->removed + box.a, true, (size_t)(box.a_end - box.a));
	if (box.b < box.b_end)
		memset(l->added + box.b, true, (size_t)(box.b_end - box.b));
}

void lcs_mark(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
              bool *ret_removed, bool *ret_added)
{
	size_t size = 2 * LCS_COST_MAX + 3;
	long *reach = mem_array(2 * size, sizeof *reach);
	struct lcs l = { a, b, ret_removed, ret_added, reach + LCS_COST_MAX + 1,
	                 reach + size + LCS_COST_MAX + 1 };

	mark(&l, (struct box){ 0, (long)n_a, 0, (long)n_b });
	free(reach);
}
