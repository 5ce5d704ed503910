/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_choose.c - choose among the candidates; see discover.h.
 *
 * Within a directory those go first that their own site names, then the better linked (a
 * sitemap counts as a link), then the shorter URL.  Directories (digits aside) take turns, first-level directories of
 * a site take turns, sites take turns: candidate k of its directory stands in turn k
 * of the next level, and so on, so that one directory, one tree of directories or one
 * site with a million URLs gets no more of a cycle than its neighbours.  Four sorts; no
 * chance but for the order within a turn, which is drawn from seed, cycle and URL.
 */
#include <stdlib.h>
#include <string.h>

#include "base/math/rng.h"
#include "engine/discover/discover_inner.h"

static uint32_t worth(const struct candidate *c)
{
	return c->links + c->in_sitemap;
}

static int compare_worth(const struct discover *d, uint32_t x, uint32_t y)
{
	const struct candidate *a = &d->candidates.v[x], *b = &d->candidates.v[y];
	size_t m = strtab_size(&d->urls, x), n = strtab_size(&d->urls, y);

	if (a->own != b->own)
		return a->own ? -1 : 1;
	if (worth(a) != worth(b))
		return worth(a) > worth(b) ? -1 : 1;
	if (m != n)
		return m < n ? -1 : 1;
	return strcmp(strtab_get(&d->urls, x), strtab_get(&d->urls, y));
}

/* Groups whose members take turns: directories in a first-level directory, first-level
 * directories in a site, sites. */
enum level { IN_DIRECTORY, IN_TOP, IN_SITE };

struct order { const struct discover *d; enum level level; };

static bool same_group(const struct candidate *a, const struct candidate *b, enum level level)
{
	return a->site == b->site && (level >= IN_SITE || a->top == b->top) &&
	       (level >= IN_TOP || a->shape == b->shape);
}

static int by_group(const void *pa, const void *pb, void *arg)
{
	const struct order *o = arg;
	uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
	const struct candidate *a = &o->d->candidates.v[x], *b = &o->d->candidates.v[y];

	if (!same_group(a, b, o->level)) {
		if (a->site != b->site)
			return a->site < b->site ? -1 : 1;
		if (a->top != b->top)
			return a->top < b->top ? -1 : 1;
		return a->shape < b->shape ? -1 : 1;
	}
	if (o->level > IN_DIRECTORY && a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	return compare_worth(o->d, x, y);
}

static int by_turn(const void *pa, const void *pb, void *arg)
{
	const struct discover *d = arg;
	uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
	const struct candidate *a = &d->candidates.v[x], *b = &d->candidates.v[y];
	uint64_t r, s;

	if (a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	if (worth(a) != worth(b))
		return worth(a) > worth(b) ? -1 : 1;
	r = rng_draw(d->row.seed, d->row.number, hash_bytes(strtab_get(&d->urls, x),
	             strtab_size(&d->urls, x), 0), RNG_TIE);
	s = rng_draw(d->row.seed, d->row.number, hash_bytes(strtab_get(&d->urls, y),
	             strtab_size(&d->urls, y), 0), RNG_TIE);
	return r < s ? -1 : r > s ? 1 : strcmp(strtab_get(&d->urls, x), strtab_get(&d->urls, y));
}

/* Number the candidates of each group, the best first. */
static void take_turns(struct discover *d, uint32_t *v, size_t n, enum level level)
{
	struct order o = { d, level };
	uint32_t turn = 0;

	qsort_r(v, n, sizeof *v, by_group, &o);
	for (size_t i = 0; i < n; i++) {
		struct candidate *c = &d->candidates.v[v[i]];

		turn = i && same_group(&d->candidates.v[v[i - 1]], c, level) ? turn + 1 : 0;
		c->turn = turn;
	}
}

static uint32_t counted(const struct map *m, uint64_t key)
{
	uint32_t n = map_get(m, key);

	return n == MAP_NONE ? 0 : n;
}

static void refuse(struct discover *d, struct candidate *c, unsigned why)
{
	c->refusal = (uint8_t)why;
	d->report->refused[why]++;
}

/* Is the candidate within all caps?  If so, count it.  What only other sites link to may fill
 * half of each, so that nobody can close a directory or a site to its own pages. */
static bool may_add(struct discover *d, const struct fetch *f, uint32_t number)
{
	struct candidate *c = &d->candidates.v[number];
	uint32_t dir = counted(&d->dir_found, c->dir), shape = counted(&d->shape_found, c->shape);
	uint32_t per_site = c->own ? d->opts.per_site : (d->opts.per_site + 1) / 2;
	uint32_t per_directory = c->own ? d->opts.per_directory : (d->opts.per_directory + 1) / 2;

	if (d->site_found.v[c->site] >= per_site)
		refuse(d, c, REFUSED_SITE);
	else if (dir >= per_directory || shape / DISCOVER_SHAPE >= per_directory)
		refuse(d, c, REFUSED_DIRECTORY);
	else if (!fetch_allows(f, strtab_get(&d->urls, number), strtab_size(&d->urls, number)))
		refuse(d, c, REFUSED_ROBOTS);
	if (c->refusal)
		return false;
	d->site_found.v[c->site]++;
	map_put(&d->dir_found, c->dir, dir + 1);
	map_put(&d->shape_found, c->shape, shape + 1);
	return true;
}

void discover_choose(struct discover *d, const struct fetch *f, uint32_t n)
{
	VEC(uint32_t) v = { 0 };

	for (uint32_t i = 0; i < d->candidates.n; i++)
		if (!d->candidates.v[i].refusal)
			vec_push(&v, i);
	if (v.n) {
		for (enum level level = IN_DIRECTORY; level <= IN_SITE; level++)
			take_turns(d, v.v, v.n, level);
		qsort_r(v.v, v.n, sizeof *v.v, by_turn, d);
	}
	for (size_t i = 0; i < v.n; i++) {
		if (d->chosen.n >= n)
			d->report->waiting++;
		else if (may_add(d, f, v.v[i]))
			vec_push(&d->chosen, v.v[i]);
	}
	vec_release(&v);
}
