/* SPDX-License-Identifier: Apache-2.0 */
/* tell_line.c - one outcome of another crawler, as a line of JSON; see tell.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/json.h"
#include "engine/book/tell.h"
#include "web/url/url.h"

static bool is_key(const struct json_member *m, const char *key)
{
	return m->key_size == strlen(key) && !memcmp(m->key, key, m->key_size);
}

static bool is_value(const struct json_member *m, const char *value)
{
	return m->value_size == strlen(value) && !memcmp(m->value, value, m->value_size);
}

static int name_index(const struct json_member *m, const char *(*name)(unsigned), unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (is_value(m, name(i)))
			return (int)i;
	return -1;
}

static const char *outcome_at(unsigned i)
{
	return outcome_name((enum outcome)i);
}

static double number_of(const struct json_member *m)
{
	char text[40];

	if (m->value_size >= sizeof text || m->type == JSON_NULL)
		return NAN;
	memcpy(text, m->value, m->value_size);
	text[m->value_size] = '\0';
	return strtod(text, NULL);
}

/* A text into buf, which never moves: it has room for all of the line.  False: it is none. */
static bool take_text(const struct json_member *m, struct buf *buf, struct text *ret)
{
	char *room = buf_room(buf, m->value_size + 1);
	long n;

	*ret = (struct text){ 0 };
	if (m->type == JSON_NULL)
		return true;
	n = m->type == JSON_STRING && room ? json_unescape(m, room) : -1;
	if (n < 0)
		return false;
	room[n] = '\0';
	buf->size += (size_t)n + 1;
	if (n)
		*ret = (struct text){ room, (size_t)n };
	return true;
}

/* Validators become headers of requests. */
static bool is_header(struct text t)
{
	for (size_t i = 0; i < t.size; i++)
		if ((unsigned char)t.s[i] < ' ' || t.s[i] == 0x7f)
			return false;
	return true;
}

static const char *take_url(const struct json_member *m, struct buf *buf, struct told *t)
{
	const char *why = "url is not an http URL";
	struct buf url;
	char *room;

	if (!take_text(m, buf, &t->given) || !t->given.s)
		return why;
	buf_init(&url, URL_SIZE_MAX);
	if (url_canonical(t->given.s, t->given.size, &url, NULL) == 0 &&
	    (room = buf_room(buf, url.size + 1)) != NULL) {
		memcpy(room, url.data, url.size);
		room[url.size] = '\0';
		t->url = (struct text){ room, url.size };
		buf->size += url.size + 1;
		why = NULL;
	}
	buf_release(&url);
	return why;
}

/* Those with blanks in them are no URLs, and are left out. */
static const char *take_links(const struct json_member *m, struct buf *buf, struct text *ret)
{
	const char *p = m->value, *end = p + m->value_size, *why = "links is no list of texts";
	struct json_member link;
	size_t from = buf->size;
	int rc;

	if (m->type == JSON_NULL)
		return NULL;
	if (m->type != JSON_NESTED || *p != '[')
		return why;
	while ((rc = json_element(&p, end, &link)) > 0) {
		struct text one;

		if (!take_text(&link, buf, &one))
			return why;
		if (!one.s)
			continue;
		buf->size--;                    /* the end becomes a blank */
		if (strcspn(one.s, " \t\r\n\f") != one.size)
			buf->size -= one.size;
		else
			buf->data[buf->size++] = ' ';
	}
	if (buf->size > from)
		*ret = (struct text){ buf->data + from, buf->size - from - 1 };
	return rc < 0 ? why : NULL;
}

static const char *take_number(struct told *t, const struct json_member *m)
{
	double v = number_of(m);

	if (is_key(m, "status")) {
		if (!(v >= 100 && v <= 999))
			return "status is not an HTTP status";
		t->status = (int32_t)v;
	} else if (is_key(m, "requests")) {
		if (m->type != JSON_NULL && !(v >= 0 && v <= TELL_REQUESTS_MAX))
			return "requests is no number from 0 to 1000";
		t->requests = m->type == JSON_NULL ? 0 : (uint32_t)v;
	} else if (is_key(m, "score")) {
		t->score = (float)v;
	} else if (is_key(m, "probability")) {
		if (!isnan(v) && !(v > 0 && v <= 1))
			return "probability is not above 0 and at most 1";
		t->probability = (float)v;
	} else if (is_key(m, "weight")) {
		t->weight = v;
		if (m->type != JSON_NULL && !(v >= 0 && v <= STORE_WEIGHT_MAX))
			return "weight is no number from 0 to 1e9";
	}
	return NULL;
}

static const char *take_outcome(struct told *t, const struct json_member *m)
{
	t->outcome = is_value(m, "release") ? TOLD_GIVEN_BACK :
		name_index(m, outcome_at, OUTCOME_BLOCKED + 1);
	return t->outcome == TOLD_NOTHING ?
		"outcome is none of same, changed, gone, failed, blocked, release" : NULL;
}

static const char *take_member(struct told *t, struct buf *buf, const struct json_member *m)
{
	struct text text;

	if (is_key(m, "url"))
		return t->url.s ? "two urls" : take_url(m, buf, t);
	if (is_key(m, "links"))
		return take_links(m, buf, &t->links);
	if (is_key(m, "outcome"))
		return take_outcome(t, m);
	if (is_key(m, "lease"))
		return take_text(m, buf, &t->lease) ? NULL : "lease is not a text";
	if (is_key(m, "digest")) {
		if (!take_text(m, buf, &t->digest) || t->digest.size > 1024)
			t->digest = (struct text){ 0 };
	} else if (is_key(m, "etag")) {
		if (!take_text(m, buf, &t->etag) || !is_header(t->etag))
			return "etag is no header";
	} else if (is_key(m, "last_modified")) {
		if (!take_text(m, buf, &t->modified) || !is_header(t->modified))
			return "last_modified is no header";
	} else if (is_key(m, "cause")) {
		if (!take_text(m, buf, &text))
			return "cause is not a text";
		t->cause = text.s ? cause_find(text.s, text.size) : CAUSE_NONE;
	} else if (is_key(m, "time")) {
		if (!when_parse(m->value, m->value_size, &t->time))
			return "time is not a time";
	} else if (is_key(m, "reason")) {
		int k = name_index(m, reason_name, N_REASONS);

		t->reason = k > 0 ? (uint8_t)k : 0;
	} else if (is_key(m, "add")) {
		t->add = m->type == JSON_BOOL && is_value(m, "true");
	} else if (is_key(m, "release")) {
		if (m->type == JSON_BOOL && is_value(m, "true"))
			t->outcome = TOLD_GIVEN_BACK;
	}
	return take_number(t, m);
}

const char *tell_parse(struct told *ret, struct buf *buf, const char *s, size_t size)
{
	const char *end = s + size, *why = NULL;
	struct json_member m;
	int rc = 0;

	*ret = (struct told){ .outcome = TOLD_NOTHING, .score = NAN, .probability = NAN,
	                      .weight = NAN, .reason = REASON_NONE, .cause = CAUSE_NONE };
	buf_clear(buf);
	/* every value once, and URLs in their longer form; it must not move meanwhile */
	if (!buf_room(buf, 2 * size + 2 * (size_t)URL_SIZE_MAX))
		return "line too long";
	if (!size || *s != '{')
		return "not a JSON object";
	while (!why && (rc = json_next(&s, end, &m)) > 0)
		why = take_member(ret, buf, &m);
	if (why)
		return why;
	if (rc < 0)
		return "not a JSON object";
	if (!ret->url.s && !ret->lease.s)
		return "neither lease nor url";
	if (ret->outcome == TOLD_NOTHING && !ret->status)
		return "neither outcome nor status";
	return NULL;
}
