/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coding.c - four decoders behind one loop body: room in the buffer, a step of
 * the library, the caps.  "deflate" is zlib by the standard and raw by habit;
 * the first two bytes tell.  gzip members may follow one another.
 */
#include "web/coding.h"

#include <brotli/decode.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define STEP (64 * 1024)
#define WINDOW_LOG_MAX 23       /* zstd: 8 MiB of memory at most, as RFC 8878 */

enum coding coding_find(const char *value, size_t size)
{
	static const struct { const char *name; enum coding coding; } names[] = {
		{ "gzip", CODING_GZIP }, { "x-gzip", CODING_GZIP },
		{ "deflate", CODING_DEFLATE }, { "br", CODING_BR },
		{ "zstd", CODING_ZSTD }, { "identity", CODING_NONE },
	};
	enum coding found = CODING_NONE;
	size_t i = 0;

	while (i < size) {
		size_t begin, end;
		enum coding one = CODING_OTHER;

		while (i < size && (value[i] == ' ' || value[i] == '\t' || value[i] == ','))
			i++;
		for (begin = i; i < size && value[i] != ','; i++)
			;
		for (end = i; end > begin && (value[end - 1] == ' ' || value[end - 1] == '\t'); )
			end--;
		if (end == begin)
			continue;
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			if (strlen(names[k].name) == end - begin &&
			    !strncasecmp(names[k].name, value + begin, end - begin))
				one = names[k].coding;
		if (one == CODING_NONE)
			continue;
		if (found != CODING_NONE)
			return CODING_OTHER;
		found = one;
	}
	return found;
}

struct limit { struct buf *out; size_t start, max; };

/* Room for the next step, or NULL when a cap is reached. */
static char *step_room(const struct limit *l, size_t *ret_room)
{
	size_t made = l->out->size - l->start, room = STEP;

	if (made >= l->max)
		return NULL;
	if (room > l->max - made)
		room = l->max - made;
	if (room > l->out->max - l->out->size)
		room = l->out->max - l->out->size;
	if (!room)
		return NULL;
	*ret_room = room;
	return buf_room(l->out, room);
}

static int bomb(struct err *err, size_t size, const struct limit *l)
{
	return err_set(err, E_LIMIT, "%zu compressed bytes unfold to more than %zu",
	               size, l->out->size - l->start);
}

static int decode_zlib(int bits, const uint8_t *data, size_t size,
                       const struct limit *l, struct err *err)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size };
	int r = Z_OK, result = 0;

	if (inflateInit2(&z, bits) != Z_OK)
		err_no_memory();
	for (;;) {
		size_t room;
		char *at = step_room(l, &room);

		if (!at) {
			/* Exactly full and at its end is no bomb. */
			Bytef extra;

			z.next_out = &extra;
			z.avail_out = 1;
			r = inflate(&z, Z_NO_FLUSH);
			if (r != Z_STREAM_END || !z.avail_out)
				result = bomb(err, size, l);
			break;
		}
		z.next_out = (Bytef *)at;
		z.avail_out = (uInt)room;
		r = inflate(&z, Z_NO_FLUSH);
		l->out->size += room - z.avail_out;
		if (r == Z_STREAM_END) {
			/* another gzip member, or trailing bytes that we ignore */
			if (bits != 31 || z.avail_in < 2 || z.next_in[0] != 0x1f ||
			    z.next_in[1] != 0x8b)
				break;
			inflateReset(&z);
		} else if (r != Z_OK) {
			result = err_set(err, E_PARSE, r == Z_BUF_ERROR ?
				"compressed body ends early" : "damaged compressed body");
			break;
		}
	}
	inflateEnd(&z);
	return result;
}

static int decode_brotli(const uint8_t *data, size_t size, const struct limit *l,
                         struct err *err)
{
	BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	int result = 0;

	if (!s)
		err_no_memory();
	for (;;) {
		size_t room = 0, left;
		uint8_t *at = (uint8_t *)step_room(l, &room), extra;
		BrotliDecoderResult r;

		if (!at) {
			at = &extra;
			left = 1;
			r = BrotliDecoderDecompressStream(s, &size, &data, &left, &at, NULL);
			if (r != BROTLI_DECODER_RESULT_SUCCESS || !left)
				result = bomb(err, size, l);
			break;
		}
		left = room;
		r = BrotliDecoderDecompressStream(s, &size, &data, &left, &at, NULL);
		l->out->size += room - left;
		if (r == BROTLI_DECODER_RESULT_SUCCESS)
			break;
		if (r != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
			result = err_set(err, E_PARSE, r == BROTLI_DECODER_RESULT_ERROR ?
				"damaged compressed body" : "compressed body ends early");
			break;
		}
	}
	BrotliDecoderDestroyInstance(s);
	return result;
}

static int decode_zstd(const uint8_t *data, size_t size, const struct limit *l,
                       struct err *err)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer in = { data, size, 0 };
	int result = 0;

	if (!d)
		err_no_memory();
	ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	for (;;) {
		size_t room = 0, r, before;
		char *at = step_room(l, &room), extra;
		ZSTD_outBuffer out = { at ? at : &extra, at ? room : 1, 0 };

		before = in.pos;
		r = ZSTD_decompressStream(d, &out, &in);
		if (at)
			l->out->size += out.pos;
		if (ZSTD_isError(r)) {
			result = err_set(err, E_PARSE, "damaged compressed body");
			break;
		}
		if (r == 0 && in.pos == in.size && (at || !out.pos))
			break;
		if (!at) {
			result = bomb(err, size, l);
			break;
		}
		if (in.pos == in.size && in.pos == before && out.pos == 0) {
			result = err_set(err, E_PARSE, "compressed body ends early");
			break;
		}
	}
	ZSTD_freeDCtx(d);
	return result;
}

int coding_decode(enum coding coding, const void *data, size_t size, struct buf *out,
                  struct err *err)
{
	const uint8_t *d = data;
	struct limit l = { out, out->size, size * CODING_RATIO_MAX };
	bool zlib;

	if (l.max < CODING_FREE || size > SIZE_MAX / CODING_RATIO_MAX)
		l.max = l.max < CODING_FREE ? CODING_FREE : SIZE_MAX;
	if (size > UINT32_MAX / 2)
		return err_set(err, E_LIMIT, "compressed body of more than 2 GiB");
	if (!size && coding != CODING_OTHER)
		return 0;               /* an empty body is empty in every coding */
	switch (coding) {
	case CODING_NONE:
		if (size > out->max - out->size)
			return err_set(err, E_LIMIT, "body of more than %zu bytes", out->max);
		buf_add(out, data, size);
		return 0;
	case CODING_GZIP:
		return decode_zlib(31, d, size, &l, err);
	case CODING_DEFLATE:
		zlib = size >= 2 && (d[0] & 0x0f) == 8 && (d[0] * 256u + d[1]) % 31 == 0;
		return decode_zlib(zlib ? 15 : -15, d, size, &l, err);
	case CODING_BR:
		return decode_brotli(d, size, &l, err);
	case CODING_ZSTD:
		return decode_zstd(d, size, &l, err);
	case CODING_OTHER:
		break;
	}
	return err_set(err, E_PARSE, "unknown or repeated content coding");
}
