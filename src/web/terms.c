/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terms.c - vocabularies, and counting the words of a page.
 *
 * A page's words arrive with their hashes, so without stemming a word costs one
 * look into a table of 64-bit keys; two words of one hash are taken as the same.
 */
#include "web/terms.h"

#include <libstemmer.h>
#include <string.h>

#include "web/words.h"

struct stemmer {
	struct sb_stemmer *snowball;
};

int stemmer_new(struct stemmer **ret, const char *language, struct err *err)
{
	struct sb_stemmer *s = sb_stemmer_new(language, "UTF_8");

	if (!s)
		return err_set(err, E_USAGE, "no stemmer for \"%.40s\"; english, french, "
		               "german and so on", language);
	*ret = mem_alloc(sizeof **ret);
	(*ret)->snowball = s;
	return 0;
}

void stemmer_free(struct stemmer *s)
{
	if (s)
		sb_stemmer_delete(s->snowball);
	free(s);
}

const char *stemmer_stem(struct stemmer *s, const char *word, size_t *size)
{
	const sb_symbol *stem = s ? sb_stemmer_stem(s->snowball, (const sb_symbol *)word,
	                                            (int)*size) : NULL;

	if (!stem)
		return word;
	*size = (size_t)sb_stemmer_length(s->snowball);
	return (const char *)stem;
}

int vocabulary_init(struct vocabulary *v, const char *language, struct err *err)
{
	memset(v, 0, sizeof *v);
	return language && *language ? stemmer_new(&v->stemmer, language, err) : 0;
}

void vocabulary_release(struct vocabulary *v)
{
	strtab_release(&v->words);
	map_release(&v->by_hash);
	stemmer_free(v->stemmer);
	v->stemmer = NULL;
}

static void add_word(struct vocabulary *v, const char *word, size_t size)
{
	bool new;
	uint32_t id = strtab_intern(&v->words, word, size, &new);

	if (new)
		map_put(&v->by_hash, words_hash(word, size), id);
}

int vocabulary_read(struct vocabulary *v, const char *data, size_t size, const char *name,
                    struct err *err)
{
	const char *p = data, *end = data + size;
	size_t line = 0;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((eol ? eol : end) - p);

		line++;
		if (n && p[n - 1] == '\r')
			n--;
		if (!n || n > WORD_SIZE_MAX || line > TERMS_VOCABULARY_MAX)
			return err_set(err, n && n <= WORD_SIZE_MAX ? E_LIMIT : E_PARSE,
			               "%s:%zu: %s", name, line, !n ? "empty line" :
			               n > WORD_SIZE_MAX ? "word too long" : "too many words");
		if (strtab_find(&v->words, p, n) != MAP_NONE)
			return err_set(err, E_PARSE, "%s:%zu: the word is there already", name, line);
		add_word(v, p, n);
		p = eol ? eol + 1 : end;
	}
	return 0;
}

void vocabulary_write(const struct vocabulary *v, struct buf *out)
{
	for (uint32_t i = 0; i < v->words.n; i++) {
		buf_add(out, strtab_get(&v->words, i), strtab_size(&v->words, i));
		buf_byte(out, '\n');
	}
}

void terms_begin(struct term_count *c, const struct vocabulary *v)
{
	*c = (struct term_count){ .vocabulary = v };
	c->counts = mem_zalloc(v->words.n + 1u, sizeof *c->counts);
}

void terms_word(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct term_count *c = arg;
	uint32_t id;

	if (c->vocabulary->stemmer) {
		word = stemmer_stem(c->vocabulary->stemmer, word, &size);
		hash = words_hash(word, size);
	}
	id = map_get(&c->vocabulary->by_hash, hash);
	if (id == MAP_NONE)
		return;
	if (!c->counts[id]++)
		vec_push(&c->seen, id);
}

static int by_number(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	return (a > b) - (a < b);
}

void terms_end(struct term_count *c, struct term_vector *ret)
{
	ret->terms.n = 0;
	if (c->seen.n)
		qsort(c->seen.v, c->seen.n, sizeof *c->seen.v, by_number);
	for (size_t i = 0; i < c->seen.n; i++) {
		uint32_t id = c->seen.v[i];

		vec_push(&ret->terms, ((struct term){ id, c->counts[id] }));
		c->counts[id] = 0;
	}
	c->seen.n = 0;
}

void terms_release(struct term_count *c)
{
	free(c->counts);
	c->counts = NULL;
	vec_release(&c->seen);
}

void counter_begin_page(struct term_counter *c)
{
	c->page++;
}

void counter_word(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct term_counter *c = arg;
	uint32_t id;
	bool new;

	(void)hash;
	if (size < 2 || terms_is_stop_word(word, size))
		return;
	if (c->vocabulary)
		word = stemmer_stem(c->vocabulary->stemmer, word, &size);
	if (c->words.n >= TERMS_COUNTER_MAX) {
		id = strtab_find(&c->words, word, size);
		if (id == MAP_NONE)
			return;
		new = false;
	} else {
		id = strtab_intern(&c->words, word, size, &new);
	}
	if (new) {
		vec_push(&c->pages, 0);
		vec_push(&c->last_page, 0);
	}
	if (c->last_page.v[id] != c->page) {
		c->last_page.v[id] = c->page;
		c->pages.v[id]++;
	}
}

struct choice {
	uint32_t pages, id;
	const char *word;
};

static int by_pages(const void *va, const void *vb)
{
	const struct choice *a = va, *b = vb;

	if (a->pages != b->pages)
		return a->pages < b->pages ? 1 : -1;
	return strcmp(a->word, b->word);
}

void counter_choose(const struct term_counter *c, size_t n, struct vocabulary *v)
{
	size_t all = c->words.n;
	struct choice *list = mem_array(all + 1, sizeof *list);

	for (uint32_t i = 0; i < all; i++)
		list[i] = (struct choice){ c->pages.v[i], i, strtab_get(&c->words, i) };
	qsort(list, all, sizeof *list, by_pages);
	for (size_t i = 0; i < all && i < n && i < TERMS_VOCABULARY_MAX; i++)
		add_word(v, list[i].word, strtab_size(&c->words, list[i].id));
	free(list);
}

void counter_release(struct term_counter *c)
{
	strtab_release(&c->words);
	vec_release(&c->pages);
	vec_release(&c->last_page);
}
