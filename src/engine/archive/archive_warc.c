/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_warc.c - the captures of a WARC as records; see archive.h.
 *
 * A response or a resource is read whole (its digest over all of it, its text
 * over the first EXTRACT_SIZE_MAX bytes), one pass, one page in memory.  What is
 * no state of a page (errors of the server, refusals) keeps its digest but is
 * not analysed.
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

struct reading {
	struct archive_reader *out;
	struct warc_reader warc;
	struct warc_content content;
	struct analyser analyser;
	struct word_counter words;
	struct buf url, page;
	struct map raw;                 /* digest as written -> computed ones */
	VEC(struct warc_digest) computed;
	char digest[WARC_DIGEST_TEXT], mime[MIME_MAX];
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
static struct text mime_of(struct reading *d, const struct field *f)
{
	size_t n = 0;

	if (!f)
		return (struct text){ 0 };
	while (n < f->value_size && n < MIME_MAX && f->value[n] != ';' &&
	       !isspace((unsigned char)f->value[n])) {
		d->mime[n] = (char)tolower((unsigned char)f->value[n]);
		n++;
	}
	return n ? (struct text){ d->mime, n } : (struct text){ 0 };
}

static struct text written_digest(struct reading *d, const struct warc_digest *digest)
{
	if (digest->hash == WARC_SHA1)
		warc_digest_bare(digest, d->digest);
	else
		warc_digest_format(digest, d->digest);
	return (struct text){ d->digest, strlen(d->digest) };
}

/* The digest that stands for the content of a response or resource. */
static struct text own_digest(struct reading *d)
{
	const struct warc_content *c = &d->content;
	const struct field *f = d->warc.record.payload_digest;
	struct warc_digest told;

	if (f && c->payload_check == WARC_CHECK_RAW) {
		map_put(&d->raw, hash_bytes(f->value, f->value_size, 0), (uint32_t)d->computed.n);
		vec_push(&d->computed, c->digest);
	} else if (f && warc_digest_parse(f->value, f->value_size, &told) &&
	           told.hash != WARC_SHA1 && c->payload_check == WARC_CHECK_OK) {
		return written_digest(d, &told);
	}
	return written_digest(d, &c->digest);
}

/* The digest of what a revisit refers to, or nothing. */
static struct text revisit_digest(struct reading *d)
{
	const struct field *f = d->warc.record.payload_digest;
	struct warc_digest told;
	struct text text;
	uint32_t k;

	if (!f || !warc_digest_parse(f->value, f->value_size, &told))
		return (struct text){ 0 };
	k = map_get(&d->raw, hash_bytes(f->value, f->value_size, 0));
	text = written_digest(d, k == MAP_NONE ? &told : &d->computed.v[k]);
	return archive_is_empty_digest(text) ? (struct text){ 0 } : text;
}

static void report(struct reading *d, const char *why)
{
	char text[700];

	d->out->stats.n_bad++;
	snprintf(text, sizeof text, "%s: record at %llu: %s", input_name(d->warc.in),
	         (unsigned long long)d->warc.record.offset, why);
	if (d->out->report)
		d->out->report(d->out->arg, text);
}

/* False: the page could not be read. */
static bool fill(struct reading *d, struct record *r, struct err *why)
{
	const struct warc_record *rec = &d->warc.record;
	const struct warc_content *c = &d->content;
	const struct field *type = c->is_http ? c->http.content_type : rec->content_type;
	struct analyse_input in = { .url = r->target.s ? r->target : r->url,
	                            .content_type = field_text(type),
	                            .body = c->body.data, .size = c->body.size };

	if (c->is_http)
		in.content_encoding = field_text(c->http.content_encoding);
	for (size_t i = 0; c->is_http && i < c->http.fields.list.n; i++) {
		const struct field *f = &c->http.fields.list.v[i];

		if (field_is(f, "X-Robots-Tag"))
			in.robots |= robots_tag_header(f->value, f->value_size);
	}
	if (c->is_http && !r->target.s) {
		r->etag = field_text(fields_find(&c->http.fields, "ETag"));
		r->modified = field_text(fields_find(&c->http.fields, "Last-Modified"));
	}
	if (r->revisit) {
		static const char revisit[] = "warc/revisit";

		r->mime = (struct text){ revisit, sizeof revisit - 1 };
		r->digest = revisit_digest(d);
		return true;
	}
	r->mime = mime_of(d, type);
	r->digest = own_digest(d);
	r->length = (int64_t)c->body_size;
	if (r->status >= 200 && r->status <= 399) {
		struct detector detect = detectors_for(d->out->detectors, in.url.s, in.url.size);

		detector_options(&detect, &d->analyser.options);
		if (analyse(&d->analyser, &in, r, why) < 0)
			return false;
	}
	if (d->out->lexicon && r->facts.words >= 0)
		r->terms.s = lexicon_terms(d->out->lexicon, &d->words.page, &r->terms.size);
	return true;
}

/* Our own archives say which page redirects led from. */
static void set_page(struct reading *d, struct record *r)
{
	const struct field *f = fields_find(&d->warc.record.fields, WARC_FIELD_PAGE);

	buf_clear(&d->page);
	if (!f || url_canonical(f->value, f->value_size, &d->page, NULL) < 0)
		return;
	r->target = r->url;
	r->url = (struct text){ d->page.data, d->page.size };
}

/* One record whose content is loaded. */
static int deliver(struct reading *d, struct err *err)
{
	const struct warc_record *rec = &d->warc.record;
	const struct warc_content *c = &d->content;
	const char *name = input_name(d->warc.in);
	struct record r = {
		.time = rec->time, .revisit = rec->type == WARC_REVISIT, .length = -1,
		.facts = { -1, -1, -1, -1, -1, -1 }, .offset = -1, .record_size = -1,
	};
	struct err why;

	buf_clear(&d->url);
	if (url_canonical(rec->target_uri->value, rec->target_uri->value_size, &d->url,
	                  &why) < 0) {
		report(d, why.text);
		return 0;
	}
	if (rec->type == WARC_RESPONSE && (!c->is_http || c->http.is_request)) {
		report(d, "a response without an HTTP head");
		return 0;
	}
	r.url = (struct text){ d->url.data, d->url.size };
	set_page(d, &r);
	if (!r.target.s)
		r.given = (struct text){ rec->target_uri->value, rec->target_uri->value_size };
	r.status = rec->type == WARC_RESOURCE ? 200 : c->is_http ? c->http.status :
	           rec->profile == WARC_NOT_MODIFIED ? 304 : 0;
	if (strcmp(name, "-") && !d->out->unplaced) {
		r.file = (struct text){ name, strlen(name) };
		r.offset = (int64_t)rec->offset;
		r.record_size = (int64_t)rec->file_size;
	}
	if (!fill(d, &r, &why)) {
		if (why.code == E_FAIL) {       /* not this page: no page can be read */
			*err = why;
			return E_FAIL;
		}
		report(d, why.text);
		return 0;
	}
	d->out->stats.n_records++;
	return d->out->record(d->out->arg, &r, err);
}

static int next_record(struct reading *d, struct err *err)
{
	const struct warc_record *rec = &d->warc.record;
	int rc = warc_next(&d->warc, err);

	if (rc <= 0)
		return rc;
	if ((rec->type != WARC_RESPONSE && rec->type != WARC_RESOURCE &&
	     rec->type != WARC_REVISIT) || !rec->target_uri || !is_web(rec->target_uri) ||
	    is_robots(rec->target_uri) || fields_find(&rec->fields, WARC_FIELD_HOP_OF)) {
		d->out->stats.n_other++;
		return 1;
	}
	rc = warc_load(&d->warc, &d->content, err);
	if (rc > 0)
		rc = deliver(d, err);
	return rc < 0 ? rc : 1;
}

int archive_read_warc(struct archive_reader *a, struct input *in, struct err *err)
{
	struct reading d = { .out = a };
	int rc;

	warc_open_input(&d.warc, in);
	d.warc.report = a->report;
	d.warc.report_arg = a->arg;
	warc_content_init(&d.content, EXTRACT_SIZE_MAX);
	analyser_init(&d.analyser);
	d.analyser.words = a->lexicon ? &d.words : NULL;
	d.words.stemmer = a->lexicon ? a->lexicon->stemmer : NULL;
	d.analyser.rules = a->rules;
	buf_init(&d.url, URL_SIZE_MAX);
	buf_init(&d.page, URL_SIZE_MAX);
	while ((rc = next_record(&d, err)) > 0)
		;
	a->stats.n_bad += d.warc.n_damaged;
	warc_close(&d.warc);
	warc_content_release(&d.content);
	analyser_release(&d.analyser);
	word_counter_release(&d.words);
	buf_release(&d.url);
	buf_release(&d.page);
	map_release(&d.raw);
	vec_release(&d.computed);
	return rc;
}
