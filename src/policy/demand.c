/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c - demand curves; see demand.h. */
#include "policy/demand.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LAST (DEMAND_BUCKETS - 1)
#define LOWEST (DEMAND_OCTAVE * (FLT_MIN_EXP - FLT_MANT_DIG))   /* below every float */

static uint32_t sum_of(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* floor(4 log2(score)); a table of three roots instead of a logarithm. */
static int32_t bucket_of(double score)
{
	static const double root[] = { 0x1.306fe0a31b715p-1, 0x1.6a09e667f3bcdp-1,
	                               0x1.ae89f995ad3adp-1 };
	int exponent;
	double part;

	if (!(score > 0))
		return LOWEST;
	part = frexp(score, &exponent);         /* 0.5 <= part < 1 */
	exponent = (exponent - 1) * DEMAND_OCTAVE;
	for (int i = 0; i < 3; i++)
		exponent += part >= root[i];
	return exponent > LOWEST ? exponent : LOWEST;
}

/* A better score came: the buckets move down, and what falls out is added to the last. */
static void raise_top(struct demand *d, int32_t top)
{
	uint32_t by = (uint32_t)(top - d->top), last = 0;

	if (by > LAST)
		by = LAST;
	for (uint32_t i = LAST - by; i <= LAST; i++)
		last = sum_of(last, d->count[i]);
	memmove(d->count + by, d->count, (DEMAND_BUCKETS - by) * sizeof *d->count);
	memset(d->count, 0, by * sizeof *d->count);
	d->count[LAST] = last;
	d->top = top;
}

static bool is_empty(const struct demand *d)
{
	for (int i = 0; i < DEMAND_BUCKETS; i++)
		if (d->count[i])
			return false;
	return true;
}

void demand_add(struct demand *d, double score, uint32_t n)
{
	int32_t bucket, at;

	if (!n)
		return;
	if (isinf(score) && score > 0) {
		d->first = sum_of(d->first, n);
		return;
	}
	bucket = bucket_of(score);
	if (bucket > d->top)
		raise_top(d, bucket);
	else if (!d->count[0] && is_empty(d))
		d->top = bucket;
	at = d->top - bucket;
	at = at < LAST ? at : LAST;
	d->count[at] = sum_of(d->count[at], n);
}

uint64_t demand_total(const struct demand *d)
{
	uint64_t sum = 0;

	for (int i = 0; i < DEMAND_BUCKETS; i++)
		sum += d->count[i];
	return sum;
}

double demand_at(const struct demand *d, double level)
{
	double sum = d->first;

	for (int i = 0; i < DEMAND_BUCKETS; i++) {
		double from = d->top - i, part = fmin(from + 1 - level, 1);

		if (part <= 0)
			break;
		sum += part * d->count[i];
	}
	return sum;
}

void demand_spend(struct demand *d, uint32_t n)
{
	uint32_t k = n < d->first ? n : d->first;

	d->first -= k;
	n -= k;
	for (int i = 0; i < DEMAND_BUCKETS && n; i++) {
		k = n < d->count[i] ? n : d->count[i];
		d->count[i] -= k;
		n -= k;
	}
}

double demand_bottom(const struct demand *d)
{
	return d->top - LAST;
}

double demand_level(double score)
{
	return score > 0 ? DEMAND_OCTAVE * log2(score) : -(double)INFINITY;
}

double demand_score(double level)
{
	return exp2(level / DEMAND_OCTAVE);
}
