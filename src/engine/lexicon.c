/* SPDX-License-Identifier: Apache-2.0 */
/* lexicon.c - words as numbers; see lexicon.h. */
#include "engine/lexicon.h"

#include "base/input.h"
#include "web/terms.h"

#define LINE_MAX_SIZE 1024

static int by_number(const void *va, const void *vb)
{
	const struct term *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

static uint32_t number_of(struct lexicon *l, const char *word, size_t size)
{
	return l->words.n < TERMS_VOCABULARY_MAX ? strtab_intern(&l->words, word, size, NULL) :
	       strtab_find(&l->words, word, size);
}

const char *lexicon_terms(struct lexicon *l, const struct word_counts *page,
                          size_t *ret_size)
{
	if (!l->text.max)
		buf_init(&l->text, BUF_NO_LIMIT);
	buf_clear(&l->text);
	l->page.terms.n = 0;
	for (size_t i = 0; i < page->words.n; i++) {
		const struct word_count *w = &page->words.v[i];
		struct term t = { number_of(l, page->pool.data + w->at, w->size), w->count };

		if (t.id < TERMS_VOCABULARY_MAX)
			vec_push(&l->page.terms, t);
	}
	if (l->page.terms.n)
		qsort(l->page.terms.v, l->page.terms.n, sizeof *l->page.terms.v, by_number);
	for (size_t i = 0; i < l->page.terms.n; i++)
		buf_printf(&l->text, "%s%u:%u", i ? " " : "", l->page.terms.v[i].id,
		           l->page.terms.v[i].count);
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
	term_vector_release(&l->page);
	buf_release(&l->text);
	*l = (struct lexicon){ 0 };
}
