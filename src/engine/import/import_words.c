/* SPDX-License-Identifier: Apache-2.0 */
/* import_words.c - word lists joined; see import_words.h. */
#include "engine/import/import_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "warc/cdx.h"
#include "web/text/terms.h"

#define STATE_KEY "stem"
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
static int choose_stem(struct import_words *w, struct store *s, const char *stem, bool must,
                       struct err *err)
{
	const char *wanted = stem && *stem ? stem : NO_STEMS;
	char *had = NULL;
	int rc = store_state_get(s, STORE_OF_SHARD, STATE_KEY, &had, err);
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
	return rc < 0 ? rc : choose_stem(w, s, stem, must, err);
}

struct theirs { struct strtab words; uint32_t from; };

static int read_theirs(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct theirs *t = arg;

	if (t->from + strtab_intern(&t->words, word.s, word.size, NULL) != number)
		return err_set(err, E_STORE, "table words, row %u, column word: is there before, or "
		               "the row before it is missing; restore a backup", number + 1);
	return 0;
}

/* Their words first, as the store has them; then ours that it does not have. */
static int join_words(struct import_words *w, const struct theirs *t, struct err *err)
{
	struct strtab *had = &w->words.words, now = { 0 };

	for (uint32_t i = 0; i < t->from; i++)
		strtab_intern(&now, strtab_get(had, i), strtab_size(had, i), NULL);
	for (uint32_t i = 0; i < t->words.n; i++)
		if (strtab_intern(&now, strtab_get(&t->words, i), strtab_size(&t->words, i), NULL) !=
		    t->from + i) {
			strtab_release(&now);
			return err_set(err, E_STORE, "table words, row %u, column word: is there before; "
			               "restore a backup", t->from + i + 1);
		}
	for (uint32_t i = t->from; i < had->n; i++)
		vec_push(&w->moved, strtab_intern(&now, strtab_get(had, i), strtab_size(had, i), NULL));
	for (uint32_t i = 0; i < w->n_to; i++)
		if (w->to[i] != MAP_NONE && w->to[i] >= t->from) {
			w->to[i] = w->moved.v[w->to[i] - t->from];
			w->translate |= w->to[i] != i;
		}
	w->moved_from = t->from;
	w->n_stored = t->from + t->words.n;
	strtab_release(had);
	*had = now;
	return 0;
}

struct text import_words_renumber(struct import_words *w, struct text terms)
{
	struct text rest = terms;
	VEC(struct term) list = { 0 };
	struct term t;

	if (!terms.s)
		return terms;
	while (cdx_next_term(&rest, &t.id, &t.count)) {
		if (t.id >= w->moved_from && t.id - w->moved_from < w->moved.n)
			t.id = w->moved.v[t.id - w->moved_from];
		vec_push(&list, t);
	}
	if (list.n)
		qsort(list.v, list.n, sizeof *list.v, term_by_id);
	buf_clear(&w->text);
	for (size_t i = 0; i < list.n; i++)
		buf_printf(&w->text, "%s%u:%u", i ? " " : "", list.v[i].id, list.v[i].count);
	vec_release(&list);
	return (struct text){ arena_strndup(&w->renumbered, buf_text(&w->text), w->text.size),
	                      w->text.size };
}

int import_words_follow(struct import_words *w, struct store *s, struct err *err)
{
	struct theirs t = { .from = w->n_stored };
	bool first = !w->n_stored;
	char *stem = NULL;
	int rc = store_words(s, w->n_stored, read_theirs, &t, err);

	w->moved.n = 0;
	arena_reset(&w->renumbered);
	if (rc == 0 && t.words.n)
		rc = join_words(w, &t, err);
	strtab_release(&t.words);

	if (rc == 0 && first && w->n_stored &&
	    (rc = store_state_get(s, STORE_OF_SHARD, STATE_KEY, &stem, err)) >= 0)
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

int import_words_write(struct import_words *w, struct store *s, struct err *err)
{
	VEC(struct text) words = { 0 };
	int rc = 0;

	if (!w->n_stored && w->words.words.n)
		rc = store_state_put(s, STORE_OF_SHARD, STATE_KEY, w->stem ? w->stem : NO_STEMS, err);
	for (uint32_t n = w->n_stored; n < w->words.words.n; n++)
		vec_push(&words, ((struct text){ strtab_get(&w->words.words, n),
		                                 strtab_size(&w->words.words, n) }));
	if (rc == 0)
		rc = store_words_add(s, w->n_stored, words.v, words.n, err);
	if (rc == 0)
		w->n_stored = w->words.words.n;
	vec_release(&words);
	return rc;
}

void import_words_release(struct import_words *w)
{
	lexicon_release(&w->words);
	stemmer_free(w->stemmer);
	free(w->stem);
	free(w->to);
	vec_release(&w->moved);
	arena_release(&w->renumbered);
	buf_release(&w->text);
	*w = (struct import_words){ 0 };
}
