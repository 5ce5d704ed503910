/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.h - old copies go: which captures stay, and the archive files that they leave.
 *
 * Two steps, each of which can be broken off anywhere and begun again:
 * - rows: captures that need not stay are deleted from the tables, some pages a batch.  Visits
 *   stay, so policies know what they knew;
 * - files (sweep.c, anew.c): an archive file without a capture is deleted; one that is mostly unused
 *   is written anew without the records that no capture names (rewrite.c).
 * A file is touched only if Freshet wrote it (its name says so) and it lies in the folder
 * `warc` of the repository.  Archives that were imported from elsewhere are never touched.
 *
 * The caller holds the lock of the store (engine/book/lock.h).
 *
 * A fleet's files lie in the folders of its workers, so only those that are on this machine are
 * touched.  After a split two shards may name one file.  Each has its part of it written anew, into
 * its own folder; then it names the file no more (store_file_leave()), and the last deletes it.
 */
#ifndef ENGINE_PRUNE_PRUNE_H
#define ENGINE_PRUNE_PRUNE_H

#include "base/map.h"
#include "repo/store.h"

/* ---- which captures stay ---- */

/*
 * A capture stays if one of the two rules keeps it.  Whatever they say, of each page there stay:
 * the newest good copy, the newest capture of any kind, and the copy that a kept revisit says
 * is unchanged.
 */
struct prune_rule {
	int64_t since;          /* keeps captures from then on, and the copy that was true then;
	                         * INT64_MAX: this rule keeps nothing */
	uint32_t versions;      /* keeps so many copies, and what was captured after the oldest of
	                         * them; 0: this rule keeps nothing */
};

struct prune_capture {
	uint64_t id;
	int64_t time;
	uint64_t digest;        /* hash of it; 0: not known */
	bool revisit;           /* or a 304 without content */
	bool copy;              /* it has the content of the page */
	bool keep;              /* the result */
};

/* Captures of one page, by time; newest: pages.capture. */
void prune_choose(const struct prune_rule *rule, struct prune_capture *c, size_t n,
                  uint64_t newest);

/* ---- pruning ---- */

struct prune {
	struct store *store;
	const char *folder;             /* of the repository */
	/* Of a fleet: whose files (the store is open in its name), and where what is written anew
	 * goes: warc/WORKER/shard-K.  NULL: files in warc/ itself. */
	const char *worker;
	int32_t shard;
	bool fleet;                     /* a file that is not there may be elsewhere */
	struct prune_rule rule;
	const uint32_t *pages;          /* only these, ascending; NULL: all */
	size_t n_pages;
	bool dry_run;
	int64_t now;
	/* Called for a file that is left as it is, with the reason; may be NULL. */
	void (*report)(void *arg, const char *text);
	/* Called before each step that could be the last; for tests.  May be NULL. */
	void (*step)(void *arg, const char *what);
	void *arg;
	/* what came of it */
	uint64_t n_captures, n_dropped; /* of the pages that were looked at */
	uint64_t n_thinned;             /* pages that lost one */
	uint64_t bytes_dropped;         /* of their records, in files of this repository */
	uint64_t files_deleted, files_rewritten, files_merged, files_left;
	uint64_t bytes_before, bytes_after;     /* of the archive files that are ours */
	uint64_t files_before, files_after;
	bool no_room;                   /* a file could not be written anew: the disk is full */
};

/* Delete rows, then sweep the files. */
MUST_CHECK int prune_run(struct prune *p, struct err *err);
/* The parts of it: delete rows; delete files that no capture lies in (sweep_run() does, too). */
MUST_CHECK int prune_rows(struct prune *p, struct err *err);
MUST_CHECK int prune_unused(struct prune *p, struct err *err);
/* Merge small files; the records stay as they are. */
MUST_CHECK int prune_merge(struct prune *p, struct err *err);

/* ---- places.c ---- */

/* Of a fleet: whose folders are in warc/, and all archive files there. */
struct prune_places { struct strtab workers; uint64_t files, bytes; };
MUST_CHECK int prune_places(struct prune_places *ret, const char *folder, struct err *err);
void prune_places_release(struct prune_places *p);

/* ---- anew.c ---- */

/* Delete files without a capture, write anew those that are mostly unused. */
MUST_CHECK int sweep_run(struct prune *p, struct err *err);

/* ---- rewrite.c ---- */

#define REWRITE_STATE "rewrite" /* state of the worker: the file that is being written anew */

/* Is this the name of an archive file that Freshet wrote? */
bool rewrite_is_ours(const char *name, size_t size);
/* Is it one that lies in the folder `warc` of this repository?  *ret, if wanted: its name there. */
bool rewrite_is_own(struct text worker, struct text name, struct text *ret);
/* Is it one that a worker of a fleet wrote: WORKER/shard-K/ and a name of ours? */
bool rewrite_is_workers(struct text worker, struct text name);
/* Undo what a crash left of a file that was being written anew.  A crawl begins with it. */
MUST_CHECK int rewrite_repair(struct store *s, const char *warc_folder, struct err *err);

#endif
