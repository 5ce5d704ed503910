/* SPDX-License-Identifier: Apache-2.0 */
/* epoch.c - see epoch.h. */
#include "engine/view/epoch.h"

#include "base/mem.h"

struct begun { int64_t time; uint32_t pages; };

/* The cycles from `first` on: an epoch needs no older ones, of which there may be many. */
struct begun_cycles { uint32_t first; VEC(struct begun) v; };

/* The cycle with which links were last read again. */
static uint32_t renewed_in(uint32_t cycle)
{
	return (cycle - 1) / EPOCH_CYCLES * EPOCH_CYCLES + 1;
}

uint32_t epoch_first(uint32_t cycle)
{
	uint32_t first = 1;

	if (cycle > EPOCH_CYCLES)
		return renewed_in(cycle);
	while (first * 2 <= cycle)
		first *= 2;
	return first;
}

static int read_row(void *arg, const struct store_cycle *c, struct err *err)
{
	struct begun_cycles *rows = arg;
	struct begun row = { c->time, c->pages };

	(void)err;
	vec_push(&rows->v, row);        /* numbers have no gaps */
	return 0;
}

/* A cycle that has no row has not begun. */
static int64_t time_of(const struct begun_cycles *rows, uint32_t cycle)
{
	return cycle - rows->first < rows->v.n ? rows->v.v[cycle - rows->first].time : INT64_MAX;
}

/* Cycles made by older programs do not say how many pages there were: take the next that does. */
static uint32_t pages_of(const struct begun_cycles *rows, uint32_t cycle)
{
	for (size_t i = cycle - rows->first; i < rows->v.n; i++)
		if (rows->v.v[i].pages)
			return rows->v.v[i].pages;
	return UINT32_MAX;
}

int epoch_find(struct epoch *ret, struct store *s, uint32_t cycle, struct err *err)
{
	struct begun_cycles rows = { .first = cycle ? renewed_in(cycle) : 1 };
	int rc = store_cycles(s, rows.first, read_row, &rows, err);

	if (!cycle)
		cycle = (uint32_t)rows.v.n + 1;
	*ret = (struct epoch){ time_of(&rows, renewed_in(cycle)),
	                       time_of(&rows, epoch_first(cycle)), time_of(&rows, cycle),
	                       pages_of(&rows, epoch_first(cycle)) };
	vec_release(&rows.v);
	return rc;
}
