/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ignore.h - elements to leave out when pages are compared, by site.
 *
 * A rule text is "RULES" for every site, or "HOST: RULES" for one site, which replaces
 * the general rules there; of several that fit, the longest host counts.  RULES are those of web/page/extract_region.h: "#clock, .ad,
 * marquee".
 */
#ifndef ENGINE_ARCHIVE_IGNORE_H
#define ENGINE_ARCHIVE_IGNORE_H

#include "base/mem.h"
#include "web/page/extract_region.h"

struct ignore_site {
	char *host;                     /* NULL: every site */
	bool below;                     /* its subdomains, too */
	struct ignore rules;
};

struct ignore_list { VEC(struct ignore_site) sites; };          /* zeroed, it is empty */

MUST_CHECK int ignore_list_add(struct ignore_list *l, const char *text, struct err *err);
/* Rules of a host and its subdomains. */
MUST_CHECK int ignore_list_add_site(struct ignore_list *l, const char *host, const char *rules,
                                    struct err *err);
/* The rules for a canonical URL, or NULL. */
const struct ignore *ignore_list_find(const struct ignore_list *l, const char *url,
                                      size_t size);
void ignore_list_release(struct ignore_list *l);

#endif
