/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_set.c - queries, from a file or drawn from the collection; search.h.
 *
 * Drawing.  Words are sorted into three bands by the share of pages that have
 * them: below 1 %, 1..5 %, 5..20 %; more common ones say nothing.  A query takes
 * its first word from the bands in turn, then up to two more words (0, 1, 2 with
 * equal chance) of a random page that has it, of the same bands: words that occur
 * together, as in what people type.
 */
#include <assert.h>
#include <ctype.h>

#include "base/io/input.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/replay/search.h"

#define QUERY_LINE_MAX 4096
#define DRAWS_MAX 1000          /* tries for one query */

static const double bands[] = { 0.0005, 0.01, 0.05, 0.20 };

struct draft { uint32_t n, term[SEARCH_TERMS_MAX]; };

struct drafts { struct draft *v; size_t n, cap; };

static void add_draft(struct drafts *d, const struct draft *q)
{
	mem_grow((void **)&d->v, &d->cap, d->n + 1, sizeof *d->v);
	d->v[d->n++] = *q;
}

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

static uint32_t row_of(const struct search_set *s, uint32_t term)
{
	const uint32_t *at;

	assert(s->terms);
	at = bsearch(&term, s->terms, s->n_terms, sizeof *s->terms, compare_numbers);
	return (uint32_t)(at - s->terms);
}

/* Number the terms that queries use, and write the queries in these numbers. */
static void finish(struct search_set *s, const struct search_opts *opts, struct drafts *d)
{
	VEC(uint32_t) terms = { 0 };

	for (size_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->v[i].n; k++)
			vec_push(&terms, d->v[i].term[k]);
	if (terms.n)
		qsort(terms.v, terms.n, sizeof *terms.v, compare_numbers);
	*s = (struct search_set){ .opts = *opts, .n_queries = (uint32_t)d->n };
	for (size_t i = 0; i < terms.n; i++)
		if (!i || terms.v[i] != terms.v[i - 1])
			terms.v[s->n_terms++] = terms.v[i];
	s->terms = terms.v;
	s->queries = mem_zalloc(d->n, sizeof *s->queries);
	for (size_t i = 0; i < d->n; i++) {
		s->queries[i].n = d->v[i].n;
		for (uint32_t k = 0; k < d->v[i].n; k++)
			s->queries[i].row[k] = row_of(s, d->v[i].term[k]);
	}
	free(d->v);
}

static void add_term(struct draft *q, uint32_t term)
{
	for (uint32_t i = 0; i < q->n; i++)
		if (q->term[i] == term)
			return;
	if (q->n < SEARCH_TERMS_MAX)
		q->term[q->n++] = term;
}

int search_set_read(struct search_set *s, const struct search_opts *opts, const char *path,
                    uint32_t (*word_number)(const void *arg, const char *word, size_t size),
                    const void *arg, uint32_t *ret_dropped, struct err *err)
{
	struct drafts d = { 0 };
	struct input *in;
	uint32_t dropped = 0;
	char *line;
	size_t size;
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	while ((rc = input_line(in, QUERY_LINE_MAX, &line, &size, err)) > 0) {
		struct draft q = { 0 };

		for (char *p = line, *end; *p; p = end) {
			while (*p && isspace((unsigned char)*p))
				p++;
			for (end = p; *end && !isspace((unsigned char)*end); end++)
				*end = (char)tolower((unsigned char)*end);
			if (end > p && word_number(arg, p, (size_t)(end - p)) != UINT32_MAX)
				add_term(&q, word_number(arg, p, (size_t)(end - p)));
		}
		if (q.n)
			add_draft(&d, &q);
		else if (size)
			dropped++;
	}
	input_close(in);
	if (rc == 0 && !d.n)
		rc = err_set(err, E_USAGE, "%s: no query has a word of the collection", path);
	if (rc < 0) {
		free(d.v);
		return rc;
	}
	*ret_dropped = dropped;
	finish(s, opts, &d);
	return 0;
}

/* The band of a word by the pages that have it, or -1; all words are of band 0 in
 * a collection so small that no word falls into a band. */
static int band_of(uint32_t df, uint32_t n_pages, bool small)
{
	double share = (double)df / n_pages;

	if (small)
		return 0;
	for (int b = 0; b < 3; b++)
		if (share >= bands[b] && share < bands[b + 1] && df > 1)
			return b;
	return -1;
}

struct drawing {
	const struct facts_table *facts;
	const uint32_t *facts_of_page;
	uint32_t *df, n_pages;
	struct rng r;
	bool small;
};

static bool page_at_random(struct drawing *d, struct page_facts *f)
{
	uint32_t page = (uint32_t)rng_below(&d->r, d->n_pages);

	return facts_get(d->facts, d->facts_of_page[page], f) && f->n_terms > 0;
}

static bool draw_query(struct drawing *d, int band, struct draft *q)
{
	uint32_t more = (uint32_t)rng_below(&d->r, 3);

	*q = (struct draft){ 0 };
	for (int tries = 0; tries < DRAWS_MAX; tries++) {
		struct page_facts f;
		uint32_t i;

		if (!page_at_random(d, &f))
			continue;
		i = (uint32_t)rng_below(&d->r, f.n_terms);
		if (band_of(d->df[f.terms[i].id], d->n_pages, d->small) != band)
			continue;
		add_term(q, f.terms[i].id);
		for (int k = 0; k < 20 && q->n < more + 1; k++) {
			i = (uint32_t)rng_below(&d->r, f.n_terms);
			if (band_of(d->df[f.terms[i].id], d->n_pages, d->small) >= 0)
				add_term(q, f.terms[i].id);
		}
		return true;
	}
	return false;
}

int search_set_draw(struct search_set *s, const struct search_opts *opts,
                    const struct facts_table *facts, const uint32_t *facts_of_page,
                    uint32_t n_pages, struct err *err)
{
	struct drawing d = { .facts = facts, .facts_of_page = facts_of_page, .n_pages = n_pages };
	struct drafts drafts = { 0 };
	struct page_facts f;
	uint32_t n_terms = 0;

	for (size_t i = 0; i < facts->terms.n; i++)
		if (facts->terms.v[i].id >= n_terms)
			n_terms = facts->terms.v[i].id + 1;
	d.df = mem_zalloc((size_t)n_terms + 1, sizeof *d.df);
	for (uint32_t p = 0; p < n_pages; p++)
		if (facts_get(facts, facts_of_page[p], &f))
			for (uint32_t i = 0; i < f.n_terms; i++)
				d.df[f.terms[i].id]++;
	d.small = true;
	for (uint32_t t = 0; t < n_terms; t++)
		d.small &= band_of(d.df[t], n_pages, false) < 0;
	rng_init(&d.r, rng_draw(opts->seed, 0, 0, RNG_QUERY));
	for (uint32_t i = 0; i < opts->n_queries; i++) {
		struct draft q;

		/* a small collection may lack a band: the next one then */
		for (int b = 0; b < 3; b++) {
			if (draw_query(&d, (int)(i + (uint32_t)b) % 3, &q)) {
				add_draft(&drafts, &q);
				break;
			}
		}
	}
	free(d.df);
	if (!drafts.n) {
		free(drafts.v);
		return err_set(err, E_USAGE, "no queries could be drawn: the history tells no words "
		               "of its pages (extended CDXJ with terms, or WARC, does)");
	}
	finish(s, opts, &drafts);
	return 0;
}

void search_set_release(struct search_set *s)
{
	free(s->queries);
	free(s->terms);
	*s = (struct search_set){ 0 };
}
