/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_keep.h - a server of raw bytes that keeps its connections.
 *
 * One thread serves all connections, one answer after the other on each; the test makes
 * the bytes.  An answer may go out in two pieces.  The server hangs up on a client that
 * stays silent: one that waits for more than was sent shall not wait for long.
 */
#ifndef TESTS_LIB_ORIGIN_KEEP_H
#define TESTS_LIB_ORIGIN_KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct origin_keep;

struct origin_answer {
	struct buf bytes;
	size_t split;                   /* the first piece; 0: all at once */
	bool closes;                    /* hang up behind it */
};

/* Called in the server's thread for each request, with an answer that is empty. */
typedef void origin_keep_make(void *arg, const char *path, struct origin_answer *ret);

struct origin_keep *origin_keep_start(origin_keep_make *make, void *arg);
void origin_keep_stop(struct origin_keep *o);
unsigned origin_keep_port(const struct origin_keep *o);
/* So far: connections taken, requests, and those of them that were not a connection's first. */
void origin_keep_counts(struct origin_keep *o, unsigned *ret_connections,
                        unsigned *ret_requests, unsigned *ret_reused);
/* Is there nothing left to send? */
bool origin_keep_idle(const struct origin_keep *o);

#endif
