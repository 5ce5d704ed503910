/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - reads the cells of a result in binary form, and checks each before it is used.
 *
 * Others may write to the database, and code above the store relies on numbers in their
 * range, pages that exist, times that can be formatted, and canonical URLs.  A cell that
 * breaks this sets rc to E_STORE; the message names table, row and column.  The caller must
 * check rc before it uses the row.
 */
#ifndef REPO_WIRE_ROW_H
#define REPO_WIRE_ROW_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

struct pg_row {
	const PGresult *r;
	int i;                          /* row of the result */
	const char *table, *where;      /* for messages: where: of the target */
	int key_column;                 /* names the row in messages */
	bool null_is_zero;              /* in columns of whole numbers */
	int64_t n_pages;                /* pages that there are */
	struct arena *room;             /* for texts that are not stored as they are: args.h */
	int rc;
	struct err *err;
};

void pg_row_bad(struct pg_row *r, int column, const char *wanted);      /* "is no WANTED" */
bool pg_row_null(const struct pg_row *r, int column);
int64_t pg_row_int(struct pg_row *r, int column, int64_t min, int64_t max, const char *wanted);
int64_t pg_row_any(struct pg_row *r, int column);       /* whole number */
int64_t pg_row_size(struct pg_row *r, int column);      /* NULL: -1 */
uint32_t pg_row_count(struct pg_row *r, int column);
bool pg_row_flag(struct pg_row *r, int column);
uint64_t pg_row_id(struct pg_row *r, int column);
int64_t pg_row_time(struct pg_row *r, int column);
int32_t pg_row_status(struct pg_row *r, int column);
uint32_t pg_row_page(struct pg_row *r, int column);
double pg_row_real(struct pg_row *r, int column, double min, double max, const char *wanted);
float pg_row_score(struct pg_row *r, int column);       /* NAN: none */
float pg_row_chance(struct pg_row *r, int column);      /* NAN: none */
struct text pg_row_bytes(struct pg_row *r, int column);
struct text pg_row_text(struct pg_row *r, int column);
struct text pg_row_text_or_null(struct pg_row *r, int column);
struct text pg_row_url(struct pg_row *r, int column);   /* canonical */
struct text pg_row_url_or_null(struct pg_row *r, int column);

#endif
