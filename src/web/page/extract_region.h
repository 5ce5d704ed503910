/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_region.h - where an element begins and ends, without a tree.
 *
 * A region opens at a start tag.  It closes at the end tag of the same name (nested
 * elements of that name are counted), or, for elements whose end tag may be omitted (p,
 * li, dd, td, option, ...), at the tag that implies it.  All other tags between are
 * inside, however badly nested.  An element that is never closed lasts to the end of the
 * page, as in a browser.
 *
 * Also here: which elements a reader does not see, and the user's rules for elements to
 * ignore.
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
	REGION_ENDS_WITH,               /* this tag is the last of the region */
	REGION_ENDED_BEFORE,            /* this tag is outside already */
};

/* Open at the current start tag; false if the element has no content. */
bool region_open(struct region *r, const struct html *t);
/* Call it for each later tag while the region is open. */
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
