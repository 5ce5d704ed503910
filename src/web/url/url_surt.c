/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_surt.c - the sort key under which archives file a URL.
 *
 * An index is of use to other tools only if they compute the same key, so this
 * follows what pywb and the Wayback Machine do by default, odd corners included:
 * labels reversed (addresses too, IPv6 literals not), "www", "www2" ... dropped
 * once, everything in lower case, percent-encoding undone again and again and
 * then only controls, blanks, '#', '%' and bytes from 0x7f written encoded, runs
 * of slashes made one, the last slash dropped, session ids of five server
 * families dropped, query parts sorted by name and value, an empty query dropped.
 * A session id at the end of a query leaves the '&' before it, and thus an empty
 * part that sorts first: also theirs.
 *
 * The key is lossy by intent; it finds captures, it does not identify pages.
 * Cost: linear but for the sort of the query's parts (n log n).
 */
#include "web/url/url.h"

#include "base/mem.h"

struct part { const char *s; size_t size, name; };      /* name: up to '=' */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Decode until nothing is left to decode, in one pass: a decoded byte may
 * complete the triplet that ends with it.  Lower case; the size at d. */
static size_t decode(const char *s, size_t size, char *d)
{
	char *p = d;

	for (size_t i = 0; i < size; i++) {
		int high, low;

		*p++ = lower(s[i]);
		while (p - d >= 3 && p[-3] == '%' && (high = hex_value(p[-2])) >= 0
		       && (low = hex_value(p[-1])) >= 0) {
			p -= 2;
			p[-1] = lower((char)(high << 4 | low));
		}
	}
	return (size_t)(p - d);
}

static void add_encoded(struct buf *out, const char *s, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t plain = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c > 0x20 && c < 0x7f && c != '#' && c != '%')
			continue;
		buf_add(out, s + plain, i - plain);
		buf_byte(out, '%');
		buf_byte(out, digits[c >> 4]);
		buf_byte(out, digits[c & 15]);
		plain = i + 1;
	}
	buf_add(out, s + plain, size - plain);
}

static bool all_alnum(const char *s, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9')))
			return false;
	return true;
}

static bool all_alpha(const char *s, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (s[i] < 'a' || s[i] > 'z')
			return false;
	return true;
}

/* "(24)" or "(x(24)x(24)...)" is how ASP.NET hides a session in the path. */
static bool is_asp_session(const char *s, size_t size)
{
	if (size < 26 || s[0] != '(' || s[size - 1] != ')')
		return false;
	s++, size -= 2;
	if (size == 24 && all_alnum(s, 24))
		return true;
	for (; size >= 27; s += 27, size -= 27)
		if (!all_alpha(s, 1) || s[1] != '(' || s[26] != ')'
		    || !all_alnum(s + 2, 24))
			return false;
	return size == 0;
}

/* Normalise the decoded path in place; its new size. */
static size_t clean_path(char *s, size_t size)
{
	char *d = s, *end = s + size, *p = s, *id;

	while (p < end) {
		char *next = memchr(p, '/', (size_t)(end - p));
		size_t n = (size_t)((next ? next : end) - p);
		bool up = n == 2 && p[0] == '.' && p[1] == '.';
		bool asp = next && is_asp_session(p, n)
		           && memmem(next, (size_t)(end - next), ".aspx", 5);

		if (up)
			while (d > s && *--d != '/')
				;
		if (n && !up && !asp && !(n == 1 && p[0] == '.')) {
			*d++ = '/';             /* never ahead of p: see url_surt() */
			memmove(d, p, n);
			d += n;
		}
		p = next ? next + 1 : end;
	}
	size = (size_t)(d - s);
	id = memmem(s, size, ";jsessionid=", 12);
	if (id && size - (size_t)(id - s) >= 44 && all_alnum(id + 12, 32)) {
		memmove(id, id + 44, size - (size_t)(id - s) - 44);
		size -= 44;
	}
	return size;
}

static bool name_is(const struct part *p, const char *name)
{
	return p->name == strlen(name) && p->size > p->name && !memcmp(p->s, name, p->name);
}

static bool is_session(const struct part *p)
{
	const char *value = p->s + p->name + 1;
	size_t size = p->size > p->name ? p->size - p->name - 1 : 0;

	if (name_is(p, "jsessionid") || name_is(p, "phpsessid") || name_is(p, "sid"))
		return size == 32 && all_alnum(value, 32);
	return p->name == 20 && !memcmp(p->s, "aspsessionid", 12)
	       && all_alpha(p->s + 12, 8) && size == 24 && all_alpha(value, 24);
}

static int compare_parts(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	size_t n = a->name < b->name ? a->name : b->name;
	int c = memcmp(a->s, b->s, n);

	if (!c)
		c = (a->name > b->name) - (a->name < b->name);
	if (c)
		return c;
	n = (a->size < b->size ? a->size : b->size) - a->name;
	c = memcmp(a->s + a->name, b->s + b->name, n);
	return c ? c : (a->size > b->size) - (a->size < b->size);
}

static void add_query(struct buf *out, const char *s, size_t size)
{
	struct part few[64], *parts = few;
	const char *end = s + size, *p = s;
	size_t n = 1, kept = 0;

	for (size_t i = 0; i < size; i++)
		n += s[i] == '&';
	if (n > sizeof few / sizeof *few)
		parts = mem_array(n, sizeof *parts);    /* at most URL_SIZE_MAX */
	for (size_t i = 0; i < n; i++) {
		const char *next = memchr(p, '&', (size_t)(end - p)), *equals;
		struct part part = { p, (size_t)((next ? next : end) - p), 0 };
		bool last = i + 1 == n, cold_fusion;

		equals = memchr(p, '=', part.size);
		part.name = equals ? (size_t)(equals - p) : part.size;
		p = next ? next + 1 : end;
		cold_fusion = kept && name_is(&part, "cftoken") && part.size > 8
		              && name_is(&parts[kept - 1], "cfid")
		              && parts[kept - 1].size > 5;
		if (cold_fusion)
			kept--;
		if (cold_fusion || is_session(&part)) {
			if (!last)
				continue;
			part.size = part.name = 0;
		}
		parts[kept++] = part;
	}
	qsort(parts, kept, sizeof *parts, compare_parts);
	if (kept > 1 || (kept == 1 && parts[0].size))
		for (size_t i = 0; i < kept; i++) {
			buf_byte(out, i ? '&' : '?');
			add_encoded(out, parts[i].s, parts[i].size);
		}
	if (parts != few)
		free(parts);
}

static void add_host(struct buf *out, const char *host, size_t size)
{
	size_t i = 3, end;

	if (host[0] == '[') {
		buf_add(out, host, size);
		return;
	}
	if (size > 4 && !memcmp(host, "www", 3)) {
		while (i < size && host[i] >= '0' && host[i] <= '9')
			i++;
		if (i + 1 < size && host[i] == '.') {
			host += i + 1;
			size -= i + 1;
		}
	}
	for (i = end = size; i > 0; i--)
		if (host[i - 1] == '.') {
			buf_add(out, host + i, end - i);
			buf_byte(out, ',');
			end = i - 1;
		}
	buf_add(out, host, end);
}

void url_surt(const char *url, size_t size, struct buf *out)
{
	char text[URL_SIZE_MAX];
	struct url_parts p;
	size_t n;

	if (size > URL_SIZE_MAX)
		return;
	url_split(url, size, &p);
	add_host(out, url + p.host, p.host_end - p.host);
	if (p.port != (p.https ? 443 : 80))
		buf_add(out, url + p.host_end, p.path - p.host_end);
	buf_byte(out, ')');
	/* the path begins with a slash, so cleaning it needs no more room */
	n = decode(url + p.path, p.query - p.path, text);
	n = clean_path(text, n);
	if (n)
		add_encoded(out, text, n);
	else
		buf_byte(out, '/');
	if (p.query + 1 < p.end) {
		n = decode(url + p.query + 1, p.end - p.query - 1, text);
		add_query(out, text, n);
	}
}
