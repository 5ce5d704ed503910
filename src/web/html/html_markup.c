/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_markup.c - comments and DOCTYPE.
 *
 * The dozen comment states of the standard come to this: a comment ends at the
 * first "-->" or "--!>" whose dashes lie behind "<!--", at once at "<!-->" and
 * "<!--->", or at the end of input, where a cut "-", "--" or "--!" is not part of
 * it.  Looking for '>' and then back is quicker than looking for dashes.
 */
#include <strings.h>

#include "web/html/html_inner.h"
#include "web/html/html_scan.h"

static struct html_str range(const char *from, const char *to, unsigned dirt_mask)
{
	struct html_str s = { from, (size_t)(to - from), 0 };

	if (memchr(from, '\r', s.size))
		s.dirt |= HTML_HAS_CR;
	if (memchr(from, '\0', s.size))
		s.dirt |= HTML_HAS_NUL;
	if (dirt_mask & HTML_HAS_UPPER)
		s.dirt |= HTML_HAS_UPPER;
	return s;
}

static bool emit_comment(struct html *t, const char *from, const char *to,
                         const char *next)
{
	t->token.kind = HTML_COMMENT;
	t->token.text = range(from, to, 0);
	t->p = next;
	return true;
}

bool html_read_bogus_comment(struct html *t, const char *data)
{
	const char *q = memchr(data, '>', (size_t)(t->end - data));

	return emit_comment(t, data, q ? q : t->end, q ? q + 1 : t->end);
}

bool html_read_comment(struct html *t, const char *data)
{
	const char *end = t->end, *q = data;
	size_t cut = 0, size = (size_t)(end - data);

	if (size >= 1 && data[0] == '>')
		return emit_comment(t, data, data, data + 1);
	if (size >= 2 && data[0] == '-' && data[1] == '>')
		return emit_comment(t, data, data, data + 2);
	while ((q = memchr(q, '>', (size_t)(end - q)))) {
		if (q - data >= 2 && q[-1] == '-' && q[-2] == '-')
			return emit_comment(t, data, q - 2, q + 1);
		if (q - data >= 3 && q[-1] == '!' && q[-2] == '-' && q[-3] == '-')
			return emit_comment(t, data, q - 3, q + 1);
		q++;
	}
	if (size >= 3 && !memcmp(end - 3, "--!", 3))
		cut = 3;
	else if (size >= 2 && !memcmp(end - 2, "--", 2))
		cut = 2;
	else if (size >= 1 && end[-1] == '-')
		cut = 1;
	return emit_comment(t, data, end - cut, end);
}

/* Where reading a DOCTYPE stands. */
struct doctype {
	const char *p, *end;
	struct html_token *k;
};

/* Skip spaces; false: the DOCTYPE ends here ('>' or the end of input). */
static bool more(struct doctype *d)
{
	d->p = scan_space(d->p, d->end);
	return d->p < d->end && *d->p != '>';
}

/* A quoted identifier at p.  false: it was cut by '>' or the end. */
static bool read_id(struct doctype *d, struct html_str *ret)
{
	char quote = *d->p++;
	const char *from = d->p;

	d->p = scan_4(from, d->end, quote, '>', quote, '>');
	*ret = range(from, d->p, 0);
	if (d->p == d->end || *d->p == '>')
		return false;
	d->p++;
	return true;
}

static bool at_quote(const struct doctype *d)
{
	return d->p < d->end && (*d->p == '"' || *d->p == '\'');
}

/* Behind the name; returns whether quirks are forced. */
static bool read_doctype_ids(struct doctype *d)
{
	bool public;

	if (!more(d))
		return d->p == d->end;
	public = d->end - d->p >= 6 && !strncasecmp(d->p, "PUBLIC", 6);
	if (!public && (d->end - d->p < 6 || strncasecmp(d->p, "SYSTEM", 6)))
		return true;
	d->p += 6;
	if (!more(d) || !at_quote(d))
		return true;
	if (public) {
		if (!read_id(d, &d->k->public_id))
			return true;
		if (!more(d))
			return d->p == d->end;
		if (!at_quote(d))
			return true;
	}
	if (!read_id(d, &d->k->system_id))
		return true;
	return !more(d) && d->p == d->end;
}

bool html_read_doctype(struct html *t, const char *after_keyword)
{
	struct html_token *k = &t->token;
	struct doctype d = { after_keyword, t->end, k };
	const char *from;

	k->kind = HTML_DOCTYPE;
	k->text = k->public_id = k->system_id = (struct html_str){ NULL, 0, 0 };
	k->force_quirks = true;
	if (more(&d)) {
		from = d.p;
		while (d.p < d.end && *d.p != '>' && !(scan_class_of(*d.p) & IS_SPACE))
			d.p++;
		k->text = range(from, d.p, HTML_HAS_UPPER);
		k->force_quirks = read_doctype_ids(&d);
	}
	/* skip the rest, up to the '>': the standard ignores it */
	from = memchr(d.p, '>', (size_t)(d.end - d.p));
	t->p = from ? from + 1 : t->end;
	return true;
}
