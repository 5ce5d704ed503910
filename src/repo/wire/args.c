/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - see args.h. */
#include "repo/wire/args.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

#define ESCAPE 0xf700u          /* + the byte */

/* Types as PostgreSQL numbers them; they never change. */
#define OID_INT8 20
#define OID_FLOAT8 701
#define OID_TEXT 25
#define OID_BYTEA 17
#define ARRAY_HEAD 20           /* bytes before the first cell */

/* Numbers of a few bytes, the highest first. */
static void put32(struct buf *b, uint32_t v)
{
	v = htobe32(v);
	buf_add(b, &v, sizeof v);
}

static void put64(struct buf *b, uint64_t v)
{
	v = htobe64(v);
	buf_add(b, &v, sizeof v);
}

/* A cell of 8 bytes. */
static void put_cell(struct buf *b, uint64_t v)
{
	char c[12] = { 0, 0, 0, 8 };

	v = htobe64(v);
	memcpy(c + 4, &v, sizeof v);
	buf_add(b, c, sizeof c);
}

static uint64_t real_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

struct text pg_text_out(struct text t, struct buf *room)
{
	size_t i = 0, n;
	uint32_t c;

	while (i < t.size && (((unsigned char)(t.s[i] - 1) < 0x7f && (n = 1)) ||
	                      ((n = utf8_get(t.s + i, t.size - i, &c)) && c &&
	                       (c & ~0xffu) != ESCAPE)))
		i += n;
	if (i == t.size)
		return t;
	buf_clear(room);
	buf_add(room, t.s, i);
	while (i < t.size) {
		char out[UTF8_MAX];

		n = utf8_get(t.s + i, t.size - i, &c);
		if (n && c && (c & ~0xffu) != ESCAPE) {
			buf_add(room, t.s + i, n);
		} else {
			n = 1;
			buf_add(room, out, utf8_put(ESCAPE + (unsigned char)t.s[i], out));
		}
		i += n;
	}
	return (struct text){ room->data, room->size };
}

/* U+F700 to U+F7FF are the bytes EF 9C 80 to EF 9F BF. */
static bool is_escape(const unsigned char *p, const unsigned char *end)
{
	return end - p >= 3 && p[0] == 0xef && p[1] >= 0x9c && p[1] <= 0x9f;
}

struct text pg_text_in(struct text t, struct arena *room)
{
	const unsigned char *p = (const unsigned char *)t.s, *end = p + t.size;
	char *out, *to;

	for (; p && (p = memchr(p, 0xef, (size_t)(end - p))); p++)
		if (is_escape(p, end))
			break;
	if (!p)
		return t;
	to = out = arena_alloc(room, t.size + 1);
	for (p = (const unsigned char *)t.s; p < end; ) {
		if (is_escape(p, end)) {
			*to++ = (char)((p[1] & 3) << 6 | (p[2] & 63));
			p += 3;
		} else {
			*to++ = (char)*p++;
		}
	}
	*to = '\0';
	return (struct text){ out, (size_t)(to - out) };
}

static void arg_begin(struct pg_args *a)
{
	if (!a->bytes.max)
		buf_init(&a->bytes, BUF_NO_LIMIT);
	a->arg[a->n].from = a->bytes.size;
}

static void arg_end(struct pg_args *a)
{
	a->arg[a->n].size = (int)(a->bytes.size - a->arg[a->n].from);
	buf_byte(&a->bytes, 0);         /* parameters of no bytes are at different places, too */
	a->n++;
}

void pg_args_int(struct pg_args *a, int64_t v)
{
	arg_begin(a);
	put64(&a->bytes, (uint64_t)v);
	arg_end(a);
}

void pg_args_real(struct pg_args *a, double v)
{
	arg_begin(a);
	put64(&a->bytes, real_bits(v));
	arg_end(a);
}

void pg_args_bytes(struct pg_args *a, struct text t)
{
	arg_begin(a);
	if (t.s)
		buf_add(&a->bytes, t.s, t.size);
	arg_end(a);
	if (!t.s)
		a->arg[a->n - 1].size = -1;
}

void pg_args_text(struct pg_args *a, struct text t)
{
	struct buf room;

	buf_init(&room, BUF_NO_LIMIT);
	pg_args_bytes(a, t.s ? pg_text_out(t, &room) : t);
	buf_release(&room);
}

void pg_args_clear(struct pg_args *a)
{
	a->n = 0;
	buf_clear(&a->bytes);
}

void pg_args_release(struct pg_args *a)
{
	buf_release(&a->bytes);
	a->n = 0;
}

static struct buf *cell(struct pg_rows *r)
{
	struct buf *b = &r->column[r->next];

	if (!b->max)
		buf_init(b, BUF_NO_LIMIT);
	return b;
}

static void cell_end(struct pg_rows *r, size_t size)
{
	r->size += size + 4;
	if (!r->types[++r->next]) {
		r->next = 0;
		r->n++;
	}
}

static void put_null(struct pg_rows *r)
{
	put32(cell(r), UINT32_MAX);
	r->nulls[r->next] = true;
	cell_end(r, 0);
}

void pg_rows_int(struct pg_rows *r, int64_t v)
{
	put_cell(cell(r), (uint64_t)v);
	cell_end(r, 8);
}

void pg_rows_int_or_null(struct pg_rows *r, int64_t v, bool there)
{
	if (there)
		pg_rows_int(r, v);
	else
		put_null(r);
}

void pg_rows_real(struct pg_rows *r, double v)
{
	if (isnan(v)) {
		put_null(r);
		return;
	}
	put_cell(cell(r), real_bits(v));
	cell_end(r, 8);
}

void pg_rows_bytes(struct pg_rows *r, struct text t)
{
	if (!t.s) {
		put_null(r);
		return;
	}
	put32(cell(r), (uint32_t)t.size);
	buf_add(cell(r), t.s, t.size);
	cell_end(r, t.size);
}

void pg_rows_text(struct pg_rows *r, struct text t)
{
	struct buf room;

	buf_init(&room, BUF_NO_LIMIT);
	pg_rows_bytes(r, t.s ? pg_text_out(t, &room) : t);
	buf_release(&room);
}

void pg_rows_take(struct pg_rows *r, struct pg_args *a)
{
	for (int i = 0; r->types[i]; i++) {
		char type = r->types[i];
		uint32_t oid = type == 't' ? OID_TEXT : type == 'b' ? OID_BYTEA :
		               type == 'r' || type == 'f' ? OID_FLOAT8 : OID_INT8;

		arg_begin(a);
		put32(&a->bytes, r->n ? 1 : 0);         /* dimensions */
		put32(&a->bytes, r->nulls[i]);
		put32(&a->bytes, oid);
		if (r->n) {
			put32(&a->bytes, r->n);
			put32(&a->bytes, 1);            /* number of the first */
			buf_add(&a->bytes, r->column[i].data, r->column[i].size);
		}
		arg_end(a);
	}
	pg_rows_clear(r);
}

static uint32_t get32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return be32toh(v);
}

static uint64_t get64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return be64toh(v);
}

static void put16(struct buf *b, uint16_t v)
{
	v = htobe16(v);
	buf_add(b, &v, sizeof v);
}

/* A number of 8 bytes, as narrow as its column. */
static bool put_narrow(struct buf *b, char type, uint64_t v)
{
	int64_t n = (int64_t)v;

	if (type == 'f') {
		double wide;
		float narrow;
		uint32_t bits;

		memcpy(&wide, &v, sizeof wide);
		narrow = (float)wide;
		if (isinf(narrow) && !isinf(wide))
			return false;
		memcpy(&bits, &narrow, sizeof bits);
		put32(b, 4);
		put32(b, bits);
		return true;
	}
	if (type == 'o') {
		put32(b, 1);
		buf_byte(b, v != 0);
		return true;
	}
	if (type == 's' ? n < INT16_MIN || n > INT16_MAX : n < INT32_MIN || n > INT32_MAX)
		return false;
	put32(b, type == 's' ? 2 : 4);
	if (type == 's')
		put16(b, (uint16_t)v);
	else
		put32(b, (uint32_t)v);
	return true;
}

static bool is_narrow(char type)
{
	return type == 'n' || type == 's' || type == 'o' || type == 'f';
}

/* One row; at[]: where its cells are in the columns. */
static bool put_row(const struct pg_rows *r, size_t at[PG_ARGS_MAX], int n, struct buf *b)
{
	for (int i = 0; i < n; i++) {
		const char *cell = r->column[i].data + at[i];
		uint32_t size = get32(cell);
		size_t bytes = size == UINT32_MAX ? 0 : size;

		at[i] += 4 + bytes;
		if (size == UINT32_MAX || !is_narrow(r->types[i]))
			buf_add(b, cell, 4 + bytes);
		else if (!put_narrow(b, r->types[i], get64(cell + 4)))
			return false;
	}
	return true;
}

bool pg_rows_copy(struct pg_rows *r, int32_t before, struct pg_args *a)
{
	static const char head[19] = "PGCOPY\n\377\r\n";     /* and no flags, nothing more */
	size_t at[PG_ARGS_MAX] = { 0 };
	int n = (int)strlen(r->types);

	arg_begin(a);
	buf_add(&a->bytes, head, sizeof head);
	for (uint32_t k = 0; k < r->n; k++) {
		put16(&a->bytes, (uint16_t)(n + 1));
		put32(&a->bytes, 4);
		put32(&a->bytes, (uint32_t)before);
		if (!put_row(r, at, n, &a->bytes)) {
			a->bytes.size = a->arg[a->n].from;
			return false;
		}
	}
	put16(&a->bytes, UINT16_MAX);
	arg_end(a);
	pg_rows_clear(r);
	return true;
}

void pg_rows_clear(struct pg_rows *r)
{
	for (int i = 0; r->types[i]; i++) {
		buf_clear(&r->column[i]);
		r->nulls[i] = false;
	}
	r->n = 0;
	r->next = 0;
	r->size = 0;
}

void pg_rows_release(struct pg_rows *r)
{
	for (int i = 0; i < PG_ARGS_MAX; i++)
		buf_release(&r->column[i]);
}
