/* SPDX-License-Identifier: Apache-2.0 */
/* turn.c - which service of a fleet delivers; see hooks.h. */
#include <inttypes.h>
#include <openssl/rand.h>
#include <stdio.h>

#include "serve/hook/hooks.h"

#define STATE "webhooks.sender"
#define TEXT 40

int turn_begin(struct hooks_turn *t, struct err *err)
{
	uint64_t name;

	*t = (struct hooks_turn){ .looked = -TURN_BEAT };
	if (RAND_bytes((unsigned char *)&name, sizeof name) != 1)
		return err_set(err, E_FAIL, "the system has no random bytes");
	snprintf(t->name, sizeof t->name, "%016" PRIx64, name);
	return 0;
}

static void text_of(const struct hooks_turn *t, uint64_t count, char ret[TEXT])
{
	snprintf(ret, TEXT, "%s %" PRIu64, t->name, count);
}

/* Write the next count over what is there. */
static int count_on(struct hooks_turn *t, struct fleet *fleet, const char *old, struct err *err)
{
	char now[TEXT];
	int rc;

	text_of(t, t->count + 1, now);
	rc = fleet_state_swap(fleet, STATE, old, now, err);
	if (rc > 0)
		t->count++;
	return rc;
}

int turn_take(struct hooks_turn *t, struct fleet *fleet, double now, struct err *err)
{
	char *there = NULL, own[TEXT];
	int rc;

	if (now - t->looked < TURN_BEAT)
		return t->ours;
	t->ours = false;                /* until the store has said so */
	rc = fleet_state_get(fleet, STATE, &there, err);
	text_of(t, t->count, own);
	if (rc >= 0 && there && strcmp(there, own) && (!t->seen || strcmp(there, t->seen))) {
		free(t->seen);
		t->seen = mem_strdup(there);
		t->since = now;
	}
	if (rc >= 0) {
		bool over = !there || !strcmp(there, own) || now - t->since >= TURN_OVER;

		rc = over ? count_on(t, fleet, there, err) : 0;
		t->looked = now;
		t->ours = rc > 0;
	}
	free(there);
	return rc;
}

void turn_end(struct hooks_turn *t, struct fleet *fleet)
{
	char own[TEXT];
	struct err err;

	text_of(t, t->count, own);
	if (t->ours && fleet_state_swap(fleet, STATE, own, NULL, &err) < 0)
		t->ours = false;        /* it is over by itself */
	free(t->seen);
	t->seen = NULL;
}
