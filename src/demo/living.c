/* SPDX-License-Identifier: Apache-2.0 */
/*
 * living.c - time in slots, chance by hash.
 *
 * In each slot a page changes by itself with probability 1 - exp(-rate * slot),
 * its directory is rewritten with another, and each draw is a hash of (seed,
 * slot, number, purpose).  The state at a time counts the slots from the start:
 * a few microseconds a year, and no memory.
 */
#include "demo/living.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math/rng.h"

enum { OWN = RNG_USER, BURST, HIT, DEATH, SOFT, PACE, WORDS, FAIL, TROUBLE, REBUILD };

uint32_t living_count(const struct living *l)
{
	return l->n_sites * l->n_dirs * l->n_pages;
}

unsigned living_site(const struct living *l, uint32_t page)
{
	return page / (l->n_dirs * l->n_pages);
}

static unsigned dir_of(const struct living *l, uint32_t page)
{
	return page / l->n_pages;
}

void living_path(const struct living *l, uint32_t page, char out[64])
{
	unsigned dir = dir_of(l, page) % l->n_dirs, leaf = page % l->n_pages;

	if (!dir && !leaf)
		snprintf(out, 64, "/");
	else
		snprintf(out, 64, "/d%u/p%u.html", dir, leaf);
}

uint32_t living_find(const struct living *l, unsigned site, const char *path)
{
	unsigned dir = 0, leaf = 0;
	char end;

	if (site >= l->n_sites)
		return LIVING_NONE;
	if (strcmp(path, "/") &&
	    (sscanf(path, "/d%u/p%u.htm%c", &dir, &leaf, &end) != 3 || end != 'l'))
		return LIVING_NONE;
	if (dir >= l->n_dirs || leaf >= l->n_pages)
		return LIVING_NONE;
	return (site * l->n_dirs + dir) * l->n_pages + leaf;
}

static double unit(const struct living *l, uint64_t slot, uint64_t what, uint64_t purpose)
{
	return rng_unit(rng_draw(l->seed, slot, what, purpose));
}

static int failure_at(const struct living *l, uint32_t page, int64_t slots)
{
	double days = (double)l->slot / 86400, trouble = 1 - exp(-days * l->trouble_rate);
	int64_t first = slots - (int64_t)(l->trouble_days / days);

	if (l->fail_rate > 0 &&
	    (double)slots * days >= -log(1 - unit(l, 0, page, FAIL)) / l->fail_rate)
		return 403;
	for (int64_t i = first < 0 ? 1 : first + 1; l->trouble_rate > 0 && i <= slots; i++)
		if (unit(l, (uint64_t)i, dir_of(l, page), TROUBLE) < trouble)
			return 500;
	return 0;
}

struct living_state living_at(const struct living *l, uint32_t page, int64_t time)
{
	struct living_state s = { .modified = l->start };
	double days = (double)l->slot / 86400, death, u;
	int64_t slots = time > l->start ? (time - l->start) / l->slot : 0;
	double own = 1 - exp(-days * l->change_rate *
		(-2 * log(1 - unit(l, 0, page, PACE)) / 2));    /* paces are exponential */
	double burst = 1 - exp(-days * l->burst_rate);
	double rebuild = living_site(l, page) + 1 < l->n_sites ? 0 : 1 - exp(-days * l->rebuild_rate);

	s.failure = failure_at(l, page, slots);
	u = unit(l, 0, page, DEATH);
	death = l->death_rate > 0 ? -log(1 - u) / l->death_rate : INFINITY;
	for (int64_t i = 1; i <= slots; i++) {
		bool changes = unit(l, (uint64_t)i, page, OWN) < own;

		if ((double)i * days >= death) {
			s.dead = true;
			s.soft = unit(l, 0, page, SOFT) < l->soft_share;
			s.modified = l->start + i * l->slot;
			break;
		}
		if (unit(l, (uint64_t)i, dir_of(l, page), BURST) < burst)
			changes |= unit(l, (uint64_t)i, page, HIT) < l->burst_share;
		changes |= rebuild > 0 && unit(l, (uint64_t)i, 0, REBUILD) < rebuild;
		if (changes) {
			s.version++;
			s.modified = l->start + i * l->slot;
		}
	}
	return s;
}

static void words(const struct living *l, uint64_t key, unsigned n, struct buf *out)
{
	static const char *const syllables[] = { "ba", "lo", "mi", "ten", "ru", "sa",
		"kel", "dor", "vi", "na", "por", "esh", "ul", "tra", "gin", "of" };
	struct rng r;

	rng_init(&r, rng_draw(l->seed, 0, key, WORDS));
	for (unsigned i = 0; i < n; i++) {
		for (uint64_t k = 1 + rng_below(&r, 3); k; k--)
			buf_str(out, syllables[rng_below(&r, 16)]);
		buf_byte(out, ' ');
	}
}

void living_body(const struct living *l, uint32_t page, struct living_state s,
                 struct buf *out)
{
	char path[64];
	unsigned first = page - page % l->n_pages;

	if (s.dead) {
		buf_str(out, "<!DOCTYPE html><html><head><title>Sorry</title></head><body>"
		        "<h1>Page not found</h1><p>The page you were looking for does not "
		        "exist any more.</p><a href=\"/\">home</a></body></html>\n");
		return;
	}
	living_path(l, page, path);
	buf_printf(out, "<!DOCTYPE html>\n<html><head><title>Site %u %s</title></head>\n"
	           "<body><h1>", living_site(l, page), path);
	words(l, page, 4, out);
	buf_str(out, "</h1>\n<ul>");
	for (unsigned i = 0; i < l->n_pages && i < 8; i++) {
		living_path(l, first + (page + i + 1) % l->n_pages, path);
		buf_printf(out, "<li><a href=\"%s\">page</a></li>", path);
	}
	buf_str(out, "</ul>\n");
	/* Version v rewrites paragraph v mod 6; the others stay as they were. */
	for (unsigned i = 0; i < 6; i++) {
		uint32_t age = s.version < i ? 0 : (s.version - i) / 6 + (i > 0);

		buf_str(out, "<p>");
		words(l, ((uint64_t)page << 32) | (i << 24) | (age & 0xffffff), 60, out);
		buf_str(out, "</p>\n");
	}
	buf_printf(out, "<!-- version %u --></body></html>\n", s.version);
}
