/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_url.c - what URLs and links say of a page before anything is tested.
 *
 * Tree.  The path of a page: host, directories one by one (10 parts at most),
 * then the first two words of the file name without its extension.  Each prefix
 * is a node under a common root, found by the hash of (parent, part); parents
 * have smaller numbers than children.
 * Cost.  O(bytes of URLs) and a sort of the URLs for the sample, once;
 * about 80 bytes a page.
 */
#include <ctype.h>
#include <math.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "graph/graph.h"
#include "policy/evidence/evidence.h"

#define PARTS_MAX 10
#define GOLDEN 0.61803398874989485

/* A URL cut up; all ends are within its text. */
struct cut {
	const char *host, *host_end, *path, *name, *name_end, *end;
};

static void cut_url(const char *url, struct cut *c)
{
	const char *s = strstr(url, "://");

	c->host = s ? s + 3 : url;
	c->host_end = c->path = c->host + strcspn(c->host, "/?#");
	c->end = c->path + strcspn(c->path, "?#");
	for (c->name = c->end; c->name > c->path && c->name[-1] != '/'; c->name--)
		;
	for (c->name_end = c->end; c->name_end > c->name && c->name_end[-1] != '.'; c->name_end--)
		;
	/* without the dot; a name without one, or only one in front, is all name */
	c->name_end = c->name_end > c->name + 1 ? c->name_end - 1 : c->end;
}

struct builder {
	struct map nodes, groups[N_GROUPS], words;
	VEC(uint32_t) parent, word;
};

static uint32_t step_down(struct builder *b, uint32_t parent, const char *s, const char *end)
{
	uint64_t key = hash_bytes(s, (size_t)(end - s), rng_mix(parent + 1));
	bool fresh;
	uint32_t id = map_intern(&b->nodes, key, (uint32_t)b->parent.n, &fresh);

	if (fresh)
		vec_push(&b->parent, parent);
	return id;
}

static uint32_t place(struct builder *b, const struct cut *c, uint32_t *ret_host)
{
	uint32_t node = *ret_host = step_down(b, 0, c->host, c->host_end);
	const char *s = c->path, *e;
	int words = 0;

	for (int parts = 1; parts < PARTS_MAX && s < c->name; parts++) {
		while (s < c->name && *s == '/')
			s++;
		e = s;
		while (e < c->name && *e != '/')
			e++;
		if (e > s)
			node = step_down(b, node, s, e);
		s = e;
	}
	for (s = c->name; s < c->name_end && words < 2; words++) {
		while (s < c->name_end && !isalpha((unsigned char)*s))
			s++;
		for (e = s; e < c->name_end && isalpha((unsigned char)*e); e++)
			;
		if (e > s)
			node = step_down(b, node, s, e);
		s = e;
	}
	return node;
}

static int depth_of(const struct cut *c)
{
	int n = 0;

	for (const char *s = c->path; s < c->end; s++)
		n += *s == '/';
	return n;
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The kind of name, hashed: runs of digits as 0, of letters as a, and of words behind
 * two that are joined alike nothing, so that 2016-01-25-our-new-site is 0-0-0-a-a. */
static uint64_t form_hash(const struct cut *c, uint64_t seed)
{
	char out[64];
	size_t n = 0;

	for (const char *s = c->name; s < c->name_end && n < sizeof out;) {
		bool digit = isdigit((unsigned char)*s), letter = is_letter(*s);

		out[n++] = digit ? '0' : letter ? 'a' : *s;
		do
			s++;
		while (s < c->name_end && ((digit && isdigit((unsigned char)*s)) ||
		                           (letter && is_letter(*s))));
		if (letter && n >= 5 && out[n - 3] == 'a' && out[n - 5] == 'a' &&
		    out[n - 2] == out[n - 4])
			n -= 2;
	}
	return hash_bytes(out, n, seed);
}

static bool is_digit_at(const char *s, const char *end)
{
	return s < end && isdigit((unsigned char)*s);
}

/* (19|20)dd[/-]d anywhere in the path */
static bool has_date(const struct cut *c)
{
	for (const char *s = c->path; s + 6 <= c->end; s++)
		if (((s[0] == '1' && s[1] == '9') || (s[0] == '2' && s[1] == '0')) &&
		    is_digit_at(s + 2, c->end) && is_digit_at(s + 3, c->end) &&
		    (s[4] == '/' || s[4] == '-') && is_digit_at(s + 5, c->end))
			return true;
	return false;
}

/* v?d+(.d+)+ at the beginning of a part */
static bool has_version(const struct cut *c)
{
	for (const char *s = c->path; s < c->end; s++) {
		const char *t = s + 1;

		if (*s != '/')
			continue;
		if (t < c->end && *t == 'v')
			t++;
		if (!is_digit_at(t, c->end))
			continue;
		while (is_digit_at(t, c->end))
			t++;
		if (t < c->end && *t == '.' && is_digit_at(t + 1, c->end))
			return true;
	}
	return false;
}

static void find_statics(const struct cut *c, const struct view *v, uint32_t page, bool urls,
                         float *x)
{
	memset(x, 0, N_STATICS * sizeof *x);
	if (urls) {
		x[STATIC_DEPTH] = (float)depth_of(c);
		for (const char *s = c->name; s < c->end; s++)
			if (isdigit((unsigned char)*s))
				x[STATIC_DIGIT] = 1;
		x[STATIC_DATE] = has_date(c);
		x[STATIC_VERSION] = has_version(c);
		x[STATIC_EMPTY] = c->name == c->end;
		x[STATIC_LENGTH] = log1pf((float)(c->end - c->path));
	}
	if (v->links && v->links_in) {
		x[STATIC_IN] = log1pf((float)graph_degree(v->links_in, page));
		x[STATIC_OUT] = log1pf((float)graph_degree(v->links, page));
	}
	if (v->pagerank)
		x[STATIC_RANK] = logf((float)(v->pagerank[page] * v->n_pages) + 1e-6f);
}

static void standardise(float *x, uint32_t n)
{
	for (int k = 0; k < N_STATICS; k++) {
		double sum = 0, square = 0, mean, sd;

		for (uint32_t i = 0; i < n; i++) {
			double y = (double)x[(size_t)i * N_STATICS + (size_t)k];

			sum += y;
			square += y * y;
		}
		mean = sum / n;
		sd = sqrt(fmax(0, square / n - mean * mean));
		for (uint32_t i = 0; i < n; i++) {
			float *y = &x[(size_t)i * N_STATICS + (size_t)k];

			*y = sd > 1e-6 ? (float)(((double)*y - mean) / sd) : 0;
		}
	}
}

static int by_url(const void *pa, const void *pb, void *pv)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int d = strcmp(view_url(pv, a), view_url(pv, b));

	return d ? d : a < b ? -1 : a > b;
}

/* A page's part in the sample: one over the root of the pages in directories like its
 * own, so that small places are seen early and a huge one, or one in many versions,
 * does not take all. */
static double sample_weight(const struct view *v, uint32_t page, const uint32_t *alike)
{
	if (!(v->state[page] & PAGE_HERE))
		return 0;
	return alike ? 1 / sqrt(alike[v->family[FAMILY_SHAPE][page]]) : 1;
}

/* Pages of each shape of directories; NULL: URLs are hidden. */
static uint32_t *count_alike(const struct view *v)
{
	const uint32_t *shape = v->family[FAMILY_SHAPE];
	uint32_t *ret = shape ? mem_zalloc(v->n_family[FAMILY_SHAPE], sizeof *ret) : NULL;

	for (uint32_t i = 0; shape && i < v->n_pages; i++)
		ret[shape[i]]++;
	return ret;
}

/* The first page from i on that is not taken, around the end. */
static uint32_t next_free(uint32_t *next, uint32_t i, uint32_t n)
{
	for (; next[i] != i; i = next[i])
		next[i] = next[next[i]];
	return i < n ? i : next_free(next, 0, n);
}

/* The first i whose sum is above the point. */
static uint32_t find_point(const double *sum, uint32_t n, double point)
{
	uint32_t from = 0, to = n - 1;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (sum[mid] <= point)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Pages at the points frac(u + k g) of the weights summed along the sorted URLs, g the
 * golden ratio: every beginning of the sample, not only the whole, lies evenly. */
static void draw_sample(struct evidence_world *w, const struct view *v,
                        const uint32_t *sorted, double share)
{
	uint32_t n = v->n_pages, here = 0, z;
	double *sum = mem_array(n, sizeof *sum), all = 0, at;
	uint32_t *next = mem_array((size_t)n + 1, sizeof *next), *alike = count_alike(v);
	struct rng r;

	for (uint32_t i = 0; i < n; i++) {
		double weight = sample_weight(v, sorted[i], alike);

		sum[i] = all += weight;
		next[i] = weight > 0 ? i : i + 1;
		here += weight > 0;
	}
	next[n] = n;
	z = (uint32_t)fmin(here, fmax(100, share * n));
	w->sample = mem_array(z, sizeof *w->sample);
	rng_init(&r, rng_draw(v->seed, 0, 0, RNG_SAMPLE));
	for (at = rng_next_unit(&r); w->n_sample < z; at += GOLDEN) {
		uint32_t i = next_free(next, find_point(sum, n, (at - floor(at)) * all), n);

		w->sample[w->n_sample++] = sorted[i];
		next[i] = i + 1;
	}
	free(sum);
	free(next);
	free(alike);
}

/* Pages by URL; hidden URLs by chance. */
static uint32_t *sort_pages(const struct view *v, bool urls)
{
	uint32_t *order = mem_array(v->n_pages, sizeof *order);
	struct rng r;

	for (uint32_t i = 0; i < v->n_pages; i++)
		order[i] = i;
	rng_init(&r, rng_draw(v->seed, 0, 1, RNG_SAMPLE));
	if (urls)
		qsort_r(order, v->n_pages, sizeof *order, by_url, (void *)(uintptr_t)v);
	else
		rng_shuffle(&r, order, v->n_pages);
	return order;
}

/* Pages so that each node's are in a row: its own first, then its children's. */
static void order_pages(struct evidence_world *w, const uint32_t *sorted, uint32_t n)
{
	uint32_t *own = mem_zalloc(w->n_nodes, sizeof *own);
	uint32_t *next = mem_zalloc(w->n_nodes, sizeof *next);

	w->first = mem_zalloc(w->n_nodes, sizeof *w->first);
	w->size = mem_zalloc(w->n_nodes, sizeof *w->size);
	w->order = mem_array(n, sizeof *w->order);
	for (uint32_t i = 0; i < n; i++)
		own[w->node[i]]++;
	for (uint32_t v = w->n_nodes; v-- > 0;) {
		w->size[v] += own[v];
		if (v)
			w->size[w->parent[v]] += w->size[v];
	}
	for (uint32_t v = 0; v < w->n_nodes; v++) {
		if (v) {
			w->first[v] = next[w->parent[v]];
			next[w->parent[v]] += w->size[v];
		}
		next[v] = w->first[v] + own[v];
	}
	for (uint32_t v = 0; v < w->n_nodes; v++)
		next[v] = w->first[v];
	for (uint32_t i = 0; i < n; i++)
		w->order[next[w->node[sorted[i]]]++] = sorted[i];
	free(own);
	free(next);
}

static void find_words(struct evidence_world *w, struct builder *b, const char *name,
                       const char *end, uint64_t site)
{
	uint64_t words[EVIDENCE_WORDS_MAX];
	int n = evidence_words(name, end, site, words);
	bool fresh;

	for (int i = 0; i < n; i++) {
		vec_push(&b->word, map_intern(&b->words, words[i], w->n_words, &fresh));
		w->n_words += fresh;
	}
}

static void place_page(struct evidence_world *w, struct builder *b, const struct view *v,
                       uint32_t i, bool urls)
{
	struct cut c;
	static const char same[] = "a";
	uint64_t key[N_GROUPS] = { 0 };
	uint64_t site = rng_mix(v->site[i]);
	bool fresh;

	cut_url(view_url(v, i), &c);
	w->host[i] = 0;
	w->node[i] = urls ? place(b, &c, &w->host[i]) : 0;
	key[GROUP_FORM] = form_hash(&c, site);
	key[GROUP_EXT] = hash_bytes(c.name_end, (size_t)(c.end - c.name_end), site);
	/* hidden URLs: all pages are one group and have one word, whose effect tells how
	 * well choosing goes; in the fit it takes that off what links are worth */
	for (int g = GROUP_FORM; g < N_GROUPS; g++) {
		w->group[g][i] = map_intern(&b->groups[g], urls ? key[g] : 0, w->n_group[g], &fresh);
		w->n_group[g] += fresh;
	}
	if (urls)
		find_words(w, b, c.name, c.name_end, site);
	else
		find_words(w, b, same, same + 1, 0);
	w->word_first[i + 1] = (uint32_t)b->word.n;
	find_statics(&c, v, i, urls, w->statics + (size_t)i * N_STATICS);
}

void evidence_world_init(struct evidence_world *w, const struct view *v, bool urls,
                         double sample)
{
	static const enum family family[GROUP_FORM] = { FAMILY_NAME, FAMILY_LAST, FAMILY_SHAPE };
	struct builder b = { .nodes = { 0 } };
	uint32_t n = v->n_pages, *sorted;

	*w = (struct evidence_world){ 0 };
	w->node = mem_array(n, sizeof *w->node);
	w->host = mem_array(n, sizeof *w->host);
	w->word_first = mem_zalloc((size_t)n + 1, sizeof *w->word_first);
	w->statics = mem_array((size_t)n * N_STATICS, sizeof *w->statics);
	for (int g = 0; g < GROUP_FORM; g++) {
		w->group[g] = (uint32_t *)(uintptr_t)v->family[family[g]];
		w->n_group[g] = v->family[family[g]] ? v->n_family[family[g]] : 0;
	}
	for (int g = GROUP_FORM; g < N_GROUPS; g++)
		w->group[g] = mem_array(n, sizeof *w->group[g]);
	vec_push(&b.parent, 0);
	for (uint32_t i = 0; i < n; i++)
		place_page(w, &b, v, i, urls);
	standardise(w->statics, n);
	w->n_nodes = (uint32_t)b.parent.n;
	w->parent = b.parent.v;
	w->word = b.word.v;
	map_release(&b.nodes);
	for (int g = 0; g < N_GROUPS; g++)
		map_release(&b.groups[g]);
	map_release(&b.words);
	sorted = sort_pages(v, urls);
	order_pages(w, sorted, n);
	draw_sample(w, v, sorted, sample);
	free(sorted);
}

void evidence_world_release(struct evidence_world *w)
{
	free(w->parent);
	free(w->node);
	free(w->host);
	free(w->word_first);
	free(w->word);
	free(w->statics);
	free(w->first);
	free(w->size);
	free(w->order);
	free(w->sample);
	for (int g = GROUP_FORM; g < N_GROUPS; g++)
		free(w->group[g]);
	*w = (struct evidence_world){ 0 };
}
