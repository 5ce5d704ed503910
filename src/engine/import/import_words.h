/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_words.h - one word list for a repository, whatever its archives count by.
 *
 * The terms of an index are numbers of a list, words.txt beside it; pages of a
 * WARC and pages just fetched are counted by the repository's own.  The first list
 * becomes the repository's; numbers of another are translated, its new words added.
 * Without a list numbers are kept as they came, and of a repository that has one
 * already they are dropped: nobody could say what they mean.
 *
 * A repository may count stems instead of words (the setting stem).  Which of both
 * is settled by its first words and written down beside them (state `stem`); from
 * then on other counts are refused where they are asked for (import), and terms of
 * an index, which are words, dropped.
 */
#ifndef ENGINE_IMPORT_IMPORT_WORDS_H
#define ENGINE_IMPORT_IMPORT_WORDS_H

#include "engine/archive/lexicon.h"
#include "engine/archive/record.h"
#include "repo/store.h"

struct import_words {           /* zeroed, then import_words_load() */
	struct lexicon words;           /* the repository's, and new ones */
	uint32_t n_stored;              /* of them in the store */
	uint32_t *to;                   /* number in the archive's list -> ours */
	uint32_t n_to;
	bool looked, translate, drop;
	char *stem;                     /* language of stems; NULL: words */
	const char *list;               /* the archive's list; NULL: words.txt beside it */
	struct stemmer *stemmer;
	struct buf text;
	VEC(uint32_t) moved;            /* new number of moved_from + i; see _follow() */
	uint32_t moved_from;
	struct arena renumbered;        /* texts of import_words_renumber() */
};

/* The words of the store.  Where there are none yet, new ones will be stems of this
 * language (NULL or "none": words); where there are, another is E_USAGE if `must`,
 * else theirs goes before it. */
MUST_CHECK int import_words_load(struct import_words *w, struct store *s, const char *stem,
                                 bool must, struct err *err);
/* Inside a batch: take in the words that others have put into the store since.  If there
 * are some, those of ours that are not in it get new numbers, `moved`. */
MUST_CHECK int import_words_follow(struct import_words *w, struct store *s, struct err *err);
/* Terms that were numbered before the last follow, by their numbers now.  The text is valid
 * until the next follow. */
struct text import_words_renumber(struct import_words *w, struct text terms);
/* The terms of a record of the index `path` in our numbers, good until the next
 * call.  A list that cannot be used is told in *ret_why, once. */
struct text import_words_terms(struct import_words *w, const char *path, struct text terms,
                                struct err *ret_why);
/* New words into the store; inside a batch. */
MUST_CHECK int import_words_write(struct import_words *w, struct store *s, struct err *err);
void import_words_release(struct import_words *w);

#endif
