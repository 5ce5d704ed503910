/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_source.c - pages of the live web: asked for, read by threads, kept in order.
 *
 * The budget.  A page that is handed to the fetcher takes one request of it; a
 * redirect hop or a retry takes one more, asked for by the fetcher before it is
 * made.  Pages are handed over as the budget allows, so that the hops of the
 * first pages come out of the share of the last: these are then left unasked.
 * A page that was never asked of its server gives its request back.
 */
#include "engine/crawl_inner.h"

#include <time.h>

#include "base/mem.h"
#include "base/pool.h"

#define BATCH 200
#define BATCH_SECONDS 5
#define WINDOW 4096             /* pages at the fetcher at a time */
#define PLACES 64               /* answers in the line, */
#define BYTES_IN_LINE (8 << 20) /* or so many bytes of them and one more */
#define THREADS_MAX 16

/* May another page be handed over?  A little of the budget is held back for the
 * redirects of those under way, as many as there have been so far and one; the
 * last page goes when nobody can need it any more. */
static bool may_ask(const struct crawl *c)
{
	uint64_t pending = crawl_pending(c), reserve = 1;

	if (c->report->visits)
		reserve += pending * c->extras / c->report->visits;
	return !crawl_stopped(c) && !fetch_over(c->fetch) && pending < WINDOW &&
		(pending ? c->spent + reserve < c->budget : c->spent < c->budget);
}

bool crawl_over(void *self)
{
	return fetch_over(((struct crawl *)self)->fetch);
}

/* Hand a page to the fetcher, with the validators of our copy. */
static int ask_page(struct crawl *c, const struct offer *o, uint32_t index, struct err *err)
{
	struct fetch_request q = { .page = o->page, .site = index };
	struct store_capture copy;
	struct store_page p;
	struct buf etag, modified;
	bool send = true;
	int rc = store_page_get(c->store, o->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", o->page);
	buf_init(&etag, 4096);
	buf_init(&modified, 4096);
	q.url = pages_url(&c->resumed->loaded.pages, o->page);
	if (p.capture && (rc = store_capture_get(c->store, p.capture, &copy, err)) > 0) {
		if (copy.etag.s)
			buf_add(&etag, copy.etag.s, copy.etag.size);
		if (copy.modified.s)
			buf_add(&modified, copy.modified.s, copy.modified.size);
		c->copies[index] = crawl_copy_new(&copy);
		if (etag.size || modified.size)
			rc = crawl_validators_ask(c, o->page, &send, err);
		q.etag = send && etag.size ? etag.data : NULL;
		q.last_modified = send && modified.size ? modified.data : NULL;
	}
	if (rc >= 0)
		fetch_add(c->fetch, &q);
	buf_release(&etag);
	buf_release(&modified);
	return rc < 0 ? rc : 0;
}

static void forget_copy(struct crawl *c, uint32_t index)
{
	free(c->copies[index]);
	c->copies[index] = NULL;
}

static void read_place(void *arg, unsigned thread, uint32_t place)
{
	struct crawl *c = arg;

	crawl_read(c->opts, &c->readers[thread], &c->answers[place]);
}

/* Put what was fetched into the line; false if nothing was. */
static bool take_outcome(struct crawl *c, double wait)
{
	const struct fetch_result *r;
	struct crawl_answer *a;

	if (fetch_next(c->fetch, wait, &r) != FETCH_GOT)
		return false;
	c->spent -= r->unused;
	if (r->error == FETCH_STOPPED) {
		c->spent -= r->requests == 0;
		c->report->late += !crawl_stopped(c);
		crawl_left_told(c, r->site, r);
		forget_copy(c, r->site);
		return true;
	}
	crawl_left_told(c, r->site, r);
	a = &c->answers[line_place(c->line)];
	a->result = *r;
	a->held = fetch_hold(c->fetch);
	a->copy = c->copies[r->site];
	a->time = c->opts->now ? c->report->cycle.time : r->time ? r->time : time(NULL);
	if (a->time < c->report->cycle.time)    /* the clock was set back */
		a->time = c->report->cycle.time;
	a->ids = warc_writer_ids(c->warc, r->n_hops + 1);
	if (crawl_is_blocked(r)) {      /* at once: a redirect may wait for it */
		c->spent--;
		c->given_back++;
	}
	c->bytes_in_line += r->body_size;
	line_put(c->line);
	return true;
}

/* Write the oldest answer in the line: 1, or 0 if there is none that is read. */
static int keep_outcome(struct crawl *c, const struct offer *offers, struct delivery *ret,
                        bool wait, struct err *err)
{
	const struct fetch_result *r;
	struct crawl_answer *a;
	uint32_t place, site;
	int rc;

	if (!line_take(c->line, wait, &place))
		return 0;
	a = &c->answers[place];
	r = &a->result;
	site = r->site;
	c->given_back -= crawl_is_blocked(r);
	rc = crawl_keep(c, &offers[site], crawl_place(c, site), a, &ret[site], err);
	c->bytes_in_line -= r->body_size;
	fetch_drop(c->fetch, a->held);
	forget_copy(c, site);
	if (rc < 0)
		return rc;
	ret[site].extra = (r->requests > 1 ? r->requests - 1 : 0) + r->robots;
	c->extras += ret[site].extra;
	crawl_discover_count(c, offers[site].reason, ret[site].outcome);
	c->report->visits++;
	c->report->answered += r->status > 0;
	c->report->not_modified += r->status == 304;
	c->in_batch++;
	crawl_sent_read(c, site);
	if (c->opts->progress)
		c->opts->progress(c->opts->arg, crawl_counted(c), c->budget);
	if (c->commit_now || c->in_batch >= (c->opts->batch ? c->opts->batch : BATCH) ||
	    crawl_seconds() - c->batch_began > BATCH_SECONDS)
		rc = crawl_commit(c, err);
	return rc < 0 ? rc : 1;
}

void crawl_stop_reading(struct crawl *c)
{
	line_free(c->line);
	c->line = NULL;
}

/* One step: the wire if the line has room, then what is read; never idle while
 * there is something to do. */
static int step(struct crawl *c, const struct offer *offers, struct delivery *ret,
                struct err *err)
{
	bool full = line_full(c->line) || c->bytes_in_line > BYTES_IN_LINE, took = false;
	int rc;

	if (!full && fetch_pending(c->fetch))
		took = take_outcome(c, line_count(c->line) ? 0 : 0.2);
	rc = keep_outcome(c, offers, ret, !took, err);
	while (rc > 0)
		rc = keep_outcome(c, offers, ret, false, err);
	/* whoever stops a second time loses little */
	if (rc == 0 && crawl_stopped(c) && c->in_batch)
		rc = crawl_commit(c, err);
	crawl_sent_flush(c);
	crawl_left_show(c);
	return rc;
}

int crawl_deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                  struct err *err)
{
	struct crawl *c = self;
	uint32_t next = 0, unasked = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (!ret[i].kept)
			ret[i].outcome = OUTCOME_BLOCKED;       /* until it is asked for */
	crawl_round(c, offers, n);
	crawl_left_round(c, ret, n);
	c->copies = mem_zalloc(n, sizeof *c->copies);
	while (rc == 0) {
		for (; rc == 0 && next < n && (ret[next].kept || may_ask(c)); next++) {
			if (ret[next].kept)
				continue;
			rc = ask_page(c, &offers[next], next, err);
			c->spent++;
		}
		if (crawl_stopped(c))
			crawl_stop_asking(c);
		if (rc < 0 || !crawl_pending(c))
			break;
		rc = step(c, offers, ret, err);
	}
	if (rc < 0)
		crawl_stop_reading(c);  /* copies are still looked at */
	for (size_t i = 0; i < next; i++)
		free(c->copies[i]);
	free(c->copies);
	crawl_round_end(c);
	if (rc == 0)
		rc = crawl_commit(c, err);
	for (size_t i = next; i < n; i++)
		unasked += !ret[i].kept;
	if (fetch_over(c->fetch))
		c->report->late += unasked;
	else if (!crawl_stopped(c))     /* else it may still come to them */
		c->report->unasked += unasked;
	if (rc == 0 && crawl_stopped(c)) {
		c->report->stopped = true;
		rc = err_set(err, E_STOP, "stopped; what was fetched is kept, the next start "
		             "goes on with this cycle");
	}
	return rc;
}

/* ---- who reads ---- */

/* Threads for all processors but the one that the loop keeps busy. */
int crawl_start_reading(struct crawl *c, struct err *err)
{
	unsigned n = pool_threads();
	const struct import_words *words = c->count_words ? &c->words : NULL;
	int rc = 0;

	c->n_readers = n < THREADS_MAX ? n : THREADS_MAX;
	c->readers = mem_zalloc(c->n_readers, sizeof *c->readers);
	c->answers = mem_zalloc(PLACES, sizeof *c->answers);
	for (unsigned i = 0; i < c->n_readers; i++) {
		int made = crawl_reader_init(&c->readers[i], c->opts, words, err);

		rc = made < 0 ? made : rc;
	}
	for (unsigned i = 0; i < PLACES; i++)
		crawl_answer_init(&c->answers[i]);
	if (rc == 0)
		c->line = line_new(c->n_readers - 1, PLACES, read_place, c);
	return rc;
}

void crawl_free_readers(struct crawl *c)
{
	for (unsigned i = 0; i < c->n_readers; i++)
		crawl_reader_release(&c->readers[i]);
	for (unsigned i = 0; c->answers && i < PLACES; i++)
		crawl_answer_release(&c->answers[i]);
	free(c->readers);
	free(c->answers);
}
