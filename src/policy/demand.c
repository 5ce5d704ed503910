/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c - demand curves; see demand.h. */
#include "policy/demand.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LAST (DEMAND_BUCKETS - 1)
#define LOWEST (DEMAND_OCTAVE * (FLT_MIN_EXP - FLT_MANT_DIG))   /* below every float */

static uint32_t sum_of(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static int32_t bucket_of(double score)
{
	double level = demand_level(score);

	return level > LOWEST ? (int32_t)floor(level) : LOWEST;
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

void demand_page(struct demand *d, uint32_t site, double score)
{
	struct demand_limits *l = d->limits;

	if (l && l->room[l->owner[site]] != UINT32_MAX)
		vec_push(&l->pages, ((struct demand_page){ score, l->owner[site] }));
	else
		demand_add(d, score, 1);
}

/* By owner; of each the best first. */
static int compare_pages(const void *a, const void *b)
{
	const struct demand_page *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->score > y->score ? -1 : x->score < y->score;
}

void demand_limit(struct demand *d)
{
	struct demand_limits *l = d->limits;

	d->limits = NULL;
	if (!l || !l->pages.n)
		return;
	qsort(l->pages.v, l->pages.n, sizeof *l->pages.v, compare_pages);
	for (size_t i = 0, n = 0; i < l->pages.n; i++) {
		const struct demand_page *p = &l->pages.v[i];

		n = i && p->owner == p[-1].owner ? n + 1 : 0;
		if (n < l->room[p->owner])
			demand_add(d, p->score, 1);
	}
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

/* ---- packed ---- */

/* Widths of packed buckets: so many of this one, then of the next.  The last bucket of all has
 * the rest. */
static const struct { int n, width; } widths[] = { { 28, 1 }, { 16, 4 }, { 10, 16 }, { 9, 64 } };

typedef void each_packed(struct demand *d, int from, int width, uint32_t *packed);

static void walk(struct demand *d, uint32_t *packed, each_packed *each)
{
	int from = 0;

	for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
		for (int i = 0; i < widths[k].n; i++, from += widths[k].width)
			each(d, from, widths[k].width, packed++);
	each(d, from, DEMAND_BUCKETS - from, packed);
}

static void gather(struct demand *d, int from, int width, uint32_t *packed)
{
	*packed = 0;
	for (int i = from; i < from + width; i++)
		*packed = sum_of(*packed, d->count[i]);
}

static void spread(struct demand *d, int from, int width, uint32_t *packed)
{
	uint64_t n = *packed;

	for (int i = 0; i < width; i++)
		d->count[from + i] = (uint32_t)(n * (unsigned)(i + 1) / (unsigned)width -
		                                n * (unsigned)i / (unsigned)width);
	if (from + width < DEMAND_BUCKETS)
		return;
	/* what is that low is not told apart */
	memset(d->count + from, 0, (size_t)width * sizeof *d->count);
	d->count[LAST] = *packed;
}

void demand_pack(const struct demand *d, uint32_t ret[DEMAND_PACKED])
{
	struct demand copy = *d;

	walk(&copy, ret, gather);
}

void demand_unpack(struct demand *d, const uint32_t packed[DEMAND_PACKED])
{
	uint32_t copy[DEMAND_PACKED];

	memcpy(copy, packed, sizeof copy);
	walk(d, copy, spread);
}

/* ---- levels ---- */

double demand_level(double score)
{
	int exponent;
	double part;

	if (!(score > 0))
		return -(double)INFINITY;
	part = frexp(score, &exponent);         /* 0.5 <= part < 1 */
	return DEMAND_OCTAVE * (exponent - 2 + 2 * part);
}

double demand_score(double level)
{
	double octave = floor(level / DEMAND_OCTAVE);

	if (isinf(level))
		return level > 0 ? level : 0;
	return ldexp(1 + level / DEMAND_OCTAVE - octave, (int)octave);
}
