/* SPDX-License-Identifier: Apache-2.0 */
/* sitemap_inner.h - shared by sitemap.c (reading) and sitemap_cell.c (reading in a cell). */
#ifndef WEB_RULES_SITEMAP_INNER_H
#define WEB_RULES_SITEMAP_INNER_H

#include "web/rules/sitemap.h"
#include "web/url/url.h"

/* Of source->url: its parts, and the size of its directory, from the host on. */
struct sitemap_home { struct url_parts parts; size_t size; };

void sitemap_home(struct sitemap_home *ret, const struct sitemap_source *source);
/* May a sitemap (an index?) of this source name this canonical URL? */
bool sitemap_in_scope(const struct sitemap_source *source, const struct sitemap_home *home,
                      bool index, const char *url, size_t size);
/* sitemap_read() in this process. */
MUST_CHECK int sitemap_read_here(struct input *in, const struct sitemap_source *source,
                                 sitemap_visit *visit, void *context,
                                 struct sitemap_report *ret, struct err *err);

#endif
