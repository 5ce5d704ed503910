/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words of a text: runs of Unicode letters, marks and numbers in
 * lower case; a run of CJK characters gives its overlapping pairs (a single one
 * gives itself).  Words are cut to WORD_SIZE_MAX bytes.
 *
 * Each word has a 64-bit hash, and the sequence of words a simhash whose features
 * are pairs of neighbouring words, so that order counts a little too.
 */
#ifndef WEB_TEXT_WORDS_H
#define WEB_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "web/text/simhash.h"

#define WORD_SIZE_MAX 64
#define WORDS_BATCH 1024

struct words {                          /* zero all but `batch`, and it is ready */
	uint64_t n;
	struct simhash simhash;         /* complete after each words_add() */
	bool fold_digits;               /* for the simhash only: 0 for digits */
	bool no_simhash;                /* words that do not take part in it */
	/* called for each word, lower case, not NUL-terminated; may be NULL */
	void (*each)(void *arg, const char *word, size_t size, uint64_t hash);
	void *arg;

	uint64_t last;                  /* hash of the last word */
	size_t n_batch;
	uint64_t batch[WORDS_BATCH];    /* features not yet added to the simhash */
};

/* Add the words of a text (valid UTF-8).  A word ends at the end of the text. */
void words_add(struct words *w, const char *text, size_t size);

/* The hash of a word given in lower case. */
uint64_t words_hash(const char *word, size_t size);

#endif
