/* SPDX-License-Identifier: Apache-2.0 */
/* little.h - numbers as bytes, the lowest first, as files and frames of other programs have
 * them. */
#ifndef BASE_LITTLE_H
#define BASE_LITTLE_H

#include <stdint.h>

#include "base/buf.h"

static inline void little_put(void *to, uint64_t v, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		((unsigned char *)to)[i] = (unsigned char)(v >> 8 * i);
}

static inline uint64_t little_get(const void *from, size_t n_bytes)
{
	uint64_t v = 0;

	for (size_t i = n_bytes; i-- > 0;)
		v = v << 8 | ((const unsigned char *)from)[i];
	return v;
}

static inline uint32_t little_get32(const void *from)
{
	return (uint32_t)little_get(from, 4);
}

/* Append to a buffer. */
static inline void little_add(struct buf *b, uint64_t v, size_t n_bytes)
{
	char bytes[8];

	little_put(bytes, v, n_bytes);
	buf_add(b, bytes, n_bytes);
}

#endif
