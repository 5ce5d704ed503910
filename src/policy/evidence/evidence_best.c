/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_best.c - the best of all scores, found by counting.
 *
 * Floats are ordered as their bits are, once negative ones are turned round: the rank.
 * Pages are counted by the upper half of their ranks.  Those above the half in which the
 * last of the best lies are in, those below are out; the others are counted by the lower
 * half, then, as equals, by the upper bits of their chance.
 *
 * Threads count and choose in parts of the pages.  A part knows from the counts where its
 * pages go: they are in the order of one thread.
 *
 * Cost.  Two passes over all ranks, two over each rest; 1 MiB and 4 bytes for each page
 * of a rest.
 */
#include "base/math/rng.h"
#include "policy/evidence/evidence.h"
#include "policy/sweep.h"

#define DIGITS 65536u
#define PARTS 4                 /* of the pages, one a thread */

enum level { HIGH, LOW, CHANCE, N_LEVELS };

uint64_t evidence_chance(uint64_t seed, uint32_t page)
{
	return rng_draw(seed, 0, page, RNG_TIE);
}

float evidence_unrank(uint32_t rank)
{
	uint32_t bits = rank & 0x80000000u ? rank & 0x7fffffffu : ~rank;
	float score;

	memcpy(&score, &bits, sizeof score);
	return score;
}

/* A part of the pages looked at: what it counted, and where its pages go. */
struct part {
	uint32_t count[DIGITS];
	size_t best, rest;              /* first places in best[] and rest[] */
	uint32_t floor;                 /* the best rank of those that are out */
};

struct choice {
	const struct view *v;
	const uint32_t *rank;
	uint64_t seed;
	size_t need;                    /* pages that are still to be chosen */
	uint32_t *best;                 /* those that are */
	size_t n_best;
	uint32_t floor;
	/* of the level in work */
	enum level level;
	const uint32_t *pages;          /* NULL: all, without those of rank 0 */
	uint32_t at, *rest;             /* the digit of the rest */
	unsigned n_parts;
	struct part part[PARTS];
};

static uint32_t digit_of(const struct choice *c, uint32_t page)
{
	if (c->level == CHANCE)
		return (uint32_t)(evidence_chance(c->seed, page) >> 48);
	return c->level == HIGH ? c->rank[page] >> 16 : c->rank[page] & (DIGITS - 1);
}

static void count_digits(void *arg, unsigned block, size_t from, size_t to)
{
	struct choice *c = arg;
	uint32_t *count = c->part[block].count;

	memset(count, 0, sizeof c->part[block].count);
	for (size_t i = from; i < to; i++) {
		uint32_t page = c->pages ? c->pages[i] : (uint32_t)i;

		count[digit_of(c, page)] += c->rank[page] > 0;
	}
}

static void divide(void *arg, unsigned block, size_t from, size_t to)
{
	struct choice *c = arg;
	struct part *part = &c->part[block];
	size_t best = part->best, rest = part->rest;

	part->floor = 0;
	for (size_t i = from; i < to; i++) {
		uint32_t page = c->pages ? c->pages[i] : (uint32_t)i, digit = digit_of(c, page);

		if (digit > c->at)
			c->best[best++] = page;
		else if (digit == c->at && c->rank[page])
			c->rest[rest++] = page;
		else if (c->rank[page] > part->floor)
			part->floor = c->rank[page];
	}
}

static uint32_t counted(const struct choice *c, uint32_t digit)
{
	uint32_t sum = 0;

	for (unsigned k = 0; k < c->n_parts; k++)
		sum += c->part[k].count[digit];
	return sum;
}

/* Where the pages of each part go: its pages above the digit, and those of it. */
static void find_places(struct choice *c)
{
	size_t best = c->n_best, rest = 0;

	for (unsigned k = 0; k < c->n_parts; k++) {
		struct part *part = &c->part[k];

		part->best = best;
		part->rest = rest;
		for (uint32_t d = c->at + 1; d < DIGITS; d++)
			best += part->count[d];
		rest += part->count[c->at];
	}
	c->n_best = best;
}

/* Chooses by one digit among n pages.  Returns the rest, of which c->need are to be chosen;
 * *ret_n: how many it has. */
static uint32_t *narrow(struct choice *c, const uint32_t *pages, size_t n, enum level level,
                        size_t *ret_n)
{
	c->pages = pages;
	c->level = level;
	c->n_parts = sweep_blocks(n) < PARTS ? 1 : PARTS;
	sweep(c->v, n, c->n_parts, count_digits, c);
	for (c->at = DIGITS - 1; c->at && counted(c, c->at) < c->need; c->at--)
		c->need -= counted(c, c->at);
	*ret_n = counted(c, c->at);
	c->rest = mem_array(*ret_n, sizeof *c->rest);
	find_places(c);
	sweep(c->v, n, c->n_parts, divide, c);
	for (unsigned k = 0; k < c->n_parts; k++)
		c->floor = c->part[k].floor > c->floor ? c->part[k].floor : c->floor;
	return c->rest;
}

size_t evidence_best(const struct view *v, const uint32_t *rank, uint32_t n, size_t keep,
                     uint64_t seed, uint32_t *ret_best, uint32_t *ret_floor)
{
	struct choice *c = mem_alloc(sizeof *c);
	size_t n_rest, n_best;
	uint32_t *rest;

	c->v = v;
	c->rank = rank;
	c->seed = seed;
	c->need = keep;
	c->best = ret_best;
	c->n_best = c->floor = 0;
	rest = narrow(c, NULL, n, HIGH, &n_rest);
	for (enum level level = LOW; level < N_LEVELS && n_rest > c->need; level++) {
		uint32_t *all = rest;

		rest = narrow(c, all, n_rest, level, &n_rest);
		free(all);
	}
	for (size_t i = 0; i < n_rest; i++)
		if (i < c->need)
			c->best[c->n_best++] = rest[i];
		else if (rank[rest[i]] > c->floor)
			c->floor = rank[rest[i]];
	*ret_floor = c->floor;
	n_best = c->n_best;
	free(rest);
	free(c);
	return n_best;
}
