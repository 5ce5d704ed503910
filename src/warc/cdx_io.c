/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx_io.c - index files line by line, and index lines out; see cdx.h.
 *
 * Numbers that CDXJ has always written as strings (status, length, offset) stay
 * strings, those of extended CDXJ are numbers: what other tools wrote and read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "base/io/json.h"
#include "base/when.h"
#include "warc/cdx.h"

int cdx_open(struct cdx_reader *r, const char *path, struct err *err)
{
	struct input *in;
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	cdx_open_input(r, in);
	return 0;
}

void cdx_open_input(struct cdx_reader *r, struct input *in)
{
	*r = (struct cdx_reader){ .in = in };
}

void cdx_close(struct cdx_reader *r)
{
	input_close(r->in);
	r->in = NULL;
}

static void say(struct cdx_reader *r, const char *reason)
{
	char text[1024];

	if (!r->report)
		return;
	snprintf(text, sizeof text, "%s:%" PRIu64 ": %s", input_name(r->in), r->line_number,
	         reason);
	r->report(r->report_arg, text);
}

/* Damaged compression: go on at the next member.  1, 0 at the end, or error. */
static int recover(struct cdx_reader *r, struct err *damage)
{
	struct err err = { 0 };
	char text[700];
	uint64_t lost;
	int rc = input_resync(r->in, &lost, &err);

	if (rc < 0) {
		*damage = err;
		return rc;
	}
	r->n_damaged++;
	r->bytes_lost += lost;
	snprintf(text, sizeof text, "%s; %" PRIu64 " bytes of the file skipped", damage->text,
	         lost);
	say(r, text);
	return rc;
}

static enum cdx_verdict parse(struct cdx_reader *r, char *text, size_t size,
                              struct cdx_line *ret, const char **ret_reason)
{
	enum cdx_verdict verdict;

	if (!r->rest_size && !cdx_is_rows(text, size))
		return cdx_parse(&r->layout, text, size, ret, ret_reason);
	verdict = cdx_parse_row(&r->layout, &text, &size, ret, ret_reason);
	r->rest = text;
	r->rest_size = size;
	return verdict;
}

int cdx_next(struct cdx_reader *r, struct cdx_line *ret, struct err *err)
{
	for (;;) {
		struct err own = { 0 };
		const char *reason = NULL;
		char *text = r->rest;
		size_t size = r->rest_size;
		int rc = size ? 1 : input_line(r->in, CDX_LINE_MAX, &text, &size, &own);

		if (rc == 0)
			return 0;
		r->line_number += !r->rest_size;
		if (rc == E_PARSE) {
			rc = recover(r, &own);
			if (rc > 0)
				continue;
			if (rc == 0)
				return 0;
		}
		if (rc == E_LIMIT) {
			r->n_bad++;
			say(r, own.text);
			continue;
		}
		if (rc < 0) {
			if (err)
				*err = own;
			return rc;
		}
		switch (parse(r, text, size, ret, &reason)) {
		case CDX_CAPTURE:
			r->n_lines++;
			return 1;
		case CDX_BAD:
			r->n_bad++;
			say(r, reason);
			break;
		default:
			break;
		}
	}
}

static void write_text(struct json *j, const char *key, struct text s)
{
	if (!s.s)
		return;
	json_key(j, key);
	json_strn(j, s.s, s.size);
}

static void write_name(struct json *j, const char *key, int64_t v)
{
	char digits[24];

	if (v < 0)
		return;
	snprintf(digits, sizeof digits, "%" PRId64, v);
	json_kstr(j, key, digits);
}

static void write_count(struct json *j, const char *key, int64_t v)
{
	if (v >= 0)
		json_kint(j, key, v);
}

/* Nothing that would be read as something else than a key. */
static bool is_key(struct text s)
{
	for (size_t i = 0; i < s.size; i++)
		if ((unsigned char)s.s[i] <= ' ' || s.s[i] == 0x7f)
			return false;
	return s.size > 0 && !strchr("!#{", s.s[0]) && !cdx_is_rows(s.s, s.size);
}

int cdx_write(struct buf *out, const struct cdx_line *line, bool extended,
              struct err *err)
{
	char digits[15];
	struct json j;

	if (!is_key(line->surt))
		return err_set(err, E_PARSE, "index key is empty or holds a blank");
	if (line->time < -62135596800 || line->time > 253402300799)
		return err_set(err, E_PARSE, "time of a capture outside the years 1 to 9999");
	when_digits(line->time, digits);
	buf_add(out, line->surt.s, line->surt.size);
	buf_printf(out, " %s ", digits);
	json_to_buf(&j, out);
	json_object(&j);
#define TEXT write_text
#define NAME write_name
#define COUNT write_count
#define CDX_FIELD(key, kind, member) \
	if (extended || CDX_##member < CDX_text) \
		kind(&j, key, line->member);
#include "warc/cdx.def"
#undef CDX_FIELD
#undef TEXT
#undef NAME
#undef COUNT
	json_end_object(&j);
	buf_byte(out, '\n');
	return out->full ? err_set(err, E_LIMIT, "index line does not fit its buffer") : 0;
}
