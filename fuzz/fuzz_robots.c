/* SPDX-License-Identifier: Apache-2.0 */
/* First line: a path; the rest: a robots.txt.  Rules stay in order and in
 * bounds, whole or cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/rules/robots.h"
#include "web/rules/robots_tag.h"
#include "web/url/url.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

static void ask(const char *data, size_t size, bool cut, const struct buf *url)
{
	struct robots r;
	const char *rule;
	bool allowed;
	size_t steps;

	robots_parse(&r, data, size, cut, "freshet");
	MUST(!r.text.full && r.sitemaps.n <= ROBOTS_SITEMAPS_MAX);
	MUST(r.crawl_delay >= 0 && r.crawl_delay <= ROBOTS_DELAY_MAX);
	for (size_t i = 0; i < r.rules.n; i++) {
		const struct robots_rule *a = &r.rules.v[i];

		MUST(a->size && a->pattern + a->size < r.text.size);
		MUST(strlen(r.text.data + a->pattern) == a->size);
		MUST(a->wild == (i >= r.n_plain) && a->key <= a->size);
		if (a->wild)
			MUST(i == r.n_plain || a[-1].octets >= a->octets);
		else
			MUST((a->parent == UINT32_MAX || a->parent < i) && a->best <= i);
	}
	allowed = robots_allows(&r, url->data, url->size, &rule);
	MUST(allowed || rule);
	/* with less time it is never more open */
	MUST(!robots_allows_within(&r, 2, url->data, url->size, &rule, &steps) || allowed);
	robots_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	const char *line = size ? memchr(s, '\n', size) : NULL;
	struct buf url;

	MUST(robots_tag_header(s, size) <= (ROBOTS_TAG_NOFOLLOW | ROBOTS_TAG_NOINDEX));
	MUST((robots_tag_header(s, size) & ~robots_tag_words(s, size)) == 0 ||
	     memchr(s, ':', size));
	if (!line)
		return 0;
	buf_init(&url, BUF_NO_LIMIT);
	if (url_resolve("http://h/", 9, s, (size_t)(line - s), &url, NULL) == 0) {
		size -= (size_t)(line + 1 - s);
		ask(line + 1, size, false, &url);
		ask(line + 1, size, true, &url);
	}
	buf_release(&url);
	return 0;
}
