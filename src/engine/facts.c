/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - counts and words of captures; see facts.h. */
#include "engine/facts.h"

#include <ctype.h>

#define WORDS_PER_PAGE_MAX 65536

/* Decimal digits up to a limit; false if there are none. */
static bool read_number(const char **p, const char *end, uint32_t max, uint32_t *ret)
{
	uint64_t v = 0;

	if (*p == end || !isdigit((unsigned char)**p))
		return false;
	for (; *p < end && isdigit((unsigned char)**p); ++*p)
		v = v > max ? v : v * 10 + (uint64_t)(**p - '0');
	*ret = v > max ? max : (uint32_t)v;
	return true;
}

static int by_term(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Words in rising order, as rows want them, once and for all. */
static void sort_terms(struct facts_table *t, size_t from)
{
	size_t n = t->term.n - from;
	uint64_t *pair = mem_array(n, sizeof *pair);

	for (size_t i = 0; i < n; i++)
		pair[i] = (uint64_t)t->term.v[from + i] << 16 | t->count.v[from + i];
	if (n)
		qsort(pair, n, sizeof *pair, by_term);
	for (size_t i = 0; i < n; i++) {
		t->term.v[from + i] = (uint32_t)(pair[i] >> 16);
		t->count.v[from + i] = (uint16_t)pair[i];
	}
	free(pair);
}

/* "id:count id:count": what is not of that form is left out. */
static void parse_terms(struct facts_table *t, struct slice text)
{
	const char *p = text.s, *end = p + text.size;
	size_t from = t->term.n;

	for (size_t n = 0; p < end && n < WORDS_PER_PAGE_MAX;) {
		uint32_t term, count;

		if (read_number(&p, end, FACTS_TERMS_MAX, &term) && p < end && *p == ':') {
			p++;
			if (read_number(&p, end, UINT16_MAX, &count) && count &&
			    (p == end || *p == ' ') && term < FACTS_TERMS_MAX) {
				vec_push(&t->term, term);
				vec_push(&t->count, (uint16_t)count);
				t->n_terms = term >= t->n_terms ? term + 1 : t->n_terms;
				n++;
			}
		}
		while (p < end && *p != ' ')
			p++;
		p += p < end;
	}
	sort_terms(t, from);
	vec_push(&t->first, t->term.n);
}

static uint32_t add_terms(struct facts_table *t, struct slice text)
{
	uint32_t list;
	bool fresh;

	if (!text.s || !text.size)
		return 0;
	list = map_intern(&t->lists, hash_bytes(text.s, text.size, 3),
	                  (uint32_t)t->first.n - 1, &fresh);
	if (fresh)
		parse_terms(t, text);
	return list;
}

static enum facts_type type_of(struct slice mime)
{
	static const struct { const char *name; enum facts_type type; } types[] = {
		{ "text/html", FACTS_HTML }, { "application/xhtml", FACTS_HTML },
		{ "text/plain", FACTS_TEXT }, { "text/markdown", FACTS_TEXT },
	};

	if (!mime.s)
		return FACTS_HTML;      /* the usual page */
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (mime.size >= strlen(types[i].name) &&
		    !strncasecmp(mime.s, types[i].name, strlen(types[i].name)))
			return types[i].type;
	return FACTS_OTHER;
}

uint32_t facts_add(struct facts_table *t, const struct record *r)
{
	const int64_t told[6] = { r->facts.text, r->facts.words, r->facts.images,
	                          r->facts.tables, r->facts.emails, r->facts.outlinks };
	struct facts_row row = { .type = (uint8_t)type_of(r->mime) };
	bool any = r->terms.s != NULL;

	if (!t->first.n) {
		vec_push(&t->first, 0); /* list 0 has no words */
		vec_push(&t->first, 0);
	}
	for (int i = 0; i < 6; i++) {
		any |= told[i] >= 0;
		row.number[i] = told[i] > 0 ? (float)told[i] : 0;
	}
	if (!any)
		return FACTS_NONE;
	row.terms = add_terms(t, r->terms);
	vec_push(&t->rows, row);
	return (uint32_t)t->rows.n;
}

bool facts_get(const struct facts_table *t, uint32_t number, struct page_facts *ret)
{
	const struct facts_row *row;

	*ret = (struct page_facts){ 0 };
	if (number == FACTS_NONE)
		return false;
	row = &t->rows.v[number - 1];
	*ret = (struct page_facts){
		.text = row->number[0], .words = row->number[1], .images = row->number[2],
		.tables = row->number[3], .emails = row->number[4], .outlinks = row->number[5],
		.type = (enum facts_type)row->type,
		.n_terms = (uint32_t)(t->first.v[row->terms + 1] - t->first.v[row->terms]),
		.term = t->term.v + t->first.v[row->terms],
		.count = t->count.v + t->first.v[row->terms],
	};
	return true;
}

void facts_release(struct facts_table *t)
{
	vec_release(&t->rows);
	vec_release(&t->first);
	vec_release(&t->term);
	vec_release(&t->count);
	map_release(&t->lists);
	*t = (struct facts_table){ 0 };
}
