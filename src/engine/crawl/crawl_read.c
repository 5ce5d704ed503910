/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_read.c - one answer: what it means, and what will be archived of it.
 *
 * Everything here depends on nothing but the answer and our copy of the page: it
 * is done by several threads (base/thread/work_queue.h), each with a reader of its own, while
 * the loop fetches and writes.
 *
 * engine/archive/judge.h says what it means.  An answer that was cut by time or disconnect
 * is archived as truncated, but is a failure.  A page that no request was made for is
 * blocked.
 */
#include "engine/crawl/crawl_inner.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/status.h"
#include "engine/archive/judge.h"
#include "engine/archive/site_detect.h"
#include "web/rules/robots_tag.h"

#define KEEP_MEMORY (64 << 10)  /* larger buffers are given back after use */

int crawl_reader_init(struct crawl_reader *r, const struct crawl_opts *o,
                      struct warc_packing packing, const struct import_words *words, struct err *err)
{
	buf_init(&r->head, BUF_NO_LIMIT);
	buf_init(&r->request, BUF_NO_LIMIT);
	buf_init(&r->decoded, o->fetch.max_decoded);
	analyser_init(&r->analyser);
	r->analyser.rules = &o->ignore;
	r->packer = warc_packer_new(packing);
	r->analyser.words = words ? &r->words : NULL;
	return words && words->stem ? stemmer_new(&r->words.stemmer, words->stem, err) : 0;
}

void crawl_reader_release(struct crawl_reader *r)
{
	analyser_release(&r->analyser);
	stemmer_free(r->words.stemmer);
	word_counter_release(&r->words);
	warc_hasher_release(&r->hasher);
	warc_packer_free(r->packer);
	buf_release(&r->head);
	buf_release(&r->request);
	buf_release(&r->decoded);
}

void crawl_answer_init(struct crawl_answer *a)
{
	buf_init(&a->links, BUF_NO_LIMIT);
	buf_init(&a->title, BUF_NO_LIMIT);
	buf_init(&a->robots, BUF_NO_LIMIT);
	warc_packed_init(&a->packed);
}

void crawl_answer_release(struct crawl_answer *a)
{
	buf_release(&a->links);
	buf_release(&a->title);
	buf_release(&a->robots);
	word_counts_release(&a->words);
	a->words = (struct word_counts){ 0 };
	warc_packed_release(&a->packed);
}

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

static bool same_text(struct text a, struct text b)
{
	return a.s && b.s && a.size == b.size && !memcmp(a.s, b.s, a.size);
}

/* What the analyser found, into the answer's own memory. */
static void own(struct crawl_reader *t, struct crawl_answer *a)
{
	struct record *rec = &a->record;
	struct word_counts words = a->words;

	a->words = t->words.page;
	t->words.page = words;          /* the next page uses its memory */

	if (rec->prose.s)
		rec->prose.s = memcpy(a->prose, rec->prose.s, rec->prose.size);
	if (rec->tags.s)
		rec->tags.s = memcpy(a->tags, rec->tags.s, rec->tags.size);
	if (rec->title.s) {
		buf_add(&a->title, rec->title.s, rec->title.size);
		rec->title.s = buf_text(&a->title);
	}
	if (rec->links.s) {
		buf_add(&a->links, rec->links.s, rec->links.size);
		rec->links.s = buf_text(&a->links);
	}
	if (rec->robots.s) {
		buf_add(&a->robots, rec->robots.s, rec->robots.size);
		rec->robots.s = buf_text(&a->robots);
	}
}

/* What read it broke down: it is a failure, whatever the server said.  E_FAIL: nothing can be
 * read any more, which is no page's failure. */
static void say_unread(struct crawl_answer *a)
{
	if (a->err.code == E_FAIL)
		a->rc = E_FAIL;
	else
		log_warn("%s: %s", a->result.url, a->err.text);
	a->result.error = FETCH_READER;
}

/* All X-Robots-Tag headers of a head together. */
static unsigned robots_headers(const char *head, size_t size)
{
	const char *end = head + size, *v;
	unsigned tags = 0;
	size_t n;

	while (fetch_header(head, (size_t)(end - head), "X-Robots-Tag", &v, &n)) {
		tags |= robots_tag_header(v, n);
		head = v;               /* continue after this line */
	}
	return tags;
}

/* The content is that of our copy, but its headers may ask other things of robots than the
 * copy did.  What the page itself asks (in <meta>) is known only from the whole page.  So a
 * 304 can only add words; a whole answer is read again. */
static void refresh_robots(struct crawl_reader *t, struct crawl_answer *a,
                           const struct analyse_input *in)
{
	struct text before = a->copy->robots;
	size_t links;
	unsigned kept = robots_tag_kept(before.s, before.size, &links);
	struct record again = a->record;

	if (a->result.status == 304 ? !(in->robots & ~kept) : in->robots == kept)
		return;
	if (a->result.status == 304) {
		robots_tag_put(kept | in->robots, &a->robots);
		if (links < before.size) {
			buf_byte(&a->robots, ' ');
			buf_add(&a->robots, before.s + links, before.size - links);
		}
	} else {
		if (analyse(&t->analyser, in, &again, &a->err) < 0) {
			say_unread(a);
			return;
		}
		if (again.robots.s)
			buf_add(&a->robots, again.robots.s, again.robots.size);
	}
	if (a->robots.size)
		a->record.robots = (struct text){ a->robots.data, a->robots.size };
	a->robots_told = true;
}

/* Read everything out of an answer that a record holds. */
static void read_record(struct crawl_reader *t, struct crawl_answer *a,
                        struct warc_digest *payload)
{
	const struct fetch_result *r = &a->result;
	struct record *rec = &a->record;
	struct analyse_input in = { .url = { r->url, strlen(r->url) }, .body = r->decoded,
		.size = r->decoded_size };
	const char *v;
	size_t n, k = 0;

	*rec = (struct record){ .url = in.url, .status = r->status,
		.length = (int64_t)r->decoded_size, .offset = -1, .record_size = -1,
		.facts = { -1, -1, -1, -1, -1, -1 } };
	warc_hasher_begin(&t->hasher, WARC_SHA1);
	warc_hasher_add(&t->hasher, r->decoded, r->decoded_size);
	warc_hasher_end(&t->hasher, payload);
	warc_digest_bare(payload, a->digest);
	rec->digest = (struct text){ a->digest, strlen(a->digest) };
	if (fetch_header(r->head, r->head_size, "Content-Type", &v, &n)) {
		in.content_type = (struct text){ v, n };
		for (; k < n && k < sizeof a->mime - 1 && v[k] != ';' &&
		       !isspace((unsigned char)v[k]); k++)
			a->mime[k] = (char)tolower((unsigned char)v[k]);
		if (k)
			rec->mime = (struct text){ a->mime, k };
	}
	/* validators of where a redirect led say nothing about the page's own URL */
	if (!r->n_hops && fetch_header(r->head, r->head_size, "ETag", &v, &n) && n)
		rec->etag = (struct text){ v, n };
	if (!r->n_hops && fetch_header(r->head, r->head_size, "Last-Modified", &v, &n) && n)
		rec->modified = (struct text){ v, n };
	if ((!status_is_page(r->status) && r->status != 304) || r->error == FETCH_READER)
		return;
	in.robots = robots_headers(r->head, r->head_size);
	/* equal bytes need not be read again, unless the copy is from an index (CDX): of such
	 * a copy we know only the digest */
	if (a->copy && (r->status == 304 || (a->copy->has_simhash &&
	                                     same_text(a->copy->digest, rec->digest)))) {
		refresh_robots(t, a, &in);
	} else if (r->status != 304) {
		if (analyse(&t->analyser, &in, rec, &a->err) < 0)
			say_unread(a);
		else
			own(t, a);
	}
}

/* The detector of the page, which is that of its own URL, not of where it leads. */
static struct detector detector_of(const struct crawl_opts *o, const struct crawl_answer *a)
{
	struct detectors d = { o->detect, o->sites };
	const char *url = crawl_page_url(a);

	return detectors_for(&d, url, strlen(url));
}

static enum outcome outcome_of(const struct detector *d, const struct crawl_answer *a)
{
	const struct fetch_result *r = &a->result;
	const struct record *rec = &a->record;
	const struct crawl_copy *c = a->copy;
	struct answer now = { .by = TOLD_BY_OURS, .status = r->status }, copy = { .status = 200 };

	if (r->error != FETCH_OK)
		now.fate = crawl_is_blocked(r) ? ANSWER_BLOCKED : ANSWER_FAILED;
	if (status_is_page(r->status))
		now.content = judge_fingerprint(d, rec->digest, rec->prose,
		                                rec->tags,
		                                rec->has_simhash ? &rec->simhash : NULL);
	if (c)
		copy.content = judge_fingerprint(d, c->digest, c->prose, c->tags,
		                                 c->has_simhash ? &c->simhash : NULL);
	return judge(d, &now, c ? &copy : NULL).outcome;
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
static int pack(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_answer *a,
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
	    (r->status == 304 || same_text(copy->digest, a->record.digest)) &&
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

void crawl_read(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_answer *a)
{
	struct fetch_result *r = &a->result;
	struct warc_digest payload;
	struct detector detect;

	if (a->packed.members.cap > KEEP_MEMORY || a->links.cap > KEEP_MEMORY ||
	    a->words.pool.cap > KEEP_MEMORY) {
		crawl_answer_release(a);
		crawl_answer_init(a);
	}
	buf_clear(&a->links);
	buf_clear(&a->title);
	buf_clear(&a->robots);
	a->is_packed = false;
	a->robots_told = false;
	a->rc = 0;
	a->err.code = 0;
	if (o->fetch.decode)
		fetch_decode(r, &t->decoded, &a->err);
	if (r->error == FETCH_READER || a->err.code == E_FAIL)
		say_unread(a);
	detect = detector_of(o, a);
	detector_options(&detect, &t->analyser.options);
	read_record(t, a, &payload);
	a->outcome = outcome_of(&detect, a);
	if (a->rc < 0)
		return;
	/* archived: answers that say something of the page, and pages that were cut off */
	if (a->outcome <= OUTCOME_GONE ||
	    (r->status == 200 && r->truncated != FETCH_WHOLE && r->error != FETCH_READER))
		a->rc = pack(o, t, a, &payload);
}
