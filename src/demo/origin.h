/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.h - a web server for the demo and tests, on every loopback address at one port.
 *
 * http://127.a.b.c:port/ are as many hosts as one likes.  Answers come from a
 * callback (or from a living world with a clock that the test moves); every
 * request is logged with times and with what else was open at that host.
 */
#ifndef DEMO_ORIGIN_H
#define DEMO_ORIGIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "demo/living.h"

struct origin;

struct origin_request {
	const char *host;               /* without port */
	const char *path, *method;      /* path with query */
	const char *etag, *since;       /* If-None-Match, If-Modified-Since, or NULL */
	const char *agent;
};

struct origin_reply {                   /* 200, empty, at once, unless changed */
	int status;
	struct buf headers;             /* "Name: value\n" lines */
	struct buf body;
	unsigned delay_ms;
};

typedef void origin_answer(void *arg, const struct origin_request *q,
                           struct origin_reply *r);

struct origin_log {
	double start, answered, end;    /* monotonic seconds; answered: before it is sent */
	char host[64], path[160], method[8];
	int status;
	bool conditional;
	unsigned open_requests;         /* at this host, this one included */
	unsigned open_connections;      /* to this address */
};

struct origin *origin_start(origin_answer *answer, void *arg);
/* The same over TLS; certificate and key as PEM. */
struct origin *origin_start_tls(origin_answer *answer, void *arg, const char *cert,
                                const char *key);
void origin_stop(struct origin *o);
unsigned origin_port(const struct origin *o);
/* A copy of the log so far, in order of start; free() it. */
struct origin_log *origin_read_log(struct origin *o, size_t *ret_n);
/* How many requests are in it. */
size_t origin_count(struct origin *o);

/* A living world behind the hosts 127.0.1.1, 127.0.1.2 ...: site 0, 1 ... */
struct origin_world {
	struct living living;
	int64_t now;                    /* the virtual clock; the test moves it */
	bool no_validators;
};
origin_answer origin_world_answer;      /* arg: struct origin_world * */

#endif
