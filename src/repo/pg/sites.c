/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - hints of sites, robots.txt, words; see store_pg.h. */
#include <string.h>

#include "repo/pg/store_pg.h"

#define SCAN_PART 10000
#define ROBOTS_PART 200         /* up to 512 KiB each */

static struct store_hint read_hint(struct pg_row *r)
{
	return (struct store_hint){
		.checks = pg_row_count(r, 1), .hits = pg_row_count(r, 2), .told = pg_row_count(r, 3),
		.read = pg_row_time(r, 4), .doubt = pg_row_count(r, 5),
	};
}

/* The memory of a batch for a site. */
static struct pg_site *site_of(struct pg_batch *b, struct text site)
{
	bool is_new;
	uint32_t i = strtab_intern(&b->sites, site.s, site.size, &is_new);

	if (is_new)
		vec_push(&b->hints, (struct pg_site){ 0 });
	return &b->hints.v[i];
}

struct hints_wanted {
	const struct text *sites;
	struct store_hint *ret;
	struct strtab names;            /* of those that are asked for */
	VEC(struct store_hint) found;
};

static int see_wanted(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct hints_wanted *w = arg;
	struct text site = pg_row_text(r, 0);
	struct store_hint h = read_hint(r);
	uint32_t i = strtab_find(&w->names, site.s, site.size);

	(void)s;
	if (r->rc == 0 && i != MAP_NONE)
		w->found.v[i] = h;
	return r->rc;
}

int pg_hints_get(struct store *base, const struct text *sites, size_t n,
                 struct store_hint *ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct hints_wanted w = { .sites = sites, .ret = ret };
	struct pg_rows asked = { .types = "t" };
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t known = s->in_batch ? strtab_find(&s->batch.sites, sites[i].s, sites[i].size) :
		                 MAP_NONE;
		bool is_new;

		if (known != MAP_NONE && s->batch.hints.v[known].is_known)
			continue;
		if (known != MAP_NONE)          /* changed, but never read */
			pg_show_writes(s, PG_T_HINTS);
		strtab_intern(&w.names, sites[i].s, sites[i].size, &is_new);
		if (is_new) {
			vec_push(&w.found, (struct store_hint){ 0 });
			pg_rows_text(&asked, sites[i]);
		}
	}
	if (asked.n) {
		pg_shard_args(s, &a);
		pg_rows_take(&asked, &a);
		rc = pg_ask(s, PG_HINT_GET, &a, &r, err);
		if (rc == 0)
			rc = pg_walk(s, r, "hints", see_wanted, &w, err);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t at = strtab_find(&w.names, sites[i].s, sites[i].size);

		if (at != MAP_NONE)
			ret[i] = w.found.v[at];
		if (s->in_batch) {
			struct pg_site *site = site_of(&s->batch, sites[i]);

			if (at != MAP_NONE)
				site->hint = ret[i];
			site->is_known = true;
			ret[i] = site->hint;
		}
	}
	strtab_release(&w.names);
	vec_release(&w.found);
	pg_rows_release(&asked);
	pg_args_release(&a);
	return rc;
}

int pg_hints_change(struct store *base, const struct store_hint_change *rows, size_t n,
                    struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_hint_change *c = &rows[i];
		struct pg_site *site = site_of(&s->batch, c->site);
		struct pg_args *a = pg_batch_call(s, PG_HINT_CHANGE);

		s->batch.dirty |= PG_T_HINTS;
		pg_args_text(a, c->site);
		pg_args_int(a, c->checks);
		pg_args_int(a, c->hits);
		pg_args_int(a, c->told);
		pg_args_int(a, c->read);
		pg_args_int(a, c->set_doubt ? c->doubt : 0);
		pg_args_int(a, c->set_doubt);
		site->hint.checks += (uint32_t)c->checks;
		site->hint.hits += (uint32_t)c->hits;
		site->hint.told += (uint32_t)c->told;
		if (c->read > site->hint.read)
			site->hint.read = c->read;
		if (c->set_doubt)
			site->hint.doubt = c->doubt;
	}
	return pg_leave(s, own, rc, err);
}

struct hints { store_hint_each *each; void *arg; struct err *err; };

static int see_hint(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct hints *w = arg;
	struct text site = pg_row_text(r, 0);
	struct store_hint h = read_hint(r);

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, site, &h, w->err);
}

int pg_hints(struct store *base, store_hint_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct hints w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	rc = pg_scan(s, PG_HINT_SCAN, &a, SCAN_PART, "hints", see_hint, &w, err);
	pg_args_release(&a);
	return rc;
}

int pg_robots_put(struct store *base, const struct store_robots *rows, size_t n,
                  struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct store_robots *r = &rows[i];
		struct pg_args *a = pg_batch_call(s, PG_ROBOTS_PUT);

		s->batch.dirty |= PG_T_ROBOTS;
		pg_args_text(a, r->origin);
		pg_args_int(a, r->time);
		pg_args_int(a, r->status);
		pg_args_int(a, r->cut);
		pg_args_bytes(a, r->body);
		pg_args_int(a, r->tried);
		pg_args_int(a, r->failing);
	}
	return pg_leave(s, own, rc, err);
}

struct robots { store_robots_each *each; void *arg; struct err *err; };

static int see_robots(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct robots *w = arg;
	struct store_robots row = {
		.origin = pg_row_text(r, 0), .time = pg_row_time(r, 1), .status = pg_row_status(r, 2),
		.cut = pg_row_flag(r, 3), .body = pg_row_bytes(r, 4), .tried = pg_row_time(r, 5),
		.failing = pg_row_time(r, 6),
	};

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, &row, w->err);
}

int pg_robots(struct store *base, const struct text *origins, size_t n,
              store_robots_each *each, void *arg, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct robots w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc = 0;

	if (!origins) {
		pg_shard_args(s, &a);
		rc = pg_scan(s, PG_ROBOTS_SCAN, &a, ROBOTS_PART, "robots", see_robots, &w, err);
	} else {
		pg_show_writes(s, PG_T_ROBOTS);
	}
	for (size_t at = 0; origins && at < n && rc == 0; at += ROBOTS_PART) {
		struct pg_rows some = { .types = "t" };
		PGresult *r = NULL;

		for (size_t i = at; i < n && i < at + ROBOTS_PART; i++)
			pg_rows_text(&some, origins[i]);
		pg_shard_args(s, &a);
		pg_rows_take(&some, &a);
		rc = pg_ask(s, PG_ROBOTS_GET, &a, &r, err);
		if (rc == 0)
			rc = pg_walk(s, r, "robots", see_robots, &w, err);
		pg_rows_release(&some);
	}
	pg_args_release(&a);
	return rc;
}

int pg_robots_size(struct store *base, uint64_t *ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_T_ROBOTS);
	pg_shard_args(s, &a);
	rc = pg_ask(s, PG_ROBOTS_SIZE, &a, &r, err);
	if (rc == 0) {
		struct pg_row row = { .r = r, .table = "robots", .where = s->target.shown, .err = err };

		*ret = pg_row_id(&row, 0);
		rc = row.rc;
	}
	PQclear(r);
	pg_args_release(&a);
	return rc;
}

int pg_robots_forget(struct store *base, int64_t before, struct err *err)
{
	struct store_pg *s = pg_self(base);
	bool own;
	int rc = pg_enter(s, &own, err);

	if (rc == 0) {
		s->batch.dirty |= PG_T_ROBOTS;
		pg_args_int(pg_batch_call(s, PG_ROBOTS_FORGET), before);
	}
	return pg_leave(s, own, rc, err);
}

int pg_words_add(struct store *base, uint32_t first, const struct text *words, size_t n,
                 struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_rows rows = { .types = "it" };
	bool own;
	int rc = pg_enter(s, &own, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		pg_rows_int(&rows, (int64_t)first + (int64_t)i);
		pg_rows_text(&rows, words[i]);
	}
	if (rc == 0)
		pg_batch_take(s, PG_WORD_ADD, &rows);
	pg_rows_release(&rows);
	return pg_leave(s, own, rc, err);
}

struct words { store_word_each *each; void *arg; struct err *err; };

static int see_word(struct store_pg *s, struct pg_row *r, void *arg)
{
	struct words *w = arg;
	uint32_t number = (uint32_t)pg_row_int(r, 0, 0, UINT32_MAX - 1, "number of a word");
	struct text word = pg_row_text(r, 1);

	(void)s;
	return r->rc < 0 ? r->rc : w->each(w->arg, number, word, w->err);
}

int pg_words(struct store *base, uint32_t from, store_word_each *each, void *arg,
             struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct words w = { each, arg, err };
	struct pg_args a = { 0 };
	int rc;

	pg_shard_args(s, &a);
	pg_args_int(&a, from);
	rc = pg_scan(s, PG_WORD_SCAN, &a, SCAN_PART, "words", see_word, &w, err);
	pg_args_release(&a);
	return rc;
}
