/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - ranking and its measures; see search.h.  Queries: search_set.c. */
#include "engine/replay/search.h"

#include <math.h>

#include "base/mem.h"

void search_index_init(struct search_index *x, const struct search_set *set,
                       uint32_t n_pages)
{
	*x = (struct search_index){ .set = set, .n_pages = n_pages };
	x->count = mem_zalloc((size_t)set->n_terms * n_pages, sizeof *x->count);
	x->length = mem_zalloc(n_pages, sizeof *x->length);
	x->df = mem_zalloc(set->n_terms, sizeof *x->df);
	x->score = mem_zalloc(n_pages, sizeof *x->score);
}

void search_index_release(struct search_index *x)
{
	free(x->count);
	free(x->length);
	free(x->df);
	free(x->score);
	*x = (struct search_index){ 0 };
}

static void forget(struct search_index *x, uint32_t page)
{
	if (x->length[page] <= 0)
		return;
	for (uint32_t t = 0; t < x->set->n_terms; t++) {
		uint16_t *c = &x->count[(size_t)t * x->n_pages + page];

		x->df[t] -= *c > 0;
		*c = 0;
	}
	x->length[page] = 0;
	x->n_documents--;
}

/* Both lists of numbers rise: one walk finds the terms that queries use. */
void search_index_put(struct search_index *x, uint32_t page, const struct page_facts *f)
{
	const struct search_set *s = x->set;
	float length = f && f->words > 0 ? f->words : 0;
	uint32_t t = 0;

	forget(x, page);
	for (uint32_t i = 0; f && f->words <= 0 && i < f->n_terms; i++)
		length += (float)f->terms[i].count;     /* its words were not counted apart */
	if (length <= 0)
		return;
	x->length[page] = length;
	x->n_documents++;
	for (uint32_t i = 0; i < f->n_terms; i++) {
		while (t < s->n_terms && s->terms[t] < f->terms[i].id)
			t++;
		if (t < s->n_terms && s->terms[t] == f->terms[i].id && f->terms[i].count) {
			x->count[(size_t)t * x->n_pages + page] = (uint16_t)
				(f->terms[i].count < UINT16_MAX ? f->terms[i].count : UINT16_MAX);
			x->df[t]++;
		}
	}
}

static void score_text(struct search_index *x, const struct search_query *q)
{
	memset(x->score, 0, x->n_pages * sizeof *x->score);
	for (uint32_t i = 0; i < q->n; i++) {
		const uint16_t *count = x->count + (size_t)q->row[i] * x->n_pages;
		double idf = 1 + log((double)x->n_documents / (x->df[q->row[i]] + 1.0));
		float weight = (float)(idf * idf);

		for (uint32_t p = 0; p < x->n_pages; p++)
			if (count[p])
				x->score[p] += weight * sqrtf((float)count[p] / x->length[p]);
	}
}

struct range { double low, high; };

static double scaled(struct range r, double v)
{
	return r.high > r.low ? (v - r.low) / (r.high - r.low) : 1;
}

/* Insert into the k best, kept in order. */
static uint32_t insert_best(uint32_t *page, double *score, uint32_t n, uint32_t k, uint32_t p,
                            double s)
{
	uint32_t at;

	if (n == k && s <= score[k - 1])
		return n;
	at = n < k ? n : k - 1;
	for (; at > 0 && score[at - 1] < s; at--) {
		page[at] = page[at - 1];
		score[at] = score[at - 1];
	}
	page[at] = p;
	score[at] = s;
	return n < k ? n + 1 : n;
}

uint32_t search_rank(struct search_index *x, uint32_t query, uint32_t k, uint32_t *ret)
{
	const struct search_set *s = x->set;
	struct range text = { INFINITY, -INFINITY }, rank = { INFINITY, -INFINITY };
	double best[SEARCH_K_MAX];
	uint32_t n = 0;

	score_text(x, &s->queries[query]);
	for (uint32_t p = 0; p < x->n_pages; p++) {
		double pr = s->pagerank ? s->pagerank[p] : 0;

		if (x->score[p] <= 0)
			continue;
		text.low = fmin(text.low, (double)x->score[p]);
		text.high = fmax(text.high, (double)x->score[p]);
		rank.low = fmin(rank.low, pr);
		rank.high = fmax(rank.high, pr);
	}
	for (uint32_t p = 0; p < x->n_pages; p++) {
		double pr = s->pagerank ? s->pagerank[p] : 0;

		if (x->score[p] > 0)
			n = insert_best(ret, best, n, k, p, s->opts.weight_text *
			                scaled(text, (double)x->score[p]) +
			                s->opts.weight_rank * scaled(rank, pr));
	}
	return n;
}

void search_ideal_init(struct search_ideal *i, const struct search_set *s, uint32_t n_cycles)
{
	size_t n = (size_t)n_cycles * s->n_queries;

	i->n_cycles = n_cycles;
	i->pages = mem_zalloc(n * s->opts.relevant, sizeof *i->pages);
	i->n = mem_zalloc(n, sizeof *i->n);
}

void search_ideal_note(struct search_ideal *i, struct search_index *x, uint32_t cycle)
{
	const struct search_set *s = x->set;

	for (uint32_t q = 0; q < s->n_queries; q++) {
		size_t at = (size_t)cycle * s->n_queries + q;

		i->n[at] = search_rank(x, q, s->opts.relevant, i->pages + at * s->opts.relevant);
	}
}

void search_ideal_release(struct search_ideal *i)
{
	free(i->pages);
	free(i->n);
	*i = (struct search_ideal){ 0 };
}

static bool is_relevant(const uint32_t *ideal, uint32_t n, uint32_t page)
{
	for (uint32_t i = 0; i < n; i++)
		if (ideal[i] == page)
			return true;
	return false;
}

static void measure_query(struct search_index *x, uint32_t query, const uint32_t *ideal,
                          uint32_t n_ideal, const struct search_truth *truth,
                          struct search_measure *m)
{
	const struct search_opts *o = &x->set->opts;
	uint32_t top[SEARCH_K_MAX], n = search_rank(x, query, o->k, top);
	uint32_t fresh = 0, wrong = 0, found = 0;
	double precision = 0, divisor;

	for (uint32_t i = 0; i < n; i++) {
		bool alive = truth->alive(truth->arg, top[i]);

		fresh += truth->fresh(truth->arg, top[i]);
		wrong += !alive || !truth->live_matches(truth->arg, query, top[i]);
		if (alive && is_relevant(ideal, n_ideal, top[i]))
			precision += (double)++found / (i + 1);
	}
	divisor = o->divide_by_found ? found : o->k < n_ideal ? o->k : n_ideal;
	stat_add(&m->freshness, n ? (double)fresh / n : 0);
	stat_add(&m->map, divisor > 0 ? precision / divisor : 0);
	stat_add(&m->embarrassment, n ? (double)wrong / n : 0);
}

void search_measure(struct search_index *x, const struct search_ideal *ideal, uint32_t cycle,
                    const struct search_truth *truth, struct search_measure *m)
{
	const struct search_set *s = x->set;

	for (uint32_t q = 0; q < s->n_queries; q++) {
		size_t at = (size_t)cycle * s->n_queries + q;

		if (ideal->n[at])
			measure_query(x, q, ideal->pages + at * s->opts.relevant, ideal->n[at], truth, m);
	}
}
