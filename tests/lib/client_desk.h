/* SPDX-License-Identifier: Apache-2.0 */
/* client_desk.h - a repository with some pages, and several programs that use it. */
#ifndef TESTS_CLIENT_DESK_H
#define TESTS_CLIENT_DESK_H

#include "engine/client/client.h"

#define DESK_PAGES 120
#define DESK_BUDGET 40
#define DESK_CLIENTS 3           /* programs, each with a connection of its own */
#define DESK_NOW INT64_C(1767225600)

struct client_desk {
	char path[300], folder[300];
	struct store *store[DESK_CLIENTS];
	struct client *client[DESK_CLIENTS];
	struct client_opts opts;
	unsigned used;                  /* which of them acts */
	struct err err;
};

void desk_open(struct client_desk *b, const char *policy);        /* an empty repository */
void desk_close(struct client_desk *b);
void desk_use(struct client_desk *b, unsigned client);
struct client *desk_client(struct client_desk *b);
/* The program that acts ends, and another takes its place. */
void desk_kill(struct client_desk *b);

struct client_asked desk_ask(struct client_desk *b, const struct client_asking *a);
struct tell_stats desk_tell(struct client_desk *b, const struct told *t, int64_t now);
struct told desk_told(void);                     /* nothing is said */
void desk_text(struct text *t, const char *s);
const char *desk_url(uint32_t page);
uint32_t desk_page(const char *url);
int desk_fate(uint32_t page);

#endif
