/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_search.c - search quality in replay; see replay_search.h.
 *
 * The ideal is the same for every policy and seed: the pages of the repository,
 * each as it is at T_i.  It is ranked once, cycle by cycle, before the runs.
 */
#include "engine/replay/replay_search.h"

void replay_search_put(struct search_index *x, const struct replay *r, uint32_t page,
                       uint32_t capture)
{
	const struct history *h = r->history;
	struct page_facts f;
	bool known = capture != PAGE_NONE && !h->captures.v[capture].gone &&
	             facts_get(&h->facts, h->captures.v[capture].facts, &f);

	search_index_put(x, page, known ? &f : NULL);
}

void replay_search_begin(struct search_index *x, const struct replay *r,
                         const uint32_t *copy)
{
	search_index_init(x, &r->search->set, r->pages.n);
	for (uint32_t i = 0; i < r->pages.n; i++)
		replay_search_put(x, r, i, copy[i]);
}

/* Is a page of the repository the ideal searches: there at the start, or joined. */
static bool is_in(const struct replay *r, uint32_t page)
{
	return r->copy_at_start[page] != PAGE_NONE || r->opts.join;
}

static void find_ideal(struct replay_search *s, const struct replay *r)
{
	uint32_t *last = mem_array(r->pages.n, sizeof *last);
	struct search_index x;

	search_index_init(&x, &s->set, r->pages.n);
	for (uint32_t i = 0; i < r->pages.n; i++)
		last[i] = PAGE_NONE;
	for (uint32_t c = 0; c < r->n_cycles; c++) {
		int64_t t = r->start + (int64_t)(c + 1) * r->opts.cycle_seconds;

		for (uint32_t i = 0; i < r->pages.n; i++) {
			int64_t at = is_in(r, i) ? history_at(r->history, i, t, r->opts.nearest) : -1;
			uint32_t capture = at < 0 ? PAGE_NONE : (uint32_t)at;

			if (capture != last[i])
				replay_search_put(&x, r, i, capture);
			last[i] = capture;
		}
		search_ideal_note(&s->ideal, &x, c);
	}
	search_index_release(&x);
	free(last);
}

static uint32_t word_number(const void *arg, const char *word, size_t size)
{
	return strtab_find(arg, word, size);
}

static int find_queries(struct replay_search *s, const struct replay *r,
                        const struct search_opts *opts, const char *queries,
                        const struct strtab *words, struct err *err)
{
	const struct history *h = r->history;
	uint32_t *facts;
	int rc;

	if (queries && !words)
		return err_set(err, E_USAGE, "--queries wants the word list of the trace: words.txt "
		               "beside it, or --words FILE");
	if (queries)
		return search_set_read(&s->set, opts, queries, word_number, words, &s->n_dropped,
		                       err);
	facts = mem_zalloc(r->pages.n, sizeof *facts);
	for (uint32_t i = 0; i < r->pages.n; i++)
		if (r->copy_at_start[i] != PAGE_NONE)
			facts[i] = h->captures.v[r->copy_at_start[i]].facts;
	rc = search_set_draw(&s->set, opts, &h->facts, facts, r->pages.n, err);
	free(facts);
	return rc;
}

int replay_search_open(struct replay_search *s, struct replay *r,
                       const struct search_opts *opts, const char *queries,
                       const struct strtab *words, struct err *err)
{
	int rc;

	*s = (struct replay_search){ 0 };
	rc = find_queries(s, r, opts, queries, words, err);
	if (rc < 0)
		return rc;
	s->set.pagerank = r->prepared.pagerank;
	search_ideal_init(&s->ideal, &s->set, r->n_cycles);
	find_ideal(s, r);
	r->search = s;
	return 0;
}

void replay_search_close(struct replay_search *s)
{
	search_set_release(&s->set);
	search_ideal_release(&s->ideal);
}

struct truth { const struct replay *r; const uint32_t *current; const void *arg;
               bool (*fresh)(const void *arg, uint32_t page); };

static bool copy_fresh(const void *arg, uint32_t page)
{
	const struct truth *t = arg;

	return t->fresh(t->arg, page);
}

static bool life_alive(const void *arg, uint32_t page)
{
	const struct truth *t = arg;

	return t->current[page] != PAGE_NONE && !t->r->history->captures.v[t->current[page]].gone;
}

static bool live_matches(const void *arg, uint32_t query, uint32_t page)
{
	const struct truth *t = arg;
	const struct search_set *s = &t->r->search->set;
	const struct search_query *q = &s->queries[query];
	const struct history *h = t->r->history;
	struct page_facts f;

	if (!facts_get(&h->facts, h->captures.v[t->current[page]].facts, &f))
		return false;
	for (uint32_t i = 0; i < f.n_terms; i++)
		for (uint32_t k = 0; k < q->n; k++)
			if (f.terms[i].id == s->terms[q->row[k]])
				return true;
	return false;
}

void replay_search_measure(struct search_index *x, const struct replay *r, uint32_t cycle,
                           const uint32_t *current,
                           bool (*fresh)(const void *arg, uint32_t page), const void *arg,
                           struct search_measure *m)
{
	struct truth t = { r, current, arg, fresh };
	struct search_truth truth = { copy_fresh, life_alive, live_matches, &t };

	search_measure(x, &r->search->ideal, cycle, &truth, m);
}
