/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc.c - finds the records of an archive, and the next one behind damage; see
 * warc.h.
 *
 * A header that cannot be read (warc_head.c) is damage.  In an uncompressed file the four bytes behind
 * the block are looked at before the block is read: a wrong length is known at
 * once and does not swallow the records that follow.  In a file compressed by
 * record a member that begins with "WARC/" ends whatever record was still going.
 */
#include "warc/warc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"

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
		/* the last bytes may be the beginning of the mark: keep them */
		input_skip(r->in, size >= 4096 ? size - 8 : size);
	}
}

#define TRAILER_PEEK 9                  /* two line ends and "WARC/" */

/* The size of what ends a record, in the bytes after its block: two line ends (at the end
 * of the file perhaps fewer), or anything else if the next record begins where it should.
 * -1: the record does not end here. */
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

/* Hash the block without moving the reader: does its digest differ?  False also if it has
 * no digest or cannot be read ahead. */
static bool block_is_wrong(struct warc_reader *r)
{
	const struct field *f = r->record.block_digest;
	uint64_t at = input_position(r->in), left = (uint64_t)r->record.length;
	struct warc_digest want, got;
	char piece[16384];

	if (!f || !warc_digest_parse(f->value, f->value_size, &want) || left > r->probe_left)
		return false;
	r->probe_left -= left;          /* a cap: else many long records cost n * n */
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
		rc = warc_read_head(r, &why, err);
		if (rc == E_PARSE)
			continue;               /* skip_blank() reports it */
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
	                input_at_member(r->in) && warc_is_version(*ret_data, size));
	if (*ret_damaged)
		return 0;
	if (want == 1 && r->at_member)          /* a record may begin after this member */
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
