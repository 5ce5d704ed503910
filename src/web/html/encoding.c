/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding.c - choosing the encoding.  encoding_convert.c converts.
 *
 * Most pages are ASCII or UTF-8, so these are settled first by one fast look at
 * the bytes; only then is there work.  The <meta> prescan uses the tokenizer on
 * the first 1024 bytes instead of the standard's cruder reader, so that a <meta>
 * inside a script or a title does not count.
 */
#include <string.h>
#include <strings.h>
#include <uchardet.h>

#include "web/html/encoding_inner.h"
#include "web/html/html.h"
#include "web/html/html_scan.h"
#include "web/text/unicode.h"

const struct encoding_row encoding_rows[] = {
#define ENCODING(name, iconv_name, labels) { name, iconv_name, labels },
#include "web/html/encoding.def"
#undef ENCODING
	{ NULL, NULL, NULL },
};

static const struct encoding_row *find_row(const char *label, size_t size)
{
	while (size && scan_class_of(*label) & IS_SPACE)
		label++, size--;
	while (size && scan_class_of(label[size - 1]) & IS_SPACE)
		size--;
	if (!size)
		return NULL;
	for (const struct encoding_row *r = encoding_rows; r->name; r++) {
		for (const char *p = r->labels; *p;) {
			size_t n = strcspn(p, " ");

			if (n == size && !strncasecmp(p, label, n))
				return r;
			p += n + (p[n] == ' ');
		}
	}
	return NULL;
}

const char *encoding_find(const char *label, size_t size)
{
	const struct encoding_row *r = find_row(label, size);

	return r ? r->name : NULL;
}

/* "charset = value" in a Content-Type or a <meta content>. */
const char *encoding_charset(const char *s, size_t size, size_t *ret_size)
{
	const char *end = s + size, *p = s;

	for (; end - p >= 8; p++) {
		const char *q, *stop;

		if ((*p | 0x20) != 'c' || strncasecmp(p, "charset", 7))
			continue;
		q = scan_space(p + 7, end);
		if (q == end || *q != '=')
			continue;
		q = scan_space(q + 1, end);
		if (q == end)
			return NULL;
		if (*q == '"' || *q == '\'') {
			stop = memchr(q + 1, *q, (size_t)(end - q - 1));
			if (!stop)
				return NULL;
			q++;
		} else {
			for (stop = q; stop < end && *stop != ';' &&
			     !(scan_class_of(*stop) & IS_SPACE); stop++)
				;
		}
		*ret_size = (size_t)(stop - q);
		return q;
	}
	return NULL;
}

/* The row a <meta> names in the first bytes, or NULL. */
static const struct encoding_row *prescan(const char *data, size_t size)
{
	const struct encoding_row *found = NULL;
	struct html t;

	html_init(&t, data, size < ENCODING_PRESCAN ? size : ENCODING_PRESCAN);
	while (!found && html_next(&t) != HTML_END) {
		const struct html_attr *a;

		if (t.token.kind != HTML_START_TAG || t.token.tag != TAG_meta)
			continue;
		if ((a = html_attr(&t, "charset"))) {
			found = find_row(a->value.data, a->value.size);
		} else if ((a = html_attr(&t, "http-equiv")) && a->value.size == 12 &&
		           !strncasecmp(a->value.data, "content-type", 12) &&
		           (a = html_attr(&t, "content"))) {
			size_t n;
			const char *c = encoding_charset(a->value.data, a->value.size, &n);

			found = c ? find_row(c, n) : NULL;
		}
	}
	html_release(&t);
	/* a <meta> that can be read is not in UTF-16 */
	if (found && !strncmp(found->name, "UTF-16", 6))
		found = encoding_rows;
	return found;
}

static const struct encoding_row *detect(const char *data, size_t size)
{
	uchardet_t ud = uchardet_new();
	const struct encoding_row *r = NULL;

	if (!uchardet_handle_data(ud, data, size < ENCODING_DETECT_MAX
	                          ? size : ENCODING_DETECT_MAX)) {
		const char *label;

		uchardet_data_end(ud);
		label = uchardet_get_charset(ud);
		r = find_row(label, strlen(label));
	}
	uchardet_delete(ud);
	return r;
}

/* The byte order mark's row and its size, or NULL. */
static const struct encoding_row *read_bom(const char *data, size_t size, size_t *ret_size)
{
	*ret_size = 0;
	if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) {
		*ret_size = 3;
		return encoding_rows;
	}
	if (size < 2 || (memcmp(data, "\xff\xfe", 2) && memcmp(data, "\xfe\xff", 2)))
		return NULL;
	*ret_size = 2;
	return data[0] == '\xff' ? find_row("utf-16le", 8) : find_row("utf-16be", 8);
}

static const struct encoding_row *choose(struct encoding *e, const char *data, size_t size,
                                         const char *charset, size_t charset_size)
{
	const struct encoding_row *r;
	bool plain;

	e->source = ENCODING_FROM_HTTP;
	if (charset && (r = find_row(charset, charset_size)))
		return r;
	/* a <meta> cannot change how ASCII is read: no need to look for one */
	plain = unicode_plain(data, size) == size;
	e->source = ENCODING_FROM_META;
	if (!plain && (r = prescan(data, size)))
		return r;
	e->source = ENCODING_FROM_BYTES;
	if (plain || (!memchr(data, 0x1b, size) && unicode_valid(data, size) == size))
		return encoding_rows;
	e->source = ENCODING_FROM_DETECTOR;
	r = detect(data, size);
	if (r)
		return r;
	e->source = ENCODING_ASSUMED;
	return encoding_rows + 1;
}

void encoding_decode(struct encoding *e, const char *data, size_t size,
                     const char *http_charset, size_t charset_size, size_t max,
                     const char **ret_text, size_t *ret_size)
{
	size_t bom;
	const struct encoding_row *r;

	if (!size)
		data = "";
	r = read_bom(data, size, &bom);
	e->source = ENCODING_FROM_BOM;
	data += bom;
	size -= bom;
	if (!r)
		r = choose(e, data, size, http_charset, charset_size);
	e->name = r->name;
	encoding_convert(e, r, data, size, max, ret_text, ret_size);
}
