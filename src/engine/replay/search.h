/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - search quality: queries on our copies after a cycle, compared with the
 * ideal, which has a fresh copy of every page.
 *
 * Score of a page for a query: a * TFIDF + b * PageRank, both scaled to 0..1 over
 * the pages that match (0.5 each), where TFIDF is the sum over the query's terms
 * of sqrt(tf) idf^2 / sqrt(words), idf = 1 + ln(N / (df + 1)).  Pages with TFIDF 0
 * are not ranked; equal scores go by page number.
 *
 *   freshness@k     share of the top k whose copy is true
 *   MAP@k           precision averaged over the relevant among the top k, divided
 *                   by min(k, relevant) or by the relevant found; relevant is what
 *                   the ideal ranks among its top M, matches in our copy, and lives
 *   embarrassment   share of the top k whose live page is gone or does not match
 * The ideal has 1, 1 and 0.  A query for which the ideal finds nothing is left out.
 *
 * Only the terms of the queries are indexed, as one row of counts each, so that a
 * download changes a few numbers and a cycle costs O(queries * terms * pages).
 */
#ifndef ENGINE_REPLAY_SEARCH_H
#define ENGINE_REPLAY_SEARCH_H

#include "base/err.h"
#include "base/math/stat.h"
#include "engine/history/facts.h"

#define SEARCH_TERMS_MAX 8      /* terms of a query; later ones are ignored */
#define SEARCH_K_MAX 1000

struct search_opts {
	uint32_t k, relevant;           /* k, M */
	uint32_t n_queries;             /* drawn if there is no file */
	double weight_text, weight_rank;
	bool divide_by_found;           /* MAP's other divisor */
	uint64_t seed;
};

struct search_query { uint32_t n, row[SEARCH_TERMS_MAX]; };     /* rows of the index */

/* The queries, shared by every index. */
struct search_set {
	struct search_opts opts;
	struct search_query *queries;
	uint32_t n_queries;
	uint32_t *terms;                /* word number of each row, rising */
	uint32_t n_terms;
	const double *pagerank;         /* by page; NULL: all equal */
};

/* Read queries, one a line, words separated by blanks; word_number() gives a
 * word's number or UINT32_MAX.  Words not known are dropped, and queries of which
 * nothing is left; *ret_dropped counts those. */
MUST_CHECK int search_set_read(struct search_set *s, const struct search_opts *opts,
                               const char *path,
                               uint32_t (*word_number)(const void *arg, const char *word,
                                                       size_t size),
                               const void *arg, uint32_t *ret_dropped, struct err *err);
/* Draw queries from a collection: one to three words of a page drawn at random,
 * the first from each of three bands of document frequency in turn. */
MUST_CHECK int search_set_draw(struct search_set *s, const struct search_opts *opts,
                               const struct facts_table *facts, const uint32_t *facts_of_page,
                               uint32_t n_pages, struct err *err);
void search_set_release(struct search_set *s);

struct search_index {
	const struct search_set *set;
	uint32_t n_pages, n_documents;
	uint16_t *count;                /* [term row][page] */
	float *length;                  /* words of a page; 0: not a document */
	uint32_t *df;
	float *score;                   /* of one query, by page */
};

void search_index_init(struct search_index *x, const struct search_set *set,
                       uint32_t n_pages);
/* Set the document of a page (NULL: none). */
void search_index_put(struct search_index *x, uint32_t page, const struct page_facts *f);
/* The best k pages in order; returns how many. */
uint32_t search_rank(struct search_index *x, uint32_t query, uint32_t k, uint32_t *ret);
void search_index_release(struct search_index *x);

/* The top M pages of the ideal, for every cycle and query. */
struct search_ideal {
	uint32_t *pages;                /* [cycle][query][M] */
	uint32_t *n;                    /* [cycle][query] */
	uint32_t n_cycles;
};

void search_ideal_init(struct search_ideal *i, const struct search_set *s, uint32_t n_cycles);
void search_ideal_note(struct search_ideal *i, struct search_index *x, uint32_t cycle);
void search_ideal_release(struct search_ideal *i);

struct search_measure { struct stat_mean freshness, map, embarrassment; };  /* over queries */

/* fresh: our copy is fresh; alive: the live page is there; live_matches: the live page
 * still matches a query. */
struct search_truth {
	bool (*fresh)(const void *arg, uint32_t page);
	bool (*alive)(const void *arg, uint32_t page);
	bool (*live_matches)(const void *arg, uint32_t query, uint32_t page);
	const void *arg;
};

/* Adds each query's values to m. */
void search_measure(struct search_index *x, const struct search_ideal *ideal, uint32_t cycle,
                    const struct search_truth *truth, struct search_measure *m);

#endif
