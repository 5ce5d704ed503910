/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.c - check every cell of a row before it is used.
 *
 * SQLite allows any value in any cell, and a repository may come from anywhere.  Code
 * above the store relies on numbers in their range, pages that exist, times that can be
 * formatted, and canonical URLs.  A cell that breaks this ends the scan with E_STORE; the
 * message names table, row and column.
 */
#include "repo/sqlite/store_sqlite.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/when.h"
#include "web/url/url.h"

static const char *const type_names[] = {
	[SQLITE_INTEGER] = "a number", [SQLITE_FLOAT] = "a fraction", [SQLITE_TEXT] = "a text",
	[SQLITE_BLOB] = "bytes", [SQLITE_NULL] = "nothing",
};

/* The value of the cell, for a message. */
static const char *shown(struct sql_row *r, int column, char *out, size_t size)
{
	int type = sqlite3_column_type(r->q, column);
	char text[80];

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_TEXT)
		return type_names[type];
	log_quote((const char *)sqlite3_column_text(r->q, column),
	          (size_t)sqlite3_column_bytes(r->q, column), text, sizeof text);
	snprintf(out, size, type == SQLITE_TEXT ? "'%s'" : "%s", text);
	return out;
}

void sql_row_bad(struct sql_row *r, int column, const char *wanted)
{
	char key[100], value[100];

	if (r->rc < 0)
		return;
	sqlite_bad_row_note(r);
	if (r->key.s)
		log_quote(r->key.s, r->key.size, key, sizeof key);
	else
		log_quote((const char *)sqlite3_column_text(r->q, r->key_column),
		          (size_t)sqlite3_column_bytes(r->q, r->key_column), key, sizeof key);
	r->rc = err_set(r->err, E_STORE, "%.200s: table %s, row %s, column %s: %s is no %s: "
	                "damaged, or not made by freshet; restore a backup", r->s->path, r->table,
	                key, sqlite3_column_name(r->q, column),
	                shown(r, column, value, sizeof value), wanted);
}

int64_t sql_int(struct sql_row *r, int column, int64_t min, int64_t max, const char *wanted)
{
	int64_t v = sqlite3_column_int64(r->q, column);

	if (sqlite3_column_type(r->q, column) == SQLITE_INTEGER && v >= min && v <= max)
		return v;
	sql_row_bad(r, column, wanted);
	return min;
}

int64_t sql_any(struct sql_row *r, int column)
{
	return sql_int(r, column, INT64_MIN, INT64_MAX, "whole number");
}

int64_t sql_size(struct sql_row *r, int column)
{
	return sqlite3_column_type(r->q, column) == SQLITE_NULL ? -1 :
	       sql_int(r, column, 0, INT64_MAX, "size");
}

uint32_t sql_count(struct sql_row *r, int column)
{
	return (uint32_t)sql_int(r, column, 0, UINT32_MAX, "count");
}

bool sql_flag(struct sql_row *r, int column)
{
	return sql_int(r, column, 0, 1, "yes or no (1 or 0)") != 0;
}

uint64_t sql_id(struct sql_row *r, int column)
{
	return (uint64_t)sql_int(r, column, 0, INT64_MAX, "number of a row");
}

int64_t sql_time(struct sql_row *r, int column)
{
	return sql_int(r, column, WHEN_MIN, WHEN_MAX, "time");
}

int32_t sql_status(struct sql_row *r, int column)
{
	return (int32_t)sql_int(r, column, INT32_MIN, INT32_MAX, "HTTP status");
}

uint32_t sql_page(struct sql_row *r, int column)
{
	if (r->n_pages < 0 && r->rc == 0)
		r->rc = sqlite_last_page(r->s, &r->n_pages, r->err);
	if (r->rc < 0)
		return 0;
	return (uint32_t)sql_int(r, column, 0, r->n_pages - 1, "page that there is");
}

double sql_real(struct sql_row *r, int column)
{
	int type = sqlite3_column_type(r->q, column);
	double v = sqlite3_column_double(r->q, column);

	if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(v))
		return v;
	sql_row_bad(r, column, "number");
	return 0;
}

double sql_weight(struct sql_row *r, int column)
{
	double v = sql_real(r, column);

	if (v < 0 || v > STORE_WEIGHT_MAX)
		sql_row_bad(r, column, "weight");
	return v;
}

/* Another crawler may tell any score. */
float sql_score(struct sql_row *r, int column)
{
	int type = sqlite3_column_type(r->q, column);
	double v = sqlite3_column_double(r->q, column);

	if (type == SQLITE_TEXT || type == SQLITE_BLOB)
		sql_row_bad(r, column, "score");
	return type == SQLITE_NULL || !(fabs(v) <= (double)FLT_MAX) ? NAN : (float)v;
}

float sql_chance(struct sql_row *r, int column)
{
	float v = sql_score(r, column);

	if (v < 0 || v > 1.001f)        /* a sum may exceed 1 by rounding */
		sql_row_bad(r, column, "probability");
	return v > 1 ? 1 : v;
}

struct text sql_text_or_null(struct sql_row *r, int column)
{
	int type = sqlite3_column_type(r->q, column);

	if (type == SQLITE_TEXT)
		return sql_text(r->q, column);
	if (type != SQLITE_NULL)
		sql_row_bad(r, column, "text");
	return (struct text){ 0 };
}

struct text sql_text_there(struct sql_row *r, int column)
{
	struct text t = sql_text_or_null(r, column);

	if (!t.s)
		sql_row_bad(r, column, "text");
	return t;
}

struct text sql_url_or_null(struct sql_row *r, int column)
{
	struct text t = sql_text_or_null(r, column);

	if (t.s && !url_is_canonical(t.s, t.size)) {
		sql_row_bad(r, column, "canonical URL");
		return (struct text){ 0 };
	}
	return t;
}

struct text sql_url(struct sql_row *r, int column)
{
	struct text t = sql_url_or_null(r, column);

	if (!t.s)
		sql_row_bad(r, column, "canonical URL");
	return t;
}
