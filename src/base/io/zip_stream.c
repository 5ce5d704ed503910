/* SPDX-License-Identifier: Apache-2.0 */
/* zip_stream.c - the bytes of one entry, unpacked (in a cell, where there are cells) and checked;
 * see zip.h. */
#include "base/io/zip.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/io/zip_inner.h"

#define PIECE ((size_t)64 << 10)

struct zip_stream {
	const struct zip *z;
	struct zip_entry entry;
	uint64_t taken, given;          /* bytes of the file; bytes delivered */
	uint32_t sum;
	struct input *unpacked;         /* made at the first read; NULL: it is stored */
	struct input_source packed;     /* what that unpacks */
	struct input_source source;     /* this as an input */
};

struct zip_stream *zip_stream_new(const struct zip *z, const struct zip_entry *e)
{
	struct zip_stream *s = mem_zalloc(1, sizeof *s);

	s->z = z;
	s->entry = *e;
	return s;
}

void zip_stream_free(struct zip_stream *s)
{
	if (!s)
		return;
	input_close(s->unpacked);
	free(s);
}

static int wrong(const struct zip_stream *s, const char *why, struct err *err)
{
	return err_set(err, E_PARSE, "%s: %.200s: %s", s->z->path, s->entry.name, why);
}

/* The next bytes of the file, at most size; 0 at the end of the entry, or error. */
static long take(struct zip_stream *s, void *data, size_t size, struct err *err)
{
	uint64_t left = s->entry.packed - s->taken;
	int rc;

	if (size > left)
		size = (size_t)left;
	rc = zip_pread(s->z, s->entry.offset + s->taken, data, size, err);
	if (rc < 0)
		return rc;
	s->taken += size;
	return (long)size;
}

static long read_packed(void *arg, void *data, size_t size, struct err *err)
{
	return take(arg, data, size, err);
}

static long unpack(struct zip_stream *s, void *data, size_t size, struct err *err)
{
	int rc = 0;

	if (!s->unpacked) {
		struct buf name;

		buf_init(&name, BUF_NO_LIMIT);
		buf_str(&name, s->z->path);
		buf_str(&name, ": ");
		buf_str(&name, s->entry.name);
		s->packed = (struct input_source){ INPUT_DEFLATED, read_packed, NULL, s };
		rc = input_open_source(&s->unpacked, &s->packed, buf_text(&name), err);
		buf_release(&name);
	}
	return rc < 0 ? rc : input_read(s->unpacked, data, size, err);
}

long zip_stream_read(struct zip_stream *s, void *data, size_t size, struct err *err)
{
	long n;

	if (size > PIECE * 16)
		size = PIECE * 16;
	n = s->entry.deflated ? unpack(s, data, size, err) : take(s, data, size, err);
	if (n < 0)
		return n;
	s->given += (uint64_t)n;
	if (s->given > s->entry.size)
		return wrong(s, "it unpacks to more than the directory says", err);
	s->sum = libdeflate_crc32(s->sum, data, (size_t)n);
	if (n == 0 && s->given < s->entry.size)
		return wrong(s, "it ends before the size that the directory says", err);
	if (n == 0 && s->sum != s->entry.sum)
		return wrong(s, "its sum is wrong", err);
	return n;
}

static long read_source(void *arg, void *data, size_t size, struct err *err)
{
	return zip_stream_read(arg, data, size, err);
}

static void close_source(void *arg)
{
	zip_stream_free(arg);
}

int zip_input(const struct zip *z, const struct zip_entry *e, struct input **ret,
              struct err *err)
{
	struct zip_stream *s;

	if (!e->deflated)
		return input_open_part(ret, z->path, e->offset, e->packed, err);
	s = zip_stream_new(z, e);
	s->source = (struct input_source){ INPUT_ANY, read_source, close_source, s };
	return input_open_source(ret, &s->source, z->path, err);
}
