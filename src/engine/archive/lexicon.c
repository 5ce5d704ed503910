/* SPDX-License-Identifier: Apache-2.0 */
/* lexicon.c - words as numbers; see lexicon.h. */
#include "engine/archive/lexicon.h"

#include "base/io/input.h"
#include "web/text/terms.h"

#define LINE_MAX_SIZE 1024

static uint32_t number_of(struct lexicon *l, const char *word, size_t size)
{
	return l->words.n < TERMS_VOCABULARY_MAX ? strtab_intern(&l->words, word, size, NULL) :
	       strtab_find(&l->words, word, size);
}

static char *put_number(char *at, uint32_t x)
{
	char digits[10];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + x % 10);
	while (x /= 10);
	while (n)
		*at++ = digits[--n];
	return at;
}

/* A page has hundreds of terms, and printf would be most of their cost. */
static void put_term(struct buf *out, struct term t)
{
	char *room = buf_room(out, 22), *at = room;

	if (!room)
		return;
	if (out->size)
		*at++ = ' ';
	at = put_number(at, t.id);
	*at++ = ':';
	at = put_number(at, t.count);
	*at = '\0';
	out->size += (size_t)(at - room);
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
		qsort(l->page.terms.v, l->page.terms.n, sizeof *l->page.terms.v, term_by_id);
	for (size_t i = 0; i < l->page.terms.n; i++)
		put_term(&l->text, l->page.terms.v[i]);
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
