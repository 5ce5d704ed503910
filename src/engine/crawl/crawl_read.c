/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_read.c - answers: what they mean, and what will be archived of them.
 *
 * Some answers are read together, so that a cell gets many pages in one message.
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
	int rc = words && words->stem ? stemmer_new(&r->stemmer, words->stem, err) : 0;

	buf_init(&r->head, BUF_NO_LIMIT);
	buf_init(&r->request, BUF_NO_LIMIT);
	r->packer = warc_packer_new(packing);
	for (size_t i = 0; i < ANALYSE_TOGETHER; i++) {
		struct crawl_one *one = &r->one[i];

		buf_init(&one->decoded, o->fetch.max_decoded);
		analyser_init(&one->analyser);
		one->analyser.rules = &o->ignore;
		one->analyser.words = words ? &one->words : NULL;
		one->words.stemmer = r->stemmer;
	}
	return rc;
}

void crawl_reader_release(struct crawl_reader *r)
{
	for (size_t i = 0; i < ANALYSE_TOGETHER; i++) {
		analyser_release(&r->one[i].analyser);
		word_counter_release(&r->one[i].words);
		buf_release(&r->one[i].decoded);
	}
	stemmer_free(r->stemmer);
	warc_hasher_release(&r->hasher);
	warc_packer_free(r->packer);
	buf_release(&r->head);
	buf_release(&r->request);
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

/* What the analyser found, into the answer's own memory. */
static void own(struct crawl_one *one, struct crawl_answer *a)
{
	struct record *rec = &a->record;
	struct word_counts words = a->words;

	a->words = one->words.page;
	one->words.page = words;        /* the next page uses its memory */

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
static void refresh_robots(struct crawl_one *one, struct crawl_answer *a)
{
	const struct analyse_input *in = &one->in;
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
		if (analyse(&one->analyser, in, &again, &a->err) < 0) {
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

/* Read everything out of an answer that a record holds, but for what is in the page. */
static void begin_record(struct crawl_reader *t, struct crawl_one *one, struct crawl_answer *a)
{
	const struct fetch_result *r = &a->result;
	struct record *rec = &a->record;
	const char *v;
	size_t n, k = 0;

	one->asked = false;
	one->in = (struct analyse_input){ .url = { r->url, strlen(r->url) }, .body = r->decoded,
	                                  .size = r->decoded_size };
	*rec = (struct record){ .url = one->in.url, .status = r->status,
		.length = (int64_t)r->decoded_size, .offset = -1, .record_size = -1,
		.facts = { -1, -1, -1, -1, -1, -1 } };
	warc_hasher_begin(&t->hasher, WARC_SHA1);
	warc_hasher_add(&t->hasher, r->decoded, r->decoded_size);
	warc_hasher_end(&t->hasher, &one->payload);
	warc_digest_bare(&one->payload, a->digest);
	rec->digest = (struct text){ a->digest, strlen(a->digest) };
	if (fetch_header(r->head, r->head_size, "Content-Type", &v, &n)) {
		one->in.content_type = (struct text){ v, n };
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
	one->in.robots = robots_headers(r->head, r->head_size);
	/* equal bytes need not be read again, unless the copy is from an index (CDX): of such
	 * a copy we know only the digest */
	if (a->copy && (r->status == 304 || (a->copy->has_simhash &&
	                                     text_same(a->copy->digest, rec->digest))))
		refresh_robots(one, a);
	else
		one->asked = r->status != 304;
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

/* All but what is in the page. */
static void begin(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_one *one,
                  struct crawl_answer *a)
{
	struct fetch_result *r = &a->result;

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
		fetch_decode(r, &one->decoded, &a->err);
	if (r->error == FETCH_READER || a->err.code == E_FAIL)
		say_unread(a);
	one->detect = detector_of(o, a);
	detector_options(&one->detect, &one->analyser.options);
	begin_record(t, one, a);
}

static void finish(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_one *one,
                   struct crawl_answer *a)
{
	const struct fetch_result *r = &a->result;

	a->outcome = outcome_of(&one->detect, a);
	if (a->rc < 0)
		return;
	/* archived: answers that say something of the page, and pages that were cut off */
	if (a->outcome <= OUTCOME_GONE ||
	    (r->status == 200 && r->truncated != FETCH_WHOLE && r->error != FETCH_READER))
		a->rc = crawl_pack(o, t, a, &one->payload);
}

/* Have the pages read that are to be. */
static void look_inside(struct crawl_reader *t, struct crawl_answer **a, size_t n)
{
	struct analyse_job jobs[ANALYSE_TOGETHER];
	size_t n_jobs = 0;

	for (size_t i = 0; i < n; i++)
		if (t->one[i].asked)
			jobs[n_jobs++] = (struct analyse_job){ &t->one[i].analyser, &t->one[i].in,
			                                       &a[i]->record, 0, &a[i]->err };
	analyse_all(jobs, n_jobs);
	for (size_t i = 0, k = 0; i < n; i++) {
		if (!t->one[i].asked)
			continue;
		if (jobs[k++].rc < 0)
			say_unread(a[i]);
		else
			own(&t->one[i], a[i]);
	}
}

/* Large ones are rare: only the first of a group keeps their memory. */
static void rest(struct crawl_one *one)
{
	size_t max = one->decoded.max;

	analyser_rest(&one->analyser);
	if (one->decoded.cap > ANALYSE_TOGETHER_BYTES) {
		buf_release(&one->decoded);
		buf_init(&one->decoded, max);
	}
}

void crawl_read(const struct crawl_opts *o, struct crawl_reader *t, struct crawl_answer **a,
                size_t n)
{
	while (n) {
		size_t some = 0, bytes = 0;

		do {
			begin(o, t, &t->one[some], a[some]);
			bytes += a[some++]->result.decoded_size;
		} while (some < n && analyse_may_wait(some, bytes));
		look_inside(t, a, some);
		for (size_t i = 0; i < some; i++) {
			finish(o, t, &t->one[i], a[i]);
			if (i)
				rest(&t->one[i]);
		}
		a += some;
		n -= some;
	}
}
