/* SPDX-License-Identifier: Apache-2.0 */
/* recall_care.c - see recall_care.h. */
#include "engine/recall/recall_care.h"

#include "base/mem.h"
#include "engine/recall/recall.h"

static int see_one(void *arg, const struct store_care *row, struct err *err)
{
	(void)arg;
	(void)row;
	(void)err;
	return 1;
}

int recall_care_begin(struct recall_care *c, struct store *s, uint8_t *state, uint32_t n_pages,
                      struct err *err)
{
	int rc = store_care_log(s, STORE_NONE, 0, UINT32_MAX, see_one, NULL, err);

	*c = (struct recall_care){ .store = s, .state = state, .any = rc > 0,
	                           .marks = mem_zalloc(n_pages, 1) };
	return rc < 0 ? rc : 0;
}

void recall_care_release(struct recall_care *c)
{
	free(c->marks);
}

static int change(void *arg, const struct store_care *row, struct err *err)
{
	struct recall_care *c = arg;
	uint8_t *state = &c->state[row->page], *mark = &c->marks[row->page];

	(void)err;
	if (row->care && !(*mark & MARK_OUT)) {
		*mark |= (uint8_t)(MARK_OUT | (*state & PAGE_HERE ? MARK_WAITS : 0));
		*state &= (uint8_t)~PAGE_HERE;
	} else if (!row->care && *mark & MARK_OUT) {
		*state |= *mark & MARK_WAITS ? PAGE_HERE : 0;
		*mark &= (uint8_t)~(MARK_OUT | MARK_WAITS);
	}
	return 0;
}

int recall_care_until(struct recall_care *c, uint32_t cycle, struct err *err)
{
	int rc = 0;

	if (c->any && c->from < cycle)
		rc = store_care_log(c->store, STORE_NONE, c->from, cycle, change, c, err);
	c->from = cycle;
	return rc;
}

void recall_care_here(struct recall_care *c, uint32_t page)
{
	if (c->marks[page] & MARK_OUT)
		c->marks[page] |= MARK_WAITS;
	else
		c->state[page] |= PAGE_HERE;
}

void recall_care_told(struct recall_care *c, uint32_t page)
{
	uint8_t *state = &c->state[page], *mark = &c->marks[page];

	if (!(*mark & MARK_OUT))
		return;
	*mark = (uint8_t)((*mark & ~MARK_WAITS) | (*state & PAGE_HERE ? MARK_WAITS : 0));
	*state &= (uint8_t)~PAGE_HERE;
}

static int hash_row(void *arg, const struct store_care *row, struct err *err)
{
	const uint32_t numbers[] = { row->cycle, row->page, row->care };
	uint64_t *h = arg;

	(void)err;
	*h = hash_bytes(numbers, sizeof numbers, *h);
	return 0;
}

int recall_care_hash(const struct recall_care *c, uint32_t cycles, uint64_t *hash,
                     struct err *err)
{
	return c->any ? store_care_log(c->store, STORE_NONE, 0, cycles, hash_row, hash, err) : 0;
}

static int note_out(void *arg, const struct store_care *row, struct err *err)
{
	(void)err;
	map_put(arg, row->page, row->care != 0);
	return 0;
}

int recall_out(struct engine *e, struct store *s, uint32_t from_cycle, struct err *err)
{
	return store_care_log(s, STORE_NONE, from_cycle, UINT32_MAX, note_out, &e->out, err);
}
