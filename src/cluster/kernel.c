/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - the inner loops of clustering; see kernel.h.
 *
 * Bodies are written once, with the compiler's vector types, and compiled
 * twice: for the baseline processor and for AVX2, chosen at run time.  Only the
 * gathers of sparse rows need an instruction that has no portable spelling.
 *
 * Dense: four rows at a time against one vector, which stays in registers or
 * L1; a row of 48 floats is 6 loads and 6 multiply-adds.  Sparse: 8 gathers at a
 * time from a table of `dim` floats, 4 KB for 1,000 terms; rows ahead are
 * prefetched, for the members of a cluster are scattered over memory.
 */
#include "cluster/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#endif

#define INLINE static inline __attribute__((always_inline))
#define AHEAD 4                 /* rows prefetched */

typedef float vec __attribute__((vector_size(4 * ROWS_LANES), aligned(4), may_alias));
typedef double vec4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float half __attribute__((vector_size(16), aligned(4), may_alias));

/* The lanes in a fixed order: pairs, then pairs of pairs. */
INLINE float lanes_sum(const float *s)
{
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

INLINE void prefetch_dense(const struct rows *r, uint32_t i)
{
	const char *at = (const char *)rows_dense(r, i);

	for (uint32_t b = 0; b < r->stride * 4; b += 64)
		__builtin_prefetch(at + b);
}

/* Four rows at a time, in named variables: at -O2 arrays would live in memory. */
INLINE void dense_dots(const struct rows *r, const uint32_t *id, uint32_t n,
                       const float *v, float *out)
{
	uint32_t stride = r->stride, i = 0;

	for (; i + 4 <= n; i += 4) {
		const float *a = rows_dense(r, id[i]), *b = rows_dense(r, id[i + 1]);
		const float *c = rows_dense(r, id[i + 2]), *d = rows_dense(r, id[i + 3]);
		vec sa = { 0 }, sb = { 0 }, sc = { 0 }, sd = { 0 };

		for (uint32_t k = i + AHEAD; k < i + 4 + AHEAD && k < n; k++)
			prefetch_dense(r, id[k]);
		for (uint32_t j = 0; j < stride; j += ROWS_LANES) {
			vec y = *(const vec *)(v + j);

			sa += *(const vec *)(a + j) * y;
			sb += *(const vec *)(b + j) * y;
			sc += *(const vec *)(c + j) * y;
			sd += *(const vec *)(d + j) * y;
		}
		out[i] = lanes_sum((const float *)&sa);
		out[i + 1] = lanes_sum((const float *)&sb);
		out[i + 2] = lanes_sum((const float *)&sc);
		out[i + 3] = lanes_sum((const float *)&sd);
	}
	for (; i < n; i++) {
		const float *x = rows_dense(r, id[i]);
		vec sum = { 0 };

		for (uint32_t j = 0; j < stride; j += ROWS_LANES)
			sum += *(const vec *)(x + j) * *(const vec *)(v + j);
		out[i] = lanes_sum((const float *)&sum);
	}
}

/* The last size % ROWS_LANES pairs, one by one, in every version alike. */
INLINE float sparse_rest(const uint32_t *term, const float *weight, uint64_t size,
                         const float *v)
{
	float sum = 0;

	for (uint64_t j = size / ROWS_LANES * ROWS_LANES; j < size; j++)
		sum += weight[j] * v[term[j]];
	return sum;
}

INLINE void prefetch_sparse(const struct rows *r, uint32_t i)
{
	uint64_t begin = r->start[i], end = r->start[i + 1];

	for (uint64_t j = begin; j < end; j += 16) {
		__builtin_prefetch(r->term + j);
		__builtin_prefetch(r->weight + j);
	}
}

static void sparse_dots(const struct rows *r, const uint32_t *id, uint32_t n,
                        const float *v, float *out)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t begin = r->start[id[i]], size = r->start[id[i] + 1] - begin;
		const uint32_t *term = r->term + begin;
		const float *weight = r->weight + begin;
		float sum[ROWS_LANES] = { 0 };

		if (i + AHEAD < n)
			prefetch_sparse(r, id[i + AHEAD]);
		for (uint64_t j = 0; j + ROWS_LANES <= size; j += ROWS_LANES)
			for (int k = 0; k < ROWS_LANES; k++)
				sum[k] += weight[j + (uint64_t)k] * v[term[j + (uint64_t)k]];
		out[i] = lanes_sum(sum) + sparse_rest(term, weight, size, v);
	}
}

#ifdef HAVE_AVX2
AVX2 static void sparse_dots_avx2(const struct rows *r, const uint32_t *id, uint32_t n,
                                  const float *v, float *out)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t begin = r->start[id[i]], size = r->start[id[i] + 1] - begin;
		const uint32_t *term = r->term + begin;
		const float *weight = r->weight + begin;
		__m256 sum = _mm256_setzero_ps();
		float lanes[ROWS_LANES];

		if (i + AHEAD < n)
			prefetch_sparse(r, id[i + AHEAD]);
		for (uint64_t j = 0; j + ROWS_LANES <= size; j += ROWS_LANES) {
			__m256i at = _mm256_loadu_si256((const __m256i *)(term + j));
			__m256 y = _mm256_i32gather_ps(v, at, 4);

			sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_loadu_ps(weight + j), y));
		}
		_mm256_storeu_ps(lanes, sum);
		out[i] = lanes_sum(lanes) + sparse_rest(term, weight, size, v);
	}
}

AVX2 static void dense_dots_avx2(const struct rows *r, const uint32_t *id, uint32_t n,
                                 const float *v, float *out)
{
	dense_dots(r, id, n, v, out);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}
#endif

static void dense_dots_plain(const struct rows *r, const uint32_t *id, uint32_t n,
                             const float *v, float *out)
{
	dense_dots(r, id, n, v, out);
}

void kernel_dots(const struct rows *r, const uint32_t *id, uint32_t n, const float *v,
                 float *out)
{
#ifdef HAVE_AVX2
	/* gather offsets are signed 32-bit */
	if (has_avx2() && r->dim <= INT32_MAX) {
		if (rows_is_dense(r))
			dense_dots_avx2(r, id, n, v, out);
		else
			sparse_dots_avx2(r, id, n, v, out);
		return;
	}
#endif
	if (rows_is_dense(r))
		dense_dots_plain(r, id, n, v, out);
	else
		sparse_dots(r, id, n, v, out);
}

void kernel_add(const struct rows *r, uint32_t i, double sign, double *sum)
{
	if (rows_is_dense(r)) {
		const float *x = rows_dense(r, i);

		for (uint32_t j = 0; j < r->stride; j += 4)
			*(vec4 *)(sum + j) += sign * __builtin_convertvector(
				*(const half *)(x + j), vec4);
		return;
	}
	for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++)
		sum[r->term[j]] += sign * (double)r->weight[j];
}

INLINE void add_dense(const float *x, uint32_t stride, double *sum)
{
	for (uint32_t j = 0; j < stride; j += 4)
		*(vec4 *)(sum + j) += __builtin_convertvector(*(const half *)(x + j), vec4);
}

INLINE void add_rows(const struct rows *r, const uint32_t *id, uint32_t n,
                     const uint8_t *side, double *const sum[2])
{
	for (uint32_t i = 0; i < n; i++) {
		double *to = sum[side ? side[i] : 0];

		if (!to)
			continue;
		if (rows_is_dense(r)) {
			add_dense(rows_dense(r, id[i]), r->stride, to);
			continue;
		}
		if (i + AHEAD < n && sum[side ? side[i + AHEAD] : 0])
			prefetch_sparse(r, id[i + AHEAD]);
		for (uint64_t j = r->start[id[i]], end = r->start[id[i] + 1]; j < end; j++)
			to[r->term[j]] += (double)r->weight[j];
	}
}

#ifdef HAVE_AVX2
AVX2 static void add_rows_avx2(const struct rows *r, const uint32_t *id, uint32_t n,
                               const uint8_t *side, double *const sum[2])
{
	add_rows(r, id, n, side, sum);
}
#endif

static void add_rows_plain(const struct rows *r, const uint32_t *id, uint32_t n,
                           const uint8_t *side, double *const sum[2])
{
	add_rows(r, id, n, side, sum);
}

void kernel_add_rows(const struct rows *r, const uint32_t *id, uint32_t n,
                     const uint8_t *side, double *const sum[2])
{
#ifdef HAVE_AVX2
	if (has_avx2()) {
		add_rows_avx2(r, id, n, side, sum);
		return;
	}
#endif
	add_rows_plain(r, id, n, side, sum);
}

void kernel_dot_pair(const struct rows *r, uint32_t i, const double *a, const double *b,
                     double ret[3])
{
	double sa = 0, sb = 0, sq = 0;

	if (rows_is_dense(r)) {
		const float *x = rows_dense(r, i);
		vec4 va = { 0 }, vb = { 0 }, vq = { 0 };

		for (uint32_t j = 0; j < r->stride; j += 4) {
			vec4 y = __builtin_convertvector(*(const half *)(x + j), vec4);

			va += y * *(const vec4 *)(a + j);
			vb += y * *(const vec4 *)(b + j);
			vq += y * y;
		}
		ret[0] = (va[0] + va[2]) + (va[1] + va[3]);
		ret[1] = (vb[0] + vb[2]) + (vb[1] + vb[3]);
		ret[2] = (vq[0] + vq[2]) + (vq[1] + vq[3]);
		return;
	}
	for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
		double w = (double)r->weight[j];

		sa += w * a[r->term[j]];
		sb += w * b[r->term[j]];
		sq += w * w;
	}
	ret[0] = sa;
	ret[1] = sb;
	ret[2] = sq;
}

/* KERNEL_TILE is four registers wide. */
struct wide { vec a, b, c, d; };
#define WIDE_ZERO { { 0 }, { 0 }, { 0 }, { 0 } }

INLINE void wide_add(struct wide *sum, float x, const float *tile)
{
	sum->a += x * *(const vec *)tile;
	sum->b += x * *(const vec *)(tile + ROWS_LANES);
	sum->c += x * *(const vec *)(tile + 2 * ROWS_LANES);
	sum->d += x * *(const vec *)(tile + 3 * ROWS_LANES);
}

INLINE void wide_put(const struct wide *sum, float *out)
{
	*(vec *)out = sum->a;
	*(vec *)(out + ROWS_LANES) = sum->b;
	*(vec *)(out + 2 * ROWS_LANES) = sum->c;
	*(vec *)(out + 3 * ROWS_LANES) = sum->d;
}

INLINE void dots_tile(const struct rows *r, const uint32_t *id, uint32_t n,
                      const float *tile, float *out)
{
	uint32_t i = 0;

	/* dense: two rows share the loads of the tile */
	for (; rows_is_dense(r) && i + 2 <= n; i += 2, out += 2 * KERNEL_TILE) {
		const float *x = rows_dense(r, id[i]), *y = rows_dense(r, id[i + 1]);
		struct wide sx = WIDE_ZERO, sy = WIDE_ZERO;

		for (uint32_t j = 0; j < r->dim; j++) {
			wide_add(&sx, x[j], tile + (size_t)j * KERNEL_TILE);
			wide_add(&sy, y[j], tile + (size_t)j * KERNEL_TILE);
		}
		wide_put(&sx, out);
		wide_put(&sy, out + KERNEL_TILE);
	}
	for (; rows_is_dense(r) && i < n; i++, out += KERNEL_TILE) {
		const float *x = rows_dense(r, id[i]);
		struct wide sum = WIDE_ZERO;

		for (uint32_t j = 0; j < r->dim; j++)
			wide_add(&sum, x[j], tile + (size_t)j * KERNEL_TILE);
		wide_put(&sum, out);
	}
	for (; i < n; i++, out += KERNEL_TILE) {
		struct wide sum = WIDE_ZERO;

		for (uint64_t j = r->start[id[i]], end = r->start[id[i] + 1]; j < end; j++)
			wide_add(&sum, r->weight[j], tile + (size_t)r->term[j] * KERNEL_TILE);
		wide_put(&sum, out);
	}
}

#ifdef HAVE_AVX2
AVX2 static void dots_tile_avx2(const struct rows *r, const uint32_t *id, uint32_t n,
                                const float *tile, float *out)
{
	dots_tile(r, id, n, tile, out);
}
#endif

static void dots_tile_plain(const struct rows *r, const uint32_t *id, uint32_t n,
                            const float *tile, float *out)
{
	dots_tile(r, id, n, tile, out);
}

void kernel_dots_tile(const struct rows *r, const uint32_t *id, uint32_t n,
                      const float *tile, float *out)
{
#ifdef HAVE_AVX2
	if (has_avx2()) {
		dots_tile_avx2(r, id, n, tile, out);
		return;
	}
#endif
	dots_tile_plain(r, id, n, tile, out);
}
