/* SPDX-License-Identifier: Apache-2.0 */
/* liverank_order.c - sorting and sampling of pages; see liverank_order.h. */
#include "graph/liverank_order.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct item { double key; uint32_t place, page; };

static int better(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void sort_items(uint32_t *pages, uint32_t n, struct item *items)
{
	qsort(items, n, sizeof *items, better);
	for (uint32_t i = 0; i < n; i++)
		pages[i] = items[i].page;
	free(items);
}

void liverank_sort(uint32_t *pages, uint32_t n, const double *scores, const uint8_t *flags,
                   const uint32_t *place)
{
	struct item *items = mem_array(n + 1ul, sizeof *items);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = pages[i];

		items[i] = (struct item){ scores ? scores[p] : flags ? flags[p] != 0 : 0,
		                          place[p], p };
	}
	sort_items(pages, n, items);
}

void liverank_sort_degrees(uint32_t *pages, uint32_t n, const uint32_t *degrees,
                           const uint32_t *place)
{
	struct item *items = mem_array(n + 1ul, sizeof *items);

	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct item){ degrees[pages[i]], place[pages[i]], pages[i] };
	sort_items(pages, n, items);
}

/* Pages marked in taken come first, each part in the order it had. */
static void move_to_front(uint32_t *order, uint32_t n, const uint8_t *taken)
{
	uint32_t *rest = mem_array(n + 1ul, sizeof *rest), n_front = 0, n_rest = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (taken[order[i]])
			order[n_front++] = order[i];
		else
			rest[n_rest++] = order[i];
	}
	memcpy(order + n_front, rest, n_rest * sizeof *rest);
	free(rest);
}

void liverank_systematic(uint32_t *order, uint32_t n, uint32_t z, struct rng *r)
{
	uint8_t *taken = mem_zalloc(n + 1ul, 1);
	double start = rng_next_unit(r);

	for (uint32_t i = 0; i < z; i++)
		taken[(uint32_t)(((double)i + start) * n / z)] = 1;
	/* order is a random permutation, so the sample comes out shuffled */
	move_to_front(order, n, taken);
	free(taken);
}

static bool touches(const struct graph *out, uint32_t page, const uint8_t *taken)
{
	for (uint64_t i = out->offsets[page]; i < out->offsets[page + 1]; i++)
		if (taken[out->targets[i]] && out->targets[i] != page)
			return true;
	return false;
}

void liverank_spread(uint32_t *order, uint32_t n, uint32_t z, const struct graph *out)
{
	uint8_t *taken = mem_zalloc(n + 1ul, 1), *linked = mem_zalloc(n + 1ul, 1);
	uint32_t n_taken = 0;

	for (uint32_t i = 0; i < n && n_taken < z; i++) {
		uint32_t p = order[i];

		if (linked[p] || touches(out, p, taken))
			continue;
		taken[p] = 1;
		n_taken++;
		for (uint64_t k = out->offsets[p]; k < out->offsets[p + 1]; k++)
			linked[out->targets[k]] = 1;
	}
	move_to_front(order, n, taken);
	free(taken);
	free(linked);
}

uint32_t liverank_sample_sites(uint32_t *order, uint32_t n, const uint32_t *sites,
                               uint32_t n_sites, uint32_t z, struct rng *r)
{
	uint32_t *size = mem_zalloc(n_sites + 1ul, sizeof *size), n_large = n_sites, t = 0;
	uint32_t *with_size = mem_zalloc(n + 2ul, sizeof *with_size), n_taken = 0;
	uint8_t *taken = mem_zalloc(n + 1ul, 1);

	for (uint32_t v = 0; v < n; v++)
		size[sites[v]]++;
	for (uint32_t s = 0; s < n_sites; s++)
		with_size[size[s]]++;
	/* n_large: sites with more than t pages; t + 1 tests each are too many for z at some
	 * t.  Stop at the first such t.  A larger t may fit again, since few sites are that
	 * large, but then nearly all sites would get no test. */
	for (n_large -= with_size[0]; n_large && (uint64_t)(t + 1) * n_large <= z; )
		n_large -= with_size[++t];
	if (t == 0) {                   /* more sites than tests: some sites get none */
		t = 1;
	}
	for (uint32_t s = 0; s < n_sites; s++)
		size[s] = size[s] >= t ? t : 0;         /* tests still to be made there */
	rng_shuffle(r, order, n);
	for (uint32_t i = 0; i < n && n_taken < z; i++) {
		if (!size[sites[order[i]]])
			continue;
		size[sites[order[i]]]--;
		taken[order[i]] = 1;
		n_taken++;
	}
	move_to_front(order, n, taken);
	free(size);
	free(with_size);
	free(taken);
	return n_taken;
}

void liverank_site_activity(const uint8_t *state, uint8_t alive, uint8_t dead, uint32_t n,
                            const uint32_t *sites, uint32_t n_sites, double *ret)
{
	uint32_t *tested = mem_zalloc(n_sites + 1ul, sizeof *tested);
	uint32_t *living = mem_zalloc(n_sites + 1ul, sizeof *living);

	for (uint32_t v = 0; v < n; v++) {
		tested[sites[v]] += (state[v] & (alive | dead)) != 0;
		living[sites[v]] += (state[v] & alive) != 0;
	}
	for (uint32_t v = 0; v < n; v++)
		ret[v] = tested[sites[v]] ? (double)living[sites[v]] / tested[sites[v]] : -1;
	free(tested);
	free(living);
}

void liverank_divide(double *plus, const double *minus, uint32_t n)
{
	double least = INFINITY;

	for (uint32_t v = 0; v < n; v++)
		if (minus[v] > 0 && minus[v] < least)
			least = minus[v];
	for (uint32_t v = 0; v < n; v++)
		plus[v] /= minus[v] > 0 ? minus[v] : least;
}
