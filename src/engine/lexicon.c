/* SPDX-License-Identifier: Apache-2.0 */
/* lexicon.c - words as numbers; see lexicon.h. */
#include "engine/lexicon.h"

#include "base/input.h"
#include "web/terms.h"

#define LINE_MAX_SIZE 1024

void lexicon_word(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct lexicon *l = arg;
	uint32_t n;

	(void)hash;
	if (size < 2 || terms_is_stop_word(word, size))
		return;
	word = stemmer_stem(l->stemmer, word, &size);
	n = l->words.n < TERMS_VOCABULARY_MAX ? strtab_intern(&l->words, word, size, NULL) :
	    strtab_find(&l->words, word, size);
	if (n == MAP_NONE || n >= TERMS_VOCABULARY_MAX)
		return;
	if (n >= l->count_cap) {
		size_t had = l->count_cap;

		mem_grow((void **)&l->count, &l->count_cap, (size_t)n + 1, sizeof *l->count);
		memset(l->count + had, 0, (l->count_cap - had) * sizeof *l->count);
	}
	if (!l->count[n]++)
		vec_push(&l->seen, n);
}

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

const char *lexicon_terms(struct lexicon *l, size_t *ret_size)
{
	if (!l->text.max)
		buf_init(&l->text, BUF_NO_LIMIT);
	buf_clear(&l->text);
	if (l->seen.n)
		qsort(l->seen.v, l->seen.n, sizeof *l->seen.v, compare_numbers);
	for (size_t i = 0; i < l->seen.n; i++) {
		buf_printf(&l->text, "%s%u:%u", i ? " " : "", l->seen.v[i], l->count[l->seen.v[i]]);
		l->count[l->seen.v[i]] = 0;
	}
	l->seen.n = 0;
	*ret_size = l->text.size;
	return buf_text(&l->text);
}

int lexicon_read(struct lexicon *l, const char *path, struct err *err)
{
	struct input *in;
	char *line;
	size_t size;
	uint32_t n = 0;
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	while ((rc = input_line(in, LINE_MAX_SIZE, &line, &size, err)) > 0) {
		if (strtab_intern(&l->words, line, size, NULL) != n++) {
			rc = err_set(err, E_PARSE, "%s:%u: a word twice: numbers would not fit", path, n);
			break;
		}
	}
	input_close(in);
	return rc;
}

void lexicon_release(struct lexicon *l)
{
	strtab_release(&l->words);
	free(l->count);
	vec_release(&l->seen);
	buf_release(&l->text);
	*l = (struct lexicon){ 0 };
}
