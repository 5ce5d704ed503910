/* SPDX-License-Identifier: Apache-2.0 */
/* desk_tell.c - outcomes come in, each request once; see desk.h. */
#include <openssl/sha.h>
#include <stdio.h>
#include <time.h>

#include "cli/frame/command.h"
#include "serve/desk.h"

#define KEY_MAX 200                     /* bytes of an idempotency key */
#define KEY_PREFIX "told."

struct telling {
	struct call *call;
	struct desk *desk;
	const char *key;                /* of the state, or NULL */
	char digest[2 * SHA256_DIGEST_LENGTH + 1];      /* of the body */
	VEC(struct told) told;
	VEC(uint32_t) line;             /* of each */
	VEC(struct buf) texts;
	struct tell_stats stats;
	uint32_t n_lines;
	struct buf refused;             /* elements of a list, as JSON */
	struct json j;
};

static void hex_digest(const void *data, size_t size, char out[2 * SHA256_DIGEST_LENGTH + 1])
{
	unsigned char raw[SHA256_DIGEST_LENGTH];

	SHA256(data, size, raw);
	for (size_t i = 0; i < sizeof raw; i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

static void refuse_line(struct telling *t, uint32_t line, const char *why)
{
	json_object(&t->j);
	json_kint(&t->j, "line", line);
	json_kstr(&t->j, "why", why);
	json_end_object(&t->j);
}

static void note_line(void *arg, size_t i, const char *why)
{
	struct telling *t = arg;

	if (why)
		refuse_line(t, t->line.v[i], why);
}

static bool read_lines(struct telling *t)
{
	const struct buf *b = &t->call->request->body;
	const char *p = b->data, *end = p + b->size;

	for (uint32_t line = 1; p < end; line++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t size = (size_t)((stop ? stop : end) - p);
		struct told told;
		struct buf texts;
		const char *why;

		while (size && (p[size - 1] == '\r' || p[size - 1] == ' '))
			size--;
		if (size) {
			if (t->n_lines++ == DESK_LINES_MAX) {
				http_problem(t->call->answer, 413, "more than %d lines: send them in parts",
				             DESK_LINES_MAX);
				return false;
			}
			buf_init(&texts, TELL_LINE_MAX);
			why = size > TELL_LINE_MAX ? "the line is too long" : tell_parse(&told, &texts, p, size);
			if (why) {
				refuse_line(t, line, why);
				t->stats.n_bad++;
				buf_release(&texts);
			} else {
				vec_push(&t->told, told);
				vec_push(&t->line, line);
				vec_push(&t->texts, texts);
			}
		}
		p = stop ? stop + 1 : end;
	}
	return true;
}

static void print_told(struct telling *t, const struct tell_stats *s, struct buf *out)
{
	struct json j;

	json_to_buf(&j, out);
	cli_json_schema(&j, "tell");
	json_kint(&j, "told", (int64_t)s->n_lines);
	json_kint(&j, "new", (int64_t)s->fresh);
	json_kint(&j, "changed", (int64_t)s->changed);
	json_kint(&j, "same", (int64_t)s->same);
	json_kint(&j, "gone", (int64_t)s->gone);
	json_kint(&j, "failed", (int64_t)s->failed);
	json_kint(&j, "released", (int64_t)s->n_given_back);
	json_kint(&j, "repeated", (int64_t)s->n_repeated);
	json_kint(&j, "late", (int64_t)s->n_late);
	json_kint(&j, "unknown", (int64_t)s->n_unknown);
	json_kint(&j, "malformed", (int64_t)(s->n_bad + t->stats.n_bad - s->n_unknown));
	json_kint(&j, "future", (int64_t)s->n_future);
	json_key(&j, "refused");
	buf_add(out, t->refused.size ? t->refused.data : "[", t->refused.size ? t->refused.size : 1);
	buf_str(out, "]}\n");
}

/* The key goes into the batch of the outcomes: both are kept, or none. */
static int keep_key(void *arg, const struct tell_stats *s, struct err *err)
{
	struct telling *t = arg;
	struct buf text;
	int rc = 0;

	print_told(t, s, &t->call->answer->body);
	if (!t->key)
		return 0;
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%lld %s %s", (long long)time(NULL), t->digest,
	           buf_text(&t->call->answer->body));
	rc = store_state_put(t->desk->store, STORE_OF_SHARD, t->key, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

/* Was this request heard before?  1: the answer is there. */
static int heard_before(struct telling *t, struct err *err)
{
	char *kept = NULL, digest[65] = "";
	int at = 0, rc = store_state_get(t->desk->store, STORE_OF_SHARD, t->key, &kept, err);

	if (rc <= 0)
		return rc;
	if (sscanf(kept, "%*d %64s %n", digest, &at) < 1 || !at)
		rc = err_set(err, E_STORE, "an idempotency key that cannot be read");
	else if (strcmp(digest, t->digest))
		http_problem(t->call->answer, 422, "this Idempotency-Key came with another body before");
	else
		buf_str(&t->call->answer->body, kept + at);
	free(kept);
	return rc < 0 ? rc : 1;
}

static void name_key(struct telling *t, const char *key)
{
	struct buf name;
	char digest[2 * SHA256_DIGEST_LENGTH + 1];

	buf_init(&name, BUF_NO_LIMIT);
	buf_printf(&name, "%s %s", t->call->who ? t->call->who : "", key);
	hex_digest(buf_text(&name), name.size, digest);
	buf_clear(&name);
	buf_printf(&name, KEY_PREFIX "%s", digest);
	t->key = arena_strndup(&t->call->request->keep, buf_text(&name), name.size);
	hex_digest(t->call->request->body.data, t->call->request->body.size, t->digest);
	buf_release(&name);
}

static int tell(struct telling *t, struct err *err)
{
	struct desk *d = t->desk;
	const char *name = uri_param(&t->call->request->uri, "client");
	struct tell_stats s = { 0 };
	double began = desk_seconds();
	int rc = t->key ? heard_before(t, err) : 0;

	if (rc == 0) {
		rc = client_tell_and(d->client, t->told.v, t->told.n, (int64_t)time(NULL), note_line,
		                     keep_key, t, &s, err);
		if (rc == 0 && !t->call->answer->body.size)     /* nothing was kept */
			print_told(t, &s, &t->call->answer->body);
	}
	pthread_mutex_lock(&d->shown);
	d->counts.told += s.n_lines;
	d->cycle.downloads += (uint32_t)s.n_lines;      /* about: redirects are not counted here */
	d->counts.refused += s.n_bad + t->stats.n_bad;
	desk_note_client(d, name)->told += s.n_lines;
	d->counts.tells++;
	d->counts.seconds_tell += desk_seconds() - began;
	pthread_mutex_unlock(&d->shown);
	return rc < 0 ? rc : 0;
}

void route_tell(struct call *c)
{
	struct telling t = { .call = c, .desk = c->serve->desk };
	const char *key = http_header(c->request, "Idempotency-Key");
	struct err err = { 0 };
	int rc = 0;

	if (key && (!*key || strlen(key) > KEY_MAX)) {
		http_problem(c->answer, 400, "Idempotency-Key: 1 to %d bytes, please", KEY_MAX);
		return;
	}
	if (!c->request->body.size) {
		http_problem(c->answer, 400, "the body has no line; one outcome a line, please");
		return;
	}
	buf_init(&t.refused, BUF_NO_LIMIT);
	json_to_buf(&t.j, &t.refused);
	json_array(&t.j);
	if (key)
		name_key(&t, key);
	if (read_lines(&t)) {
		pthread_mutex_lock(&t.desk->lock);
		rc = tell(&t, &err);
		desk_leave(t.desk);
		if (rc < 0) {
			buf_clear(&c->answer->body);
			answer_error(c, rc, &err);
		} else if (!c->answer->status) {
			answer_json(c);
		}
	}
	for (size_t i = 0; i < t.texts.n; i++)
		buf_release(&t.texts.v[i]);
	vec_release(&t.texts);
	vec_release(&t.told);
	vec_release(&t.line);
	buf_release(&t.refused);
}

/* ---- keys that are old ---- */

struct cleaning { int64_t before; VEC(char *) old; };

static int see_key(void *arg, const char *key, const char *value, struct err *err)
{
	struct cleaning *c = arg;

	(void)err;
	if (!strncmp(key, KEY_PREFIX, strlen(KEY_PREFIX)) && strtoll(value, NULL, 10) < c->before)
		vec_push(&c->old, mem_strdup(key));
	return 0;
}

void desk_clean(struct desk *d, int64_t now)
{
	struct cleaning c = { .before = now - DESK_KEYS_SECONDS };
	struct err err;
	int rc;

	/* whoever opens a cycle holds the lock for long, and our caller says that the service lives */
	if (now - d->cleaned < 3600 || pthread_mutex_trylock(&d->lock))
		return;
	d->cleaned = now;
	rc = store_states(d->store, STORE_OF_SHARD, see_key, &c, &err);
	if (rc == 0 && c.old.n && (rc = store_begin(d->store, &err)) == 0) {
		for (size_t i = 0; rc == 0 && i < c.old.n; i++)
			rc = store_state_put(d->store, STORE_OF_SHARD, c.old.v[i], NULL, &err);
		if (rc == 0)
			rc = store_commit(d->store, &err);
		if (rc < 0)
			store_rollback(d->store);
	}
	pthread_mutex_unlock(&d->lock);
	for (size_t i = 0; i < c.old.n; i++)
		free(c.old.v[i]);
	vec_release(&c.old);
}
