/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_text.c - white space, e-mail addresses, and what kind of file it is.
 */
#include <string.h>
#include <strings.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "web/extract_inner.h"
#include "web/html_scan.h"

#define COPY_PIECE 4096

static inline bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

#ifdef __SSE2__
/* All ones where there is white space other than a space. */
static inline __m128i other_blanks(__m128i v)
{
	__m128i x = _mm_sub_epi8(v, _mm_set1_epi8('\t'));

	return _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8('\r' - '\t')), x);
}

static inline unsigned markup_bits(__m128i v)
{
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('<')),
		             _mm_cmpeq_epi8(v, _mm_set1_epi8('&'))),
		_mm_cmpeq_epi8(v, _mm_setzero_si128())));
}
#endif

/*
 * Copy from p to q, white space as spaces, up to the first that is not alone
 * between two other characters, and with `markup` up to '<', '&' or NUL; returns
 * how much.  Up to `readable`, bytes behind end may be read, and sixteen bytes may
 * be written even if fewer count.
 */
static inline __attribute__((always_inline))
size_t copy_plain(const char *p, const char *end, const char *readable, char *q, bool markup)
{
	const char *from = p;

#ifdef __SSE2__
	const __m128i space = _mm_set1_epi8(' ');

	while (p < end && readable - p >= 16) {
		__m128i v = _mm_loadu_si128((const void *)p), other = other_blanks(v);
		unsigned blanks = (unsigned)_mm_movemask_epi8(_mm_or_si128(other,
			_mm_cmpeq_epi8(v, space)));
		unsigned stop = blanks & blanks >> 1, step;

		if (markup) {
			unsigned marks = markup_bits(v);

			stop |= marks | (blanks & marks >> 1);
		}
		if (end - p < 16) {     /* a space right before the end may not stay */
			unsigned n = (unsigned)(end - p);

			stop |= (blanks & 1u << (n - 1)) | 1u << n;
		}
		_mm_storeu_si128((void *)q, _mm_or_si128(_mm_andnot_si128(other, v),
			_mm_and_si128(other, space)));
		if (stop)
			return (size_t)(p - from) + (size_t)__builtin_ctz(stop);
		step = 16 - (blanks >> 15);     /* the last one with what follows */
		p += step;
		q += step;
	}
#endif
	for (; p < end && !is_blank(*p); p++) {
		if (markup && (*p == '<' || *p == '&' || !*p))
			break;
		*q++ = *p;
	}
	return (size_t)(p - from);
}

/* Past the white space at p; most of it is a line end and some indentation. */
static inline const char *skip_blanks(const char *p, const char *end, const char *readable)
{
#ifdef __SSE2__
	for (; p < end && readable - p >= 16; p += 16) {
		__m128i v = _mm_loadu_si128((const void *)p);
		__m128i blank = _mm_or_si128(other_blanks(v), _mm_cmpeq_epi8(v, _mm_set1_epi8(' ')));
		unsigned other = 0xffffu & ~(unsigned)_mm_movemask_epi8(blank);

		if (other) {
			p += __builtin_ctz(other);
			return p < end ? p : end;
		}
	}
#endif
	while (p < end && is_blank(*p))
		p++;
	return p < end ? p : end;
}

void extract_add_text(struct buf *out, unsigned *pending, const char *p, size_t size,
                      const char *readable)
{
	const char *end = p + size;
	unsigned wait = *pending;
	char *room, *q;

	if (is_blank(*p)) {
		p = skip_blanks(p, end, readable);
		wait = wait ? wait : PENDING_SPACE;
		*pending = wait;
		if (p == end)
			return;
	}
	room = q = buf_room(out, size + 17);
	if (!room)
		return;
	while (p < end) {
		size_t n;

		if (wait && q != out->data)
			*q++ = wait == PENDING_LINE ? '\n' : ' ';
		n = copy_plain(p, end, readable, q, false);
		p += n;
		q += n;
		wait = PENDING_NONE;
		if (p < end) {
			p = skip_blanks(p, end, readable);
			wait = PENDING_SPACE;
		}
	}
	*pending = wait;
	out->size += (size_t)(q - room);
}

const char *extract_copy_text(struct buf *out, unsigned *pending, const char *p,
                              const char *end)
{
	const char *stop = end - p > COPY_PIECE ? p + COPY_PIECE : end;
	unsigned wait = *pending;
	char *room, *q;

	if (is_blank(*p)) {
		p = skip_blanks(p, stop, end);
		wait = wait ? wait : PENDING_SPACE;
		*pending = wait;
		if (p == stop || *p == '<')
			return p;
	}
	room = q = buf_room(out, (size_t)(stop - p) + 17);
	if (!room)
		return p;
	while (p < stop) {
		size_t n;

		if (is_blank(*p)) {
			p = skip_blanks(p, stop, end);
			wait = wait ? wait : PENDING_SPACE;
			continue;
		}
		if (*p == '<' || *p == '&' || !*p)
			break;
		if (wait && q != out->data)
			*q++ = wait == PENDING_LINE ? '\n' : ' ';
		wait = PENDING_NONE;
		n = copy_plain(p, stop, end, q, true);
		p += n;
		q += n;
	}
	*pending = wait;
	out->size += (size_t)(q - room);
	return p;
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
