/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a sitemap of http://h/d/: what is delivered is canonical, under
 * the sitemap's directory (its host, for an index), and counted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/rules/sitemap.h"
#include "web/url/url.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

static int visit(void *context, const struct sitemap_entry *e, struct err *err)
{
	struct url_parts p;
	struct buf b;
	const char *home = e->is_sitemap ? "h/" : "h/d/";

	(void)err;
	++*(uint64_t *)context;
	buf_init(&b, BUF_NO_LIMIT);
	MUST(url_canonical(e->url, e->url_size, &b, NULL) == 0);
	MUST(b.size == e->url_size && !memcmp(b.data, e->url, b.size));
	url_split(e->url, e->url_size, &p);
	MUST(!strncmp(b.data + p.host, home, strlen(home)));
	buf_release(&b);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sitemap_source source = { "http://h/d/sitemap.xml", 22, SITEMAP_PATH, 0 };
	struct sitemap_report report;
	uint64_t n = 0;
	struct input *in;
	struct err err;

	if (input_open_memory(&in, data, size, "fuzz", &err))
		return 0;               /* damaged compression */
	if (sitemap_read(in, &source, visit, &n, &report, &err))
		MUST(err.text[0]);
	MUST(report.entries == n && n <= SITEMAP_URLS_MAX);
	input_close(in);
	return 0;
}
