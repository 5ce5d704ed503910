/* SPDX-License-Identifier: Apache-2.0 */
/* import_words.c - word lists joined; see import_words.h. */
#include "engine/book/import_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "warc/cdx.h"
#include "web/text/terms.h"

#define STATE_KEY "state.stem"
#define NO_STEMS "none"

static int read_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct import_words *w = arg;

	if (strtab_intern(&w->words.words, word.s, word.size, NULL) != number)
		return err_set(err, E_STORE, "table words, row %u, column word: is there before, or "
		               "the row before it is missing; restore a backup", number + 1);
	w->n_stored = number + 1;
	return 0;
}

/* Words and stems in one list would be counted for each other. */
static int settle_stem(struct import_words *w, struct store *s, const char *stem, bool must,
                       struct err *err)
{
	const char *wanted = stem && *stem ? stem : NO_STEMS;
	char *had = NULL;
	int rc = store_setting_get(s, STATE_KEY, &had, err);
	const char *there = rc > 0 ? had : NO_STEMS;

	rc = rc < 0 ? rc : 0;
	if (w->n_stored && !must)
		wanted = there;
	if (rc == 0 && strcmp(wanted, NO_STEMS)) {
		w->stem = mem_strdup(wanted);
		rc = stemmer_new(&w->stemmer, wanted, err);
	}
	if (rc == 0 && w->n_stored && strcmp(there, wanted))
		rc = err_set(err, E_USAGE, "stem: the repository's words are counted with \"%s\", "
		             "not \"%s\"; another needs another repository", there, wanted);
	w->words.stemmer = w->stemmer;
	free(had);
	return rc;
}

int import_words_load(struct import_words *w, struct store *s, const char *stem, bool must,
                      struct err *err)
{
	int rc;

	buf_init(&w->text, BUF_NO_LIMIT);
	rc = store_words(s, 0, read_word, w, err);
	return rc < 0 ? rc : settle_stem(w, s, stem, must, err);
}

int import_words_follow(struct import_words *w, struct store *s, struct err *err)
{
	bool first = !w->n_stored;
	char *stem = NULL;
	int rc = store_words(s, w->n_stored, read_word, w, err);

	if (rc == 0 && first && w->n_stored && (rc = store_setting_get(s, STATE_KEY, &stem, err)) >= 0)
		rc = strcmp(rc ? stem : NO_STEMS, w->stem ? w->stem : NO_STEMS) ?
			err_set(err, E_USAGE, "stem: another program has just begun to count words by "
			        "\"%s\"", stem ? stem : NO_STEMS) : 0;
	free(stem);
	return rc;
}

/* Find the list beside the index, and where its words are in ours. */
static int take_list(struct import_words *w, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct lexicon list = { 0 };
	char beside[4096];
	int rc;

	if (w->stem) {
		w->drop = true;
		return err_set(err, E_USAGE, "%s: the repository counts stems: the terms of an "
		               "index, which are words, are not kept", path);
	}
	if (w->list)
		snprintf(beside, sizeof beside, "%s", w->list);
	else
		snprintf(beside, sizeof beside, "%.*swords.txt", slash ? (int)(slash - path + 1) : 0,
		         path);
	if (access(beside, R_OK)) {
		w->drop = w->words.words.n > 0;
		return w->drop ? err_set(err, E_PARSE, "%s is not there, and the repository has a word "
		                         "list: terms are not kept; --words FILE names it", beside) : 0;
	}
	rc = lexicon_read(&list, beside, err);
	w->drop = rc < 0;
	if (rc == 0) {
		w->n_to = list.words.n;
		w->to = mem_array(w->n_to, sizeof *w->to);
	}
	for (uint32_t n = 0; n < w->n_to; n++) {
		const char *word = strtab_get(&list.words, n);
		size_t size = strtab_size(&list.words, n);

		w->to[n] = w->words.words.n < TERMS_VOCABULARY_MAX ?
		           strtab_intern(&w->words.words, word, size, NULL) :
		           strtab_find(&w->words.words, word, size);
		w->translate |= w->to[n] != n;
	}
	lexicon_release(&list);
	return rc;
}

struct text import_words_terms(struct import_words *w, const char *path, struct text terms,
                                struct err *ret_why)
{
	struct text rest = { terms.s, terms.size };
	uint32_t id, count;

	if (!terms.s || !terms.size)
		return terms;
	if (!w->looked && take_list(w, path, ret_why) == 0)
		ret_why->code = 0;
	w->looked = true;
	if (w->drop)
		return (struct text){ 0 };
	if (!w->translate)
		return terms;
	buf_clear(&w->text);
	while (cdx_next_term(&rest, &id, &count))
		if (id < w->n_to && w->to[id] != MAP_NONE)
			buf_printf(&w->text, "%s%u:%u", w->text.size ? " " : "", w->to[id], count);
	return (struct text){ buf_text(&w->text), w->text.size };
}

int import_words_keep(struct import_words *w, struct store *s, struct err *err)
{
	int rc = 0;

	if (!w->n_stored && w->words.words.n)
		rc = store_setting_put(s, STATE_KEY, w->stem ? w->stem : NO_STEMS, err);
	for (; w->n_stored < w->words.words.n && rc >= 0; w->n_stored++) {
		struct text word = { strtab_get(&w->words.words, w->n_stored),
		                     strtab_size(&w->words.words, w->n_stored) };

		rc = store_word_add(s, w->n_stored, word, err);
	}
	return rc;
}

void import_words_release(struct import_words *w)
{
	lexicon_release(&w->words);
	stemmer_free(w->stemmer);
	free(w->stem);
	free(w->to);
	buf_release(&w->text);
	*w = (struct import_words){ 0 };
}
