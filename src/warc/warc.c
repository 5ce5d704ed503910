/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc.c - finds the records of an archive, and the next one behind damage; see
 * warc.h.
 *
 * A header that does not parse, misses one of the four mandatory fields, or gives
 * one of them twice is damage.  In an uncompressed file the four bytes behind
 * the block are looked at before the block is read: a wrong length is known at
 * once and does not swallow the records that follow.  In a file compressed by
 * record a member that begins with "WARC/" ends whatever record was still going.
 */
#include "warc/warc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "base/when.h"

static const char *const type_names[] = {
	[WARC_OTHER] = "other", [WARC_INFO] = "warcinfo", [WARC_RESPONSE] = "response",
	[WARC_RESOURCE] = "resource", [WARC_REQUEST] = "request",
	[WARC_METADATA] = "metadata", [WARC_REVISIT] = "revisit",
	[WARC_CONVERSION] = "conversion", [WARC_CONTINUATION] = "continuation",
};

int warc_open(struct warc_reader *r, const char *path, struct err *err)
{
	struct input *in;
	int rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	warc_open_input(r, in);
	return 0;
}

void warc_open_input(struct warc_reader *r, struct input *in)
{
	*r = (struct warc_reader){ .in = in };
	buf_init(&r->head_text, WARC_HEAD_MAX);
	r->probe_left = 2 * input_raw_size(in);
}

void warc_close(struct warc_reader *r)
{
	input_close(r->in);
	r->in = NULL;
	fields_release(&r->record.fields);
	buf_release(&r->head_text);
	warc_hasher_release(&r->block);
	warc_hasher_release(&r->payload);
	warc_hasher_release(&r->other);
	warc_hasher_release(&r->raw);
}

void warc_report(struct warc_reader *r, uint64_t offset, const char *reason)
{
	char text[1024];

	if (!r->report)
		return;
	snprintf(text, sizeof text, "%s: record at %" PRIu64 ": %s", input_name(r->in),
	         offset, reason);
	r->report(r->report_arg, text);
}

/* Damaged compression: on to the next member.  1, 0 at the end, or error. */
static int next_member(struct warc_reader *r, const struct err *damage, struct err *err)
{
	uint64_t offset = input_file_offset(r->in), lost = 0;
	int rc = input_resync(r->in, &lost, err);
	char text[700];

	if (rc < 0)
		return rc;
	r->n_damaged++;
	r->resynced = true;
	snprintf(text, sizeof text, "%s; %" PRIu64 " bytes of the file skipped", damage->text,
	         lost);
	warc_report(r, offset, text);
	return rc;
}

/* Skip to where a record may begin: the end of this member, or a line that begins
 * with "WARC/" behind an empty one.  Damage met on the way is left to meet again.
 * 0, or error. */
static int find_record(struct warc_reader *r, bool by_member, struct err *err)
{
	uint64_t member = input_file_offset(r->in);
	struct err damage;
	const char *data;
	size_t size;

	r->resynced = true;
	for (;;) {
		const char *p, *end, *found = NULL;
		int rc = input_peek(r->in, by_member ? 1 : 4096, &data, &size, &damage);

		if (rc == E_PARSE || (rc == 0 && size == 0))
			return 0;
		if (rc < 0) {
			if (err)
				*err = damage;
			return rc;
		}
		if (by_member) {
			if (input_file_offset(r->in) != member)
				return 0;
			input_skip(r->in, input_member_bytes(r->in));
			continue;
		}
		end = data + size;
		for (p = data + 1; p < end && (p = memmem(p, (size_t)(end - p), "\nWARC/", 6));
		     p++)
			if (p[-1] == '\n' || (p - data >= 2 && p[-1] == '\r' && p[-2] == '\n')) {
				found = p + 1;
				break;
			}
		if (found) {
			input_skip(r->in, (size_t)(found - data));
			return 0;
		}
		/* keep what may be the first bytes of the mark */
		input_skip(r->in, size > 8 && size >= 4096 ? size - 8 : size);
	}
}

static enum warc_type type_of(const struct field *f)
{
	for (enum warc_type t = WARC_INFO; t <= WARC_CONTINUATION; t++)
		if (field_says(f, type_names[t]))
			return t;
	return WARC_OTHER;
}

static enum warc_profile profile_of(const struct field *f)
{
	static const struct { const char *tail; enum warc_profile profile; } known[] = {
		{ "/revisit/identical-payload-digest", WARC_IDENTICAL_DIGEST },
		{ "/revisit/server-not-modified", WARC_NOT_MODIFIED },
	};

	for (size_t i = 0; f && i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i].tail);

		if (f->value_size >= n &&
		    memcmp(f->value + f->value_size - n, known[i].tail, n) == 0)
			return known[i].profile;
	}
	return WARC_PROFILE_OTHER;
}

static bool parse_length(const struct field *f, int64_t *ret)
{
	int64_t v = 0;

	if (f->value_size == 0 || f->value_size > 18)
		return false;
	for (size_t i = 0; i < f->value_size; i++) {
		if (f->value[i] < '0' || f->value[i] > '9')
			return false;
		v = v * 10 + (f->value[i] - '0');
	}
	*ret = v;
	return v <= WARC_LENGTH_MAX;
}

/* WARC/1.0 writes URIs in angle brackets, and wget still does. */
static void strip_brackets(struct field *f)
{
	if (f->value_size >= 2 && f->value[0] == '<' && f->value[f->value_size - 1] == '>') {
		f->value++;
		f->value_size -= 2;
	}
}

static const char *take_fields(struct warc_record *rec)
{
	const struct field *type = NULL, *date = NULL, *length = NULL, *profile = NULL;
	const struct {
		const char *name;
		const struct field **to;
		bool once, uri;
	} wanted[] = {
		{ "WARC-Type", &type, true, false },
		{ "WARC-Record-ID", &rec->id, true, false },
		{ "WARC-Date", &date, true, false },
		{ "Content-Length", &length, true, false },
		{ "Content-Type", &rec->content_type, false, false },
		{ "WARC-Target-URI", &rec->target_uri, true, true },
		{ "WARC-Block-Digest", &rec->block_digest, false, false },
		{ "WARC-Payload-Digest", &rec->payload_digest, false, false },
		{ "WARC-Refers-To", &rec->refers_to, false, false },
		{ "WARC-Refers-To-Target-URI", &rec->refers_to_uri, false, true },
		{ "WARC-Refers-To-Date", &rec->refers_to_date, false, false },
		{ "WARC-Concurrent-To", &rec->concurrent_to, false, false },
		{ "WARC-IP-Address", &rec->ip_address, false, false },
		{ "WARC-Truncated", &rec->truncated, false, false },
		{ "WARC-Filename", &rec->filename, false, false },
		{ "WARC-Profile", &profile, false, true },
	};

	for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
		*wanted[k].to = NULL;
	for (size_t i = 0; i < rec->fields.list.n; i++) {
		struct field *f = &rec->fields.list.v[i];

		for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
			if (!field_is(f, wanted[k].name))
				continue;
			if (*wanted[k].to && wanted[k].once)
				return "a field that may come once comes twice";
			if (wanted[k].uri)
				strip_brackets(f);
			if (!*wanted[k].to)
				*wanted[k].to = f;
			break;
		}
	}
	if (!type || !rec->id || !date || !length)
		return "type, id, date or length is missing";
	if (!parse_length(length, &rec->length))
		return "bad length";
	if (!when_parse(date->value, date->value_size, &rec->time))
		return "bad date";
	rec->type = type_of(type);
	rec->profile = rec->type == WARC_REVISIT ? profile_of(profile) : WARC_PROFILE_OTHER;
	return NULL;
}

static bool is_version(const char *p, size_t size)
{
	return size >= 8 && memcmp(p, "WARC/", 5) == 0 && (p[5] == '1' || p[5] == '0') &&
	       p[6] == '.' && p[7] >= '0' && p[7] <= '9';
}

/* The header at the next byte; NULL or why it is none.  0 or error. */
static int read_head(struct warc_reader *r, const char **ret_why, struct err *err)
{
	size_t want = 4096, size, head, version;
	const char *data;
	struct err own;
	int rc;

	*ret_why = NULL;
	for (;;) {
		rc = input_peek(r->in, want, &data, &size, err);
		if (rc < 0)
			return rc;
		if (!is_version(data, size)) {
			*ret_why = "no record here";
			return 0;
		}
		head = fields_head_size(data, size < WARC_HEAD_MAX ? size : WARC_HEAD_MAX);
		if (head)
			break;
		if (size < want || want >= WARC_HEAD_MAX) {
			*ret_why = want >= WARC_HEAD_MAX ? "header too long" : "header cut off";
			return 0;
		}
		want *= 2;
	}
	buf_clear(&r->head_text);
	buf_add(&r->head_text, data, head);
	version = (size_t)((char *)memchr(r->head_text.data, '\n', head) - r->head_text.data);
	if (fields_parse(&r->record.fields, r->head_text.data + version + 1,
	                 head - version - 1, &own) < 0)
		*ret_why = own.code == E_LIMIT ? "too many header lines" : "NUL in the header";
	else if (r->record.fields.n_odd)
		*ret_why = "a header line without a name";
	else
		*ret_why = take_fields(&r->record);
	if (!*ret_why)
		input_skip(r->in, head);
	return 0;
}

#define TRAILER_PEEK 9                  /* two line ends and "WARC/" */

/* How many of these bytes behind a block end its record, -1 if none do: two line
 * ends, cut off by the end of the file perhaps; or whatever stands in their place
 * when the next record begins where it should. */
static int trailer_size(const char *p, size_t size)
{
	if (memcmp(p, "\r\n\r\n", size < 4 ? size : 4) == 0)
		return size < 4 ? (int)size : 4;
	if (size >= 2 && memcmp(p, "\n\n", 2) == 0)
		return 2;
	for (size_t n = 0; n <= 4; n++)
		if (size >= n + 5 && memcmp(p + n, "WARC/", 5) == 0)
			return (int)n;
	return size <= 4 ? (int)size : -1;
}

/* Hash the block without moving; false if it has no digest or cannot be had. */
static bool block_is_wrong(struct warc_reader *r)
{
	const struct field *f = r->record.block_digest;
	uint64_t at = input_position(r->in), left = (uint64_t)r->record.length;
	struct warc_digest want, got;
	char piece[16384];

	if (!f || !warc_digest_parse(f->value, f->value_size, &want) || left > r->probe_left)
		return false;
	r->probe_left -= left;          /* else many long records cost n * n */
	warc_hasher_begin(&r->block, want.hash);
	while (left) {
		long n = input_probe(r->in, at, piece, left < sizeof piece ? left : sizeof piece);

		if (n <= 0)
			break;
		warc_hasher_add(&r->block, piece, (size_t)n);
		at += (uint64_t)n;
		left -= (uint64_t)n;
	}
	warc_hasher_end(&r->block, &got);
	return !warc_digest_equal(&want, &got);
}

/* An uncompressed file shows at once whether a record ends where it says.  One
 * found behind damage must also be followed by another, or by the end of the file
 * unless it was cut there: a record inside a body that was cut off is not.  Line
 * ends that no record follows may be part of a body, so there the digest decides
 * before a wrong length can swallow records. */
static bool ends_wrong(struct warc_reader *r)
{
	uint64_t end = input_position(r->in) + (uint64_t)r->record.length;
	uint64_t file = input_raw_size(r->in);
	char mark[TRAILER_PEEK];
	long n = input_probe(r->in, end, mark, sizeof mark);
	int trailer;

	if (n < 0)
		return false;
	if (file && end > file) {
		r->cut = true;
		return true;
	}
	if (r->resynced && (n > 4 || r->cut) &&
	    (n < TRAILER_PEEK || memcmp(mark, "\r\n\r\nWARC/", 9)))
		return true;
	trailer = trailer_size(mark, (size_t)n);
	if (trailer < 0)
		return true;
	return n == TRAILER_PEEK && memcmp(mark + trailer, "WARC/", 5) && block_is_wrong(r);
}

/* Empty lines between records; 1 at a byte, 0 at the end, or error. */
static int skip_blank(struct warc_reader *r, struct err *err)
{
	for (;;) {
		struct err damage;
		const char *data;
		size_t size, n = 0;
		int rc = input_peek(r->in, 1, &data, &size, &damage);

		if (rc == E_PARSE) {
			rc = next_member(r, &damage, err);
			if (rc <= 0)
				return rc;
			continue;
		}
		if (rc < 0) {
			if (err)
				*err = damage;
			return rc;
		}
		if (size == 0)
			return 0;
		while (n < size && (data[n] == '\r' || data[n] == '\n'))
			n++;
		input_skip(r->in, n);
		if (n < size)
			return 1;
	}
}

/* Skip the rest of a block that was not loaded. */
static int skip_rest(struct warc_reader *r, struct err *err)
{
	const char *data;
	bool damaged;
	size_t size;
	int rc;

	while ((rc = warc_peek_block(r, 1, &data, &size, &damaged, err)) > 0)
		warc_skip_block(r, size);
	if (rc == 0)
		rc = warc_end_record(r, err);
	return rc < 0 ? rc : 0;
}

int warc_next(struct warc_reader *r, struct err *err)
{
	int rc = r->in_block ? skip_rest(r, err) : 0;

	while (rc >= 0) {
		const char *why;

		rc = skip_blank(r, err);
		if (rc <= 0)
			return rc;
		r->record.offset = input_file_offset(r->in);
		r->at_member = input_at_member(r->in);
		r->start = input_position(r->in);
		rc = read_head(r, &why, err);
		if (rc == E_PARSE)
			continue;               /* skip_blank meets it again */
		if (rc < 0)
			return rc;
		if (!why && ends_wrong(r))
			why = "it does not end where its length says";
		if (!why) {
			r->record.resynced = r->resynced;
			r->record.file_size = 0;
			r->resynced = r->cut = false;
			r->left = (uint64_t)r->record.length;
			r->in_block = true;
			r->n_records++;
			return 1;
		}
		r->n_damaged++;
		warc_report(r, r->record.offset, why);
		rc = find_record(r, r->at_member, err);
	}
	return rc;
}

int warc_peek_block(struct warc_reader *r, size_t want, const char **ret_data,
                    size_t *ret_size, bool *ret_damaged, struct err *err)
{
	struct err damage;
	size_t size;
	int rc;

	*ret_damaged = false;
	if (r->left == 0)
		return 0;
	if (want > r->left)
		want = (size_t)r->left;
	rc = input_peek(r->in, want, ret_data, &size, &damage);
	if (rc < 0 && rc != E_PARSE) {
		if (err)
			*err = damage;
		return rc;
	}
	*ret_damaged = rc < 0 || size == 0 ||
	               (r->at_member && input_position(r->in) > r->start &&
	                input_at_member(r->in) && is_version(*ret_data, size));
	if (*ret_damaged)
		return 0;
	if (want == 1 && r->at_member)          /* stop where a record may begin */
		size = input_member_bytes(r->in);
	*ret_size = size < r->left ? size : (size_t)r->left;
	return 1;
}

void warc_skip_block(struct warc_reader *r, size_t size)
{
	input_skip(r->in, size);
	r->left -= size;
}

static int damaged(struct warc_reader *r, const char *why)
{
	r->n_damaged++;
	r->resynced = true;
	warc_report(r, r->record.offset, why);
	return 0;
}

int warc_end_record(struct warc_reader *r, struct err *err)
{
	const char *data;
	struct err own;
	size_t size;
	int rc, trailer;

	r->in_block = false;
	if (r->left)
		return damaged(r, "it breaks off");
	rc = input_peek(r->in, TRAILER_PEEK, &data, &size, &own);
	if (rc == 0) {
		trailer = trailer_size(data, size);
		if (trailer < 0) {
			damaged(r, "it does not end where its length says");
			rc = find_record(r, r->at_member, err);
			return rc < 0 ? rc : 0;
		}
		input_skip(r->in, (size_t)trailer);
	}
	/* the member's checksum comes after its data: read on, so that it is checked */
	if (rc == 0)
		rc = input_peek(r->in, 1, &data, &size, &own);
	if (rc == E_PARSE && input_file_offset(r->in) == r->record.offset)
		return damaged(r, own.text);
	if (rc < 0 && rc != E_PARSE) {
		if (err)
			*err = own;
		return rc;
	}
	r->record.file_size = input_file_offset(r->in) - r->record.offset;
	return 1;
}
