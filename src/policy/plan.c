/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - collect the pages of a round; draw pages without repetition. */
#include "policy/plan.h"

#include <math.h>

#include "base/math/rng.h"

#define SORT_MANY 4096          /* offers, from which on a radix sort is faster */
#define DIGIT_BITS 8
#define DIGIT_MASK 0xffu

void plan_begin(struct plan *p, const struct view *v, uint8_t *state)
{
	p->n_taken = p->n_best = 0;
	p->limit = v->room;
	p->has_floor = false;
	p->state = state;
	p->seed = v->seed;
	p->cycle = v->cycle;
}

void plan_release(struct plan *p)
{
	free(p->taken);
	free(p->best);
	*p = (struct plan){ 0 };
}

void plan_limit(struct plan *p, uint32_t n)
{
	if (n < p->limit)
		p->limit = n;
}

uint32_t plan_room(const struct plan *p)
{
	return p->limit - (uint32_t)p->n_taken;
}

bool plan_take(struct plan *p, uint32_t page, double score, double probability,
               enum reason reason)
{
	if (p->n_taken >= p->limit)
		return false;
	if (p->state[page] != PAGE_HERE)
		return true;
	p->state[page] |= PAGE_TAKEN;
	mem_grow((void **)&p->taken, &p->cap_taken, p->n_taken + 1, sizeof *p->taken);
	p->taken[p->n_taken++] = (struct offer){
		.page = page, .score = (float)score, .probability = (float)probability,
		.reason = (uint8_t)reason,
	};
	return true;
}

static bool better(const struct offer *a, const struct offer *b, uint64_t seed,
                   uint64_t cycle)
{
	if (a->score > b->score)
		return true;
	if (a->score < b->score)
		return false;
	return rng_draw(seed, cycle, a->page, RNG_TIE) < rng_draw(seed, cycle, b->page, RNG_TIE);
}

static void swap(struct offer *a, struct offer *b)
{
	struct offer t = *a;

	*a = *b;
	*b = t;
}

/* The pivot is the median of three; [lo, ret) is better than it, [ret, hi) is not. */
static size_t partition(struct offer *v, size_t lo, size_t hi, uint64_t seed, uint64_t cycle)
{
	size_t mid = lo + (hi - lo) / 2, store = lo;
	struct offer pivot;

	if (better(&v[mid], &v[lo], seed, cycle))
		swap(&v[mid], &v[lo]);
	if (better(&v[hi - 1], &v[lo], seed, cycle))
		swap(&v[hi - 1], &v[lo]);
	if (better(&v[hi - 1], &v[mid], seed, cycle))
		swap(&v[hi - 1], &v[mid]);
	pivot = v[mid];
	swap(&v[mid], &v[hi - 1]);
	for (size_t i = lo; i + 1 < hi; i++)
		if (better(&v[i], &pivot, seed, cycle))
			swap(&v[i], &v[store++]);
	swap(&v[store], &v[hi - 1]);
	return store;
}

static void select_best(struct offer *v, size_t n, size_t k, uint64_t seed, uint64_t cycle)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1 && k > lo && k < hi) {
		size_t at = partition(v, lo, hi, seed, cycle);

		if (at < k)
			lo = at + 1;
		else
			hi = at;
	}
}

struct order { uint64_t seed, cycle; };

static int compare_offers(const void *pa, const void *pb, void *po)
{
	const struct offer *a = pa, *b = pb;
	const struct order *o = po;

	if (better(a, b, o->seed, o->cycle))
		return -1;
	return better(b, a, o->seed, o->cycle) ? 1 : 0;
}

/* The sign apart, floats are in the order of their bits; here the largest comes first, and
 * the two zeros are one. */
static uint32_t rank_of(float score)
{
	union { float f; uint32_t u; } x = { score + 0.f };

	return x.u & 0x80000000u ? x.u : ~x.u & 0x7fffffffu;
}

/* One pass of a radix sort: by DIGIT_BITS of the rank, others in the order they had. */
static void sort_pass(const struct offer *v, size_t n, int shift, struct offer *ret)
{
	size_t at[1 << DIGIT_BITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[rank_of(v[i].score) >> shift & DIGIT_MASK]++;
	for (size_t d = 0; d <= DIGIT_MASK; d++) {
		size_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		ret[at[rank_of(v[i].score) >> shift & DIGIT_MASK]++] = v[i];
}

/* In descending order of scores, equal ones in any order. */
static void sort_scores(struct offer *v, size_t n)
{
	struct offer *other = mem_array(n, sizeof *other);

	for (int shift = 0; shift < 32; shift += 2 * DIGIT_BITS) {
		sort_pass(v, n, shift, other);
		sort_pass(other, n, shift + DIGIT_BITS, v);
	}
	free(other);
}

void offers_select(struct offer *v, size_t n, size_t k, uint64_t seed, uint64_t cycle)
{
	struct order o = { seed, cycle };
	size_t from = 0;

	if (k > n)
		k = n;
	select_best(v, n, k, seed, cycle);
	if (k > SORT_MANY)
		sort_scores(v, k);
	while (from < k) {              /* equal scores; few offers are sorted at once */
		size_t to = k > SORT_MANY ? from + 1 : k;

		while (to < k && v[to].score == v[from].score)
			to++;
		if (to - from > 1)
			qsort_r(v + from, to - from, sizeof *v, compare_offers, &o);
		from = to;
	}
}

/* Halve the buffer: proposals beyond the limit could not be taken. */
static void prune(struct plan *p)
{
	uint32_t keep = plan_room(p);

	select_best(p->best, p->n_best, keep, p->seed, p->cycle);
	p->n_best = keep;
	p->floor = p->best[0];
	for (size_t i = 1; i < keep; i++)
		if (better(&p->floor, &p->best[i], p->seed, p->cycle))
			p->floor = p->best[i];
	p->has_floor = true;
}

/* A tie with the floor is decided by chance, too.  Pages never visited often have all the
 * same score; to let every tie in would prune again and again. */
static bool can_win(const struct plan *p, const struct offer *o)
{
	return !p->has_floor || o->score > p->floor.score ||
	       (o->score == p->floor.score && better(o, &p->floor, p->seed, p->cycle));
}

void plan_offer(struct plan *p, uint32_t page, double score, double probability,
                enum reason reason)
{
	size_t room = plan_room(p);
	struct offer o = {
		.page = page, .score = (float)score, .probability = (float)probability,
		.reason = (uint8_t)reason,
	};

	if (!room || p->state[page] != PAGE_HERE || !can_win(p, &o))
		return;
	if (p->n_best >= room * 2 + 16)
		prune(p);
	mem_grow((void **)&p->best, &p->cap_best, p->n_best + 1, sizeof *p->best);
	p->best[p->n_best++] = o;
}

void plan_finish(struct plan *p)
{
	size_t room = plan_room(p);

	offers_select(p->best, p->n_best, p->n_best < room ? p->n_best : room, p->seed, p->cycle);
	for (size_t i = 0; i < p->n_best && plan_room(p); i++) {
		struct offer *o = &p->best[i];

		plan_take(p, o->page, o->score, o->probability, o->reason);
	}
	p->n_best = 0;
}

void sampler_begin(struct sampler *s, const struct view *v, unsigned purpose)
{
	if (s->cap < v->n_pages) {
		free(s->pages);
		s->pages = mem_array(v->n_pages, sizeof *s->pages);
		s->cap = v->n_pages;
	}
	s->n = s->next = 0;
	s->draw = rng_draw(v->seed, v->cycle, 0, purpose);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (view_open(v, i))
			s->pages[s->n++] = i;
}

/* One step of the Fisher-Yates shuffle; the draw depends only on the step. */
uint32_t sampler_next(struct sampler *s, const struct view *v)
{
	while (s->next < s->n) {
		uint64_t r = rng_mix(s->draw + s->next);
		uint32_t j = s->next + (uint32_t)(((unsigned __int128)r * (s->n - s->next)) >> 64);
		uint32_t page = s->pages[j];

		s->pages[j] = s->pages[s->next];
		s->pages[s->next++] = page;
		if (view_open(v, page))
			return page;
	}
	return PAGE_NONE;
}

void sampler_release(struct sampler *s)
{
	free(s->pages);
	*s = (struct sampler){ 0 };
}
