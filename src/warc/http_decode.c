/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_decode.c - undoes content encodings; see http.h.
 *
 * Each decoder writes pieces of PIECE bytes into the output and stops at the
 * output's maximum or when the ratio is a bomb's, so neither time nor memory
 * follows what the stream claims.  Layers in between are held whole, under the
 * same caps.  Where there are cells (base/sandbox/cell.h) one of them does it.
 */
#include "warc/http.h"

#include <brotli/decode.h>
#include <isa-l/igzip_lib.h>
#include <string.h>
#include <strings.h>
#include <zstd.h>

#include "base/sandbox/cell.h"
#include "base/vector_state.h"

#define PIECE (64u << 10)
#define ZSTD_WINDOW_LOG 27

/* Room for the next piece, or NULL if no more may come out. */
static uint8_t *next_piece(struct buf *out, size_t start, size_t in_size,
                           size_t *ret_room)
{
	size_t made = out->size - start;
	size_t left = out->max - out->size;

	if (made > HTTP_RATIO_FREE && made / HTTP_RATIO_MAX > in_size)
		return NULL;
	*ret_room = left < PIECE ? left : PIECE;
	return *ret_room ? (uint8_t *)buf_room(out, *ret_room) : NULL;
}

static int too_large(struct err *err, const char *what, size_t in_size)
{
	return err_set(err, E_LIMIT, "%s body of %zu bytes grows beyond the limit", what,
	               in_size);
}

/* One deflate stream in any wrapper, or several gzip members.  *ret_used: bytes
 * of the input taken when the stream ended. */
static int inflate_stream(struct buf *out, size_t start, uint32_t wrapper,
                          const char *data, size_t size, size_t *ret_used,
                          struct inflate_state *z, struct err *err)
{
	const uint8_t *from = (const uint8_t *)data;

	isal_inflate_init(z);
	z->crc_flag = wrapper;
	z->next_in = (uint8_t *)(uintptr_t)from;
	z->avail_in = (uint32_t)size;
	for (;;) {
		size_t room;
		uint8_t *to = next_piece(out, start, size, &room);
		uint32_t avail = z->avail_in;
		int rc;

		/* with the output full, the stream may still be at its end: offer one byte more */
		uint8_t spare[1];
		z->next_out = to ? to : spare;
		z->avail_out = to ? (uint32_t)room : 1;
		rc = isal_inflate(z);
		vector_state_clear();
		if (to)
			out->size += room - z->avail_out;
		if (rc != ISAL_DECOMP_OK)
			return err_set(err, E_PARSE, "damaged deflate data");
		if (!to && z->avail_out == 0)
			return too_large(err, "compressed", size);
		if (z->block_state == ISAL_BLOCK_FINISH)
			break;
		if (z->avail_in == avail && z->avail_out == (to ? room : 1))
			return err_set(err, E_PARSE, "compressed body ends early");
	}
	*ret_used = (size_t)(z->next_in - from);
	return 0;
}

static int decode_gzip(struct buf *out, const char *data, size_t size, struct err *err)
{
	struct inflate_state *z = mem_alloc(sizeof *z);
	size_t used = 0, at = 0, start = out->size;
	int rc = 0;

	/* bytes after the last member are ignored, as in browsers */
	while (rc == 0 && size - at >= 2 && (uint8_t)data[at] == 0x1f &&
	       (uint8_t)data[at + 1] == 0x8b) {
		rc = inflate_stream(out, start, ISAL_GZIP, data + at, size - at, &used, z, err);
		at += used;
	}
	free(z);
	return rc;
}

/* "deflate" is zlib's format by the standard, and bare deflate from some. */
static int decode_deflate(struct buf *out, const char *data, size_t size, struct err *err)
{
	const uint8_t *p = (const uint8_t *)data;
	bool wrapped = size >= 2 && (p[0] & 15) == 8 && (p[0] << 8 | p[1]) % 31 == 0;
	struct inflate_state *z = mem_alloc(sizeof *z);
	size_t start = out->size, used;
	int rc;

	rc = inflate_stream(out, start, wrapped ? ISAL_ZLIB : ISAL_DEFLATE, data, size, &used,
	                    z, err);
	if (rc == E_PARSE && wrapped && out->size == start)
		rc = inflate_stream(out, start, ISAL_DEFLATE, data, size, &used, z, err);
	free(z);
	return rc;
}

static int decode_brotli(struct buf *out, const char *data, size_t size, struct err *err)
{
	BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	const uint8_t *next = (const uint8_t *)data;
	size_t avail = size, start = out->size;
	int rc = 0;

	if (!s)
		err_no_memory();
	for (;;) {
		size_t room = 0, left;
		uint8_t *to = next_piece(out, start, size, &room);
		BrotliDecoderResult r;

		left = to ? room : 0;
		r = BrotliDecoderDecompressStream(s, &avail, &next, &left, &to, NULL);
		out->size += room - left;
		if (r == BROTLI_DECODER_RESULT_SUCCESS)
			break;
		if (r == BROTLI_DECODER_RESULT_ERROR)
			rc = err_set(err, E_PARSE, "damaged brotli data");
		else if (r == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
			rc = err_set(err, E_PARSE, "compressed body ends early");
		else if (!to && room == left)
			rc = too_large(err, "brotli", size);
		if (rc < 0)
			break;
	}
	BrotliDecoderDestroyInstance(s);
	return rc;
}

static int decode_zstd(struct buf *out, const char *data, size_t size, struct err *err)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer from = { data, size, 0 };
	size_t start = out->size;
	int rc = 0;

	if (!d)
		err_no_memory();
	(void)ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	for (;;) {
		size_t room = 0, n, before = from.pos;
		uint8_t *to = next_piece(out, start, size, &room);
		ZSTD_outBuffer piece = { to, to ? room : 0, 0 };

		n = ZSTD_decompressStream(d, &piece, &from);
		out->size += piece.pos;
		if (ZSTD_isError(n))
			rc = err_set(err, E_PARSE, "damaged zstd data");
		else if (n == 0 && from.pos == size)
			break;
		else if (n && !to)
			rc = too_large(err, "zstd", size);
		else if (n && from.pos == size && piece.pos < room)
			rc = err_set(err, E_PARSE, "compressed body ends early");
		else if (n && from.pos == before && piece.pos == 0)
			rc = err_set(err, E_PARSE, "damaged zstd data");
		if (rc < 0)
			break;
	}
	ZSTD_freeDCtx(d);
	return rc;
}

static bool is_word(const char *s, size_t size, const char *word)
{
	return size == strlen(word) && strncasecmp(s, word, size) == 0;
}

static int decode_layer(struct buf *out, const char *name, size_t name_size,
                        const char *data, size_t size, struct err *err)
{
	const uint8_t *p = (const uint8_t *)data;
	bool gzip = is_word(name, name_size, "gzip") || is_word(name, name_size, "x-gzip");
	bool zstd = is_word(name, name_size, "zstd");
	int rc;

	if (size > UINT32_MAX)
		return too_large(err, "compressed", size);
	if (size == 0 || is_word(name, name_size, "identity") ||
	    (gzip && (size < 2 || p[0] != 0x1f || p[1] != 0x8b)) ||
	    (zstd && (size < 4 || memcmp(p, "\x28\xb5\x2f\xfd", 4)))) {
		buf_add(out, data, size);
		return out->full ? too_large(err, "plain", size) : 0;
	}
	if (gzip)
		rc = decode_gzip(out, data, size, err);
	else if (zstd)
		rc = decode_zstd(out, data, size, err);
	else if (is_word(name, name_size, "br"))
		rc = decode_brotli(out, data, size, err);
	else if (is_word(name, name_size, "deflate"))
		rc = decode_deflate(out, data, size, err);
	else
		rc = err_set(err, E_PARSE, "unknown content encoding");
	buf_add(out, "", 0);            /* put the NUL after the contents */
	return rc;
}

static int decode_here(struct buf *out, const char *encoding, size_t encoding_size,
                       const char *data, size_t size, struct err *err)
{
	const char *end = encoding + encoding_size;
	struct buf held[2];
	int layers = 0, rc = 0;

	buf_init(&held[0], out->max);
	buf_init(&held[1], out->max);
	/* the last encoding was applied last, so it goes first */
	for (;;) {
		const char *comma = encoding_size ? memrchr(encoding, ',', encoding_size) : NULL;
		const char *name = comma ? comma + 1 : encoding, *name_end = end;
		struct buf *to = comma ? &held[layers & 1] : out;

		while (name < name_end && (*name == ' ' || *name == '\t'))
			name++;
		while (name_end > name && (name_end[-1] == ' ' || name_end[-1] == '\t'))
			name_end--;
		if (++layers > HTTP_LAYERS_MAX) {
			rc = err_set(err, E_LIMIT, "more than %d content encodings",
			             HTTP_LAYERS_MAX);
			break;
		}
		if (to != out)
			buf_clear(to);
		rc = name == name_end ? decode_layer(to, "identity", 8, data, size, err) :
		     decode_layer(to, name, (size_t)(name_end - name), data, size, err);
		if (rc < 0 || !comma)
			break;
		data = buf_text(to);
		size = to->size;
		end = comma;
		encoding_size = (size_t)(comma - encoding);
	}
	buf_release(&held[0]);
	buf_release(&held[1]);
	return rc;
}

int http_decode_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	return n == 2 && parts[0].s ? decode_here(answer, parts[0].s, parts[0].size, parts[1].s,
	                                          parts[1].size, err) :
	       err_set(err, E_PARSE, "unknown content encoding");
}

int http_decode(struct buf *out, const char *encoding, size_t encoding_size,
                const char *data, size_t size, struct err *err)
{
	struct text parts[] = { { encoding, encoding_size }, { data, size } };
	size_t most = out->max - out->size;

	if (!cells_do(CELL_DECODE) || !size)
		return decode_here(out, encoding, encoding_size, data, size, err);
	if (size < SIZE_MAX / HTTP_RATIO_MAX - HTTP_RATIO_FREE &&
	    most > size * HTTP_RATIO_MAX + HTTP_RATIO_FREE + PIECE)
		most = size * HTTP_RATIO_MAX + HTTP_RATIO_FREE + PIECE;
	return cell_call(CELL_DECODE, parts, 2, most, out, NULL, NULL, err);
}
