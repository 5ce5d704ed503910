/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_region.h - the extent of one element, without a tree.
 *
 * A region opens at a start tag and closes where the element ends: at the end tag
 * of the same name, nested ones counted; for elements whose end tag may be left
 * out (p, li, dd, td, option, ...) also at the tag that implies it.  Everything
 * else between is taken as inside, however badly nested it is; an element never
 * closed lasts to the end of the page, as it does in a browser.
 *
 * Also here: which elements a reader does not see, and the user's rules for
 * elements that shall not count.
 */
#ifndef WEB_PAGE_EXTRACT_REGION_H
#define WEB_PAGE_EXTRACT_REGION_H

#include "base/err.h"
#include "web/html/html.h"

struct region {                         /* zeroed: closed */
	bool open;
	enum html_tag tag;
	uint64_t name;                  /* hash, where tag is TAG_OTHER */
	unsigned depth;                 /* of the same name */
	unsigned nest;                  /* lists or tables inside, where they matter */
};

enum region_event {
	REGION_GOES_ON,
	REGION_ENDS_WITH,               /* with this very tag */
	REGION_ENDED_BEFORE,            /* this tag is outside already */
};

/* Open at the current start tag; false if the element has no content. */
bool region_open(struct region *r, const struct html *t);
/* Tell an open region of each later tag. */
enum region_event region_step(struct region *r, const struct html *t);

/* Does a reader not see what is inside the current start tag's element? */
bool region_is_hidden(struct html *t);

/* Rules "tag", "#id", ".class", "tag#id", "tag.class", separated by spaces or
 * commas, e.g. "#clock, .ad, marquee". */
#define IGNORE_RULES_MAX 256
#define IGNORE_NAME_MAX 128

struct ignore {
	struct ignore_rule {
		char tag[IGNORE_NAME_MAX];      /* "" for any */
		char id[IGNORE_NAME_MAX];
		char class[IGNORE_NAME_MAX];
	} *rules;
	size_t n;
};

MUST_CHECK int ignore_parse(struct ignore *ret, const char *rules, struct err *err);
void ignore_release(struct ignore *g);
/* Does a rule name the current start tag's element? */
bool ignore_matches(const struct ignore *g, struct html *t);

#endif
