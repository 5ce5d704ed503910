/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - dense and sparse rows, TF-IDF, scaling; see rows.h.
 *
 * Cost: every function is one or two passes over the numbers; percentiles are
 * found by quickselect on a copy of the column, O(n) each.
 */
#include "cluster/rows.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"

void rows_init_dense(struct rows *r, uint32_t n, uint32_t dim)
{
	uint32_t stride = (dim + ROWS_LANES - 1) / ROWS_LANES * ROWS_LANES;

	assert(dim > 0);
	*r = (struct rows){ .n = n, .dim = dim, .stride = stride };
	r->dense_size = (size_t)n * stride * sizeof(float);
	r->dense = mem_big(r->dense_size);      /* is zero */
}

void rows_init_sparse(struct rows *r, uint32_t dim)
{
	*r = (struct rows){ .dim = dim };
	mem_grow((void **)&r->start, &r->start_cap, 1, sizeof *r->start);
	r->start[0] = 0;
}

void rows_release(struct rows *r)
{
	if (r->dense)
		mem_big_free(r->dense, r->dense_size);
	free(r->start);
	free(r->term);
	free(r->weight);
	*r = (struct rows){ 0 };
}

void rows_add(struct rows *r, uint32_t term, float weight)
{
	if (term >= r->dim || !isfinite(weight) || weight == 0)
		return;
	if (r->open == r->term_cap)
		mem_grow((void **)&r->term, &r->term_cap, r->open + 1, sizeof *r->term);
	if (r->open == r->weight_cap)
		mem_grow((void **)&r->weight, &r->weight_cap, r->open + 1,
		         sizeof *r->weight);
	r->term[r->open] = term;
	r->weight[r->open++] = weight;
}

/* Heapsort of pairs by term: no memory, and no bad case for hostile rows. */
static void sift(uint32_t *term, float *weight, size_t i, size_t n)
{
	uint32_t t = term[i];
	float w = weight[i];

	for (size_t c; (c = 2 * i + 1) < n; i = c) {
		if (c + 1 < n && term[c + 1] > term[c])
			c++;
		if (term[c] <= t)
			break;
		term[i] = term[c];
		weight[i] = weight[c];
	}
	term[i] = t;
	weight[i] = w;
}

static void sort_pairs(uint32_t *term, float *weight, size_t n)
{
	size_t i = 1;

	while (i < n && term[i - 1] < term[i])
		i++;
	if (i >= n)
		return;                 /* the usual case: sorted already */
	for (i = n / 2; i-- > 0;)
		sift(term, weight, i, n);
	for (i = n - 1; i > 0; i--) {
		uint32_t t = term[i];
		float w = weight[i];

		term[i] = term[0];
		weight[i] = weight[0];
		term[0] = t;
		weight[0] = w;
		sift(term, weight, 0, i);
	}
}

void rows_close(struct rows *r)
{
	uint64_t begin = r->start[r->n], out = begin;

	sort_pairs(r->term + begin, r->weight + begin, r->open - begin);
	for (uint64_t i = begin; i < r->open; i++) {
		if (out > begin && r->term[out - 1] == r->term[i]) {
			r->weight[out - 1] += r->weight[i];
		} else {
			r->term[out] = r->term[i];
			r->weight[out++] = r->weight[i];
		}
	}
	r->open = out;
	r->n++;
	mem_grow((void **)&r->start, &r->start_cap, (size_t)r->n + 1, sizeof *r->start);
	r->start[r->n] = out;
}

void rows_tfidf(struct rows *r)
{
	uint32_t *df = mem_zalloc(r->dim, sizeof *df);
	float *idf = mem_array(r->dim, sizeof *idf);

	assert(!rows_is_dense(r));
	for (uint64_t i = 0; i < r->open; i++)
		df[r->term[i]]++;
	for (uint32_t t = 0; t < r->dim; t++)
		idf[t] = df[t] ? (float)log1p((double)r->n / df[t]) : 0;
	for (uint64_t i = 0; i < r->open; i++)
		r->weight[i] *= idf[r->term[i]];
	free(df);
	free(idf);
}

static void unit(float *x, uint64_t n)
{
	double sum = 0, largest = 0;
	float scale;

	for (uint64_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			x[i] = 0;
		largest = fmax(largest, fabs((double)x[i]));
	}
	if (largest == 0)
		return;
	for (uint64_t i = 0; i < n; i++)        /* safe from over- and underflow */
		sum += ((double)x[i] / largest) * ((double)x[i] / largest);
	if (largest > 1e-30 && largest < 1e30) {
		scale = (float)(1 / (largest * sqrt(sum)));
		for (uint64_t i = 0; i < n; i++)
			x[i] *= scale;
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		x[i] = (float)((double)x[i] / largest / sqrt(sum));
}

void rows_unit(struct rows *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (rows_is_dense(r))
			unit(rows_dense(r, i), r->dim);
		else
			unit(r->weight + r->start[i], r->start[i + 1] - r->start[i]);
	}
}

static void add_block(struct rows *out, const struct rows *r, uint32_t i, uint32_t shift)
{
	uint64_t begin = out->open;

	for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
		rows_add(out, r->term[j] + shift, r->weight[j]);
	unit(out->weight + begin, out->open - begin);
}

void rows_join(struct rows *ret, const struct rows *a, const struct rows *b)
{
	assert(!rows_is_dense(a) && !rows_is_dense(b) && a->n == b->n);
	assert(a->dim <= UINT32_MAX - b->dim);
	rows_init_sparse(ret, a->dim + b->dim);
	for (uint32_t i = 0; i < a->n; i++) {
		add_block(ret, a, i, 0);
		add_block(ret, b, i, a->dim);
		rows_close(ret);
	}
	rows_unit(ret);
}

void rows_add_to(const struct rows *r, uint32_t i, double scale, double *out)
{
	if (rows_is_dense(r)) {
		const float *x = rows_dense(r, i);

		for (uint32_t j = 0; j < r->dim; j++)
			out[j] += scale * (double)x[j];
		return;
	}
	for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
		out[r->term[j]] += scale * (double)r->weight[j];
}

double rows_dot(const struct rows *a, uint32_t i, const struct rows *b, uint32_t j)
{
	double sum = 0;

	if (rows_is_dense(a)) {
		const float *x = rows_dense(a, i), *y = rows_dense(b, j);

		for (uint32_t k = 0; k < a->dim; k++)
			sum += (double)x[k] * (double)y[k];
		return sum;
	}
	for (uint64_t p = a->start[i], q = b->start[j];
	     p < a->start[i + 1] && q < b->start[j + 1];) {
		if (a->term[p] == b->term[q])
			sum += (double)a->weight[p++] * (double)b->weight[q++];
		else if (a->term[p] < b->term[q])
			p++;
		else
			q++;
	}
	return sum;
}

/* The value that index `rank` would have if v were sorted; reorders v. */
static float quickselect(float *v, ptrdiff_t n, ptrdiff_t rank)
{
	ptrdiff_t lo = 0, hi = n - 1;

	while (lo < hi) {
		float pivot = v[lo + (hi - lo) / 2];
		ptrdiff_t i = lo, j = hi;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				float t = v[i];

				v[i++] = v[j];
				v[j--] = t;
			}
		}
		if (rank <= j)
			hi = j;
		else if (rank >= i)
			lo = i;
		else
			break;
	}
	return v[rank];
}

static float clamp01(float x)
{
	return x > 0 ? x < 1 ? x : 1 : 0;       /* NaN becomes 0 */
}

static void scale_column(struct rows *r, uint32_t j, bool count, float *copy)
{
	float low, high;

	for (uint32_t i = 0; i < r->n; i++) {
		float *x = &rows_dense(r, i)[j];

		*x = isfinite(*x) ? *x : 0;
		if (count)
			*x = *x > 0 ? log1pf(*x) : 0;
		copy[i] = *x;
	}
	low = quickselect(copy, r->n, (ptrdiff_t)(0.01 * (r->n - 1)));
	high = quickselect(copy, r->n, (ptrdiff_t)ceil(0.99 * (r->n - 1)));
	for (uint32_t i = 0; i < r->n; i++) {
		float *x = &rows_dense(r, i)[j];

		/* A column that is constant but for its tails says: in the tail or not. */
		*x = high > low ? clamp01((*x - low) / (high - low)) : *x > high ? 1 : 0;
	}
}

void rows_scale(struct rows *r, const enum rows_scale *scale)
{
	float *copy = mem_array(r->n, sizeof *copy);

	assert(rows_is_dense(r));
	for (uint32_t j = 0; j < r->dim && r->n; j++) {
		if (scale[j] == ROWS_COUNT || scale[j] == ROWS_VALUE) {
			scale_column(r, j, scale[j] == ROWS_COUNT, copy);
			continue;
		}
		for (uint32_t i = 0; i < r->n; i++)
			rows_dense(r, i)[j] = clamp01(rows_dense(r, i)[j]);
	}
	free(copy);
}
