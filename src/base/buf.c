/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - the capped byte buffer; see buf.h. */
#include "base/buf.h"

#include <stdio.h>

#include "base/mem.h"

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void buf_release(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->size = b->cap = 0;
	b->full = false;
}

void buf_clear(struct buf *b)
{
	b->size = 0;
	b->full = false;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_grow(struct buf *b, size_t more)
{
	size_t need;

	if (b->full || more > b->max || b->size > b->max - more) {
		b->full = true;
		return NULL;
	}
	need = b->size + more + 1;
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap < need)
			cap *= 2;
		if (!b->size) {         /* empty: nothing to copy */
			free(b->data);
			b->data = NULL;
		}
		b->data = mem_resize(b->data, cap, 1);
		b->data[b->size] = '\0';
		b->cap = cap;
	}
	return b->data + b->size;
}

void buf_add(struct buf *b, const void *data, size_t size)
{
	char *to = buf_room(b, size);

	if (!to)
		return;
	if (size)
		memcpy(to, data, size);
	b->size += size;
	b->data[b->size] = '\0';
}

void buf_byte(struct buf *b, int c)
{
	char ch = (char)c;

	buf_add(b, &ch, 1);
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	size_t room = b->full ? 0 : b->cap - b->size;
	va_list again;
	char *to;
	int n;

	/* if it fits into the room that is there, this is all */
	va_copy(again, ap);
	n = vsnprintf(room ? b->data + b->size : NULL, room, fmt, again);
	va_end(again);
	if (n >= 0 && (size_t)n < room && (size_t)n <= b->max - b->size) {
		b->size += (size_t)n;
		return;
	}
	if (room)
		b->data[b->size] = '\0';
	if (n < 0 || !(to = buf_room(b, (size_t)n)))
		return;
	vsnprintf(to, (size_t)n + 1, fmt, ap);
	b->size += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

const char *buf_text(const struct buf *b)
{
	return b->data ? b->data : "";
}
