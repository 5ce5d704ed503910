/* SPDX-License-Identifier: Apache-2.0 */
/* desk_tell.c - outcomes come in, each request once; see desk.h. */
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <time.h>

#include "cli/frame/command.h"
#include "serve/desk.h"
#include "serve/fleet/fleet.h"

#define KEY_MAX 200                     /* bytes of an idempotency key */
#define KEY_PREFIX "told."
#define STATS (sizeof(struct tell_stats) / sizeof(uint64_t))    /* it is numbers, nothing else */

static void hex_digest(const void *data, size_t size, char out[2 * SHA256_DIGEST_LENGTH + 1])
{
	unsigned char raw[SHA256_DIGEST_LENGTH];

	SHA256(data, size, raw);
	for (size_t i = 0; i < sizeof raw; i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

/* ---- one store ---- */

void tell_refuse(struct tell_batch *b, uint32_t line, const char *why)
{
	json_object(&b->j);
	json_kint(&b->j, "line", line);
	json_kstr(&b->j, "why", why);
	json_end_object(&b->j);
}

void tell_batch_begin(struct tell_batch *b, struct telling *t)
{
	*b = (struct tell_batch){ .telling = t };
	buf_init(&b->refused, BUF_NO_LIMIT);
	json_to_buf(&b->j, &b->refused);
	json_array(&b->j);
}

/* What came of it is added up in the answer. */
void tell_batch_end(struct tell_batch *b)
{
	struct telling *t = b->telling;
	const uint64_t *from = (const uint64_t *)&b->stats;
	uint64_t *to = (uint64_t *)&t->stats;

	for (size_t i = 0; i < STATS; i++)
		to[i] += from[i];
	if (b->refused.size > 1) {              /* behind the bracket */
		buf_str(&t->refused, t->refused.size ? "," : "");
		buf_add(&t->refused, b->refused.data + 1, b->refused.size - 1);
	}
	vec_release(&b->told);
	vec_release(&b->line);
	buf_release(&b->refused);
}

static void note_line(void *arg, size_t i, const char *why)
{
	struct tell_batch *b = arg;

	if (why)
		tell_refuse(b, b->line.v[i], why);
}

/* The key goes into the batch of the outcomes: both are kept, or none.  With it: when, the digest
 * of the request, and what came of it. */
static int keep_key(void *arg, const struct tell_stats *s, struct err *err)
{
	struct tell_batch *b = arg;
	const uint64_t *n = (const uint64_t *)s;
	struct buf text;
	int rc;

	if (!b->telling->key)
		return 0;
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%lld %s", (long long)time(NULL), b->telling->digest);
	for (size_t i = 0; i < STATS; i++)
		buf_printf(&text, " %" PRIu64, n[i]);
	buf_byte(&text, ' ');
	buf_add(&text, b->refused.data, b->refused.size);
	rc = store_state_put(b->store, STORE_OF_SHARD, b->telling->key, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

void tell_other_body(struct telling *t)
{
	http_problem(t->call->answer, 422, "this Idempotency-Key came with another body before");
}

int tell_batch_heard(struct tell_batch *b, struct err *err)
{
	char *kept = NULL, digest[65] = "", *at;
	uint64_t *n = (uint64_t *)&b->stats;
	int skip = 0, rc = store_state_get(b->store, STORE_OF_SHARD, b->telling->key, &kept, err);

	if (rc <= 0)
		return rc;
	if (sscanf(kept, "%*d %64s %n", digest, &skip) < 1 || !skip) {
		rc = err_set(err, E_STORE, "an idempotency key that cannot be read");
	} else if (strcmp(digest, b->telling->digest)) {
		tell_other_body(b->telling);
	} else {
		at = kept + skip;
		for (size_t i = 0; i < STATS; i++)
			n[i] = strtoull(at, &at, 10);
		b->telling->heard += b->stats.n_lines;
		buf_clear(&b->refused);
		buf_str(&b->refused, at + strspn(at, " "));
	}
	free(kept);
	return rc < 0 ? rc : 1;
}

int tell_batch_run(struct tell_batch *b, int64_t now, struct err *err)
{
	int rc = b->telling->key ? tell_batch_heard(b, err) : 0;

	if (rc == 0)
		rc = client_tell_and(b->client, b->told.v, b->told.n, now, note_line, keep_key, b,
		                     &b->stats, err);
	return rc < 0 ? rc : 0;
}

/* ---- the request ---- */

/* Lines that say nothing are refused in `bad`. */
static bool read_lines(struct telling *t, struct tell_batch *bad)
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
				tell_refuse(bad, line, why);
				bad->stats.n_bad++;
				buf_release(&texts);
			} else {
				vec_push(&t->told, told);
				vec_push(&t->line, ((struct tell_line){ line, { p, size } }));
				vec_push(&t->texts, texts);
			}
		}
		p = stop ? stop + 1 : end;
	}
	return true;
}

static void print_told(struct telling *t, struct buf *out)
{
	const struct tell_stats *s = &t->stats;
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
	json_kint(&j, "malformed", (int64_t)(s->n_bad - s->n_unknown));
	json_kint(&j, "future", (int64_t)s->n_future);
	if (t->call->serve->fleet)
		json_kint(&j, "inbox", (int64_t)t->mailed);
	json_key(&j, "refused");
	buf_printf(out, "[%s]}\n", t->refused.size ? buf_text(&t->refused) : "");
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

/* Of the one repository. */
static int tell_one_store(struct telling *t, struct err *err)
{
	struct desk *d = t->desk;
	struct tell_batch b;
	int rc;

	tell_batch_begin(&b, t);
	for (size_t i = 0; i < t->told.n; i++) {
		vec_push(&b.told, t->told.v[i]);
		vec_push(&b.line, t->line.v[i].number);
	}
	pthread_mutex_lock(&d->lock);
	b.store = d->store;
	b.client = d->client;           /* under the lock: desk_renew() replaces it */
	rc = tell_batch_run(&b, (int64_t)time(NULL), err);
	desk_leave(d);
	tell_batch_end(&b);
	return rc;
}

static void note_told(struct telling *t, double seconds)
{
	const char *name = uri_param(&t->call->request->uri, "client");
	uint64_t lines = t->stats.n_lines - t->heard;
	struct desk *d = t->desk;

	pthread_mutex_lock(&d->shown);
	d->counts.told += lines;
	d->cycle.downloads += (uint32_t)lines;  /* about: no redirects */
	d->counts.refused += t->stats.n_bad;
	desk_note_client(d, name)->told += lines;
	d->counts.tells++;
	d->counts.seconds_tell += seconds;
	pthread_mutex_unlock(&d->shown);
}

static void answer_told(struct telling *t, int rc, const struct err *err)
{
	struct call *c = t->call;

	if (rc < 0) {
		answer_error(c, rc, err);
	} else if (!c->answer->status) {
		print_told(t, &c->answer->body);
		answer_json(c);
	}
}

void route_tell(struct call *c)
{
	struct telling t = { .call = c, .desk = c->serve->desk };
	const char *key = http_header(c->request, "Idempotency-Key");
	struct tell_batch bad;
	struct err err = { 0 };

	if (key && (!*key || strlen(key) > KEY_MAX)) {
		http_problem(c->answer, 400, "Idempotency-Key: 1 to %d bytes, please", KEY_MAX);
		return;
	}
	if (!c->request->body.size) {
		http_problem(c->answer, 400, "the body has no line; one outcome a line, please");
		return;
	}
	buf_init(&t.refused, BUF_NO_LIMIT);
	if (key)
		name_key(&t, key);
	tell_batch_begin(&bad, &t);
	if (read_lines(&t, &bad)) {
		double began = desk_seconds();
		int rc;

		tell_batch_end(&bad);
		rc = c->serve->fleet ? desk_parts_tell(&t, &err) : tell_one_store(&t, &err);
		note_told(&t, desk_seconds() - began);
		answer_told(&t, rc, &err);
	} else {
		tell_batch_end(&bad);
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

/* Forget keys of this store that are older. */
static void forget(struct store *s, int64_t before)
{
	struct cleaning c = { .before = before };
	struct err err;
	int rc = store_states(s, STORE_OF_SHARD, see_key, &c, &err);

	if (rc == 0 && c.old.n && (rc = store_begin(s, &err)) == 0) {
		for (size_t i = 0; rc == 0 && i < c.old.n; i++)
			rc = store_state_put(s, STORE_OF_SHARD, c.old.v[i], NULL, &err);
		if (rc == 0)
			rc = store_commit(s, &err);
		if (rc < 0)
			store_rollback(s);
	}
	for (size_t i = 0; i < c.old.n; i++)
		free(c.old.v[i]);
	vec_release(&c.old);
}

static void forget_parts(struct parts *parts, int64_t before)
{
	struct parts_list l = { 0 };

	parts_list(parts, &l);
	for (size_t i = 0; i < l.shards.n; i++) {
		struct part *p = part_enter(parts, l.shards.v[i]);

		if (p) {
			forget(part_store(p), before);
			part_leave(parts, p);
		}
	}
	vec_release(&l.shards);
}

void desk_clean(struct desk *d, int64_t now)
{
	/* whoever opens a cycle holds the lock for long, and our caller has more to do */
	if (now - d->cleaned < 3600 || pthread_mutex_trylock(&d->lock))
		return;
	d->cleaned = now;
	if (d->serve->fleet) {
		forget_parts(serve_fleet_parts(d->serve->fleet), now - DESK_KEYS_SECONDS);
		desk_parts_forget(d->serve->fleet, now - DESK_KEYS_SECONDS);
	} else {
		forget(d->store, now - DESK_KEYS_SECONDS);
	}
	pthread_mutex_unlock(&d->lock);
}
