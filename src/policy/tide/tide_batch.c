/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_batch.c - which pages one batch of tide takes, given all chances.
 *
 * The score of a page is its worth with noise, largest where a hit is in doubt, drawn
 * anew for every batch from a table of normals by a hash of page and batch.  Where a hit is
 * certain but its worth is a time to come, some noise is left: what is taken to change too
 * soon again is visited now and then, and not given up for good.  The best
 * are found without sorting all: a pass counts scores in buckets and collects what lies
 * above the bucket at which enough were counted in the batch before; if that was too
 * little, a pass over all finds the right one.  Most pages can never be among the best,
 * whatever the noise: once they were all looked at, only those that can are, in a pool
 * to which pages come when they are scored anew; if it runs dry, it is made again.  Where
 * most pages are alike, as in a repository that was never visited, nearly all can: then the
 * pool is bits, and no list.
 * Then they are walked in order, and no directory gives more pages than one plus
 * what it yielded in this cycle; what was passed over fills the batch if it is not
 * full.
 *
 * Threads divide pages into parts with counts and lists of their own.  Which page is in
 * which part does not matter: counts are added, and the best are put in order.
 *
 * Cost.  O(pages of the pool), about 10 ns a page.
 */
#include <math.h>

#include "base/math/rng.h"
#include "policy/sweep.h"
#include "policy/tide/tide.h"

#define NORMALS 65536u
#define NORMAL_MAX 4.9f
#define WALK 12                 /* candidates looked at for each page taken */
#define BUCKETS 65536u
#define STEP 32u                /* buckets, from score to score: 9 % */
#define TIE_NOISE 1e-5f
#define POOL_ROOM 2             /* a new pool takes so many times the pages that a batch looks at */
#define POOL_WIDE 8             /* one page in so many in the pool: no list of them is made */

enum { RNG_BATCH = RNG_USER };

void tide_batch_init(struct tide_state *s, uint32_t n_dirs, uint32_t n_pages, uint64_t seed)
{
	struct rng r;

	s->taken = mem_zalloc(n_dirs, sizeof *s->taken);
	s->touched = mem_array(n_dirs, sizeof *s->touched);
	s->pooled = mem_zalloc(n_pages / 8 + 1, 1);
	s->normal = mem_array(NORMALS, sizeof *s->normal);
	rng_init(&r, seed);
	for (uint32_t i = 0; i < NORMALS; i++)
		s->normal[i] = (float)fmin(fmax(rng_normal(&r), -(double)NORMAL_MAX),
		                           (double)NORMAL_MAX);
}

void tide_batch_release(struct tide_state *s)
{
	free(s->taken);
	free(s->touched);
	free(s->normal);
	free(s->best);
	free(s->pool);
	free(s->pooled);
	for (int i = 0; i < TIDE_PARTS; i++) {
		free(s->part[i].bucket);
		free(s->part[i].best.v);
	}
}

/* One batch's noise. */
struct scorer {
	const struct tide_page *pages;
	const float *normal;
	float noise, doubt;             /* doubt: see tide_doubt() */
	uint32_t salt, odd;
};

static inline float score_of(const struct scorer *k, uint32_t page)
{
	float c = k->pages[page].chance, w = k->pages[page].worth;
	uint32_t h = (page ^ k->salt) * k->odd;

	h ^= h >> 15;
	h *= 0x85ebca6bu;
	w *= 1 + k->noise * tide_doubt(k->doubt, c) * k->normal[h >> 16];
	return w + w * TIE_NOISE * (float)(h & 0xffff) / 65536;
}

/* Larger scores, larger buckets, whatever the range: the sign apart, floats are in the
 * order of their bits. */
static inline uint32_t bucket_of(float score)
{
	union { float f; uint32_t u; } x = { score };

	return score > 0 ? x.u >> 15 : 0;
}

/* A pass over the pool, or over all pages. */
struct gathering {
	struct tide_state *s;
	const struct view *v;
	const struct scorer *k;
	uint32_t floor, low;            /* buckets below `low` need not be counted */
};

static void begin_part(struct tide_part *part, bool counts)
{
	if (!part->bucket && counts)
		part->bucket = mem_array(BUCKETS, sizeof *part->bucket);
	if (counts)
		memset(part->bucket, 0, BUCKETS * sizeof *part->bucket);
	part->best.n = part->n_open = 0;
}

/* Run a pass by parts, and say how many; the counts are then in part 0. */
static unsigned count(struct gathering *g, size_t n, sweep_pass *pass)
{
	unsigned n_parts = sweep_blocks(n) < TIDE_PARTS ? 1 : TIDE_PARTS;
	struct tide_part *part = g->s->part;

	for (unsigned i = 0; i < TIDE_PARTS; i++)
		begin_part(&part[i], i < n_parts);
	sweep(g->v, n, n_parts, pass, g);
	g->s->n_best = 0;
	for (unsigned i = 0; i < n_parts; i++) {
		for (uint32_t b = 0; i && b < BUCKETS; b++)
			part[0].bucket[b] += part[i].bucket[b];
		mem_grow((void **)&g->s->best, &g->s->cap_best, g->s->n_best + part[i].best.n,
		         sizeof *g->s->best);
		if (part[i].best.n)
			memcpy(g->s->best + g->s->n_best, part[i].best.v,
			       part[i].best.n * sizeof *g->s->best);
		g->s->n_best += part[i].best.n;
	}
	return n_parts;
}

/* The bucket above which fewer than `want` pages lie, from `low` on. */
static uint32_t find_floor(const struct tide_state *s, size_t want, uint32_t low)
{
	size_t sum = 0;
	uint32_t b = BUCKETS;

	while (b > low && sum < want)
		sum += s->part[0].bucket[--b];
	return b;
}

static void gather_part(void *arg, unsigned i, size_t from, size_t to)
{
	const struct gathering *g = arg;
	struct tide_part part = g->s->part[i];  /* threads share no line of the cache */

	for (size_t at = from; at < to; at++) {
		uint32_t page = g->s->pool_wide ? (uint32_t)at : g->s->pool[at], b;
		float score;

		if (!view_open(g->v, page) || (g->s->pool_wide && !tide_is_pooled(g->s, page)))
			continue;
		part.n_open++;
		score = score_of(g->k, page);
		b = bucket_of(score);
		if (b < g->low)
			continue;
		part.bucket[b]++;
		if (b >= g->floor)
			vec_push(&part.best, ((struct offer){ .page = page, .score = score }));
	}
	g->s->part[i] = part;
}

static uint32_t step_below(uint32_t bucket)
{
	return bucket > STEP ? bucket - STEP : 0;
}

/* Put the pages of the pool from bucket `floor` on into best[], and count those from `low`
 * on.  How many of the pool are open. */
static size_t gather(struct tide_state *s, const struct view *v, const struct scorer *k,
                     uint32_t floor, uint32_t low)
{
	struct gathering g = { s, v, k, floor, low };
	size_t n_open = 0;

	count(&g, s->pool_wide ? v->n_pages : s->n_pool, gather_part);
	for (int i = 0; i < TIDE_PARTS; i++)
		n_open += s->part[i].n_open;
	return n_open;
}

void tide_pool_put(struct tide_state *s, uint32_t page)
{
	s->pooled[page / 8] |= (uint8_t)(1u << page % 8);
	if (s->pool_wide)
		return;
	mem_grow((void **)&s->pool, &s->cap_pool, s->n_pool + 1, sizeof *s->pool);
	s->pool[s->n_pool++] = page;
}

static void count_all(void *arg, unsigned i, size_t from, size_t to)
{
	const struct gathering *g = arg;
	uint32_t *bucket = g->s->part[i].bucket;

	for (size_t page = from; page < to; page++)
		if (view_open(g->v, (uint32_t)page))
			bucket[bucket_of(score_of(g->k, (uint32_t)page))]++;
}

/* Those of a part that are kept, eight pages at a time: marked and counted, then written to
 * their place in the list. */
static void mark_winners(void *arg, unsigned i, size_t from, size_t to)
{
	const struct gathering *g = arg;
	size_t n = 0;

	for (size_t at = from; at < to; at++) {
		size_t first = at * 8, end = g->v->n_pages - first < 8 ? g->v->n_pages : first + 8;
		unsigned bits = 0;

		for (size_t page = first; page < end; page++)
			if (view_open(g->v, (uint32_t)page) && tide_may_win(g->s, &g->k->pages[page]))
				bits |= 1u << page % 8;
		g->s->pooled[at] = (uint8_t)bits;
		n += (unsigned)__builtin_popcount(bits);
	}
	g->s->part[i].n_open = n;
}

static void write_winners(void *arg, unsigned i, size_t from, size_t to)
{
	const struct gathering *g = arg;
	uint32_t *pool = g->s->pool;

	for (unsigned k = 0; k < i; k++)
		pool += g->s->part[k].n_open;
	for (size_t at = from; at < to; at++)
		for (unsigned bits = g->s->pooled[at]; bits; bits &= bits - 1)
			*pool++ = (uint32_t)(at * 8) + (uint32_t)__builtin_ctz(bits);
}

/* Look at all pages: keep those that can be among the `want` best, or come near.  The
 * bucket from which on the best are. */
static uint32_t fill_pool(struct tide_state *s, const struct view *v, const struct scorer *k,
                      size_t want)
{
	struct gathering g = { s, v, k, 0, 0 };
	union { uint32_t u; float f; } least;
	size_t n_marks = ((size_t)v->n_pages + 7) / 8, n = 0;
	uint32_t floor;
	unsigned n_parts;

	count(&g, v->n_pages, count_all);
	floor = find_floor(s, want, 0);
	least.u = find_floor(s, want * POOL_ROOM, 0) << 15;
	s->pool_least = least.f;
	n_parts = count(&g, n_marks, mark_winners);
	for (unsigned i = 0; i < n_parts; i++)
		n += s->part[i].n_open;
	s->pool_wide = n > v->n_pages / POOL_WIDE;
	s->n_pool = 0;
	if (!s->pool_wide) {
		mem_grow((void **)&s->pool, &s->cap_pool, n, sizeof *s->pool);
		sweep(v, n_marks, n_parts, write_winners, &g);
		s->n_pool = n;
	}
	return floor;
}

/* The noise of the next batch. */
static struct scorer next_scorer(const struct policy *p, const struct view *v)
{
	const struct tide_state *s = p->state;
	uint64_t draw = rng_draw(v->seed, v->cycle, v->round, RNG_BATCH);

	return (struct scorer){
		.pages = p->page_mem, .normal = s->normal, .noise = s->noise, .doubt = s->doubt,
		.salt = (uint32_t)draw, .odd = (uint32_t)(draw >> 32) | 1,
	};
}

void tide_batch_demand(const struct policy *p, const struct view *v, struct demand *ret)
{
	struct scorer k = next_scorer(p, v);

	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			demand_page(ret, v->site[i], (double)score_of(&k, i));
}

/* The best pages by noisy score, in order, into best[]. */
static void collect(struct policy *p, const struct view *v, size_t want)
{
	struct tide_state *s = p->state;
	struct scorer k = next_scorer(p, v);
	uint32_t floor = s->floor;
	size_t n_open;

	s->n_best = 0;
	if (!want)
		return;
	/* the last batch's floor will mostly do */
	n_open = gather(s, v, &k, floor, step_below(floor));
	if (s->n_best < want) {
		if (n_open < want && s->pool_least > 0) {
			floor = fill_pool(s, v, &k, want);
		} else {
			gather(s, v, &k, BUCKETS, 0);
			floor = find_floor(s, want, 0);
		}
		gather(s, v, &k, floor, step_below(floor));
	}
	s->floor = find_floor(s, 2 * want, step_below(floor));
	offers_select(s->best, s->n_best, want, v->seed, v->cycle);
	if (s->n_best > want)
		s->n_best = want;
}

static void take(struct policy *p, struct plan *plan, uint32_t page)
{
	const struct tide_page *h = policy_page(p, page);

	plan_take(plan, page, (double)h->worth, NAN, REASON_CHANCE);
}

static void take_best(struct policy *p, const struct view *v, struct plan *plan, uint32_t k)
{
	struct tide_state *s = p->state;
	const struct tide_opts *o = p->opts;
	size_t n_skipped = 0, n_touched = 0, n = 0;

	for (size_t i = 0; i < s->n_best && n < k; i++) {
		uint32_t page = s->best[i].page, dir = tide_home(v->tree, v->dir[page]);

		if (!o->nocap && (float)s->taken[dir] > s->found[dir]) {
			s->best[n_skipped++] = s->best[i];
			continue;
		}
		if (!s->taken[dir]++)
			s->touched[n_touched++] = dir;
		take(p, plan, page);
		n++;
	}
	for (size_t i = 0; i < n_skipped && n < k; i++, n++)
		take(p, plan, s->best[i].page);
	while (n_touched)
		s->taken[s->touched[--n_touched]] = 0;
}

void tide_batch_oldest(const struct tide_state *s, const struct view *v, struct plan *plan)
{
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (!s->failed[i])
			plan_offer(plan, i, (double)view_age(v, i), NAN, REASON_OLDEST);
}

void tide_batch(struct policy *p, const struct view *v, struct plan *plan, uint32_t n,
                uint32_t n_explore)
{
	collect(p, v, (size_t)n * WALK);
	take_best(p, v, plan, n);
	tide_explore(p, v, plan, n_explore);
}
