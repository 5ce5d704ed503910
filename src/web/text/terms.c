/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terms.c - the words of a page counted, and term vectors read and compared.
 *
 * A page's words arrive with their hashes, so a word that was there before costs one
 * look into a small table of 64-bit keys; whether it is a stop word, and its stem, is
 * asked once a page.  Two words of one hash are taken as the same.
 */
#include "web/text/terms.h"

#include <libstemmer.h>
#include <math.h>
#include <string.h>

static const char *const stop_words[] = {
#define STOP(word) #word,
#include "web/text/terms_stop.def"
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

struct stemmer {
	char *language;
	struct sb_stemmer *snowball;
};

int stemmer_new(struct stemmer **ret, const char *language, struct err *err)
{
	struct sb_stemmer *s = sb_stemmer_new(language, "UTF_8");

	if (!s)
		return err_set(err, E_USAGE, "no stemmer for \"%.40s\"; english, french, "
		               "german and so on", language);
	*ret = mem_alloc(sizeof **ret);
	(*ret)->snowball = s;
	(*ret)->language = mem_strdup(language);
	return 0;
}

void stemmer_free(struct stemmer *s)
{
	if (!s)
		return;
	sb_stemmer_delete(s->snowball);
	free(s->language);
	free(s);
}

const char *stemmer_language(const struct stemmer *s)
{
	return s ? s->language : NULL;
}

const char *stemmer_stem(struct stemmer *s, const char *word, size_t *size)
{
	const sb_symbol *stem = s ? sb_stemmer_stem(s->snowball, (const sb_symbol *)word,
	                                            (int)*size) : NULL;

	if (!stem)
		return word;
	*size = (size_t)sb_stemmer_length(s->snowball);
	return (const char *)stem;
}

#define IS_STEM 1               /* seed for stems: a stem never equals a word */
#define NOT_COUNTED (MAP_NONE - 1)

void word_counts_release(struct word_counts *c)
{
	vec_release(&c->words);
	buf_release(&c->pool);
}

void word_counter_begin(struct word_counter *c)
{
	if (!c->page.pool.max)
		buf_init(&c->page.pool, BUF_NO_LIMIT);
	buf_clear(&c->page.pool);
	c->page.words.n = 0;
	map_clear(&c->seen);
}

void word_counter_release(struct word_counter *c)
{
	word_counts_release(&c->page);
	map_release(&c->seen);
}

/* The index for a word that is new on this page. */
static uint32_t index_of_new(struct word_counter *c, const char *word, size_t size)
{
	uint32_t next = (uint32_t)c->page.words.n;
	struct word_count w = { .at = (uint32_t)c->page.pool.size };
	bool fresh = true;

	if (size < 2 || terms_is_stop_word(word, size))
		return NOT_COUNTED;
	if (c->stemmer) {
		word = stemmer_stem(c->stemmer, word, &size);
		next = map_intern(&c->seen, hash_bytes(word, size, IS_STEM), next, &fresh);
	}
	if (fresh) {
		w.size = (uint32_t)size;
		buf_add(&c->page.pool, word, size);
		vec_push(&c->page.words, w);
	}
	return next;
}

void word_counter_add(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct word_counter *c = arg;
	uint32_t next = (uint32_t)c->page.words.n, n;
	bool fresh;

	n = map_intern(&c->seen, hash, next, &fresh);
	if (fresh) {
		n = index_of_new(c, word, size);
		if (n != next)
			map_put(&c->seen, hash, n);
	}
	if (n != NOT_COUNTED)
		c->page.words.v[n].count++;
}

void term_vector_release(struct term_vector *v)
{
	vec_release(&v->terms);
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

int term_by_id(const void *va, const void *vb)
{
	const struct term *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

/* "id:count" at *p, and the blank behind it. */
static bool get_term(const char **p, const char *end, struct term *ret)
{
	if (!get_decimal(p, end, &ret->id) || *p == end || *(*p)++ != ':' ||
	    !get_decimal(p, end, &ret->count) || (*p < end && **p != ' '))
		return false;
	*p += *p < end;
	return ret->count && ret->id < TERMS_VOCABULARY_MAX;
}

bool terms_pick(const char *s, size_t size, const uint32_t *ids, uint32_t n,
                uint32_t *ret_counts, uint64_t *ret_sum)
{
	const char *end = s + size;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		ret_counts[i] = 0;
	while (s < end) {
		struct term t;

		if (!get_term(&s, end, &t))
			return false;
		sum += t.count;
		for (uint32_t i = 0; i < n; i++)
			if (ids[i] == t.id)
				ret_counts[i] = t.count;
	}
	*ret_sum = sum;
	return true;
}

int terms_parse(struct term_vector *ret, const char *s, size_t size, struct err *err)
{
	const char *end = s + size;
	struct term_vector v = { 0 };

	while (s < end) {
		struct term t;

		if (!get_term(&s, end, &t)) {
			term_vector_release(&v);
			return err_set(err, E_PARSE, "terms are not \"id:count id:count\"");
		}
		vec_push(&v.terms, t);
	}
	if (v.terms.n)
		qsort(v.terms.v, v.terms.n, sizeof *v.terms.v, term_by_id);
	for (size_t i = 1; i < v.terms.n; i++)
		if (v.terms.v[i].id == v.terms.v[i - 1].id) {
			term_vector_release(&v);
			return err_set(err, E_PARSE, "terms name one id twice");
		}
	term_vector_release(ret);
	*ret = v;
	return 0;
}

double terms_cosine(const struct term_vector *a, const struct term_vector *b)
{
	double dot = 0, aa = 0, bb = 0;
	size_t i = 0, k = 0;

	while (i < a->terms.n || k < b->terms.n) {
		uint64_t x = i < a->terms.n ? a->terms.v[i].id : UINT64_MAX;
		uint64_t y = k < b->terms.n ? b->terms.v[k].id : UINT64_MAX;
		double fa = x <= y ? a->terms.v[i++].count : 0;
		double fb = y <= x ? b->terms.v[k++].count : 0;

		dot += fa * fb;
		aa += fa * fa;
		bb += fb * fb;
	}
	if (aa == 0 || bb == 0)
		return aa == bb;
	return fmin(1, dot / sqrt(aa * bb));
}
