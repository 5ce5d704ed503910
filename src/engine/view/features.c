/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.c - the 48 features of pages; see features.h.
 *
 * Choices where the paper is silent (docs/results/paper2.md has them too):
 * changes are between the last two copies downloaded (web/page/features.h); PageRank is
 * taken times pages, as a count; its change and that of in-links are between the link
 * structures when features were last made and made before, for pages with a second
 * copy.  Counts and sizes go through ln(1 + x), changes do not; both from the 1st to
 * the 99th percentile (rows_scale()).  Ranks come from clusterings of their own, 100
 * clusters of TF-IDF rows each.
 *
 * Cost.  O(words of all copies) and two clusterings for the dense sets.
 */
#include "engine/view/features_inner.h"

#include "base/math/rng.h"
#include "cluster/centroid.h"
#include "web/text/terms.h"
#include "web/text/words.h"

#define RANK_CLUSTERS 100

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

/* Host and path of a URL: after "://", before '?'. */
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
		if (features_here(v, i))
			copy_row(&f->url, i, ret);
		rows_close(ret);
	}
}

static void content_rows(struct features *f, const struct view *v, struct rows *ret)
{
	rows_init_sparse(ret, TERMS_VOCABULARY_MAX);
	for (uint32_t i = 0; i < f->pages->n; i++) {
		struct page_facts facts;

		if (features_here(v, i) && f->source.facts(f->source.self, i, false, &facts))
			for (uint32_t t = 0; t < facts.n_terms; t++)
				rows_add(ret, facts.terms[t].id, (float)facts.terms[t].count);
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
		if (features_here(v, i))
			members[n++] = i;
	bisect_run(rows, members, n, &o, &c);
	centroid_rank_features(&c, FEATURE_RANKS, ret);
	clusters_release(&c);
	free(members);
}

static void put_ranks(const float *ranks, struct rows *r, uint32_t column)
{
	for (uint32_t i = 0; i < r->n; i++)
		memcpy(rows_dense(r, i) + column, ranks + (size_t)i * FEATURE_RANKS,
		       FEATURE_RANKS * sizeof *ranks);
}

static void add_ranks(struct features *f, const struct view *v, struct rows *r)
{
	float *ranks = mem_array((size_t)r->n * FEATURE_RANKS, sizeof *ranks);
	struct rows content;

	content_rows(f, v, &content);
	rank_rows(&content, v, ranks);
	rows_release(&content);
	put_ranks(ranks, r, FEATURE_text_rank_1);
	if (!f->url_ranks) {
		make_url_rows(f);
		rank_rows(&f->url, v, ranks);
		f->url_ranks = ranks;
		ranks = NULL;
	}
	put_ranks(f->url_ranks, r, FEATURE_url_rank_1);
	free(ranks);
}

/* ---- columns */

/* Cosine of the words of two copies, by their counts. */
static double similarity(const struct page_facts *a, const struct page_facts *b)
{
	struct term_vector x = { { (struct term *)(uintptr_t)a->terms, a->n_terms, 0 } };
	struct term_vector y = { { (struct term *)(uintptr_t)b->terms, b->n_terms, 0 } };

	return terms_cosine(&x, &y);
}

static void to_copy(struct feature_copy *ret, const struct page_facts *f, float pagerank,
                    float in_links)
{
	*ret = (struct feature_copy){
		.type = f->type, .images = (double)f->images, .tables = (double)f->tables,
		.words = (double)f->words, .size = (double)f->text,
		.out_links = (double)f->outlinks, .emails = (double)f->emails,
		.pagerank = (double)pagerank, .in_links = (double)in_links,
	};
}

static void fill_page(const struct features *f, uint32_t i, float *ret)
{
	struct feature_input in = { .url = pages_url(f->pages, i) };
	struct feature_copy copy, older;
	struct page_facts now, before;
	double all[FEATURE_COUNT];
	bool known = f->source.facts(f->source.self, i, false, &now);

	if (!known)
		now.type = PAGE_HTML;
	to_copy(&copy, &now, f->pagerank[0][i], f->in_links[0][i]);
	in.copy = &copy;
	if (known && f->visits[i] && f->source.facts(f->source.self, i, true, &before)) {
		to_copy(&older, &before, f->pagerank[1][i], f->in_links[1][i]);
		in.before = &older;
		in.similarity = similarity(&now, &before);
		in.change_frequency = (double)f->changes[i] / f->visits[i];
	}
	features_fill(all, &in);
	if (!known)
		all[FEATURE_is_html] = 0;
	for (int j = 0; j < FEATURE_COUNT; j++)
		ret[j] = (float)all[j];
}

void features_raw(struct features *f, const struct view *v, bool ranks, struct rows *ret)
{
	features_renew_links(f, v);
	rows_init_dense(ret, f->pages->n, FEATURE_COUNT);
	for (uint32_t i = 0; i < f->pages->n; i++)
		if (features_here(v, i))
			fill_page(f, i, rows_dense(ret, i));
	if (ranks)
		add_ranks(f, v, ret);
}

uint32_t features_columns(enum feature_set set, uint8_t ret[FEATURE_COUNT])
{
	static const unsigned groups[] = {
		[SET_STATIC] = FEATURES_STATIC, [SET_DYNAMIC] = FEATURES_DYNAMIC,
		[SET_COMBINED] = FEATURES_ALL,
		[SET_FIRST_COPY] = FEATURES_ALL & ~(unsigned)FEATURES_DYNAMIC,
	};
	uint32_t n = 0;

	for (uint8_t j = 0; set >= SET_STATIC && j < FEATURE_COUNT; j++)
		if (feature_rows[j].group & groups[set])
			ret[n++] = j;
	return n;
}

static enum rows_scale scale_of(uint8_t column)
{
	if (column > FEATURE_similarity && column < FEATURE_change_frequency)
		return ROWS_VALUE;
	if ((column >= FEATURE_images && column <= FEATURE_size) || column == FEATURE_depth ||
	    feature_rows[column].group == FEATURES_LINKAGE)
		return ROWS_COUNT;
	return ROWS_SHARE;
}

/* Scale by the pages in the repository only, not by those that left. */
static void dense_rows(struct features *f, const struct view *v, enum feature_set set,
                       struct rows *ret)
{
	uint8_t column[FEATURE_COUNT];
	enum rows_scale scale[FEATURE_COUNT];
	uint32_t n_columns = features_columns(set, column), n_here = 0, at = 0;
	struct rows raw, here;

	features_raw(f, v, set == SET_COMBINED || set == SET_FIRST_COPY, &raw);
	for (uint32_t i = 0; i < raw.n; i++)
		n_here += features_here(v, i);
	rows_init_dense(&here, n_here, n_columns);
	for (uint32_t i = 0; i < raw.n; i++) {
		for (uint32_t j = 0; j < n_columns && features_here(v, i); j++)
			rows_dense(&here, at)[j] = rows_dense(&raw, i)[column[j]];
		at += features_here(v, i);
	}
	rows_release(&raw);
	for (uint32_t j = 0; j < n_columns; j++)
		scale[j] = scale_of(column[j]);
	rows_scale(&here, scale);
	rows_unit(&here);
	rows_init_dense(ret, f->pages->n, n_columns);
	at = 0;
	for (uint32_t i = 0; i < ret->n; i++)
		if (features_here(v, i))
			memcpy(rows_dense(ret, i), rows_dense(&here, at++),
			       ret->stride * sizeof(float));
	rows_release(&here);
}

void features_rows(struct features *f, const struct view *v, enum feature_set set,
                   struct rows *ret)
{
	struct rows url, content;

	switch (set) {
	case SET_URL:
		url_rows(f, v, ret);
		break;
	case SET_CONTENT:
		content_rows(f, v, ret);
		break;
	case SET_URL_CONTENT:
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

void features_rows_here(const struct rows *all, const struct view *v, struct rows *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		n += (v->state[i] & PAGE_HERE) != 0;
	if (rows_is_dense(all))
		rows_init_dense(ret, n, all->dim);
	else
		rows_init_sparse(ret, all->dim);
	n = 0;
	for (uint32_t i = 0; i < all->n; i++) {
		if (!(v->state[i] & PAGE_HERE))
			continue;
		if (rows_is_dense(all)) {
			memcpy(rows_dense(ret, n++), rows_dense(all, i), all->stride * sizeof(float));
			continue;
		}
		for (uint64_t j = all->start[i]; j < all->start[i + 1]; j++)
			rows_add(ret, all->term[j], all->weight[j]);
		rows_close(ret);
	}
}
