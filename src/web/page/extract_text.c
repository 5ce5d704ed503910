/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_text.c - e-mail addresses, and what kind of file it is.
 */
#include <string.h>
#include <strings.h>

#include "web/html/html_scan.h"
#include "web/page/extract_inner.h"

static inline bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool is_local_char(char c)
{
	return scan_class_of(c) & (IS_ALPHA | IS_DIGIT) || c == '.' || c == '_' ||
	       c == '%' || c == '+' || c == '-';
}

/* A domain behind '@': letters, digits and dashes in labels, at least two of
 * them, the last of two letters or more. */
static bool is_mail_domain(const char *p, const char *end)
{
	const char *q = p, *dot = NULL;

	if (end - p > 255)
		end = p + 255;
	if (p == end || !(scan_class_of(*p) & (IS_ALPHA | IS_DIGIT)))
		return false;
	while (q < end && (scan_class_of(*q) & (IS_ALPHA | IS_DIGIT) || *q == '-' || *q == '.'))
		q++;
	while (q > p && (q[-1] == '.' || q[-1] == '-'))
		q--;
	dot = memrchr(p, '.', (size_t)(q - p));
	if (!dot || dot[-1] == '.' || q - dot < 3)
		return false;
	while (++dot < q)
		if (!(scan_class_of(*dot) & IS_ALPHA))
			return false;
	return true;
}

uint32_t extract_count_emails(const char *text, size_t size)
{
	const char *p = text, *end = text + size;
	uint32_t n = 0;

	while ((p = memchr(p, '@', (size_t)(end - p)))) {
		n += p > text && is_local_char(p[-1]) && is_mail_domain(p + 1, end);
		p++;
	}
	return n;
}

static bool type_is(const char *s, size_t size, const char *type)
{
	return strlen(type) == size && !strncasecmp(s, type, size);
}

static enum page_type sniff(const char *data, size_t size)
{
	static const char *const starts[] = { "<!doctype html", "<html", "<head", "<body",
		"<title", "<meta", "<table", "<div", "<p", "<h1", "<a", "<br", "<script",
		"<style", "<!--" };
	size_t n = size < 512 ? size : 512;
	const char *p = data, *end = data + n;

	if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	if (n >= 2 && (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2)))
		return PAGE_TEXT;
	p = scan_space(p, end);
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		size_t m = strlen(starts[i]);

		if ((size_t)(end - p) >= m && !strncasecmp(p, starts[i], m) &&
		    (i == 14 || p + m == end || !(scan_class_of(p[m]) & (IS_ALPHA | IS_DIGIT))))
			return PAGE_HTML;
	}
	for (p = data; p < end; p++)
		if ((unsigned char)*p < 0x20 && !is_blank(*p) && *p != 0x1b)
			return PAGE_OTHER;
	return PAGE_TEXT;
}

enum page_type extract_type(const char *content_type, const char *data, size_t size)
{
	static const char *const text_types[] = { "application/json", "application/xml",
		"application/javascript", "application/rss+xml", "application/atom+xml",
		"application/x-javascript", "application/ld+json" };
	const char *s = content_type ? content_type : "";
	size_t n;

	s += strspn(s, " \t");
	n = strcspn(s, "; \t");
	if (type_is(s, n, "text/html") || type_is(s, n, "application/xhtml+xml"))
		return PAGE_HTML;
	if (!n || type_is(s, n, "application/octet-stream") || type_is(s, n, "unknown/unknown"))
		return sniff(data, size);
	if (n > 5 && !strncasecmp(s, "text/", 5))
		return PAGE_TEXT;
	for (size_t i = 0; i < sizeof text_types / sizeof text_types[0]; i++)
		if (type_is(s, n, text_types[i]))
			return PAGE_TEXT;
	return PAGE_OTHER;
}
