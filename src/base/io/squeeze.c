/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze.c - one frame of zstd with its size in front; see squeeze.h. */
#include "base/io/squeeze.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <libdeflate.h>
#include <zstd.h>

#define LEVEL 3

void squeeze(struct buf *out, const void *data, size_t size)
{
	size_t most = ZSTD_compressBound(size), n;
	char *to = buf_room(out, most);

	if (!to)
		return;                 /* out is marked as full */
	n = ZSTD_compress(to, most, data, size, LEVEL);
	if (ZSTD_isError(n))
		err_no_memory();        /* with enough room, nothing else can fail */
	out->size += n;
	out->data[out->size] = '\0';
}

static bool is_squeezed(const void *data, size_t size)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	return size >= sizeof magic && !memcmp(data, magic, sizeof magic);
}

int squeeze_undo(struct buf *out, const void *data, size_t size, struct err *err)
{
	unsigned long long whole;
	size_t n;
	char *to;

	if (!is_squeezed(data, size)) {
		if (size > out->max - out->size)
			return err_set(err, E_LIMIT, "too long");
		buf_add(out, data, size);
		return 0;
	}
	whole = ZSTD_getFrameContentSize(data, size);
	if (whole == ZSTD_CONTENTSIZE_ERROR || whole == ZSTD_CONTENTSIZE_UNKNOWN)
		return err_set(err, E_PARSE, "squeezed text is damaged");
	if (whole > out->max - out->size)
		return err_set(err, E_LIMIT, "squeezed text is too long");
	to = buf_room(out, (size_t)whole);
	n = to ? ZSTD_decompress(to, (size_t)whole, data, size) : 0;
	if (!to || n != whole)
		return err_set(err, E_PARSE, "squeezed text is damaged");
	out->size += n;
	out->data[out->size] = '\0';
	return 0;
}

void squeeze_gzip(struct buf *out, const void *data, size_t size)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	size_t room;

	if (!c)
		err_no_memory();
	room = libdeflate_gzip_compress_bound(c, size);
	out->size += libdeflate_gzip_compress(c, data, size, buf_room(out, room), room);
	out->data[out->size] = '\0';
	libdeflate_free_compressor(c);
}
