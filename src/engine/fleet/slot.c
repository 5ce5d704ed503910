/* SPDX-License-Identifier: Apache-2.0 */
/* slot.c - one shard in the hands of a worker; see work.h. */
#include "engine/fleet/work_inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "engine/book/last_cycle.h"

#define LOOK_SECONDS 5          /* into the inbox, while the crawl runs */
#define MOVED_MAX 10000         /* targets of redirects that wait for the next commit */

void slot_say(struct slot *s, const char *state, int64_t here)
{
	if (!strcmp(s->said, state) && here < 0)
		return;
	snprintf(s->said, sizeof s->said, "%s", state);
	(void)!fleet_say(s->work->fleet, &s->lease, state, here, NULL); /* only for `status` */
}

/* A redirect is followed to domains of this shard only: another worker, or another slot of this
 * one, may be asking hosts of the others just now. */
static bool follows(void *arg, const char *url, size_t size)
{
	struct slot *s = arg;

	if (fleet_shard_of(s->shards, s->n_shards, shard_hash(url, size)) == s->lease.shard)
		return true;
	if (s->moved.n < MOVED_MAX)
		vec_push(&s->moved, mem_strndup(url, size));
	return false;
}

static int send_moved(struct slot *s, struct err *err)
{
	VEC(struct fleet_entry) entries = { 0 };
	int rc;

	for (size_t i = 0; i < s->moved.n; i++) {
		struct text body = { s->moved.v[i], strlen(s->moved.v[i]) };
		int32_t to = fleet_shard_of(s->shards, s->n_shards, shard_hash(body.s, body.size));

		vec_push(&entries, ((struct fleet_entry){ to, 0, "list", body }));
	}
	rc = fleet_inbox_put(s->work->fleet, entries.v, entries.n, err);
	vec_release(&entries);
	for (size_t i = 0; i < s->moved.n; i++)
		free(s->moved.v[i]);
	s->moved.n = 0;
	return rc;
}

static int write_result(struct slot *s, const struct store_cycle *row, bool done,
                        struct err *err)
{
	struct fleet_result r = {
		.own = row->number, .downloads = row->downloads, .fresh = row->fresh,
		.changed = row->changed, .same = row->same, .gone = row->gone, .failed = row->failed,
		.blocked = row->blocked, .seconds = row->seconds_total, .done = done,
	};

	if (row->downloads > s->sent)
		atomic_fetch_add(&s->work->requests, row->downloads - s->sent);
	s->sent = row->downloads > s->sent ? row->downloads : s->sent;
	return fleet_result(s->work->fleet, &s->lease, s->cycle.number, &r, err);
}

static int committed(void *arg, const struct store_cycle *row, struct err *err)
{
	struct slot *s = arg;
	struct inbox_stats stats = { 0 };
	int rc = write_result(s, row, false, err);

	if (rc == 0 && s->moved.n)
		rc = send_moved(s, err);
	if (rc < 0 || fleet_clock() - s->looked < LOOK_SECONDS)
		return rc;
	s->looked = fleet_clock();
	return inbox_apply(s->work->fleet, &s->lease, s->side, INBOX_NO_TELL, &stats,
	                   err);
}

static int make_folder(const char *path, struct err *err)
{
	return mkdir(path, 0777) && errno != EEXIST ? err_errno(err, E_IO, "%s", path) : 0;
}

/* WORKER/shard-K below the folder. */
static int make_folders(const char *warc_folder, const char *below, char *ret, size_t size,
                        struct err *err)
{
	char *slash;
	int rc;

	snprintf(ret, size, "%.3800s/%s", warc_folder, below);
	slash = strrchr(ret, '/');
	*slash = '\0';
	rc = make_folder(ret, err);
	*slash = '/';
	return rc < 0 ? rc : make_folder(ret, err);
}

/* A part that a service has begun is not gone on with by a crawl, nor the other way round: it ends,
 * and what is left of its budget goes back. */
static int end_other(struct slot *s, struct store *store, struct last_cycle *last,
                     struct err *err)
{
	int rc = store_begin(store, err);

	if (rc == 0)
		rc = last_cycle_end(store, last, err);
	if (rc == 0)
		rc = store_commit(store, err);
	if (rc < 0)
		store_rollback(store);
	return rc < 0 ? rc : write_result(s, &last->row, true, err);
}

/* The shard's part of the cycle. */
static int run_part(struct slot *s, struct store *store, const struct last_cycle *last,
                    uint32_t own, struct err *err)
{
	const struct work_opts *o = s->work->o;
	char folder[4096], below[128];
	struct work_part p = { .store = store, .shard = s->lease.shard, .fleet = &s->crawl,
	                       .cycle = &s->cycle, .stop = &s->stop, .anew = !own };
	struct crawl_report report = { 0 };
	double now, ahead;
	int rc = fleet_now(s->work->fleet, &now, &ahead, err);

	p.folder = o->clients ? NULL : folder;
	snprintf(below, sizeof below, "%s/shard-%d", o->worker, s->lease.shard);
	if (rc == 0 && p.folder)
		rc = make_folders(o->warc_folder, below, folder, sizeof folder, err);
	if (rc == 0)
		rc = bids_expect(s, &p.expected, err);
	if (rc < 0)
		return rc;
	p.n_shards = (uint32_t)s->n_shards;
	p.seconds = (double)(s->cycle.slot + s->cycle.every) - now;
	s->sent = own ? last->row.downloads : 0;
	s->crawl.more = bids_more;
	s->crawl.follows = follows;
	s->crawl.committed = committed;
	s->crawl.arg = s;
	s->crawl.budget = s->cycle.budget;
	s->crawl.pages = s->cycle.pages > UINT32_MAX ? UINT32_MAX : (uint32_t)s->cycle.pages;
	s->crawl.send_until = &s->send_until;
	s->crawl.ahead = ahead;
	s->crawl.wait_first = s->lease.lost;
	s->crawl.worker = o->worker;
	s->crawl.below = below;
	slot_say(s, "crawling", -1);
	rc = o->crawl(o->arg, &p, &report, err);
	if (rc == E_NET)                /* nothing could be reached: its part is over all the same */
		rc = 0;
	if (rc == 0 || (rc == E_STOP && report.cycle.number)) {
		struct err second;
		int rc2 = send_moved(s, &second);

		if (rc2 == 0 && rc == 0)
			rc2 = bids_end(s, &second);
		if (rc2 == 0)
			rc2 = write_result(s, &report.cycle, rc == 0, &second);
		if (rc2 < 0) {
			*err = second;
			rc = rc2;
		}
	}
	return rc;
}

static int count_here(struct store *store, int64_t *ret, struct err *err)
{
	struct store_counts c;
	int rc = store_count(store, &c, err);

	if (rc == 0)
		*ret = (int64_t)(c.pages - c.gone - c.removed - c.outside - c.paused);
	return rc;
}

static int work_on(struct slot *s, struct store *store, struct err *err)
{
	struct last_cycle last = { 0 };
	struct inbox_stats stats = { 0 };
	uint32_t own = 0;
	int64_t here = 0;
	int rc = inbox_apply(s->work->fleet, &s->lease, store, INBOX_IF_CLOSED, &stats, err);

	if (rc < 0 || !s->cycle.number)
		return rc;
	rc = fleet_shards(s->work->fleet, &s->shards, &s->n_shards, err);
	if (rc == 0)
		rc = fleet_join(s->work->fleet, &s->lease, s->cycle.number, &s->crawl.granted, &own,
		                err);
	if (rc == 0)
		rc = last_cycle_read(store, &last, err);
	if (rc == 0 && own && last.any && (last.row.number != own || !last.row.open)) {
		/* it had ended when the worker before died */
		rc = last.row.number == own ? write_result(s, &last.row, true, err) :
		     write_result(s, &(struct store_cycle){ .number = own }, true, err);
	} else if (rc == 0 && own && last.row.clients != s->work->o->clients) {
		rc = end_other(s, store, &last, err);
	} else if (rc == 0) {
		rc = run_part(s, store, &last, own, err);
	}
	if (rc == 0 && (rc = inbox_apply(s->work->fleet, &s->lease, store, INBOX_IF_CLOSED, &stats,
	                                 err)) == 0 &&
	    (rc = count_here(store, &here, err)) == 0)
		slot_say(s, "done", here);
	return rc;
}

static int open_store(struct slot *s, struct store **ret, struct err *err)
{
	struct buf url;
	int rc;

	buf_init(&url, BUF_NO_LIMIT);
	fleet_url(s->work->o->url, s->lease.shard, s->lease.fence, s->work->o->worker, &url);
	rc = store_open(ret, buf_text(&url), STORE_EXISTING, err);
	buf_release(&url);
	return rc;
}

void *slot_run(void *arg)
{
	struct slot *s = arg;
	struct store *store = NULL;
	struct err err = { 0 };
	int rc = open_store(s, &store, &err), rc2;

	if (rc == 0)
		rc = open_store(s, &s->side, &err);
	if (rc == 0)
		rc = work_on(s, store, &err);
	store_close(store);
	store_close(s->side);
	s->side = NULL;
	if (rc < 0 && rc != E_STOP)
		log_warn("shard %d: %s", s->lease.shard, err.text);
	s->failed = rc < 0 && rc != E_STOP;
	rc2 = fleet_release(s->work->fleet, &s->lease, &err);
	if (rc2 < 0 && rc2 != E_BUSY)
		log_warn("shard %d: %s: its lease ends by itself", s->lease.shard, err.text);
	for (size_t i = 0; i < s->moved.n; i++)
		free(s->moved.v[i]);
	vec_release(&s->moved);
	free(s->shards);
	s->shards = NULL;
	atomic_store(&s->send_until, 0);
	atomic_store(&s->state, SLOT_ENDED);
	return NULL;
}
