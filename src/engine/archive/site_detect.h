/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_detect.h - what counts as a change, by site: one rule for the crawl, imports and
 * `diff`.
 *
 * The settings `detect` and `ignore` hold for all sites, and `set --site HOST` for one host
 * and its subdomains (repo/site_settings.h).
 */
#ifndef ENGINE_ARCHIVE_SITE_DETECT_H
#define ENGINE_ARCHIVE_SITE_DETECT_H

#include "engine/archive/ignore.h"
#include "repo/site_settings.h"
#include "web/page/change.h"

struct detectors {
	struct detector general;
	const struct site_settings *sites;      /* NULL: no site has its own */
};

/* The detector of the page with this canonical URL.  d NULL: by bytes. */
struct detector detectors_for(const struct detectors *d, const char *url, size_t size);
/* Add the rules of `ignore` that single sites have. */
MUST_CHECK int site_ignore_add(struct ignore_list *l, const struct site_settings *sites,
                               struct err *err);

#endif
