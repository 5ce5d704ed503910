/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - is the repository whole?  `freshet check`.
 *
 * - tables (check_tables.c): the database itself, every row, and what rows say of each other;
 * - archives (check_files.c): every record of the files that Freshet wrote, and the record of
 *   every copy wherever it lies: it is the one that its row says, with its digests;
 * - the folder (check_folder.c): files that no row knows, what was left behind, the journal of
 *   requests, caches.
 *
 * Repair never deletes.  A row or reference that goes is first written to check-aside.jsonl
 * in the folder, which is on the disk before the tables change; a file gets ".aside" behind
 * its name.  What can only be had from a backup is left, and said.
 *
 * Others may work on the repository meanwhile, unless it is repaired.  What looks wrong is then
 * looked at again in the tables as they are now, and forgotten if they say otherwise.
 *
 * Memory: 32 bytes a capture, 9 a page.  Archives are read once, in order.
 */
#ifndef ENGINE_CHECK_CHECK_H
#define ENGINE_CHECK_CHECK_H

#include "base/io/progress.h"
#include "base/map.h"
#include "base/mem.h"
#include "repo/store.h"

enum check_kind {
	CHECK_TABLE,                    /* the database is damaged, or a row makes no sense */
	CHECK_REFERENCE,                /* a row names another that is not there, or not its own */
	CHECK_MISSING,                  /* an archive file that copies lie in is not there */
	CHECK_RECORD,                   /* the record of a copy is damaged, or another one */
	CHECK_ORPHAN,                   /* an archive file that no row knows */
	CHECK_JOURNAL,                  /* of requests: damaged */
	CHECK_CACHE,                    /* damaged */
	CHECK_LEFTOVER,                 /* of work that was broken off: the next start sees to it */
	N_CHECK_KINDS
};

enum check_state {
	CHECK_NOTE,                     /* nothing is wrong, but it is worth knowing */
	CHECK_WRONG,
	CHECK_MENDED,
	N_CHECK_STATES
};

const char *check_kind_name(enum check_kind k);
const char *check_state_name(enum check_state s);

#define CHECK_ASIDE "check-aside.jsonl"

/* A capture, and where its record lies. */
struct check_capture {
	uint64_t id;
	int64_t offset;                 /* -1: nowhere */
	uint32_t page, file;            /* file: in names; MAP_NONE: nowhere */
	uint32_t size;                  /* of the record; UINT32_MAX: not known, or larger */
};

struct check {
	struct store *store;            /* open for reading; to repair: for writing, and locked */
	const char *folder;             /* of the repository */
	bool repair;
	bool shared;                    /* other shards use the folder: files unknown are theirs */
	bool at_work;                   /* another program is at work: its files come and go */
	int64_t now;
	/* Open the store as it is now; the caller of check_run() closes it. */
	int (*look_again)(void *arg, struct store **ret, struct err *err);
	void (*found)(void *arg, enum check_kind k, enum check_state s, const char *text);
	void *arg;
	struct progress progress;
	/* what was looked at */
	uint64_t n_pages, n_captures, n_visits, n_cycles;
	uint64_t n_copies;              /* captures with a record of their own, */
	uint64_t n_read, n_lost, n_elsewhere;   /* read back; lost; with another worker */
	uint64_t n_outside;             /* things found about archives outside of the folder */
	uint64_t n_files, n_bytes, n_records;   /* of archives that were read through */
	uint64_t n_unused;              /* answers in them that no capture lies in */
	uint64_t n[N_CHECK_KINDS][N_CHECK_STATES];
	/* private to the room */
	struct store *fresh;            /* what look_again() gave, or NULL */
	VEC(struct check_capture) captures;
	struct strtab names;            /* of files: worker NUL name */
	int aside;                      /* descriptor of CHECK_ASIDE, or -1 */
};

/* Check, and repair if wanted.  0, whatever was found; negative: it could not be checked. */
MUST_CHECK int check_run(struct check *c, struct err *err);
void check_release(struct check *c);
uint64_t check_count(const struct check *c, enum check_state s);

/* ---- between the files of the room ---- */

__attribute__((format(printf, 4, 5)))
void check_found(struct check *c, enum check_kind k, enum check_state s, const char *fmt, ...);
/* A line of JSON for CHECK_ASIDE; on the disk when check_aside_sync() returns. */
MUST_CHECK int check_aside(struct check *c, const char *json, struct err *err);
MUST_CHECK int check_aside_sync(struct check *c, struct err *err);
/* The tables as they are now: opened at the first call. */
MUST_CHECK int check_look_again(struct check *c, struct store **ret, struct err *err);
MUST_CHECK int check_tables(struct check *c, struct err *err);
MUST_CHECK int check_files(struct check *c, struct err *err);
MUST_CHECK int check_folder(struct check *c, struct err *err);
/* The number of a file in names. */
uint32_t check_file_number(struct check *c, struct text worker, struct text name);

#endif
