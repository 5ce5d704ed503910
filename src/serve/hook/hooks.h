/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h - the webhooks that a repository or a fleet keeps.
 *
 * Each is a state of the store, `webhook.ID`, of lines: URL, secret, cursor, "MADE TRIES FAILS",
 * why the last delivery failed.  The secret must be kept as it is, for signatures are made with
 * it.
 *
 * Those of a fleet are one state, `webhooks`, of all these lines, with the ID before each.  Any
 * service may change it, so it is swapped: who read what was changed meanwhile reads again.
 */
#ifndef SERVE_HOOK_HOOKS_H
#define SERVE_HOOK_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "repo/fleet/fleet.h"
#include "repo/store.h"

#define HOOKS_MAX 32
#define HOOK_URL_MAX 2048
#define HOOK_TRIES 60                   /* failures in a row until it stops, unless told */
#define HOOK_TRIES_MAX 1000
#define HOOK_WAIT_MAX 3600              /* seconds between two tries */

struct hook {
	uint64_t id;                    /* random */
	char *url, secret[65];
	char *cursor;                   /* changes up to here were delivered */
	int64_t made;
	uint32_t tries, fails;          /* failures in a row: allowed; so far */
	char why[200];                  /* why the last delivery failed, or "" */
};

struct hooks { VEC(struct hook) v; };   /* zeroed, it is empty */

/* Where they are kept: a store, or the ledger of a fleet. */
struct hooks_place { struct store *store; struct fleet *fleet; };

MUST_CHECK int hooks_load(struct hooks *h, struct hooks_place at, struct err *err);
void hooks_release(struct hooks *h);
void hook_release(struct hook *h);
/* Draw number and secret. */
MUST_CHECK int hook_draw(struct hook *h, struct err *err);
/* In a batch of its own.  1: kept; E_BUSY: there are HOOKS_MAX. */
MUST_CHECK int hook_add(const struct hook *h, struct hooks_place at, struct err *err);
/* The same of one that is known, with the cursor `was` until now.  0: it is not there any more, or
 * has another cursor. */
MUST_CHECK int hook_put(const struct hook *h, const char *was, struct hooks_place at,
                        struct err *err);
MUST_CHECK int hook_remove(uint64_t id, struct hooks_place at, struct err *err);

/* ---- of a fleet: whose turn it is to deliver ---- */

/* One of its services does.  It counts in the state `webhooks.sender` every TURN_BEAT seconds; another
 * takes the turn when it has seen the same count for TURN_OVER seconds, by its own clock.  Who was
 * frozen meanwhile finds that out before it sends again, and no cursor of it is kept. */
#define TURN_BEAT 5
#define TURN_OVER 30

struct hooks_turn {                     /* begun with turn_begin() */
	char name[17];                  /* random */
	uint64_t count;
	bool ours;
	char *seen;                     /* what another had written, */
	double since, looked;           /* first seen then; when we looked last */
};

MUST_CHECK int turn_begin(struct hooks_turn *t, struct err *err);
/* Is it our turn?  now: on a clock that goes on while the machine sleeps. */
MUST_CHECK int turn_take(struct hooks_turn *t, struct fleet *fleet, double now, struct err *err);
/* Give the turn up: another may take it at once. */
void turn_end(struct hooks_turn *t, struct fleet *fleet);

/* Seconds until it is tried again, after so many failures. */
double hook_pause(uint32_t fails);
/* HMAC-SHA256 with the secret over "TIME.BODY", in hexadecimal digits. */
void hook_sign(const struct hook *h, int64_t time, const char *body, size_t size, char ret[65]);

#endif
