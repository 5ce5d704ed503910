/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_cell.c - gzip members, zstd frames and deflated streams are unpacked in a cell; see
 * input_raw.h and base/sandbox/cell.h.
 *
 * A cell is taken for an input and keeps the state of its decoder.  It gets what we have of the
 * file, unpacks many members at once, and says after each step what codec_read() would have
 * said: a segment.  We then hand these out one by one.
 *
 * If the cell dies among many members, a new one unpacks them one by one.  If it dies in one,
 * that is damaged as if its bytes were, and the search for the next begins behind its first
 * byte.  A work that begins within a member ends with it, so that its death has one cause only.
 */
#include <stdlib.h>
#include <string.h>

#include "base/io/input_raw.h"
#include "base/mem.h"
#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"

#define PIECE ((size_t)64 << 10)
#define FIRST_OUT PIECE                 /* bytes of the first answer; then more, */
#define MOST_OUT ((size_t)512 << 10)    /* up to this many, and a piece: near a processor */
#define SEGMENTS_MAX 4096
#define STILL_MAX 8                     /* answers one after the other that take no byte */

enum mode { BEGIN, DECODE, TRIAL };     /* BEGIN: with a dictionary */

/* What codec_read() said, and where that left it. */
struct segment {
	int64_t rc;
	uint64_t size, pos, member;     /* pos: in the bytes that the cell got */
	uint32_t between, wrong_sum;
};

struct apart {
	struct cell *cell;              /* NULL: the next work takes one */
	bool ready;                     /* it has our decoder */
	uint8_t *dictionary;
	size_t dictionary_size;
	struct buf work;
	struct text answer;             /* where it lies: the cell may change it */
	struct segment segments[SEGMENTS_MAX];
	size_t n, next;                 /* segments; the next to be handed out */
	size_t at, given;               /* next byte of the answer; bytes of this segment before */
	size_t start;                   /* what pos counts from, in raw.data */
	size_t most;                    /* bytes of the next answer */
	unsigned n_still;               /* answers that took no byte */
	uint64_t careful_until;         /* offset in the file: one member at a time before it */
	struct err why;                 /* of the last segment */
};

/* ---- in the cell ---- */

/* Pass zeros between members; true: not enough is here to see whether a member follows. */
static bool is_short(struct codec *c, struct raw *r, bool eof)
{
	if (eof)
		return false;
	if (!c->between || c->kind == CODEC_DEFLATE)
		return raw_avail(r) == 0;
	while (raw_avail(r) && r->data[r->pos] == 0)
		r->pos++;
	return raw_avail(r) < 4;
}

static void decode(struct codec *c, struct raw *r, bool eof, bool careful, size_t most,
                   struct buf *out)
{
	static struct segment s[SEGMENTS_MAX];
	struct err err = { 0 };
	size_t n = 0, size;
	int rc = 1;

	do {
		if (is_short(c, r, eof)) {
			s[n++] = (struct segment){ 1, 0, r->pos, c->member, c->between, c->wrong_sum };
			break;
		}
		rc = codec_read(c, r, (uint8_t *)buf_room(out, PIECE), PIECE, &size, &err);
		out->size += size;
		s[n++] = (struct segment){ rc, size, r->pos, c->member, c->between, c->wrong_sum };
		/* better to end with a member, before there is much: the next work would be careful */
	} while (rc > 0 && n < SEGMENTS_MAX && out->size < (c->between ? most / 2 : most) &&
	         !(careful && c->between));
	size = out->size;
	buf_add(out, s, n * sizeof *s);
	buf_add(out, err.text, sizeof err.text);
	parcel_put(out, size);
	parcel_put(out, n);
}

int input_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	static struct codec c;
	struct parcel p = { parts[0].s, parts[0].size, n != 3 };
	uint64_t mode = parcel_number(&p), kind = parcel_number(&p), anew = parcel_number(&p);
	uint64_t pos = parcel_number(&p), base = parcel_number(&p);
	uint64_t between = parcel_number(&p), member = parcel_number(&p);
	uint64_t eof = parcel_number(&p), careful = parcel_number(&p), most = parcel_number(&p);
	struct raw r = { .name = parts[2].s, .fd = -1, .eof = true, .pos = (size_t)pos,
	                 .data = (const uint8_t *)parts[1].s, .len = parts[1].size, .base = base };

	if (p.bad)
		return err_set(err, E_PARSE, "the work makes no sense");
	if (anew) {
		bool has = mode == BEGIN;
		int rc;

		codec_release(&c);
		c = (struct codec){ .kind = (enum codec_kind)kind };
		rc = codec_begin(&c, r.name, has ? r.data : NULL, has ? r.len : 0, err);
		if (rc < 0 || has)
			return rc;
	}
	if (mode == TRIAL) {
		parcel_put(answer, codec_member_at(&c, &r));
		return 0;
	}
	c.between = between != 0;
	c.member = member;
	decode(&c, &r, eof != 0, careful != 0, (size_t)most, answer);
	return 0;
}

/* ---- here ---- */

struct apart *apart_new(void)
{
	struct apart *a;

	if (!cells_do(CELL_INFLATE))
		return NULL;
	a = mem_zalloc(1, sizeof *a);
	buf_init(&a->work, BUF_NO_LIMIT);
	a->most = FIRST_OUT;
	return a;
}

void apart_free(struct apart *a)
{
	if (!a)
		return;
	cell_give(a->cell);
	free(a->dictionary);
	buf_release(&a->work);
	free(a);
}

static int send_work(struct codec *c, enum mode mode, const struct raw *r, size_t start,
                     size_t size, bool careful, struct err *err)
{
	struct apart *a = c->apart;
	bool eof = r->eof && start + size == r->len;
	struct text parts[] = { { 0 }, { size ? (const char *)r->data + start : NULL, size },
	                        { r->name, strlen(r->name) + 1 } };
	size_t room = a->most + PIECE + sizeof a->segments + sizeof(struct err) + 64;
	int rc;

	buf_clear(&a->work);
	parcel_put(&a->work, mode);
	parcel_put(&a->work, c->kind);
	parcel_put(&a->work, !a->ready);
	parcel_put(&a->work, r->pos - start);
	parcel_put(&a->work, r->base + start);
	parcel_put(&a->work, c->between);
	parcel_put(&a->work, c->member);
	parcel_put(&a->work, eof);
	parcel_put(&a->work, careful);
	parcel_put(&a->work, a->most);
	parts[0] = (struct text){ a->work.data, a->work.size };
	rc = cell_ask(a->cell, CELL_INFLATE, parts, 3, room, &a->answer, err);
	a->ready |= rc == 0;
	return rc;
}

static void drop_cell(struct apart *a)
{
	a->n = a->next = 0;             /* what it said went with it */
	cell_give(a->cell);
	a->cell = NULL;
	a->ready = false;
}

/* A cell; one that lacks our dictionary gets it. */
static int have_cell(struct codec *c, const char *name, struct err *err)
{
	struct apart *a = c->apart;
	struct raw dictionary = { .name = name, .data = a->dictionary, .len = a->dictionary_size };
	int rc = a->cell ? 0 : cell_take(&a->cell, RAW_SIZE + DICTIONARY_MAX + 4 * MOST_OUT, err);

	if (rc < 0 || a->ready || !a->dictionary)
		return rc;
	rc = send_work(c, BEGIN, &dictionary, 0, a->dictionary_size, false, err);
	if (rc < 0)
		drop_cell(a);
	return rc;
}

int apart_begin(struct codec *c, const char *name, const uint8_t *dictionary, size_t size,
                struct err *err)
{
	struct apart *a = c->apart;
	struct err why = { 0 };
	int rc;

	if (!dictionary)
		return 0;
	free(a->dictionary);
	a->dictionary = mem_alloc(size ? size : 1);
	memcpy(a->dictionary, dictionary, size);
	a->dictionary_size = size;
	drop_cell(a);
	rc = have_cell(c, name, &why);
	if (rc == E_READER)
		return err_set(err, E_PARSE, "%s: bad zstd dictionary: %s", name, why.text);
	if (rc < 0 && err)
		*err = why;
	return rc;
}

/* Could the decoder have said this?  from, between, member: where it was before, as offsets of
 * the file.  Members begin where one may begin, and nothing goes backwards: what resyncs looks
 * behind the member, and would do so for ever. */
static bool is_sound(const struct segment *s, uint64_t from, uint64_t to, bool between,
                     uint64_t member)
{
	bool here = between && s->member >= from && s->member <= to;

	return to >= from && s->rc <= 1 && s->rc > ERR_FIRST &&
	       (s->rc == 1 || cell_may_say((int)s->rc)) &&
	       (here || (s->member == member && !(between && (s->rc < 0 || !s->between))));
}

/* What the cell says, none of which is believed: data, segments, a message, and how many of
 * both.  All but the data is copied before it is looked at; the data is copied as it is handed
 * out.  size: of the bytes that the cell got, which begin at a->start. */
static bool open_answer(const struct codec *c, const struct raw *r, size_t size)
{
	struct apart *a = c->apart;
	size_t fixed = sizeof a->why.text + 2 * sizeof(uint64_t), sum = 0;
	uint64_t data, n, first = r->base + a->start, from = raw_offset(r), member = c->member;
	bool between = c->between;
	struct parcel p;

	if (a->answer.size < fixed)
		return false;
	p = (struct parcel){ a->answer.s + a->answer.size - 2 * sizeof data, 2 * sizeof data, false };
	data = parcel_number(&p);
	n = parcel_number(&p);
	if (!n || n > SEGMENTS_MAX || data > a->answer.size ||
	    a->answer.size - data != n * sizeof *a->segments + fixed)
		return false;
	memcpy(a->segments, a->answer.s + data, (size_t)n * sizeof *a->segments);
	memcpy(a->why.text, a->answer.s + data + n * sizeof *a->segments, sizeof a->why.text);
	cell_clean(a->why.text, sizeof a->why.text);
	for (size_t i = 0; i < n; i++) {
		const struct segment *s = &a->segments[i];

		if (s->size > data - sum || s->pos > size || (s->rc <= 0 && i + 1 < n) ||
		    !is_sound(s, from, first + s->pos, between, member))
			return false;
		sum += (size_t)s->size;
		from = first + s->pos;
		between = s->between != 0;
		member = s->member;
	}
	a->n = (size_t)n;
	a->n_still = from > raw_offset(r) || a->segments[n - 1].rc <= 0 ? 0 : a->n_still + 1;
	return sum == data;
}

/* The member that we are at is damaged: it broke the cell. */
static int say_broken(struct codec *c, const struct raw *r, const struct err *why, struct err *err)
{
	if (c->between)
		c->member = raw_offset(r);
	c->wrong_sum = false;
	return err_set(err, E_PARSE, "%s: %s at offset %llu: %s", r->name,
	               codec_member_name(c), (unsigned long long)c->member, why->text);
}

/* Have the next segments. */
static int ask(struct codec *c, struct raw *r, struct err *err)
{
	struct apart *a = c->apart;

	for (;;) {
		bool careful = !c->between || raw_offset(r) < a->careful_until;
		struct err why = { 0 };
		size_t size;
		int rc = raw_need(r, 4, err);

		if (rc < 0)
			return rc;
		a->start = r->pos < RAW_HISTORY ? 0 : r->pos - RAW_HISTORY;
		size = r->len - a->start < RAW_SIZE ? r->len - a->start : RAW_SIZE;
		rc = have_cell(c, r->name, &why);
		if (rc == 0)
			rc = send_work(c, DECODE, r, a->start, size, careful, &why);
		a->n = a->next = a->at = a->given = 0;
		if (rc == 0 && !open_answer(c, r, size))
			rc = err_set(&why, E_READER, "the answer of what unpacked it makes no sense");
		if (rc == 0 && a->n_still > STILL_MAX)
			rc = err_set(&why, E_READER, "what unpacked it stands still");
		if (rc == 0) {
			a->most = a->most * 2 < MOST_OUT ? a->most * 2 : MOST_OUT;
			return 0;
		}
		a->n = a->n_still = 0;
		if (a->cell && rc == E_READER)
			cell_distrust(a->cell);
		drop_cell(a);
		if (rc != E_READER) {
			if (err)
				*err = why;
			return rc;
		}
		if (careful)
			return say_broken(c, r, &why, err);
		a->careful_until = r->base + a->start + size;
	}
}

int apart_read(struct codec *c, struct raw *r, uint8_t *out, size_t room, size_t *ret_size,
               struct err *err)
{
	struct apart *a = c->apart;
	const struct segment *s;
	size_t n;

	if (a->next == a->n && c->over && c->kind == CODEC_DEFLATE)
		return 0;
	if (a->next == a->n) {
		int rc = ask(c, r, err);

		if (rc < 0)
			return rc;
	}
	s = &a->segments[a->next];
	n = (size_t)s->size - a->given < room ? (size_t)s->size - a->given : room;
	memcpy(out, a->answer.s + a->at, n);
	a->at += n;
	a->given += n;
	*ret_size = n;
	c->member = s->member;
	c->between = false;
	if (a->given < s->size)
		return 1;
	r->pos = a->start + (size_t)s->pos;
	c->between = c->over = s->between != 0;
	c->wrong_sum = s->wrong_sum != 0;
	a->next++;
	a->given = 0;
	if (s->rc < 0) {
		a->n = a->next = 0;
		return err_set(err, (int)s->rc, "%s", a->why.text);
	}
	return (int)s->rc;
}

bool apart_member_at(struct codec *c, const struct raw *r)
{
	struct apart *a = c->apart;
	struct err why;
	struct parcel p;
	bool is;

	a->n = a->next = 0;
	if (have_cell(c, r->name, &why) < 0)
		return false;
	if (send_work(c, TRIAL, r, r->pos, raw_avail(r), false, &why) < 0) {
		drop_cell(a);
		return false;
	}
	p = (struct parcel){ a->answer.s, a->answer.size, false };
	is = parcel_number(&p) == 1;
	return is && !p.bad;
}
