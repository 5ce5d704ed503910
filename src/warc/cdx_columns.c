/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx_columns.c - lines of an index that are columns: classic CDX, and the rows of the
 * JSON arrays that the Internet Archive's CDX server answers with; see cdx.h.
 *
 * Columns we read, by their letters: N surt, a and A URL, b date, m MIME type, s
 * status, k digest, r redirect, S compressed size, n size, V compressed offset, v
 * offset, g file name.  The others are skipped.  wget begins its lines with the URL
 * itself (" CDX a b a m s k r M V g u"); surt is then that URL and the caller, who
 * knows URLs, makes its own key.
 *
 * An array begins with a row of its columns' names.  Rows may stand one a line or all
 * in one; the server's paging (an empty row, then one of a key) is passed over.
 */
#include <string.h>

#include "base/io/json.h"
#include "base/when.h"
#include "warc/cdx_inner.h"

/* A decimal number; at most 18 digits. */
bool cdx_number(struct text s, int64_t *ret)
{
	int64_t v = 0;

	if (s.size == 0 || s.size > 18)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		if (s.s[i] < '0' || s.s[i] > '9')
			return false;
		v = v * 10 + (s.s[i] - '0');
	}
	*ret = v;
	return true;
}

bool cdx_is_absent(struct text s)
{
	return s.size == 0 || (s.size == 1 && s.s[0] == '-');
}

/* 14 digits; 17 (milliseconds) are cut, fewer are filled up by when_parse. */
bool cdx_time(struct text s, int64_t *ret)
{
	if (s.size < 4 || s.size > 17)
		return false;
	for (size_t i = 0; i < s.size; i++)
		if (s.s[i] < '0' || s.s[i] > '9')
			return false;
	return when_parse(s.s, s.size > 14 ? 14 : s.size, ret);
}

static bool has_control(struct text s)
{
	for (size_t i = 0; i < s.size; i++)
		if ((unsigned char)s.s[i] < ' ' || s.s[i] == 0x7f)
			return true;
	return false;
}

/* What every line must have, whatever its kind. */
enum cdx_verdict cdx_finish(const struct cdx_line *line, const char *bad,
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

static const char *const guessed_layout[CDX_COLUMNS_MAX + 1] = {
	[7] = "NbamskS", [9] = "NbamskrVg", [10] = "NbamskrMVg", [11] = "NbamskrMSVg",
};

static const char *take_column(struct cdx_line *line, char letter, struct text s)
{
	struct text *to = NULL;
	int64_t *count = NULL;
	enum cdx_field f;

	switch (letter) {
	case 'N': line->surt = s; return NULL;
	case 'b': return cdx_time(s, &line->time) ? NULL : "bad time";
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
	/* A, n and v count only if a, S and V are absent */
	if (cdx_is_absent(s) || (strchr("Anv", letter) && cdx_has(line, f)))
		return NULL;
	if (to)
		*to = s;
	else if (!cdx_number(s, count))
		return "a number of the index is not a number";
	line->present |= 1u << f;
	return NULL;
}

/* `letters` empty: the usual layout for this number of columns. */
static const char *take_columns(const char *letters, const struct text *column,
                                size_t n, struct cdx_line *line)
{
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
		line->surt = line->url.size ? line->url : column[0];
	return strchr(letters, 'b') ? NULL : "bad time";
}

const char *cdx_take_text(const struct cdx_layout *layout, const char *text, size_t size,
                          struct cdx_line *line)
{
	char delimiter = layout->letters[0] ? layout->delimiter : ' ';
	const char *end = text + size;
	struct text column[CDX_COLUMNS_MAX];
	size_t n = 0;

	for (const char *p = text;; p++) {
		const char *q = memchr(p, delimiter, (size_t)(end - p));

		if (n == CDX_COLUMNS_MAX)
			return "too many fields";
		column[n++] = (struct text){ p, (size_t)((q ? q : end) - p) };
		if (!q)
			break;
		p = q;
	}
	return take_columns(layout->letters, column, n, line);
}

/* " CDX N b a": the byte before CDX is the delimiter. */
bool cdx_take_header(struct cdx_layout *layout, const char *text, size_t size)
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

char cdx_column(const char *name, size_t size)
{
	static const struct { const char *name; char letter; } known[] = {
		{ "urlkey", 'N' }, { "timestamp", 'b' }, { "original", 'a' }, { "mimetype", 'm' },
		{ "statuscode", 's' }, { "url", 'a' }, { "mime", 'm' }, { "status", 's' },
		{ "digest", 'k' }, { "redirect", 'r' }, { "length", 'S' }, { "offset", 'V' },
		{ "filename", 'g' },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == size && !memcmp(known[i].name, name, size))
			return known[i].letter;
	return '-';
}

/* The elements of a row as columns; *p is left behind it.  NULL, or what is wrong. */
static const char *read_row(char *text, const char **p, const char *end,
                            struct text *column, size_t *n)
{
	const char *bad = NULL;
	struct json_member m;
	int rc;

	while ((rc = json_element(p, end, &m)) > 0) {
		long size = m.escaped ? json_unescape(&m, text + (m.value - text)) :
			(long)m.value_size;

		if (m.type != JSON_STRING && m.type != JSON_NUMBER && m.type != JSON_NULL)
			bad = "a field of the index is neither text nor number";
		else if (size < 0)
			bad = "bad escape in JSON";
		else if (*n == CDX_COLUMNS_MAX)
			bad = "too many fields";
		else
			column[(*n)++] = (struct text){ m.value, m.type == JSON_NULL ? 0 : (size_t)size };
	}
	if (rc < 0)
		*p = end;               /* the start of the next row is unknown */
	return rc < 0 ? "not JSON" : bad;
}

static bool take_names(struct cdx_layout *layout, const struct text *column, size_t n)
{
	char letters[CDX_COLUMNS_MAX + 1];

	for (size_t i = 0; i < n; i++)
		letters[i] = cdx_column(column[i].s, column[i].size);
	letters[n] = '\0';
	if (!strchr(letters, 'b'))
		return false;
	*layout = (struct cdx_layout){ .delimiter = ' ' };
	memcpy(layout->letters, letters, n + 1);
	return true;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

bool cdx_is_rows(const char *text, size_t size)
{
	const char *end = text + size, *p = skip_blanks(text, end);

	if (p == end || (*p != '[' && *p != ']'))
		return false;
	if (*p == ']')
		return true;
	p = skip_blanks(p + 1, end);
	return p == end || *p == '"' || *p == '[' || *p == ']';
}

enum cdx_verdict cdx_parse_row(struct cdx_layout *layout, char **text, size_t *size,
                               struct cdx_line *ret, const char **ret_reason)
{
	struct text column[CDX_COLUMNS_MAX];
	const char *p = *text, *end = p + *size, *inner, *bad;
	size_t n = 0;

	while (p < end && *p && strchr(" \t,]", *p))   /* the rest of the previous row */
		p++;
	inner = skip_blanks(p + (p < end), end);
	if (inner == end || *inner == '[')
		p = inner;                              /* the array itself begins */
	cdx_clear(ret);
	bad = p < end ? read_row(*text, &p, end, column, &n) : NULL;
	*text += p - *text;
	*size = (size_t)(end - p);
	/* later, a row of one column is a key for paging */
	if (n == 1 && !layout->letters[0])
		bad = "one column alone; an index has `timestamp` and `original`";
	if (!bad && (n < 2 || take_names(layout, column, n)))
		return CDX_COMMENT;
	if (!bad)
		bad = take_columns(layout->letters, column, n, ret);
	return cdx_finish(ret, bad, ret_reason);
}
