/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.c - the 48 features of pages; see features.h.
 *
 * Choices where the paper is silent (docs/results/paper2.md has them too):
 * changes are |new - old| / (1 + old), between the last two copies downloaded;
 * PageRank is taken times pages, as a count; its change and that of in-links are
 * between the link structures when features were last made and made before, for
 * pages with a second copy.  Counts and sizes go through ln(1 + x), changes do
 * not; both from the 1st to the 99th percentile (rows_scale()).  Ranks come from
 * clusterings of their own, 100 clusters of TF-IDF rows each.
 *
 * Cost.  O(words of all copies) and two clusterings for the dense sets.
 */
#include "engine/features.h"

#include <math.h>

#include "base/rng.h"
#include "cluster/centroid.h"
#include "graph/graph.h"
#include "graph/pagerank.h"
#include "web/words.h"

#define RANKS 10
#define RANK_CLUSTERS 100

const char *const feature_names[N_COLUMNS] = {
	"text-rank-1", "text-rank-2", "text-rank-3", "text-rank-4", "text-rank-5",
	"text-rank-6", "text-rank-7", "text-rank-8", "text-rank-9", "text-rank-10",
	"images", "tables", "words", "size", "html", "txt", "other-type",
	"url-rank-1", "url-rank-2", "url-rank-3", "url-rank-4", "url-rank-5",
	"url-rank-6", "url-rank-7", "url-rank-8", "url-rank-9", "url-rank-10",
	"depth", "com", "edu", "gov", "org", "net", "mil",
	"pagerank", "in-links", "out-links", "emails",
	"similarity", "images-change", "tables-change", "size-change", "words-change",
	"pagerank-change", "in-links-change", "out-links-change", "emails-change",
	"change-frequency",
};

static const char *const domains[] = { ".com", ".edu", ".gov", ".org", ".net", ".mil" };

static void make_rows(void *self, const struct view *v, enum feature_set set,
                      struct rows *ret)
{
	features_rows(self, v, set, ret);
}

void features_init(struct features *f, const struct pages *pages,
                   const struct feature_source *source)
{
	*f = (struct features){ .source = *source, .pages = pages };
	f->maker = (struct feature_maker){ f, make_rows };
	f->visits = mem_zalloc(pages->n, sizeof *f->visits);
	f->changes = mem_zalloc(pages->n, sizeof *f->changes);
}

void features_release(struct features *f)
{
	rows_release(&f->url);
	strtab_release(&f->url_words);
	free(f->url_ranks);
	free(f->visits);
	free(f->changes);
	for (int i = 0; i < 2; i++) {
		free(f->pagerank[i]);
		free(f->in_links[i]);
	}
	*f = (struct features){ 0 };
}

void features_note(struct features *f, uint32_t page, bool changed)
{
	f->visits[page]++;
	f->changes[page] += changed;
}

static bool is_here(const struct view *v, uint32_t page)
{
	return v->state[page] & PAGE_HERE;
}

/* ---- words */

struct url_adder { struct strtab *words; struct rows *rows; };

static void add_url_word(void *arg, const char *word, size_t size, uint64_t hash)
{
	struct url_adder *a = arg;
	uint32_t number = strtab_intern(a->words, word, size, NULL);

	(void)hash;
	if (number >= a->rows->dim)
		a->rows->dim = number + 1;
	rows_add(a->rows, number, 1);
}

/* Host and path of a URL: behind "://", before '?'. */
static const char *url_text(const struct pages *p, uint32_t page, size_t *ret_size)
{
	const char *s = strstr(pages_url(p, page), "://");

	s = s ? s + 3 : pages_url(p, page);
	*ret_size = strcspn(s, "?#");
	return s;
}

/* URL words of every page; they never change, so neither do the rows. */
static void make_url_rows(struct features *f)
{
	struct url_adder adder = { &f->url_words, &f->url };

	if (f->url.start)
		return;
	rows_init_sparse(&f->url, 1);
	for (uint32_t i = 0; i < f->pages->n; i++) {
		struct words w = { .no_simhash = true, .each = add_url_word, .arg = &adder };
		size_t size;
		const char *text = url_text(f->pages, i, &size);

		words_add(&w, text, size);
		rows_close(&f->url);
	}
	rows_tfidf(&f->url);
	rows_unit(&f->url);
}

static void copy_row(const struct rows *from, uint32_t i, struct rows *to)
{
	for (uint64_t j = from->start[i]; j < from->start[i + 1]; j++)
		rows_add(to, from->term[j], from->weight[j]);
}

static void url_rows(struct features *f, const struct view *v, struct rows *ret)
{
	make_url_rows(f);
	rows_init_sparse(ret, f->url.dim);
	for (uint32_t i = 0; i < f->pages->n; i++) {
		if (is_here(v, i))
			copy_row(&f->url, i, ret);
		rows_close(ret);
	}
}

static void content_rows(struct features *f, const struct view *v, struct rows *ret)
{
	rows_init_sparse(ret, FACTS_TERMS_MAX);
	for (uint32_t i = 0; i < f->pages->n; i++) {
		struct page_facts facts;

		if (is_here(v, i) && f->source.facts(f->source.self, i, false, &facts))
			for (uint32_t t = 0; t < facts.n_terms; t++)
				rows_add(ret, facts.term[t], facts.count[t]);
		rows_close(ret);
	}
	ret->dim = 1;                   /* as large as the words that occur ask for */
	for (uint64_t i = 0; i < ret->open; i++)
		if (ret->term[i] >= ret->dim)
			ret->dim = ret->term[i] + 1;
	rows_tfidf(ret);
	rows_unit(ret);
}

/* Ranks of each page's cluster by distance from the ten largest. */
static void rank_rows(const struct rows *rows, const struct view *v, float *ret)
{
	struct bisect_options o = { .k = RANK_CLUSTERS, .threads = v->threads,
	                            .seed = rng_draw(v->seed, 0, 0, RNG_SPLIT) };
	uint32_t *members = mem_array(rows->n, sizeof *members), n = 0;
	struct clusters c;

	for (uint32_t i = 0; i < rows->n; i++)
		if (is_here(v, i))
			members[n++] = i;
	bisect_run(rows, members, n, &o, &c);
	centroid_rank_features(&c, RANKS, ret);
	clusters_release(&c);
	free(members);
}

static void put_ranks(const float *ranks, struct rows *r, uint32_t column)
{
	for (uint32_t i = 0; i < r->n; i++)
		memcpy(rows_dense(r, i) + column, ranks + (size_t)i * RANKS,
		       RANKS * sizeof *ranks);
}

static void add_ranks(struct features *f, const struct view *v, struct rows *r)
{
	float *ranks = mem_array((size_t)r->n * RANKS, sizeof *ranks);
	struct rows content;

	content_rows(f, v, &content);
	rank_rows(&content, v, ranks);
	rows_release(&content);
	put_ranks(ranks, r, COLUMN_TEXT_RANKS);
	if (!f->url_ranks) {
		make_url_rows(f);
		rank_rows(&f->url, v, ranks);
		f->url_ranks = ranks;
		ranks = NULL;
	}
	put_ranks(f->url_ranks, r, COLUMN_URL_RANKS);
	free(ranks);
}

/* ---- links */

/* PageRank times pages, and in-links, of the links of our copies. */
static void measure_links(struct features *f, const struct view *v, float *rank, float *in)
{
	struct graph_build_opts build = { .dedupe = true, .drop_loops = true };
	struct graph_builder *b = graph_builder_new(&build);
	struct pagerank_opts opts = PAGERANK_DEFAULTS;
	struct pagerank_result result;
	uint32_t n = f->pages->n, *degree = mem_array(n, sizeof *degree);
	double *exact = mem_zalloc(n, sizeof *exact);
	struct graph g = { 0 };
	struct err err;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		size_t n_to;
		const uint32_t *to = is_here(v, i) ? f->source.links(f->source.self, i, &n_to)
		                                   : (n_to = 0, NULL);

		for (size_t k = 0; k < n_to && rc == 0; k++)
			if (to[k] < n && is_here(v, to[k]))
				rc = graph_builder_add(b, i, to[k], &err);
	}
	memset(degree, 0, n * sizeof *degree);
	opts.threads = v->threads;
	if (rc == 0)
		rc = graph_builder_finish(b, n, &g, &err);
	else
		graph_builder_free(b);
	if (rc == 0)
		rc = pagerank(&g, &opts, exact, &result, &err);
	if (rc == 0)
		graph_in_degrees(&g, degree);
	for (uint32_t i = 0; i < n; i++) {      /* no links to be had: all alike */
		rank[i] = rc == 0 ? (float)(exact[i] * n) : 1;
		in[i] = (float)degree[i];
	}
	graph_release(&g);
	free(exact);
	free(degree);
}

/* Keep the measures of the last time before this cycle beside those of now. */
static void renew_links(struct features *f, const struct view *v)
{
	uint32_t n = f->pages->n;

	if (f->made == v->cycle + 1)
		return;
	for (int i = 0; i < 2 && !f->pagerank[1]; i++) {
		f->pagerank[i] = mem_zalloc(n, sizeof(float));
		f->in_links[i] = mem_zalloc(n, sizeof(float));
	}
	memcpy(f->pagerank[1], f->pagerank[0], n * sizeof(float));
	memcpy(f->in_links[1], f->in_links[0], n * sizeof(float));
	measure_links(f, v, f->pagerank[0], f->in_links[0]);
	if (!f->made) {
		memcpy(f->pagerank[1], f->pagerank[0], n * sizeof(float));
		memcpy(f->in_links[1], f->in_links[0], n * sizeof(float));
	}
	f->made = v->cycle + 1;
}

/* ---- columns */

static float change(float now, float before)
{
	return fabsf(now - before) / (1 + before);
}

/* Cosine of two lists of words, by their counts; 1 if both are empty. */
static float similarity(const struct page_facts *a, const struct page_facts *b,
                        uint16_t *counts)
{
	double dot = 0, aa = 0, bb = 0;

	for (uint32_t i = 0; i < a->n_terms; i++) {
		counts[a->term[i]] = a->count[i];
		aa += (double)a->count[i] * a->count[i];
	}
	for (uint32_t i = 0; i < b->n_terms; i++) {
		dot += (double)b->count[i] * counts[b->term[i]];
		bb += (double)b->count[i] * b->count[i];
	}
	for (uint32_t i = 0; i < a->n_terms; i++)
		counts[a->term[i]] = 0;
	if (aa == 0 || bb == 0)
		return aa == bb;
	return (float)(dot / sqrt(aa * bb));
}

static void put_url(const struct pages *p, uint32_t page, float *x)
{
	size_t size, host;
	const char *s = url_text(p, page, &size);

	host = strcspn(s, "/?#:");
	for (size_t i = 0; i < size; i++)
		x[COLUMN_DEPTH] += s[i] == '/';
	for (int d = 0; d < 6; d++)
		x[COLUMN_COM + d] = host > 4 && !memcmp(s + host - 4, domains[d], 4);
}

static void put_copy(const struct page_facts *a, float *x)
{
	x[COLUMN_IMAGES] = a->images;
	x[COLUMN_TABLES] = a->tables;
	x[COLUMN_WORDS] = a->words;
	x[COLUMN_SIZE] = a->text;
	x[COLUMN_HTML + (int)a->type] = 1;
	x[COLUMN_OUT_LINKS] = a->outlinks;
	x[COLUMN_EMAILS] = a->emails;
}

static void put_changes(const struct features *f, uint32_t i, const struct page_facts *a,
                        const struct page_facts *b, uint16_t *counts, float *x)
{
	x[COLUMN_SIMILARITY] = similarity(a, b, counts);
	x[COLUMN_D_IMAGES] = change(a->images, b->images);
	x[COLUMN_D_TABLES] = change(a->tables, b->tables);
	x[COLUMN_D_SIZE] = change(a->text, b->text);
	x[COLUMN_D_WORDS] = change(a->words, b->words);
	x[COLUMN_D_OUT_LINKS] = change(a->outlinks, b->outlinks);
	x[COLUMN_D_EMAILS] = change(a->emails, b->emails);
	x[COLUMN_D_PAGERANK] = change(f->pagerank[0][i], f->pagerank[1][i]);
	x[COLUMN_D_IN_LINKS] = change(f->in_links[0][i], f->in_links[1][i]);
}

void features_raw(struct features *f, const struct view *v, bool ranks, struct rows *ret)
{
	uint16_t *counts = mem_zalloc(FACTS_TERMS_MAX, sizeof *counts);

	renew_links(f, v);
	rows_init_dense(ret, f->pages->n, N_COLUMNS);
	for (uint32_t i = 0; i < f->pages->n; i++) {
		float *x = rows_dense(ret, i);
		struct page_facts now, before;

		if (!is_here(v, i))
			continue;
		put_url(f->pages, i, x);
		x[COLUMN_PAGERANK] = f->pagerank[0][i];
		x[COLUMN_IN_LINKS] = f->in_links[0][i];
		x[COLUMN_SIMILARITY] = 1;
		if (f->visits[i])
			x[COLUMN_FREQUENCY] = (float)f->changes[i] / (float)f->visits[i];
		if (!f->source.facts(f->source.self, i, false, &now))
			continue;
		put_copy(&now, x);
		if (f->visits[i] && f->source.facts(f->source.self, i, true, &before))
			put_changes(f, i, &now, &before, counts, x);
	}
	free(counts);
	if (ranks)
		add_ranks(f, v, ret);
}

uint32_t features_columns(enum feature_set set, uint8_t ret[N_COLUMNS])
{
	uint32_t n = 0;

	if (set < FEATURES_STATIC)
		return 0;
	for (uint8_t j = 0; j < N_COLUMNS; j++) {
		bool rank = j < COLUMN_IMAGES || (j >= COLUMN_URL_RANKS && j < COLUMN_DEPTH);

		if ((set == FEATURES_STATIC && (rank || j >= N_STATIC)) ||
		    (set == FEATURES_DYNAMIC && j < N_STATIC) ||
		    (set == FEATURES_FIRST_COPY && j >= N_STATIC))
			continue;
		ret[n++] = j;
	}
	return n;
}

static enum rows_scale scale_of(uint8_t column)
{
	if (column > COLUMN_SIMILARITY && column < COLUMN_FREQUENCY)
		return ROWS_VALUE;
	if ((column >= COLUMN_IMAGES && column <= COLUMN_SIZE) || column == COLUMN_DEPTH ||
	    (column >= COLUMN_PAGERANK && column <= COLUMN_EMAILS))
		return ROWS_COUNT;
	return ROWS_SHARE;
}

/* Scale the pages of the repository only: those that left say nothing. */
static void dense_rows(struct features *f, const struct view *v, enum feature_set set,
                       struct rows *ret)
{
	uint8_t column[N_COLUMNS];
	enum rows_scale scale[N_COLUMNS];
	uint32_t n_columns = features_columns(set, column), n_here = 0, at = 0;
	struct rows raw, here;

	features_raw(f, v, set == FEATURES_COMBINED || set == FEATURES_FIRST_COPY, &raw);
	for (uint32_t i = 0; i < raw.n; i++)
		n_here += is_here(v, i);
	rows_init_dense(&here, n_here, n_columns);
	for (uint32_t i = 0; i < raw.n; i++) {
		for (uint32_t j = 0; j < n_columns && is_here(v, i); j++)
			rows_dense(&here, at)[j] = rows_dense(&raw, i)[column[j]];
		at += is_here(v, i);
	}
	rows_release(&raw);
	for (uint32_t j = 0; j < n_columns; j++)
		scale[j] = scale_of(column[j]);
	rows_scale(&here, scale);
	rows_unit(&here);
	rows_init_dense(ret, f->pages->n, n_columns);
	at = 0;
	for (uint32_t i = 0; i < ret->n; i++)
		if (is_here(v, i))
			memcpy(rows_dense(ret, i), rows_dense(&here, at++),
			       ret->stride * sizeof(float));
	rows_release(&here);
}

void features_rows(struct features *f, const struct view *v, enum feature_set set,
                   struct rows *ret)
{
	struct rows url, content;

	switch (set) {
	case FEATURES_URL:
		url_rows(f, v, ret);
		break;
	case FEATURES_CONTENT:
		content_rows(f, v, ret);
		break;
	case FEATURES_URL_CONTENT:
		url_rows(f, v, &url);
		content_rows(f, v, &content);
		rows_join(ret, &url, &content);
		rows_release(&url);
		rows_release(&content);
		break;
	default:
		dense_rows(f, v, set, ret);
	}
}
