/* SPDX-License-Identifier: Apache-2.0 */
/* last_cycle.c - the newest cycle of a repository; see last_cycle.h. */
#include "engine/book/last_cycle.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "engine/book/ledger.h"

static int see_cycle(void *arg, const struct store_cycle *row, struct err *err)
{
	struct last_cycle *l = arg;

	(void)err;
	l->row = *row;
	snprintf(l->policy, sizeof l->policy, "%.*s", (int)row->policy.size,
	         row->policy.s ? row->policy.s : "");
	l->row.policy = (struct text){ l->policy, strlen(l->policy) };
	l->any = true;
	return 0;
}

int last_cycle_read(struct store *s, struct last_cycle *ret, struct err *err)
{
	*ret = (struct last_cycle){ 0 };
	return store_cycles(s, STORE_NEWEST, see_cycle, ret, err);
}

int last_cycle_wait(struct store *s, int64_t every, int64_t now, int64_t *ret, struct err *err)
{
	struct last_cycle l;
	int rc = last_cycle_read(s, &l, err);
	bool counts = rc == 0 && l.any && !l.row.open && !l.row.clients && l.row.goal == GOAL_CHANGED;
	int64_t ago = counts ? now - l.row.time : 0;

	/* the second of two cycles within a second is dated a second ahead; a clock may have been
	 * years ahead */
	if (rc == 0)
		*ret = counts && ago < every && ago > -every ? every - (ago > 0 ? ago : 0) : 0;
	return rc;
}

uint32_t last_cycle_overspent(const struct store_cycle *c)
{
	return c->clients && c->downloads > c->budget ? c->downloads - c->budget : 0;
}

uint32_t last_cycle_owed(const struct last_cycle *last)
{
	uint32_t over = last_cycle_overspent(&last->row), owed = last->row.owed;

	if (!last->any)
		return 0;
	return over < UINT32_MAX - owed ? owed + over : UINT32_MAX;
}

uint32_t last_cycle_pay(struct store_cycle *c)
{
	uint32_t most = c->budget ? c->budget - 1 : 0, paid = c->owed < most ? c->owed : most;

	c->budget -= paid;
	c->owed -= paid;
	return paid;
}

int last_cycle_end(struct store *s, struct last_cycle *last, struct err *err)
{
	struct ledger l;
	int rc;

	last->row.open = false;
	if (!last->row.clients)
		return store_cycle_put(s, &last->row, err);
	rc = ledger_load(&l, s, err);           /* offers that are out lapse */
	if (rc == 0 && l.open)
		rc = ledger_end(&l, err);
	last->row.downloads = l.last.row.downloads;
	ledger_release(&l);
	return rc;
}

int last_cycle_next(struct store *s, uint32_t *ret_number, uint32_t *ret_ended,
                    struct err *err)
{
	struct last_cycle last;
	int rc = last_cycle_read(s, &last, err);

	*ret_ended = 0;
	if (rc == 0 && last.any && last.row.open) {
		*ret_ended = last.row.number;
		rc = last_cycle_end(s, &last, err);
	}
	*ret_number = last.row.number + 1;
	return rc;
}
