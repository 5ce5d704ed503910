/* SPDX-License-Identifier: Apache-2.0 */
/* origin_client.h - a fetcher and an origin for one test, and short ways to ask. */
#ifndef TESTS_LIB_ORIGIN_CLIENT_H
#define TESTS_LIB_ORIGIN_CLIENT_H

#include "demo/origin.h"
#include "fetch/fetch.h"
#include "fetch/gate.h"

struct visitor {
	struct origin *origin;
	struct gate gate;               /* loopback is open */
	struct fetch_options opt;       /* defaults without delays; change, then go */
	struct fetch *fetch;
	uint32_t n;                     /* number of the next page asked */
};

void visitor_init(struct visitor *b, origin_answer *answer, void *arg);
void visitor_go(struct visitor *b);
void visitor_release(struct visitor *b);
__attribute__((format(printf, 2, 3)))
void visitor_ask(struct visitor *b, const char *fmt, ...);
/* The next outcome; aborts if there is none within 20 seconds. */
const struct fetch_result *visitor_take(struct visitor *b);
/* Ask and take. */
const struct fetch_result *visitor_one(struct visitor *b, struct fetch_request q);
/* Requests in the origin's log; NULL: any. */
size_t visitor_count(struct visitor *b, const char *host, const char *path);

#endif
