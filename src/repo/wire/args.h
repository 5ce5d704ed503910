/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - parameters of a statement, in PostgreSQL's binary form, and tables of them.
 *
 * A table of rows goes out as one array a column, so any number of rows is one statement:
 *
 *     INSERT INTO visits SELECT $1, u.* FROM unnest($2::int8[], $3::text[]) ...
 *
 * Many rows go out faster by COPY (two thirds of the processor time: bench_copy_pg), row by row
 * and each cell as wide as its column.  But libpq has no COPY in a pipeline, so that it costs
 * round trips of its own, and nothing can be computed from the cells.
 *
 * Texts come off the wire and may be any bytes, but PostgreSQL takes only UTF-8 without
 * NUL.  A byte that does not fit is written as a character U+F700 to U+F7FF, of the range
 * for private use, and so are the bytes of those characters themselves.  So each text comes
 * back as it was, and nearly all can be read as they are.
 */
#ifndef REPO_WIRE_ARGS_H
#define REPO_WIRE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define PG_ARGS_MAX 32

/* Parameters; zeroed, there are none. */
struct pg_args {
	int n;
	struct buf bytes;
	struct { size_t from; int size; } arg[PG_ARGS_MAX];     /* size -1: NULL */
};

void pg_args_int(struct pg_args *a, int64_t v);
void pg_args_real(struct pg_args *a, double v);
void pg_args_text(struct pg_args *a, struct text t);    /* t.s == NULL: NULL */
void pg_args_bytes(struct pg_args *a, struct text t);
void pg_args_clear(struct pg_args *a);                  /* keeps the memory */
void pg_args_release(struct pg_args *a);

/* Rows under way; zeroed, it is empty.  Cells are put from left to right. */
struct pg_rows {
	const char *types;              /* a letter a column: see below */
	struct buf column[PG_ARGS_MAX];
	bool nulls[PG_ARGS_MAX];
	int next;                       /* column */
	uint32_t n;
	size_t size;                    /* bytes */
};

/* Types: t text, b bytes; numbers, which an array has 8 bytes wide, and a COPY as wide as the
 * column is: i bigint, n int, s smallint, o boolean; r double precision, f real. */

void pg_rows_int(struct pg_rows *r, int64_t v);
void pg_rows_int_or_null(struct pg_rows *r, int64_t v, bool there);
void pg_rows_real(struct pg_rows *r, double v);         /* NAN: NULL */
void pg_rows_text(struct pg_rows *r, struct text t);
void pg_rows_bytes(struct pg_rows *r, struct text t);
/* Append the columns to the parameters, and empty the rows. */
void pg_rows_take(struct pg_rows *r, struct pg_args *a);
/* The same as one parameter: all that COPY ... (FORMAT binary) reads, with an int before each
 * row.  False, and nothing done: a number is too large for its column. */
bool pg_rows_copy(struct pg_rows *r, int32_t before, struct pg_args *a);
void pg_rows_clear(struct pg_rows *r);
void pg_rows_release(struct pg_rows *r);

/* The text as it is sent: itself, or written into `room`. */
struct text pg_text_out(struct text t, struct buf *room);
/* The text as it was: itself, or written into `room`, after what is there. */
struct text pg_text_in(struct text t, struct arena *room);

#endif
