/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx.c - parses one line of CDX, CDXJ or extended CDXJ; see cdx.h.
 *
 * Members of the JSON nearly always come in the order of cdx.def, so a key is
 * looked for from where the last one was found: one comparison each.
 * Columns, of text or of JSON arrays, are in cdx_columns.c.
 */
#include "warc/cdx.h"

#include <string.h>

#include "base/io/json.h"
#include "warc/cdx_inner.h"

enum field_kind { TEXT, NAME, COUNT };

struct field_spec {
	const char *key;
	size_t key_size;
	enum field_kind kind;
	size_t at;                      /* in struct cdx_line */
};

static const struct field_spec fields[] = {
#define CDX_FIELD(key, kind, member) \
	{ key, sizeof (key) - 1, kind, offsetof(struct cdx_line, member) },
#include "warc/cdx.def"
#undef CDX_FIELD
};

void cdx_clear(struct cdx_line *line)
{
	*line = (struct cdx_line){
		.status = -1, .length = -1, .offset = -1, .text = -1, .words = -1,
		.images = -1, .tables = -1, .emails = -1, .outlinks = -1,
	};
}

/* A number of JSON: its fraction is dropped; negative means "none". */
static bool whole_number(struct text s, int64_t *ret)
{
	const char *point = s.size ? memchr(s.s, '.', s.size) : NULL;
	bool below = s.size > 1 && s.s[0] == '-';
	int64_t v;

	if (below)
		s = (struct text){ s.s + 1, s.size - 1 };
	if (point) {
		struct text part = { point + 1, (size_t)(s.s + s.size - point) - 1 };

		if (!cdx_number(part, &v))
			return false;
		s.size = (size_t)(point - s.s);
	}
	if (!cdx_number(s, &v))
		return false;
	*ret = below ? -1 : v;
	return true;
}

/* Does a dash, or an empty text, mean "none" in this field?  A title may be a dash, and
 * an empty list of links is a list. */
static bool has_dash(const struct field_spec *f)
{
	enum cdx_field i = (enum cdx_field)(f - fields);

	return i == CDX_mime || i == CDX_digest || i == CDX_filename || i == CDX_redirect ||
	       i == CDX_tags || i == CDX_prose || i == CDX_simhash;
}

/* Undo escapes in the line itself: what comes out is never longer. */
static const char *take_member(struct cdx_line *line, const struct field_spec *f,
                               struct json_member *m, char *text)
{
	struct text s = { m->value, m->value_size };
	char *at = (char *)line + f->at;

	if (m->type == JSON_NULL)
		return NULL;
	if (m->type != JSON_STRING && m->type != JSON_NUMBER)
		return "a field of the index is neither text nor number";
	if (m->escaped) {
		long size = json_unescape(m, text + (m->value - text));

		if (size < 0)
			return "bad escape in JSON";
		s.size = (size_t)size;
	}
	if (f->kind == TEXT) {
		if (has_dash(f) && cdx_is_absent(s))
			return NULL;
		memcpy(at, &s, sizeof s);
	} else {
		int64_t v;

		if (cdx_is_absent(s))
			return NULL;
		if (!whole_number(s, &v) || (v < 0 && f == &fields[CDX_status]))
			return "a number of the index is not a number";
		if (v < 0)
			return NULL;
		memcpy(at, &v, sizeof v);
	}
	line->present |= 1u << (f - fields);
	return NULL;
}

/* Members that only index servers write, whose lines are JSON alone: `urlkey`, `timestamp`,
 * and other names for members that we know.  False: it is none of these. */
static bool take_alone(struct cdx_line *line, struct json_member *m, char *text,
                       const char **bad)
{
	struct text s = { m->value, m->value_size };
	enum cdx_field f;

	*bad = NULL;
	switch (cdx_column(m->key, m->key_size)) {
	case 'N':
		if (!m->escaped)
			line->surt = s;
		return true;
	case 'b':
		*bad = cdx_time(s, &line->time) ? NULL : "bad time";
		return true;
	case 'a': f = CDX_url; break;
	case 'm': f = CDX_mime; break;
	case 's': f = CDX_status; break;
	default: return false;
	}
	*bad = take_member(line, &fields[f], m, text);
	return true;
}

static const char *parse_json(char *text, const char *p, const char *end,
                              struct cdx_line *line)
{
	bool alone = line->surt.size == 0;
	struct json_member m;
	size_t guess = 0;
	int rc;

	while ((rc = json_next(&p, end, &m)) > 0) {
		const char *wrong = NULL;

		if (alone && take_alone(line, &m, text, &wrong)) {
			if (wrong)
				return wrong;
			continue;
		}
		for (size_t i = 0; i < CDX_N_FIELDS; i++) {
			const struct field_spec *f = &fields[guess];
			const char *bad;

			guess = guess + 1 == CDX_N_FIELDS ? 0 : guess + 1;
			if (f->key_size != m.key_size || memcmp(f->key, m.key, m.key_size))
				continue;
			bad = take_member(line, f, &m, text);
			if (bad)
				return bad;
			break;
		}
	}
	if (rc < 0)
		return "not JSON";
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p < end ? "something follows the JSON" : NULL;
}

static size_t count_blanks(const char *s, size_t size)
{
	size_t n = 0;

	while (n < size && (s[n] == ' ' || s[n] == '\t'))
		n++;
	return n;
}

enum cdx_verdict cdx_parse(struct cdx_layout *layout, char *text, size_t size,
                           struct cdx_line *ret, const char **ret_reason)
{
	const char *end = text + size, *a, *b, *bad;
	struct cdx_layout header = { .letters = "" };

	if (size == 0 || text[0] == '!' || text[0] == '#' ||
	    count_blanks(text, size) == size)
		return CDX_COMMENT;
	if (cdx_take_header(&header, text, size)) {
		*layout = header;
		return CDX_COMMENT;
	}
	cdx_clear(ret);
	if (memchr(text, '\0', size)) {
		*ret_reason = "a NUL byte";
		return CDX_BAD;
	}
	if (text[0] == '{') {
		ret->time = INT64_MIN;
		bad = parse_json(text, text, end, ret);
		if (!bad && ret->time == INT64_MIN)
			bad = "no timestamp";
		if (!bad && ret->surt.size == 0)
			ret->surt = ret->url;
		return cdx_finish(ret, bad, ret_reason);
	}
	a = memchr(text, ' ', size);
	b = a ? memchr(a + 1, ' ', (size_t)(end - a - 1)) : NULL;
	if (b && b + 1 < end && b[1] == '{') {
		ret->surt = (struct text){ text, (size_t)(a - text) };
		bad = cdx_time((struct text){ a + 1, (size_t)(b - a - 1) }, &ret->time) ?
		      parse_json(text, b + 1, end, ret) : "bad time";
	} else {
		bad = cdx_take_text(layout, text, size, ret);
	}
	return cdx_finish(ret, bad, ret_reason);
}

/* Digits of a number that fits 32 bits; p is left behind them. */
static bool small_number(const char **p, const char *end, uint32_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	while (s < end && (unsigned char)(*s - '0') < 10 && v <= UINT32_MAX)
		v = v * 10 + (uint64_t)(*s++ - '0');
	*ret = (uint32_t)v;
	if (s == *p || v > UINT32_MAX)
		return false;
	*p = s;
	return true;
}

bool cdx_next_term(struct text *terms, uint32_t *ret_id, uint32_t *ret_count)
{
	const char *p = terms->s, *end = p + terms->size;
	bool found = false;

	while (p < end && !found) {
		if (*p == ' ') {
			p++;
			continue;
		}
		found = small_number(&p, end, ret_id) && p < end && *p++ == ':' &&
		        small_number(&p, end, ret_count) && (p == end || *p == ' ');
		while (p < end && *p != ' ')    /* skip the rest of a malformed term */
			p++;
	}
	*terms = (struct text){ p, (size_t)(end - p) };
	return found;
}

bool cdx_hex64(struct text s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.size == 0 || s.size > 16)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		char c = s.s[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v << 4 | (uint64_t)((c | 32) - 'a' + 10);
		else
			return false;
	}
	*ret = v;
	return true;
}
