/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - counts and words of captures; see facts.h. */
#include "engine/history/facts.h"

#include <math.h>

#include "web/text/terms.h"

#define BYTES_A_WORD 7.0        /* markup included */

/* A text that is not "id:count id:count ..." counts as no words. */
static void parse_terms(struct facts_table *t, struct text text)
{
	struct term_vector v = { 0 };

	if (terms_parse(&v, text.s, text.size, NULL) == 0)
		for (size_t i = 0; i < v.terms.n; i++)
			vec_push(&t->terms, v.terms.v[i]);
	vec_push(&t->first, t->terms.n);
	term_vector_release(&v);
}

static uint32_t add_terms(struct facts_table *t, struct text text)
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

static enum page_type type_of(struct text mime)
{
	static const struct { const char *name; enum page_type type; } types[] = {
		{ "text/html", PAGE_HTML }, { "application/xhtml", PAGE_HTML },
		{ "text/plain", PAGE_TEXT }, { "text/markdown", PAGE_TEXT },
	};

	if (!mime.s)
		return PAGE_HTML;       /* the usual page */
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (mime.size >= strlen(types[i].name) &&
		    !strncasecmp(mime.s, types[i].name, strlen(types[i].name)))
			return types[i].type;
	return PAGE_OTHER;
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
		.type = (enum page_type)row->type,
		.n_terms = (uint32_t)(t->first.v[row->terms + 1] - t->first.v[row->terms]),
		.terms = t->terms.v + t->first.v[row->terms],
	};
	return true;
}

void facts_release(struct facts_table *t)
{
	vec_release(&t->rows);
	vec_release(&t->first);
	vec_release(&t->terms);
	map_release(&t->lists);
	*t = (struct facts_table){ 0 };
}

uint8_t size_class(int64_t words, int64_t bytes)
{
	double n = words >= 0 ? (double)words : bytes >= 0 ? (double)bytes / BYTES_A_WORD : -1;

	return n < 0 ? 0 : (uint8_t)fmin(UINT8_MAX, 1 + 8 * log2(1 + n));
}
