/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - a file as a stream of bytes or lines; see input.h.  input_open.c opens it.
 *
 * Two buffers: `raw` holds bytes of the file, `out` holds data ready to be taken.
 * Members are decoded one after the other into out; `marks` remembers where in the data each
 * began, so that the file offset of any byte is known although out may hold many members.
 *
 * Damage is met while filling, often long before the reader gets there, so the
 * error waits in `broken` until everything in front of it has been taken.
 *
 * Files are read, not mapped: lines are terminated in place, which would copy
 * every page of a private mapping, and a mapped file that shrinks is a SIGBUS.
 */
#include "base/io/input_inner.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The member that begins at `offset` begins at this position in the data. */
static void add_mark(struct input *in, uint64_t position, uint64_t offset)
{
	struct input_mark m = { position, offset };

	if (in->marks.n > in->first_mark && in->marks.v[in->marks.n - 1].position == position)
		in->marks.v[in->marks.n - 1] = m;       /* the member before had no data */
	else
		vec_push(&in->marks, m);
}

/* Forget marks before the reader, except that of the member it is in. */
static void drop_marks(struct input *in)
{
	uint64_t position = in->out_base + in->pos;

	while (in->first_mark + 1 < in->marks.n &&
	       in->marks.v[in->first_mark + 1].position <= position)
		in->first_mark++;
	if (in->first_mark > 64 && in->first_mark * 2 > in->marks.n) {
		in->marks.n -= in->first_mark;
		memmove(in->marks.v, in->marks.v + in->first_mark,
		        in->marks.n * sizeof *in->marks.v);
		in->first_mark = 0;
	}
}

/* Space for at least one more byte, moving or growing out; `want` is what the
 * caller needs in one piece. */
static void make_room(struct input *in, size_t want)
{
	if (in->pos == in->len) {
		in->out_base += in->pos;
		in->pos = in->len = 0;
	} else if (in->pos && (in->len == in->cap || in->cap - in->pos < want ||
	                       (in->cap - in->len < in->cap / 4 && in->pos > in->cap / 2))) {
		memmove(in->out, in->out + in->pos, in->len - in->pos);
		in->out_base += in->pos;
		in->len -= in->pos;
		in->pos = 0;
	}
	if (in->cap - in->pos < want || in->len == in->cap) {
		while (in->cap - in->pos < want || in->len == in->cap)
			in->cap *= 2;
		in->out = mem_resize(in->out, in->cap + 1, 1);
	}
}

/* Decode once more.  1: maybe more data, 0: the end or damage is reached. */
static int fill(struct input *in, size_t want)
{
	struct codec *c = &in->codec;
	bool between = c->between;
	uint64_t member = c->member, position;
	struct err err = { 0 };
	size_t size = 0;
	int rc;

	if (in->ended || in->broken.code)
		return 0;
	make_room(in, want);
	position = in->out_base + in->len;
	rc = codec_read(c, &in->raw, (uint8_t *)in->out + in->len, in->cap - in->len,
	                &size, &err);
	in->len += size;
	if (c->kind != CODEC_PLAIN) {
		if (between && c->member != member)
			add_mark(in, position, c->member);
		else if (in->marks.n == 0)
			add_mark(in, position, c->member);
		if (rc > 0 && c->between)
			add_mark(in, position + size, raw_offset(&in->raw));
	}
	if (rc < 0)
		in->broken = err;
	in->ended = rc == 0;
	return rc > 0;
}

static int report(const struct input *in, struct err *err)
{
	if (err)
		*err = in->broken;
	return in->broken.code;
}

int input_peek(struct input *in, size_t want, const char **ret_data, size_t *ret_size,
               struct err *err)
{
	while (in->len - in->pos < want && fill(in, want))
		;
	if (in->pos == in->len && in->broken.code)
		return report(in, err);
	*ret_data = in->out + in->pos;
	*ret_size = in->len - in->pos;
	return 0;
}

void input_skip(struct input *in, size_t size)
{
	in->pos += size < in->len - in->pos ? size : in->len - in->pos;
	drop_marks(in);
}

long input_read(struct input *in, void *data, size_t size, struct err *err)
{
	const char *from;
	size_t n;
	int rc;

	if (size > LONG_MAX)
		size = LONG_MAX;
	rc = input_peek(in, 1, &from, &n, err);
	if (rc < 0)
		return rc;
	if (n > size)
		n = size;
	if (n)
		memcpy(data, from, n);
	input_skip(in, n);
	return (long)n;
}

/* The rest of a line that is too long: thrown away piece by piece. */
static int skip_line(struct input *in, size_t max, struct err *err)
{
	uint64_t from = in->out_base + in->pos;

	for (;;) {
		char *end = memchr(in->out + in->pos, '\n', in->len - in->pos);

		if (end) {
			input_skip(in, (size_t)(end - in->out) + 1 - in->pos);
			break;
		}
		input_skip(in, in->len - in->pos);
		if (!fill(in, 1))
			break;
	}
	return err_set(err, E_LIMIT, "%s: line at byte %llu is longer than %zu bytes",
	               in->name, (unsigned long long)from, max);
}

int input_line(struct input *in, size_t max, char **ret_line, size_t *ret_size,
               struct err *err)
{
	size_t seen = 0, size, take;
	char *line, *end;

	for (;;) {
		line = in->out + in->pos;
		end = memchr(line + seen, '\n', in->len - in->pos - seen);
		if (end)
			break;
		seen = in->len - in->pos;
		if (seen > max + 1)
			return skip_line(in, max, err);
		if (fill(in, seen + 1))
			continue;
		if (in->broken.code) {          /* the rest of the line is damaged: drop it */
			input_skip(in, seen);
			return report(in, err);
		}
		line = in->out + in->pos;
		if (seen == 0)
			return 0;
		end = line + seen;
		break;
	}
	size = (size_t)(end - line);
	take = size + (end < in->out + in->len);
	if (size && line[size - 1] == '\r')
		size--;
	if (size >= 3 && !input_position(in) && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		size -= 3;
	}
	input_skip(in, take);
	if (size > max)
		return err_set(err, E_LIMIT, "%s: line at byte %llu is longer than %zu bytes",
		               in->name, (unsigned long long)(input_position(in) - take), max);
	line[size] = '\0';
	*ret_line = line;
	*ret_size = size;
	return 1;
}

uint64_t input_position(const struct input *in)
{
	return in->out_base + in->pos;
}

uint64_t input_file_offset(const struct input *in)
{
	if (in->codec.kind == CODEC_PLAIN)
		return in->raw_start + input_position(in);
	if (in->marks.n == in->first_mark)
		return in->codec.member;
	return in->marks.v[in->first_mark].offset;
}

bool input_at_member(const struct input *in)
{
	return in->marks.n > in->first_mark &&
	       in->marks.v[in->first_mark].position == input_position(in);
}

size_t input_member_bytes(const struct input *in)
{
	size_t all = in->len - in->pos;
	uint64_t left;

	if (in->first_mark + 1 >= in->marks.n)
		return all;
	left = in->marks.v[in->first_mark + 1].position - input_position(in);
	return left < all ? (size_t)left : all;
}

long input_probe(struct input *in, uint64_t position, void *data, size_t size)
{
	const struct raw *r = &in->raw;

	if (in->codec.kind != CODEC_PLAIN || r->source || (r->fd >= 0 && !r->seekable) ||
	    position > (uint64_t)INT64_MAX - in->raw_start || size > LONG_MAX)
		return -1;
	position += in->raw_start;
	if (r->end && position >= r->end)
		return 0;
	if (r->end && size > r->end - position)
		size = (size_t)(r->end - position);
	if (r->fd >= 0)
		return pread(r->fd, data, size, (off_t)position);
	if (position >= r->len)
		return 0;
	if (size > r->len - position)
		size = r->len - (size_t)position;
	memcpy(data, r->data + position, size);
	return (long)size;
}

uint64_t input_raw_position(const struct input *in)
{
	return in->codec.kind == CODEC_PLAIN ? input_position(in) :
	       raw_offset(&in->raw) - in->raw_start;
}

uint64_t input_raw_size(const struct input *in)
{
	return in->raw_size;
}

int input_resync(struct input *in, uint64_t *ret_lost, struct err *err)
{
	uint64_t lost = 0;
	int rc;

	if (in->broken.code != E_PARSE)
		return in->broken.code ? report(in, err) : 0;
	input_skip(in, in->len - in->pos);
	rc = codec_resync(&in->codec, &in->raw, &lost, err);
	if (rc < 0)
		return rc;
	in->broken.code = 0;
	in->ended = rc == 0;
	add_mark(in, input_position(in), raw_offset(&in->raw));
	drop_marks(in);
	*ret_lost = lost;
	return rc;
}
