/* SPDX-License-Identifier: Apache-2.0 */
/* zip_inner.h - private to zip_read.c, zip_stream.c and zip_write.c. */
#ifndef BASE_IO_ZIP_INNER_H
#define BASE_IO_ZIP_INNER_H

#include "base/io/zip.h"
#include "base/map.h"
#include "base/mem.h"

#define ZIP_LOCAL 0x04034b50u
#define ZIP_HEAD 0x02014b50u
#define ZIP_END 0x06054b50u
#define ZIP_END64 0x06064b50u
#define ZIP_LOCATOR 0x07064b50u
#define ZIP_EXTRA64 1
#define ZIP_STORED 0
#define ZIP_DEFLATED 8

struct zip {
	char *path;
	int fd;
	uint64_t size;
	struct arena names;
	struct map by_name;             /* hash to index */
	struct zip_entry *entries;
	size_t n;
};

MUST_CHECK int zip_pread(const struct zip *z, uint64_t at, void *data, size_t size,
                         struct err *err);

static inline uint16_t zip_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t zip_u32(const uint8_t *p)
{
	return (uint32_t)zip_u16(p) | (uint32_t)zip_u16(p + 2) << 16;
}

static inline uint64_t zip_u64(const uint8_t *p)
{
	return (uint64_t)zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32;
}

#endif
