/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - pages are found, added and changed; see store_pg.h.
 *
 * URLs are found by a 64-bit hash: that index has a quarter of the size of an index on the
 * text.  URLs with the same hash are compared.
 */
#include <string.h>

#include "repo/pg/store_pg.h"

#define AT_ONCE 10000           /* URLs that are looked for in one statement */

void pg_page_apply(struct store_page *p, const struct store_page_change *c)
{
	const struct store_page *to = &c->to;

	p->visits += (uint32_t)c->visits;
	p->changes += (uint32_t)c->changes;
	if (c->set & STORE_SET_LAST_VISIT)
		p->last_visit = to->last_visit;
	if (c->set & STORE_SET_LAST_CHANGE)
		p->last_change = to->last_change;
	if (c->set & STORE_SET_FAILS)
		p->fails = to->fails;
	if (c->set & STORE_SET_FAILS_GONE)
		p->fails_gone = to->fails_gone;
	if (c->set & STORE_SET_STATE)
		p->state = to->state;
	if (c->set & STORE_SET_CAPTURE)
		p->capture = to->capture;
	if (c->set & STORE_SET_HINT)
		p->hint = to->hint;
	if (c->set & STORE_SET_HINT_SEEN)
		p->hint_seen = to->hint_seen;
	if (c->set & STORE_SET_FOUND)
		p->found = to->found;
	if (c->set & STORE_SET_WEIGHT)
		p->weight = to->weight;
	if (c->set & STORE_SET_GIVEN && !p->given.s)
		p->given = to->given;
	if (c->set & STORE_SET_TOUCHED) {
		p->touched = to->touched;
		p->notifier = to->notifier;
	}
}

struct wanted {
	const struct text *urls;        /* that are looked for */
	uint32_t *numbers;              /* by URL: STORE_NONE, or what was found */
	const size_t *which;
	struct map by_key;              /* -> the first in which[] */
	size_t n;
};

static int see_found(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct wanted *w = arg;
	int64_t key = pg_row_any(r, 0);
	struct text url = pg_row_url(r, 2);
	uint32_t number = (uint32_t)pg_row_int(r, 1, 0, STORE_NONE - 1, "number of a page");

	(void)s;
	if (r->rc < 0)
		return r->rc;
	/* the first with this hash, or one after it: equal URLs are asked for once */
	for (size_t i = map_get(&w->by_key, (uint64_t)key); i < w->n; i++) {
		const struct text *u = &w->urls[w->which[i]];

		if (u->size == url.size && !memcmp(u->s, url.s, url.size)) {
			w->numbers[w->which[i]] = number;
			break;
		}
	}
	return 0;
}

/* Look in the tables for the URLs in which[]. */
static int find_stored(struct store_pg *s, const struct text *urls, const size_t *which,
                       size_t n, uint32_t *ret, struct err *err)
{
	int rc = 0;

	for (size_t from = 0; from < n && rc == 0; from += AT_ONCE) {
		struct wanted w = { .urls = urls, .numbers = ret, .which = which + from,
		                    .n = n - from < AT_ONCE ? n - from : AT_ONCE };
		struct pg_rows keys = { .types = "i" };
		struct pg_args a = { 0 };
		PGresult *r = NULL;

		for (size_t i = 0; i < w.n; i++) {
			const struct text *u = &urls[w.which[i]];
			uint64_t key = hash_bytes(u->s, u->size, 0);

			map_intern(&w.by_key, key, (uint32_t)i, NULL);
			pg_rows_int(&keys, (int64_t)key);
		}
		pg_shard_args(s, &a);
		pg_rows_take(&keys, &a);
		rc = pg_ask(s, PG_PAGE_FIND, &a, &r, err);
		if (rc == 0)
			rc = pg_walk(s, r, "pages", see_found, &w, err);
		pg_args_release(&a);
		pg_rows_release(&keys);
		map_release(&w.by_key);
	}
	return rc;
}

/* The number of a page that was read already, or STORE_NONE. */
static uint32_t known_url(const struct pg_batch *b, struct text url)
{
	uint32_t i = map_get(&b->by_url, hash_bytes(url.s, url.size, 0));
	const struct pg_page *p = i == MAP_NONE ? NULL : &b->pages.v[i];

	return p && p->is_known && p->row.url.size == url.size &&
	       !memcmp(p->row.url.s, url.s, url.size) ? p->row.number : STORE_NONE;
}

int pg_pages_find(struct store *base, const struct text *urls, size_t n, uint32_t *ret,
                  struct err *err)
{
	struct store_pg *s = pg_self(base);
	size_t *which = mem_array(n ? n : 1, sizeof *which), n_which = 0;
	struct strtab asked = { 0 };
	VEC(size_t) first = { 0 };      /* of the URLs in `asked`, which URL */
	int rc;

	for (size_t i = 0; i < n; i++) {
		uint32_t own = s->in_batch ? strtab_find(&s->batch.new_urls, urls[i].s, urls[i].size) :
		               MAP_NONE;
		bool is_new;

		ret[i] = own == MAP_NONE ? STORE_NONE : s->batch.first_new + own;
		if (own == MAP_NONE && s->in_batch)
			ret[i] = known_url(&s->batch, urls[i]);
		if (ret[i] != STORE_NONE || (s->in_batch && (!s->batch.first_new ||
		    strtab_find(&s->batch.absent, urls[i].s, urls[i].size) != MAP_NONE)))
			continue;
		strtab_intern(&asked, urls[i].s, urls[i].size, &is_new);
		if (is_new) {
			vec_push(&first, i);
			which[n_which++] = i;
		}
	}
	rc = find_stored(s, urls, which, n_which, ret, err);
	for (size_t i = 0; i < n && rc == 0; i++) {     /* repeated URLs */
		uint32_t a = ret[i] == STORE_NONE ? strtab_find(&asked, urls[i].s, urls[i].size) :
		             MAP_NONE;

		if (a != MAP_NONE)
			ret[i] = ret[first.v[a]];
	}
	strtab_release(&asked);
	vec_release(&first);
	free(which);
	return rc;
}

static int add_page(struct store_pg *s, struct store_page *row, struct err *err)
{
	struct pg_batch *b = &s->batch;
	struct pg_page *p;

	if (b->n_pages >= STORE_NONE - 1)
		return err_set(err, E_LIMIT, "%s: full: 4 billion pages", s->target.shown);
	row->number = (uint32_t)b->n_pages++;
	strtab_intern(&b->new_urls, row->url.s, row->url.size, NULL);
	p = pg_batch_page(s, row->number, true);
	p->is_new = p->is_known = true;
	p->row = *row;
	p->row.url = pg_batch_text(b, row->url);
	p->row.given = pg_batch_text(b, row->given);
	return 0;
}

int pg_pages_add(struct store *base, struct store_page *rows, size_t n, bool *ret_new,
                 struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct text *urls = mem_array(n ? n : 1, sizeof *urls);
	uint32_t *numbers = mem_array(n ? n : 1, sizeof *numbers);
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n; i++)
		urls[i] = rows[i].url;
	if (rc == 0)
		rc = pg_pages_find(base, urls, n, numbers, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t twin = numbers[i] == STORE_NONE ?
			strtab_find(&s->batch.new_urls, urls[i].s, urls[i].size) : MAP_NONE;

		ret_new[i] = numbers[i] == STORE_NONE && twin == MAP_NONE;
		if (ret_new[i])
			rc = add_page(s, &rows[i], err);
		else
			rows[i].number = twin == MAP_NONE ? numbers[i] : s->batch.first_new + twin;
	}
	free(urls);
	free(numbers);
	return pg_leave(s, own, rc, err);
}

int pg_pages_change(struct store *base, const struct store_page_change *rows, size_t n,
                    struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct pg_page *p = pg_batch_page(s, rows[i].number, true);
		struct store_page_change c = rows[i];

		if (c.set & STORE_SET_GIVEN)
			c.to.given = pg_batch_text(&s->batch, c.to.given);
		if (p->is_known)
			pg_page_apply(&p->row, &c);
		if (p->is_new && !p->is_sent)
			continue;
		p->change.set |= c.set;         /* counters add up, of the rest the last counts */
		pg_page_apply(&p->change.to, &c);
		p->change.to.visits = p->change.to.changes = 0;
		p->change.visits += c.visits;
		p->change.changes += c.changes;
		p->is_changed = true;
	}
	return pg_leave(s, own, rc, err);
}
