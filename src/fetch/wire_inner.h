/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_inner.h - what wire.c (the threads), wire_curl.c (one lane's loop), wire_ask.c
 * (what libcurl is told), wire_answer.c (what it calls while an answer arrives) and
 * wire_memory.c (the memory it takes) share.
 *
 * A lane is used by one thread at a time: its own, once that runs.
 */
#ifndef FETCH_WIRE_INNER_H
#define FETCH_WIRE_INNER_H

#include "base/mem.h"
#include "fetch/wire.h"

struct curl_slist;

/* A socket of ours, by its number: what the event queue looks for, and libcurl. */
struct lane_socket { bool is_ours, is_plain; uint32_t watched, wanted; };

struct lane {
	struct fetch_options opt;
	void *multi, *share, *model;    /* CURLM, CURLSH, CURL */
	struct curl_slist *headers;     /* of every request */
	uint64_t n_asked;
	unsigned n_transfers, max_transfers;
	int epoll, watched;
	double timer;                   /* when libcurl wants to be called; < 0: not */
	double swept;
	struct transfer *active, *idle, *finished, **finished_end, *elder;
	unsigned n_active, n_paused;
	VEC(struct buf) spare;          /* bodies to be filled again, the last is warm */
	size_t memory;
	_Atomic size_t memory_peak;     /* read by others */
	_Atomic uint64_t n_connections;
	VEC(struct lane_socket) sockets;
};

/* wire_curl.c */
MUST_CHECK int lane_new(struct lane **ret, const struct fetch_options *options,
                        bool behind_proxy, struct err *err);
/* Transfers that have finished are no longer the lane's to free. */
void lane_free(struct lane *w);
/* Another descriptor to wake up for, each time that it is written to. */
void lane_watch(struct lane *w, int fd);
void lane_start(struct lane *w, const struct wire_request *r, double now);
/* Work for up to `seconds`, less if something finished or fd was written to. */
void lane_work(struct lane *w, double seconds);
struct transfer *lane_finished(struct lane *w); /* or NULL */
void lane_recycle(struct lane *w, struct transfer *t);

/* wire_memory.c */
/* In place of curl_global_init(). */
MUST_CHECK int wire_memory_init(void);
/* From here to the other, this thread keeps what libcurl gives back. */
void wire_memory_keep(void);
void wire_memory_release(void);

/* wire_ask.c */
void wire_ask_init(struct lane *w);
void wire_ask_release(struct lane *w);
void lane_free_transfer(struct transfer *t);
/* A transfer for the request: one that asked the same host before, if there is. */
struct transfer *wire_ask_take(struct lane *w, const struct wire_request *r);
/* Tell libcurl what to ask for; NULL, or why it will not. */
MUST_CHECK const char *wire_ask(struct lane *w, struct transfer *t,
                                const struct wire_request *r);

/* wire_answer.c */
/* What libcurl calls when something arrives, by a lane's model of handles; and for which
 * transfer, by its own handle. */
void wire_answer_model(struct lane *w, void *easy);
void wire_answer_setup(struct transfer *t);
/* The first failure counts. */
void wire_fail(struct transfer *t, enum fetch_error error, const char *why);
/* What a CURLcode means, with what we know ourselves. */
void wire_set_error(struct transfer *t, int curl_code);

#endif
