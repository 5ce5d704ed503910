/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - requests come in, answers go out; knows nothing of repositories.
 *
 * One thread (libmicrohttpd) reads and writes all sockets, so thousands of idle connections
 * cost little.  A request is judged twice:
 *   admit()   when its head is read, in that thread: who asks, is it allowed, how long may the
 *             body be.  It must not wait.  What it refuses is answered before the body comes.
 *   handle()  when the body is read, in a worker's thread: it may wait and read files.
 * Workers stand in lanes; a slow request of one lane does not delay those of another.
 *
 * An answer is whole (a buffer) or a stream: the handler makes one and keeps it, and any
 * thread adds to it until it is ended.
 *
 * Caps: HTTP_... below.  A connection that brings no whole request, or takes no answer, in
 * opts.seconds is cut, however busily it drips; when there are many, the longest idle ones are
 * cut first.
 */
#ifndef SERVE_HTTP_HTTP_H
#define SERVE_HTTP_HTTP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "serve/http/uri.h"

#define HTTP_HEAD_MAX 16384             /* bytes of request line and headers, about */
#define HTTP_BODY_MAX (1u << 20)        /* unless admit() says otherwise */
#define HTTP_SLOWEST 16384              /* bytes a second that an answer must be taken with */
#define HTTP_STREAM_MAX (1u << 20)      /* bytes that wait for a slow reader of a stream */
#define HTTP_BEYOND 64                  /* connections above the most that are still told so */
#define HTTP_ANSWER_HEADERS 12

struct http;
struct http_stream;
struct MHD_Connection;

struct http_request {
	const char *method, *target;
	struct uri uri;
	struct buf body;
	size_t body_max;                /* admit() may set it */
	int lane;                       /* admit() sets it */
	char peer[64];                  /* address, without port */
	const void *route;              /* for admit() and handle() to agree on */
	void *who;                      /* the same; released by done() */
	struct arena keep;              /* of texts of this request */
	struct MHD_Connection *connection;
};

struct http_answer {
	int status;                     /* 0: none yet */
	const char *type;               /* Content-Type; lives as long as the program */
	struct buf body;
	struct { const char *name; char *value; } headers[HTTP_ANSWER_HEADERS];
	size_t n_headers;
	struct http_stream *stream;     /* instead of body, or NULL */
};

struct http_lane { unsigned threads, queue; };  /* queue: requests that may wait */
#define HTTP_LANES 3

struct http_opts {
	const char *address;            /* without brackets */
	uint16_t port;                  /* 0: any */
	int listener;                   /* a socket that listens already; -1: none */
	const char *tls_cert, *tls_key; /* texts of PEM; NULL: no TLS */
	struct http_lane lanes[HTTP_LANES];
	unsigned connections;           /* at a time */
	unsigned seconds;               /* for a whole request, and between two */
	unsigned per_address;           /* connections of one address; 0: any number */
	/* Fill `a` (status != 0) to refuse. */
	void (*admit)(void *arg, struct http_request *r, struct http_answer *a);
	void (*handle)(void *arg, struct http_request *r, struct http_answer *a);
	/* After handle(), or a refusal; before the answer is sent. */
	void (*done)(void *arg, struct http_request *r, struct http_answer *a);
	/* About once a second, from the start to the end, in a thread of its own. */
	void (*tick)(void *arg);
	void *arg;
};

MUST_CHECK int http_start(struct http **ret, const struct http_opts *opts, struct err *err);
uint16_t http_port(const struct http *h);
/* No new connections; what is under way is answered; streams end. */
void http_stop(struct http *h);         /* h may be NULL */

struct http_counts { uint64_t connections, cut, refused_full; unsigned open; };
void http_counts(struct http *h, struct http_counts *ret);

/* A header of the request, or NULL; lives as long as the request. */
const char *http_header(const struct http_request *r, const char *name);
/* How often it is there; the last of them. */
unsigned http_header_count(const struct http_request *r, const char *name);
const char *http_header_last(const struct http_request *r, const char *name);
/* The value of a cookie, or NULL; allocated in r->keep. */
const char *http_cookie(struct http_request *r, const char *name);

__attribute__((format(printf, 3, 4)))
void http_answer_header(struct http_answer *a, const char *name, const char *fmt, ...);
void http_answer_clear(struct http_answer *a);

/* An RFC 9457 problem document; the text says what, where, what to do. */
__attribute__((format(printf, 3, 4)))
void http_problem(struct http_answer *a, int status, const char *fmt, ...);
const char *http_status_text(int status);

/* ---- streams ---- */

/* The caller owns one reference; the connection has its own. */
struct http_stream *http_stream_new(void);
/* False: nobody reads it any more, or so slowly that it was ended. */
bool http_stream_add(struct http_stream *s, const void *data, size_t size);
void http_stream_end(struct http_stream *s);
struct http_stream *http_stream_keep(struct http_stream *s);    /* one reference more */
void http_stream_release(struct http_stream *s);

#endif
