/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - compressed bytes for tests; see pack.h. */
#include "pack.h"

#include <brotli/encode.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

static void deflate_all(struct buf *to, const void *data, size_t size, int bits, int level)
{
	z_stream z = { 0 };
	size_t max;
	char *out;

	if (deflateInit2(&z, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	max = deflateBound(&z, (uLong)size) + 64;
	out = mem_alloc(max);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)size;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)max;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	buf_add(to, out, z.total_out);
	deflateEnd(&z);
	free(out);
}

void pack_gzip(struct buf *to, const void *data, size_t size)
{
	deflate_all(to, data, size, 15 + 16, 6);
}

void pack_gzip_stored(struct buf *to, const void *data, size_t size)
{
	deflate_all(to, data, size, 15 + 16, 0);
}

void pack_zlib(struct buf *to, const void *data, size_t size)
{
	deflate_all(to, data, size, 15, 6);
}

void pack_deflate(struct buf *to, const void *data, size_t size)
{
	deflate_all(to, data, size, -15, 6);
}

void pack_deflate_stored(struct buf *to, const void *data, size_t size)
{
	deflate_all(to, data, size, -15, 0);
}

void pack_zstd(struct buf *to, const void *data, size_t size)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t max = ZSTD_compressBound(size), n;
	char *out = mem_alloc(max);

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(c, out, max, data, size);
	if (ZSTD_isError(n))
		abort();
	buf_add(to, out, n);
	free(out);
	ZSTD_freeCCtx(c);
}

void pack_brotli(struct buf *to, const void *data, size_t size)
{
	size_t n = BrotliEncoderMaxCompressedSize(size) + 64;
	uint8_t *out = mem_alloc(n);

	if (!BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, size, data, &n, out))
		abort();
	buf_add(to, out, n);
	free(out);
}
