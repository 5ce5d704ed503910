/* SPDX-License-Identifier: Apache-2.0 */
/* robots_copy.c - copies of robots.txt in the store, read; see robots_copy.h. */
#include "engine/book/robots_copy.h"

#include "base/io/squeeze.h"
#include "web/rules/robots.h"

int robots_copy_read(const struct store_robots *row, int64_t now, struct buf *text)
{
	struct err damaged;

	if (row->time > now || row->tried > now || row->failing > now)
		return 0;
	if (!text->max)
		buf_init(text, ROBOTS_SIZE_MAX);
	buf_clear(text);
	if (row->body.s && squeeze_undo(text, row->body.s, row->body.size, &damaged) < 0)
		return 0;
	return 1;
}

int robots_copy_get(struct store *s, struct text origin, int64_t now,
                    struct store_robots *ret, struct buf *text, struct err *err)
{
	int rc = store_robots_get(s, origin, ret, err);

	return rc <= 0 ? rc : robots_copy_read(ret, now, text);
}
