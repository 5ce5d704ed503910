/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding_convert.c - bytes of a known encoding to UTF-8.
 *
 * UTF-8 (repair), UTF-16 (a bad unit must not shift the rest) and windows-1252
 * (the standard has a character for each byte, iconv has not) are our own; the
 * rest is iconv's, with U+FFFD for each byte it will not have.
 */
#include <errno.h>
#include <iconv.h>
#include <string.h>

#include "base/utf8.h"
#include "web/html/encoding_inner.h"
#include "web/text/unicode.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Size of the bad sequence at p: the longest beginning of a character, or one
 * byte; the standard puts one U+FFFD for it. */
static size_t bad_size(const char *data, size_t size)
{
	const unsigned char *p = (const unsigned char *)data;
	unsigned c = p[0], low = 0x80, high = 0xbf;
	size_t more = c < 0xc2 || c > 0xf4 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3, n = 1;

	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	for (; n <= more && n < size && p[n] >= low && p[n] <= high; n++) {
		low = 0x80;
		high = 0xbf;
	}
	return n;
}

/* Valid UTF-8 is returned as it is; else a repaired copy. */
static void from_utf8(struct encoding *e, const char *data, size_t size,
                      const char **ret_text, size_t *ret_size)
{
	size_t good = unicode_valid(data, size), limit = e->out.max;

	*ret_text = data;
	*ret_size = size;
	if (good < size) {
		for (;;) {
			size_t n;

			if (good > limit - e->out.size)
				good = limit - e->out.size;
			buf_add(&e->out, data, good);
			data += good;
			size -= good;
			if (!size || limit - e->out.size < 3)
				break;
			buf_add(&e->out, REPLACEMENT, 3);
			n = bad_size(data, size);
			data += n;
			size -= n;
			good = unicode_valid(data, size);
		}
		*ret_text = buf_text(&e->out);
		*ret_size = e->out.size;
	} else if (size <= limit) {
		return;
	} else {
		*ret_size = limit;
	}
	*ret_size = unicode_valid(*ret_text, *ret_size);        /* a cut character */
}

static void from_utf16(struct buf *out, const char *data, size_t size, bool big)
{
	const unsigned char *p = (const unsigned char *)data;

	for (size_t i = 0; i + 1 < size; i += 2) {
		uint32_t c = big ? (uint32_t)(p[i] << 8 | p[i + 1])
		                 : (uint32_t)(p[i + 1] << 8 | p[i]);
		char text[4];

		if (c >= 0xd800 && c < 0xdc00 && i + 3 < size) {
			uint32_t low = big ? (uint32_t)(p[i + 2] << 8 | p[i + 3])
			                   : (uint32_t)(p[i + 3] << 8 | p[i + 2]);

			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		if (c >= 0xd800 && c < 0xe000)
			c = 0xfffd;
		buf_add(out, text, utf8_put(c, text));
	}
	if (size & 1)
		buf_str(out, REPLACEMENT);
}

static void from_windows_1252(struct buf *out, const char *data, size_t size)
{
	static const uint16_t high[32] = {
		0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
		0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
		0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
		0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
	};

	for (size_t i = 0; i < size;) {
		size_t from = i;
		char text[4];
		uint32_t c;

		while (i < size && !(data[i] & 0x80))
			i++;
		buf_add(out, data + from, i - from);
		if (i == size)
			break;
		c = (unsigned char)data[i++];
		if (c < 0xa0)
			c = high[c - 0x80];
		buf_add(out, text, utf8_put(c, text));
	}
}

static bool open_iconv(struct encoding *e, const char *name)
{
	iconv_t cd;

	if (e->iconv_name && !strcmp(e->iconv_name, name)) {
		iconv(e->iconv, NULL, NULL, NULL, NULL);
		return true;
	}
	if (e->iconv_name)
		iconv_close(e->iconv);
	e->iconv_name = NULL;
	cd = iconv_open("UTF-8", name);
	if (cd == (iconv_t)-1)
		return false;
	e->iconv = cd;
	e->iconv_name = name;
	return true;
}

static void from_iconv(struct encoding *e, const char *data, size_t size)
{
	char *in = (char *)(uintptr_t)data;     /* iconv does not write there */
	size_t in_left = size;
	bool flushed = false;

	while (!e->out.full) {
		size_t want = in_left * 2 + 64, out_left = want, n;
		char *room, *out;

		if (want > e->out.max - e->out.size)
			want = out_left = e->out.max - e->out.size;
		room = out = buf_room(&e->out, want);
		if (!room)
			break;
		n = in_left ? iconv(e->iconv, &in, &in_left, &out, &out_left)
		            : iconv(e->iconv, NULL, NULL, &out, &out_left);
		e->out.size += (size_t)(out - room);
		if (n != (size_t)-1 && !in_left) {
			if (flushed)
				break;
			flushed = true;         /* next: what iconv holds back */
			continue;
		}
		if (n == (size_t)-1 && errno == E2BIG) {
			if (e->out.max - e->out.size < 64)
				break;
			continue;
		}
		buf_str(&e->out, REPLACEMENT);
		if (n == (size_t)-1 && errno == EINVAL)
			break;
		in++, in_left--;
	}
}

void encoding_convert(struct encoding *e, const struct encoding_row *r, const char *data,
                      size_t size, size_t max, const char **ret_text, size_t *ret_size)
{
	bool ascii_alike = strncmp(r->name, "UTF-16", 6) && strcmp(r->name, "ISO-2022-JP");

	e->out.max = max;
	buf_clear(&e->out);
	if (r == encoding_rows || (ascii_alike && size <= max &&
	                           unicode_plain(data, size) == size)) {
		from_utf8(e, data, size, ret_text, ret_size);
		return;
	}
	if (size > max)
		size = max;
	if (!ascii_alike && r->name[0] == 'U')
		from_utf16(&e->out, data, size, r->name[6] == 'B');
	else if (r == encoding_rows + 1 || !open_iconv(e, r->iconv_name))
		from_windows_1252(&e->out, data, size);
	else
		from_iconv(e, data, size);
	*ret_text = buf_text(&e->out);
	*ret_size = unicode_valid(*ret_text, e->out.size);
}

void encoding_prepare(void)
{
	for (const struct encoding_row *r = encoding_rows; r->name; r++)
		(void)!iconv_open("UTF-8", r->iconv_name);      /* open: its tables stay */
}

void encoding_release(struct encoding *e)
{
	buf_release(&e->out);
	if (e->iconv_name)
		iconv_close(e->iconv);
	e->iconv_name = NULL;
}
