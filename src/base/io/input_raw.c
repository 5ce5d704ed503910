/* SPDX-License-Identifier: Apache-2.0 */
/* input_raw.c - the bytes of a file, with a few before the next one; see input_raw.h. */
#include "base/io/input_raw.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static long read_some(const struct raw *r, void *data, size_t size, struct err *err)
{
	uint64_t at = r->base + r->len;

	if (r->source)
		return r->source->read(r->source->arg, data, size, err);
	if (r->end && size > r->end - at)
		size = (size_t)(r->end - at);
	while (size) {
		ssize_t n = read(r->fd, data, size);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return err_errno(err, E_IO, "%s: cannot read", r->name);
	}
	return 0;
}

int raw_need(struct raw *r, size_t want, struct err *err)
{
	while (!r->eof && raw_avail(r) < want) {
		long n;

		if (RAW_SIZE - r->pos < want || r->len == RAW_SIZE) {
			size_t history = r->pos < RAW_HISTORY ? r->pos : RAW_HISTORY;
			size_t drop = r->pos - history;

			memmove(r->buf, r->buf + drop, r->len - drop);
			r->pos -= drop;
			r->len -= drop;
			r->base += drop;
		}
		n = read_some(r, r->buf + r->len, RAW_SIZE - r->len, err);
		if (n < 0)
			return (int)n;
		r->eof = n == 0;
		r->len += (size_t)n;
	}
	return 0;
}

/* Go to an offset, back or forth.  A pipe can go back only within its buffer: from an
 * earlier offset it goes to the first byte of that. */
int raw_seek(struct raw *r, uint64_t offset, struct err *err)
{
	if (offset >= r->base && offset <= r->base + r->len) {
		r->pos = (size_t)(offset - r->base);
		return 0;
	}
	if (r->fd < 0 || !r->seekable) {
		r->pos = offset < r->base ? 0 : r->len;
		return 0;
	}
	if (lseek(r->fd, (off_t)offset, SEEK_SET) < 0)
		return err_errno(err, E_IO, "%s: cannot seek", r->name);
	r->base = offset;
	r->pos = r->len = 0;
	r->eof = false;
	return 0;
}
