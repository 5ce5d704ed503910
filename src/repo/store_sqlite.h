/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite.h - internals of the SQLite backend; only its own files include this. */
#ifndef REPO_STORE_SQLITE_H
#define REPO_STORE_SQLITE_H

#include <sqlite3.h>

#include "base/buf.h"
#include "repo/store_backend.h"

enum sql {
#define SQL(name, text) SQL_##name,
#include "repo/sqlite_sql.def"
#undef SQL
	N_SQL
};

struct store_sqlite {
	struct store base;
	sqlite3 *db;
	sqlite3_stmt *statements[N_SQL];
	uint32_t n_pages;               /* valid while a batch is open */
	bool in_batch;
	uint32_t newest_cycle;          /* known while a batch is open, */
	bool past_raised;               /* in it */
	bool frozen, reads_only;        /* a read transaction is open; reads_only: always */
	uint64_t n_added;               /* calls of page_add */
	uint64_t *filter;               /* Bloom filter of page keys, or NULL; see _pages.c */
	uint64_t filter_words, filter_keys;
	int64_t data_version;           /* of the database when the filter was made */
	char last_file[512];            /* cache: last WARC name, and its row id */
	int64_t last_file_id;
	struct buf robots;              /* body of the last robots.txt read */
	int sent;                       /* descriptor of the journal of requests, or -1 */
	char path[4096];
};

static inline struct store_sqlite *self(struct store *s)
{
	return (struct store_sqlite *)s;
}

/* A prepared statement, reset and without bindings; NULL on error, with err set. */
sqlite3_stmt *sql_get(struct store_sqlite *s, enum sql which, struct err *err);
/* Run a statement that returns no row. */
int sql_run(struct store_sqlite *s, sqlite3_stmt *q, struct err *err);
/* 1: a row; 0: done; negative: error. */
int sql_step(struct store_sqlite *s, sqlite3_stmt *q, struct err *err);
int sql_error(struct store_sqlite *s, struct err *err);
void sql_bind_text(sqlite3_stmt *q, int i, struct text t);      /* NULL if nothing */
void sql_bind_real(sqlite3_stmt *q, int i, double v);           /* NULL if not a number */
struct text sql_text(sqlite3_stmt *q, int column);

/*
 * The row that is being read (store_sqlite_row.c).  Each function below checks one cell
 * and returns its value.  A cell out of range sets rc to E_STORE, and err names table,
 * row and column.  The caller must check rc before it uses the row.
 */
struct sql_row {
	struct store_sqlite *s;
	sqlite3_stmt *q;
	const char *table;
	int key_column;                 /* names the row in messages, */
	struct text key;                /* unless this text is set */
	int64_t n_pages;                /* pages in the store; -1: not yet read */
	int rc;
	struct err *err;
};

void sql_row_bad(struct sql_row *r, int column, const char *wanted);    /* "is no WANTED" */
int64_t sql_int(struct sql_row *r, int column, int64_t min, int64_t max, const char *wanted);
int64_t sql_any(struct sql_row *r, int column);                 /* whole number */
int64_t sql_size(struct sql_row *r, int column);                /* NULL: -1 */
uint32_t sql_count(struct sql_row *r, int column);
bool sql_flag(struct sql_row *r, int column);
uint64_t sql_id(struct sql_row *r, int column);
int64_t sql_time(struct sql_row *r, int column);
int32_t sql_status(struct sql_row *r, int column);
uint32_t sql_page(struct sql_row *r, int column);
double sql_real(struct sql_row *r, int column);                 /* finite */
double sql_weight(struct sql_row *r, int column);
float sql_score(struct sql_row *r, int column);                 /* NAN: none */
float sql_chance(struct sql_row *r, int column);                /* NAN: none */
struct text sql_text_there(struct sql_row *r, int column);
struct text sql_text_or_null(struct sql_row *r, int column);
struct text sql_url(struct sql_row *r, int column);             /* canonical */
struct text sql_url_or_null(struct sql_row *r, int column);

/* Number of pages; within a scan, as the scan sees them. */
int sqlite_last_cycle(struct store_sqlite *s, uint32_t *ret, struct err *err);
int sqlite_last_page(struct store_sqlite *s, int64_t *ret, struct err *err);

/* Drop the filter if another program has written to the database. */
int sqlite_filter_check(struct store_sqlite *s, struct err *err);

int sqlite_settings(struct store *, store_setting_each *, void *, struct err *);
/* Functions of store_ops that are in the other files. */
int sqlite_check(struct store *, struct err *);
int sqlite_page_add(struct store *, struct text, int64_t, uint32_t *, struct err *);
int sqlite_page_find(struct store *, struct text, struct store_page *, struct err *);
int sqlite_page_get(struct store *, uint32_t, struct store_page *, struct err *);
int sqlite_page_weigh(struct store *, uint32_t number, double weight, struct err *);
int sqlite_page_update(struct store *, const struct store_page *, struct err *);
int sqlite_pages(struct store *, store_page_each *, void *, struct err *);
int sqlite_hint_get(struct store *, struct text, struct store_hint *, struct err *);
int sqlite_hint_put(struct store *, struct text, const struct store_hint *, struct err *);
int sqlite_robots_get(struct store *, struct text, struct store_robots *, struct err *);
int sqlite_robots_put(struct store *, struct text, const struct store_robots *, struct err *);
int sqlite_robots_size(struct store *, uint64_t *, struct err *);
int sqlite_robots_forget(struct store *, int64_t, struct err *);
int sqlite_word_add(struct store *, uint32_t, struct text, struct err *);
int sqlite_words(struct store *, uint32_t, store_word_each *, void *, struct err *);
int sqlite_capture_add(struct store *, struct store_capture *, struct err *);
int sqlite_capture_put(struct store *, struct store_capture *, struct err *);
int sqlite_capture_get(struct store *, uint64_t, struct store_capture *, struct err *);
int sqlite_capture_refresh(struct store *, uint64_t, struct text, struct text, struct text,
                           struct err *);
int sqlite_captures(struct store *, uint32_t, store_capture_each *, void *, struct err *);
int sqlite_visit_add(struct store *, const struct store_visit *, struct err *);
int sqlite_visits(struct store *, uint32_t, uint32_t, uint32_t, store_visit_each *, void *,
                  struct err *);
int sqlite_visits_forget(struct store *, uint32_t, struct err *);
int sqlite_cycle_put(struct store *, const struct store_cycle *, struct err *);
/* store_sqlite_open.c */
int sqlite_round_add(struct store *, uint32_t, uint32_t, uint32_t, struct err *);
int sqlite_rounds(struct store *, uint32_t, store_round_each *, void *, struct err *);
int sqlite_lease_put(struct store *, const struct store_lease *, struct err *);
int sqlite_leases(struct store *, uint32_t, store_lease_each *, void *, struct err *);
int sqlite_leases_forget(struct store *, uint32_t, struct err *);
int sqlite_sent_add(struct store *, const struct store_sent *, size_t, struct err *);
int sqlite_sent(struct store *, store_sent_each *, void *, struct err *);
int sqlite_sent_clear(struct store *, struct err *);
int sqlite_cycles(struct store *, store_cycle_each *, void *, struct err *);

#endif
