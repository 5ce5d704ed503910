/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap.c - sitemaps by expat, or line by line; sitemap.h is the manual.
 *
 * Only three places of the tree matter: urlset/url/loc, sitemapindex/sitemap/loc
 * and their lastmod, so the reader counts depth and compares names there, with
 * any namespace prefix taken off.  image:loc and its like live one level deeper
 * and are thus never mistaken for a page.
 *
 * Expat (before 2.6) scans an unfinished token again with every buffer, so a
 * token without end costs quadratic time: we stop when SITEMAP_TOKEN_MAX bytes
 * brought no event at all.
 */
#include "web/rules/sitemap_inner.h"

#include <expat.h>
#include <string.h>

#include "base/buf.h"
#include "base/when.h"

#define CHUNK_SIZE (64 * 1024)

enum field { NONE, LOC, LASTMOD };

struct reader {
	const struct sitemap_source *source;
	sitemap_visit *visit;
	void *context;
	struct sitemap_report *report;
	struct err *err;
	struct buf url, loc, lastmod;
	struct sitemap_home home;
	XML_Parser parser;
	int depth, result;
	enum field field;
	bool event;                     /* expat called one of our handlers */
};

void sitemap_home(struct sitemap_home *ret, const struct sitemap_source *source)
{
	size_t end;

	*ret = (struct sitemap_home){ 0 };
	if (!source->url)
		return;
	url_split(source->url, source->url_size, &ret->parts);
	for (end = ret->parts.query; source->url[end - 1] != '/'; )
		end--;
	ret->size = end - ret->parts.host;
}

bool sitemap_in_scope(const struct sitemap_source *source, const struct sitemap_home *home,
                      bool index, const char *url, size_t size)
{
	size_t common = home->size;
	struct url_parts p;

	if (source->scope == SITEMAP_ANY || !source->url)
		return source->scope == SITEMAP_ANY;
	url_split(url, size, &p);
	/* an index may name sitemaps anywhere on its host */
	if (source->scope == SITEMAP_SITE || index)
		common = home->parts.path - home->parts.host + 1;
	return size - p.host >= common &&
	       !memcmp(url + p.host, source->url + home->parts.host, common);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void trim(const char **s, size_t *size)
{
	while (*size && is_blank((*s)[0]))
		++*s, --*size;
	while (*size && is_blank((*s)[*size - 1]))
		--*size;
}

/* The entry in loc and lastmod is complete. */
static int deliver(struct reader *r)
{
	struct sitemap_entry e = { .is_sitemap = r->report->index };
	const char *s = buf_text(&r->loc);
	size_t size = r->loc.size;
	int code;

	trim(&s, &size);
	if (r->loc.full || !size) {
		r->report->refused++;
		return 0;
	}
	buf_clear(&r->url);
	code = r->source->url ? url_resolve(r->source->url, r->source->url_size, s, size,
	                                    &r->url, NULL)
	                      : url_canonical(s, size, &r->url, NULL);
	if (code) {
		r->report->refused++;
		return 0;
	}
	if (!sitemap_in_scope(r->source, &r->home, r->report->index, r->url.data, r->url.size)) {
		r->report->outside++;
		return 0;
	}
	if (r->report->entries == SITEMAP_URLS_MAX) {
		r->report->cut = true;
		return 0;
	}
	s = buf_text(&r->lastmod);
	size = r->lastmod.size;
	trim(&s, &size);
	if (size) {
		e.has_lastmod = !r->lastmod.full && when_parse(s, size, &e.lastmod);
		r->report->bad_dates += !e.has_lastmod;
	}
	e.url = r->url.data;
	e.url_size = r->url.size;
	r->report->entries++;
	return r->visit(r->context, &e, r->err);
}

static void stop(struct reader *r, int result)
{
	r->result = result;
	XML_StopParser(r->parser, XML_FALSE);
}

static const char *local_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

static void on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *r = data;

	(void)attributes;
	r->event = true;
	r->field = NONE;
	name = local_name(name);
	if (++r->depth == 1) {
		r->report->index = !strcmp(name, "sitemapindex");
		if (!r->report->index && strcmp(name, "urlset"))
			stop(r, err_set(r->err, E_PARSE, "no sitemap: the root element is "
			                "<%.40s>", name));
		else if (r->report->index && r->source->depth >= SITEMAP_DEPTH_MAX)
			stop(r, err_set(r->err, E_LIMIT, "sitemap indexes nested more than %d "
			                "deep", SITEMAP_DEPTH_MAX));
	} else if (r->depth == 2) {
		buf_clear(&r->loc);
		buf_clear(&r->lastmod);
	} else if (r->depth == 3) {
		if (!strcmp(name, "loc"))
			r->field = LOC;
		else if (!strcmp(name, "lastmod"))
			r->field = LASTMOD;
	} else if (r->depth > SITEMAP_NEST_MAX) {
		stop(r, err_set(r->err, E_LIMIT, "XML elements nested more than %d deep",
		                SITEMAP_NEST_MAX));
	}
}

static void on_end(void *data, const XML_Char *name)
{
	struct reader *r = data;
	int code;

	r->event = true;
	r->field = NONE;
	if (r->depth-- != 2)
		return;
	name = local_name(name);
	if (strcmp(name, r->report->index ? "sitemap" : "url"))
		return;
	code = deliver(r);
	if (code || r->report->cut)
		stop(r, code);
}

static void on_text(void *data, const XML_Char *s, int size)
{
	struct reader *r = data;

	r->event = true;
	if (r->field != NONE)
		buf_add(r->field == LOC ? &r->loc : &r->lastmod, s, (size_t)size);
}

static void on_other(void *data, const XML_Char *s, int size)
{
	(void)s, (void)size;
	((struct reader *)data)->event = true;
}

static void on_doctype(void *data, const XML_Char *name, const XML_Char *system_id,
                       const XML_Char *public_id, int has_internal_subset)
{
	struct reader *r = data;

	(void)name, (void)system_id, (void)public_id, (void)has_internal_subset;
	stop(r, err_set(r->err, E_PARSE, "document type declarations are refused"));
}

/* Feed the parser; its own errors become ours, with the line. */
static int feed(struct reader *r, const char *data, size_t size, bool last)
{
	if (XML_Parse(r->parser, data, (int)size, last) != XML_STATUS_ERROR)
		return 0;
	if (XML_GetErrorCode(r->parser) == XML_ERROR_ABORTED)
		return r->result;
	return err_set(r->err, E_PARSE, "line %lu: %s",
	               (unsigned long)XML_GetCurrentLineNumber(r->parser),
	               XML_ErrorString(XML_GetErrorCode(r->parser)));
}

static int read_xml(struct reader *r, struct input *in)
{
	char chunk[CHUNK_SIZE];
	uint64_t total = 0;
	size_t silent = 0;
	long n;
	int code = 0;

	r->parser = XML_ParserCreate(NULL);
	if (!r->parser)
		err_no_memory();
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetDefaultHandler(r->parser, on_other);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	do {
		n = input_read(in, chunk, sizeof chunk, r->err);
		if (n < 0) {
			code = (int)n;
			break;
		}
		if (total + (uint64_t)n > SITEMAP_BYTES_MAX) {
			r->report->cut = true;
			break;
		}
		total += (uint64_t)n;
		r->event = false;
		code = feed(r, chunk, (size_t)n, n == 0);
		silent = r->event ? 0 : silent + (size_t)n;
		if (!code && silent > SITEMAP_TOKEN_MAX)
			code = err_set(r->err, E_LIMIT, "more than %d bytes in one XML token",
			               SITEMAP_TOKEN_MAX);
	} while (n && !code && !r->report->cut);
	XML_ParserFree(r->parser);
	return code;
}

static bool is_absolute(const char *s, size_t size)
{
	return (size > 7 && !strncasecmp(s, "http://", 7)) ||
	       (size > 8 && !strncasecmp(s, "https://", 8));
}

/* A list of absolute URLs, one a line.  Servers answer with all sorts of things: a file
 * whose first line is no URL is not a list. */
static int read_text(struct reader *r, struct input *in)
{
	uint64_t begin = input_position(in);
	size_t size;
	char *line;
	int code;

	r->report->text = true;
	for (;;) {
		code = input_line(in, URL_SIZE_MAX, &line, &size, r->err);
		if (input_position(in) - begin > SITEMAP_BYTES_MAX)
			r->report->cut = true;
		if (r->report->cut)
			return 0;
		if (code == E_LIMIT) {
			r->report->refused++;
			continue;
		}
		if (code <= 0)
			return code;
		while (size && is_blank(line[size - 1]))
			size--;
		while (size && is_blank(*line)) {
			line++;
			size--;
		}
		if (!size)
			continue;
		if (!is_absolute(line, size)) {
			if (!r->report->entries && !r->report->refused && !r->report->outside)
				return err_set(r->err, E_PARSE, "no sitemap: neither XML nor a list of URLs");
			r->report->refused++;
			continue;
		}
		buf_clear(&r->loc);
		buf_add(&r->loc, line, size);
		if ((code = deliver(r)))
			return code;
	}
}

static int read_any(struct reader *r, struct input *in)
{
	const char *s;
	size_t size, i = 0;
	int code = input_peek(in, 1024, &s, &size, r->err);

	if (code)
		return code;
	if (size >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		i = 3;
	if (size >= 2 && (!memcmp(s, "\xff\xfe", 2) || !memcmp(s, "\xfe\xff", 2)))
		return read_xml(r, in);         /* UTF-16 */
	while (i < size && i < 1024 && is_blank(s[i]))
		i++;
	if (i < size && s[i] == '<') {
		/* some sitemaps have blanks before "<?xml", which expat refuses */
		input_skip(in, i);
		return read_xml(r, in);
	}
	input_skip(in, size && i >= 3 && s[0] == '\xef' ? 3 : 0);
	return read_text(r, in);
}

int sitemap_read_here(struct input *in, const struct sitemap_source *source,
                      sitemap_visit *visit, void *context, struct sitemap_report *ret,
                      struct err *err)
{
	struct reader r = { .source = source, .visit = visit, .context = context,
	                    .report = ret, .err = err };
	int code;

	*ret = (struct sitemap_report){ 0 };
	buf_init(&r.url, BUF_NO_LIMIT);
	buf_init(&r.loc, URL_SIZE_MAX);
	buf_init(&r.lastmod, 64);
	sitemap_home(&r.home, source);
	code = read_any(&r, in);
	buf_release(&r.url);
	buf_release(&r.loc);
	buf_release(&r.lastmod);
	return code;
}
