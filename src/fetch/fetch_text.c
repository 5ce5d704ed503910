/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_text.c - a request as text, for the archive; and the list of resting hosts.
 *
 * The text is written from the request, in libcurl's order.  To record every byte that
 * libcurl sends would cost more, and HTTP/2 has no text.  A test compares the text with
 * the bytes that a server received.
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

void fetch_rests(const struct fetch *f, void (*each)(void *arg, const char *host,
                                                     double seconds), void *arg)
{
	const char *host;
	double seconds;

	for (uint32_t at = 0; polite_resting(f->polite, wire_now(), &at, &host, &seconds); at++)
		each(arg, host, seconds);
}

void fetch_rest(struct fetch *f, const char *host, size_t size, double seconds)
{
	polite_rest(f->polite, polite_host(f->polite, host, size), wire_now(), seconds);
}
