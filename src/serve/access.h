/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - what a request may do: by its token, its session, or because it comes from
 * loopback and there are no tokens.
 */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include "serve/serve_inner.h"

#define ACCESS_COOKIE "freshet_session"

struct access;

MUST_CHECK int access_new(struct access **ret, struct serve *s, struct err *err);
void access_free(struct access *a);
bool access_has_tokens(struct access *a);
/* Tokens may have come or gone. */
void access_renew(struct access *a);

/* Who asks and what they may do; `who` is set to the name of a token, allocated with the
 * request.  The answer is there (401) if a token is needed or wrong. */
enum right access_judge(struct access *a, struct http_request *r, const char **ret_who,
                        struct http_answer *answer);
/* The client that a request counts for: address, or, behind a proxy, what that says. */
const char *access_peer(const struct serve *s, struct http_request *r);

route_run route_session, route_session_begin, route_session_end;

#endif
