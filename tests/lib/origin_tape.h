/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_tape.h - a small HTTP/1.1 server on 127.0.0.1 that keeps the bytes of every
 * request, for tests that compare them with what was archived.
 */
#ifndef TESTS_LIB_ORIGIN_TAPE_H
#define TESTS_LIB_ORIGIN_TAPE_H

#include <stddef.h>

#include "base/buf.h"

struct origin_tape;

/* Status line and headers, each with CRLF, to `head`; the length is added. */
typedef void tape_answer(void *arg, const char *path, const char *request, struct buf *head,
                         struct buf *body);

struct origin_tape *origin_tape_start(tape_answer *answer, void *arg);
void origin_tape_stop(struct origin_tape *o);
unsigned origin_tape_port(const struct origin_tape *o);
/* Request i so far, robots.txt included, or NULL; lives until the end. */
const char *origin_tape_request(struct origin_tape *o, size_t i);

#endif
