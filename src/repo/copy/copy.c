/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - all rows of one store into another; see copy.h.
 *
 * The large tables go in their order, a batch at a time, with a mark of how far they came.
 * Cycles go one by one, each with the changes of care that happened while it was the
 * newest: so these get the place that they had.  The small tables (copy_small.c) are written
 * anew each time.
 */
#include "repo/copy/copy_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROWS_AT_ONCE 5000
#define BYTES_AT_ONCE ((size_t)16 << 20)

static struct text copy_text(struct copying *c, struct text t)
{
	return t.s ? (struct text){ arena_strndup(&c->texts, t.s, t.size), t.size } : t;
}

/* ---- batches ---- */

static int read_mark(struct copying *c, bool *ret_there, struct err *err)
{
	struct mark *m = &c->mark;
	char *text = NULL;
	int rc = store_state_get(c->to, STORE_OF_SHARD, COPY_STATE_KEY, &text, err);

	*ret_there = rc > 0;
	if (rc > 0 && sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	                     " %" SCNu64, &m->pages, &m->capture, &m->cycle, &m->order, &m->cycles,
	                     &m->words) != 6)
		rc = err_set(err, E_STORE, "the target's mark of a copy makes no sense");
	free(text);
	return rc < 0 ? rc : 0;
}

static int write_mark(struct copying *c, struct err *err)
{
	const struct mark *m = &c->mark;
	char text[150];

	snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	         " %" PRIu64, m->pages, m->capture, m->cycle, m->order, m->cycles, m->words);
	return store_state_put(c->to, STORE_OF_SHARD, COPY_STATE_KEY, text, err);
}

/* End a batch that was begun with this result. */
int copy_end_batch(struct copying *c, int rc, uint64_t n, struct err *err)
{
	if (rc == 0)
		rc = write_mark(c, err);
	if (rc == 0)
		rc = store_commit(c->to, err);
	else
		store_rollback(c->to);
	arena_reset(&c->texts);
	c->done += n;
	if (rc == 0 && c->progress && c->progress(c->arg, c->done, c->total))
		rc = err_set(err, E_STOP, "the copy was stopped; the same command goes on with it");
	return rc;
}

static bool is_full(const struct copying *c, size_t n)
{
	return n >= ROWS_AT_ONCE || c->texts.total >= BYTES_AT_ONCE;
}

/* ---- pages ---- */

static int write_pages(struct copying *c, struct err *err)
{
	bool *fresh = mem_zalloc(c->pages.n + 1, sizeof *fresh);
	int rc = store_begin(c->to, err);

	if (rc == 0)
		rc = store_pages_add(c->to, c->pages.v, c->pages.n, fresh, err);
	for (size_t i = 0; i < c->pages.n && rc == 0; i++)
		if (!fresh[i] || c->pages.v[i].number != c->mark.pages++)
			rc = err_set(err, E_STORE, "page %u: another number in the target", (unsigned)i);
	free(fresh);
	rc = copy_end_batch(c, rc, c->pages.n, err);
	c->pages.n = 0;
	return rc;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct copying *c = arg;
	struct store_page row = *p;

	row.url = copy_text(c, p->url);
	row.given = copy_text(c, p->given);
	row.care = 0;                   /* the log of changes sets it */
	vec_push(&c->pages, row);
	return is_full(c, c->pages.n) ? write_pages(c, err) : 0;
}

static int copy_pages(struct copying *c, struct err *err)
{
	int rc = store_pages(c->from, (uint32_t)c->mark.pages, see_page, c, err);

	return rc == 0 && c->pages.n ? write_pages(c, err) : rc;
}

/* ---- captures and visits ---- */

/* Rows keep the ids of captures that they have, so the target must not draw these again; nor those
 * that only visits still name. */
static int pass_ids(struct copying *c, uint64_t id, struct err *err)
{
	int rc = 0;

	while (c->drawn < id && rc == 0) {
		uint64_t first = 0, n = c->drawn ? id - c->drawn : 1;   /* one: how far is it? */

		if (n > UINT32_MAX)
			return err_set(err, E_STORE, "the source: a capture has the id %" PRIu64 ", far beyond "
			               "those before it: damaged; `freshet check` says what else is", id);
		rc = store_capture_ids(c->to, (uint32_t)n, &first, err);
		c->drawn = first + n - 1;
	}
	return rc;
}

static int write_captures(struct copying *c, struct err *err)
{
	uint8_t *came = mem_zalloc(c->captures.n + 1, 1);
	int rc = store_begin(c->to, err);

	c->mark.capture = c->captures.v[c->captures.n - 1].id;
	if (rc == 0)
		rc = pass_ids(c, c->mark.capture, err);
	if (rc == 0)
		rc = store_captures_put(c->to, c->captures.v, c->captures.n, STORE_FIRST, came, err);
	for (size_t i = 0; i < c->captures.n && rc == 0; i++)
		if (came[i] != STORE_ADDED)
			rc = err_set(err, E_STORE, "page %u has two captures of one second",
			             c->captures.v[i].page);
	free(came);
	rc = copy_end_batch(c, rc, c->captures.n, err);
	c->captures.n = 0;
	return rc;
}

static int see_capture(void *arg, const struct store_capture *row, struct err *err)
{
	struct copying *c = arg;
	struct store_capture own = *row;

	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++)
		*store_capture_text(&own, i) = copy_text(c, *store_capture_text(&own, i));
	vec_push(&c->captures, own);
	return is_full(c, c->captures.n) ? write_captures(c, err) : 0;
}

static int copy_captures(struct copying *c, struct err *err)
{
	int rc = store_captures_since(c->from, c->mark.capture, see_capture, c, err);

	return rc == 0 && c->captures.n ? write_captures(c, err) : rc;
}

static int write_visits(struct copying *c, struct err *err)
{
	const struct store_visit *last = &c->visits.v[c->visits.n - 1];
	int rc = store_begin(c->to, err);

	c->mark.cycle = last->cycle;
	c->mark.order = last->order;
	for (size_t i = 0; i < c->visits.n && rc == 0; i++)
		rc = pass_ids(c, c->visits.v[i].capture, err);
	if (rc == 0)
		rc = store_visits_add(c->to, c->visits.v, c->visits.n, err);
	rc = copy_end_batch(c, rc, c->visits.n, err);
	c->visits.n = 0;
	return rc;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct copying *c = arg;

	if (v->cycle == c->mark.cycle && v->order <= c->mark.order)
		return 0;               /* the target has it */
	vec_push(&c->visits, *v);
	return is_full(c, c->visits.n) ? write_visits(c, err) : 0;
}

static int copy_visits(struct copying *c, struct err *err)
{
	int rc = store_visits(c->from, (uint32_t)c->mark.cycle, UINT32_MAX, see_visit, c, err);

	return rc == 0 && c->visits.n ? write_visits(c, err) : rc;
}

/* ---- cycles, with rounds, leases and changes of care ---- */

static int see_round(void *arg, uint32_t number, uint32_t after, struct err *err)
{
	struct copying *c = arg;

	if (number != c->numbers.n + 1)
		return err_set(err, E_STORE, "a round of a cycle is missing in the source");
	vec_push(&c->numbers, after);
	return 0;
}

static int see_lease(void *arg, const struct store_lease *l, struct err *err)
{
	struct copying *c = arg;
	struct store_lease row = *l;

	(void)err;
	row.client = copy_text(c, l->client);
	vec_push(&c->leases, row);
	return 0;
}

static int see_care(void *arg, const struct store_care *row, struct err *err)
{
	struct copying *c = arg;

	(void)err;
	vec_push(&c->care, *row);
	return 0;
}

/* The changes of care while this cycle was the newest, in the batch that has it. */
static int write_care(struct copying *c, uint32_t cycle, struct err *err)
{
	int rc;

	c->care.n = 0;
	rc = store_care_log(c->from, STORE_NONE, cycle, cycle + 1, see_care, c, err);
	for (size_t i = 0; i < c->care.n && rc == 0; i++)
		rc = store_care_put(c->to, &c->care.v[i], 1, c->care.v[i].time, err);
	return rc;
}

static int see_cycle(void *arg, const struct store_cycle *row, struct err *err)
{
	struct copying *c = arg;
	int rc;

	c->numbers.n = c->leases.n = 0;
	if ((rc = store_rounds(c->from, row->number, see_round, c, err)) < 0 ||
	    (rc = store_leases(c->from, row->number, see_lease, c, err)) < 0 ||
	    (rc = store_begin(c->to, err)) < 0)
		return rc;
	if ((rc = store_cycle_put(c->to, row, err)) == 0 &&
	    (rc = store_rounds_add(c->to, row->number, 1, c->numbers.v, c->numbers.n, err)) == 0 &&
	    (rc = store_leases_put(c->to, c->leases.v, c->leases.n, err)) == 0)
		rc = write_care(c, row->number, err);
	c->mark.cycles = row->number + 1;
	return copy_end_batch(c, rc, 1, err);
}

static int copy_cycles(struct copying *c, struct err *err)
{
	int rc = 0;

	if (!c->mark.cycles) {          /* before the first */
		c->mark.cycles = 1;
		if ((rc = store_begin(c->to, err)) == 0)
			rc = copy_end_batch(c, write_care(c, 0, err), 0, err);
	}
	return rc < 0 ? rc : store_cycles(c->from, (uint32_t)c->mark.cycles, see_cycle, c, err);
}

/* ---- words ---- */

static int write_words(struct copying *c, struct err *err)
{
	int rc = store_begin(c->to, err);

	if (rc == 0)
		rc = store_words_add(c->to, (uint32_t)c->mark.words, c->words.v, c->words.n, err);
	c->mark.words += c->words.n;
	rc = copy_end_batch(c, rc, c->words.n, err);
	c->words.n = 0;
	return rc;
}

static int see_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct copying *c = arg;

	(void)number;
	vec_push(&c->words, copy_text(c, word));
	return is_full(c, c->words.n) ? write_words(c, err) : 0;
}

static int copy_words(struct copying *c, struct err *err)
{
	int rc = store_words(c->from, (uint32_t)c->mark.words, see_word, c, err);

	return rc == 0 && c->words.n ? write_words(c, err) : rc;
}

/* ---- all ---- */

static int check_equal(struct copying *c, struct copy_report *ret, struct err *err)
{
	struct copy_digest of[N_COPY_TABLES] = { { 0 } };
	int rc = copy_digest(c->from, ret->tables, err);

	if (rc == 0)
		rc = copy_digest(c->to, of, err);
	ret->tables[COPY_SENT] = of[COPY_SENT];         /* a cycle may go on in the source */
	for (int i = 0; i < N_COPY_TABLES && rc == 0; i++)
		if (of[i].rows != ret->tables[i].rows || of[i].hash != ret->tables[i].hash)
			rc = err_set(err, E_STORE, "the copy differs (%s: %" PRIu64 " rows, %" PRIu64
			             " in the source): was the source changed after the copy was begun? "
			             "Copy it to an empty store", copy_table_name((enum copy_table)i),
			             of[i].rows, ret->tables[i].rows);
	return rc;
}

static int prepare(struct copying *c, struct copy_report *ret, struct err *err)
{
	struct store_counts has, all;
	int rc = read_mark(c, &ret->resumed, err);

	if (rc < 0 || (rc = store_count(c->to, &has, err)) < 0 ||
	    (rc = store_count(c->from, &all, err)) < 0)
		return rc;
	if (!ret->resumed && (has.pages || has.cycles))
		return err_set(err, E_USAGE, "the target has %" PRIu64 " pages already: a copy goes to "
		               "an empty store", has.pages);
	c->total = all.pages + all.captures + all.visits + all.cycles;
	c->done = has.pages + has.captures + has.visits + has.cycles;
	return 0;
}

static void release(struct copying *c)
{
	arena_release(&c->texts);
	vec_release(&c->pages);
	vec_release(&c->captures);
	vec_release(&c->visits);
	vec_release(&c->words);
	vec_release(&c->leases);
	vec_release(&c->numbers);
	vec_release(&c->care);
}

int copy_store(struct store *from, struct store *to, copy_progress *progress, void *arg,
               struct copy_report *ret, struct err *err)
{
	struct copying c = { .from = from, .to = to, .progress = progress, .arg = arg };
	int rc;

	*ret = (struct copy_report){ 0 };
	rc = prepare(&c, ret, err);
	if (rc == 0 && (rc = copy_pages(&c, err)) == 0 && (rc = copy_captures(&c, err)) == 0 &&
	    (rc = copy_visits(&c, err)) == 0 && (rc = copy_cycles(&c, err)) == 0 &&
	    (rc = copy_words(&c, err)) == 0 && (rc = copy_small(&c, err)) == 0 &&
	    (rc = copy_sent(&c, err)) == 0 && (rc = check_equal(&c, ret, err)) == 0 &&
	    (rc = store_begin(to, err)) == 0) {
		rc = store_state_put(to, STORE_OF_SHARD, COPY_STATE_KEY, NULL, err);
		rc = rc < 0 ? rc : store_commit(to, err);
	}
	if (rc < 0)
		store_rollback(to);
	release(&c);
	return rc;
}
