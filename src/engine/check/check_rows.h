/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rows.h - what the rows of captures say of their records, read in windows: the captures
 * of a file are asked for in the order of their records.
 */
#ifndef ENGINE_CHECK_CHECK_ROWS_H
#define ENGINE_CHECK_CHECK_ROWS_H

#include "engine/check/check.h"

#define CHECK_WINDOW 1000       /* captures whose rows are read at a time */

struct check_row { struct store_capture capture; struct text url; bool there; };

struct check_rows {
	struct store *store;
	const struct check_capture *v;  /* the captures of a file */
	size_t n;
	/* private: rows of v[first..first + n_read) */
	struct check_row *rows;
	size_t first, n_read, filling;
	struct arena texts;
	struct map urls;                /* page number -> url_of */
	VEC(struct text) url_of;
};

/* Go on with the captures of another file. */
void check_rows_begin(struct check_rows *r, const struct check_capture *v, size_t n);
/* The row of v[i]; it is valid until the next call. */
MUST_CHECK int check_rows_get(struct check_rows *r, size_t i, const struct check_row **ret,
                              struct err *err);
void check_rows_release(struct check_rows *r);

#endif
