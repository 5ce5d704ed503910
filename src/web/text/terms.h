/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terms.h - count the words of a page.
 *
 * A counter knows one page only: it returns words (or stems, by libstemmer) in the order
 * of their first occurrence.  So several threads may count, each with its own counter.
 * One word list for all pages numbers them afterwards (engine/archive/lexicon.h).  Stop
 * words and words of one byte are not counted.
 *
 * A page's term vector is the numbers and counts of its words, by number.
 */
#ifndef WEB_TEXT_TERMS_H
#define WEB_TEXT_TERMS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#define TERMS_VOCABULARY_MAX 1000000    /* words of a list; later ones are not counted */

/* Stems of words by libstemmer; not for two threads at a time. */
struct stemmer;
MUST_CHECK int stemmer_new(struct stemmer **ret, const char *language, struct err *err);
void stemmer_free(struct stemmer *s);
/* Its language; NULL: s is NULL. */
const char *stemmer_language(const struct stemmer *s);
/* The stem of a word in lower case, in the stemmer's memory until the next call; s
 * NULL: the word itself. */
const char *stemmer_stem(struct stemmer *s, const char *word, size_t *size);

struct word_count {
	uint32_t at, size, count;       /* at: offset in the pool */
};

struct word_counts {                    /* zeroed: empty */
	VEC(struct word_count) words;   /* by first occurrence */
	struct buf pool;
};

void word_counts_release(struct word_counts *c);

struct word_counter {                   /* zeroed: ready */
	struct stemmer *stemmer;        /* set: stems are counted; the owner's */
	struct word_counts page;        /* the caller may swap it for another */
	struct map seen;                /* hash of a word -> index in page.words */
};

/* Begin a new page. */
void word_counter_begin(struct word_counter *c);
/* The word callback of web/page/extract.h. */
void word_counter_add(void *counter, const char *word, size_t size, uint64_t hash);
void word_counter_release(struct word_counter *c);

struct term {
	uint32_t id, count;
};
int term_by_id(const void *va, const void *vb);         /* for qsort() */

struct term_vector {                    /* zeroed: empty */
	VEC(struct term) terms;         /* by id, counts > 0 */
};

/* "id:count id:count", as traces have it. */
MUST_CHECK int terms_parse(struct term_vector *ret, const char *s, size_t size,
                           struct err *err);
void term_vector_release(struct term_vector *v);
/* The counts of these terms only, and the sum of all counts, without sorting.  False: it is not
 * of that form. */
bool terms_pick(const char *s, size_t size, const uint32_t *ids, uint32_t n,
                uint32_t *ret_counts, uint64_t *ret_sum);
/* Cosine of two pages' counts; 1 if both are empty, 0 if one is. */
double terms_cosine(const struct term_vector *a, const struct term_vector *b);

bool terms_is_stop_word(const char *word, size_t size);

#endif
