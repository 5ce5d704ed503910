/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx.c - parses one line of CDX, CDXJ or extended CDXJ; see cdx.h.
 *
 * Members of the JSON nearly always come in the order of cdx.def, so a key is
 * looked for from where the last one was found: one comparison each.
 *
 * Classic columns we read, by their letters: N surt, a and A URL, b date, m MIME
 * type, s status, k digest, r redirect, S compressed size, n size, V compressed
 * offset, v offset, g file name.  The others are skipped.  wget begins its lines
 * with the URL itself (" CDX a b a m s k r M V g u"); surt is then that URL and
 * the caller, who knows URLs, makes its own key.
 */
#include "warc/cdx.h"

#include <string.h>

#include "base/json.h"
#include "base/when.h"

enum field_kind { TEXT, NAME, COUNT };

struct field_spec {
	const char *key;
	size_t key_size;
	enum field_kind kind;
	size_t at;                      /* in struct cdx_line */
};

static const struct field_spec fields[] = {
#define CDX_FIELD(key, kind, member) \
	{ key, sizeof key - 1, kind, offsetof(struct cdx_line, member) },
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

/* A decimal number; at most 18 digits. */
static bool number(struct cdx_slice s, int64_t *ret)
{
	int64_t v = 0;

	if (s.size == 0 || s.size > 18)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		if (s.data[i] < '0' || s.data[i] > '9')
			return false;
		v = v * 10 + (s.data[i] - '0');
	}
	*ret = v;
	return true;
}

static bool is_absent(struct cdx_slice s)
{
	return s.size == 0 || (s.size == 1 && s.data[0] == '-');
}

/* 14 digits; 17 (milliseconds) are cut, fewer are filled up by when_parse. */
static bool parse_time(struct cdx_slice s, int64_t *ret)
{
	if (s.size < 4 || s.size > 17)
		return false;
	for (size_t i = 0; i < s.size; i++)
		if (s.data[i] < '0' || s.data[i] > '9')
			return false;
	return when_parse(s.data, s.size > 14 ? 14 : s.size, ret);
}

/* Of JSON's numbers: a fraction is cut off, what is below 0 stands for "none". */
static bool whole_number(struct cdx_slice s, int64_t *ret)
{
	const char *point = s.size ? memchr(s.data, '.', s.size) : NULL;
	bool below = s.size > 1 && s.data[0] == '-';
	int64_t v;

	if (below)
		s = (struct cdx_slice){ s.data + 1, s.size - 1 };
	if (point) {
		struct cdx_slice part = { point + 1, (size_t)(s.data + s.size - point) - 1 };

		if (!number(part, &v))
			return false;
		s.size = (size_t)(point - s.data);
	}
	if (!number(s, &v))
		return false;
	*ret = below ? -1 : v;
	return true;
}

/* Undo escapes in the line itself: what comes out is never longer. */
static const char *take_member(struct cdx_line *line, const struct field_spec *f,
                               struct json_member *m, char *text)
{
	struct cdx_slice s = { m->value, m->value_size };
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
		memcpy(at, &s, sizeof s);
	} else {
		int64_t v;

		if (is_absent(s))
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

/* Index servers answer in JSON alone: `urlkey` and `timestamp` stand in it. */
static const char *take_key(struct cdx_line *line, const struct json_member *m)
{
	struct cdx_slice s = { m->value, m->value_size };

	if (m->key_size == 6 && !memcmp(m->key, "urlkey", 6) && !m->escaped)
		line->surt = s;
	else if (m->key_size == 9 && !memcmp(m->key, "timestamp", 9))
		return parse_time(s, &line->time) ? NULL : "bad time";
	return NULL;
}

static const char *parse_json(char *text, const char *p, const char *end,
                              struct cdx_line *line)
{
	bool alone = line->surt.size == 0;
	struct json_member m;
	size_t guess = 0;
	int rc;

	while ((rc = json_next(&p, end, &m)) > 0) {
		const char *wrong = alone ? take_key(line, &m) : NULL;

		if (wrong)
			return wrong;
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

static const char *const guessed_layout[CDX_COLUMNS_MAX + 1] = {
	[7] = "NbamskS", [9] = "NbamskrVg", [10] = "NbamskrMVg", [11] = "NbamskrMSVg",
};

static const char *take_column(struct cdx_line *line, char letter, struct cdx_slice s)
{
	struct cdx_slice *to = NULL;
	int64_t *count = NULL;
	enum cdx_field f;

	switch (letter) {
	case 'N': line->surt = s; return NULL;
	case 'b': return parse_time(s, &line->time) ? NULL : "bad time";
	case 'a': case 'A': to = &line->url; f = CDX_url; break;
	case 'm': to = &line->mime; f = CDX_mime; break;
	case 'k': to = &line->digest; f = CDX_digest; break;
	case 'r': to = &line->redirect; f = CDX_redirect; break;
	case 'g': to = &line->filename; f = CDX_filename; break;
	case 's': count = &line->status; f = CDX_status; break;
	case 'S': case 'n': count = &line->length; f = CDX_length; break;
	case 'V': case 'v': count = &line->offset; f = CDX_offset; break;
	default: return NULL;
	}
	/* the second choice never replaces the first */
	if (is_absent(s) || (strchr("Anv", letter) && cdx_has(line, f)))
		return NULL;
	if (to)
		*to = s;
	else if (!number(s, count))
		return "a number of the index is not a number";
	line->present |= 1u << f;
	return NULL;
}

static const char *parse_classic(const struct cdx_layout *layout, const char *text,
                                 size_t size, struct cdx_line *line)
{
	char delimiter = layout->letters[0] ? layout->delimiter : ' ';
	const char *end = text + size, *letters = layout->letters;
	struct cdx_slice column[CDX_COLUMNS_MAX];
	size_t n = 0;

	for (const char *p = text;; p++) {
		const char *q = memchr(p, delimiter, (size_t)(end - p));

		if (n == CDX_COLUMNS_MAX)
			return "too many fields";
		column[n++] = (struct cdx_slice){ p, (size_t)((q ? q : end) - p) };
		if (!q)
			break;
		p = q;
	}
	if (!letters[0])
		letters = guessed_layout[n];
	if (!letters)
		return "neither CDXJ nor CDX of 7, 9, 10 or 11 fields";
	if (n != strlen(letters))
		return "not as many fields as the header names";
	for (size_t i = 0; i < n; i++) {
		const char *bad = take_column(line, letters[i], column[i]);

		if (bad)
			return bad;
	}
	if (line->surt.size == 0)
		line->surt = column[0];
	return strchr(letters, 'b') ? NULL : "bad time";
}

/* " CDX N b a": the byte before CDX is the delimiter. */
static bool take_header(struct cdx_layout *layout, const char *text, size_t size)
{
	size_t n = 0;

	if (size < 6 || memcmp(text + 1, "CDX", 3) || text[4] != text[0] ||
	    (unsigned char)text[0] > ' ')
		return false;
	for (size_t i = 5; i < size && n < CDX_COLUMNS_MAX; i += 2) {
		layout->letters[n++] = text[i];
		if (i + 1 < size && text[i + 1] != text[0])
			return false;
	}
	layout->letters[n] = '\0';
	layout->delimiter = text[0];
	return true;
}

static bool has_control(struct cdx_slice s)
{
	for (size_t i = 0; i < s.size; i++)
		if ((unsigned char)s.data[i] < ' ' || s.data[i] == 0x7f)
			return true;
	return false;
}

static size_t count_blanks(const char *s, size_t size)
{
	size_t n = 0;

	while (n < size && (s[n] == ' ' || s[n] == '\t'))
		n++;
	return n;
}

/* What every line must have, whatever its kind. */
static enum cdx_verdict finish(const struct cdx_line *line, const char *bad,
                               const char **ret_reason)
{
	if (!bad && line->surt.size == 0)
		bad = "no key";
	if (!bad && line->url.size == 0)
		bad = "no url";
	if (!bad && has_control(line->url))
		bad = "control byte in the url";
	if (!bad && line->status > 999)
		bad = "status is not a number below 1000";
	*ret_reason = bad;
	return bad ? CDX_BAD : CDX_CAPTURE;
}

enum cdx_verdict cdx_parse(struct cdx_layout *layout, char *text, size_t size,
                           struct cdx_line *ret, const char **ret_reason)
{
	const char *end = text + size, *a, *b, *bad;
	struct cdx_layout header = { .letters = "" };

	if (size == 0 || text[0] == '!' || text[0] == '#' ||
	    count_blanks(text, size) == size)
		return CDX_COMMENT;
	if (take_header(&header, text, size)) {
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
		return finish(ret, bad, ret_reason);
	}
	a = memchr(text, ' ', size);
	b = a ? memchr(a + 1, ' ', (size_t)(end - a - 1)) : NULL;
	if (b && b + 1 < end && b[1] == '{') {
		ret->surt = (struct cdx_slice){ text, (size_t)(a - text) };
		bad = parse_time((struct cdx_slice){ a + 1, (size_t)(b - a - 1) }, &ret->time) ?
		      parse_json(text, b + 1, end, ret) : "bad time";
	} else {
		bad = parse_classic(layout, text, size, ret);
	}
	return finish(ret, bad, ret_reason);
}

bool cdx_next_link(struct cdx_slice *links, struct cdx_slice *ret)
{
	const char *p = links->data, *end = p + links->size, *q;

	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return false;
	q = memchr(p, ' ', (size_t)(end - p));
	if (!q)
		q = end;
	*ret = (struct cdx_slice){ p, (size_t)(q - p) };
	*links = (struct cdx_slice){ q, (size_t)(end - q) };
	return true;
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

bool cdx_next_term(struct cdx_slice *terms, uint32_t *ret_id, uint32_t *ret_count)
{
	const char *p = terms->data, *end = p + terms->size;
	bool found = false;

	while (p < end && !found) {
		if (*p == ' ') {
			p++;
			continue;
		}
		found = small_number(&p, end, ret_id) && p < end && *p++ == ':' &&
		        small_number(&p, end, ret_count) && (p == end || *p == ' ');
		while (p < end && *p != ' ')    /* the rest of what is none */
			p++;
	}
	*terms = (struct cdx_slice){ p, (size_t)(end - p) };
	return found;
}

bool cdx_hex64(struct cdx_slice s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.size == 0 || s.size > 16)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		char c = s.data[i];

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
