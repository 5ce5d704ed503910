/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.c - canonical form; url.h says what and why, url_resolve.c reads links.
 *
 * Both write into a buffer on the stack that the longest result fits, then
 * append it once: nothing is allocated, base and ref may lie in the caller's
 * buffer, and a failure leaves nothing behind.
 *
 * The path is written in one pass: runs of bytes that stay as they are, each
 * other byte by its class, and at the end of each segment a look at whether it
 * was "." or "..", after decoding.  Climbing takes back bytes already written,
 * each at most once, so time is linear whatever the path looks like.
 */
#include "web/url/url.h"

#include <string.h>

#include "web/url/url_host.h"
#include "web/url/url_put.h"

enum byte_class { ENCODE = 0, PLAIN, SLASH, PERCENT, QUERY, FRAGMENT, BLANK, REFUSE };

#define P PLAIN
static const uint8_t byte_class[256] = {
	/* 00 */ 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	/* 10 */ 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	/* 20  !"#$%&'()*+,-./ */
	BLANK, P, 0, FRAGMENT, P, PERCENT, P, P, P, P, P, P, P, P, P, SLASH,
	/* 30 0-9:;<=>? */ P, P, P, P, P, P, P, P, P, P, P, P, 0, P, 0, QUERY,
	/* 40 @A-O */ P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P,
	/* 50 P-Z[\]^_ */ P, P, P, P, P, P, P, P, P, P, P, 0, 0, 0, 0, P,
	/* 60 `a-o */ 0, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P,
	/* 70 p-z{|}~ */ P, P, P, P, P, P, P, P, P, P, P, 0, 0, 0, P, 7,
};
#undef P

static const char hex_digits[] = "0123456789ABCDEF";

static char *put_encoded(char *d, unsigned char c)
{
	d[0] = '%';
	d[1] = hex_digits[c >> 4];
	d[2] = hex_digits[c & 15];
	return d + 3;
}

/* The triplet at *s, which is a '%'; moves *s past what it used. */
static char *put_percent(char *d, const char **s, const char *end)
{
	int high, low, c;

	if (end - *s >= 3 && (high = url_hex_value((unsigned char)(*s)[1])) >= 0
	    && (low = url_hex_value((unsigned char)(*s)[2])) >= 0) {
		c = high << 4 | low;
		*s += 3;
		if (url_is_unreserved(c)) {
			*d = (char)c;
			return d + 1;
		}
		return put_encoded(d, (unsigned char)c);
	}
	*s += 1;
	return put_encoded(d, '%');
}

/* A segment [segment, d) has ended: drop it if ".", climb if "..".  Nothing
 * above `root`, the byte after the path's first slash, is taken back. */
static char *close_segment(char *root, char *segment, char *d)
{
	size_t n = (size_t)(d - segment);

	if (n == 1 && segment[0] == '.')
		return segment;
	if (n == 2 && segment[0] == '.' && segment[1] == '.') {
		d = segment;
		if (d > root)
			for (d--; d > root && d[-1] != '/'; d--)
				;
		return d;
	}
	return d;
}

static int refuse_byte(unsigned char c, struct err *err)
{
	if (c == ' ')
		return err_set(err, E_PARSE, "blank inside the URL; write %%20");
	return err_set(err, E_PARSE, "control byte 0x%02x in the URL", c);
}

/* Control characters are refused also in a fragment, which is not kept. */
static int refuse_in(const char *s, const char *end, bool blanks, struct err *err)
{
	for (; s < end; s++)
		if (byte_class[(unsigned char)*s] >= (blanks ? REFUSE : BLANK))
			return refuse_byte((unsigned char)*s, err);
	return 0;
}

char *url_put_path(char *root, char *d, const char *s, const char *end, bool blanks,
                   struct err *err)
{
	char *segment = d;
	bool in_query = false;

	while (s < end) {
		unsigned char c = (unsigned char)*s;

		switch (byte_class[c]) {
		case PLAIN:
			do
				*d++ = *s++;
			while (s < end && byte_class[(unsigned char)*s] == PLAIN);
			break;
		case SLASH:
			s++;
			if (in_query) {
				*d++ = '/';
				break;
			}
			if (d - segment <= 2 && d > segment && *segment == '.') {
				char *closed = close_segment(root, segment, d);

				if (closed != d) {      /* the slash before it is already written */
					segment = d = closed;
					break;
				}
			}
			*d++ = '/';
			segment = d;
			break;
		case PERCENT:
			d = put_percent(d, &s, end);
			break;
		case QUERY:
			if (!in_query)
				d = close_segment(root, segment, d);
			in_query = true;
			*d++ = '?';
			s++;
			break;
		case FRAGMENT:
			if (refuse_in(s, end, blanks, err))
				return NULL;
			s = end;
			break;
		case BLANK:
			if (!blanks) {
				refuse_byte(c, err);
				return NULL;
			}
			/* fall through */
		case ENCODE:
			d = put_encoded(d, c);
			s++;
			break;
		default:
			refuse_byte(c, err);
			return NULL;
		}
	}
	return in_query ? d : close_segment(root, segment, d);
}

/* [s, end) begins behind "//"; writes host[:port] and moves *s behind it. */
static char *put_authority(char *d, const char **s, const char *end, bool https,
                           struct err *err)
{
	const char *host = *s, *colon = NULL, *p;
	unsigned port = 0;
	int n;

	for (p = host; p < end && *p != '/' && *p != '?' && *p != '#'; p++) {
		if (*p == '@') {
			err_set(err, E_PARSE, "user info in the URL");
			return NULL;
		}
		if (*p == '\\') {
			err_set(err, E_PARSE, "backslash in the host");
			return NULL;
		}
		if (*p == ':')
			colon = p;
		else if (*p == ']')
			colon = NULL;
	}
	*s = p;
	n = url_host(host, (size_t)((colon ? colon : p) - host), d, err);
	if (n < 0)
		return NULL;
	d += n;
	if (!colon || colon + 1 == p)
		return d;
	while (++colon < p) {
		if (*colon < '0' || *colon > '9' || port > 65535) {
			port = 0;
			break;
		}
		port = port * 10 + (unsigned)(*colon - '0');
	}
	if (!port || port > 65535) {
		err_set(err, E_PARSE, "port is not a number from 1 to 65535");
		return NULL;
	}
	if (port == (https ? 443 : 80))
		return d;
	*d++ = ':';
	for (unsigned scale = 10000; scale; scale /= 10)
		if (port >= scale)
			*d++ = (char)('0' + port / scale % 10);
	return d;
}

char *url_put_hierarchy(char *d, const char *s, const char *end, bool https, bool blanks,
                        struct err *err)
{
	d = put_authority(d, &s, end, https, err);
	if (!d)
		return NULL;
	*d++ = '/';
	if (s < end && *s == '/')
		s++;
	return url_put_path(d, d, s, end, blanks, err);
}

size_t url_scheme_size(const char *s, const char *end)
{
	const char *p = s;

	if (p == end || (*p | 0x20) < 'a' || (*p | 0x20) > 'z')
		return 0;
	for (p++; p < end; p++) {
		char c = *p;

		if (c == ':')
			return (size_t)(p - s) + 1;
		if (!(((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9')
		      || c == '+' || c == '-' || c == '.'))
			return 0;
	}
	return 0;
}

char *url_put_absolute(char *d, const char *s, const char *end, size_t n, bool blanks,
                       struct err *err)
{
	bool https = n == 6;

	if ((n != 5 && n != 6) || strncasecmp(s, "https", n - 1)) {
		err_set(err, E_PARSE, "scheme is neither http nor https");
		return NULL;
	}
	s += n;
	if (end - s < 2 || s[0] != '/' || s[1] != '/') {
		err_set(err, E_PARSE, "no host: \"//\" does not follow the scheme");
		return NULL;
	}
	memcpy(d, https ? "https://" : "http://", https ? 8 : 7);
	return url_put_hierarchy(d + (https ? 8 : 7), s + 2, end, https, blanks, err);
}

int url_finish(const char *begin, const char *end, struct buf *out, struct err *err)
{
	size_t size = (size_t)(end - begin);

	if (size > URL_SIZE_MAX)
		return err_set(err, E_LIMIT, "URL of more than %d bytes", URL_SIZE_MAX);
	buf_add(out, begin, size);
	if (out->full)
		return err_set(err, E_LIMIT, "no room for a URL of %zu bytes", size);
	return 0;
}

int url_canonical(const char *s, size_t size, struct buf *out, struct err *err)
{
	char text[URL_SIZE_MAX * 3 + URL_HOST_MAX + 16], *d;
	const char *end = s + size;
	size_t n;

	if (size > URL_SIZE_MAX)
		return err_set(err, E_LIMIT, "URL of more than %d bytes", URL_SIZE_MAX);
	n = url_scheme_size(s, end);
	if (!n) {
		int code = refuse_in(s, end, false, err);

		if (code)
			return code;
		return err_set(err, E_PARSE, size ? "no scheme: a URL begins with http:// "
		               "or https://" : "empty URL");
	}
	d = url_put_absolute(text, s, end, n, false, err);
	if (!d)
		return E_PARSE;
	return url_finish(text, d, out, err);
}

bool url_is_canonical(const char *s, size_t size)
{
	const char *end = s + size, *host, *p;
	char same[URL_HOST_MAX + 3];
	unsigned port = 0;
	int n;

	if (size > URL_SIZE_MAX || size < 9 || memcmp(s, "http", 4))
		return false;
	p = s + 4 + (s[4] == 's');
	if (memcmp(p, "://", 3))
		return false;
	host = p += 3;
	if (*p == '[')
		while (p < end && *p != ']')
			p++;
	while (p < end && *p != ':' && *p != '/')
		p++;
	if (p - host > URL_HOST_MAX || (n = url_host(host, (size_t)(p - host), same, NULL)) < 0 ||
	    n != p - host || memcmp(host, same, (size_t)n))
		return false;
	if (p < end && *p == ':') {
		while (++p < end && *p >= '0' && *p <= '9' && port <= 65535)
			port = port * 10 + (unsigned)(*p - '0');
		if (!port || port > 65535)
			return false;
	}
	if (p == end || *p != '/')
		return false;
	while (p < end && byte_class[(unsigned char)*p] - 1u < QUERY)
		p++;
	return p == end;
}

void url_split(const char *url, size_t size, struct url_parts *ret)
{
	bool https = url[4] == 's';
	const char *host = url + (https ? 8 : 7), *end = url + size, *p = host;
	const char *query;
	unsigned port = 0;

	if (*p == '[')
		while (*p != ']')
			p++;
	while (*p != ':' && *p != '/')
		p++;
	ret->https = https;
	ret->host = (uint32_t)(host - url);
	ret->host_end = (uint32_t)(p - url);
	if (*p == ':')
		while (*++p != '/')
			port = port * 10 + (unsigned)(*p - '0');
	ret->port = (uint16_t)(port ? port : https ? 443 : 80);
	ret->ip = url_host_is_ip(host, ret->host_end - ret->host);
	ret->path = (uint32_t)(p - url);
	query = memchr(p, '?', (size_t)(end - p));
	ret->query = (uint32_t)((query ? query : end) - url);
	ret->end = (uint32_t)size;
}
