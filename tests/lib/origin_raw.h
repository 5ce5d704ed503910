/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_raw.h - a server that does what no HTTP library would: every misbehaviour
 * has a path (/slow-body, /bomb-gzip, /bad-chunk ...), see the table in the .c.
 */
#ifndef TESTS_LIB_ORIGIN_RAW_H
#define TESTS_LIB_ORIGIN_RAW_H

#include <stdbool.h>
#include <stddef.h>

struct origin_raw;

struct origin_raw *origin_raw_start(void);
void origin_raw_stop(struct origin_raw *o);
unsigned origin_raw_port(const struct origin_raw *o);
/* Requests with a Cookie, Authorization or Referer header seen so far. */
unsigned origin_raw_leaks(const struct origin_raw *o);
unsigned origin_raw_requests(const struct origin_raw *o);
/* The i-th of the answers that are fixed bytes; false: there are no more. */
bool origin_raw_fixed(size_t i, const char **ret, size_t *ret_size);

#endif
