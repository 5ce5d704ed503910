/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap.h - URLs that a crawler should not follow by itself.
 *
 * Some sites have more URLs than pages: endless calendars, session ids, links that append
 * their own path to themselves, search forms with every combination of facets.  Most of
 * them can be seen from the URL.  The rest is limited by number: pages with the same
 * trap_shape() are counted together.  The shape is the directory with digits as 0, so
 * /2031/05/ and /2031/06/ have one shape, and so have all pages of one script with the
 * same parameters.
 *
 * This is only for URLs that we discover.  Pages that the user adds are always fetched.
 */
#ifndef WEB_RULES_TRAP_H
#define WEB_RULES_TRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TRAP_URL_MAX     1000           /* bytes */
#define TRAP_DEPTH_MAX   12             /* '/' in the path */
#define TRAP_REPEATS_MAX 2              /* of one path segment */
#define TRAP_PARAMS_MAX  6              /* of a query */
#define TRAP_FUTURE      (400 * 86400)  /* seconds from now; later dates are a trap */

enum trap {
#define TRAP(code, name) code,
#include "web/rules/traps.def"
#undef TRAP
	N_TRAPS
};

const char *trap_name(enum trap t);
/* The trap that a canonical URL looks like at time now; TRAP_NONE: none. */
enum trap trap_find(const char *url, size_t size, int64_t now);
/* Append the directory of a canonical URL, with its pseudo-directory if it has a
 * query (url_query_dir()), each run of digits as one 0. */
void trap_shape(const char *url, size_t size, struct buf *out);

#endif
