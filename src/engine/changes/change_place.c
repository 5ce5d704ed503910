/* SPDX-License-Identifier: Apache-2.0 */
/* change_place.c - see change_place.h. */
#include "engine/changes/change_place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The first number is the version of the cursors; 1 is that of one store.  Then the epoch, and
 * for each shard CYCLE-ORDER, or nothing for the beginning. */
#define HEAD "2."

void change_place_begin(struct change_place *p, int64_t epoch, uint32_t n_shards)
{
	p->epoch = epoch;
	p->at.n = 0;
	for (uint32_t i = 0; i < n_shards; i++)
		vec_push(&p->at, ((struct change_cursor){ 0, 0 }));
}

/* A number without sign, at most UINT32_MAX. */
static bool take_number(const char **s, uint32_t *ret)
{
	uint64_t v = 0;
	const char *from = *s;

	while (**s >= '0' && **s <= '9' && *s - from < 10)
		v = v * 10 + (uint64_t)(*(*s)++ - '0');
	*ret = (uint32_t)v;
	return *s > from && v <= UINT32_MAX && !(**s >= '0' && **s <= '9');
}

static bool parse(struct change_place *p, const char *s)
{
	uint32_t epoch;

	if (strncmp(s, HEAD, strlen(HEAD)))
		return false;
	s += strlen(HEAD);
	if (!take_number(&s, &epoch))
		return false;
	p->epoch = epoch;
	p->at.n = 0;
	while (*s == '.') {
		struct change_cursor c = { 0, 0 };

		s++;
		if (*s && *s != '.' && (!take_number(&s, &c.cycle) || *s++ != '-' ||
		                        !take_number(&s, &c.order)))
			return false;
		vec_push(&p->at, c);
	}
	return !*s && p->at.n;
}

int change_place_read(struct change_place *p, int64_t epoch, uint32_t n_shards,
                      const char *text, struct err *err)
{
	struct change_place got = { 0 };
	bool one = text && !strncmp(text, "1.", 2);     /* from when there was one shard */

	if (!text) {
		change_place_begin(p, epoch, n_shards);
		return 0;
	}
	if (!one && !parse(&got, text)) {
		change_place_release(&got);
		return err_set(err, E_USAGE, "this is no cursor of changes");
	}
	if (one || got.epoch != epoch || got.at.n != n_shards) {
		change_place_release(&got);
		return err_set(err, E_GONE, "the shards of the fleet are others than when this cursor was "
		               "made: read the list of pages again, and begin without a cursor");
	}
	change_place_release(p);
	*p = got;
	return 0;
}

void change_place_write(const struct change_place *p, struct buf *out)
{
	buf_printf(out, HEAD "%" PRId64, p->epoch);
	for (size_t i = 0; i < p->at.n; i++) {
		buf_byte(out, '.');
		if (p->at.v[i].cycle || p->at.v[i].order)
			buf_printf(out, "%" PRIu32 "-%" PRIu32, p->at.v[i].cycle, p->at.v[i].order);
	}
}

void change_place_release(struct change_place *p)
{
	vec_release(&p->at);
}
