/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_raw.h - a server that does what no HTTP library would: every misbehaviour
 * has a path (/slow-body, /bomb-gzip, /bad-chunk ...), see the table in the .c.
 */
#ifndef TESTS_LIB_ORIGIN_RAW_H
#define TESTS_LIB_ORIGIN_RAW_H

#include <stddef.h>

struct origin_raw;

struct origin_raw *origin_raw_start(void);
void origin_raw_stop(struct origin_raw *o);
unsigned origin_raw_port(const struct origin_raw *o);
/* Requests with a Cookie, Authorization or Referer header seen so far. */
unsigned origin_raw_leaks(const struct origin_raw *o);
unsigned origin_raw_requests(const struct origin_raw *o);

#endif
