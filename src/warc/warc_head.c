/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_head.c - the header of a record: its fields, and what is wrong with them; see warc.h.
 *
 * A header is damaged if it does not parse, if one of the four mandatory fields is missing,
 * or if a field that may come once comes twice.
 */
#include "warc/warc.h"

#include <string.h>

#include "base/io/input.h"
#include "base/when.h"

static const char *const type_names[] = {
	[WARC_OTHER] = "other", [WARC_INFO] = "warcinfo", [WARC_RESPONSE] = "response",
	[WARC_RESOURCE] = "resource", [WARC_REQUEST] = "request",
	[WARC_METADATA] = "metadata", [WARC_REVISIT] = "revisit",
	[WARC_CONVERSION] = "conversion", [WARC_CONTINUATION] = "continuation",
};

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

bool warc_is_version(const char *p, size_t size)
{
	return size >= 8 && memcmp(p, "WARC/", 5) == 0 && (p[5] == '1' || p[5] == '0') &&
	       p[6] == '.' && p[7] >= '0' && p[7] <= '9';
}

int warc_read_head(struct warc_reader *r, const char **ret_why, struct err *err)
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
		if (!warc_is_version(data, size)) {
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
