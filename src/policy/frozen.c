/* SPDX-License-Identifier: Apache-2.0 */
/* frozen.c - see frozen.h. */
#include "policy/frozen.h"

#include "base/map.h"
#include "base/mem.h"

static void hash_more(struct frozen *f, const unsigned char *bytes, size_t size)
{
	while (size) {
		size_t n = sizeof f->block - f->filled;

		n = n < size ? n : size;
		memcpy(f->block + f->filled, bytes, n);
		f->filled += n;
		bytes += n;
		size -= n;
		if (f->filled == sizeof f->block) {
			f->hash = hash_bytes(f->block, f->filled, f->hash);
			f->filled = 0;
		}
	}
}

uint64_t frozen_hash(const struct frozen *f)
{
	return hash_bytes(f->block, f->filled, f->hash);
}

void frozen_bytes(struct frozen *f, void *bytes, size_t size)
{
	if (!size)
		return;
	if (!f->thaw) {
		f->bad |= fwrite(bytes, 1, size, f->file) != size;
	} else if (f->bad || size > f->left || fread(bytes, 1, size, f->file) != size) {
		f->bad = true;
		memset(bytes, 0, size);
	} else {
		f->left -= size;
	}
	hash_more(f, bytes, size);
}

void frozen_rows(struct frozen *f, void *rows, size_t n, size_t size)
{
	uint64_t count = n;

	frozen_value(f, &count);
	frozen_check(f, count <= n);
	frozen_bytes(f, rows, f->bad ? 0 : (size_t)count * size);
}

void frozen_same(struct frozen *f, uint64_t n)
{
	uint64_t count = n;

	frozen_value(f, &count);
	frozen_check(f, count == n);
}

void frozen_array(struct frozen *f, void **v, size_t *n, size_t *cap, size_t size)
{
	uint64_t count = *n;

	frozen_value(f, &count);
	if (f->thaw) {
		frozen_check(f, count <= f->left / size);
		if (f->bad)
			count = 0;
		*n = (size_t)count;
		mem_grow(v, cap, *n, size);
	}
	frozen_bytes(f, *v, *n * size);
}
