/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_gather.c - rows that wait in memory for the next batch; see store_gather.h.
 *
 * Rows of one key are joined: a page that is changed twice is written once.  Captures have
 * their ids from the start, so that visits and pages can name them.  Whether the second of
 * a capture is free is known only when it is written; if it is not, those who name it are
 * mended.
 */
#include "repo/store_gather.h"

#define IDS_AT_ONCE 1024        /* drawn; those of one that ends are never used */

void gather_clear(struct gather *g)
{
	arena_reset(&g->texts);
	g->pages.n = g->named.n = g->captures.n = g->how.n = g->headers.n = 0;
	g->visits.n = g->hints.n = g->robots.n = 0;
	map_release(&g->page_at);
	map_release(&g->capture_at);
	map_release(&g->headers_at);
	strtab_release(&g->sites);
	strtab_release(&g->origins);
}

void gather_release(struct gather *g)
{
	gather_clear(g);
	arena_release(&g->texts);
	vec_release(&g->pages);
	vec_release(&g->named);
	vec_release(&g->captures);
	vec_release(&g->how);
	vec_release(&g->headers);
	vec_release(&g->visits);
	vec_release(&g->hints);
	vec_release(&g->robots);
	ahead_release(&g->ahead);
}

static struct text copy(struct gather *g, struct text t)
{
	return t.s ? (struct text){ arena_strndup(&g->texts, t.s, t.size), t.size } : t;
}

/* ---- what is written later ---- */

/* What the later change sets counts; the first `given` stays. */
static void join(struct store_page_change *have, const struct store_page_change *c)
{
	struct store_page *to = &have->to;
	const struct store_page *from = &c->to;

	have->visits += c->visits;
	have->changes += c->changes;
	to->last_visit = c->set & STORE_SET_LAST_VISIT ? from->last_visit : to->last_visit;
	to->last_change = c->set & STORE_SET_LAST_CHANGE ? from->last_change : to->last_change;
	to->fails = c->set & STORE_SET_FAILS ? from->fails : to->fails;
	to->fails_gone = c->set & STORE_SET_FAILS_GONE ? from->fails_gone : to->fails_gone;
	to->state = c->set & STORE_SET_STATE ? from->state : to->state;
	to->capture = c->set & STORE_SET_CAPTURE ? from->capture : to->capture;
	to->hint = c->set & STORE_SET_HINT ? from->hint : to->hint;
	to->hint_seen = c->set & STORE_SET_HINT_SEEN ? from->hint_seen : to->hint_seen;
	to->found = c->set & STORE_SET_FOUND ? from->found : to->found;
	to->touched = c->set & STORE_SET_TOUCHED ? from->touched : to->touched;
	to->notifier = c->set & STORE_SET_TOUCHED ? from->notifier : to->notifier;
	to->weight = c->set & STORE_SET_WEIGHT ? from->weight : to->weight;
	if (c->set & ~have->set & STORE_SET_GIVEN)
		to->given = from->given;
	have->set |= c->set;
}

void gather_pages_change(struct gather *g, const struct store_page_change *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct store_page_change c = rows[i];
		uint32_t at = map_get(&g->page_at, c.number);

		c.to.url = (struct text){ 0 };
		c.to.given = c.set & STORE_SET_GIVEN ? copy(g, c.to.given) : (struct text){ 0 };
		if (at != MAP_NONE) {
			join(&g->pages.v[at], &c);
		} else {
			at = (uint32_t)g->pages.n;
			map_put(&g->page_at, c.number, at);
			vec_push(&g->pages, c);
		}
		if (c.set & STORE_SET_CAPTURE)
			vec_push(&g->named, ((struct named){ at, c.to.capture }));
	}
}

int gather_captures_put(struct store *s, struct gather *g, struct store_capture *rows,
                        size_t n, enum store_second how, uint8_t *ret, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct store_capture c;

		if (!rows[i].id && !g->n_ids) {
			int rc = s->ops->capture_ids(s, IDS_AT_ONCE, &g->next_id, err);

			if (rc < 0)
				return rc;
			g->n_ids = IDS_AT_ONCE;
		}
		if (!rows[i].id) {
			rows[i].id = g->next_id++;
			g->n_ids--;
		}
		c = rows[i];
		for (size_t k = 0; k < STORE_CAPTURE_TEXTS; k++)
			*store_capture_text(&c, k) = copy(g, *store_capture_text(&c, k));
		map_put(&g->capture_at, c.id, (uint32_t)g->captures.n);
		vec_push(&g->captures, c);
		vec_push(&g->how, (uint8_t)how);
		ret[i] = STORE_ADDED;
	}
	return 0;
}

void gather_captures_refresh(struct gather *g, const struct store_headers *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct store_headers h = { rows[i].capture, copy(g, rows[i].etag),
		                           copy(g, rows[i].modified), copy(g, rows[i].robots) };
		uint32_t at = map_get(&g->headers_at, h.capture);

		if (at != MAP_NONE) {
			g->headers.v[at] = h;
			continue;
		}
		map_put(&g->headers_at, h.capture, (uint32_t)g->headers.n);
		vec_push(&g->headers, h);
	}
}

void gather_visits_add(struct gather *g, const struct store_visit *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&g->visits, rows[i]);
}

void gather_hints_change(struct gather *g, const struct store_hint_change *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct store_hint_change h = rows[i], *have;
		bool fresh;
		uint32_t at = strtab_intern(&g->sites, h.site.s, h.site.size, &fresh);

		h.site = copy(g, h.site);
		if (fresh) {
			vec_push(&g->hints, h);
			continue;
		}
		have = &g->hints.v[at];
		have->checks += h.checks;
		have->hits += h.hits;
		have->told += h.told;
		have->read = h.read > have->read ? h.read : have->read;
		have->doubt = h.set_doubt ? h.doubt : have->doubt;
		have->set_doubt |= h.set_doubt;
	}
}

void gather_robots_put(struct gather *g, const struct store_robots *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct store_robots r = rows[i];
		bool fresh;
		uint32_t at = strtab_intern(&g->origins, r.origin.s, r.origin.size, &fresh);

		r.origin = copy(g, r.origin);
		r.body = copy(g, r.body);
		if (fresh)
			vec_push(&g->robots, r);
		else
			g->robots.v[at] = r;
	}
}

/* ---- reads ---- */

struct page_reading { struct gather *g; store_page_each *each; void *arg; };

static uint32_t add_to(uint32_t count, int64_t more)
{
	int64_t sum = (int64_t)count + more;

	return sum < 0 ? 0 : (uint32_t)sum;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct page_reading *r = arg;
	uint32_t at = map_get(&r->g->page_at, p->number);
	struct store_page_change now = { .to = *p, .set = p->given.s ? STORE_SET_GIVEN : 0 };

	if (at != MAP_NONE) {
		join(&now, &r->g->pages.v[at]);
		now.to.visits = add_to(p->visits, now.visits);
		now.to.changes = add_to(p->changes, now.changes);
	}
	return r->each(r->arg, &now.to, err);
}

int gather_pages_get(struct store *s, struct gather *g, const uint32_t *numbers, size_t n,
                     store_page_each *each, void *arg, struct err *err)
{
	struct page_reading r = { g, each, arg };
	const struct store_page *p = NULL;
	int rc = n == 1 ? ahead_page(s, &g->ahead, numbers[0], &p, err) : 0;

	if (rc < 0 || p)
		return rc < 0 ? rc : see_page(&r, p, err);
	return s->ops->pages_get(s, numbers, n, see_page, &r, err);
}

struct capture_reading { struct gather *g; store_capture_each *each; void *arg; };

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct capture_reading *r = arg;
	uint32_t at = map_get(&r->g->headers_at, c->id);
	struct store_capture now = *c;

	if (at != MAP_NONE) {
		now.etag = r->g->headers.v[at].etag;
		now.modified = r->g->headers.v[at].modified;
		now.robots = r->g->headers.v[at].robots;
	}
	return r->each(r->arg, &now, err);
}

int gather_captures_get(struct store *s, struct gather *g, const uint64_t *ids, size_t n,
                        store_capture_each *each, void *arg, struct err *err)
{
	struct capture_reading r = { g, each, arg };
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t at = map_get(&g->capture_at, ids[i]);

		rc = at != MAP_NONE ? see_capture(&r, &g->captures.v[at], err) :
			s->ops->captures_get(s, &ids[i], 1, see_capture, &r, err);
	}
	return rc;
}

/* From memory if it can be. */
int gather_copy_get(struct store *s, struct gather *g, uint64_t id, store_capture_each *each,
                    void *arg, struct err *err)
{
	struct capture_reading r = { g, each, arg };
	const struct store_capture *c = ahead_copy(&g->ahead, id);

	if (c || map_get(&g->capture_at, id) != MAP_NONE)
		return c ? see_capture(&r, c, err) : gather_captures_get(s, g, &id, 1, each, arg, err);
	return s->ops->copies_get(s, &id, 1, see_capture, &r, err);
}

int gather_hints_get(struct store *s, struct gather *g, const struct text *sites, size_t n,
                     struct store_hint *ret, struct err *err)
{
	const struct store_hint *known = n == 1 ? ahead_hint(&g->ahead, sites[0]) : NULL;
	int rc = known ? 0 : s->ops->hints_get(s, sites, n, ret, err);

	if (known)
		ret[0] = *known;
	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t at = strtab_find(&g->sites, sites[i].s, sites[i].size);
		const struct store_hint_change *h = &g->hints.v[at != MAP_NONE ? at : 0];

		if (at == MAP_NONE)
			continue;
		ret[i].checks = add_to(ret[i].checks, h->checks);
		ret[i].hits = add_to(ret[i].hits, h->hits);
		ret[i].told = add_to(ret[i].told, h->told);
		ret[i].read = h->read > ret[i].read ? h->read : ret[i].read;
		ret[i].doubt = h->set_doubt ? h->doubt : ret[i].doubt;
	}
	return rc;
}

int gather_robots(struct store *s, struct gather *g, const struct text *origins, size_t n,
                  store_robots_each *each, void *arg, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t at = strtab_find(&g->origins, origins[i].s, origins[i].size);

		const struct store_robots *known;
		bool there;

		if (at != MAP_NONE)
			rc = each(arg, &g->robots.v[at], err);
		else if ((known = ahead_robots(&g->ahead, origins[i], &there)))
			rc = there ? each(arg, known, err) : 0;
		else
			rc = s->ops->robots(s, &origins[i], 1, each, arg, err);
	}
	return rc;
}

/* ---- writing ---- */

/* The id that a capture got in the end: 0 if its second was taken.  Others as they are. */
static uint64_t final_id(const struct gather *g, uint64_t id)
{
	uint32_t at = map_get(&g->capture_at, id);

	return at != MAP_NONE ? g->captures.v[at].id : id;
}

static int write_captures(struct store *s, struct gather *g, struct err *err)
{
	uint8_t *came = mem_zalloc(g->captures.n + 1, 1);
	int rc = 0;

	for (size_t from = 0, to; from < g->captures.n && rc == 0; from = to) {
		for (to = from + 1; to < g->captures.n && g->how.v[to] == g->how.v[from];)
			to++;
		rc = s->ops->captures_put(s, g->captures.v + from, to - from,
		                          (enum store_second)g->how.v[from], came + from, err);
	}
	free(came);
	return rc;
}

static void mend_names(struct gather *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->visits.n; i++)
		g->visits.v[i].capture = final_id(g, g->visits.v[i].capture);
	for (size_t i = 0; i < g->headers.n; i++) {
		g->headers.v[n] = g->headers.v[i];
		g->headers.v[n].capture = final_id(g, g->headers.v[i].capture);
		n += g->headers.v[n].capture != 0;
	}
	g->headers.n = n;
	for (size_t i = 0; i < g->pages.n; i++)
		g->pages.v[i].set &= ~(uint32_t)STORE_SET_CAPTURE;
	for (size_t i = 0; i < g->named.n; i++) {       /* the last that there is */
		struct store_page_change *c = &g->pages.v[g->named.v[i].at];
		uint64_t id = final_id(g, g->named.v[i].capture);

		if (!id && g->named.v[i].capture)
			continue;
		c->to.capture = id;
		c->set |= STORE_SET_CAPTURE;
	}
}

int gather_write(struct store *s, struct gather *g, struct err *err)
{
	int rc = write_captures(s, g, err);

	if (rc == 0) {
		mend_names(g);
		rc = s->ops->captures_refresh(s, g->headers.v, g->headers.n, err);
	}
	if (rc == 0)
		rc = s->ops->pages_change(s, g->pages.v, g->pages.n, err);
	if (rc == 0)
		rc = s->ops->visits_add(s, g->visits.v, g->visits.n, err);
	if (rc == 0)
		rc = s->ops->hints_change(s, g->hints.v, g->hints.n, err);
	if (rc == 0)
		rc = s->ops->robots_put(s, g->robots.v, g->robots.n, err);
	for (size_t i = 0; i < g->pages.n; i++)
		ahead_drop_page(&g->ahead, g->pages.v[i].number);
	for (size_t i = 0; i < g->hints.n; i++)
		ahead_drop_hint(&g->ahead, g->hints.v[i].site);
	for (size_t i = 0; i < g->robots.n; i++)
		ahead_drop_robots(&g->ahead, g->robots.v[i].origin);
	ahead_drop_copies(&g->ahead);
	return rc;
}
