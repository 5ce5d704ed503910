/* SPDX-License-Identifier: Apache-2.0 */
/* http_inner.h - what http.c, request.c, workers.c, stream.c and cut.c share. */
#ifndef SERVE_HTTP_HTTP_INNER_H
#define SERVE_HTTP_HTTP_INNER_H

#include <microhttpd.h>
#include <pthread.h>

#include "serve/http/http.h"

/* One socket. */
struct conn {
	struct conn *next, **at;
	int fd;
	double since;                   /* when it was opened, or its last request was over */
	double allowed;                 /* seconds from then until it is cut; < 0: it is busy */
	bool cut;
	bool beyond;                    /* too many were open when it came: it is told so */
};

/* One request on its way: read, wait for a worker, answered. */
struct exchange {
	struct http *http;
	struct http_request request;
	struct http_answer answer;
	struct exchange *next;          /* in a lane */
	struct conn *conn;
	bool ready;                     /* the answer is there */
	bool queued;                    /* and was handed to libmicrohttpd */
};

struct lane {
	struct http *http;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct exchange *first, **last;
	unsigned waiting, most, n_threads;
	pthread_t *threads;
	bool stop;
};

struct http {
	struct http_opts opts;
	struct MHD_Daemon *daemon;
	struct lane lanes[HTTP_LANES];
	pthread_mutex_t lock;           /* of the following */
	struct conn *conns;
	struct http_counts counts;
	bool stopping;
	pthread_t cutter;
	pthread_cond_t wake;
};

double http_clock(void);                /* seconds, never goes back */

/* What two servers in a row could read differently is refused (request smuggling); NULL: nothing.
 * The texts of the first line are libmicrohttpd's own. */
struct request_line { const char *method, *version; };
const char *request_ambiguous(const struct http_request *r, const struct request_line *line);
void request_find_peer(struct http_request *r);

void lanes_start(struct http *h);
void lanes_stop(struct http *h);
bool lane_push(struct http *h, struct exchange *x);     /* false: it is full */

void conn_notify(void *http, struct MHD_Connection *c, void **context,
                 enum MHD_ConnectionNotificationCode what);
/* From now on it is cut after so many seconds; < 0: never. */
void conn_allow(struct http *h, struct conn *c, double seconds);
void *conn_cutter(void *http);          /* thread */

struct MHD_Response *stream_response(struct http_stream *s, struct MHD_Connection *c);

#endif
