/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_pack.c - an answer as it is archived: requests, the redirects on the way, and a
 * response, or a revisit if it is as our copy.
 */
#include "engine/crawl/crawl_inner.h"

#include <string.h>
#include <strings.h>

static bool is_line(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);

	return (size_t)(end - line) > n && line[n] == ':' && !strncasecmp(line, name, n);
}

/* The head as it is archived.  Headers of codings that were undone are renamed: of the
 * transfer coding always, of the content coding if `undone`.  Content-Length is that of the
 * archived body.  A status line of HTTP/2 is written as one of HTTP/1.1. */
static void archive_head(struct buf *head, const char *from, size_t size, bool undone,
                         size_t length)
{
	const char *line = from, *end = from + size;

	buf_clear(head);
	if (size > 7 && !memcmp(line, "HTTP/2 ", 7)) {
		buf_str(head, "HTTP/1.1 ");
		line += 7;
	}
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop + 1 : end;
		if (stop - line <= 2 && (*line == '\r' || *line == '\n'))
			break;
		if (is_line(line, stop, "Transfer-Encoding") ||
		    (undone && (is_line(line, stop, "Content-Encoding") ||
		                is_line(line, stop, "Content-Length"))))
			buf_str(head, "X-Archive-Orig-");
		buf_add(head, line, (size_t)(stop - line));
		line = stop;
	}
	if (undone)
		buf_printf(head, "Content-Length: %zu\r\n", length);
	buf_str(head, "\r\n");
}

/* The request behind a capture, if requests are kept. */
static void add_request(const struct crawl_opts *o, struct crawl_reader *t,
                        const struct fetch_result *r, bool first, struct warc_capture *w)
{
	if (o->no_requests)
		return;
	buf_clear(&t->request);
	fetch_request_text(&o->fetch, w->url, r->method, first ? r->etag : NULL,
	                   first ? r->last_modified : NULL, &t->request);
	w->request = t->request.data;
	w->request_size = t->request.size;
}

/* The redirects on the way to an answer, each under its own URL. */
static int pack_hops(const struct crawl_opts *o, struct crawl_reader *t,
                     struct crawl_answer *a)
{
	const struct fetch_result *r = &a->result;
	int rc = 0;

	for (size_t i = 0; i < r->n_hops && rc == 0; i++) {
		const struct fetch_hop *h = &r->hops[i];
		struct warc_capture w = { .time = o->now ? a->time : h->time, .url = h->url,
			.hop_of = crawl_page_url(a), .truncated = h->cut ? "length" : NULL,
			.body = h->body, .body_size = h->body_size };

		if (!h->head)
			continue;       /* the fetcher dropped its bytes */
		w.ip_address = *h->ip ? h->ip : NULL;
		archive_head(&t->head, h->head, h->head_size, false, 0);
		w.head = t->head.data;
		w.head_size = t->head.size;
		add_request(o, t, r, i == 0, &w);
		rc = warc_pack_next(t->packer, &w, a->ids, &a->packed, &a->err);
		a->ids.n += 2;
	}
	return rc;
}

/* Pack the answer: a response, or a revisit if it is as our copy. */
int crawl_pack(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_answer *a,
               const struct warc_digest *payload)
{
	const struct fetch_result *r = &a->result;
	const struct crawl_copy *copy = a->copy;
	struct warc_capture w = { .time = a->time, .url = r->url, .head = NULL,
		.ip_address = r->ip[0] ? r->ip : NULL, .payload_digest = payload,
		.truncated = r->truncated != FETCH_WHOLE ? fetch_cut_name(r->truncated) : NULL,
		.page = r->n_hops || a->own_url ? crawl_page_url(a) : NULL,
		.body = r->decoded, .body_size = r->decoded_size };
	struct warc_digest original;
	int rc;

	if (a->outcome == OUTCOME_SAME && copy->digest.s &&
	    (r->status == 304 || text_same(copy->digest, a->record.digest)) &&
	    warc_digest_parse(copy->digest.s, copy->digest.size, &original)) {
		w.revisit = r->status == 304 ? WARC_NOT_MODIFIED : WARC_IDENTICAL_DIGEST;
		/* players look for the original under the URL that answered then */
		w.refers_to_url = copy->target.s ? copy->target.s : crawl_page_url(a);
		w.refers_to_time = copy->time;
		w.payload_digest = &original;
		a->record.revisit = true;
	} else if (r->status == 304) {
		return 0;               /* a 304 without a copy: there is nothing to archive */
	}
	buf_clear(&a->packed.members);
	a->is_packed = true;
	rc = pack_hops(o, t, a);
	if (rc < 0)
		return rc;
	archive_head(&t->head, r->head, r->head_size, r->decoded != r->body, r->decoded_size);
	w.head = t->head.data;
	w.head_size = t->head.size;
	add_request(o, t, r, r->n_hops == 0, &w);
	return warc_pack_next(t->packer, &w, a->ids, &a->packed, &a->err);
}
