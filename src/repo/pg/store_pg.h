/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_pg.h - internals of the PostgreSQL backend; only its own files include this.
 *
 * A batch lives in our memory until it is committed (struct pg_batch).  Then it goes out
 * as one transaction in one round trip.  So no transaction is open while a program waits for
 * something else, and a batch whose connection is lost can be sent again as it is.  What a
 * batch has written is seen by its own reads: pages, captures and hints from memory; for
 * other tables and for scans, what there is so far is sent first.
 *
 * Three things keep writers apart and repeats harmless:
 * - the lock of the batch, an advisory lock of the session: it ends with the connection;
 * - shards.batch counts batches.  Each raises it from the number that its writer saw at the
 *   beginning, or fails as a whole;
 * - shards.token is drawn by the writer.  After a lost connection it tells whether the
 *   batch was committed.
 */
#ifndef REPO_STORE_PG_H
#define REPO_STORE_PG_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/mem.h"
#include "repo/wire/args.h"
#include "repo/wire/link.h"
#include "repo/wire/pipe.h"
#include "repo/wire/row.h"
#include "repo/pg/schema.h"
#include "repo/store_backend.h"

/* A statement of the batch. */
struct pg_call {
	int sql;                        /* enum pg_sql, or -1: text */
	char *text;
	bool is_copy;                   /* args are what COPY reads */
	struct pg_args args;
};

#define PG_NEVER INT64_MIN      /* pages.captured of a page without a capture */

/* A page that the batch has read, added or changed. */
struct pg_page {
	struct store_page_change change;        /* not sent yet, all changes in one */
	bool is_changed;
	bool is_new;
	bool is_sent;                   /* of a new one: the row was sent */
	bool is_known;                  /* row and captured are as they are now */
	struct store_page row;
	int64_t captured;               /* time of its last capture; not known: of this batch */
};

/* A capture that the batch has added or replaced. */
struct pg_capture { struct store_capture row; bool is_sent; };

struct pg_batch {
	struct arena texts;             /* of the rows */
	VEC(struct pg_page) pages;
	struct map by_number;           /* page number -> pages */
	struct map by_url;              /* hash of the URL -> pages that were read */
	struct strtab absent;           /* URLs that no page has but one of this batch */
	struct strtab new_urls;         /* of new pages: first_new + number in the table */
	uint32_t first_new;
	VEC(struct pg_capture) captures;
	struct map by_id, by_second;    /* -> captures */
	VEC(struct store_capture) read; /* captures that were read with their pages */
	struct map read_by_id;
	uint64_t next_id;               /* of captures, drawn for this batch */
	uint32_t n_ids;
	struct map refreshed;           /* ids of captures with new headers */
	struct strtab sites;            /* whose hints were read or changed */
	VEC(struct pg_site { struct store_hint hint; bool is_known; }) hints;
	struct map last_order;          /* cycle -> highest order of its visits */
	bool has_forgotten;             /* visits: it may be lower now */
	struct map imported;            /* pages with new imported visits that were not sent */
	struct pg_rows captures_drop, bodies, headers, forget, visits;
	VEC(struct pg_call) log;        /* in order; kept until the batch is committed */
	unsigned dirty;                 /* tables: enum pg_table */
	bool past_raised;
	uint32_t newest_cycle;
	int64_t number, token;          /* of the batch before; our token */
	int64_t n_pages, n_files;
	bool is_begun;                  /* number and counts are known */
	int64_t carried;                /* number of the batch after which rows were carried */
	bool is_committing, is_committed;
};

enum pg_table {                         /* those without a memory of their own */
	PG_T_SETTINGS = 1, PG_T_STATES = 2, PG_T_CYCLES = 4, PG_T_ROUNDS = 8, PG_T_LEASES = 16,
	PG_T_ROBOTS = 32, PG_T_HINTS = 64, PG_T_PAST = 128, PG_T_CARE = 256, PG_T_TAGS = 512,
};

enum { PG_OF_CAPTURES, PG_OF_VISITS };  /* tables in parts */

struct store_pg {
	struct store base;
	struct pg_target target;
	struct pg_link link, side;      /* side: for what must not wait for the batch */
	bool prepared[2][N_PG_SQL];
	int64_t lock_key;               /* + 0: lock of the batch, + 1: of store_lock() */
	int64_t free_key;               /* the same two locks, for programs without a lease */
	bool is_open;                   /* it was connected once */
	/* what we want of the connection */
	bool held, in_batch, writing;
	unsigned frozen;                /* how many want one moment */
	bool user_frozen, reads_only;
	int64_t frozen_batch;           /* number of the batch that is seen; -1: not known */
	int64_t frozen_pages;
	/* what the connection has */
	struct {
		uint64_t generation;
		bool held, journal, batch, writing, frozen;
		size_t n_sent;          /* calls of the log */
	} has;
	struct pg_batch batch;
	bool parts[2][PG_PARTS], parts_known;   /* partitions of captures, visits */
	unsigned n_cursors;
	struct pg_scanning *ahead;      /* the scan whose next part is under way: scan.c */
	struct map bodies_known;        /* keys of texts that are in the store */
	struct strtab files_known;      /* worker NUL name: its number is in file_ids */
	VEC(int64_t) file_ids;
	struct arena got;               /* texts of rows under way */
	VEC(struct pg_noted { struct store_sent row; int64_t token; }) journal;
	                                /* entries since the last batch: journal.c */
	struct { size_t from; bool is_under_way; struct pg_pipe pipe; } noting;
	                                /* those from there on are under way */
	struct pg_beside {
		pthread_t thread;
		bool is_under_way, has_failed;
		_Atomic bool is_over;   /* the thread has nothing more to do */
		size_t journal;         /* entries that were there when it began */
		int rc;
		struct err err;
	} beside;                       /* a commit beside its caller: beside.c */
};

/* ---- beside.c: a commit that goes on beside its caller ---- */

int pg_commit_start(struct store *, struct err *);
int pg_commit_done(struct store *, bool wait, struct err *);
void pg_settle(struct store_pg *s);     /* wait for it */

/* As a commit under way leaves it: for what has to do with the side connection alone. */
static inline struct store_pg *pg_beside(struct store *s)
{
	return (struct store_pg *)s;
}

static inline struct store_pg *pg_self(struct store *base)
{
	struct store_pg *s = pg_beside(base);

	if (s->beside.is_under_way)
		pg_settle(s);
	return s;
}

/* ---- session.c: the connection in the state that we want ---- */

typedef int pg_step(struct store_pg *s, void *arg, struct err *err);
/* Run the step on a connection in the wanted state, again after each loss of it. */
int pg_try(struct store_pg *s, pg_step *step, void *arg, struct err *err);
/* The same on the side connection: does not wait for a commit under way while that works. */
int pg_try_aside(struct store_pg *s, pg_step *step, void *arg, struct err *err);
void pg_end_failed(struct store_pg *s);         /* after an error: the transaction's end */
/* One statement; args get the shard first.  *ret may be NULL. */
int pg_ask(struct store_pg *s, enum pg_sql sql, const struct pg_args *args, PGresult **ret,
           struct err *err);
/* The same at once and for good, whatever becomes of the open batch. */
int pg_ask_apart(struct store_pg *s, enum pg_sql sql, const struct pg_args *args,
                 PGresult **ret, struct err *err);
/* The connection for what must not share the fate of the batch; for a step of pg_try(). */
int pg_apart(struct store_pg *s, struct pg_link **ret, struct err *err);
/* What is written apart is under the lease of a worker, too, if there is one: the check is the
 * first statement of the pipe, which is one transaction. */
void pg_lease_check(const struct store_pg *s, struct pg_pipe *p);
int pg_lease_run(struct store_pg *s, struct pg_pipe *p, struct err *err);
/* Arguments that begin with the shard. */
void pg_shard_args(const struct store_pg *s, struct pg_args *a);
/* Send what the batch has written so far, if it wrote to one of these tables: a read follows.
 * */
void pg_show_writes(struct store_pg *s, unsigned tables);
#define PG_ALL_TABLES ~0u
/* Pages that there are, as the reads under way see them. */
int pg_page_count(struct store_pg *s, int64_t *ret, struct err *err);
int64_t pg_cell(const PGresult *r, int column);         /* whole number of the first row */
/* E_BUSY, with who holds the lock. */
int pg_tell_holder(struct store_pg *s, int64_t key, struct err *err);
/* E_BUSY: the lease is over, and another may have the shard. */
int pg_lost_lease(struct store_pg *s, struct err *err);
/* E_BUSY, with the worker that has the lease: the row of PG_LEASE_HOLDER. */
int pg_leased_by_other(struct store_pg *s, const PGresult *r, struct err *err);

typedef int pg_row_each(struct store_pg *s, struct pg_row *r, void *arg);
/* All rows of a statement, a part at a time.  each() may ask for other rows. */
int pg_scan(struct store_pg *s, enum pg_sql sql, const struct pg_args *args, unsigned part,
            const char *table, pg_row_each *each, void *arg, struct err *err);
/* Read all of the part that is under way, if there is one: something else wants the connection. */
void pg_scan_collect(struct store_pg *s);
/* The rows of a result, which is freed. */
int pg_walk(struct store_pg *s, PGresult *r, const char *table, pg_row_each *each, void *arg,
            struct err *err);

/* ---- send.c: a batch on its way ---- */

int pg_batch_enter(struct store_pg *s, struct err *err);        /* its lock, and what there is */
int pg_batch_send(struct store_pg *s, struct err *err);         /* what was written so far */
int pg_commit_begin(struct store_pg *s, struct err *err);       /* all before its statements, */
pg_step pg_commit_step;                                         /* these, */
void pg_commit_end(struct store_pg *s, size_t journal);         /* and all after */
void pg_unlock_batch(struct store_pg *s);

/* ---- journal.c: the journal of requests ---- */

/* Write it again: a server that was killed may have lost its end. */
int pg_journal_repeat(struct store_pg *s, struct err *err);

/* ---- batch.c: what a batch has written ---- */

void pg_batch_init(struct pg_batch *b);
void pg_batch_release(struct pg_batch *b);
/* After a commit: what was read or written is remembered for the next batch, which drops it
 * if another program has written meanwhile (pg_batch_forget()). */
void pg_batch_carry(struct pg_batch *b);
void pg_batch_forget(struct pg_batch *b);
struct pg_args *pg_batch_call(struct store_pg *s, enum pg_sql sql);    /* with the shard */
/* Rows become a call. */
void pg_batch_take(struct store_pg *s, enum pg_sql sql, struct pg_rows *rows);
/* The same for rows that are new: many go by COPY. */
void pg_batch_take_new(struct store_pg *s, enum pg_sql sql, enum pg_sql copy,
                       struct pg_rows *rows);
void pg_batch_flush(struct store_pg *s);        /* rows in memory become calls */
struct pg_page *pg_batch_page(struct store_pg *s, uint32_t number, bool make);
/* A write outside of a batch is a batch of its own. */
int pg_enter(struct store_pg *s, bool *ret_own, struct err *err);
int pg_leave(struct store_pg *s, bool own, int rc, struct err *err);
/* Make sure that the part of the table for this time is there. */
int pg_need_part(struct store_pg *s, int of, int64_t time, struct err *err);
int pg_begin(struct store *, struct err *);
int pg_commit(struct store *, struct err *);
void pg_rollback(struct store *);

/* ---- functions of store_ops ---- */

int pg_pages_add(struct store *, struct store_page *, size_t, bool *, struct err *);
int pg_pages_find(struct store *, const struct text *, size_t, uint32_t *, struct err *);
int pg_pages_get(struct store *, const uint32_t *, size_t, store_page_each *, void *,
                 struct err *);
int pg_pages_change(struct store *, const struct store_page_change *, size_t, struct err *);
/* What the change makes of the page. */
void pg_page_apply(struct store_page *p, const struct store_page_change *c);
int pg_foresee(struct store *, const struct store_ahead *, struct err *);
int pg_pages(struct store *, uint32_t, store_page_each *, void *, struct err *);
/* A copy of a text, or of all texts of a capture, that lives as long as the batch. */
struct text pg_batch_text(struct pg_batch *b, struct text t);
void pg_batch_texts(struct pg_batch *b, struct store_capture *c);
int pg_pages_touched(struct store *, store_page_each *, void *, struct err *);
/* Keep captures that were read with their pages. */
void pg_capture_keep(struct store_pg *s, const PGresult *r, int64_t n_pages);
int pg_captures_put(struct store *, struct store_capture *, size_t, enum store_second,
                    uint8_t *, struct err *);
int pg_capture_ids(struct store *, uint32_t, uint64_t *, struct err *);
int pg_captures_get(struct store *, const uint64_t *, size_t, store_capture_each *, void *,
                    struct err *);
int pg_copies_get(struct store *, const uint64_t *, size_t, store_capture_each *, void *,
                  struct err *);
int pg_captures_refresh(struct store *, const struct store_headers *, size_t, struct err *);
int pg_captures(struct store *, const uint32_t *, size_t, store_capture_each *, void *,
                struct err *);
int pg_captures_linked(struct store *, store_linked_each *, void *, struct err *);
int pg_links(struct store *, const struct map *, store_text_each *, void *, struct err *);
int pg_terms(struct store *, const struct map *, store_text_each *, void *, struct err *);
int pg_captures_since(struct store *, uint64_t, store_capture_each *, void *, struct err *);
/* The id of the WARC file of a capture; a new one gets a row. */
int pg_file_id(struct store_pg *s, const struct store_capture *c, int64_t *ret,
               struct err *err);
int pg_check(struct store *, store_problem_each *, void *, struct err *);
int pg_captures_drop(struct store *, const uint64_t *, size_t, struct err *);
int pg_captures_move(struct store *, const struct store_moved *, size_t, struct err *);
int pg_files(struct store *, store_file_each *, void *, struct err *);
int pg_file_drop(struct store *, struct text, struct text, struct err *);
int pg_files_shared(struct store *, store_file_each *, void *, struct err *);
int pg_file_leave(struct store *, struct text, struct text, bool *ret_last, struct err *);
int pg_tidy(struct store *, bool, struct err *);
/* Texts and files that we know to be in the store may be there no more. */
void pg_forget_known(struct store_pg *s);
void pg_captures_flush(struct store_pg *s);
void pg_visits_flush(struct store_pg *s);
int pg_visits_add(struct store *, const struct store_visit *, size_t, struct err *);
int pg_visits_forget(struct store *, const uint32_t *, size_t, struct err *);
int pg_visits(struct store *, uint32_t, uint32_t, store_visit_each *, void *, struct err *);
int pg_visits_found(struct store *, uint32_t, uint32_t, store_visit_each *, void *,
                    struct err *);
int pg_visits_of(struct store *, const uint32_t *, size_t, uint32_t, uint32_t,
                 store_visit_each *, void *, struct err *);
int pg_past(struct store *, uint64_t *, struct err *);
int pg_past_raise(struct store *, struct err *);
int pg_cycle_put(struct store *, const struct store_cycle *, struct err *);
int pg_cycles(struct store *, uint32_t, store_cycle_each *, void *, struct err *);
int pg_rounds_add(struct store *, uint32_t, uint32_t, const uint32_t *, size_t, struct err *);
int pg_rounds(struct store *, uint32_t, store_round_each *, void *, struct err *);
int pg_leases_put(struct store *, const struct store_lease *, size_t, struct err *);
int pg_leases(struct store *, uint32_t, store_lease_each *, void *, struct err *);
int pg_leases_forget(struct store *, uint32_t, struct err *);
int pg_care_put(struct store *, const struct store_care *, size_t, int64_t, struct err *);
int pg_care_log(struct store *, uint32_t, uint32_t, uint32_t, store_care_each *, void *,
                struct err *);
int pg_tag_put(struct store *, struct text, const uint32_t *, size_t, bool, struct err *);
int pg_tags(struct store *, uint32_t, store_tag_each *, void *, struct err *);
int pg_tagged(struct store *, struct text, store_tagged_each *, void *, struct err *);
int pg_sent_start(struct store *, const struct store_sent *, size_t, struct err *);
int pg_sent_done(struct store *, bool, struct err *);
int pg_sent(struct store *, store_sent_each *, void *, struct err *);
int pg_sent_clear(struct store *, struct err *);
int pg_setting_put(struct store *, const char *, const char *, struct err *);
int pg_setting_get(struct store *, const char *, char **, struct err *);
int pg_settings(struct store *, store_setting_each *, void *, struct err *);
int pg_state_put(struct store *, enum store_owner, const char *, const char *, struct err *);
int pg_state_get(struct store *, enum store_owner, const char *, char **, struct err *);
int pg_states(struct store *, enum store_owner, store_setting_each *, void *, struct err *);
int pg_hints_get(struct store *, const struct text *, size_t, struct store_hint *,
                 struct err *);
int pg_hints_change(struct store *, const struct store_hint_change *, size_t, struct err *);
int pg_hints(struct store *, store_hint_each *, void *, struct err *);
int pg_robots_put(struct store *, const struct store_robots *, size_t, struct err *);
int pg_robots(struct store *, const struct text *, size_t, store_robots_each *, void *,
              struct err *);
int pg_robots_size(struct store *, uint64_t *, struct err *);
int pg_robots_forget(struct store *, int64_t, struct err *);
int pg_words_add(struct store *, uint32_t, const struct text *, size_t, struct err *);
int pg_words(struct store *, uint32_t, store_word_each *, void *, struct err *);

#endif
