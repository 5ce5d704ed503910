/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon.h - the word list of many pages: a new word gets the next number.
 *
 * Words are counted before (web/text/terms.h), in any thread.  One thread gives the
 * numbers, in the order of the pages.
 */
#ifndef ENGINE_ARCHIVE_LEXICON_H
#define ENGINE_ARCHIVE_LEXICON_H

#include "base/err.h"
#include "web/text/terms.h"

struct lexicon {                /* zeroed, it is empty */
	struct strtab words;
	struct stemmer *stemmer;        /* set: words are stems; the owner's */
	struct term_vector page;        /* scratch memory */
	struct buf text;
};

/* The words of a page as "id:count id:count ...", in ascending order; valid until the
 * next call.  A full list takes no new words. */
const char *lexicon_terms(struct lexicon *l, const struct word_counts *page,
                          size_t *ret_size);
/* A word list, one a line: a word's number is its line, from 0. */
MUST_CHECK int lexicon_read(struct lexicon *l, const char *path, struct err *err);
void lexicon_release(struct lexicon *l);

#endif
