/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - a growing byte buffer with a maximum size.
 *
 * An append past the maximum sets `full` and appends nothing; later appends do nothing,
 * either.  So a caller may append freely and check once at the end.  The contents are
 * always followed by a NUL byte that is not counted.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdarg.h>

struct buf {
	char *data;             /* NULL while empty */
	size_t size, cap, max;
	bool full;
};

#define BUF_NO_LIMIT ((size_t)-1 >> 1)

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);
void buf_clear(struct buf *b);                  /* keeps the memory */
void buf_add(struct buf *b, const void *data, size_t size);
void buf_byte(struct buf *b, int c);
void buf_str(struct buf *b, const char *s);
__attribute__((format(printf, 2, 3)))
void buf_printf(struct buf *b, const char *fmt, ...);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
/* Room for `more` bytes at data + size, or NULL if that passes the maximum;
 * the caller writes there and adds what it wrote to size. */
char *buf_grow(struct buf *b, size_t more);     /* the same when there is no room yet */
static inline char *buf_room(struct buf *b, size_t more)
{
	if (!b->full && more < b->cap - b->size && more <= b->max - b->size)
		return b->data + b->size;
	return buf_grow(b, more);
}
const char *buf_text(const struct buf *b);      /* "" when empty */

#endif
