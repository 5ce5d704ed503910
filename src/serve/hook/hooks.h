/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h - the webhooks that a repository keeps.
 *
 * Each is a state of the store, `webhook.ID`, of lines: URL, secret, cursor, "MADE TRIES FAILS",
 * why the last delivery failed.  The secret must be kept as it is, for signatures are made with
 * it.
 */
#ifndef SERVE_HOOK_HOOKS_H
#define SERVE_HOOK_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "repo/store.h"

#define HOOKS_MAX 32
#define HOOK_URL_MAX 2048
#define HOOK_TRIES 60                   /* failures in a row until it stops, unless told */
#define HOOK_TRIES_MAX 1000
#define HOOK_WAIT_MAX 3600              /* seconds between two tries */
#define HOOK_CURSOR_MAX 39

struct hook {
	uint64_t id;                    /* random */
	char *url, secret[65];
	char cursor[HOOK_CURSOR_MAX + 1];       /* changes up to here were delivered */
	int64_t made;
	uint32_t tries, fails;          /* failures in a row: allowed; so far */
	char why[200];                  /* why the last delivery failed, or "" */
};

struct hooks { VEC(struct hook) v; };   /* zeroed, it is empty */

MUST_CHECK int hooks_load(struct hooks *h, struct store *s, struct err *err);
void hooks_release(struct hooks *h);
void hook_release(struct hook *h);
/* Draw number and secret. */
MUST_CHECK int hook_draw(struct hook *h, struct err *err);
/* In a batch of its own.  1: kept; 0: `known`, and it is not there any more. */
MUST_CHECK int hook_put(const struct hook *h, struct store *s, bool known, struct err *err);
MUST_CHECK int hook_remove(uint64_t id, struct store *s, struct err *err);

/* Seconds until it is tried again, after so many failures. */
double hook_pause(uint32_t fails);
/* HMAC-SHA256 with the secret over "TIME.BODY", in hexadecimal digits. */
void hook_sign(const struct hook *h, int64_t time, const char *body, size_t size, char ret[65]);

#endif
