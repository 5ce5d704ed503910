/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite.h - internals of the SQLite backend; only its own files include this. */
#ifndef REPO_STORE_SQLITE_H
#define REPO_STORE_SQLITE_H

#include <sqlite3.h>

#include "base/buf.h"
#include "repo/store_backend.h"

enum sql {
#define SQL(name, text) SQL_##name,
#include "repo/sqlite/sql.def"
#undef SQL
	N_SQL
};

#define SQLITE_WAIT_MS 30000    /* for another writer; no batch of ours is open so long */

/* The row of the table `counts`, as the tables are (counts.c). */
#define COUNTS_NEVER "9223372036854775807"
#define COUNTS_FILL \
	"INSERT OR REPLACE INTO counts (id, captures, visits, first, last) SELECT 1, count(*)," \
	" (SELECT count(*) FROM visits), coalesce(min(time), " COUNTS_NEVER ")," \
	" coalesce(max(time), 0) FROM captures;"

struct store_sqlite {
	struct store base;
	sqlite3 *db;
	sqlite3_stmt *statements[N_SQL];
	uint32_t n_pages;               /* valid while a batch is open */
	bool in_batch;
	uint32_t newest_cycle;          /* known while a batch is open, */
	bool past_raised;               /* in it */
	struct { uint64_t next; uint32_t left, drawn; } ids;    /* of captures, drawn in it */
	int64_t last_visit;             /* id of the last one in it, if SQL gave that; or 0 */
	bool frozen, reads_only;        /* a read transaction is open; reads_only: always */
	/* Rows written since the table `counts` was: counts.c. */
	struct counted { int64_t captures_new, captures_gone, visits, first, last; } more;
	uint64_t n_added;               /* pages that were added */
	uint64_t *filter;               /* Bloom filter of page keys, or NULL; see _filter.c */
	uint64_t filter_words, filter_keys;
	int64_t data_version;           /* of the database when the filter was made */
	char last_file[512];            /* cache: last WARC name, and its row id */
	int64_t last_file_id;
	int sent;                       /* descriptor of the journal of requests, or -1 */
	int lock;                       /* of the file that is locked, or -1 */
	const char *bad_table;          /* the row that made no sense: check.c */
	sqlite3_value *bad_key;         /* what it is found by, or NULL */
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
int sql_execute(struct store_sqlite *s, const char *sql, struct err *err);
/* Reads between these two, more than one, share a transaction: each alone would lock the file
 * and look for a new log, which is half of what it costs.  end: rc, or what ending gave. */
int sql_reads_begin(struct store_sqlite *s, size_t n, bool *ret_began, struct err *err);
int sql_reads_end(struct store_sqlite *s, bool began, int rc, struct err *err);
int sql_error(struct store_sqlite *s, struct err *err);
void sql_bind_text(sqlite3_stmt *q, int i, struct text t);      /* NULL if nothing */
void sql_bind_real(sqlite3_stmt *q, int i, double v);           /* NULL if not a number */
struct text sql_text(sqlite3_stmt *q, int column);

/*
 * The row that is being read (row.c).  Each function below checks one cell
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

void sqlite_bad_row_note(struct sql_row *r);     /* remember which row it is: check.c */
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

/* The first id of a cycle's range, in tables whose ids are (cycle << 32) + order. */
static inline int64_t sqlite_first_id(uint32_t cycle)
{
	return cycle <= INT32_MAX ? (int64_t)cycle << 32 : INT64_MAX;
}

extern const struct store_ops store_sqlite_ops;

/* connect.c, schema.c: open the file; bring its tables up to date.
 * closed: it cannot be written. */
int sqlite_connect(struct store_sqlite *s, enum store_mode mode, struct err *err);
int sqlite_migrate(struct store_sqlite *s, bool closed, struct err *err);

/* Number of the last cycle; number of pages: within a scan, as the scan sees them. */
int sqlite_last_cycle(struct store_sqlite *s, uint32_t *ret, struct err *err);
int sqlite_last_page(struct store_sqlite *s, int64_t *ret, struct err *err);

/* filter.c: drop the filter if another program has written to the database. */
int sqlite_filter_check(struct store_sqlite *s, struct err *err);
/* May the key be in the table?  False: it certainly is not. */
int sqlite_filter_may_have(struct store_sqlite *s, int64_t key, bool *ret, struct err *err);
void sqlite_filter_add(struct store_sqlite *s, int64_t key);

/* Functions of store_ops that are in the other files. */
int sqlite_lock(struct store *, struct err *);
void sqlite_unlock(struct store *);
int sqlite_pages_add(struct store *, struct store_page *, size_t n, bool *ret_new,
                     struct err *);
int sqlite_pages_find(struct store *, const struct text *urls, size_t n, uint32_t *ret,
                      struct err *);
int sqlite_pages_get(struct store *, const uint32_t *numbers, size_t n, store_page_each *,
                     void *, struct err *);
int sqlite_pages_change(struct store *, const struct store_page_change *, size_t n,
                        struct err *);
int sqlite_pages(struct store *, uint32_t from, store_page_each *, void *, struct err *);
int sqlite_pages_brief(struct store *, store_page_each *, void *, struct err *);
int sqlite_pages_touched(struct store *, store_page_each *, void *, struct err *);
int sqlite_captures_put(struct store *, struct store_capture *, size_t n,
                        enum store_second, uint8_t *ret, struct err *);
int sqlite_ids_return(struct store_sqlite *s, struct err *err);
int sqlite_capture_ids(struct store *, uint32_t n, uint64_t *ret, struct err *);
int sqlite_copies_get(struct store *, const uint64_t *ids, size_t n, store_capture_each *,
                      void *, struct err *);
int sqlite_captures_get(struct store *, const uint64_t *ids, size_t n,
                        store_capture_each *, void *, struct err *);
int sqlite_captures_refresh(struct store *, const struct store_headers *, size_t n,
                            struct err *);
int sqlite_captures(struct store *, const uint32_t *pages, size_t n, store_capture_each *,
                    void *, struct err *);
int sqlite_captures_linked(struct store *, store_linked_each *, void *, struct err *);
int sqlite_texts(struct store *, const struct map *, store_text_each *, void *, struct err *);
int sqlite_captures_since(struct store *, uint64_t id, store_capture_each *, void *,
                          struct err *);
/* Bind the id of a WARC file; a new one gets a row. */
int sqlite_bind_file(struct store_sqlite *s, sqlite3_stmt *q, int i, struct text worker,
                     struct text name, struct err *err);
int sqlite_captures_drop(struct store *, const uint64_t *ids, size_t n, struct err *);
int sqlite_captures_move(struct store *, const struct store_moved *, size_t n, struct err *);
int sqlite_files(struct store *, store_file_each *, void *, struct err *);
int sqlite_file_drop(struct store *, struct text worker, struct text name, struct err *);
int sqlite_sync(struct store *, struct err *);
int sqlite_tidy(struct store *, bool whole, struct err *);
void sqlite_leave_log(struct store *);
void sqlite_cache(struct store *, uint64_t bytes);
int sqlite_carry_log(struct store *, struct store_log *ret, struct err *);
int sqlite_visits_add(struct store *, const struct store_visit *, size_t n, struct err *);
int sqlite_visits_forget(struct store *, const uint32_t *pages, size_t n, struct err *);
int sqlite_visits(struct store *, uint32_t from, uint32_t to, store_visit_each *, void *,
                  struct err *);
int sqlite_visits_found(struct store *, uint32_t from, uint32_t to, store_visit_each *, void *,
                        struct err *);
int sqlite_visits_of(struct store *, const uint32_t *pages, size_t n, uint32_t from,
                     uint32_t to, store_visit_each *, void *, struct err *);
int sqlite_past(struct store *, uint64_t *, struct err *);
int sqlite_past_raise(struct store *, struct err *);
int sqlite_others(struct store *, uint64_t *, struct err *);
int sqlite_cycle_put(struct store *, const struct store_cycle *, struct err *);
int sqlite_cycles(struct store *, uint32_t from, store_cycle_each *, void *,
                  struct err *);
int sqlite_rounds_add(struct store *, uint32_t cycle, uint32_t first,
                      const uint32_t *after, size_t n, struct err *);
int sqlite_rounds(struct store *, uint32_t cycle, store_round_each *, void *,
                  struct err *);
int sqlite_leases_put(struct store *, const struct store_lease *, size_t n, struct err *);
int sqlite_leases(struct store *, uint32_t cycle, store_lease_each *, void *,
                  struct err *);
int sqlite_leases_forget(struct store *, uint32_t but_cycle, struct err *);
int sqlite_sent_start(struct store *, const struct store_sent *, size_t n, struct err *);
int sqlite_sent(struct store *, store_sent_each *, void *, struct err *);
int sqlite_sent_clear(struct store *, struct err *);
int sqlite_care_put(struct store *, const struct store_care *, size_t, int64_t, struct err *);
int sqlite_care_log(struct store *, uint32_t, uint32_t, uint32_t, store_care_each *, void *,
                    struct err *);
int sqlite_tag_put(struct store *, struct text, const uint32_t *, size_t, bool, struct err *);
int sqlite_tags(struct store *, uint32_t, store_tag_each *, void *, struct err *);
int sqlite_tagged(struct store *, struct text, store_tagged_each *, void *, struct err *);
int sqlite_setting_put(struct store *, const char *key, const char *value, struct err *);
int sqlite_setting_get(struct store *, const char *key, char **ret, struct err *);
int sqlite_settings(struct store *, store_setting_each *, void *, struct err *);
int sqlite_state_put(struct store *, enum store_owner, const char *key, const char *value,
                     struct err *);
int sqlite_state_get(struct store *, enum store_owner, const char *key, char **ret,
                     struct err *);
int sqlite_states(struct store *, enum store_owner, store_setting_each *, void *,
                  struct err *);
int sqlite_hints_get(struct store *, const struct text *sites, size_t n,
                     struct store_hint *, struct err *);
int sqlite_hints_change(struct store *, const struct store_hint_change *, size_t n,
                        struct err *);
int sqlite_hints(struct store *, store_hint_each *, void *, struct err *);
int sqlite_robots_put(struct store *, const struct store_robots *, size_t n,
                      struct err *);
int sqlite_robots(struct store *, const struct text *origins, size_t n,
                  store_robots_each *, void *, struct err *);
int sqlite_robots_size(struct store *, uint64_t *, struct err *);
int sqlite_robots_forget(struct store *, int64_t before, struct err *);
int sqlite_words_add(struct store *, uint32_t first, const struct text *, size_t n,
                     struct err *);
int sqlite_words(struct store *, uint32_t from, store_word_each *, void *, struct err *);
/* A capture of that time was written. */
void sqlite_counts_capture(struct store_sqlite *s, int64_t time);
/* Bring the table up to date, at the end of a batch; or of a call outside of one, which
 * returns what this does. */
int sqlite_counts_write(struct store_sqlite *s, struct err *err);
int sqlite_counts_alone(struct store_sqlite *s, int rc, struct err *err);
/* Look for the first and last time of a capture, if they are not known. */
int sqlite_counts_times(struct store_sqlite *s, struct err *err);
int sqlite_counts_check(struct store_sqlite *s, store_problem_each *, void *, struct err *);
int sqlite_count(struct store *, struct store_counts *, struct err *);
int sqlite_backup(struct store *, const char *, store_backup_each *, void *, struct err *);
int sqlite_check(struct store *, store_problem_each *, void *, struct err *);
int sqlite_bad_row(struct store *, const char *, struct buf *, struct err *);
int sqlite_bad_row_drop(struct store *, struct err *);

#endif
