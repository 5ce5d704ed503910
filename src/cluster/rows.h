/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - what is clustered: n rows of numbers, dense or sparse.
 *
 * Dense rows hold `dim` floats each, padded with zeros to a whole number of
 * vector registers.  Sparse rows are (term, weight) pairs, terms rising within
 * a row.  Everything behind this header expects unit rows (or empty ones, all
 * zero: a page without words), which rows_unit() makes; a number that is not
 * finite becomes 0 on the way in, so nothing downstream can meet a NaN.
 */
#ifndef CLUSTER_ROWS_H
#define CLUSTER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_LANES 8            /* floats in a vector register */

struct rows {                   /* zeroed, it is empty */
	uint32_t n, dim;
	uint32_t stride;        /* dense: dim rounded up; 0 says sparse */
	float *dense;           /* n * stride */
	size_t dense_size;      /* bytes, for mem_big_free() */
	uint64_t *start;        /* sparse: n + 1 offsets into term and weight */
	uint32_t *term;
	float *weight;
	size_t start_cap, term_cap, weight_cap;
	uint64_t open;          /* pairs added, those of the open row included */
};

void rows_init_dense(struct rows *r, uint32_t n, uint32_t dim);         /* zeros */
void rows_init_sparse(struct rows *r, uint32_t dim);
void rows_release(struct rows *r);

static inline bool rows_is_dense(const struct rows *r)
{
	return r->stride != 0;
}

static inline float *rows_dense(const struct rows *r, uint32_t i)
{
	return r->dense + (size_t)i * r->stride;
}

/* Non-zero numbers in row i, at most. */
static inline uint64_t rows_size(const struct rows *r, uint32_t i)
{
	return r->stride ? r->dim : r->start[i + 1] - r->start[i];
}

/* Sparse: add pairs to the open row in any order (a term given twice counts
 * twice; terms outside dim are left out), then close it. */
void rows_add(struct rows *r, uint32_t term, float weight);
void rows_close(struct rows *r);

/* Counts become count * ln(1 + n / df), df the rows that hold the term.  The
 * 1 + keeps words that every page has from vanishing, so a repository of equal
 * pages still has rows. */
void rows_tfidf(struct rows *r);
/* Each row to length 1; empty rows stay empty. */
void rows_unit(struct rows *r);
/* Both sparse, row by row side by side, each block of length 1, the whole of
 * length 1: terms of b follow those of a. */
void rows_join(struct rows *ret, const struct rows *a, const struct rows *b);

/* Row i as a dense vector of dim doubles, times scale, added to out. */
void rows_add_to(const struct rows *r, uint32_t i, double scale, double *out);
double rows_dot(const struct rows *a, uint32_t i, const struct rows *b, uint32_t j);

/* How a dense column is brought to [0, 1] before rows_unit(). */
enum rows_scale {
	ROWS_SHARE,             /* is in [0, 1] already: flags, cosines; clamped */
	ROWS_COUNT,             /* counts, sizes: ln(1 + x), then as ROWS_VALUE */
	ROWS_VALUE,             /* from its 1st to its 99th percentile, clamped */
};

void rows_scale(struct rows *r, const enum rows_scale *scale);     /* dim of them */

#endif
