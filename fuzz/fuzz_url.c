/* SPDX-License-Identifier: Apache-2.0 */
/* A first line as URL, the rest as a link on it: what is accepted is canonical,
 * printable, resolves to itself, and has keys of sane shape. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/url/url.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

static void check(const struct buf *url)
{
	struct url_parts p;
	struct url_dirs d;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	MUST(url->size <= URL_SIZE_MAX);
	MUST(url_is_canonical(url->data, url->size));
	for (size_t i = 0; i < url->size; i++)
		MUST(url->data[i] > 0x20 && url->data[i] < 0x7f);
	MUST(url_canonical(url->data, url->size, &b, NULL) == 0);
	MUST(b.size == url->size && !memcmp(b.data, url->data, b.size));
	buf_clear(&b);
	MUST(url_resolve("https://a/b?c", 13, url->data, url->size, &b, NULL) == 0);
	MUST(b.size == url->size && !memcmp(b.data, url->data, b.size));

	url_split(url->data, url->size, &p);
	MUST(p.host < p.host_end && p.host_end <= p.path && p.path < p.query);
	MUST(p.query <= p.end && p.end == url->size && p.port);
	url_dirs(url->data, url->size, &d);
	MUST(d.n >= 1 && d.n <= URL_LEVELS_MAX && d.n <= url_depth(url->data, url->size));
	for (uint32_t i = 0; i < d.n; i++)
		MUST(url->data[d.end[i] - 1] == '/' && d.end[i] <= p.query);

	buf_clear(&b);
	url_surt(url->data, url->size, &b);
	MUST(b.size && memchr(b.data, ')', b.size));
	for (size_t i = 0; i < b.size; i++)
		MUST(b.data[i] > 0x20 && b.data[i] < 0x7f
		     && !(b.data[i] >= 'A' && b.data[i] <= 'Z'));
	for (int by_domain = 0; by_domain < 2; by_domain++) {
		buf_clear(&b);
		url_site(url->data, url->size, by_domain, &b);
		MUST(b.size);
	}
	buf_clear(&b);
	MUST(url_query_dir(url->data, url->size, &b) == (b.size > 0));
	buf_release(&b);
}

/* Where there is room a plain link is only copied: that must make no difference. */
static void resolve(const struct buf *base, const char *ref, size_t size, struct buf *out)
{
	struct buf roomy;
	struct err err;
	int rc = url_resolve(base->data, base->size, ref, size, out, &err), again;

	buf_init(&roomy, BUF_NO_LIMIT);
	MUST(buf_room(&roomy, base->size + size + 64));
	again = url_resolve(base->data, base->size, ref, size, &roomy, NULL);
	MUST(rc == again && roomy.size == out->size);
	MUST(rc || (!memcmp(roomy.data, out->data, out->size) && !roomy.data[roomy.size]));
	buf_release(&roomy);
	if (rc == 0)
		check(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	const char *line = size ? memchr(s, '\n', size) : NULL;
	size_t first = line ? (size_t)(line - s) : size;
	struct buf base, url;
	struct err err;

	buf_init(&base, BUF_NO_LIMIT);
	buf_init(&url, BUF_NO_LIMIT);
	if (url_canonical(s, first, &base, &err) == 0) {
		check(&base);
		if (line)
			resolve(&base, line + 1, size - first - 1, &url);
	} else {
		MUST(base.size == 0 && err.text[0]);
	}
	buf_release(&base);
	buf_release(&url);
	return 0;
}
