/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - what differs between two copies of a page, found in a cell where there are any.
 */
#ifndef WEB_PAGE_COMPARE_H
#define WEB_PAGE_COMPARE_H

#include "base/err.h"
#include "base/text.h"
#include "web/page/change_diff.h"

/* As page_diff(); ret is to be released if it succeeds.  E_READER: a copy broke its reader. */
MUST_CHECK int compare_pages(struct page_diff *ret, const struct extract_input *before,
                             const struct extract_input *after,
                             const struct extract_options *options, struct err *err);
/* The work of a cell. */
int compare_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err);

#endif
