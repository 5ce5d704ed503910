/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - single HTTP exchanges, many at a time.  Private to fetch/.
 *
 * One request, one answer: no redirects, no politeness, no decoding of content.  The wire
 * enforces the limits of a transfer: time, speed, head, body, and memory of all
 * transfers. The caller chooses the address; the gate checks it again when the socket is
 * made.
 *
 * The exchanges run in a few threads.  Memory that a request points to must stay valid
 * until its transfer has finished, except `pin`.
 */
#ifndef FETCH_WIRE_H
#define FETCH_WIRE_H

#include "fetch/fetch.h"
#include "fetch/gate.h"

struct wire;
struct lane;

/* Of every request, behind Host and User-Agent. */
#define WIRE_ACCEPT "*/*"
#define WIRE_ENCODING "Accept-Encoding: gzip, deflate, br, zstd"

struct wire_request {
	uint32_t owner;
	const char *url;                /* canonical */
	size_t origin_size;             /* bytes of the URL that are scheme://host[:port] */
	bool head_only;
	const char *etag, *last_modified;       /* NULL or checked */
	const struct asking_extra *extra;       /* header lines of the user's; NULL: none */
	const char *accept;             /* media types that are taken; NULL: all */
	const char *pin;                /* address to connect to, IPv6 in []; NULL: by proxy */
	const char *proxy;              /* NULL: none */
	size_t max_body;
	double until;                   /* cut then; monotonic */
};

struct transfer {
	uint32_t owner;
	enum fetch_error error;
	char why[256];
	int status;
	struct buf head, body;
	enum fetch_cut cut;
	char ip[GATE_TEXT];
	double started, first, seconds; /* monotonic; first: end of the head, 0: none */
	double connect_seconds;
	double until;
	size_t received;
	/* inside of the wire */
	struct lane *lane;
	void *easy, *url, *headers, *pins;
	struct transfer *next, *next_active, **active_link;
	char pin[GATE_TEXT + 8];
	struct buf asked;               /* what `url` is: an origin, or behind a proxy all of it */
	uint64_t asked_hash;
	const char *accept;
	double paused_since, waited;    /* by our will: seconds before that pause */
	size_t max_body, head_bytes, status_line, window_bytes, held;
	double window;
	int64_t length;                 /* Content-Length, -1: none */
	bool head_done, in_framing, paused, failed_here, proxied;
	char message[256];              /* libcurl's */
};

MUST_CHECK int wire_new(struct wire **ret, const struct fetch_options *options,
                        bool behind_proxy, struct err *err);
/* Stop all threads; unfinished transfers never finish. */
void wire_stop(struct wire *w);
void wire_free(struct wire *w);
/* Another descriptor to wait for. */
void wire_watch(struct wire *w, int fd);
void wire_start(struct wire *w, const struct wire_request *r, double now);
void wire_flush(struct wire *w);        /* pass on what was started or recycled */
/* Wait up to `seconds` until a transfer has finished or fd is readable. */
void wire_work(struct wire *w, double seconds);
struct transfer *wire_finished(struct wire *w); /* or NULL */
void wire_recycle(struct wire *w, struct transfer *t);
unsigned wire_active(const struct wire *w);             /* started and not finished */
size_t wire_memory_peak(const struct wire *w);          /* bytes of answers, at most */
uint64_t wire_connections(const struct wire *w);        /* opened so far */
double wire_now(void);                          /* monotonic seconds */

#endif
