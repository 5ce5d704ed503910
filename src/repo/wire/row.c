/* SPDX-License-Identifier: Apache-2.0 */
/* row.c - see row.h. */
#include "repo/wire/row.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/when.h"
#include "repo/wire/args.h"
#include "web/url/url.h"

/* A whole number of 1 (bool), 2, 4 or 8 bytes, the highest first. */
static int64_t number(const struct pg_row *r, int column)
{
	const unsigned char *p = (const unsigned char *)PQgetvalue(r->r, r->i, column);
	int size = PQgetlength(r->r, r->i, column);
	uint64_t v = 0;

	for (int i = 0; i < size && i < 8; i++)
		v = v << 8 | p[i];
	return size == 2 ? (int16_t)v : size == 4 ? (int32_t)v : (int64_t)v;
}

static double real(const struct pg_row *r, int column)
{
	uint64_t bits = (uint64_t)number(r, column);
	uint32_t low = (uint32_t)bits;
	double v;
	float f;

	if (PQgetlength(r->r, r->i, column) == 4) {
		memcpy(&f, &low, sizeof f);
		return (double)f;
	}
	memcpy(&v, &bits, sizeof v);
	return v;
}

#define OID_BOOL 16
#define OID_INT8 20
#define OID_INT2 21
#define OID_INT4 23
#define OID_FLOAT4 700
#define OID_FLOAT8 701

/* The cell for a message. */
static const char *shown(const struct pg_row *r, int column, char *out, size_t size)
{
	char text[80];

	if (PQgetisnull(r->r, r->i, column))
		return "nothing";
	switch (PQftype(r->r, column)) {
	case OID_BOOL: case OID_INT2: case OID_INT4: case OID_INT8:
		snprintf(out, size, "%lld", (long long)number(r, column));
		break;
	case OID_FLOAT4: case OID_FLOAT8:
		snprintf(out, size, "%g", real(r, column));
		break;
	default:
		log_quote(PQgetvalue(r->r, r->i, column), (size_t)PQgetlength(r->r, r->i, column),
		          text, sizeof text);
		snprintf(out, size, "'%s'", text);
	}
	return out;
}

void pg_row_bad(struct pg_row *r, int column, const char *wanted)
{
	char key[100], value[100];

	if (r->rc < 0)
		return;
	r->rc = err_set(r->err, E_STORE, "%.200s: table %s, row %s, column %s: %s is no %s: "
	                "damaged, or not made by freshet; restore a backup", r->where, r->table,
	                shown(r, r->key_column, key, sizeof key), PQfname(r->r, column),
	                shown(r, column, value, sizeof value), wanted);
}

bool pg_row_null(const struct pg_row *r, int column)
{
	return PQgetisnull(r->r, r->i, column);
}

int64_t pg_row_int(struct pg_row *r, int column, int64_t min, int64_t max, const char *wanted)
{
	int64_t v = number(r, column);          /* of NULL it is 0 */

	if (v >= min && v <= max && (r->null_is_zero || !pg_row_null(r, column)))
		return v;
	pg_row_bad(r, column, wanted);
	return min;
}

int64_t pg_row_any(struct pg_row *r, int column)
{
	return pg_row_int(r, column, INT64_MIN, INT64_MAX, "whole number");
}

int64_t pg_row_size(struct pg_row *r, int column)
{
	return pg_row_null(r, column) ? -1 : pg_row_int(r, column, 0, INT64_MAX, "size");
}

uint32_t pg_row_count(struct pg_row *r, int column)
{
	return (uint32_t)pg_row_int(r, column, 0, UINT32_MAX, "count");
}

bool pg_row_flag(struct pg_row *r, int column)
{
	return pg_row_int(r, column, 0, 1, "yes or no") != 0;
}

uint64_t pg_row_id(struct pg_row *r, int column)
{
	return (uint64_t)pg_row_int(r, column, 0, INT64_MAX, "number of a row");
}

int64_t pg_row_time(struct pg_row *r, int column)
{
	return pg_row_int(r, column, WHEN_MIN, WHEN_MAX, "time");
}

int32_t pg_row_status(struct pg_row *r, int column)
{
	return (int32_t)pg_row_int(r, column, INT32_MIN, INT32_MAX, "HTTP status");
}

uint32_t pg_row_page(struct pg_row *r, int column)
{
	return (uint32_t)pg_row_int(r, column, 0, r->n_pages - 1, "page that there is");
}

double pg_row_real(struct pg_row *r, int column, double min, double max, const char *wanted)
{
	double v = real(r, column);

	if (!pg_row_null(r, column) && isfinite(v) && v >= min && v <= max)
		return v;
	pg_row_bad(r, column, wanted);
	return min;
}

/* Another crawler may tell any score. */
float pg_row_score(struct pg_row *r, int column)
{
	double v = real(r, column);

	return pg_row_null(r, column) || !(fabs(v) <= (double)FLT_MAX) ? NAN : (float)v;
}

float pg_row_chance(struct pg_row *r, int column)
{
	float v = pg_row_score(r, column);

	if (v < 0 || v > 1.001f)        /* a sum may exceed 1 by rounding */
		pg_row_bad(r, column, "probability");
	return v > 1 ? 1 : v;
}

struct text pg_row_bytes(struct pg_row *r, int column)
{
	if (pg_row_null(r, column))
		return (struct text){ 0 };
	return (struct text){ PQgetvalue(r->r, r->i, column),
	                      (size_t)PQgetlength(r->r, r->i, column) };
}

struct text pg_row_text_or_null(struct pg_row *r, int column)
{
	struct text t = pg_row_bytes(r, column);

	return t.s ? pg_text_in(t, r->room) : t;
}

struct text pg_row_text(struct pg_row *r, int column)
{
	struct text t = pg_row_text_or_null(r, column);

	if (!t.s) {
		pg_row_bad(r, column, "text");
		t = (struct text){ "", 0 };
	}
	return t;
}

struct text pg_row_url_or_null(struct pg_row *r, int column)
{
	struct text t = pg_row_text_or_null(r, column);

	if (t.s && !url_is_canonical(t.s, t.size)) {
		pg_row_bad(r, column, "canonical URL");
		return (struct text){ 0 };
	}
	return t;
}

struct text pg_row_url(struct pg_row *r, int column)
{
	struct text t = pg_row_url_or_null(r, column);

	if (!t.s)
		pg_row_bad(r, column, "canonical URL");
	return t;
}
