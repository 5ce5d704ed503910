/* SPDX-License-Identifier: Apache-2.0 */
/* wire_inner.h - what wire_curl.c (the loop) and wire_answer.c (what libcurl
 * calls while an answer arrives) share. */
#ifndef FETCH_WIRE_INNER_H
#define FETCH_WIRE_INNER_H

#include "base/mem.h"
#include "fetch/wire.h"

struct curl_slist;

/* A socket of ours, by its number: what the event queue looks for, and libcurl. */
struct wire_socket { bool is_ours; uint32_t watched, wanted; };

struct wire {
	struct fetch_options opt;
	void *multi, *share;            /* CURLM, CURLSH */
	struct curl_slist *headers;     /* of every request */
	int epoll, watched;
	double timer;                   /* when libcurl wants to be called; < 0: not */
	double swept;
	struct transfer *active, *idle, *finished, **finished_end, *elder;
	unsigned n_active, n_paused;
	size_t memory, memory_peak;
	uint64_t n_connections;
	VEC(struct wire_socket) sockets;
};

/* Let libcurl call us with what arrives at the transfer's easy handle. */
void wire_answer_setup(struct transfer *t);
/* The first failure counts. */
void wire_fail(struct transfer *t, enum fetch_error error, const char *why);
/* What a CURLcode means, with what we know ourselves. */
void wire_set_error(struct transfer *t, int curl_code);

#endif
