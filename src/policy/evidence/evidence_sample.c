/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_sample.c - a sample of the pages of which every beginning is evenly spread over
 * the sorted URLs.
 *
 * Cost.  A sort of the URLs, none if the pages are sorted; 16 bytes a page meanwhile.
 */
#include <math.h>

#include "base/math/rng.h"
#include "policy/evidence/evidence.h"

#define GOLDEN 0.61803398874989485

static int by_url(const void *pa, const void *pb, void *pv)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int d = strcmp(view_url(pv, a), view_url(pv, b));

	return d ? d : a < b ? -1 : a > b;
}

/* A page's part in the sample: one over the root of the pages in directories like its
 * own, so that small places are seen early and a huge one, or one in many versions,
 * does not take all. */
static double sample_weight(const struct view *v, uint32_t page, const uint32_t *alike)
{
	if (!(v->state[page] & PAGE_HERE))
		return 0;
	return alike ? 1 / sqrt(alike[v->family[FAMILY_SHAPE][page]]) : 1;
}

/* Pages of each shape of directories; NULL: URLs are hidden. */
static uint32_t *count_alike(const struct view *v)
{
	const uint32_t *shape = v->family[FAMILY_SHAPE];
	uint32_t *ret = shape ? mem_zalloc(v->n_family[FAMILY_SHAPE], sizeof *ret) : NULL;

	for (uint32_t i = 0; shape && i < v->n_pages; i++)
		ret[shape[i]]++;
	return ret;
}

/* The first page from i on that is not taken, around the end. */
static uint32_t next_free(uint32_t *next, uint32_t i, uint32_t n)
{
	for (; next[i] != i; i = next[i])
		next[i] = next[next[i]];
	return i < n ? i : next_free(next, 0, n);
}

/* The first i whose sum is above the point. */
static uint32_t find_point(const double *sum, uint32_t n, double point)
{
	uint32_t from = 0, to = n - 1;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (sum[mid] <= point)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static bool is_sorted(const struct view *v)
{
	uint32_t i = 1;

	while (i < v->n_pages && strcmp(view_url(v, i - 1), view_url(v, i)) <= 0)
		i++;
	return i >= v->n_pages;
}

/* Pages by URL; hidden URLs by chance. */
static uint32_t *sort_pages(const struct view *v, bool urls)
{
	uint32_t *order = mem_array(v->n_pages, sizeof *order);
	struct rng r;

	for (uint32_t i = 0; i < v->n_pages; i++)
		order[i] = i;
	rng_init(&r, rng_draw(v->seed, 0, 1, RNG_SAMPLE));
	if (urls && !is_sorted(v))
		qsort_r(order, v->n_pages, sizeof *order, by_url, (void *)(uintptr_t)v);
	else if (!urls)
		rng_shuffle(&r, order, v->n_pages);
	return order;
}

/* Pages at the points frac(u + k g) of the weights summed along the sorted URLs, g the
 * golden ratio: every beginning of the sample, not only the whole, lies evenly. */
void evidence_draw_sample(struct evidence_world *w, const struct view *v, bool urls,
                          double share)
{
	uint32_t n = v->n_pages, here = 0, z, *sorted = sort_pages(v, urls);
	double *sum = mem_array(n, sizeof *sum), all = 0, at;
	uint32_t *next = mem_array((size_t)n + 1, sizeof *next), *alike = count_alike(v);
	struct rng r;

	for (uint32_t i = 0; i < n; i++) {
		double weight = sample_weight(v, sorted[i], alike);

		sum[i] = all += weight;
		next[i] = weight > 0 ? i : i + 1;
		here += weight > 0;
	}
	next[n] = n;
	z = (uint32_t)fmin(here, fmax(100, share * n));
	w->sample = mem_array(z, sizeof *w->sample);
	rng_init(&r, rng_draw(v->seed, 0, 0, RNG_SAMPLE));
	at = rng_next_unit(&r);
	while (w->n_sample < z) {
		uint32_t i = next_free(next, find_point(sum, n, (at - floor(at)) * all), n);

		w->sample[w->n_sample++] = sorted[i];
		next[i] = i + 1;
		at += GOLDEN;
	}
	free(sum);
	free(next);
	free(alike);
	free(sorted);
}
