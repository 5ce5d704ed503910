/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the tables of a repository, whatever database holds them.  README.md in this
 * folder draws them.
 *
 * Rows (store_rows.h) go in and come out: pages, captures, visits, cycles, settings.  No SQL
 * appears above this header.  It asks for nothing that a table with a key cannot do.  So a new
 * database is a new backend (store_backend.h), and no other file changes.
 *
 * The database may be far away.  So calls take whole batches: arrays of rows go in, arrays
 * of numbers are asked for, and a table is read as a stream.  Calls for one row are the
 * same calls with an array of one; use them where rows come one by one.  What others may
 * write at the same time is changed by differences, not by what was read before.
 *
 * Page numbers are dense, start at 0 and never change.  Planning works on arrays indexed
 * by them (engine/view/load.h).  Ids of captures and visits grow, and may have gaps.
 *
 * Write between store_begin() and store_commit().  A committed batch survives a crash of
 * the program; an open batch is lost as a whole.  Do not wait for the network in between.
 * Strings in a row that a callback gets are valid until it returns.  Strings in a row from
 * a get of one row are valid until the next such get, begin or commit.
 */
#ifndef REPO_STORE_H
#define REPO_STORE_H

#include "base/err.h"
#include "base/map.h"
#include "repo/store_rows.h"

#define STORE_SCHEMA 9          /* version of the tables */
#define STORE_NONE UINT32_MAX   /* no page */

struct store;

const char *store_state_name(unsigned state);   /* here, gone, left */
/* removed, out-of-scope, paused, site-paused: the weightiest; NULL: it is under care. */
const char *store_care_name(unsigned care);

/* STORE_READ also opens a database without write permission.  All reads then see the
 * state at the first read, whatever others write meanwhile. */
enum store_mode { STORE_EXISTING, STORE_CREATE, STORE_READ };

/* Where: "sqlite:PATH", a plain path, or a text that another backend of stores.def takes. */
MUST_CHECK int store_open(struct store **ret, const char *where, enum store_mode mode,
                          struct err *err);
/* The file that holds the tables: caches lie beside it, with a longer name.  Of a store
 * without a file, what store_caches() has set; NULL: there is no place for caches. */
const char *store_file(const struct store *s);
/* Caches of a store without a file may be made in this folder.  Their names tell which store
 * and shard they are of. */
void store_caches(struct store *s, const char *folder);
void store_close(struct store *s);      /* s may be NULL; an open batch is lost */

/* The lock of the repository: who plans, crawls or tells holds it.  E_BUSY: another has it.
 * It ends with the program, however that ends. */
MUST_CHECK int store_lock(struct store *s, struct err *err);
void store_unlock(struct store *s);

/* E_BUSY from any call: another program holds the tables, and still did after half a minute.
 * What the call should have done is not done; it may be tried again. */

/* All reads until store_thaw() see one moment: a page named by a visit or a capture is
 * then in the scan of the pages.  No effect within a batch.  After
 * store_thaw() rows that were got are gone, and what others have written since is seen.
 * */
MUST_CHECK int store_freeze(struct store *s, struct err *err);
void store_thaw(struct store *s);
MUST_CHECK int store_begin(struct store *s, struct err *err);
MUST_CHECK int store_commit(struct store *s, struct err *err);
/* The same, but a store at network distance may not be done when this returns.  Whatever is read
 * or written next waits for it, and so does store_close(); only store_sent_start() and what is
 * gathered in memory do not.  If it fails, all that follows fails so, too, until
 * store_rollback(). */
MUST_CHECK int store_commit_start(struct store *s, struct err *err);
/* 1: none is under way; 0: one is, and we did not wait. */
MUST_CHECK int store_commit_done(struct store *s, bool wait, struct err *err);
void store_rollback(struct store *s);

/* For who waits for the network between his rows.  After store_gather() no batch is open;
 * changes of pages, captures, new headers, visits, hints and robots.txt are kept in memory,
 * and reads of them by number, id or name see them.  (Pages cannot be added.)
 * store_begin() opens a batch and leaves them where they are; store_write() writes them
 * into it, in as few calls as can be.  A capture whose second turns out to be taken is left
 * out with STORE_FIRST; visits and pages then do not name it.  store_rollback() drops all. */
void store_gather(struct store *s);
/* Change captures that wait, before they are written. */
typedef void store_waiting_each(void *arg, struct store_capture *c);
void store_waiting(struct store *s, store_waiting_each *each, void *arg);
MUST_CHECK int store_write(struct store *s, struct err *err);

/* Is each read of a row a round trip to another machine? */
bool store_is_far(const struct store *s);
/* What will be read soon: read all this at once and remember it.  After store_gather() a page
 * is remembered until a change of it is written, and is as it was at the batch before or later.
 * In a batch, where only a store that is far does anything, pages and their newest copies are
 * remembered to its end; sites and origins are not looked at. */
MUST_CHECK int store_foresee(struct store *s, const struct store_ahead *want, struct err *err);

/* ---- pages ---- */

/* Streams and reads by array call each(arg, row) until it returns non-zero, which they
 * return. */
typedef int store_page_each(void *arg, const struct store_page *p, struct err *err);

/* Add pages whose URL is not known, with all their fields.  rows[i].number is set either
 * way, and ret_new[i] says whether the page is new.  Of equal URLs the first is.  Numbers
 * are drawn in the order of the rows. */
MUST_CHECK int store_pages_add(struct store *s, struct store_page *rows, size_t n,
                               bool *ret_new, struct err *err);
/* Numbers of URLs; STORE_NONE: not there. */
MUST_CHECK int store_pages_find(struct store *s, const struct text *urls, size_t n,
                                uint32_t *ret_numbers, struct err *err);
/* In the order of the numbers; those that are not there are left out. */
MUST_CHECK int store_pages_get(struct store *s, const uint32_t *numbers, size_t n,
                               store_page_each *each, void *arg, struct err *err);
MUST_CHECK int store_pages_change(struct store *s, const struct store_page_change *rows,
                                  size_t n, struct err *err);
/* All, by number, from this one on. */
MUST_CHECK int store_pages(struct store *s, uint32_t from, store_page_each *each, void *arg,
                           struct err *err);
/* All, with url, added, last_visit, state, weight and care; other fields may be zero. */
MUST_CHECK int store_pages_brief(struct store *, store_page_each *, void *arg, struct err *);
/* Those that were touched, by number. */
MUST_CHECK int store_pages_touched(struct store *s, store_page_each *each, void *arg,
                                   struct err *err);

/* One page.  1: new, 0: known; returns its number either way. */
MUST_CHECK int store_page_add(struct store *s, struct text url, int64_t added,
                              uint32_t *ret_number, struct err *err);
/* 1: found; 0: not there. */
MUST_CHECK int store_page_find(struct store *s, struct text url, struct store_page *ret,
                               struct err *err);
MUST_CHECK int store_page_get(struct store *s, uint32_t number, struct store_page *ret,
                              struct err *err);
/* Write what differs between the page as it was got and as it is now: counters by their
 * difference.  url, given and added never change; store_care_put() changes care. */
MUST_CHECK int store_page_update(struct store *s, const struct store_page *was,
                                 const struct store_page *now, struct err *err);
/* The change that store_page_update() writes. */
struct store_page_change store_page_diff(const struct store_page *was,
                                         const struct store_page *now);
/* Set the weight of a page: 0 to STORE_WEIGHT_MAX. */
MUST_CHECK int store_page_weigh(struct store *s, uint32_t number, double weight,
                                struct err *err);
/* How the user wrote the URL of a page.  The first way that differs from url, which is its
 * canonical form, stays; one longer than any URL is not kept. */
MUST_CHECK int store_page_given(struct store *s, uint32_t number, struct text url,
                                struct text given, struct err *err);

/* ---- captures ---- */

typedef int store_capture_each(void *arg, const struct store_capture *c, struct err *err);
typedef int store_linked_each(void *arg, const struct store_linked *c, struct err *err);
typedef int store_text_each(void *arg, uint32_t value, struct text text, struct err *err);

/* rows[i].id is set to the id of the row that was added or replaced; STORE_KNOWN: to 0.  A
 * row that is added and had an id keeps it: it was drawn by store_capture_ids().  Links and
 * terms equal to stored ones take no space. */
MUST_CHECK int store_captures_put(struct store *s, struct store_capture *rows, size_t n,
                                  enum store_second how, uint8_t *ret, struct err *err);
/* Draw n ids of captures, the first of which is returned.  They are never drawn again.
 * (Within a batch they share its fate.) */
MUST_CHECK int store_capture_ids(struct store *s, uint32_t n, uint64_t *ret, struct err *err);
/* In the order of the ids; those that are not there are left out. */
MUST_CHECK int store_captures_get(struct store *s, const uint64_t *ids, size_t n,
                                  store_capture_each *each, void *arg, struct err *err);
MUST_CHECK int store_captures_refresh(struct store *s, const struct store_headers *rows,
                                      size_t n, struct err *err);
/* Of these pages, or of all (pages == NULL), by page as they are named, then time. */
MUST_CHECK int store_captures(struct store *s, const uint32_t *pages, size_t n,
                              store_capture_each *each, void *arg, struct err *err);
/* All, by id, with what links, terms and sizes are read from.  The texts of links come by
 * store_links(), those of terms by store_terms(): those whose keys are in a map, in no order,
 * each with its value there. */
MUST_CHECK int store_captures_linked(struct store *s, store_linked_each *each, void *arg,
                                     struct err *err);
MUST_CHECK int store_links(struct store *s, const struct map *keys, store_text_each *each,
                           void *arg, struct err *err);
MUST_CHECK int store_terms(struct store *s, const struct map *keys, store_text_each *each,
                           void *arg, struct err *err);
/* Those with a higher id, by id: what was added since, if the highest was remembered. */
MUST_CHECK int store_captures_since(struct store *s, uint64_t id, store_capture_each *each,
                                    void *arg, struct err *err);

/* Captures go or move in a batch before others are put.
 * Delete captures, and raise store_past().  Visits keep the ids of theirs, which are never
 * drawn again.  Pages must not name one as their newest. */
MUST_CHECK int store_captures_drop(struct store *s, const uint64_t *ids, size_t n,
                                   struct err *err);
MUST_CHECK int store_captures_move(struct store *s, const struct store_moved *rows, size_t n,
                                   struct err *err);
/* The WARC files that captures lie in, or lay in; worker.s == NULL: of this repository. */
typedef int store_file_each(void *arg, struct text worker, struct text name, struct err *err);
MUST_CHECK int store_files(struct store *s, store_file_each *each, void *arg, struct err *err);
/* Forget a file that has no capture any more. */
MUST_CHECK int store_file_drop(struct store *s, struct text worker, struct text name,
                               struct err *err);
/* Those that another shard of a fleet names, too: one of both was split from the other. */
MUST_CHECK int store_files_shared(struct store *s, store_file_each *each, void *arg,
                                  struct err *err);
/* Forget such a file, which has no capture of this shard any more, if another shard still names it.
 * *ret_last: none does; it stays known, and the caller may delete it.  Of two shards that do this at
 * the same moment one is the last.  Not within a batch. */
MUST_CHECK int store_file_leave(struct store *s, struct text worker, struct text name,
                                bool *ret_last, struct err *err);
/* What was committed survives a crash of the machine, too. */
MUST_CHECK int store_sync(struct store *s, struct err *err);
/* What is committed goes into a log first, and into the tables later: usually by the commit after
 * which the log is long enough, which then takes long.  A handle that must answer quickly leaves
 * that to another one, which carries the log over every few seconds (and must; beyond two
 * gigabytes the first does it again).  The log begins anew when nothing is left of it, unless a
 * handle is frozen in it; who writes then waits for the disk. */
void store_leave_log(struct store *s);
/* Keep at most so many bytes of the tables in memory, about; 128 MiB if not said.  They fill up as
 * the tables grow, so a program that stays says what it can spare. */
void store_cache(struct store *s, uint64_t bytes);
struct store_log { uint64_t bytes, left; };     /* of it; that are not in the tables yet */
MUST_CHECK int store_carry_log(struct store *s, struct store_log *ret, struct err *err);
/* Delete what no row refers to (links and words of captures that were dropped); `whole`:
 * also give the space back to the disk, which needs as much again for a while.  Not within
 * a batch. */
MUST_CHECK int store_tidy(struct store *s, bool whole, struct err *err);

/* From high to low: a page (200 or 203), a revisit, a redirect, a page that is gone, any
 * other answer.  Among equals the first is kept. */
unsigned store_capture_rank(int status, bool revisit);
/* One capture, with STORE_FIRST, or as told; returns what came of it. */
MUST_CHECK int store_capture_add(struct store *s, struct store_capture *c, struct err *err);
MUST_CHECK int store_capture_put(struct store *s, struct store_capture *c,
                                 enum store_second how, struct err *err);
MUST_CHECK int store_capture_get(struct store *s, uint64_t id, struct store_capture *ret,
                                 struct err *err);
/* The same without its links and terms, which may be long. */
MUST_CHECK int store_copy_get(struct store *s, uint64_t id, struct store_capture *ret,
                              struct err *err);

/* ---- visits ---- */

typedef int store_visit_each(void *arg, const struct store_visit *v, struct err *err);

MUST_CHECK int store_visits_add(struct store *s, const struct store_visit *rows, size_t n,
                                struct err *err);
/* Delete the imported visits (cycle 0) of pages. */
MUST_CHECK int store_visits_forget(struct store *s, const uint32_t *pages, size_t n,
                                   struct err *err);
/* Visits in cycles >= from and < to; by cycle, then order. */
MUST_CHECK int store_visits(struct store *s, uint32_t from, uint32_t to,
                            store_visit_each *each, void *arg, struct err *err);
/* Of them those that found a page new, changed or gone.  The others are not read. */
MUST_CHECK int store_visits_found(struct store *s, uint32_t from, uint32_t to,
                                  store_visit_each *each, void *arg, struct err *err);
/* The visits of these pages: by page as they are named, then cycle and order. */
MUST_CHECK int store_visits_of(struct store *s, const uint32_t *pages, size_t n, uint32_t from,
                               uint32_t to, store_visit_each *each, void *arg,
                               struct err *err);
MUST_CHECK int store_visit_add(struct store *s, const struct store_visit *v, struct err *err);
/* Raised whenever the past changes: visits of imported history come or go, or something is
 * added to a cycle that is not the newest.  What was learnt from cycles before the newest
 * holds as long as this is the same. */
MUST_CHECK int store_past(struct store *s, uint64_t *ret, struct err *err);
/* Raise it: something else of the past has changed, such as a capture of an earlier time. */
MUST_CHECK int store_past_raise(struct store *s, struct err *err);
/* A number that is another one after somebody else has written to the store, and the same
 * after we have; 0: that cannot be told. */
MUST_CHECK int store_others(struct store *s, uint64_t *ret, struct err *err);

/* ---- cycles ---- */

typedef int store_cycle_each(void *arg, const struct store_cycle *c, struct err *err);
typedef int store_round_each(void *arg, uint32_t number, uint32_t after, struct err *err);
typedef int store_lease_each(void *arg, const struct store_lease *l, struct err *err);
typedef int store_sent_each(void *arg, const struct store_sent *sent, struct err *err);

/* Insert or replace by number. */
MUST_CHECK int store_cycle_put(struct store *s, const struct store_cycle *c, struct err *err);
/* From this number on; the newest only: STORE_NEWEST. */
#define STORE_NEWEST UINT32_MAX
MUST_CHECK int store_cycles(struct store *s, uint32_t from, store_cycle_each *each, void *arg,
                            struct err *err);
/* The rounds of a cycle, numbered from 1.  after[i]: events (answers told, offers given
 * back, offers lapsed) before the round first + i was planned. */
MUST_CHECK int store_rounds_add(struct store *s, uint32_t cycle, uint32_t first,
                                const uint32_t *after, size_t n, struct err *err);
MUST_CHECK int store_rounds(struct store *s, uint32_t cycle, store_round_each *each, void *arg,
                            struct err *err);
/* Insert or replace by cycle and place; scan a cycle by place; delete those of all cycles
 * but one. */
MUST_CHECK int store_leases_put(struct store *s, const struct store_lease *rows, size_t n,
                                struct err *err);
MUST_CHECK int store_leases(struct store *s, uint32_t cycle, store_lease_each *each, void *arg,
                            struct err *err);
MUST_CHECK int store_leases_forget(struct store *s, uint32_t but_cycle, struct err *err);
/* The journal of requests.  An entry is safe when store_sent_add() returns, whatever
 * becomes of the open batch.  So after a crash the next run knows which pages were
 * requested. store_sent() reads in the order written and ignores an unfinished last
 * entry; store_sent_clear() deletes all. */
MUST_CHECK int store_sent_add(struct store *s, const struct store_sent *sent, size_t n,
                              struct err *err);
/* The same for who has something else to do meanwhile: entries are under way after
 * store_sent_start(), and safe when store_sent_done() returns 1 (0: not yet; with `wait` it does
 * not return before).  A start waits for those before. */
MUST_CHECK int store_sent_start(struct store *s, const struct store_sent *sent, size_t n,
                                struct err *err);
MUST_CHECK int store_sent_done(struct store *s, bool wait, struct err *err);
MUST_CHECK int store_sent(struct store *s, store_sent_each *each, void *arg, struct err *err);
MUST_CHECK int store_sent_clear(struct store *s, struct err *err);

/* ---- care and tags ---- */

typedef int store_care_each(void *arg, const struct store_care *c, struct err *err);
typedef int store_tag_each(void *arg, struct text tag, uint64_t n_pages, struct err *err);
typedef int store_tagged_each(void *arg, uint32_t page, struct err *err);

/* Set the care of n pages (page and care of each row are used), and log what is new. */
MUST_CHECK int store_care_put(struct store *s, const struct store_care *rows, size_t n,
                              int64_t time, struct err *err);
/* What was logged of one page, or of all (STORE_NONE), with `cycle` >= from and < to; in the
 * order it happened. */
MUST_CHECK int store_care_log(struct store *s, uint32_t page, uint32_t from, uint32_t to,
                              store_care_each *each, void *arg, struct err *err);
/* Give n pages a tag, or (on false) take it away. */
MUST_CHECK int store_tag_put(struct store *s, struct text tag, const uint32_t *pages, size_t n,
                             bool on, struct err *err);
/* The tags of a page, or all of them (STORE_NONE) with how many pages each has. */
MUST_CHECK int store_tags(struct store *s, uint32_t page, store_tag_each *each, void *arg,
                          struct err *err);
/* The numbers of the pages that have a tag, in ascending order. */
MUST_CHECK int store_tagged(struct store *s, struct text tag, store_tagged_each *each,
                            void *arg, struct err *err);

/* ---- settings and state ---- */

typedef int store_setting_each(void *arg, const char *key, const char *value, struct err *err);

/* What the user has set, for the whole repository.  value == NULL removes. */
MUST_CHECK int store_setting_put(struct store *s, const char *key, const char *value,
                                 struct err *err);
/* 1: found, in a new string; 0: not set. */
MUST_CHECK int store_setting_get(struct store *s, const char *key, char **ret, struct err *err);
MUST_CHECK int store_settings(struct store *s, store_setting_each *each, void *arg,
                              struct err *err);
/* What the program has to remember: of the pages that belong together (a shard: here all of
 * them), of the worker (the archive file that it has open), or of the whole fleet, whichever
 * shard this is (it lies with shard 0; without a fleet it is the shard's).  Values are texts. */
enum store_owner { STORE_OF_SHARD, STORE_OF_WORKER, STORE_OF_FLEET };
MUST_CHECK int store_state_put(struct store *s, enum store_owner owner, const char *key,
                               const char *value, struct err *err);
MUST_CHECK int store_state_get(struct store *s, enum store_owner owner, const char *key,
                               char **ret, struct err *err);
MUST_CHECK int store_states(struct store *s, enum store_owner owner, store_setting_each *each,
                            void *arg, struct err *err);

/* ---- sites and words ---- */

typedef int store_hint_each(void *arg, struct text site, const struct store_hint *h,
                            struct err *err);
typedef int store_robots_each(void *arg, const struct store_robots *r, struct err *err);
typedef int store_word_each(void *arg, uint32_t number, struct text word, struct err *err);

/* The trust in the dates of sites.  Nothing known: all zero. */
MUST_CHECK int store_hints_get(struct store *s, const struct text *sites, size_t n,
                               struct store_hint *ret, struct err *err);
MUST_CHECK int store_hints_change(struct store *s, const struct store_hint_change *rows,
                                  size_t n, struct err *err);
MUST_CHECK int store_hints(struct store *s, store_hint_each *each, void *arg,
                           struct err *err);
MUST_CHECK int store_hint_get(struct store *s, struct text site, struct store_hint *ret,
                              struct err *err);
/* Write what differs, as store_page_update() does. */
MUST_CHECK int store_hint_update(struct store *s, struct text site,
                                 const struct store_hint *was, const struct store_hint *now,
                                 struct err *err);
MUST_CHECK int store_robots_put(struct store *s, const struct store_robots *rows, size_t n,
                                struct err *err);
/* Of these origins, or of all (origins == NULL); those not there are left out. */
MUST_CHECK int store_robots(struct store *s, const struct text *origins, size_t n,
                            store_robots_each *each, void *arg, struct err *err);
/* 1: found, its texts are valid until the next get; 0: not there. */
MUST_CHECK int store_robots_get(struct store *s, struct text origin, struct store_robots *ret,
                                struct err *err);
/* Bytes of all their bodies. */
MUST_CHECK int store_robots_size(struct store *s, uint64_t *ret, struct err *err);
/* Delete those last tried before this time. */
MUST_CHECK int store_robots_forget(struct store *s, int64_t before, struct err *err);
/* The words that the numbers in `terms` stand for: dense, from 0.  A word never changes.
 * words[i] gets the number first + i. */
MUST_CHECK int store_words_add(struct store *s, uint32_t first, const struct text *words,
                               size_t n, struct err *err);
MUST_CHECK int store_words(struct store *s, uint32_t from, store_word_each *each, void *arg,
                           struct err *err);    /* from this number on */

/* What is there; kept up to date by who writes, so that nothing large is read. */
MUST_CHECK int store_count(struct store *s, struct store_counts *ret, struct err *err);

/* All tables as they are at one moment, into a new file that can be opened as a store; it is
 * on the disk when this returns.  E_USAGE: this database has tools of its own for that.  The
 * store must be open for reading.  each: parts done, of all; non-zero stops. */
typedef int store_backup_each(void *arg, uint64_t done, uint64_t total);
MUST_CHECK int store_backup(struct store *s, const char *to, store_backup_each *each,
                            void *arg, struct err *err);

/* ---- checking ---- */

/* Something that is wrong in the tables. */
struct store_problem {
	const char *table;              /* "": the database itself */
	const char *text;               /* which row, and what is wrong with it */
	const char *was;                /* what would change, as JSON; NULL: it cannot be mended */
};
/* 1: mend it.  A row that makes no sense is taken out of its table, a reference to what is
 * not there becomes none; `was` is all that is left of it.  0: leave it. */
typedef int store_problem_each(void *arg, const struct store_problem *p, struct err *err);
/* Check the database itself, what its texts and keys hash to, references that no other call
 * shows (texts, files, tags), and each row of all tables but pages, captures and visits.  For
 * these three, whoever reads them calls store_check_row() when that fails. */
MUST_CHECK int store_check(struct store *s, store_problem_each *each, void *arg,
                           struct err *err);
/* Reading a table ended with E_STORE and `why`.  1: the row is gone, read again; 0: it is
 * left.  Mending needs a store that is open for writing, and no batch or frozen moment. */
MUST_CHECK int store_check_row(struct store *s, const char *table, const struct err *why,
                               store_problem_each *each, void *arg, struct err *err);

#endif
