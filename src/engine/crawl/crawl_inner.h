/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_inner.h - what crawl.c (the cycle), crawl_source.c (asking), crawl_read.c (what
 * an answer means) and crawl_write.c (one outcome into archive and store) share.
 *
 * An answer goes from the fetcher into a queue (base/thread/work_queue.h).  Threads read,
 * judge and pack it there.  It leaves the queue in the order it came in, and goes to archive
 * and store.
 */
#ifndef ENGINE_CRAWL_CRAWL_INNER_H
#define ENGINE_CRAWL_CRAWL_INNER_H

#include <string.h>
#include <time.h>

#include "base/cause.h"
#include "base/map.h"
#include "base/stop.h"
#include "base/thread/work_queue.h"
#include "engine/book/care.h"
#include "engine/book/moved.h"
#include "engine/book/touch.h"
#include "engine/archive/analyse.h"
#include "engine/import/import_words.h"
#include "engine/crawl/crawl.h"
#include "engine/crawl/time_left.h"
#include "engine/cycle/cycle.h"
#include "engine/recall/grants.h"
#include "engine/recall/resume.h"
#include "warc/warc_write.h"

/* Our copy of a page, as far as an answer is compared with it. */
struct crawl_copy {
	uint64_t id;
	int64_t time;
	bool has_simhash;
	uint64_t simhash;
	struct text digest, prose, tags, etag, modified, target, robots;
	char texts[];
};

/* What reading takes: one for each thread. */
struct crawl_reader {
	struct crawl_one {              /* an answer; some are read together */
		struct analyser analyser;
		struct word_counter words;      /* used if words are counted */
		struct buf decoded;
		struct analyse_input in;
		struct warc_digest payload;
		struct detector detect;
		bool asked;             /* what is in it */
	} one[ANALYSE_TOGETHER];
	struct stemmer *stemmer;
	struct warc_hasher hasher;
	struct warc_packer *packer;
	struct buf head, request;
};

/* An answer in the queue. */
struct crawl_answer {
	struct fetch_result result;
	uint32_t held;                  /* its number at the fetcher */
	int64_t time;
	const struct crawl_copy *copy;  /* or NULL */
	/* NULL: it was asked for first.  Else its page moved for good, and this is the page's own
	 * URL (it stays valid as long as the crawl). */
	const char *own_url;
	struct warc_ids ids;
	/* set by crawl_read() */
	enum outcome outcome;           /* GONE: the server said so just now */
	struct record record;           /* slices are here, or at the fetcher */
	bool robots_told;               /* record.robots is what holds from now on */
	bool is_packed;                 /* it goes to the archive */
	struct warc_packed packed;
	int rc;                         /* of packing */
	struct err err;
	char mime[128], digest[WARC_DIGEST_TEXT], prose[16], tags[16];
	struct buf links, title, robots;
	struct word_counts words;       /* not yet numbers: those are given in order */
};

/* What is left of what is planned, and how it went so far. */
struct crawl_pace { uint32_t answers; double seconds; };
struct crawl_left_host {
	uint32_t page, requests;        /* one of its pages; how many are to be asked for */
	struct crawl_pace pace;
};
struct crawl_left {
	VEC(struct crawl_left_host) hosts;
	struct map at;                  /* by site: its index in hosts */
	VEC(struct left_host) now;
	uint32_t requests, more;        /* of what is planned; of rounds that may follow */
	uint32_t n_leases;              /* leases of the cycle that are counted here already */
	uint32_t told;                  /* of them answered */
	struct crawl_pace pace;         /* of all hosts */
	double began, shown;
};

/* Pages at the fetcher by host: see crawl_quiet.c. */
struct quiet_host { uint32_t site, pages; double since; bool is_quiet; };

struct crawl_quiet {
	VEC(struct quiet_host) hosts;
	uint32_t *at;                   /* by site: its index in hosts, from 1; 0: it has none */
	size_t pages;                   /* of hosts that were quiet when we looked last */
	double looked;                  /* when that was */
};

/* Answers between the fetcher and the store.  Only crawl_source.c changes it. */
struct crawl_reading {
	struct work_queue *queue;
	struct crawl_reader *readers;   /* one for each thread */
	unsigned n_readers;
	struct crawl_answer *answers;   /* one for each slot of the queue */
	size_t bytes_queued;
	VEC(struct crawl_copy *) copies;        /* by lease, while the page is asked for */
};

/* What is written and not yet committed.  crawl_write.c writes; crawl_source.c and life.c
 * decide when to commit. */
struct crawl_batch {
	struct warc_writer *warc;
	struct warc_packing packing;
	struct warc_dictionary *dictionary;     /* of packing; NULL: none */
	bool is_kept;                   /* the store knows all of the archive */
	uint32_t n;                     /* visits in the batch */
	bool commit_now;                /* however few they are */
	double began;                   /* when the batch was begun */
	double looked;                  /* when we last looked for care that others changed */
	struct warc_position last;         /* newest record, of this batch or one before */
	bool count_words;
	struct import_words words;      /* of the repository; new ones are kept with the batch */
};

/* Asking the engine for pages.  Only crawl_ask.c uses it. */
struct crawl_asking {
	double began;                   /* when the first page was asked for; 0: not yet */
	double wait_began, waited;      /* for answers while connections are idle: now, before */
	uint32_t rounds_kept;           /* rounds of the cycle that are in the store */
	bool wants_grant;               /* nothing can be asked for before more is granted */
	VEC(struct store_lease) dropped;        /* pages that are not there yet */
};

/* Copies of robots.txt.  Only crawl_robots.c uses it. */
struct crawl_robots {
	struct buf text;                /* the copy that was asked for last */
	uint64_t size;                  /* bytes of copies in the store, at least */
	bool is_counted;                /* size was read from the store */
	int rc;                         /* of writing them: the first error, */
	struct err err;                 /* and its text */
};

/* The log of what was sent.  Only crawl_sent.c uses it; a commit empties `read`. */
struct crawl_sent_log {
	int rc;                         /* of writing it: the first error, */
	struct err err;                 /* and its text */
	VEC(struct store_sent) read;    /* answers read since the last write */
	VEC(struct store_sent) asked;   /* requests that go out when they are written */
};

/* What earlier starts of the same cycle used.  Only crawl_counts.c uses it. */
struct crawl_before { uint64_t bytes, robots, budgeted; };

/* A crawl: what all files use, then the parts, each with its owner. */
struct crawl {
	struct store *store;
	const struct crawl_opts *opts;
	struct crawl_report *report;
	struct fetch *fetch;
	struct resumed *resumed;
	uint32_t budget;                /* requests; the engine counts them, live tests apart */
	uint32_t refused;               /* pages whose turn came when all was spent */
	bool apart;                     /* requests made now do not count: discovery makes them */
	bool same_policy;               /* the cycle that goes on was made by the same policy */
	bool stop_said;                 /* the user was told that we stop */
	struct crawl_batch batch;
	struct crawl_reading reading;
	struct crawl_asking asking;
	struct crawl_robots robots;
	struct crawl_sent_log sent;
	struct crawl_before before;
	struct crawl_left left;
	struct crawl_quiet quiet;
	double grants_asked;            /* when; see crawl_fleet.c, which alone uses these */
	bool grants_over;
	size_t grants_kept;
	struct shared shared;           /* of a cycle that goes on, as it was when that began */
	struct moved_list moved;        /* only crawl_moved.c uses these two */
	struct care_rules moved_care;
	struct discover *discover;
	struct care_rules care;         /* for discovery, as the settings say */
	VEC(struct offer) reserved;     /* touched pages, and those that discovery has a share for */
	struct touch_offers touched;
	bool rests;                     /* the state `rests` is not empty */
	struct map sites_met;           /* sites that pages were asked of; see crawl_ahead.c */
	uint32_t *doubt;                /* in validators, by site; see crawl_validators.c */
	struct life *life;              /* goal alive; else NULL */
	uint64_t robots_counted;        /* requests that the report counts already */
};

/* What a cycle that broke off has done. */
struct crawl_made {
	VEC(struct event) events;       /* its visits and pages dropped, in order, */
	VEC(uint32_t) place;            /* and the places of the visits in the plan; else 0 */
	VEC(uint32_t) planned_after;    /* events before each of its rounds */
	struct grants grants;           /* of a shard of a fleet */
	enum goal goal;
};

/* Nothing was asked of a server: the request of the page goes to others. */
static inline bool crawl_is_blocked(const struct fetch_result *r)
{
	return r->error != FETCH_OK && !r->requests && r->error != FETCH_DNS;
}

/* Requests beyond the first of a page; of one that is blocked, all. */
static inline uint32_t crawl_extra(const struct fetch_result *r)
{
	return (r->requests > 1 ? r->requests - 1 : 0) + r->robots;
}

/* Of a visit that failed or was blocked; CAUSE_NONE: there was an answer. */
static inline enum cause crawl_cause(enum fetch_error e)
{
	const char *name = fetch_error_name(e);

	return e == FETCH_OK ? CAUSE_NONE : cause_find(name, strlen(name));
}

/* Pages that were handed over and have not come to the store. */
static inline size_t crawl_pending(const struct crawl *c)
{
	return (c->fetch ? fetch_pending(c->fetch) : 0) +
	       (c->reading.queue ? work_queue_count(c->reading.queue) : 0);
}

/* The URL that the page is known by. */
static inline const char *crawl_page_url(const struct crawl_answer *a)
{
	return a->own_url ? a->own_url : a->result.n_hops ? a->result.hops[0].url : a->result.url;
}

static inline bool crawl_stopped(const struct crawl *c)
{
	return stop_is_set(c->opts->stop);
}

static inline double crawl_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In crawl_ask.c: the next page to fetch, after n_asked that the fetcher does not have yet;
 * false: there is none now.  Are connections idle?  Is there room for it beside so many?  What
 * the engine planned is kept with a batch, and read by the next start, which then keeps what it
 * plans otherwise. */
bool crawl_ask(struct crawl *c, size_t n_asked, uint32_t *ret_lease);
bool crawl_is_idle(struct crawl *c, size_t n_asked, double now);
bool crawl_has_room(struct crawl *c, size_t pending);
/* In crawl_ahead.c: read what will be wanted of these pages. */
MUST_CHECK int crawl_foresee(struct crawl *c, const uint32_t *leases, size_t n,
                             struct err *err);
void crawl_drop(struct crawl *c, uint32_t lease);       /* it was refused, or a stop came */
MUST_CHECK int crawl_rounds_save(struct crawl *c, struct err *err);
void crawl_rounds_made(struct crawl *c, const struct crawl_made *m);
MUST_CHECK int crawl_made_load(struct crawl *c, struct crawl_made *m, struct err *err);
void crawl_made_release(struct crawl_made *m);

/* In crawl_quiet.c: a page goes to the fetcher, and comes out; how many there wait for a
 * host that is quiet. */
void crawl_quiet_asked(struct crawl *c, uint32_t lease);
void crawl_quiet_answered(struct crawl *c, uint32_t lease);
size_t crawl_quiet_pages(struct crawl *c, double now);
void crawl_quiet_release(struct crawl *c);

struct crawl_copy *crawl_copy_new(const struct store_capture *row);

/* words: NULL, or those that pages are counted for. */
MUST_CHECK int crawl_reader_init(struct crawl_reader *r, const struct crawl_opts *o,
                                 struct warc_packing packing,
                                 const struct import_words *words, struct err *err);
void crawl_reader_release(struct crawl_reader *r);
void crawl_answer_init(struct crawl_answer *a);
void crawl_answer_release(struct crawl_answer *a);
/* Read, judge and pack some answers; any thread. */
void crawl_read(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_answer **a,
                size_t n);
/* In crawl_pack.c: one, as it is archived. */
MUST_CHECK int crawl_pack(const struct crawl_opts *o, struct crawl_reader *t,
                          struct crawl_answer *a, const struct warc_digest *payload);
/* Write an answer that was read to archive and store (inside a batch). */
MUST_CHECK int crawl_write(struct crawl *c, uint32_t lease, const struct crawl_answer *a,
                           struct delivery *ret, struct err *err);
/* In crawl_source.c: the engine's source, whose `self` is the crawl; for the fetcher,
 * whether one more request may be made (its option `spend`); and the threads that read
 * answers, which stop before what they look at is freed. */
MUST_CHECK int crawl_pages(struct crawl *c, struct err *err);
bool crawl_spend(void *crawl, uint32_t page, uint32_t index, enum fetch_spend what);
MUST_CHECK int crawl_start_reading(struct crawl *c, struct err *err);
void crawl_stop_reading(struct crawl *c);
void crawl_free_readers(struct crawl *c);
/* In crawl_rests.c: hosts that must not be asked yet, from the store and to it. */
MUST_CHECK int crawl_rests_load(struct crawl *c, struct err *err);
MUST_CHECK int crawl_rests_save(struct crawl *c, struct err *err);
/* In crawl_fleet.c, of a shard of a fleet (else they do nothing): the time, by the fleet's
 * clock; of how many shards it is one; what was granted when; the next part of the budget, if
 * it is needed; is one waited for?  Hosts that were asked just now; and redirects. */
int64_t crawl_now(const struct crawl *c);
MUST_CHECK int crawl_shards_keep(struct crawl *c, uint32_t *ret, struct err *err);
MUST_CHECK int crawl_grants_save(struct crawl *c, struct err *err);
MUST_CHECK int crawl_grants_load(struct crawl *c, struct crawl_made *m, struct err *err);
void crawl_shared_set(struct crawl *c);
void crawl_grants_begin(struct crawl *c);
MUST_CHECK int crawl_grants_ask(struct crawl *c, struct err *err);
bool crawl_grants_wait(struct crawl *c);
MUST_CHECK int crawl_pauses_save(struct crawl *c, struct err *err);
MUST_CHECK int crawl_pauses_load(struct crawl *c, struct err *err);
bool crawl_follows(void *crawl, const char *url, size_t size);
/* In crawl_counts.c: what a report counts beyond the cycle's row, with each batch, for a
 * cycle that goes on, and at the end. */
MUST_CHECK int crawl_counts_save(struct crawl *c, struct err *err);
MUST_CHECK int crawl_counts_load(struct crawl *c, struct err *err);
void crawl_counts_ceiling(struct crawl *c);     /* when the engine is done */
void crawl_counts_end(struct crawl *c);
/* In crawl_sent.c: what is sent is in the store before it goes out (the fetcher calls it,
 * `arg` is the crawl), and that an answer was read, at the next flush; did that fail?  And the pages of a cycle that broke off which were
 * sent and have no visit get one (in a batch; the row counts them). */
bool crawl_sent(void *arg, const struct fetch_sent *requests, size_t n);
bool crawl_cleared(void *arg, bool wait);
void crawl_sent_read(struct crawl *c, uint32_t lease);
void crawl_sent_flush(struct crawl *c, bool now);
MUST_CHECK int crawl_sent_check(struct crawl *c, struct err *err);
MUST_CHECK int crawl_sent_lapse(struct crawl *c, struct store_cycle *row, uint32_t *ret_n,
                                struct err *err);
/* In crawl_left.c: the time left, for opts->left.  A round begins (c->offers), a page of it
 * is done with. */
void crawl_left_planned(struct crawl *c);
void crawl_left_told(struct crawl *c, uint32_t lease, const struct fetch_result *r);
void crawl_left_show(struct crawl *c);
void crawl_left_release(struct crawl *c);
/* In crawl.c: nothing new is asked for, what is under way is waited for; the user hears of
 * it once. */
void crawl_stop_asking(struct crawl *c);
/* In crawl_validators.c: may the validators of a copy be sent with its page; and what an
 * answer says of them. */
MUST_CHECK int crawl_validators_ask(struct crawl *c, uint32_t page, bool *ret_send,
                                    struct err *err);
MUST_CHECK int crawl_validators_check(struct crawl *c, uint32_t page,
                                      const struct crawl_answer *a, struct err *err);
/* In crawl_moved.c: where a page is asked for that moved for good, or NULL; and what an
 * answer says of it. */
MUST_CHECK int crawl_moved_load(struct crawl *c, struct err *err);
const char *crawl_moved_url(struct crawl *c, uint32_t page);
MUST_CHECK int crawl_moved_told(struct crawl *c, uint32_t page, const struct crawl_answer *a,
                                enum outcome outcome, struct err *err);
void crawl_moved_release(struct crawl *c);
/* In crawl_robots.c: robots.txt, for the fetcher; `arg` is the crawl. */
bool crawl_robots_load(void *arg, const char *origin, size_t size,
                       struct fetch_robots_copy *ret);
void crawl_robots_save(void *arg, const char *origin, size_t size,
                       const struct fetch_robots_copy *copy);
MUST_CHECK int crawl_robots_check(struct crawl *c, struct err *err);    /* did it fail? */
/* Drop entries unused for 30 days. */
MUST_CHECK int crawl_robots_forget(struct crawl *c, struct err *err);
/* In crawl_discover.c: new pages before the cycle; then what the share is for, in
 * front what the cycle, if it goes on, has asked for; and counting. */
MUST_CHECK int crawl_discover(struct crawl *c, struct err *err);
/* The pages that the cycle begins with: touched ones, and those of discovery's share. */
MUST_CHECK int crawl_reserve(struct crawl *c, const struct crawl_made *made,
                                      struct err *err);
void crawl_discover_count(struct crawl *c, uint8_t reason, enum outcome outcome);
/* A new page that leads to one we have is not one more. */
MUST_CHECK int crawl_discover_alias(struct crawl *c, uint32_t page,
                                    const struct fetch_result *r, struct err *err);

/* In crawl_row.c.  The cycle's row: begin it, or take up the one that is open. */
struct last_cycle;
MUST_CHECK int crawl_row_begin(struct crawl *c, struct last_cycle *last, struct err *err);
/* A cycle that is gone on with keeps its own aim: half of its plan was made by it. */
MUST_CHECK int crawl_row_aim(struct crawl *c, struct err *err);
/* What the last start had sent and not kept is spent, and not asked for again. */
MUST_CHECK int crawl_row_lapse(struct crawl *c, struct err *err);
/* Set the budget; open: the row was open before this start. */
void crawl_row_budget(struct crawl *c, bool open);
/* The budget of a new cycle, of so many pages, less what cycles before have spent of it. */
void crawl_row_budget_of(struct crawl *c, uint32_t n_pages);
/* The last commit, after the cycle that began then had this result: it is over, unless it was
 * stopped. */
MUST_CHECK int crawl_row_end(struct crawl *c, double began, int rc, struct err *err);

/* In crawl_repair.c.  What a crash left of the archive: cut it back to what the store
 * knows, and keep aside what it does not know. */
MUST_CHECK int crawl_repair(struct store *s, const char *folder, struct crawl_report *report,
                            struct err *err);
/* With each batch: how long the open file is. */
MUST_CHECK int crawl_state_save(struct crawl *c, struct err *err);
/* A batch; others may have written since the last. */
void crawl_begin(struct crawl *c);
/* The archive to the disk, then the tables: the batch is safe. */
MUST_CHECK int crawl_commit(struct crawl *c, struct err *err);
/* The same, but the tables may be written while the crawl goes on (store_commit_start()). */
MUST_CHECK int crawl_commit_soon(struct crawl *c, struct err *err);

#endif
