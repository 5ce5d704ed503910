/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - makes the tables, and brings older ones up to date. */
#ifndef REPO_PG_SCHEMA_H
#define REPO_PG_SCHEMA_H

#include "base/buf.h"
#include "repo/wire/link.h"

#define PG_SCHEMA 6             /* version of the tables */

extern const char pg_schema_fleet[];    /* schema_fleet.c: the tables of the ledger */

/* Look at the version; bring the tables up to date.  make: if there are none, make them. */
int pg_schema_check(struct pg_link *l, bool make, struct err *err);
/* Bring the tables from a version (-1: none, -2: nor a schema) to another, each step in a
 * transaction.  For pg_schema_check(), and for tests that begin with old tables. */
int pg_schema_bring(struct pg_link *l, int version, int to, struct err *err);

/* The partition of `captures` or `visits` that holds this time: 0 to PG_PARTS - 1. */
#define PG_PART_FIRST 2000      /* a partition a year; what is older is together, */
#define PG_PART_LAST 2099       /* and so is what is newer */
#define PG_PARTS (PG_PART_LAST - PG_PART_FIRST + 3)
unsigned pg_schema_part(int64_t time);
void pg_schema_part_name(unsigned part, char out[8]);   /* before, 2026, after */
/* SQL that makes it, if it is not there. */
void pg_schema_part_make(struct buf *sql, const char *table, unsigned part);

#endif
