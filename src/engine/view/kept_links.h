/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_links.h - links, PageRank and sizes of the settled pages, in a file beside the store
 * (cachefile.h), so that captures are read once an epoch and not at every start.
 *
 * It is good as long as its key is the same: a hash of the epoch, the URLs of the settled
 * pages, and store_past(), which is raised when captures of earlier times come.
 */
#ifndef ENGINE_VIEW_KEPT_LINKS_H
#define ENGINE_VIEW_KEPT_LINKS_H

#include "engine/view/epoch.h"
#include "engine/view/prepare.h"

#define KEPT_LINKS_END "-links" /* its name: that of the store, and this */
#define KEPT_NEEDS (NEED_LINKS | NEED_PAGERANK | NEED_SIZES)

MUST_CHECK int kept_links_key(uint64_t *ret, const struct pages *pages, struct store *s,
                              const struct epoch *epoch, struct err *err);
/* Read them into an empty p.  False: there are none, and p stays empty. */
bool kept_links_read(struct prepared *p, const struct pages *pages, const char *store,
                     uint64_t key);
void kept_links_write(struct prepared *p, const struct pages *pages, const char *store,
                      uint64_t key);

#endif
