/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon.h - the words of pages as numbers, when no word list came with them:
 * every word that is no stop word gets the next number at its first sight; its stem,
 * if there is a stemmer.
 */
#ifndef ENGINE_LEXICON_H
#define ENGINE_LEXICON_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

struct stemmer;

struct lexicon {                /* zeroed, it is empty */
	struct strtab words;
	struct stemmer *stemmer;        /* set: words are stems; the owner's */
	uint32_t *count;                /* of the page at hand, by number */
	size_t count_cap;
	VEC(uint32_t) seen;
	struct buf text;
};

/* The word callback of web/extract.h. */
void lexicon_word(void *lexicon, const char *word, size_t size, uint64_t hash);
/* The words since the last call as "id:count id:count", numbers rising. */
const char *lexicon_terms(struct lexicon *l, size_t *ret_size);
/* A word list, one a line: a word's number is its line, from 0. */
MUST_CHECK int lexicon_read(struct lexicon *l, const char *path, struct err *err);
void lexicon_release(struct lexicon *l);

#endif
