/* SPDX-License-Identifier: Apache-2.0 */
/* mirror_name.c - see mirror_name.h. */
#include "engine/mirror/mirror_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "web/url/url.h"

#define HOST_MAX 200                    /* bytes of a host, before hash and port */
#define PART_MAX 80                     /* bytes of one name, before hash and ending */
#define QUERY_MAX 40
#define DEPTH_MAX 24                    /* folders; what is deeper becomes one */
#define ENDING_MAX 5                    /* letters of an ending that a URL may bring */

static const struct { const char *type, *ending; } endings[] = {
	{ "text/html", ".html" }, { "application/xhtml+xml", ".html" }, { "text/css", ".css" },
	{ "text/plain", ".txt" }, { "text/xml", ".xml" }, { "application/xml", ".xml" },
	{ "application/json", ".json" }, { "application/pdf", ".pdf" },
	{ "application/javascript", ".js" }, { "text/javascript", ".js" },
	{ "image/png", ".png" }, { "image/jpeg", ".jpg" }, { "image/gif", ".gif" },
	{ "image/webp", ".webp" }, { "image/svg+xml", ".svg" }, { "image/x-icon", ".ico" },
	{ "application/atom+xml", ".xml" }, { "application/rss+xml", ".xml" },
};

static bool type_is(struct text mime, const char *type)
{
	size_t n = strlen(type);

	return mime.size >= n && !strncasecmp(mime.s, type, n) &&
	       (mime.size == n || mime.s[n] == ';' || mime.s[n] == ' ');
}

bool mirror_is_html(struct text mime)
{
	return type_is(mime, "text/html") || type_is(mime, "application/xhtml+xml");
}

static const char *ending_of(struct text mime)
{
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (type_is(mime, endings[i].type))
			return endings[i].ending;
	return ".bin";
}

/* Names that Windows keeps for itself, with any ending. */
static bool is_reserved(const char *s, size_t size)
{
	static const char *const names[] = { "con", "prn", "aux", "nul" };
	const char *dot = memchr(s, '.', size);
	size_t n = dot ? (size_t)(dot - s) : size;

	for (size_t i = 0; i < 4; i++)
		if (n == 3 && !strncasecmp(s, names[i], 3))
			return true;
	return n == 4 && (!strncasecmp(s, "com", 3) || !strncasecmp(s, "lpt", 3)) &&
	       isdigit((unsigned char)s[3]);
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("._~-", c));
}

/* Append s with what is not allowed replaced; true if anything was. */
static bool add_clean(struct buf *out, const char *s, size_t size, size_t max)
{
	bool changed = size > max || (size && (s[0] == '.' || s[size - 1] == '.')) ||
		is_reserved(s, size);

	if (is_reserved(s, size))
		buf_byte(out, '_');
	for (size_t i = 0; i < size && i < max; i++) {
		bool upper = s[i] >= 'A' && s[i] <= 'Z', edge = i == 0 && s[i] == '.';

		changed |= !is_plain(s[i]);
		buf_byte(out, (is_plain(s[i]) && !edge) || upper ? s[i] : '_');
	}
	return changed;
}

static void add_hash(struct buf *out, const char *s, size_t size)
{
	buf_printf(out, "-%012llx",
	           (unsigned long long)(hash_bytes(s, size, 0) & 0xffffffffffffULL));
}

static void add_folder(struct buf *out, const char *s, size_t size)
{
	bool changed = add_clean(out, s, size, PART_MAX) || !size;

	if (changed)
		add_hash(out, s, size);
	if (memchr(s, '.', size))
		buf_byte(out, '+');
	buf_byte(out, '/');
}

/* Where the ending of a name begins, or its size. */
static size_t find_ending(const char *s, size_t size)
{
	size_t i = size;

	while (i > 0 && size - i < ENDING_MAX && isalnum((unsigned char)s[i - 1]) &&
	       !isupper((unsigned char)s[i - 1]))
		i--;
	return i > 1 && i < size && s[i - 1] == '.' ? i - 1 : size;
}

/* The last part of the path, and the query. */
static void add_file(struct buf *out, struct text name, struct text query, struct text mime)
{
	const char *ending = ending_of(mime);
	struct text url = { name.s, name.size + query.size };   /* one after the other */
	size_t at = find_ending(name.s, name.size);
	struct text own = { name.s + at, name.size - at };
	bool html = mirror_is_html(mime), changed;
	bool keeps = own.size && !query.size &&
		(!html || (own.size == 5 && !memcmp(own.s, ".html", 5)) ||
		 (own.size == 4 && !memcmp(own.s, ".htm", 4)));

	/* X.part is where X is written first */
	keeps &= own.size != 5 || memcmp(own.s, ".part", 5);
	if (!keeps)
		at = name.size;
	if (!name.size)
		buf_str(out, "index");
	/* the name that a folder's own page has */
	changed = name.size >= 5 && !memcmp(name.s, "index", 5) && (at == 5 || at == name.size);
	changed |= add_clean(out, name.s, at, PART_MAX);
	if (query.size) {
		buf_byte(out, '@');
		add_clean(out, query.s + 1, query.size - 1, QUERY_MAX);
		changed = true;
	} else if (!keeps && name.size) {
		buf_byte(out, '@');
	}
	if (changed)
		add_hash(out, url.s, url.size);
	if (keeps)
		buf_add(out, own.s, own.size);
	else
		buf_str(out, ending);
}

/* A name with '_' could be that of another host with its port, or of an address. */
static void add_host(struct buf *out, const char *s, size_t size)
{
	bool changed = add_clean(out, s, size, HOST_MAX) || memchr(s, '_', size) ||
		(size >= 10 && !memcmp(s, "index.html", 10));   /* the mirror's own file */

	if (changed)
		add_hash(out, s, size);
}

void mirror_name(struct text url, struct text mime, struct buf *out)
{
	const char *p, *end;
	struct url_parts parts;
	unsigned depth = 0;

	url_split(url.s, url.size, &parts);
	p = url.s + parts.host;
	if (parts.ip && *p == '[')
		for (; p < url.s + parts.host_end; p++)
			buf_byte(out, isalnum((unsigned char)*p) ? *p : '_');
	else
		add_host(out, p, parts.host_end - parts.host);
	if (!parts.https)
		buf_printf(out, "_%u", parts.port);
	else if (parts.port != 443)
		buf_printf(out, "_s%u", parts.port);
	buf_byte(out, '/');
	p = url.s + parts.path + 1;
	end = url.s + parts.query;
	for (const char *slash; (slash = memchr(p, '/', (size_t)(end - p))); p = slash + 1) {
		if (++depth == DEPTH_MAX) {
			slash = memrchr(p, '/', (size_t)(end - p));
			add_folder(out, p, (size_t)(slash - p));
			continue;
		}
		add_folder(out, p, (size_t)(slash - p));
	}
	add_file(out, (struct text){ p, (size_t)(end - p) },
	         (struct text){ end, parts.end - parts.query }, mime);
}

void mirror_relative(const char *from, const char *to, struct buf *out)
{
	size_t same = 0;

	for (size_t i = 0; from[i] && from[i] == to[i]; i++)
		if (from[i] == '/')
			same = i + 1;
	for (const char *p = from + same; (p = strchr(p, '/')); p++)
		buf_str(out, "../");
	buf_str(out, to + same);
}
