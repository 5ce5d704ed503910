/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_source.c - pages of the live web: asked for, read by threads, kept in order.
 *
 * The budget, and the part of it that the owner of a page may have.  The fetcher asks for
 * every request before it makes it: for the first of a page when its turn at its host comes,
 * then for each redirect hop and retry.  Pages are handed over as the budget allows, and
 * what is begun is ended first, so that the hops of early pages come out of the share of
 * the last: these are then left unasked.  What was granted and came to nothing (robots.txt
 * forbids it, the host rests) is given back.
 */
#include "engine/crawl/crawl_inner.h"

#include <time.h>

#include "base/mem.h"
#include "base/thread/pool.h"
#include "engine/crawl/live_inner.h"

#define BATCH 200
#define BATCH_SECONDS 5
#define PLACES 64               /* answers in the line, */
#define BYTES_IN_LINE (8 << 20) /* or so many bytes of them and one more */
#define THREADS_MAX 16

/* May another page be handed over, if the engine has one? */
static bool may_ask(struct crawl *c)
{
	return !crawl_stopped(c) && !fetch_over(c->fetch) && crawl_has_room(c, crawl_pending(c));
}

bool crawl_spend(void *crawl, uint32_t page, uint32_t lease, enum fetch_spend what)
{
	struct crawl *c = crawl;
	struct engine *e;
	bool left, may;

	if (c->apart)           /* before the cycle: there is no engine so far */
		return true;
	e = &c->resumed->engine;
	if (c->live)            /* there the first is counted when it is handed over */
		return what != FETCH_MORE || live_may_spend(c);
	left = engine_left(e) > 0;
	may = what == FETCH_LOOK ? engine_may_spend(e, lease) : engine_spend(e, lease);
	if (!may && what != FETCH_MORE) {
		if (left)
			ceiling_give_up(&e->ceiling, &e->view, page);
		else
			c->refused++;
	}
	return may;
}

/* What was granted to a page and not made is given back at once, for others may wait for it;
 * a name that is looked up in vain costs one.  False: the page was not asked for. */
static bool settle_cost(struct crawl *c, const struct fetch_result *r)
{
	bool in_vain = r->error == FETCH_DNS && !r->requests;

	engine_return(&c->resumed->engine, r->site,
	              r->unused + (r->begun && !r->requests && !in_vain));
	if (r->begun || !in_vain)
		return r->error != FETCH_STOPPED && (r->error != FETCH_BUDGET || r->requests);
	return crawl_spend(c, r->page, r->site, FETCH_FIRST);
}

static struct crawl_copy **copy_of(struct crawl *c, uint32_t lease)
{
	while (c->reading.copies.n <= lease)
		vec_push(&c->reading.copies, NULL);
	return &c->reading.copies.v[lease];
}

/* Hand a page to the fetcher, with the validators of our copy. */
static int ask_page(struct crawl *c, uint32_t lease, struct err *err)
{
	const struct offer *o = &engine_lease(&c->resumed->engine, lease)->offer;
	struct fetch_request q = { .page = o->page, .site = lease };
	struct store_capture copy;
	struct store_page p;
	struct buf etag, modified;
	bool send = true;
	int rc = store_page_get(c->store, o->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", o->page);
	buf_init(&etag, 4096);
	buf_init(&modified, 4096);
	q.url = pages_url(&c->resumed->has.loaded.pages, o->page);
	if (p.capture && (rc = store_capture_get(c->store, p.capture, &copy, err)) > 0) {
		if (copy.etag.s)
			buf_add(&etag, copy.etag.s, copy.etag.size);
		if (copy.modified.s)
			buf_add(&modified, copy.modified.s, copy.modified.size);
		*copy_of(c, lease) = crawl_copy_new(&copy);
		if (etag.size || modified.size)
			rc = crawl_validators_ask(c, o->page, &send, err);
		q.etag = send && etag.size ? etag.data : NULL;
		q.last_modified = send && modified.size ? modified.data : NULL;
	}
	if (rc >= 0) {
		fetch_add(c->fetch, &q);
		crawl_quiet_asked(c, lease);
	}
	buf_release(&etag);
	buf_release(&modified);
	return rc < 0 ? rc : 0;
}

static void forget_copy(struct crawl *c, uint32_t lease)
{
	free(*copy_of(c, lease));
	*copy_of(c, lease) = NULL;
}

static void read_place(void *arg, unsigned thread, uint32_t place)
{
	struct crawl *c = arg;

	crawl_read(c->opts, &c->reading.readers[thread], &c->reading.answers[place]);
}

/* Put what was fetched into the line; false if nothing was. */
static bool take_outcome(struct crawl *c, double wait)
{
	const struct fetch_result *r;
	struct crawl_answer *a;

	if (fetch_next(c->fetch, wait, &r) != FETCH_GOT)
		return false;
	crawl_quiet_answered(c, r->site);
	if (!settle_cost(c, r)) {
		c->report->late += r->error == FETCH_STOPPED && !crawl_stopped(c);
		crawl_left_told(c, r->site, r);
		forget_copy(c, r->site);
		engine_drop(&c->resumed->engine, r->site);
		return true;
	}
	crawl_left_told(c, r->site, r);
	a = &c->reading.answers[line_place(c->reading.line)];
	a->result = *r;
	a->held = fetch_hold(c->fetch);
	a->copy = *copy_of(c, r->site);
	a->time = c->opts->now ? c->report->cycle.time : r->time ? r->time : time(NULL);
	if (a->time < c->report->cycle.time)    /* the clock was set back */
		a->time = c->report->cycle.time;
	a->ids = warc_writer_ids(c->batch.warc, r->n_hops + 1);
	c->reading.bytes_in_line += r->body_size;
	line_put(c->reading.line);
	return true;
}

/* Write the oldest answer in the line: 1, or 0 if there is none that is read. */
static int keep_outcome(struct crawl *c, bool wait, struct err *err)
{
	struct engine *e = &c->resumed->engine;
	const struct fetch_result *r;
	struct delivery d = { 0 };
	struct crawl_answer *a;
	uint32_t place, lease;
	int rc;

	if (!line_take(c->reading.line, wait, &place))
		return 0;
	a = &c->reading.answers[place];
	r = &a->result;
	lease = r->site;
	rc = crawl_keep(c, lease, a, &d, err);
	c->reading.bytes_in_line -= r->body_size;
	fetch_drop(c->fetch, a->held);
	forget_copy(c, lease);
	if (rc < 0)
		return rc;
	engine_tell(e, lease, &d);
	crawl_discover_count(c, engine_lease(e, lease)->offer.reason, d.outcome);
	c->report->visits++;
	c->report->answered += r->status > 0;
	c->report->not_modified += r->status == 304;
	c->batch.n++;
	crawl_sent_read(c, lease);
	if (c->opts->progress)
		c->opts->progress(c->opts->arg, e->cycle.n_spent, c->budget);
	if (c->batch.commit_now || c->batch.n >= (c->opts->batch ? c->opts->batch : BATCH) ||
	    crawl_seconds() - c->batch.began > BATCH_SECONDS)
		rc = crawl_commit(c, err);
	return rc < 0 ? rc : 1;
}

void crawl_stop_reading(struct crawl *c)
{
	line_free(c->reading.line);
	c->reading.line = NULL;
}

/* One step: the wire if the line has room, then what is read; never idle while
 * there is something to do. */
static int step(struct crawl *c, struct err *err)
{
	bool full = line_full(c->reading.line) || c->reading.bytes_in_line > BYTES_IN_LINE;
	bool took = false;
	int rc;

	if (!full && fetch_pending(c->fetch))
		took = take_outcome(c, line_count(c->reading.line) ? 0 : 0.2);
	rc = keep_outcome(c, !took, err);
	while (rc > 0)
		rc = keep_outcome(c, false, err);
	/* whoever stops a second time loses little */
	if (rc == 0 && crawl_stopped(c) && c->batch.n)
		rc = crawl_commit(c, err);
	crawl_sent_flush(c);
	crawl_left_show(c);
	return rc;
}

/* Planned, but the budget or the time was used up. */
static void count_unasked(struct crawl *c)
{
	uint32_t n = c->refused + c->resumed->engine.cycle.n_queued;

	if (fetch_over(c->fetch))
		c->report->late += n;
	else if (!crawl_stopped(c))     /* else it may still come to them */
		c->report->unasked += n;
}

int crawl_pages(struct crawl *c, struct err *err)
{
	uint32_t lease;
	int rc = 0;

	while (rc == 0) {
		while (rc == 0 && may_ask(c) && crawl_ask(c, &lease))
			rc = ask_page(c, lease, err);
		crawl_left_planned(c);
		if (crawl_stopped(c))
			crawl_stop_asking(c);
		if (rc < 0 || !crawl_pending(c))
			break;
		rc = step(c, err);
	}
	if (rc < 0)
		crawl_stop_reading(c);  /* copies are still looked at */
	for (size_t i = 0; i < c->reading.copies.n; i++)
		free(c->reading.copies.v[i]);
	vec_release(&c->reading.copies);
	if (rc == 0)
		rc = crawl_commit(c, err);
	count_unasked(c);
	if (rc == 0 && crawl_stopped(c)) {
		c->report->stopped = true;
		rc = err_set(err, E_STOP, "stopped; what was fetched is kept, the next start "
		             "goes on with this cycle");
	}
	return rc;
}

/* ---- reader threads ---- */

/* Threads for all processors but the one that the loop keeps busy. */
int crawl_start_reading(struct crawl *c, struct err *err)
{
	unsigned n = pool_threads();
	const struct import_words *words = c->batch.count_words ? &c->batch.words : NULL;
	int rc = 0;

	c->reading.n_readers = n < THREADS_MAX ? n : THREADS_MAX;
	c->reading.readers = mem_zalloc(c->reading.n_readers, sizeof *c->reading.readers);
	c->reading.answers = mem_zalloc(PLACES, sizeof *c->reading.answers);
	for (unsigned i = 0; i < c->reading.n_readers; i++) {
		int made = crawl_reader_init(&c->reading.readers[i], c->opts, words, err);

		rc = made < 0 ? made : rc;
	}
	for (unsigned i = 0; i < PLACES; i++)
		crawl_answer_init(&c->reading.answers[i]);
	if (rc == 0)
		c->reading.line = line_new(c->reading.n_readers - 1, PLACES, read_place, c);
	return rc;
}

void crawl_free_readers(struct crawl *c)
{
	for (unsigned i = 0; i < c->reading.n_readers; i++)
		crawl_reader_release(&c->reading.readers[i]);
	for (unsigned i = 0; c->reading.answers && i < PLACES; i++)
		crawl_answer_release(&c->reading.answers[i]);
	free(c->reading.readers);
	free(c->reading.answers);
}
