/* SPDX-License-Identifier: Apache-2.0 */
/* options_parcel.h - how a page is to be read, as bytes for a cell; see base/sandbox/parcel.h. */
#ifndef WEB_PAGE_OPTIONS_PARCEL_H
#define WEB_PAGE_OPTIONS_PARCEL_H

#include "base/sandbox/parcel.h"
#include "web/page/extract.h"

void options_parcel_put(struct buf *b, const struct extract_options *o);
/* In the cell; *rules replaces what was there for the page before, and is used from then on. */
struct extract_options options_parcel_open(struct parcel *p, struct ignore *rules);

#endif
