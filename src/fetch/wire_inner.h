/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_inner.h - shared by wire.c (threads), wire_curl.c (the loop of a lane), wire_sockets.c
 * (its sockets), wire_ask.c (options of a request), wire_answer.c (callbacks of an answer) and
 * wire_memory.c (memory for libcurl).
 *
 * A lane is used by one thread at a time: by its own thread, once that runs.
 */
#ifndef FETCH_WIRE_INNER_H
#define FETCH_WIRE_INNER_H

#include "base/mem.h"
#include "fetch/wire.h"

struct curl_slist;

/* A socket, by its number: events that epoll watches, and events that libcurl wants. */
struct lane_socket { bool is_ours, is_plain; uint32_t watched, wanted; };

struct lane {
	struct fetch_options opt;
	void *multi, *share, *model;    /* CURLM, CURLSH, CURL */
	struct curl_slist *headers;     /* of every request */
	uint64_t n_asked;
	unsigned n_transfers, max_transfers;
	int epoll, watched;
	double timer;                   /* when libcurl wants to be called; < 0: never */
	double swept;
	double paid_until;              /* limit_rate: what was received is paid for then */
	struct transfer *active, *idle, *finished, **finished_end, *elder;
	unsigned n_active, n_paused;
	VEC(struct buf) spare;          /* free body buffers; the last was used last */
	double elder_since;             /* and the bytes that it had then: a stretch of its time */
	uint64_t elder_bytes;
	size_t memory;
	_Atomic size_t memory_peak;     /* read by others */
	_Atomic uint64_t n_connections;
	VEC(struct lane_socket) sockets;
};

/* wire_curl.c */
MUST_CHECK int lane_new(struct lane **ret, const struct fetch_options *options,
                        bool behind_proxy, struct err *err);
/* Does not free transfers that have finished: they belong to the caller. */
void lane_free(struct lane *w);
/* Wake up each time this descriptor is written to. */
void lane_watch(struct lane *w, int fd);
void lane_start(struct lane *w, const struct wire_request *r, double now);
/* Run for up to `seconds`; return early if a transfer finished or fd was written to. */
void lane_work(struct lane *w, double seconds);
struct transfer *lane_finished(struct lane *w); /* or NULL */
void lane_recycle(struct lane *w, struct transfer *t);

/* wire_sockets.c */
void wire_sockets_init(struct lane *w);
/* An event on an idle socket: remove the socket from epoll.  Its peer hung up, or sent
 * data without a request.  libcurl 7.88 would take such data for the next answer.  So
 * shut the connection down; libcurl then finds it dead.  TLS may send messages on idle
 * connections, so TLS sockets stay open. */
bool wire_sockets_stray(struct lane *w, int fd);

/* wire_memory.c */
/* Call it instead of curl_global_init(). */
MUST_CHECK int wire_memory_init(void);
/* Between these two calls this thread caches the memory that libcurl frees. */
void wire_memory_keep(void);
void wire_memory_release(void);

/* wire_ask.c */
void wire_ask_init(struct lane *w);
void wire_ask_release(struct lane *w);
void lane_free_transfer(struct transfer *t);
/* A transfer for the request; preferably one that asked the same origin before. */
struct transfer *wire_ask_take(struct lane *w, const struct wire_request *r);
/* Set the options of the request; NULL, or libcurl's error text. */
MUST_CHECK const char *wire_ask(struct lane *w, struct transfer *t,
                                const struct wire_request *r);

/* wire_answer.c */
/* Set the callbacks in the lane's model handle; then the transfer in its own handle. */
void wire_answer_model(struct lane *w, void *easy);
void wire_answer_setup(struct transfer *t);
/* Keeps the first failure of a transfer. */
void wire_fail(struct transfer *t, enum fetch_error error, const char *why);
/* Set the error from a CURLcode and our own knowledge of the transfer. */
void wire_set_error(struct transfer *t, int curl_code);

#endif
