/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.h - who may use the service.
 *
 * A token is TOKEN_BYTES random bytes, shown once as text.  The store has its SHA-256, a name
 * and a right (state `tokens` of the fleet, one line each: "NAME RIGHT DIGEST TIME").  A random text of 256
 * bits needs no slow hash.  Digests are compared in constant time.
 *
 * A browser gives its token once and gets a session: a cookie that scripts cannot read and other
 * sites' requests do not carry.  Sessions are in memory, last SESSION_SECONDS after their last
 * use, and end with their token.
 */
#ifndef SERVE_TOKEN_TOKENS_H
#define SERVE_TOKEN_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "repo/fleet/fleet.h"
#include "repo/store.h"

#define TOKEN_BYTES 32
#define TOKEN_TEXT (8 + 2 * TOKEN_BYTES + 1)    /* "freshet_" and digits, with the NUL */
#define TOKEN_NAME_MAX 60
#define TOKENS_MAX 1000
#define SESSION_SECONDS (12 * 3600)
#define SESSIONS_MAX 10000

enum right { RIGHT_NONE, RIGHT_READ, RIGHT_LEASE, RIGHT_ADMIN };
#define RIGHT_CHOICES "read|lease|admin"

struct token { char name[TOKEN_NAME_MAX + 1], digest[65]; enum right right; int64_t made; };
struct tokens { VEC(struct token) v; };         /* zeroed, it is empty */

const char *right_name(enum right r);

MUST_CHECK int tokens_load(struct tokens *t, struct store *s, struct err *err);
void tokens_release(struct tokens *t);
/* In a batch of its own; of a fleet (else NULL) without any lease, and s is not used.
 * The text of the new token, which nobody can see again. */
MUST_CHECK int tokens_add(struct store *s, struct fleet *fleet, const char *name, enum right right,
                          int64_t now, char ret[TOKEN_TEXT], struct err *err);
MUST_CHECK int tokens_remove(struct store *s, struct fleet *fleet, const char *name,
                             struct err *err);
/* The token of this text, or NULL. */
const struct token *tokens_find(const struct tokens *t, const char *text);

/* ---- sessions ---- */

struct sessions;
struct sessions *sessions_new(void);
void sessions_free(struct sessions *s);
/* Begin one; its text. */
void sessions_begin(struct sessions *s, const struct token *t, int64_t now, char ret[65]);
/* The digest of the token that it was begun with; false: there is none. */
bool sessions_find(struct sessions *s, const char *text, int64_t now, char ret_digest[65]);
void sessions_end(struct sessions *s, const char *text);

#endif
