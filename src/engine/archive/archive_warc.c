/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_warc.c - the captures of a WARC as records; see archive.h.
 *
 * A response or a resource is read whole (its digest over all of it, its text
 * over the first EXTRACT_SIZE_MAX bytes), one pass, a few pages in memory: they wait
 * until some can be analysed together.  What is no state of a page (errors of the server,
 * refusals) keeps its digest but is not analysed.
 *
 * A revisit has the content of the capture that it names: by digest for
 * identical-payload-digest; for server-not-modified by the original's digest, or else the
 * page's previous capture.  The readers of the records join them (history.c,
 * import_visits.c).
 * One thing is remembered here: some crawlers (wget) write a digest of the chunked body
 * instead of the payload; their digests are mapped to ours, so that revisits find the
 * payload.
 *
 * A redirect is a state of its page, as any other answer.  But if our own crawler
 * followed it, the page's capture is the answer at the end, and the redirect is only
 * archived.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "base/mem.h"
#include "engine/archive/analyse.h"
#include "engine/archive/archive.h"
#include "engine/archive/lexicon.h"
#include "engine/archive/site_detect.h"
#include "warc/warc.h"
#include "web/rules/robots_tag.h"
#include "web/url/url.h"

#define MIME_MAX 128

/* A record that was read, with all that its texts point to. */
struct waiting {
	struct record record;
	struct warc_content content;
	struct analyser analyser;
	struct word_counter words;
	struct analyse_input in;
	struct buf url, page, given, type;
	char digest[WARC_DIGEST_TEXT], mime[MIME_MAX];
	uint64_t offset;
	bool asked;                     /* what is in the page */
	int rc;                         /* what came of that */
	struct err why;
};

struct reading {
	struct archive_reader *out;
	struct warc_reader warc;
	struct waiting waiting[ANALYSE_TOGETHER];
	size_t n_waiting, n_bytes;      /* of their bodies */
	struct map raw;                 /* digest as written -> computed ones */
	VEC(struct warc_digest) computed;
};

static struct text field_text(const struct field *f)
{
	return f ? (struct text){ f->value, f->value_size } : (struct text){ 0 };
}

static bool is_web(const struct field *f)
{
	return (f->value_size > 7 && !strncasecmp(f->value, "http://", 7)) ||
	       (f->value_size > 8 && !strncasecmp(f->value, "https://", 8));
}

/* Crawlers archive robots.txt, too; it is not a page to keep fresh. */
static bool is_robots(const struct field *f)
{
	static const char path[] = "/robots.txt";
	size_t size = f->value_size, tail = sizeof path - 1, slashes = 0;

	for (size_t i = 0; i < size; i++)
		slashes += f->value[i] == '/';
	return slashes == 3 && size > tail && !memcmp(f->value + size - tail, path, tail);
}

/* The type without parameters, in lower case. */
static struct text mime_of(struct waiting *w, const struct field *f)
{
	size_t n = 0;

	if (!f)
		return (struct text){ 0 };
	while (n < f->value_size && n < MIME_MAX && f->value[n] != ';' &&
	       !isspace((unsigned char)f->value[n])) {
		w->mime[n] = (char)tolower((unsigned char)f->value[n]);
		n++;
	}
	return n ? (struct text){ w->mime, n } : (struct text){ 0 };
}

static struct text written_digest(struct waiting *w, const struct warc_digest *digest)
{
	if (digest->hash == WARC_SHA1)
		warc_digest_bare(digest, w->digest);
	else
		warc_digest_format(digest, w->digest);
	return (struct text){ w->digest, strlen(w->digest) };
}

/* The digest that stands for the content of a response or resource. */
static struct text own_digest(struct reading *d, struct waiting *w)
{
	const struct warc_content *c = &w->content;
	const struct field *f = d->warc.record.payload_digest;
	struct warc_digest told;

	if (f && c->payload_check == WARC_CHECK_RAW) {
		map_put(&d->raw, hash_bytes(f->value, f->value_size, 0), (uint32_t)d->computed.n);
		vec_push(&d->computed, c->digest);
	} else if (f && warc_digest_parse(f->value, f->value_size, &told) &&
	           told.hash != WARC_SHA1 && c->payload_check == WARC_CHECK_OK) {
		return written_digest(w, &told);
	}
	return written_digest(w, &c->digest);
}

/* The digest of what a revisit refers to, or nothing. */
static struct text revisit_digest(struct reading *d, struct waiting *w)
{
	const struct field *f = d->warc.record.payload_digest;
	struct warc_digest told;
	struct text text;
	uint32_t k;

	if (!f || !warc_digest_parse(f->value, f->value_size, &told))
		return (struct text){ 0 };
	k = map_get(&d->raw, hash_bytes(f->value, f->value_size, 0));
	text = written_digest(w, k == MAP_NONE ? &told : &d->computed.v[k]);
	return archive_is_empty_digest(text) ? (struct text){ 0 } : text;
}

static void report(struct reading *d, uint64_t offset, const char *why)
{
	char text[700];

	d->out->stats.n_bad++;
	snprintf(text, sizeof text, "%s: record at %llu: %s", input_name(d->warc.in),
	         (unsigned long long)offset, why);
	if (d->out->report)
		d->out->report(d->out->arg, text);
}

/* How the page is to be read. */
static void set_input(struct waiting *w, const struct field *type)
{
	const struct warc_content *c = &w->content;

	w->in = (struct analyse_input){ .url = w->record.target.s ? w->record.target : w->record.url,
	                                .content_type = field_text(type), .body = c->body.data,
	                                .size = c->body.size };
	if (!c->is_http && type) {      /* of the head of the record, which will be another's */
		buf_clear(&w->type);
		buf_add(&w->type, type->value, type->value_size);
		w->in.content_type.s = buf_text(&w->type);
	}
	if (c->is_http)
		w->in.content_encoding = field_text(c->http.content_encoding);
	for (size_t i = 0; c->is_http && i < c->http.fields.list.n; i++) {
		const struct field *f = &c->http.fields.list.v[i];

		if (field_is(f, "X-Robots-Tag"))
			w->in.robots |= robots_tag_header(f->value, f->value_size);
	}
}

/* All but what is in the page. */
static void fill(struct reading *d, struct waiting *w)
{
	const struct warc_content *c = &w->content;
	const struct field *type = c->is_http ? c->http.content_type : d->warc.record.content_type;
	struct record *r = &w->record;

	w->asked = false;
	if (c->is_http && !r->target.s) {
		r->etag = field_text(fields_find(&c->http.fields, "ETag"));
		r->modified = field_text(fields_find(&c->http.fields, "Last-Modified"));
	}
	if (r->revisit) {
		static const char revisit[] = "warc/revisit";

		r->mime = (struct text){ revisit, sizeof revisit - 1 };
		r->digest = revisit_digest(d, w);
		return;
	}
	r->mime = mime_of(w, type);
	r->digest = own_digest(d, w);
	r->length = (int64_t)c->body_size;
	if (r->status >= 200 && r->status <= 399) {
		struct detector detect;

		set_input(w, type);
		detect = detectors_for(d->out->detectors, w->in.url.s, w->in.url.size);
		detector_options(&detect, &w->analyser.options);
		w->asked = true;
	}
}

/* Our own archives say which page redirects led from. */
static void set_page(struct reading *d, struct waiting *w)
{
	const struct field *f = fields_find(&d->warc.record.fields, WARC_FIELD_PAGE);

	buf_clear(&w->page);
	if (!f || url_canonical(f->value, f->value_size, &w->page, NULL) < 0)
		return;
	w->record.target = w->record.url;
	w->record.url = (struct text){ w->page.data, w->page.size };
}

/* One record whose content is loaded.  False: it holds no capture. */
static bool take(struct reading *d, struct waiting *w)
{
	const struct warc_record *rec = &d->warc.record;
	const struct warc_content *c = &w->content;
	const char *name = input_name(d->warc.in);
	struct record *r = &w->record;
	struct err why;

	*r = (struct record){
		.time = rec->time, .revisit = rec->type == WARC_REVISIT, .length = -1,
		.facts = { -1, -1, -1, -1, -1, -1 }, .offset = -1, .record_size = -1,
	};
	w->offset = rec->offset;
	buf_clear(&w->url);
	if (url_canonical(rec->target_uri->value, rec->target_uri->value_size, &w->url, &why) < 0) {
		report(d, w->offset, why.text);
		return false;
	}
	if (rec->type == WARC_RESPONSE && (!c->is_http || c->http.is_request)) {
		report(d, w->offset, "a response without an HTTP head");
		return false;
	}
	r->url = (struct text){ w->url.data, w->url.size };
	set_page(d, w);
	if (!r->target.s) {
		buf_clear(&w->given);
		buf_add(&w->given, rec->target_uri->value, rec->target_uri->value_size);
		r->given = (struct text){ buf_text(&w->given), w->given.size };
	}
	r->status = rec->type == WARC_RESOURCE ? 200 : c->is_http ? c->http.status :
	            rec->profile == WARC_NOT_MODIFIED ? 304 : 0;
	if (strcmp(name, "-") && !d->out->unplaced) {
		r->file = (struct text){ name, strlen(name) };
		r->offset = (int64_t)rec->offset;
		r->record_size = (int64_t)rec->file_size;
	}
	fill(d, w);
	return true;
}

static int deliver(struct reading *d, struct waiting *w, struct err *err)
{
	struct record *r = &w->record;

	if (w->asked && w->rc < 0) {
		if (w->why.code == E_FAIL) {    /* not this page: no page can be read */
			*err = w->why;
			return E_FAIL;
		}
		report(d, w->offset, w->why.text);
		return 0;
	}
	if (w->asked && d->out->lexicon && r->facts.words >= 0)
		r->terms.s = lexicon_terms(d->out->lexicon, &w->words.page, &r->terms.size);
	d->out->stats.n_records++;
	return d->out->record(d->out->arg, r, err);
}

/* Have the pages of all that wait read, and hand all of it over, in its order. */
static int deliver_all(struct reading *d, struct err *err)
{
	struct analyse_job jobs[ANALYSE_TOGETHER];
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < d->n_waiting; i++) {
		struct waiting *w = &d->waiting[i];

		if (w->asked)
			jobs[n++] = (struct analyse_job){ &w->analyser, &w->in, &w->record, 0, &w->why };
	}
	analyse_all(jobs, n);
	for (size_t i = 0, k = 0; i < d->n_waiting && rc == 0; i++) {
		struct waiting *w = &d->waiting[i];

		if (w->asked)
			w->rc = jobs[k++].rc;
		rc = deliver(d, w, err);
		if (i)                  /* large ones are rare */
			analyser_rest(&w->analyser);
		if (i && w->content.body.cap > ANALYSE_TOGETHER_BYTES) {
			buf_release(&w->content.body);
			buf_init(&w->content.body, EXTRACT_SIZE_MAX);
		}
	}
	d->n_waiting = d->n_bytes = 0;
	return rc;
}

static int next_record(struct reading *d, struct err *err)
{
	const struct warc_record *rec = &d->warc.record;
	struct waiting *w = &d->waiting[d->n_waiting];
	int rc = warc_next(&d->warc, err);

	if (rc <= 0)
		return rc;
	if ((rec->type != WARC_RESPONSE && rec->type != WARC_RESOURCE &&
	     rec->type != WARC_REVISIT) || !rec->target_uri || !is_web(rec->target_uri) ||
	    is_robots(rec->target_uri) || fields_find(&rec->fields, WARC_FIELD_HOP_OF)) {
		d->out->stats.n_other++;
		return 1;
	}
	rc = warc_load(&d->warc, &w->content, err);
	if (rc > 0 && take(d, w)) {
		d->n_waiting++;
		d->n_bytes += w->content.body.size;
		if (!analyse_may_wait(d->n_waiting, d->n_bytes))
			rc = deliver_all(d, err);
	}
	return rc < 0 ? rc : 1;
}

static void waiting_init(struct waiting *w, const struct archive_reader *a)
{
	warc_content_init(&w->content, EXTRACT_SIZE_MAX);
	analyser_init(&w->analyser);
	w->analyser.words = a->lexicon ? &w->words : NULL;
	w->words.stemmer = a->lexicon ? a->lexicon->stemmer : NULL;
	w->analyser.rules = a->rules;
	buf_init(&w->url, URL_SIZE_MAX);
	buf_init(&w->page, URL_SIZE_MAX);
	buf_init(&w->given, BUF_NO_LIMIT);
	buf_init(&w->type, BUF_NO_LIMIT);
}

static void waiting_release(struct waiting *w)
{
	warc_content_release(&w->content);
	analyser_release(&w->analyser);
	word_counter_release(&w->words);
	buf_release(&w->url);
	buf_release(&w->page);
	buf_release(&w->given);
	buf_release(&w->type);
}

int archive_read_warc(struct archive_reader *a, struct input *in, struct err *err)
{
	struct reading *d = mem_zalloc(1, sizeof *d);
	struct err why;
	int rc, rest;

	d->out = a;
	warc_open_input(&d->warc, in);
	d->warc.report = a->report;
	d->warc.report_arg = a->arg;
	for (size_t i = 0; i < ANALYSE_TOGETHER; i++)
		waiting_init(&d->waiting[i], a);
	while ((rc = next_record(d, err)) > 0)
		;
	rest = deliver_all(d, &why);    /* what was read before the reading failed, too */
	if (rc == 0 && rest < 0) {
		rc = rest;
		*err = why;
	}
	a->stats.n_bad += d->warc.n_damaged;
	warc_close(&d->warc);
	for (size_t i = 0; i < ANALYSE_TOGETHER; i++)
		waiting_release(&d->waiting[i]);
	map_release(&d->raw);
	vec_release(&d->computed);
	free(d);
	return rc;
}
