/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.c - sniffing, and CDX lines as records; see archive.h.
 *
 * The lines of an index come sorted, so most follow one of the same URL: its
 * canonical form is kept and made anew only when the URL changes.
 */
#include "engine/archive/archive.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "base/io/zip.h"
#include "warc/cdx.h"
#include "warc/logs/logs.h"
#include "web/url/url.h"

#define SNIFF_SIZE 4096

const char *archive_kind_name(enum archive_kind kind)
{
	static const char *const names[] = { "URL list", "CDX", "WARC", "sitemap",
	                                     "link graph", "WACZ", "crawl.log", "Nutch dump" };

	return names[kind];
}

/* "surt digits ...": the second field of an index line is a time, of 14 digits or,
 * to the millisecond, 17; before the JSON of CDXJ also of fewer.  Or JSON alone, with
 * its time or key; other objects are pages and no captures. */
static bool is_index_line(const char *s, size_t size, bool whole)
{
	const char *space = memchr(s, ' ', size), *end = s + size, *p;
	size_t digits;

	if (size && *s == '{')
		return !whole || memmem(s, size, "\"timestamp\"", 11) ||
		       memmem(s, size, "\"urlkey\"", 8);
	if (cdx_is_rows(s, size))
		return true;
	if (!space)
		return false;
	for (p = space + 1; p < end && isdigit((unsigned char)*p); p++)
		;
	digits = (size_t)(p - space) - 1;
	return digits == 14 || digits == 17 ||
	       (digits >= 4 && digits <= 17 && end - p >= 2 && p[0] == ' ' && p[1] == '{');
}

/* Pass over the lines that a CDXJ file may begin with: headers, comments, blanks. */
static void skip_heading(const char **s, size_t *size)
{
	const char *p = *s, *end = p + *size, *line_end;

	while (p < end) {
		const char *first = p;

		while (first < end && (*first == ' ' || *first == '\t' || *first == '\r'))
			first++;
		if (first < end && *first != '\n' && *p != '!' && *p != '#')
			break;
		line_end = memchr(p, '\n', (size_t)(end - p));
		p = line_end ? line_end + 1 : end;
	}
	*s = p;
	*size = (size_t)(end - p);
}

/* A zero byte means binary, unless a line begins like a URL: then this is a list with a
 * damaged line, which is reported when it is read. */
static bool is_binary(const char *s, size_t size)
{
	const char *p = s, *end = s + size;

	if (!memchr(s, 0, size))
		return false;
	while (p && p < end) {
		if (end - p >= 7 && (!memcmp(p, "http://", 7) || !memcmp(p, "https:/", 7)))
			return false;
		p = memchr(p, '\n', (size_t)(end - p));
		if (p)
			p++;
	}
	return true;
}

static bool has_scheme(const char *s, const char *end)
{
	const char *colon = memmem(s, (size_t)(end - s), "://", 3);

	return colon && colon - s <= 5 && colon > s;
}

/* Does text begin like a list of links?  "url url" or "url TAB 0|1 TAB ...", blanks
 * between; comments before it. */
bool archive_is_graph(const char *s, size_t size)
{
	const char *line_end, *second;
	size_t n;

	for (;; s += n, size -= n) {
		n = 0;
		while (n < size && s[n] != '\n')
			n++;
		if (size && *s != '#' && *s != '%' && *s != '\n' && *s != '\r')
			break;
		if (n++ >= size)
			return false;
	}
	line_end = s + n;
	for (second = s; second < line_end && *second != ' ' && *second != '\t'; second++)
		;
	if (second == line_end || !has_scheme(s, second))
		return false;
	if (*second == '\t' && second + 1 < line_end && (second[1] == '0' || second[1] == '1') &&
	    (second + 2 == line_end || second[2] == '\t' || second[2] == '\r'))
		return true;
	while (second < line_end && (*second == ' ' || *second == '\t'))
		second++;
	return has_scheme(second, line_end);
}

int archive_sniff(struct input *in, enum archive_kind *ret, struct err *err)
{
	const char *s, *first, *line_end;
	size_t size, rest;
	int rc = input_peek(in, SNIFF_SIZE, &s, &size, err);

	if (rc < 0)
		return rc;
	if (size >= 3 && !memcmp(s, "\xef\xbb\xbf", 3)) {
		s += 3;
		size -= 3;
	}
	while (size && isspace((unsigned char)*s) && *s != ' ') {
		s++;
		size--;
	}
	first = s;
	rest = size;
	skip_heading(&first, &rest);
	line_end = memchr(first, '\n', rest);
	if (size >= 5 && !memcmp(s, "WARC/", 5))
		*ret = ARCHIVE_WARC;
	else if (zip_looks_so(s, size))
		*ret = ARCHIVE_WACZ;
	else if (size >= 1 && *s == '<')
		*ret = ARCHIVE_SITEMAP;
	else if (size >= 5 && !memcmp(s, " CDX ", 5))
		*ret = ARCHIVE_CDX;
	else if (is_index_line(first, line_end ? (size_t)(line_end - first) : rest,
	                       line_end || size < SNIFF_SIZE - 3))
		*ret = ARCHIVE_CDX;
	else if (logs_is_heritrix(first, line_end ? (size_t)(line_end - first) : rest))
		*ret = ARCHIVE_HERITRIX;
	else if (logs_is_nutch(first, line_end ? (size_t)(line_end - first) : rest))
		*ret = ARCHIVE_NUTCH;
	else if (is_binary(s, size))
		*ret = ARCHIVE_UNKNOWN;
	else
		*ret = archive_is_graph(s, size) ? ARCHIVE_GRAPH : ARCHIVE_URLS;
	return 0;
}

/* Some writers give a 304 the digest of its own, empty, body. */
bool archive_is_empty_digest(struct text digest)
{
	static const char empty[] = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

	return digest.size == sizeof empty - 1 && !memcmp(digest.s, empty, digest.size);
}

static void to_record(const struct cdx_line *l, struct record *r)
{
	*r = (struct record){
		.time = l->time, .status = (int)l->status, .length = l->length,
		.mime = l->mime, .digest = l->digest,
		.prose = l->prose, .tags = l->tags,
		.facts = { l->text, l->words, l->images, l->tables, l->emails, l->outlinks },
		.title = l->title, .terms = l->terms,
		.links = l->links, .robots = l->robots,
		.file = l->filename,
		.offset = l->offset, .record_size = -1,
	};
	r->has_simhash = cdx_has(l, CDX_simhash) && cdx_hex64(l->simhash, &r->simhash);
	r->revisit = l->mime.size == 12 && !memcmp(l->mime.s, "warc/revisit", 12);
	/* resources are indexed without a status, and some writers leave it out */
	if (l->status < 0 || l->status > 999)
		r->status = !r->revisit && r->digest.size ? 200 : 0;
	if (r->digest.size > 5 && !strncasecmp(r->digest.s, "sha1:", 5)) {
		r->digest.s += 5;       /* the bare form is ours */
		r->digest.size -= 5;
	}
	if (r->revisit && archive_is_empty_digest(r->digest))
		r->digest = (struct text){ 0 };
	/* of an index over WARC files the length is that of the record */
	if (r->file.s && r->offset >= 0)
		r->record_size = l->length;
}

struct canonical {              /* of the line before */
	struct buf raw, url;
	bool good;
};

static bool canonical_url(struct canonical *c, struct text raw, struct err *err)
{
	if (c->raw.size == raw.size && raw.size && !memcmp(c->raw.data, raw.s, raw.size))
		return c->good;
	buf_clear(&c->raw);
	buf_clear(&c->url);
	buf_add(&c->raw, raw.s, raw.size);
	c->good = url_canonical(raw.s, raw.size, &c->url, err) == 0;
	return c->good;
}

static int read_cdx(struct archive_reader *a, struct input *in, struct err *err)
{
	struct cdx_reader cdx = { .report = a->report, .report_arg = a->arg };
	struct canonical c = { 0 };
	struct cdx_line line;
	struct record r;
	int rc;

	buf_init(&c.raw, BUF_NO_LIMIT);
	buf_init(&c.url, URL_SIZE_MAX);
	cdx_open_input(&cdx, in);
	cdx.report = a->report;
	cdx.report_arg = a->arg;
	while ((rc = cdx_next(&cdx, &line, err)) > 0) {
		struct err why;
		char text[700];

		if (!canonical_url(&c, line.url, &why)) {
			a->stats.n_bad++;
			snprintf(text, sizeof text, "%s:%llu: %s", input_name(in),
			         (unsigned long long)cdx.line_number, why.text);
			if (a->report)
				a->report(a->arg, text);
			continue;
		}
		to_record(&line, &r);
		r.url = (struct text){ c.url.data, c.url.size };
		r.given = line.url;
		a->stats.n_records++;
		rc = a->record(a->arg, &r, err);
		if (rc < 0)
			break;
	}
	a->stats.n_bad += cdx.n_bad + cdx.n_damaged;
	cdx_close(&cdx);
	buf_release(&c.raw);
	buf_release(&c.url);
	return rc;
}

/* Report an empty file; it does not end the reading of the others. */
static int say_empty(struct archive_reader *a, const struct input *in)
{
	char text[700];

	snprintf(text, sizeof text, "%.600s: is empty", input_name(in));
	a->stats.n_bad++;
	if (a->report)
		a->report(a->arg, text);
	return 0;
}

int archive_read_input(struct archive_reader *a, struct input *in, enum archive_kind kind,
                       struct err *err)
{
	const char *s;
	size_t size;
	int rc;

	a->in = in;
	if (kind == ARCHIVE_WACZ) {
		rc = archive_read_wacz(a, input_name(in), err);
		a->in = NULL;
		input_close(in);
		return rc;
	}
	if (kind == ARCHIVE_HERITRIX || kind == ARCHIVE_NUTCH) {
		rc = archive_read_log(a, in, kind, err);
		a->in = NULL;
		return rc;
	}
	if (kind == ARCHIVE_CDX || kind == ARCHIVE_WARC) {
		rc = kind == ARCHIVE_CDX ? read_cdx(a, in, err) : archive_read_warc(a, in, err);
		a->in = NULL;
		return rc;
	}
	if (input_peek(in, 1, &s, &size, NULL) == 0 && !size)
		rc = say_empty(a, in);
	else if (kind == ARCHIVE_UNKNOWN)
		rc = err_set(err, E_PARSE, "%s: nothing in it could be read: it is neither text in UTF-8 "
		             "nor a WARC, WACZ, CDX, gzip or zstd file", input_name(in));
	else
		rc = err_set(err, E_USAGE, "%s: looks like a %s, which has no captures; give a CDX, CDXJ, "
		             "WARC or WACZ file", input_name(in), archive_kind_name(kind));
	input_close(in);
	return rc;
}

int archive_open(struct archive_reader *a, const char *path, struct input **ret,
                 enum archive_kind *ret_kind, struct err *err)
{
	struct input *in;
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	for (;;) {
		struct err why = { 0 };
		uint64_t lost = 0;
		char text[700];

		rc = archive_sniff(in, ret_kind, &why);
		if (rc == E_PARSE) {
			int found = input_resync(in, &lost, &why);

			a->stats.n_bad++;
			snprintf(text, sizeof text, "%.500s; %llu bytes of the file skipped", why.text,
			         (unsigned long long)lost);
			if (a->report)
				a->report(a->arg, text);
			if (found > 0)
				continue;
			rc = found;
			*ret_kind = ARCHIVE_WARC;       /* of no records */
		}
		if (rc < 0) {
			if (err)
				*err = why;
			input_close(in);
			return rc;
		}
		*ret = in;
		return 0;
	}
}

int archive_read(struct archive_reader *a, const char *path, struct err *err)
{
	enum archive_kind kind = ARCHIVE_URLS;
	struct input *in;
	int rc = archive_open(a, path, &in, &kind, err);

	return rc < 0 ? rc : archive_read_input(a, in, kind, err);
}
