/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - pages that a program of the user's fetches, such as a browser without a screen.
 *
 * A few copies of the program run at a time, each for one page at a time and then for the next.
 * It reads a request and writes an answer, both as HTTP has them:
 *
 *     GET https://example.org/ HTTP/1.1          HTTP/1.1 200 OK
 *     User-Agent: freshet/0.2 (+...)             Content-Type: text/html
 *     Freshet-Proxy: http://127.0.0.1:41234      Content-Length: 5120
 *     Freshet-Seconds: 120                       Freshet-Requests: 7
 *     Freshet-Max-Body: 10485760
 *     Freshet-Max-Requests: 10                   ... 5120 bytes ...
 *
 * or, instead of an answer, one line "ERROR CAUSE text": dns, connect, timeout, tls or other.  The
 * body is that of the page as it is to be kept; Content-Encoding and Freshet-* are not kept.
 *
 * What the program asks of the web goes through a proxy of ours, one for each copy, that
 * asks the gate about every address (gate_proxy.h), counts requests, and refuses those beyond
 * Freshet-Max-Requests.  A program that goes past it must be kept from that by a sandbox.
 * A copy that is silent for too long, or writes nonsense, is killed; the next page gets a
 * new one.
 */
#ifndef FETCH_PROGRAM_PROGRAM_H
#define FETCH_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct sockaddr;

struct program_options {
	const char *command;            /* checked by spawn_check() */
	unsigned copies;                /* that run at a time, at most */
	const char *user_agent;
	/* Why an address may not be asked, or NULL; and whether a port may not. */
	const char *(*refuses)(const void *arg, const struct sockaddr *sa);
	bool (*refuses_port)(unsigned port);
	const void *arg;
};

struct program_request {
	uint32_t owner;
	const char *url, *etag, *last_modified;         /* the last two may be NULL */
	size_t max_head, max_body;
	double seconds;                 /* it may take */
	unsigned max_requests;
};

struct program_answer {
	uint32_t owner;
	char cause[16], why[200];       /* cause "": it answered */
	int status;
	struct buf head, body;          /* head: as HTTP has it, with the empty line at its end */
	bool cut;                       /* the body is only its first max_body bytes */
	unsigned requests;              /* that the proxy saw, or the program says; 1 at least */
	double seconds;
	struct program_answer *next;
};

struct program;

MUST_CHECK int program_new(struct program **ret, const struct program_options *o,
                           struct err *err);
void program_free(struct program *p);   /* kills what runs; NULL is fine */
int program_fd(const struct program *p);        /* readable when an answer is there */
void program_start(struct program *p, const struct program_request *r);
struct program_answer *program_finished(struct program *p);     /* or NULL */
void program_answer_free(struct program_answer *a);
unsigned program_active(const struct program *p);       /* started and not finished */

/* Parse a head that the program wrote, up to and with its empty line.  0: fine; else why not.
 * out gets the head as it is kept; length: Content-Length, -1: none; requests: 0 if not said. */
const char *program_read_head(const char *text, size_t size, struct buf *out, int *ret_status,
                              int64_t *ret_length, unsigned *ret_requests);

#endif
