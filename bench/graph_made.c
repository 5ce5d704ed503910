/* SPDX-License-Identifier: Apache-2.0 */
/* graph_made.c - generated graphs; see graph_made.h. */
#include "graph_made.h"

#include <math.h>

#include "base/math/rng.h"
#include "base/mem.h"

#define SUPER 4096u             /* pages of a superblock, cut into equal sites */

int graph_made_rmat(unsigned scale, unsigned links_per_node, uint64_t seed,
                    struct graph *ret, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = true };
	struct graph_builder *b = graph_builder_new(&opts);
	uint32_t n = (uint32_t)1 << scale, *label = mem_array(n, sizeof *label);
	uint64_t n_links = (uint64_t)n * links_per_node;
	struct rng r;
	int failed = 0;

	rng_init(&r, seed);
	for (uint32_t v = 0; v < n; v++)
		label[v] = v;
	rng_shuffle(&r, label, n);
	for (uint64_t i = 0; i < n_links && !failed; i++) {
		uint32_t from = 0, to = 0;

		for (unsigned bit = 0; bit < scale; bit++) {
			double u = rng_next_unit(&r);

			from = from << 1 | (u >= 0.76);
			to = to << 1 | ((u >= 0.57 && u < 0.76) || u >= 0.95);
		}
		failed = graph_builder_add(b, label[from], label[to], err);
	}
	free(label);
	if (failed) {
		graph_builder_free(b);
		return failed;
	}
	return graph_builder_finish(b, n, ret, err);
}

/* Where the site of a page begins, and its size: 32 to 4096 pages. */
static uint32_t site_of(uint32_t page, uint32_t n_pages, uint64_t seed, uint32_t *ret_size)
{
	uint32_t super = page / SUPER;
	unsigned bits = 5 + (unsigned)(rng_draw(seed, 1, super, RNG_WORLD) % 8);
	uint32_t begin = page >> bits << bits;

	*ret_size = n_pages - begin < 1u << bits ? n_pages - begin : 1u << bits;
	return begin;
}

/* A page anywhere; small numbers and first pages of sites are popular. */
static uint32_t far_page(struct rng *r, uint32_t n_pages, uint64_t seed)
{
	double u = rng_next_unit(r);
	uint32_t page = (uint32_t)(u * u * u * n_pages), size;
	uint32_t begin = site_of((uint32_t)(rng_mix(page / SUPER) % n_pages), n_pages, seed,
	                         &size);

	return rng_below(r, 4) ? begin : begin + (uint32_t)rng_below(r, size);
}

unsigned graph_made_web_page(uint32_t page, uint32_t n_pages, double mean_links,
                             uint64_t seed, uint32_t *ret_links)
{
	uint32_t size, site = site_of(page, n_pages, seed, &size);
	unsigned n, menu = (unsigned)(rng_draw(seed, 2, site, RNG_WORLD) % 12);
	struct rng r;

	rng_init(&r, rng_draw(seed, 3, page, RNG_WORLD));
	if (rng_below(&r, 6) == 0)
		return 0;
	/* log-normal with this mean over the pages that have links */
	n = (unsigned)(mean_links * 1.2 * exp(0.9 * rng_normal(&r) - 0.405)) + 1;
	if (n > GRAPH_MADE_LINKS_MAX)
		n = GRAPH_MADE_LINKS_MAX;
	for (unsigned i = 0; i < n; i++) {
		uint64_t kind = rng_below(&r, 100);

		if (i < menu && i < size) {
			ret_links[i] = site + i;
		} else if (kind < 8) {
			ret_links[i] = far_page(&r, n_pages, seed);
		} else if (kind < 30) {
			ret_links[i] = site + (uint32_t)rng_below(&r, size);
		} else {                /* near: gaps fall off like 1 / gap */
			uint32_t gap = (uint32_t)exp(rng_next_unit(&r) * log(size));
			uint32_t at = page - site + (kind & 1 ? gap : size - gap % size);

			ret_links[i] = site + at % size;
		}
	}
	return n;
}

uint32_t graph_made_web_site(uint32_t page, uint32_t n_pages, uint64_t seed)
{
	uint32_t size;

	return site_of(page, n_pages, seed, &size);
}

void graph_made_life(uint32_t n_pages, double share, uint64_t seed, uint8_t *ret)
{
	for (uint32_t i = 0; i < n_pages; i++) {
		uint32_t site = graph_made_web_site(i, n_pages, seed);
		double here = rng_unit(rng_draw(seed, 4, site, RNG_WORLD));
		double part = rng_unit(rng_draw(seed, 5, site, RNG_WORLD));

		ret[i] = here < 2 * share && rng_unit(rng_draw(seed, 6, i, RNG_WORLD)) < part;
	}
}
