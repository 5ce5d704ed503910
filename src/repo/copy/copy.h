/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - all rows of one store into another.
 *
 * It goes in batches, and the target remembers how far it came (state `copy`): the next
 * call goes on there.  At the end both are read through, and every table must have the same
 * rows: their numbers and a hash of all their fields are compared.
 */
#ifndef REPO_COPY_COPY_H
#define REPO_COPY_COPY_H

#include "repo/store.h"

enum copy_table {
	COPY_PAGES, COPY_CAPTURES, COPY_VISITS, COPY_CYCLES, COPY_ROUNDS, COPY_LEASES, COPY_CARE,
	COPY_TAGS, COPY_HINTS, COPY_ROBOTS, COPY_WORDS, COPY_SETTINGS, COPY_STATES, COPY_SENT,
	N_COPY_TABLES
};

const char *copy_table_name(enum copy_table t);

/* How many rows a table has, and a hash of them in their order. */
struct copy_digest { uint64_t rows, hash; };

#define COPY_STATE_KEY "copy"   /* of the target, while it is not whole */

struct copy_report {
	struct copy_digest tables[N_COPY_TABLES];       /* of both */
	bool resumed;
};

/* Rows so far, of all; non-zero stops. */
typedef int copy_progress(void *arg, uint64_t done, uint64_t total);

/* The source is open for reading: it is copied as it was at that moment, and only the journal
 * of requests as it is later.  The target must be empty, or hold a copy that was broken off.  E_STORE: afterwards they
 * differ, since the source was changed after the copy was begun. */
MUST_CHECK int copy_store(struct store *from, struct store *to, copy_progress *progress,
                          void *arg, struct copy_report *ret, struct err *err);
MUST_CHECK int copy_digest(struct store *s, struct copy_digest ret[N_COPY_TABLES],
                           struct err *err);

#endif
