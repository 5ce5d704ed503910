/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap.h - URLs that a crawler should not follow by itself.
 *
 * Some sites have more URLs than pages: calendars without end, session ids, links
 * that hang their own path behind themselves, search forms with every combination
 * of facets.  A name gives most of them away, and what it does not is bounded by
 * counting: trap_shape() is the name of the directory under which pages are to be
 * counted together, digits aside, so that /2031/05/ and /2031/06/ are one, and so
 * are all pages of one script with the same parameters.
 *
 * It is for URLs that nobody asked for.  What a user puts under care is fetched
 * whatever it looks like.
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
#define TRAP_FUTURE      (400 * 86400)  /* seconds from now that a date may lie ahead */

enum trap {
#define TRAP(code, name) code,
#include "web/rules/traps.def"
#undef TRAP
	N_TRAPS
};

const char *trap_name(enum trap t);
/* What is wrong with a canonical URL, at a moment; TRAP_NONE: nothing. */
enum trap trap_find(const char *url, size_t size, int64_t now);
/* Append the directory of a canonical URL, with its pseudo-directory if it has a
 * query (url_query_dir()), each run of digits as one 0. */
void trap_shape(const char *url, size_t size, struct buf *out);

#endif
