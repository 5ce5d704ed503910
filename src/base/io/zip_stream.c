/* SPDX-License-Identifier: Apache-2.0 */
/* zip_stream.c - the bytes of one entry, unpacked and checked; see zip.h. */
#include "base/io/zip.h"

#include <libdeflate.h>
#include <string.h>
#include <zlib.h>

#include "base/io/zip_inner.h"

#define PIECE ((size_t)64 << 10)

struct zip_stream {
	const struct zip *z;
	struct zip_entry entry;
	uint64_t taken, given;          /* bytes of the file; bytes delivered */
	uint32_t sum;
	bool ended;                     /* the deflated stream */
	z_stream inflate;
	uint8_t *piece;                 /* of the file; NULL: it is stored */
	struct input_source source;     /* this as an input */
};

struct zip_stream *zip_stream_new(const struct zip *z, const struct zip_entry *e)
{
	struct zip_stream *s = mem_zalloc(1, sizeof *s);

	s->z = z;
	s->entry = *e;
	if (e->deflated) {
		s->piece = mem_alloc(PIECE);
		if (inflateInit2(&s->inflate, -15) != Z_OK)
			err_no_memory();
	}
	return s;
}

void zip_stream_free(struct zip_stream *s)
{
	if (!s)
		return;
	if (s->piece)
		inflateEnd(&s->inflate);
	free(s->piece);
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

static long unpack(struct zip_stream *s, void *data, size_t size, struct err *err)
{
	z_stream *d = &s->inflate;
	int rc = Z_OK;

	d->next_out = data;
	d->avail_out = (uInt)size;
	while (d->avail_out == size && !s->ended) {
		if (d->avail_in == 0) {
			long n = take(s, s->piece, PIECE, err);

			if (n < 0)
				return n;
			d->next_in = s->piece;
			d->avail_in = (uInt)n;
		}
		rc = inflate(d, Z_NO_FLUSH);
		s->ended = rc == Z_STREAM_END;
		if (rc != Z_OK && rc != Z_STREAM_END)
			return wrong(s, "it is damaged, or ends early", err);
	}
	return (long)(size - d->avail_out);
}

long zip_stream_read(struct zip_stream *s, void *data, size_t size, struct err *err)
{
	long n;

	if (size > PIECE * 16)
		size = PIECE * 16;
	n = s->piece ? unpack(s, data, size, err) : take(s, data, size, err);
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
	s->source = (struct input_source){ read_source, close_source, s };
	return input_open_source(ret, &s->source, z->path, err);
}
