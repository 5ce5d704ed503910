/* SPDX-License-Identifier: Apache-2.0 */
/* robots_inner.h - shared by robots.c (parsing) and robots_match.c (matching). */
#ifndef WEB_RULES_ROBOTS_INNER_H
#define WEB_RULES_ROBOTS_INNER_H

#include "web/rules/robots.h"

/* Write s in the one percent-encoding to d, which has room for 3 * size.  In a pattern
 * '*' and a final '$' are kept.  *ret_octets counts what it stands for. */
size_t robots_normalise(const char *s, size_t size, bool pattern, char *d,
                        uint32_t *ret_octets);

/* Put the rules in the order that robots_allows() needs. */
void robots_index(struct robots *r);

#endif
