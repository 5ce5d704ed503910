/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_text.c - a request as text, for the archive; and the list of resting hosts.
 *
 * The text is written from the request, in libcurl's order.  To record every byte that
 * libcurl sends would cost more, and HTTP/2 has no text.  A test compares the text with
 * the bytes that a server received.  Cookies and credentials are not in it.
 */
#include "fetch/fetch_inner.h"

void fetch_request_text(const struct fetch_options *o, const char *url,
                        enum fetch_method method, const char *etag,
                        const char *last_modified, struct buf *out)
{
	struct asking_extra *extra = o->asking ? asking_extra_new() : NULL;
	const char *line, *end;
	struct url_parts p;

	if (extra)
		asking_open_for(o->asking, url, strlen(url), extra);
	url_split(url, strlen(url), &p);
	buf_str(out, method == FETCH_HEAD ? "HEAD " : "GET ");
	buf_add(out, url + p.path, p.end - p.path);
	buf_str(out, " HTTP/1.1\r\nHost: ");
	buf_add(out, url + p.host, p.path - p.host);
	buf_printf(out, "\r\nUser-Agent: %s\r\n", o->user_agent);
	buf_printf(out, "Accept: %s\r\n" WIRE_ENCODING "\r\n",
	           extra && extra->accept ? extra->accept : WIRE_ACCEPT);
	if (etag)
		buf_printf(out, "If-None-Match: %s\r\n", etag);
	if (last_modified)
		buf_printf(out, "If-Modified-Since: %s\r\n", last_modified);
	line = extra ? buf_text(&extra->open) : "";
	end = line + (extra ? extra->open.size : 0);
	for (; line < end; line += strlen(line) + 1)
		buf_printf(out, "%s\r\n", line);
	buf_str(out, "\r\n");
	asking_extra_free(extra);
}

void fetch_rests(const struct fetch *f, void (*each)(void *arg, const char *host,
                                                     double seconds), void *arg)
{
	const char *host;
	double seconds;

	for (uint32_t at = 0; polite_resting(f->polite, wire_now(), &at, &host, &seconds); at++)
		each(arg, host, seconds);
}

void fetch_pauses(const struct fetch *f, void (*each)(void *arg, const char *host,
                                                      double seconds), void *arg)
{
	const char *host;
	double seconds;

	for (uint32_t at = 0; polite_pausing(f->polite, wire_now(), &at, &host, &seconds); at++)
		each(arg, host, seconds);
}

void fetch_hold_host(struct fetch *f, const char *host, size_t size, double seconds)
{
	polite_hold(f->polite, polite_host(f->polite, host, size), wire_now(), seconds);
}

void fetch_rest(struct fetch *f, const char *host, size_t size, double seconds)
{
	polite_rest(f->polite, polite_host(f->polite, host, size), wire_now(), seconds);
}
