/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mirror.c - pages and style sheets rewritten for a mirror, of any bytes.
 *
 * The first byte chooses HTML or CSS; the rest is the page.  Beyond "does not crash": with
 * no page in the mirror every link becomes a whole URL, so rewriting twice changes nothing
 * more; and the names of the URLs found are made of safe characters only.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mirror/mirror_name.h"
#include "engine/mirror/mirror_page.h"

#define CHECK(condition) do { if (!(condition)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *note_link(void *arg, const char *url, size_t size)
{
	struct buf name;

	(void)arg;
	buf_init(&name, BUF_NO_LIMIT);
	mirror_name((struct text){ url, size }, (struct text){ "text/html", 9 }, &name);
	CHECK(name.size && name.size == strspn(buf_text(&name), "abcdefghijklmnopqrstuvwxyz"
	      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-+@/"));
	CHECK(!strstr(buf_text(&name), "/.") && name.data[0] != '.' && name.data[0] != '/');
	buf_release(&name);
	return NULL;
}

static void rewrite(bool css, const char *data, size_t size, struct buf *out)
{
	static const char base[] = "https://example.org/a/b.html";
	struct mirror_links l = { .find = note_link, .base = { base, sizeof base - 1 },
	                          .file = "example.org/a/b.html" };

	mirror_links_init(&l);
	buf_init(out, BUF_NO_LIMIT);
	if (css)
		mirror_css(&l, data, size, out);
	else
		mirror_html(&l, data, size, "text/html; charset=utf-8", out);
	mirror_links_release(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once, twice;
	bool css = size && data[0] & 1;

	if (!size)
		return 0;
	rewrite(css, (const char *)data + 1, size - 1, &once);
	rewrite(css, buf_text(&once), once.size, &twice);
	CHECK(once.size == twice.size && !memcmp(buf_text(&once), buf_text(&twice), once.size));
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
