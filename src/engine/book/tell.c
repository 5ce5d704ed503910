/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - outcomes of another crawler, from JSON Lines; see keep.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/input.h"
#include "base/io/json.h"
#include "base/when.h"
#include "engine/book/keep.h"
#include "web/url/url.h"

#define TELL_LINE_MAX 65536
#define STDIN_MAX (1u << 30)    /* bytes, held until they are all there */
#define READ_SIZE 65536

struct line {
	struct buf url, digest;
	int64_t time;
	int outcome;                    /* -1: not told */
	int32_t status;
	float score, probability;
	double weight;                  /* NAN: not told */
	uint8_t reason;
	enum cause cause;
};

static bool is_key(const struct json_member *m, const char *key)
{
	return m->key_size == strlen(key) && !memcmp(m->key, key, m->key_size);
}

static int name_index(const struct json_member *m, const char *(*name)(unsigned), unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strlen(name(i)) == m->value_size && !memcmp(name(i), m->value, m->value_size))
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

static const char *read_member(struct line *l, const struct json_member *m)
{
	char text[TELL_LINE_MAX];
	long n;
	double v;

	if (is_key(m, "url")) {
		n = m->type == JSON_STRING ? json_unescape(m, text) : -1;
		if (n < 0 || url_canonical(text, (size_t)n, &l->url, NULL) < 0)
			return "url is not an http URL";
	} else if (is_key(m, "digest")) {
		n = m->type == JSON_STRING ? json_unescape(m, text) : -1;
		if (n >= 0)
			buf_add(&l->digest, text, (size_t)n);
	} else if (is_key(m, "outcome")) {
		l->outcome = name_index(m, outcome_at, OUTCOME_BLOCKED + 1);
		if (l->outcome < 0)
			return "outcome is none of same, changed, gone, failed, blocked";
	} else if (is_key(m, "status")) {
		v = number_of(m);
		if (!(v >= 100 && v <= 999))
			return "status is not an HTTP status";
		l->status = (int32_t)v;
	} else if (is_key(m, "cause")) {
		n = m->type == JSON_STRING ? json_unescape(m, text) : m->type == JSON_NULL ? 0 : -1;
		if (n < 0)
			return "cause is not a text";
		l->cause = n ? cause_find(text, (size_t)n) : CAUSE_NONE;
	} else if (is_key(m, "time")) {
		if (!when_parse(m->value, m->value_size, &l->time))
			return "time is not a time";
	} else if (is_key(m, "score")) {
		l->score = (float)number_of(m);
	} else if (is_key(m, "probability")) {
		v = number_of(m);
		if (!isnan(v) && !(v > 0 && v <= 1))
			return "probability is not above 0 and at most 1";
		l->probability = (float)v;
	} else if (is_key(m, "weight")) {
		l->weight = number_of(m);
		if (m->type != JSON_NULL && !(l->weight >= 0 && l->weight <= STORE_WEIGHT_MAX))
			return "weight is no number from 0 to 1e9";
	} else if (is_key(m, "reason")) {
		int k = name_index(m, reason_name, N_REASONS);

		l->reason = k > 0 ? (uint8_t)k : 0;
	}
	return NULL;
}

/* NULL, or what is wrong with the line. */
static const char *parse_line(struct line *l, const char *s, size_t size)
{
	const char *end = s + size, *why = NULL;
	struct json_member m;
	int rc = 0;

	buf_clear(&l->url);
	buf_clear(&l->digest);
	l->time = 0;
	l->outcome = -1;
	l->status = 0;
	l->score = l->probability = NAN;
	l->weight = NAN;
	l->reason = REASON_NONE;
	l->cause = CAUSE_NONE;
	if (!size || *s != '{')
		return "not a JSON object";
	while (!why && (rc = json_next(&s, end, &m)) > 0)
		why = read_member(l, &m);
	if (why)
		return why;
	if (rc < 0)
		return "not a JSON object";
	if (!l->url.size)
		return "no url";
	if (l->outcome < 0 && !l->status)
		return "neither outcome nor status";
	return NULL;
}

/* What the status and the digest say, given our copy.  A digest is all that is told of a
 * content, so every detector goes by it. */
static int derive_outcome(struct store *s, const struct line *l, const struct store_page *p,
                          enum outcome *ret, struct err *err)
{
	const struct detector bytes = { .kind = DETECT_BYTES };
	struct answer a = { .by = TOLD_BY_CRAWLER, .status = l->status };
	struct answer copy = { .by = TOLD_BY_OURS, .status = 200 };
	struct text digest = { l->digest.size ? l->digest.data : NULL, l->digest.size }, none = { 0 };
	struct store_capture c;
	int rc = 0;

	if (l->outcome >= 0) {
		*ret = (enum outcome)l->outcome;
		return 0;
	}
	if (judge_kind(l->status, false) == ANSWER_PAGE)
		a.content = judge_content(&bytes, digest, none, none, NULL);
	if (p->capture && (rc = store_capture_get(s, p->capture, &c, err)) > 0)
		copy.content = judge_content(&bytes, c.digest, none, none, NULL);
	if (rc >= 0)
		*ret = judge(&bytes, &a, rc > 0 ? &copy : NULL).outcome;
	return rc < 0 ? rc : 0;
}

/* *ret_why: the line is not kept. */
static int keep_line(struct tell *t, struct line *l, const char **ret_why, struct err *err)
{
	struct text url = { l->url.data, l->url.size };
	struct store_capture c = { .status = l->status, .length = -1, .bytes_text = -1,
	                           .words = -1, .images = -1, .tables = -1, .emails = -1,
	                           .outlinks = -1, .offset = -1, .size = -1 };
	struct kept_visit v = { .cycle = t->cycle, .time = l->time ? l->time : t->now,
	                        .status = l->status, .score = l->score,
	                        .probability = l->probability, .reason = l->reason,
	                        .cause = l->cause };
	struct store_page p;
	struct verdict kept;
	int rc = store_page_add(t->store, url, t->now, &v.page, err);

	if (rc < 0)
		return rc;
	if ((rc = store_page_get(t->store, v.page, &p, err)) < 0 ||
	    (rc = derive_outcome(t->store, l, &p, &v.outcome, err)) < 0)
		return rc;
	c.digest = (struct text){ l->digest.data, l->digest.size };
	if (l->digest.size && v.outcome == OUTCOME_CHANGED)
		v.capture = &c;
	if (!keep_once(&t->had, v.page, v.outcome)) {
		*ret_why = "this page was told of before in this file";
		return 0;
	}
	rc = isnan(l->weight) ? 0 : store_page_weigh(t->store, v.page, l->weight, err);
	if (rc == 0)
		if (v.time > t->now + TELL_FUTURE) {    /* it would hide the page from all policies */
		v.time = t->now;
		t->stats.n_future++;
	}
	rc = keep_visit(t->store, &v, t->confirmations, &kept, err);
	if (rc < 0)
		return rc;
	t->stats.n_lines++;
	t->stats.fresh += kept.first && kept.outcome == OUTCOME_CHANGED;
	t->stats.changed += !kept.first && kept.outcome == OUTCOME_CHANGED;
	t->stats.same += kept.outcome == OUTCOME_SAME;
	t->stats.gone += kept.outcome == OUTCOME_GONE;
	t->stats.failed += kept.outcome >= OUTCOME_FAILED;
	return rc;
}

static int write_cycle(struct tell *t, struct err *err)
{
	struct tell_stats *s = &t->stats;
	struct store_cycle c = {
		.number = t->cycle, .time = t->now, .policy = { "told", 4 },
		.downloads = (uint32_t)(s->fresh + s->changed + s->same + s->gone + s->failed),
		.fresh = (uint32_t)s->fresh, .changed = (uint32_t)s->changed,
		.same = (uint32_t)s->same, .gone = (uint32_t)s->gone, .failed = (uint32_t)s->failed,
	};

	c.budget = c.downloads;
	return store_cycle_put(t->store, &c, err);
}

static int read_lines(struct tell *t, struct input *in, struct line *l, struct err *err)
{
	uint64_t n = 0;
	size_t size;
	char *text;
	int rc;

	while ((rc = input_line(in, TELL_LINE_MAX - 1, &text, &size, err)) != 0) {
		const char *why;
		char message[300];

		n++;
		if (rc < 0 && rc != E_LIMIT)
			return rc;
		if (rc >= 0 && !size)
			continue;
		why = rc == E_LIMIT ? "line too long" : parse_line(l, text, size);
		if (!why && (rc = keep_line(t, l, &why, err)) < 0)
			return rc;
		if (!why)
			continue;
		t->stats.n_bad++;
		snprintf(message, sizeof message, "%s:%llu: %s", input_name(in),
		         (unsigned long long)n, why);
		if (t->report)
			t->report(t->arg, message);
	}
	return 0;
}

static int tell_lines(struct tell *t, struct input *in, struct err *err)
{
	struct line l;
	int rc = store_begin(t->store, err);

	if (rc < 0)
		return rc;
	buf_init(&l.url, URL_SIZE_MAX);
	buf_init(&l.digest, 1024);
	if ((rc = keep_next_cycle(t->store, &t->cycle, &t->ended, err)) == 0 &&
	    (rc = read_lines(t, in, &l, err)) == 0 && t->stats.n_lines > 0 &&
	    (rc = write_cycle(t, err)) == 0)
		rc = store_commit(t->store, err);
	if (rc < 0 || !t->stats.n_lines) {
		store_rollback(t->store);
		t->ended = 0;
	}
	map_release(&t->had);
	buf_release(&l.url);
	buf_release(&l.digest);
	return rc;
}

/* A crawler that writes to us while it works may take hours, and the tables must not be
 * locked for so long: what comes is gathered first. */
static int gather(struct input **in, struct buf *all, struct err *err)
{
	long n;

	do {
		char *room = buf_room(all, READ_SIZE);

		if (!room)
			return err_set(err, E_LIMIT, "standard input: more than %u MiB; put it into a "
			               "file", STDIN_MAX >> 20);
		n = input_read(*in, room, READ_SIZE, err);
		if (n > 0)
			all->size += (size_t)n;
	} while (n > 0);
	if (n < 0)
		return (int)n;
	input_close(*in);
	*in = NULL;
	return input_open_memory(in, buf_text(all), all->size, "-", err);
}

int tell_file(struct tell *t, const char *path, struct err *err)
{
	struct input *in;
	struct buf all;
	int lock, rc = input_open(&in, path, err);

	if (rc < 0)
		return rc;
	buf_init(&all, STDIN_MAX);
	if (!strcmp(path, "-"))
		rc = gather(&in, &all, err);
	if (rc == 0)
		rc = keep_lock(t->warc_folder, &lock, err);
	if (rc == 0) {
		rc = tell_lines(t, in, err);
		if (lock >= 0)
			close(lock);
	}
	input_close(in);
	buf_release(&all);
	return rc;
}
