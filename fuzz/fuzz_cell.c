/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of cells that were taken over: the input is what they say, of a page or of a
 * compressed file.  Whatever it is, what is taken of it keeps the rules of a record, positions
 * only grow, and reading comes to an end.
 *
 * The first byte says of what, and where the answers come from: they are given as they are; or
 * put together out of small pieces, which gets past the first checks; or they are those of an honest
 * cell that reads the rest of the input, some of them with one byte changed.  The functions of
 * base/sandbox/cell.c that this needs are ours.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/input.h"
#include "base/mem.h"
#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"
#include "base/utf8.h"
#include "engine/archive/analyse.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)
#define FILE_SIZE 3000
#define OUT_MAX (4u << 20)              /* a bomb is only looked at this far */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *says;
static size_t left;
static bool assembled, honest;
static unsigned lies;           /* every so manieth answer of an honest cell is false; 0: none */
static size_t lie_at;           /* its byte */

static uint64_t take(size_t bytes)
{
	uint64_t v = 0;

	for (; bytes; bytes--, v = v << 8 | (left ? *says : 0), says += left > 0, left -= left > 0)
		;
	return v;
}

/* ---- a page ---- */

static void put_page(struct buf *out)
{
	parcel_put(out, take(1));
	parcel_put(out, take(8));
	for (int i = 0; i < 6; i++)
		parcel_put(out, take(1) - 1);           /* 0 becomes "not known" */
	parcel_put_text(out, (struct text){ "0123456789abcdef", 16 });
	parcel_put_text(out, (struct text){ "fedcba9876543210", 16 });
	for (int i = 0; i < 4 && left; i++) {
		size_t n = (size_t)take(1);

		n = n < left ? n : left;
		parcel_put_text(out, (struct text){ (const char *)says, n });
		says += n;
		left -= n;
	}
	while (left)
		buf_byte(out, (char)take(1));
}

static void check_page(void)
{
	static struct word_counter words;
	struct analyser a;
	struct record r = { 0 };
	struct analyse_input in = { .body = "x", .size = 1, .url = { "http://a/", 9 } };
	char *body = NULL;

	analyser_init(&a);
	a.words = take(1) & 1 ? &words : NULL;
	if (honest) {
		in.size = left;
		in.body = body = mem_strndup((const char *)says, left);
		a.look_for_phrase = lie_at & 1;
	}
	if (analyse(&a, &in, &r, NULL) == 0) {
		for (size_t i = 0; i < r.links.size; i++)
			MUST(r.links.s[i] >= ' ' && r.links.s[i] < 127);
		for (size_t i = 0, n; i < r.title.size; i += n) {
			uint32_t c;

			MUST((n = utf8_get(r.title.s + i, r.title.size - i, &c)) > 0 && c);
		}
		MUST(r.prose.size == 16 && r.tags.size == 16);
		for (size_t i = 0; a.words && i < words.page.words.n; i++) {
			struct word_count w = words.page.words.v[i];

			MUST(w.size && w.at + (uint64_t)w.size <= words.page.pool.size);
		}
	}
	analyser_release(&a);
	free(body);
}

/* ---- a compressed file ---- */

/* As in input_cell.c. */
struct told { int64_t rc; uint64_t size, pos, member; uint32_t between, wrong_sum; };

static void put_segments(struct buf *out)
{
	size_t n = 1 + take(1) % 4, sum = 0;
	struct told t[4];

	for (size_t i = 0; i < n; i++) {
		unsigned bits = (unsigned)take(1);

		t[i] = (struct told){ .rc = i + 1 < n || bits & 1 ? 1 : bits & 2 ? 0 :
		                      -100 + (int64_t)(bits >> 4), .size = take(1), .pos = take(2),
		                      .member = take(2), .between = bits >> 2 & 1,
		                      .wrong_sum = bits >> 3 & 1 };
		sum += t[i].size;
	}
	for (size_t i = 0; i < sum; i++)
		buf_byte(out, 'a');
	buf_add(out, t, n * sizeof *t);
	buf_add(out, (char [sizeof ((struct err *)0)->text]){ "why" },
	        sizeof ((struct err *)0)->text);
	parcel_put(out, sum);
	parcel_put(out, n);
}

static void check_file(void)
{
	static uint8_t made_up[FILE_SIZE];
	const uint8_t *file = honest ? says : made_up;
	size_t size = honest ? left : sizeof made_up;
	uint64_t position = 0, offset = 0, lost;
	struct input *in;
	struct err err;
	char block[777];

	for (size_t i = 0; i < sizeof made_up; i++)     /* a member could begin in many places */
		made_up[i] = (uint8_t)"\x1f\x8b\x08\0\0\0\0\0\0\3xxxxxxxxxx"[i % 20];
	if (input_open_memory(&in, file, size, "fuzz", &err) < 0)
		return;
	for (;;) {
		long rc = input_read(in, block, sizeof block, &err);

		MUST(input_position(in) >= position && input_file_offset(in) <= size &&
		     input_raw_position(in) <= size);
		position = input_position(in);
		if (position > OUT_MAX)
			break;
		if (rc > 0)
			continue;
		if (rc != E_PARSE || input_resync(in, &lost, &err) <= 0)
			break;
		MUST(!offset || input_file_offset(in) > offset);        /* always forward */
		offset = input_file_offset(in);
	}
	input_close(in);
}

/* ---- the other side of cell.h ---- */

static int answer(struct buf *ret, struct err *err, void (*put)(struct buf *))
{
	if (!left)
		return err_set(err, E_READER, "it died");
	if (assembled) {
		put(ret);
	} else {
		size_t n = (size_t)take(2);

		n = n < left ? n : left;
		buf_add(ret, says, n);
		says += n;
		left -= n;
	}
	return 0;
}

bool cells_do(enum cell_work work)
{
	(void)work;
	return true;
}

bool cell_may_say(int rc)
{
	return rc == 0 || rc == E_PARSE || rc == E_LIMIT;
}

void cell_clean(char *text, size_t size)
{
	text[size - 1] = '\0';
}

/* What a cell says that reads what it is given; false now and then. */
static int answer_honestly(cell_function *work, const struct text *parts, size_t n, struct buf *ret,
                           struct err *err)
{
	static unsigned n_answers;
	size_t before = ret->size;
	int rc = work(parts, n, ret, err);

	if (lies && ret->size > before && ++n_answers % lies == 0)
		ret->data[before + lie_at % (ret->size - before)] ^= (char)(1 + lie_at % 255);
	return rc;
}

void cell_call_all(enum cell_work work, struct cell_job *jobs, size_t n)
{
	(void)work;
	for (struct cell_job *j = jobs; j < jobs + n; j++) {
		j->rc = honest ? answer_honestly(analyse_cell, j->parts, j->n, j->ret, j->err) :
		        answer(j->ret, j->err, put_page);
		MUST(j->ret->size <= j->most);
		if (j->rc == 0 && !j->check(j->arg, j->ret->data, j->ret->size))
			j->rc = E_READER;
	}
}

int cell_call(enum cell_work work, const struct text *parts, size_t n, size_t most,
              struct buf *ret, cell_check *check, void *arg, struct err *err)
{
	struct cell_job j = { .most = most, .ret = ret, .check = check, .arg = arg, .err = err };

	memcpy(j.parts, parts, n * sizeof *parts);
	j.n = n;
	cell_call_all(work, &j, 1);
	return j.rc;
}

int cell_take(struct cell **ret, size_t room, struct err *err)
{
	(void)room;
	(void)err;
	*ret = (struct cell *)(void *)&left;
	return 0;
}

/* Of a work on a compressed file. */
static int put_answer(struct buf *ret, const struct text *parts, size_t n, struct err *err)
{
	uint64_t mode;

	buf_release(ret);               /* so that reading past it is seen */
	buf_init(ret, BUF_NO_LIMIT);
	MUST(n == 3 && parts[0].size == 80);
	if (honest)
		return answer_honestly(input_cell, parts, n, ret, err);
	memcpy(&mode, parts[0].s, sizeof mode);
	if (mode == 0)
		return 0;
	if (mode == 1)
		return answer(ret, err, put_segments);
	parcel_put(ret, take(1) & 1);
	return 0;
}

int cell_ask(struct cell *c, enum cell_work work, const struct text *parts, size_t n,
             size_t most, struct text *there, struct err *err)
{
	static struct buf said;
	int rc = put_answer(&said, parts, n, err);

	(void)c;
	(void)work;
	MUST(said.size <= most);
	*there = (struct text){ buf_text(&said), said.size };
	return rc;
}

void cell_give(struct cell *c)
{
	(void)c;
}

void cell_distrust(struct cell *c)
{
	(void)c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned how;

	says = data;
	left = size;
	how = (unsigned)take(1);
	assembled = how & 2;
	honest = how & 4;
	lies = honest ? how >> 3 & 3 : 0;
	lie_at = honest ? (size_t)take(2) : 0;
	(how & 1 ? check_page : check_file)();
	return 0;
}
