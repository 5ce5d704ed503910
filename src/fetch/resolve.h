/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - resolve names while transfers continue.
 *
 * The system's resolver blocks, so a few threads call it.  The fetcher's thread takes the
 * answers when the descriptor becomes readable.
 */
#ifndef FETCH_RESOLVE_H
#define FETCH_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "fetch/fetch.h"

#define RESOLVE_THREADS 8

struct resolve;

struct resolve_answer {
	uint32_t tag;
	int n;                          /* addresses; < 0: failed */
	char why[96];
	struct sockaddr_storage addresses[FETCH_ADDRESSES_MAX];
};

/* lookup as in struct fetch_options; NULL: getaddrinfo(). */
struct resolve *resolve_new(int (*lookup)(void *arg, const char *host,
                                          struct sockaddr_storage *ret), void *arg);
void resolve_free(struct resolve *r);           /* waits for running lookups */
int resolve_fd(const struct resolve *r);
/* guest: the name is where a redirect leads; guests never hold up the others. */
void resolve_ask(struct resolve *r, const char *host, uint32_t tag, bool guest);
bool resolve_take(struct resolve *r, struct resolve_answer *ret);

#endif
