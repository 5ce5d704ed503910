/* SPDX-License-Identifier: Apache-2.0 */
/* terms_vector.c - term vectors packed, printed, weighed and compared. */
#include <math.h>
#include <string.h>

#include "web/terms.h"

static const char *const stop_words[] = {
#define STOP(word) #word,
#include "web/terms_stop.def"
#undef STOP
};

bool terms_is_stop_word(const char *word, size_t size)
{
	size_t lo = 0, hi = sizeof stop_words / sizeof stop_words[0];

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int order = strncmp(stop_words[mid], word, size);

		if (!order)
			order = stop_words[mid][size] != '\0';
		if (!order)
			return true;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

void term_vector_release(struct term_vector *v)
{
	vec_release(&v->terms);
}

static void put_number(struct buf *out, uint32_t x)
{
	while (x >= 0x80) {
		buf_byte(out, (int)(x & 0x7f) | 0x80);
		x >>= 7;
	}
	buf_byte(out, (int)x);
}

/* Returns the bytes read, 0 if there is no number. */
static size_t get_number(const unsigned char *p, size_t size, uint32_t *ret)
{
	uint64_t x = 0;

	for (size_t i = 0; i < size && i < 5; i++) {
		x |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (!(p[i] & 0x80)) {
			*ret = (uint32_t)x;
			return x <= UINT32_MAX ? i + 1 : 0;
		}
	}
	return 0;
}

void terms_pack(const struct term_vector *v, struct buf *out)
{
	uint32_t next = 0;

	for (size_t i = 0; i < v->terms.n; i++) {
		put_number(out, v->terms.v[i].id - next);
		put_number(out, v->terms.v[i].count);
		next = v->terms.v[i].id + 1;
	}
}

int terms_unpack(struct term_vector *ret, const void *data, size_t size, struct err *err)
{
	const unsigned char *p = data;
	struct term_vector v = { 0 };
	uint64_t next = 0;

	while (size) {
		uint32_t gap, count;
		size_t n = get_number(p, size, &gap);
		size_t m = n ? get_number(p + n, size - n, &count) : 0;

		if (!m || !count || next + gap >= TERMS_VOCABULARY_MAX) {
			term_vector_release(&v);
			return err_set(err, E_PARSE, "term vector is damaged");
		}
		vec_push(&v.terms, ((struct term){ (uint32_t)(next + gap), count }));
		next += (uint64_t)gap + 1;
		p += n + m;
		size -= n + m;
	}
	term_vector_release(ret);
	*ret = v;
	return 0;
}

void terms_print(const struct term_vector *v, struct buf *out)
{
	for (size_t i = 0; i < v->terms.n; i++)
		buf_printf(out, "%s%u:%u", i ? " " : "", v->terms.v[i].id, v->terms.v[i].count);
}

/* Decimal digits at *p; false if there are none or too many. */
static bool get_decimal(const char **p, const char *end, uint32_t *ret)
{
	const char *from = *p;
	uint64_t x = 0;

	while (*p < end && **p >= '0' && **p <= '9' && x <= UINT32_MAX)
		x = x * 10 + (uint64_t)(*(*p)++ - '0');
	*ret = (uint32_t)x;
	return *p > from && x <= UINT32_MAX;
}

static int by_id(const void *va, const void *vb)
{
	const struct term *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

int terms_parse(struct term_vector *ret, const char *s, size_t size, struct err *err)
{
	const char *end = s + size;
	struct term_vector v = { 0 };

	for (; s < end; s += s < end && *s == ' ') {
		struct term t;

		if (!get_decimal(&s, end, &t.id) || s == end || *s++ != ':' ||
		    !get_decimal(&s, end, &t.count) || (s < end && *s != ' ') ||
		    !t.count || t.id >= TERMS_VOCABULARY_MAX) {
			term_vector_release(&v);
			return err_set(err, E_PARSE, "terms are not \"id:count id:count\"");
		}
		vec_push(&v.terms, t);
	}
	if (v.terms.n)
		qsort(v.terms.v, v.terms.n, sizeof *v.terms.v, by_id);
	for (size_t i = 1; i < v.terms.n; i++)
		if (v.terms.v[i].id == v.terms.v[i - 1].id) {
			term_vector_release(&v);
			return err_set(err, E_PARSE, "terms name one id twice");
		}
	term_vector_release(ret);
	*ret = v;
	return 0;
}

void terms_count_document(uint32_t *df, size_t n, const struct term_vector *v, int by)
{
	for (size_t i = 0; i < v->terms.n; i++) {
		uint32_t id = v->terms.v[i].id;

		if (id < n && (by > 0 || df[id]))
			df[id] += by > 0 ? 1u : -1u;
	}
}

double terms_weight(const uint32_t *df, size_t n, uint64_t documents, uint32_t id)
{
	if (!df)
		return 1;
	if (id >= n || !df[id] || documents <= df[id])
		return 0;
	return log((double)documents / df[id]);
}

double terms_cosine(const struct term_vector *a, const struct term_vector *b,
                    const uint32_t *df, size_t n, uint64_t documents)
{
	double dot = 0, aa = 0, bb = 0;
	size_t i = 0, k = 0;

	while (i < a->terms.n || k < b->terms.n) {
		const struct term *x = i < a->terms.n ? &a->terms.v[i] : NULL;
		const struct term *y = k < b->terms.n ? &b->terms.v[k] : NULL;
		uint32_t id = !y || (x && x->id < y->id) ? x->id : y->id;
		double w = terms_weight(df, n, documents, id), fa = 0, fb = 0;

		if (x && x->id == id) {
			fa = w * x->count;
			i++;
		}
		if (y && y->id == id) {
			fb = w * y->count;
			k++;
		}
		dot += fa * fb;
		aa += fa * fa;
		bb += fb * fb;
	}
	if (aa == 0 || bb == 0)
		return aa == bb;
	return fmin(1, dot / sqrt(aa * bb));
}
