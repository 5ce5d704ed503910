/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ahead.c - rows that were read ahead; see store_ahead.h.
 *
 * A crawl reads each page twice: when it asks for it, and when the answer is written.  At
 * network distance each read would be a round trip, longer than all other work on the page.
 * So pages are read by the hundred before they are asked for, and remembered until their
 * answers are written.  What is remembered is what the store had at the last batch: where
 * another program has written since, which each batch sees at its beginning, the rows are
 * read again, all at once.
 *
 * Copies, hints and robots.txt are wanted soon after they were read, or not at all.
 */
#include "repo/store_ahead.h"

#define PAGES_MAX 200000        /* remembered: some 60 MB */
#define SITES_MAX 200000
#define ROBOTS_BYTES (16 << 20)
#define PAGES_AT_ONCE 10000     /* read again */

static void free_slot(struct ahead *a, uint32_t at)
{
	struct ahead_page *p = &a->pages.v[at];

	a->n_stale -= !p->texts;
	free(p->texts);
	*p = (struct ahead_page){ 0 };
	vec_push(&a->free, at);
}

/* The map keeps the numbers of pages that were dropped: begin anew when these are most. */
static void tidy(struct ahead *a)
{
	size_t used = a->pages.n - a->free.n;

	if (a->page_at.n < 1000 || a->page_at.n < 4 * used)
		return;
	map_release(&a->page_at);
	for (size_t i = 0; i < a->pages.n; i++)
		if (a->pages.v[i].is_used)
			map_put(&a->page_at, a->pages.v[i].row.number, (uint32_t)i);
}

void ahead_drop_copies(struct ahead *a)
{
	arena_reset(&a->copies);
	a->captures.n = 0;
	map_clear(&a->capture_at);
}

static void forget_hints(struct ahead *a)
{
	strtab_release(&a->sites);
	a->hints.n = 0;
}

static void forget_robots(struct ahead *a)
{
	for (size_t i = 0; i < a->robots.n; i++)
		free((void *)a->robots.v[i].row.body.s);
	strtab_release(&a->origins);
	a->robots.n = a->robots_bytes = 0;
}

static void forget_pages(struct ahead *a)
{
	for (size_t i = 0; i < a->pages.n; i++)
		free(a->pages.v[i].texts);
	a->pages.n = a->free.n = a->n_stale = 0;
	map_release(&a->page_at);
}

void ahead_release(struct ahead *a)
{
	forget_pages(a);
	ahead_drop_copies(a);
	forget_hints(a);
	forget_robots(a);
	vec_release(&a->pages);
	vec_release(&a->free);
	arena_release(&a->copies);
	vec_release(&a->captures);
	map_release(&a->capture_at);
	vec_release(&a->hints);
	vec_release(&a->robots);
}

void ahead_doubt(struct ahead *a)
{
	for (size_t i = 0; i < a->pages.n; i++) {
		struct ahead_page *p = &a->pages.v[i];

		a->n_stale += p->texts != NULL;
		free(p->texts);
		p->texts = NULL;
	}
	ahead_drop_copies(a);
	forget_hints(a);
	forget_robots(a);
}

void ahead_drop_page(struct ahead *a, uint32_t number)
{
	uint32_t at = map_get(&a->page_at, number);

	if (at == MAP_NONE)
		return;
	free_slot(a, at);
	map_put(&a->page_at, number, MAP_NONE);
	tidy(a);
}

void ahead_drop_hint(struct ahead *a, struct text site)
{
	uint32_t at = strtab_find(&a->sites, site.s, site.size);

	if (at != MAP_NONE)
		a->hints.v[at].is_known = false;
}

void ahead_drop_robots(struct ahead *a, struct text origin)
{
	uint32_t at = strtab_find(&a->origins, origin.s, origin.size);

	if (at != MAP_NONE)
		a->robots.v[at].is_known = false;
}

/* ---- pages ---- */

static void want_page(struct ahead *a, uint32_t number)
{
	struct ahead_page p = { .row.number = number, .is_used = true };
	uint32_t at = map_get(&a->page_at, number);

	if (at != MAP_NONE)
		return;
	a->n_stale++;
	if (a->free.n) {
		at = a->free.v[--a->free.n];
		a->pages.v[at] = p;
	} else {
		at = (uint32_t)a->pages.n;
		vec_push(&a->pages, p);
	}
	map_put(&a->page_at, number, at);
}

static int take_page(void *arg, const struct store_page *row, struct err *err)
{
	struct ahead *a = arg;
	uint32_t at = map_get(&a->page_at, row->number);
	struct ahead_page *p = &a->pages.v[at != MAP_NONE ? at : 0];

	(void)err;
	if (at == MAP_NONE || p->texts)
		return 0;
	p->texts = mem_alloc(row->url.size + row->given.size + 2);
	p->row = *row;
	p->row.url.s = memcpy(p->texts, row->url.s, row->url.size);
	p->texts[row->url.size] = '\0';
	if (row->given.s) {
		p->row.given.s = memcpy(p->texts + row->url.size + 1, row->given.s, row->given.size);
		p->texts[row->url.size + 1 + row->given.size] = '\0';
	}
	a->n_stale--;
	return 0;
}

/* Read pages that are wanted and not known: this one, and others. */
static int read_pages(struct store *s, struct ahead *a, uint32_t first, struct err *err)
{
	VEC(uint32_t) numbers = { 0 };
	int rc;

	if (first != STORE_NONE)
		vec_push(&numbers, first);
	for (size_t i = 0; i < a->pages.n && numbers.n < PAGES_AT_ONCE; i++) {
		const struct ahead_page *p = &a->pages.v[i];

		if (p->is_used && !p->texts && p->row.number != first)
			vec_push(&numbers, p->row.number);
	}
	rc = s->ops->pages_get(s, numbers.v, numbers.n, take_page, a, err);
	vec_release(&numbers);
	return rc;
}

int ahead_page(struct store *s, struct ahead *a, uint32_t number,
               const struct store_page **ret, struct err *err)
{
	uint32_t at = map_get(&a->page_at, number);
	int rc = 0;

	*ret = NULL;
	if (at == MAP_NONE)
		return 0;
	if (!a->pages.v[at].texts)
		rc = read_pages(s, a, number, err);
	if (rc == 0 && a->pages.v[at].texts)
		*ret = &a->pages.v[at].row;
	return rc;
}

/* ---- copies, hints, robots.txt ---- */

static int take_copy(void *arg, const struct store_capture *c, struct err *err)
{
	struct ahead *a = arg;
	struct store_capture copy = *c;

	(void)err;
	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++) {
		struct text *t = store_capture_text(&copy, i);

		if (t->s)
			t->s = arena_strndup(&a->copies, t->s, t->size);
	}
	map_put(&a->capture_at, c->id, (uint32_t)a->captures.n);
	vec_push(&a->captures, copy);
	return 0;
}

static int read_copies(struct store *s, struct ahead *a, const struct store_ahead *want,
                       struct err *err)
{
	VEC(uint64_t) ids = { 0 };
	int rc;

	ahead_drop_copies(a);
	for (size_t i = 0; i < want->n_pages; i++) {
		uint32_t at = map_get(&a->page_at, want->pages[i]);

		if (at != MAP_NONE && a->pages.v[at].texts && a->pages.v[at].row.capture)
			vec_push(&ids, a->pages.v[at].row.capture);
	}
	rc = s->ops->copies_get(s, ids.v, ids.n, take_copy, a, err);
	vec_release(&ids);
	return rc;
}

static int read_hints(struct store *s, struct ahead *a, const struct store_ahead *want,
                      struct err *err)
{
	VEC(struct text) sites = { 0 };
	VEC(uint32_t) at = { 0 };
	struct store_hint *rows;
	int rc = 0;

	if (a->hints.n > SITES_MAX)
		forget_hints(a);
	for (size_t i = 0; i < want->n_sites; i++) {
		bool fresh;
		uint32_t k = strtab_intern(&a->sites, want->sites[i].s, want->sites[i].size, &fresh);

		if (fresh)
			vec_push(&a->hints, (struct ahead_hint){ 0 });
		if (a->hints.v[k].is_known)
			continue;
		a->hints.v[k].is_known = true;
		vec_push(&sites, want->sites[i]);
		vec_push(&at, k);
	}
	rows = mem_zalloc(sites.n + 1, sizeof *rows);
	if (sites.n)
		rc = s->ops->hints_get(s, sites.v, sites.n, rows, err);
	for (size_t i = 0; i < sites.n; i++) {
		a->hints.v[at.v[i]].row = rows[i];
		a->hints.v[at.v[i]].is_known = rc == 0;
	}
	free(rows);
	vec_release(&sites);
	vec_release(&at);
	return rc;
}

static int take_robots(void *arg, const struct store_robots *r, struct err *err)
{
	struct ahead *a = arg;
	uint32_t at = strtab_find(&a->origins, r->origin.s, r->origin.size);
	struct ahead_robots *to = &a->robots.v[at != MAP_NONE ? at : 0];

	(void)err;
	if (at == MAP_NONE || to->is_there)
		return 0;
	to->row = *r;
	to->row.origin = (struct text){ 0 };
	if (r->body.s)
		to->row.body.s = memcpy(mem_alloc(r->body.size + 1), r->body.s, r->body.size);
	a->robots_bytes += r->body.size;
	to->is_there = true;
	return 0;
}

static int read_robots(struct store *s, struct ahead *a, const struct store_ahead *want,
                       struct err *err)
{
	VEC(struct text) origins = { 0 };
	int rc = 0;

	if (a->robots_bytes > ROBOTS_BYTES || a->robots.n > SITES_MAX)
		forget_robots(a);       /* their turn may never come */
	for (size_t i = 0; i < want->n_origins; i++) {
		bool fresh;

		strtab_intern(&a->origins, want->origins[i].s, want->origins[i].size, &fresh);
		if (!fresh)
			continue;
		vec_push(&a->robots, ((struct ahead_robots){ .is_known = true }));
		vec_push(&origins, want->origins[i]);
	}
	if (origins.n)
		rc = s->ops->robots(s, origins.v, origins.n, take_robots, a, err);
	if (rc < 0)
		forget_robots(a);
	vec_release(&origins);
	return rc;
}

int ahead_read(struct store *s, struct ahead *a, const struct store_ahead *want,
               struct err *err)
{
	int rc = 0;

	if (a->pages.n - a->free.n > PAGES_MAX)
		forget_pages(a);
	for (size_t i = 0; i < want->n_pages; i++)
		want_page(a, want->pages[i]);
	if (a->n_stale)
		rc = read_pages(s, a, STORE_NONE, err);
	if (rc == 0)
		rc = read_copies(s, a, want, err);
	if (rc == 0)
		rc = read_hints(s, a, want, err);
	if (rc == 0)
		rc = read_robots(s, a, want, err);
	return rc;
}

const struct store_capture *ahead_copy(const struct ahead *a, uint64_t id)
{
	uint32_t at = map_get(&a->capture_at, id);

	return at != MAP_NONE ? &a->captures.v[at] : NULL;
}

const struct store_hint *ahead_hint(const struct ahead *a, struct text site)
{
	uint32_t at = strtab_find(&a->sites, site.s, site.size);

	return at != MAP_NONE && a->hints.v[at].is_known ? &a->hints.v[at].row : NULL;
}

const struct store_robots *ahead_robots(struct ahead *a, struct text origin, bool *ret_there)
{
	uint32_t at = strtab_find(&a->origins, origin.s, origin.size);
	struct ahead_robots *r = &a->robots.v[at != MAP_NONE ? at : 0];

	if (at == MAP_NONE || !r->is_known)
		return NULL;
	*ret_there = r->is_there;
	r->row.origin = origin;
	r->is_known = false;
	return &r->row;
}
