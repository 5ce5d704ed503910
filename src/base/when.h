/* SPDX-License-Identifier: Apache-2.0 */
/*
 * when.h - times, durations, sizes and shares as people write them.
 *
 * Times are seconds since the epoch, UTC, in int64_t.  Nothing here reads the
 * clock: time is passed in.
 */
#ifndef BASE_WHEN_H
#define BASE_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAY_SECONDS 86400
/* What can be written down: the years 1 to 9999. */
#define WHEN_MIN INT64_C(-62135596800)
#define WHEN_MAX INT64_C(253402300799)

/* 14 digits (fewer are filled up: 2022 = 2022-01-01 00:00:00) or ISO 8601,
 * `2022-10-01`, `2022-10-01T12:00:00Z`, with offset or fraction; the whole of
 * `size` bytes must be the time. */
bool when_parse(const char *s, size_t size, int64_t *ret_time);
void when_digits(int64_t t, char out[15]);              /* 20221001000000 */
void when_iso(int64_t t, char out[21]);                 /* 2022-10-01T00:00:00Z */
/* IMF-fixdate, RFC 850 or asctime, as HTTP allows. */
bool when_parse_http(const char *s, size_t size, int64_t *ret_time);
void when_http(int64_t t, char out[30]);                /* Sat, 01 Oct 2022 ... */

/* 250ms 90s 30m 12h 1d 2w and sums of them (1d12h), decimals allowed; a bare number is
 * seconds. */
bool duration_parse_exact(const char *s, double *ret_seconds);
/* The same in whole seconds, rounded; what is no 0 and less than one is refused. */
bool duration_parse(const char *s, int64_t *ret_seconds);
void duration_format(int64_t seconds, char out[24]);    /* 2w, 1d12h, 90s */

/* A budget: a number, or a share of some total. */
struct share { double value; bool percent; };

bool share_parse(const char *s, struct share *ret);
/* Of n, rounded to the nearest, at least 1 and at most n unless n is 0. */
uint64_t share_of(struct share s, uint64_t n);
/* A number with so many significant digits (all of those before the point), never as a
 * power of ten: 100, 2.5, 0.05, 0.000012; "-" if it is not a number. */
void figure_format(double v, int digits, char out[32]);

#endif
