/* SPDX-License-Identifier: Apache-2.0 */
/* change_feed.c - see change_feed.h. */
#include "engine/changes/change_feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The first number is the version of the cursors. */
void change_cursor_write(const struct change_cursor *c, char out[CHANGE_CURSOR_SIZE])
{
	snprintf(out, CHANGE_CURSOR_SIZE, "1.%" PRIu32 ".%" PRIu32, c->cycle, c->order);
}

static int last_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(uint32_t *)arg = c->number;
	return 0;
}

int change_cursor_check(const struct change_cursor *c, struct store *s, struct err *err)
{
	uint32_t last = 0;
	int rc = store_cycles(s, STORE_NEWEST, last_cycle, &last, err);

	if (rc == 0 && c->cycle > last)
		rc = err_set(err, E_GONE, "the cursor is ahead of this repository: it is of another, "
		             "or of a later state; begin without one");
	return rc;
}

int change_cursor_read(struct change_cursor *ret, struct store *s, const char *text,
                       struct err *err)
{
	struct change_cursor c = { 0, 0 };
	char again[CHANGE_CURSOR_SIZE] = "";
	int rc;

	if (!text) {
		*ret = c;
		return 0;
	}
	if (sscanf(text, "1.%" SCNu32 ".%" SCNu32, &c.cycle, &c.order) == 2)
		change_cursor_write(&c, again);
	if (!again[0] || strcmp(again, text))
		return err_set(err, E_USAGE, "this is no cursor of changes");
	rc = change_cursor_check(&c, s, err);
	if (rc == 0)
		*ret = c;
	return rc;
}

static int last_change(void *arg, const struct store_visit *v, struct err *err)
{
	struct change_cursor *c = arg;

	(void)err;
	*c = (struct change_cursor){ v->cycle, v->order };
	return 0;
}

int change_cursor_end(struct change_cursor *ret, struct store *s, struct err *err)
{
	struct change_cursor c = { 0, 0 };
	int rc = store_cycles(s, STORE_NEWEST, last_cycle, &c.cycle, err);

	if (rc == 0 && c.cycle)
		rc = store_visits_found(s, c.cycle, UINT32_MAX, last_change, &c, err);
	if (rc == 0)
		*ret = c;
	return rc;
}

struct feeding {
	struct change_cursor *cursor;
	store_visit_each *each;
	void *arg;
};

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct feeding *f = arg;
	int rc;

	if (v->cycle == f->cursor->cycle && v->order <= f->cursor->order)
		return 0;
	rc = f->each(f->arg, v, err);
	if (rc == 0)
		*f->cursor = (struct change_cursor){ v->cycle, v->order };
	return rc;
}

int change_feed(struct store *s, struct change_cursor *c, store_visit_each *each, void *arg,
                struct err *err)
{
	struct feeding f = { c, each, arg };
	/* cycle 0 is imported history */
	int rc = store_visits_found(s, c->cycle ? c->cycle : 1, UINT32_MAX, see_visit, &f, err);

	return rc < 0 ? rc : 0;
}

/* The cursors before the newest changes, in a ring. */
struct ring { struct change_cursor v[CHANGE_LAST_MAX], before; uint32_t size, n; };

static int see_change(void *arg, const struct store_visit *v, struct err *err)
{
	struct ring *r = arg;

	(void)err;
	r->v[r->n++ % r->size] = r->before;
	r->before = (struct change_cursor){ v->cycle, v->order };
	return 0;
}

int change_cursor_last(struct change_cursor *ret, struct store *s, uint32_t n, struct err *err)
{
	struct ring *r = mem_zalloc(1, sizeof *r);
	uint32_t newest = 0, from, back = 1;
	int rc = store_cycles(s, STORE_NEWEST, last_cycle, &newest, err);

	n = n < CHANGE_LAST_MAX ? n : CHANGE_LAST_MAX;
	/* the newest cycles first, then twice as many, until they have enough */
	do {
		from = newest > back ? newest - back : 0;
		*r = (struct ring){ .size = n, .before = { from, UINT32_MAX } };
		if (rc == 0 && n)
			rc = store_visits_found(s, from + 1, UINT32_MAX, see_change, r, err);
		back *= 2;
	} while (rc == 0 && r->n < n && from);
	if (rc == 0 && r->n)
		*ret = r->v[r->n < n ? 0 : r->n % n];
	else if (rc == 0)
		rc = change_cursor_end(ret, s, err);
	free(r);
	return rc;
}
