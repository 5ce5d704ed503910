/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - what a batch has written, until it is committed; see store_pg.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "repo/pg/store_pg.h"

#define CARRY_BYTES ((size_t)64 << 20)  /* what is remembered from batch to batch */
#define CARRY_PAGES 50000
#define ROWS_AT_ONCE 20000      /* of a statement: each of its arrays is some MB at most */
#define COPY_ROWS 1000          /* so many are worth the round trips of a COPY */

void pg_batch_init(struct pg_batch *b)
{
	*b = (struct pg_batch){
		.captures_drop.types = "i", .bodies.types = "it", .headers.types = "ittt",
		.forget.types = "i", .visits.types = "iiiissnoffisii",
	};
}

void pg_batch_release(struct pg_batch *b)
{
	for (size_t i = 0; i < b->log.n; i++) {
		free(b->log.v[i].text);
		pg_args_release(&b->log.v[i].args);
	}
	arena_release(&b->texts);
	vec_release(&b->pages);
	map_release(&b->by_number);
	map_release(&b->by_url);
	strtab_release(&b->absent);
	strtab_release(&b->new_urls);
	vec_release(&b->captures);
	vec_release(&b->read);
	map_release(&b->read_by_id);
	map_release(&b->by_id);
	map_release(&b->by_second);
	map_release(&b->refreshed);
	strtab_release(&b->sites);
	vec_release(&b->hints);
	map_release(&b->last_order);
	map_release(&b->imported);
	vec_release(&b->log);
	pg_rows_release(&b->captures_drop);
	pg_rows_release(&b->bodies);
	pg_rows_release(&b->headers);
	pg_rows_release(&b->forget);
	pg_rows_release(&b->visits);
	pg_batch_init(b);
}

/* What is remembered of pages, captures and hints. */
void pg_batch_forget(struct pg_batch *b)
{
	arena_reset(&b->texts);
	b->pages.n = b->read.n = b->hints.n = 0;
	map_clear(&b->by_number);
	map_clear(&b->by_url);
	map_clear(&b->read_by_id);
	strtab_release(&b->sites);
	map_clear(&b->last_order);
}

void pg_batch_carry(struct pg_batch *b)
{
	bool wrote = b->log.n != 0;
	struct pg_batch next;

	pg_batch_init(&next);
	next.carried = b->number + wrote;
	for (size_t i = 0; i < b->pages.n; i++) {
		struct pg_page *p = &b->pages.v[i];

		p->is_new = p->is_sent = p->is_changed = false;
		p->change = (struct store_page_change){ .number = p->change.number };
	}
	if (b->has_forgotten)
		map_clear(&b->last_order);
#define CARRY(x) (next.x = b->x, memset(&b->x, 0, sizeof b->x))
	CARRY(texts), CARRY(pages), CARRY(by_number), CARRY(by_url), CARRY(read);
	CARRY(read_by_id), CARRY(sites), CARRY(hints), CARRY(last_order);
#undef CARRY
	pg_batch_release(b);
	*b = next;
	/* known by a change alone, the next reader must ask */
	if (b->texts.total > CARRY_BYTES || b->pages.n >= CARRY_PAGES)
		pg_batch_forget(b);
}

struct pg_args *pg_batch_call(struct store_pg *s, enum pg_sql sql)
{
	struct pg_call c = { .sql = (int)sql };

	pg_shard_args(s, &c.args);
	vec_push(&s->batch.log, c);
	return &s->batch.log.v[s->batch.log.n - 1].args;
}

struct pg_page *pg_batch_page(struct store_pg *s, uint32_t number, bool make)
{
	struct pg_batch *b = &s->batch;
	uint32_t i = map_get(&b->by_number, number);

	if (i == MAP_NONE && !make)
		return NULL;
	if (i == MAP_NONE) {
		struct pg_page p = { .change.number = number, .captured = PG_NEVER };

		i = (uint32_t)b->pages.n;
		map_put(&b->by_number, number, i);
		vec_push(&b->pages, p);
	}
	return &b->pages.v[i];
}

/* 0 is NULL in the table, of the weight 1: most are so, and need no room. */
static void put_or_null(struct pg_rows *r, int64_t v)
{
	pg_rows_int_or_null(r, v, v != 0);
}

static void put_weight(struct pg_rows *r, double weight)
{
	pg_rows_real(r, weight > 1 || weight < 1 ? weight : NAN);
}

static void put_captured(struct pg_rows *r, int64_t time)
{
	pg_rows_int_or_null(r, time, time != PG_NEVER);
}

static void put_new_page(struct pg_rows *r, const struct pg_page *page)
{
	const struct store_page *p = &page->row;

	pg_rows_int(r, p->number);
	pg_rows_int(r, (int64_t)hash_bytes(p->url.s, p->url.size, 0));
	pg_rows_text(r, p->url);
	pg_rows_int(r, p->added);
	put_or_null(r, p->last_visit);
	put_or_null(r, p->last_change);
	put_or_null(r, p->visits);
	put_or_null(r, p->changes);
	put_or_null(r, p->fails);
	pg_rows_int(r, p->state);
	put_or_null(r, (int64_t)p->capture);
	put_or_null(r, p->hint);
	put_or_null(r, p->hint_seen);
	put_or_null(r, p->found);
	put_weight(r, p->weight);
	pg_rows_text(r, p->given);
	pg_rows_int(r, p->care);
	put_or_null(r, p->fails_gone);
	put_captured(r, page->captured);
	put_or_null(r, p->touched);
	put_or_null(r, p->notifier);
}

static void put_page_change(struct pg_rows *r, const struct pg_page *page)
{
	const struct store_page_change *c = &page->change;
	const struct store_page *to = &c->to;

	pg_rows_int(r, c->number);
	pg_rows_int(r, c->set);
	pg_rows_int(r, c->visits);
	pg_rows_int(r, c->changes);
	put_or_null(r, to->last_visit);
	put_or_null(r, to->last_change);
	put_or_null(r, to->fails);
	pg_rows_int(r, to->state);
	put_or_null(r, (int64_t)to->capture);
	put_or_null(r, to->hint);
	put_or_null(r, to->hint_seen);
	put_or_null(r, to->found);
	put_weight(r, to->weight);
	pg_rows_text(r, c->set & STORE_SET_GIVEN ? to->given : (struct text){ 0 });
	put_or_null(r, to->fails_gone);
	put_captured(r, page->captured);
	put_or_null(r, to->touched);
	put_or_null(r, to->notifier);
}

void pg_batch_take(struct store_pg *s, enum pg_sql sql, struct pg_rows *rows)
{
	if (rows->n)
		pg_rows_take(rows, pg_batch_call(s, sql));
}

void pg_batch_take_new(struct store_pg *s, enum pg_sql sql, enum pg_sql copy,
                       struct pg_rows *rows)
{
	struct pg_call c = { .sql = (int)copy, .is_copy = true };

	if (rows->n >= COPY_ROWS && pg_rows_copy(rows, s->target.shard, &c.args))
		vec_push(&s->batch.log, c);
	else
		pg_batch_take(s, sql, rows);    /* says what is wrong with a number, too */
}

static void flush_pages(struct store_pg *s)
{
	struct pg_rows added = { .types = "iitiiiiiisiiiirtsiiii" };
	struct pg_rows changed = { .types = "iiiiiiiiiiiirtiiii" };
	struct pg_batch *b = &s->batch;

	for (size_t i = 0; i < b->pages.n; i++) {
		struct pg_page *p = &b->pages.v[i];

		if (p->is_new && !p->is_sent) {
			put_new_page(&added, p);
			p->is_sent = true;
		} else if (p->is_changed) {
			put_page_change(&changed, p);
		}
		if (p->is_changed)
			p->change = (struct store_page_change){ .number = p->change.number };
		p->is_changed = false;
		if (added.n >= ROWS_AT_ONCE)
			pg_batch_take_new(s, PG_PAGE_INSERT, PG_PAGE_COPY, &added);
		if (changed.n >= ROWS_AT_ONCE)
			pg_batch_take(s, PG_PAGE_CHANGE, &changed);
	}
	pg_batch_take_new(s, PG_PAGE_INSERT, PG_PAGE_COPY, &added);
	pg_batch_take(s, PG_PAGE_CHANGE, &changed);
	pg_rows_release(&added);
	pg_rows_release(&changed);
}

void pg_batch_flush(struct store_pg *s)
{
	struct pg_batch *b = &s->batch;

	flush_pages(s);
	pg_batch_take(s, PG_CAPTURE_DROP, &b->captures_drop);
	pg_captures_flush(s);
	pg_batch_take(s, PG_CAPTURE_REFRESH, &b->headers);
	pg_visits_flush(s);
}

static void see_parts(struct store_pg *s, const PGresult *r)
{
	static const char *const tables[] = { "captures", "visits" };
	char name[32], part[8];

	memset(s->parts, 0, sizeof s->parts);
	for (int i = 0; i < PQntuples(r); i++)
		for (int of = 0; of < 2; of++)
			for (unsigned p = 0; p < PG_PARTS; p++) {
				pg_schema_part_name(p, part);
				snprintf(name, sizeof name, "%s_%s", tables[of], part);
				if (!strcmp(name, PQgetvalue(r, i, 0)))
					s->parts[of][p] = true;
			}
}

int pg_need_part(struct store_pg *s, int of, int64_t time, struct err *err)
{
	unsigned part = pg_schema_part(time);
	struct pg_call c = { .sql = -1 };
	PGresult *r = NULL;
	struct buf sql;
	int rc;

	if (s->parts_known && s->parts[of][part])
		return 0;
	if (!s->parts_known) {
		rc = pg_ask(s, PG_PARTITIONS, NULL, &r, err);
		if (rc < 0)
			return rc;
		see_parts(s, r);
		PQclear(r);
		s->parts_known = true;
	}
	if (!s->parts[of][part]) {
		buf_init(&sql, BUF_NO_LIMIT);
		pg_schema_part_make(&sql, of == PG_OF_CAPTURES ? "captures" : "visits", part);
		c.text = mem_strdup(buf_text(&sql));
		buf_release(&sql);
		vec_push(&s->batch.log, c);
		s->parts[of][part] = true;
	}
	return 0;
}

static int nothing(struct store_pg *s, void *arg, struct err *err)
{
	(void)s, (void)arg, (void)err;
	return 0;
}

int pg_begin(struct store *base, struct err *err)
{
	struct store_pg *s = pg_self(base);
	int rc;

	if (s->reads_only)
		return err_set(err, E_STORE, "%s: opened to read only", s->target.shown);
	if (s->in_batch && !s->beside.has_failed)
		return err_set(err, E_STORE, "%s: a batch is open already", s->target.shown);
	if (s->beside.has_failed) {
		*err = s->beside.err;
		return s->beside.rc;
	}
	base->ops->thaw(base);
	s->in_batch = true;
	s->writing = false;
	if (getrandom(&s->batch.token, sizeof s->batch.token, 0) != sizeof s->batch.token)
		err_no_memory();
	rc = pg_try(s, nothing, NULL, err);
	if (rc < 0)
		pg_rollback(base);
	return rc;
}

void pg_rollback(struct store *base)
{
	struct store_pg *s = pg_self(base);

	s->beside.has_failed = false;
	if (!s->in_batch)
		return;
	pg_unlock_batch(s);
	s->in_batch = s->writing = false;
	s->parts_known = false;
	pg_forget_known(s);             /* some may have been in this batch */
	pg_batch_release(&s->batch);
}

int pg_enter(struct store_pg *s, bool *ret_own, struct err *err)
{
	*ret_own = !s->in_batch;
	return s->in_batch ? 0 : pg_begin(&s->base, err);
}

int pg_leave(struct store_pg *s, bool own, int rc, struct err *err)
{
	int rc2;

	if (!own)
		return rc;
	rc2 = rc < 0 ? rc : pg_commit(&s->base, err);
	if (rc2 < 0)
		pg_rollback(&s->base);
	return rc2 < 0 ? rc2 : rc;
}
