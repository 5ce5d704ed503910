/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_diff.h - what changed between two captures, in words.
 *
 * Three lists, each in page order, removed before added:
 *   text      lines of visible text
 *   elements  tags with id and class, e.g. "div#nav.menu", that came or went
 *   access    what readers with a screen reader hear: alternative texts, labels,
 *             headings, languages, roles, table headers, captions, titles; the
 *             label says which, e.g. "alternative text" of "img /logo.png: A dog"
 * Elements are compared as a set with counts, so moving one is no change; text
 * and access by longest common subsequence.
 */
#ifndef WEB_PAGE_CHANGE_DIFF_H
#define WEB_PAGE_CHANGE_DIFF_H

#include "base/mem.h"
#include "web/page/change.h"

#define DIFF_ITEMS_MAX 100000           /* of one page and kind; the rest is cut */
#define DIFF_TEXT_MAX  400              /* bytes of one item */

enum diff_kind { DIFF_TEXT, DIFF_ELEMENT, DIFF_ACCESS, DIFF_KINDS };

struct diff_item {
	enum diff_kind kind;
	bool added;                     /* else removed */
	const char *label;              /* DIFF_ACCESS: what it is; else "" */
	const char *text;
	uint32_t count;                 /* DIFF_ELEMENT: how many */
};

struct page_diff {
	VEC(struct diff_item) items;
	struct change_view view;        /* which detectors see a change */
	bool cut;                       /* a page had more than DIFF_ITEMS_MAX */
	struct arena arena;
};

void page_diff(struct page_diff *ret, const struct extract_input *before,
               const struct extract_input *after, const struct extract_options *options);
void page_diff_release(struct page_diff *d);

#endif
