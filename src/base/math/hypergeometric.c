/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hypergeometric.c - see hypergeometric.h.
 *
 * The tail is summed from its largest term outwards by the ratio of neighbours,
 * until terms no longer count: O(standard deviations), some hundreds of terms at
 * most for any n.  The ends of the interval are found by bisection.
 */
#include "base/math/hypergeometric.h"

#include <math.h>

#define NEGLIGIBLE 1e-18

static double log_choose(double n, double k)
{
	int sign;

	return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* Sum of P(X = i) for i = x, x-1 ... least (step -1), or x, x+1 ... most (+1). */
static double sum_from(double n, double marked, double m, double x, double end, int step)
{
	double term = exp(log_choose(marked, x) + log_choose(n - marked, m - x) -
	                  log_choose(n, m));
	double sum = term;

	while (x != end && term > sum * NEGLIGIBLE) {
		if (step < 0)
			term *= x * (n - marked - m + x) / ((marked - x + 1) * (m - x + 1));
		else
			term *= (marked - x) * (m - x) / ((x + 1) * (n - marked - m + x + 1));
		sum += term;
		x += step;
	}
	return sum > 1 ? 1 : sum;
}

double hypergeometric_below(uint64_t n, uint64_t marked, uint64_t m, uint64_t x)
{
	double N = (double)n, K = (double)marked, M = (double)m, X = (double)x;
	double least = fmax(0, M + K - N), most = fmin(M, K);

	if (X < least)
		return 0;
	if (X >= most)
		return 1;
	/* sum the smaller tail: it has the smaller error */
	if (X > M * K / N)
		return 1 - sum_from(N, K, M, X + 1, most, 1);
	return sum_from(N, K, M, X, least, -1);
}

void hypergeometric_interval(uint64_t n, uint64_t m, uint64_t x, double confidence,
                             uint64_t *ret_low, uint64_t *ret_high)
{
	double tail = (1 - confidence) / 2;
	uint64_t low = x, high = n - (m - x), end;

	/* the largest number with which x marks or fewer are not too unlikely */
	for (end = low; end < high; ) {
		uint64_t mid = end + (high - end + 1) / 2;

		if (hypergeometric_below(n, mid, m, x) > tail)
			end = mid;
		else
			high = mid - 1;
	}
	*ret_high = end;
	/* the smallest number with which x marks or more are not too unlikely */
	high = n - (m - x);
	while (x > 0 && low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (1 - hypergeometric_below(n, mid, m, x - 1) > tail)
			high = mid;
		else
			low = mid + 1;
	}
	*ret_low = low;
}
