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
#include "engine/crawl/life_inner.h"

#define BATCH 200
#define BATCH_SECONDS 5
#define GROUP 512              /* pages read from the store at once */
#define REFILL 256             /* pages that a full window is short of before it is filled up */
#define SLOTS 64               /* answers in the queue, */
#define BYTES_QUEUED (8 << 20) /* or so many bytes, and one answer more */
#define THREADS_MAX 16

/* May another page be handed over, after so many, if the engine has one? */
static bool may_ask(struct crawl *c, size_t n)
{
	return !crawl_stopped(c) && !fetch_over(c->fetch) &&
	       crawl_has_room(c, crawl_pending(c) + n);
}

bool crawl_spend(void *crawl, uint32_t page, uint32_t lease, enum fetch_spend what)
{
	struct crawl *c = crawl;
	struct engine *e;
	bool left, may;

	if (c->apart)           /* before the cycle there is no engine */
		return true;
	e = &c->resumed->engine;
	if (c->life)            /* tests of life count the first request earlier */
		return what != FETCH_MORE || life_may_spend(c);
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

/* Return requests that were granted to a page and not sent: other pages may wait for them.
 * A host name without an address costs one request.  False: the page was not asked for. */
static bool return_unused(struct crawl *c, const struct fetch_result *r)
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
	const char *to = crawl_moved_url(c, o->page);
	int rc = store_page_get(c->store, o->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", o->page);
	buf_init(&etag, 4096);
	buf_init(&modified, 4096);
	q.url = to ? to : pages_url(&c->resumed->has.loaded.pages, o->page);
	if (p.capture && (rc = store_copy_get(c->store, p.capture, &copy, err)) > 0) {
		if (copy.etag.s)
			buf_add(&etag, copy.etag.s, copy.etag.size);
		if (copy.modified.s)
			buf_add(&modified, copy.modified.s, copy.modified.size);
		*copy_of(c, lease) = crawl_copy_new(&copy);
		/* validators are those of the URL that gave them */
		send = copy.target.s ? to && copy.target.size == strlen(to) &&
		       !memcmp(copy.target.s, to, copy.target.size) : !to;
		if (send && (etag.size || modified.size))
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

/* Hand over pages while there is room, a group at a time: a store at network distance reads
 * what is wanted of a group at once. */
static int ask_pages(struct crawl *c, struct err *err)
{
	uint32_t leases[GROUP];
	size_t n;
	int rc = 0;

	if (c->opts->fetch.connections > 1 && !crawl_has_room(c, crawl_pending(c) + REFILL))
		return 0;
	rc = store_commit_done(c->store, false, err);
	if (rc < 0 || (rc == 0 && crawl_pending(c) > REFILL))
		return rc;      /* what is there is enough until it is done */
	rc = 0;
	do {
		for (n = 0; n < GROUP && may_ask(c, n) && crawl_ask(c, n, &leases[n]);)
			n++;
		if (n)
			rc = crawl_foresee(c, leases, n, err);
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = ask_page(c, leases[i], err);
	} while (n == GROUP && rc == 0);
	return rc;
}

static void forget_copy(struct crawl *c, uint32_t lease)
{
	free(*copy_of(c, lease));
	*copy_of(c, lease) = NULL;
}

static void read_slots(void *arg, unsigned thread, const uint32_t *slots, uint32_t n)
{
	struct crawl_answer *answers[WORK_TOGETHER_MAX];
	struct crawl *c = arg;

	for (uint32_t i = 0; i < n; i++)
		answers[i] = &c->reading.answers[slots[i]];
	crawl_read(c->opts, &c->reading.readers[thread], answers, n);
}

/* Was the page asked for by its own URL? */
static bool first_is_own(struct crawl *c, const struct fetch_result *r)
{
	return !strcmp(r->n_hops ? r->hops[0].url : r->url,
	               pages_url(&c->resumed->has.loaded.pages, r->page));
}

/* Put what was fetched into the queue; false if nothing was. */
static bool take_outcome(struct crawl *c, double wait)
{
	const struct fetch_result *r;
	struct crawl_answer *a;

	if (fetch_next(c->fetch, wait, &r) != FETCH_GOT)
		return false;
	crawl_quiet_answered(c, r->site);
	if (!return_unused(c, r)) {
		c->report->late += r->error == FETCH_STOPPED && !crawl_stopped(c);
		crawl_left_told(c, r->site, r);
		forget_copy(c, r->site);
		crawl_drop(c, r->site);
		return true;
	}
	crawl_left_told(c, r->site, r);
	a = &c->reading.answers[work_queue_slot(c->reading.queue)];
	a->result = *r;
	a->held = fetch_hold(c->fetch);
	a->copy = *copy_of(c, r->site);
	a->own_url = first_is_own(c, r) ? NULL : pages_url(&c->resumed->has.loaded.pages, r->page);
	a->time = c->opts->now ? c->report->cycle.time : r->time ? r->time : time(NULL);
	if (c->opts->fleet)
		a->time -= (int64_t)c->opts->fleet->ahead;
	if (a->time < c->report->cycle.time)    /* the clock was set back */
		a->time = c->report->cycle.time;
	a->ids = warc_writer_ids(c->batch.warc, r->n_hops + 1);
	c->reading.bytes_queued += r->body_size;
	work_queue_put(c->reading.queue);
	return true;
}

/* Write the oldest answer in the queue: 1, or 0 if there is none that is read. */
static int write_outcome(struct crawl *c, bool wait, struct err *err)
{
	struct engine *e = &c->resumed->engine;
	const struct fetch_result *r;
	struct delivery d = { 0 };
	struct crawl_answer *a;
	uint32_t slot, lease;
	int rc;

	if (!work_queue_take(c->reading.queue, wait, &slot))
		return 0;
	a = &c->reading.answers[slot];
	r = &a->result;
	lease = r->site;
	rc = crawl_write(c, lease, a, &d, err);
	c->reading.bytes_queued -= r->body_size;
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
		rc = crawl_commit_soon(c, err);
	return rc < 0 ? rc : 1;
}

void crawl_stop_reading(struct crawl *c)
{
	work_queue_free(c->reading.queue);
	c->reading.queue = NULL;
}

/* One step: take an answer off the wire if the queue has room, then write what was read.
 * It waits only if there is nothing to do. */
static int step(struct crawl *c, struct err *err)
{
	bool full = work_queue_full(c->reading.queue) || c->reading.bytes_queued > BYTES_QUEUED;
	bool took = false;
	int rc;

	if (!full && fetch_pending(c->fetch))
		took = take_outcome(c, 0);
	crawl_sent_flush(c, !took);
	if (!took && !full && fetch_pending(c->fetch) && !work_queue_count(c->reading.queue))
		took = take_outcome(c, 0.2);
	rc = write_outcome(c, !took, err);
	while (rc > 0)
		rc = write_outcome(c, false, err);
	/* so a second, hard stop loses little */
	if (rc == 0 && crawl_stopped(c) && c->batch.n)
		rc = crawl_commit(c, err);
	crawl_left_show(c);
	return rc < 0 ? rc : crawl_sent_check(c, err);
}

/* Count pages that were planned and not asked for: the budget or the time was used up. */
static void count_unasked(struct crawl *c)
{
	uint32_t n = c->refused + c->resumed->engine.cycle.n_queued;

	if (fetch_over(c->fetch))
		c->report->late += n;
	else if (!crawl_stopped(c))     /* after a stop the next start may ask for them */
		c->report->unasked += n;
}

int crawl_pages(struct crawl *c, struct err *err)
{
	int rc = 0;

	while (rc == 0) {
		rc = ask_pages(c, err);
		crawl_left_planned(c);
		if (crawl_stopped(c))
			crawl_stop_asking(c);
		if (rc == 0)
			rc = crawl_grants_ask(c, err);
		if (rc < 0)
			break;
		if (!crawl_pending(c)) {
			if (!crawl_grants_wait(c))
				break;
			if (c->batch.n)         /* others see what came of the last part */
				rc = crawl_commit(c, err);
			continue;
		}
		rc = step(c, err);
	}
	if (rc < 0)
		crawl_stop_reading(c);  /* first: the threads still read the copies */
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
	c->reading.answers = mem_zalloc(SLOTS, sizeof *c->reading.answers);
	for (unsigned i = 0; i < c->reading.n_readers; i++) {
		int made = crawl_reader_init(&c->reading.readers[i], c->opts,
		                             c->batch.packing, words, err);

		rc = made < 0 ? made : rc;
	}
	for (unsigned i = 0; i < SLOTS; i++)
		crawl_answer_init(&c->reading.answers[i]);
	if (rc == 0)
		c->reading.queue = work_queue_new(c->reading.n_readers - 1, SLOTS, ANALYSE_TOGETHER,
		                                  read_slots, c);
	return rc;
}

void crawl_free_readers(struct crawl *c)
{
	for (unsigned i = 0; i < c->reading.n_readers; i++)
		crawl_reader_release(&c->reading.readers[i]);
	for (unsigned i = 0; c->reading.answers && i < SLOTS; i++)
		crawl_answer_release(&c->reading.answers[i]);
	free(c->reading.readers);
	free(c->reading.answers);
}
