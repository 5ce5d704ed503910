/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_text.c - a request as text, for the archive.
 *
 * Written from what was asked for, in libcurl's order: listening to libcurl for
 * every byte sent would cost each request more, and HTTP/2 has no text.  A test
 * compares it with what a server received.
 */
#include "fetch/fetch_inner.h"

void fetch_request_text(const struct fetch_options *o, const char *url,
                        enum fetch_method method, const char *etag,
                        const char *last_modified, struct buf *out)
{
	struct url_parts p;

	url_split(url, strlen(url), &p);
	buf_str(out, method == FETCH_HEAD ? "HEAD " : "GET ");
	buf_add(out, url + p.path, p.end - p.path);
	buf_str(out, " HTTP/1.1\r\nHost: ");
	buf_add(out, url + p.host, p.path - p.host);
	buf_printf(out, "\r\nUser-Agent: %s\r\n" WIRE_ACCEPT "\r\n" WIRE_ENCODING "\r\n",
	           o->user_agent);
	if (etag)
		buf_printf(out, "If-None-Match: %s\r\n", etag);
	if (last_modified)
		buf_printf(out, "If-Modified-Since: %s\r\n", last_modified);
	buf_str(out, "\r\n");
}
