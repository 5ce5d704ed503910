/* SPDX-License-Identifier: Apache-2.0 */
/* page_copy.h - the page of a capture as it was sent, content encoding undone. */
#ifndef ENGINE_CHANGES_PAGE_COPY_H
#define ENGINE_CHANGES_PAGE_COPY_H

#include "engine/archive/content.h"
#include "web/page/extract.h"

struct page_copy {              /* zeroed, it is empty */
	struct buf body, type;
	int64_t time;
	bool cut;                       /* the page is longer than body */
};

/* Does the capture hold the content of a page that was there?  (Whether its file still
 * does is seen when it is read.) */
bool page_copy_is_there(const struct store_capture *c);
/* Read a capture's page back from the file it lies in, as much of it as content_init() of
 * `content` allows. */
MUST_CHECK int page_copy_load(struct page_copy *c, struct content *content,
                              const struct store_capture *capture, struct text url,
                              struct err *err);
void page_copy_release(struct page_copy *c);
/* For web/page/extract.h; url is NUL-terminated and must outlive it. */
struct extract_input page_copy_input(const struct page_copy *c, const char *url);

/* How many changes of each site's pages concern accessibility: pairs of captures,
 * one behind the other, between which page_diff() finds something that a screen
 * reader reads aloud.  Captures whose content is not at hand are passed over.
 * by_site has a number for each site of pages. */
struct pages;
MUST_CHECK int access_count(struct store *s, const char *folder, const struct pages *pages,
                            uint64_t *by_site, struct err *err);

#endif
