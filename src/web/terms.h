/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terms.h - pages as counts of the words of a vocabulary.
 *
 * A vocabulary is a list of words; a word's number is its place, from 0 (the file
 * words.txt beside a trace is one, a word a line).  A page's term vector is the
 * numbers and counts of its vocabulary words, by number.  Stop words and words of
 * one letter never get into a vocabulary we make; stemming (libstemmer) is a
 * property of the vocabulary: its words are then stems.
 *
 * Document frequencies are kept by whoever keeps the pages: add the vector that
 * comes, remove the vector that goes.
 */
#ifndef WEB_TERMS_H
#define WEB_TERMS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#define TERMS_VOCABULARY_MAX 1000000
#define TERMS_COUNTER_MAX    5000000    /* different words counted; later ones are not */

struct term {
	uint32_t id, count;
};

struct term_vector {                    /* zeroed: empty */
	VEC(struct term) terms;         /* by id, counts > 0 */
};

/* Stems of words by libstemmer. */
struct stemmer;
MUST_CHECK int stemmer_new(struct stemmer **ret, const char *language, struct err *err);
void stemmer_free(struct stemmer *s);
/* The stem of a word in lower case, in the stemmer's memory until the next call; s
 * NULL: the word itself. */
const char *stemmer_stem(struct stemmer *s, const char *word, size_t *size);

struct vocabulary {
	struct strtab words;
	struct map by_hash;             /* words_hash() -> number */
	struct stemmer *stemmer;        /* NULL: words as they are */
};

/* language: "english" and so on for stems, NULL for words. */
MUST_CHECK int vocabulary_init(struct vocabulary *v, const char *language, struct err *err);
void vocabulary_release(struct vocabulary *v);
/* Words one a line, in order of their numbers; read and written. */
MUST_CHECK int vocabulary_read(struct vocabulary *v, const char *data, size_t size,
                               const char *name, struct err *err);
void vocabulary_write(const struct vocabulary *v, struct buf *out);

/* Counting one page: terms_word is the word callback of web/extract.h. */
struct term_count {
	const struct vocabulary *vocabulary;
	uint32_t *counts;               /* by id */
	VEC(uint32_t) seen;             /* ids with a count */
};
void terms_begin(struct term_count *c, const struct vocabulary *v);
void terms_word(void *arg, const char *word, size_t size, uint64_t hash);
/* The vector of what was counted; c is ready for the next page. */
void terms_end(struct term_count *c, struct term_vector *ret);
void terms_release(struct term_count *c);

/* Packed: gap to the id before, count, as variable-length numbers. */
void terms_pack(const struct term_vector *v, struct buf *out);
MUST_CHECK int terms_unpack(struct term_vector *ret, const void *data, size_t size,
                            struct err *err);
/* "id:count id:count", as traces have it. */
void terms_print(const struct term_vector *v, struct buf *out);
MUST_CHECK int terms_parse(struct term_vector *ret, const char *s, size_t size,
                           struct err *err);
void term_vector_release(struct term_vector *v);

/* Add (by = 1) or take away (by = -1) a page in df[n]; ids past n are passed over. */
void terms_count_document(uint32_t *df, size_t n, const struct term_vector *v, int by);
/* log of documents / df, at least 0, as weight of a term; 1 if df is NULL. */
double terms_weight(const uint32_t *df, size_t n, uint64_t documents, uint32_t id);
/* Cosine of two pages' tf-idf vectors; 1 if both are empty, 0 if one is. */
double terms_cosine(const struct term_vector *a, const struct term_vector *b,
                    const uint32_t *df, size_t n, uint64_t documents);

/* Making a vocabulary: in how many pages each word occurs. */
struct term_counter {                   /* zeroed, then `vocabulary` set */
	const struct vocabulary *vocabulary;    /* for its stemmer; may be NULL */
	struct strtab words;
	VEC(uint32_t) pages;            /* by word: pages that have it */
	VEC(uint32_t) last_page;        /* by word: last page counted */
	uint32_t page;
};
void counter_begin_page(struct term_counter *c);
void counter_word(void *arg, const char *word, size_t size, uint64_t hash);
/* Put the n words in most pages into v (ties in byte order). */
void counter_choose(const struct term_counter *c, size_t n, struct vocabulary *v);
void counter_release(struct term_counter *c);

bool terms_is_stop_word(const char *word, size_t size);

#endif
