/* SPDX-License-Identifier: Apache-2.0 */
/*
 * post.h - texts sent to URLs by HTTP POST, several at a time.
 *
 * Users write the URLs, so each connection is checked by the gate (fetch/gate.h) when its
 * socket is made: what a name resolves to is judged, not the name.  No redirect is followed, no
 * proxy is used, no cookie is kept, and of the answer only the status is read.  All functions
 * but post_wake() belong to one thread.
 */
#ifndef SERVE_HOOK_POST_H
#define SERVE_HOOK_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct gate;
struct post;

#define POST_CONNECT_SECONDS 10
#define POST_SECONDS 30                 /* for all of it */
#define POST_ANSWER_MAX 65536           /* bytes of an answer; more is a failure */

struct post_result {
	uint64_t owner;
	int status;                     /* 0: no answer */
	char why[200];                  /* "": the status is 2xx */
};

/* gate: NULL or as long as it lives. */
MUST_CHECK int post_new(struct post **ret, const struct gate *gate, struct err *err);
void post_free(struct post *p);         /* what is under way is cut; p may be NULL */
/* `headers`: lines with "\n" behind each.  The outcome comes by post_finished(). */
void post_start(struct post *p, uint64_t owner, const char *url, const char *headers,
                const char *body, size_t size);
bool post_finished(struct post *p, struct post_result *ret);
/* Until something happens, post_wake() is called, or the seconds are over. */
void post_wait(struct post *p, double seconds);
void post_wake(struct post *p);         /* from any thread */

#endif
