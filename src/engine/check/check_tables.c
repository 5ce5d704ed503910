/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_tables.c - every row, and what rows say of each other; see check.h.
 *
 * - a page names its newest good copy: a capture of its own, with content;
 * - a visit is of a cycle that there is, and names a capture of its own page, or one that
 *   pruning took away (then the state `pruned` is set);
 * - a capture is of a page that there is.  The store looks after that when it reads a row.
 *
 * A table that cannot be read to its end says nothing of references into it.
 */
#include "engine/check/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/status.h"

#define PRUNED "pruned"         /* state of the shard: captures went */
#define ROWS_MAX 10000          /* rows that are taken out of a table */

struct tables {
	struct check *c;
	VEC(uint64_t) newest;           /* by page: pages.capture */
	VEC(uint8_t) good;              /* by page: that capture is there and its own */
	VEC(uint32_t) cycles;
	bool pruned, whole;             /* whole: all tables could be read */
	uint64_t n_without;             /* visits whose capture is not there */
};

static int problem(void *arg, const struct store_problem *p, struct err *err)
{
	struct check *c = arg;
	bool mend = c->repair && p->was;
	int rc = mend ? check_aside(c, p->was, err) : 0;

	if (rc == 0 && mend)
		rc = check_aside_sync(c, err);
	if (rc < 0)
		return rc;
	check_found(c, CHECK_TABLE, mend ? CHECK_MENDED : CHECK_WRONG, "%s%s", p->text,
	            mend ? " (set aside)" : "");
	return mend;
}

/* ---- reading ---- */

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct tables *t = arg;

	(void)err;
	vec_push(&t->newest, p->capture);
	vec_push(&t->good, 0);
	progress_set(&t->c->progress, t->newest.n);
	return 0;
}

static bool is_copy(const struct store_capture *c)
{
	return !c->revisit && (!c->status || status_is_page(c->status));
}

uint32_t check_file_number(struct check *c, struct text worker, struct text name)
{
	struct buf key;
	uint32_t i;

	buf_init(&key, BUF_NO_LIMIT);
	if (worker.s)
		buf_add(&key, worker.s, worker.size);
	buf_byte(&key, '\0');
	buf_add(&key, name.s, name.size);
	i = strtab_intern(&c->names, key.data, key.size, NULL);
	buf_release(&key);
	return i;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct tables *t = arg;
	struct check_capture k = { .id = c->id, .page = c->page, .offset = -1, .file = MAP_NONE };

	(void)err;
	if (c->file.s && c->offset >= 0) {
		k.file = check_file_number(t->c, c->worker, c->file);
		k.offset = c->offset;
		k.size = c->size < 0 || c->size >= UINT32_MAX ? UINT32_MAX : (uint32_t)c->size;
	}
	if (c->page < t->newest.n && t->newest.v[c->page] == c->id && is_copy(c))
		t->good.v[c->page] = 1;
	vec_push(&t->c->captures, k);
	progress_set(&t->c->progress, t->c->captures.n);
	return 0;
}

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct tables *t = arg;

	(void)err;
	vec_push(&t->cycles, c->number);
	return 0;
}

static int by_id(const void *pa, const void *pb)
{
	const struct check_capture *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static void check_visit_capture(struct tables *t, const struct store_visit *v)
{
	struct check *c = t->c;
	const struct check_capture *k = c->captures.n ?
		bsearch(&(struct check_capture){ .id = v->capture }, c->captures.v, c->captures.n,
		        sizeof *c->captures.v, by_id) : NULL;

	if (!k)
		t->n_without++;
	else if (k->page != v->page)
		check_found(c, CHECK_REFERENCE, CHECK_WRONG, "visit %u of cycle %u, of page %u: names "
		            "capture %llu, which is of page %u", v->order, v->cycle, v->page,
		            (unsigned long long)k->id, k->page);
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct tables *t = arg;

	(void)err;
	t->c->n_visits++;
	progress_set(&t->c->progress, t->c->n_visits);
	if (!t->whole)
		return 0;
	if (v->cycle && (!t->cycles.n || !bsearch(&v->cycle, t->cycles.v, t->cycles.n,
	                                          sizeof *t->cycles.v, by_number)))
		check_found(t->c, CHECK_REFERENCE, CHECK_WRONG, "visit %u of cycle %u, which is not "
		            "there", v->order, v->cycle);
	if (v->capture)
		check_visit_capture(t, v);
	return 0;
}

/* Read one table; rows that make no sense go, if they may.  1: it could be read. */
static int read_table(struct tables *t, const char *name,
                      int (*read)(struct tables *, struct err *), struct err *err)
{
	int rc;

	for (unsigned n = 0; n < ROWS_MAX; n++) {
		struct err why = { 0 };

		progress_start(&t->c->progress, name, "rows", 0);
		rc = read(t, &why);
		if (rc == 0)
			return 1;
		if (rc != E_STORE) {
			if (err)
				*err = why;
			return rc;
		}
		store_thaw(t->c->store);        /* the row may go */
		rc = store_check_row(t->c->store, name, &why, problem, t->c, err);
		if (rc <= 0)
			return rc;
		rc = store_freeze(t->c->store, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_pages(struct tables *t, struct err *err)
{
	t->newest.n = t->good.n = 0;
	return store_pages(t->c->store, 0, see_page, t, err);
}

static int read_captures(struct tables *t, struct err *err)
{
	t->c->captures.n = 0;
	return store_captures(t->c->store, NULL, 0, see_capture, t, err);
}

static int read_visits(struct tables *t, struct err *err)
{
	t->c->n_visits = t->n_without = 0;
	return store_visits(t->c->store, 0, UINT32_MAX, see_visit, t, err);
}

static int read_all(struct tables *t, struct err *err)
{
	static const struct { const char *name; int (*read)(struct tables *, struct err *); }
	list[] = {
		{ "pages", read_pages }, { "captures", read_captures }, { "visits", read_visits },
	};
	struct check *c = t->c;
	int rc = store_cycles(c->store, 0, see_cycle, t, err);

	t->whole = rc == 0;
	rc = rc == E_STORE ? 0 : rc;    /* store_check() has said it */
	for (size_t i = 0; i < sizeof list / sizeof *list && rc >= 0; i++) {
		rc = read_table(t, list[i].name, list[i].read, err);
		t->whole &= rc > 0;
		if (i == 1 && c->captures.n)
			qsort(c->captures.v, c->captures.n, sizeof *c->captures.v, by_id);
	}
	c->n_pages = t->newest.n;
	c->n_captures = c->captures.n;
	c->n_cycles = t->cycles.n;
	return rc < 0 ? rc : 0;
}

/* ---- mending ---- */

struct newest { uint64_t id; };

static int see_copy(void *arg, const struct store_capture *c, struct err *err)
{
	struct newest *n = arg;

	(void)err;
	if (is_copy(c))
		n->id = c->id;          /* they come by time */
	return 0;
}

/* A page that names another copy than it may: the newest good one that it has. */
static int mend_page(struct check *c, uint32_t page, uint64_t was, struct err *err)
{
	struct store_page_change change = { .number = page, .set = STORE_SET_CAPTURE };
	struct newest n = { 0 };
	char json[200];
	int rc = store_captures(c->store, &page, 1, see_copy, &n, err);

	snprintf(json, sizeof json, "{\"table\":\"pages\",\"page\":%u,\"capture\":%llu}", page,
	         (unsigned long long)was);
	if (rc == 0)
		rc = check_aside(c, json, err);
	if (rc == 0)
		rc = check_aside_sync(c, err);
	change.to.capture = n.id;
	if (rc < 0 || (rc = store_begin(c->store, err)) < 0)
		return rc;
	if ((rc = store_pages_change(c->store, &change, 1, err)) < 0 ||
	    (rc = store_commit(c->store, err)) < 0)
		store_rollback(c->store);
	return rc;
}

static int check_newest(struct tables *t, struct err *err)
{
	struct check *c = t->c;
	int rc = 0;

	for (uint32_t page = 0; page < t->newest.n && rc == 0 && t->whole; page++) {
		if (!t->newest.v[page] || t->good.v[page])
			continue;
		if (c->repair)
			rc = mend_page(c, page, t->newest.v[page], err);
		if (rc == 0)
			check_found(c, CHECK_REFERENCE, c->repair ? CHECK_MENDED : CHECK_WRONG,
			            "page %u: names capture %llu as its newest copy, which is %s", page,
			            (unsigned long long)t->newest.v[page],
			            c->repair ? "not; another one is now" :
			            "not there, of another page, or no copy");
	}
	return rc;
}

/* Visits keep the ids of captures that went; the tables must say that some did. */
static int check_without(struct tables *t, struct err *err)
{
	struct check *c = t->c;
	char *state = NULL, now[24];
	int rc = store_state_get(c->store, STORE_OF_SHARD, PRUNED, &state, err);

	free(state);
	if (rc || !t->n_without || !t->whole)
		return rc < 0 ? rc : 0;
	snprintf(now, sizeof now, "%lld", (long long)c->now);
	rc = c->repair ? store_state_put(c->store, STORE_OF_SHARD, PRUNED, now, err) : 0;
	if (rc == 0)
		check_found(c, CHECK_REFERENCE, c->repair ? CHECK_MENDED : CHECK_WRONG,
		            "%llu visit%s a capture that is not there, and nothing was ever pruned",
		            (unsigned long long)t->n_without, t->n_without == 1 ? " names" : "s name");
	return rc;
}

int check_tables(struct check *c, struct err *err)
{
	struct tables t = { .c = c };
	int rc;

	progress_start(&c->progress, "tables", "rows", 0);
	rc = store_check(c->store, problem, c, err);
	if (rc == 0 && (rc = store_freeze(c->store, err)) == 0)
		rc = read_all(&t, err);
	if (c->repair)
		store_thaw(c->store);
	if (rc == 0)
		rc = check_newest(&t, err);
	if (rc == 0)
		rc = check_without(&t, err);
	vec_release(&t.newest);
	vec_release(&t.good);
	vec_release(&t.cycles);
	return rc;
}
