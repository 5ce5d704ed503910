/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_host.c - hosts: names, IDNA, addresses, registrable domains.
 *
 * Almost every host is plain ASCII and is lowered and checked in one pass over
 * its bytes.  Others go through libidn2 first and then through the same pass,
 * because mapping may produce anything: full-width digits become an address,
 * an ideographic full stop becomes a dot, a full-width '@' an '@'.
 *
 * Names are what DNS carries in practice: letters, digits, '-' and '_' in any
 * place.  Percent-encoding is refused outright: decoding it is where one parser
 * sees another host than the next.
 *
 * Blind spot: "xn--" labels given in ASCII are taken as they are; whether they
 * decode to anything is the resolver's business.
 */
#include "web/url/url_host.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <libpsl.h>
#include <stdint.h>
#include <string.h>

#include "web/url/url.h"
#include "web/url/url_put.h"

/* 0 = not in a host name, else the byte in lower case. */
static const uint8_t host_byte[256] = {
	['-'] = '-', ['.'] = '.', ['_'] = '_',
	['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',
	['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9',
#define BOTH(upper, lower) [upper] = (lower), [lower] = (lower)
	BOTH('A', 'a'), BOTH('B', 'b'), BOTH('C', 'c'), BOTH('D', 'd'), BOTH('E', 'e'),
	BOTH('F', 'f'), BOTH('G', 'g'), BOTH('H', 'h'), BOTH('I', 'i'), BOTH('J', 'j'),
	BOTH('K', 'k'), BOTH('L', 'l'), BOTH('M', 'm'), BOTH('N', 'n'), BOTH('O', 'o'),
	BOTH('P', 'p'), BOTH('Q', 'q'), BOTH('R', 'r'), BOTH('S', 's'), BOTH('T', 't'),
	BOTH('U', 'u'), BOTH('V', 'v'), BOTH('W', 'w'), BOTH('X', 'x'), BOTH('Y', 'y'),
	BOTH('Z', 'z'),
#undef BOTH
};

static int refuse(const char *s, size_t size, struct err *err)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == 0x7f)
			return err_set(err, E_PARSE, "control byte 0x%02x in the host", c);
		if (c == '%')
			return err_set(err, E_PARSE, "percent-encoding in the host");
		if (c == '\\')
			return err_set(err, E_PARSE, "backslash in the host");
		if (c == ' ')
			return err_set(err, E_PARSE, "blank in the host");
		if (c < 0x80 && !host_byte[c])
			return err_set(err, E_PARSE, "'%c' in the host", c);
	}
	return err_set(err, E_PARSE, "malformed host");
}

/* A host whose last label is a number is read as an address by some parsers:
 * only the one form that all read alike may pass. */
static bool ends_in_number(const char *s, size_t size)
{
	size_t i = size;

	while (i > 0 && s[i - 1] != '.')
		i--;
	if (size - i >= 2 && s[i] == '0' && s[i + 1] == 'x') {
		for (i += 2; i < size; i++)
			if (url_hex_value((unsigned char)s[i]) < 0)
				return false;
		return true;
	}
	for (; i < size; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return true;
}

static bool is_dotted_quad(const char *s, size_t size)
{
	size_t i = 0;

	for (int part = 0; part < 4; part++) {
		unsigned value = 0;
		size_t start;

		if (part && (i == size || s[i++] != '.'))
			return false;
		start = i;
		while (i < size && s[i] >= '0' && s[i] <= '9' && i - start < 3)
			value = value * 10 + (unsigned)(s[i++] - '0');
		if (i == start || value > 255 || (i - start > 1 && s[start] == '0'))
			return false;
	}
	return i == size;
}

static int long_label(struct err *err)
{
	return err_set(err, E_PARSE, "label of more than %d bytes in the host",
	               URL_LABEL_MAX);
}

/* Lower, check labels; the size or < 0. */
static int name_ascii(const char *s, size_t size, char *dst, struct err *err)
{
	size_t label = 0;

	if (size && s[size - 1] == '.')
		size--;
	if (!size)
		return err_set(err, E_PARSE, "empty host");
	if (size > URL_HOST_MAX)
		return err_set(err, E_PARSE, "host of more than %d bytes", URL_HOST_MAX);
	for (size_t i = 0; i < size; i++) {
		uint8_t c = host_byte[(unsigned char)s[i]];

		if (!c)
			return refuse(s, size, err);
		dst[i] = (char)c;
		if (c != '.')
			continue;
		if (i == label)
			return err_set(err, E_PARSE, "empty label in the host");
		if (i - label > URL_LABEL_MAX)
			return long_label(err);
		label = i + 1;
	}
	if (label == size)
		return err_set(err, E_PARSE, "empty label in the host");
	if (size - label > URL_LABEL_MAX)
		return long_label(err);
	if (dst[label] <= '9' && dst[label] >= '0' && ends_in_number(dst, size)
	    && !is_dotted_quad(dst, size))
		return err_set(err, E_PARSE, "host is a number but not an address of four "
		               "decimal numbers");
	return (int)size;
}

static int name_idna(const char *s, size_t size, char *dst, struct err *err)
{
	char text[URL_HOST_MAX * 4 + 1];        /* 4 bytes a character in UTF-8 */
	char *ascii = NULL;
	int r;

	for (size_t i = 0; i < size; i++)       /* IDNA must not hide these */
		if ((signed char)s[i] >= 0 && !host_byte[(unsigned char)s[i]])
			return refuse(s, size, err);
	if (size >= sizeof text)
		return err_set(err, E_PARSE, "host of more than %d bytes", URL_HOST_MAX);
	memcpy(text, s, size);
	text[size] = '\0';
	r = idn2_to_ascii_8z(text, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	if (r != IDN2_OK)
		return err_set(err, E_PARSE, "host is no international name: %s",
		               idn2_strerror(r));
	r = name_ascii(ascii, strlen(ascii), dst, err);
	idn2_free(ascii);
	return r;
}

static int ipv6(const char *s, size_t size, char *dst, struct err *err)
{
	char text[INET6_ADDRSTRLEN + 1];
	struct in6_addr a;
	size_t n;

	if (size < 4 || s[size - 1] != ']' || size - 2 >= sizeof text)
		return err_set(err, E_PARSE, "malformed IPv6 address in the host");
	memcpy(text, s + 1, size - 2);
	text[size - 2] = '\0';
	if (strlen(text) != size - 2 || inet_pton(AF_INET6, text, &a) != 1
	    || !inet_ntop(AF_INET6, &a, text, sizeof text))
		return err_set(err, E_PARSE, "malformed IPv6 address in the host");
	n = strlen(text);
	dst[0] = '[';
	memcpy(dst + 1, text, n);
	dst[n + 1] = ']';
	return (int)n + 2;
}

int url_host(const char *s, size_t size, char *dst, struct err *err)
{
	if (size && s[0] == '[')
		return ipv6(s, size, dst, err);
	for (size_t i = 0; i < size; i++)
		if ((signed char)s[i] < 0)
			return name_idna(s, size, dst, err);
	return name_ascii(s, size, dst, err);
}

bool url_host_is_ip(const char *host, size_t size)
{
	if (host[0] == '[')
		return true;
	return host[size - 1] >= '0' && host[size - 1] <= '9'
	       && is_dotted_quad(host, size);
}

void url_site(const char *url, size_t size, bool by_domain, struct buf *out)
{
	struct url_parts p;

	url_split(url, size, &p);
	if (by_domain && !p.ip)
		url_domain(url, size, out);
	else
		buf_add(out, url + p.host, p.path - p.host);
}

void url_domain(const char *url, size_t size, struct buf *out)
{
	char host[URL_HOST_MAX + 1];
	struct url_parts p;
	const char *domain;

	url_split(url, size, &p);
	if (p.ip) {
		buf_add(out, url + p.host, p.host_end - p.host);
		return;
	}
	memcpy(host, url + p.host, p.host_end - p.host);
	host[p.host_end - p.host] = '\0';
	/* the list compiled into the library: constant, so no lock and no load */
	domain = psl_registrable_domain(psl_builtin(), host);
	buf_str(out, domain ? domain : host);
}
