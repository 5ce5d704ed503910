/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_server.c - the pages of an index server, one after the other; see index_server.h.
 *
 * Servers page in three ways, and say by their answers which is theirs:
 *
 *   pages     showNumPages=true is answered by a number, or by JSON with `pages` (pywb over a
 *             ZipNum cluster, Common Crawl, the Internet Archive): page=0, 1, ...
 *   keys      limit=N&showResumeKey=true ends in a key behind an empty line (the Internet
 *             Archive and its kin): the next request has resumeKey=KEY
 *   at once   neither (pywb over plain files, OutbackCDX): all in one answer
 *
 * A query that has `limit`, `page`, `resumeKey` or `showNumPages` already is asked as it is,
 * once.  Where we are is the state "index HASH" of the store, HASH being that of the query.
 */
#include "engine/index/index_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/input.h"
#include "base/map.h"
#include "base/stop.h"
#include "engine/import/import.h"
#include "fetch/fetch.h"
#include "repo/store.h"

#define RETRIES 5                       /* after 429 or 503 */
#define STATE_SIZE (INDEX_KEY_MAX + 32)

struct server {
	struct import *i;
	const char *url;                /* as given, without the prefix */
	struct fetch *fetch;
	const volatile sig_atomic_t *stop;
	struct buf asked;               /* URL of the request */
	struct buf body;
	char state_key[40], state[STATE_SIZE], key[INDEX_KEY_MAX];
	uint32_t n_requests;
};

bool index_server_is(const char *text)
{
	return !strncmp(text, INDEX_PREFIX "http://", sizeof INDEX_PREFIX - 1 + 7) ||
	       !strncmp(text, INDEX_PREFIX "https://", sizeof INDEX_PREFIX - 1 + 8);
}

/* Has the query a parameter of this name? */
static bool has(const char *url, const char *name)
{
	const char *p = strchr(url, '?');
	size_t n = strlen(name);

	for (; p; p = strchr(p + 1, '&'))
		if (!strncmp(p + 1, name, n) && p[1 + n] == '=')
			return true;
	return false;
}

/* A key goes into the query as the server wrote it; bytes that would end it are escaped. */
static void put_key(struct buf *out, const char *key)
{
	for (; *key; key++) {
		if (strchr("&#\"<>\\^`{|}", *key) || (unsigned char)*key >= 0x7f)
			buf_printf(out, "%%%02X", (unsigned char)*key);
		else
			buf_byte(out, *key);
	}
}

static int refused(const struct server *s, const struct fetch_result *r, struct err *err)
{
	if (r->error != FETCH_OK)
		return err_set(err, E_NET, "%s: %s%s%s", s->url, fetch_error_name(r->error),
		               *r->why ? ": " : "", r->why);
	return err_set(err, E_NET, "%s: the index server answers %d; what came before it is kept, "
	               "and the same import goes on there", s->url, r->status);
}

/* Ask, and wait for the answer: it is in s->body. */
static int ask(struct server *s, const char *parameters, struct err *err)
{
	const struct fetch_result *r;
	enum fetch_next got;

	if (++s->n_requests > INDEX_REQUESTS_MAX)
		return err_set(err, E_LIMIT, "%s: more than %d requests; ask for a part of it (from=, "
		               "to=, a prefix)", s->url, INDEX_REQUESTS_MAX);
	buf_clear(&s->asked);
	buf_str(&s->asked, s->url);
	if (*parameters) {
		buf_byte(&s->asked, strchr(s->url, '?') ? '&' : '?');
		buf_str(&s->asked, parameters);
	}
	fetch_add(s->fetch, &(struct fetch_request){ .url = buf_text(&s->asked), .any_type = true });
	while ((got = fetch_next(s->fetch, 0.2, &r)) == FETCH_LATER)
		if (stop_is_set(s->stop))
			return err_set(err, E_STOP, "the import was stopped; what it had read is kept");
	if (got != FETCH_GOT)
		return err_set(err, E_NET, "%s: no answer", s->url);
	if (r->error != FETCH_OK || r->status != 200)
		return r->status == 404 && r->error == FETCH_OK ? 0 : refused(s, r, err);
	if (r->truncated != FETCH_WHOLE || r->undecodable)
		return err_set(err, E_LIMIT, "%s: an answer of more than %zu bytes, or one that cannot be "
		               "decoded; ask for a part of it (from=, to=, a prefix)", s->url,
		               INDEX_ANSWER_MAX);
	buf_clear(&s->body);
	buf_add(&s->body, r->decoded, r->decoded_size);
	if (s->body.full)
		return err_set(err, E_LIMIT, "%s: an answer of more than %zu bytes", s->url,
		               INDEX_ANSWER_MAX);
	return 1;
}

static int remember(struct server *s, const char *state, struct err *err)
{
	return s->i->dry ? 0 :
	       store_state_put(s->i->store, STORE_OF_SHARD, s->state_key, state, err);
}

/* Where an import that was broken off had got to. */
static int recall(struct server *s, struct err *err)
{
	char *text = NULL;
	int rc = store_state_get(s->i->store, STORE_OF_SHARD, s->state_key, &text, err);

	if (rc > 0)
		snprintf(s->state, sizeof s->state, "%s", text);
	free(text);
	return rc < 0 ? rc : 0;
}

/* The lines of the answer into the repository. */
static int keep(struct server *s, size_t size, struct err *err)
{
	struct input *in;
	int rc;

	if (index_page_lines(buf_text(&s->body), size) == 0)
		return 0;
	rc = input_open_memory(&in, s->body.data, size, s->url, err);
	return rc < 0 ? rc : import_index(s->i, in, s->url, err);
}

static int by_pages(struct server *s, int64_t n, struct err *err)
{
	long long page = 0;
	char text[64];
	int rc = 0;

	if (sscanf(s->state, "page %18lld", &page) != 1 || page < 0)
		page = 0;
	for (; page < n && rc >= 0; page++) {
		snprintf(text, sizeof text, "page=%lld", page);
		rc = ask(s, text, err);
		if (rc > 0)
			rc = keep(s, s->body.size, err);
		if (rc >= 0) {
			snprintf(text, sizeof text, "page %lld", page + 1);
			rc = remember(s, text, err);
		}
	}
	return rc < 0 ? rc : 0;
}

/* 1: all is read; 0: this server knows no keys, and there is more. */
static int by_keys(struct server *s, struct err *err)
{
	struct map seen = { 0 };
	struct buf text;
	int rc;

	if (!strncmp(s->state, "key ", 4))
		snprintf(s->key, sizeof s->key, "%s", s->state + 4);
	buf_init(&text, BUF_NO_LIMIT);
	for (;;) {
		size_t size;
		bool more, fresh = true;

		buf_clear(&text);
		buf_printf(&text, "limit=%d&showResumeKey=true", INDEX_LIMIT);
		if (*s->key) {
			buf_str(&text, "&resumeKey=");
			put_key(&text, s->key);
		}
		rc = ask(s, buf_text(&text), err);
		if (rc <= 0)
			break;
		size = s->body.size;
		more = index_page_key(buf_text(&s->body), &size, s->key);
		if (!more && !*s->state && index_page_lines(s->body.data, size) >= INDEX_LIMIT) {
			map_release(&seen);
			buf_release(&text);
			return 0;
		}
		if (more)
			map_intern(&seen, hash_bytes(s->key, strlen(s->key), 0), 0, &fresh);
		rc = keep(s, size, err);
		if (rc >= 0 && !fresh)
			rc = err_set(err, E_PARSE, "%s: the server gives the same key again: it would never "
			             "end", s->url);
		if (rc < 0 || !more)
			break;
		snprintf(s->state, sizeof s->state, "key %s", s->key);
		rc = remember(s, s->state, err);
		if (rc < 0)
			break;
	}
	map_release(&seen);
	buf_release(&text);
	return rc < 0 ? rc : 1;
}

static int at_once(struct server *s, struct err *err)
{
	int rc = ask(s, "", err);

	return rc <= 0 ? rc : keep(s, s->body.size, err);
}

static int read_all(struct server *s, struct err *err)
{
	int64_t pages = -1;
	int rc = recall(s, err);

	if (rc < 0)
		return rc;
	if (has(s->url, "limit") || has(s->url, "page") || has(s->url, "resumeKey") ||
	    has(s->url, "showNumPages"))
		return at_once(s, err);
	if (strncmp(s->state, "key ", 4)) {
		rc = ask(s, "showNumPages=true&limit=1", err);
		if (rc < 0)
			return rc;
		pages = rc ? index_page_count(buf_text(&s->body), s->body.size) : -1;
		if (pages > INDEX_REQUESTS_MAX)
			return err_set(err, E_LIMIT, "%s: %" PRId64 " pages (at most %d); ask for a part of it "
			               "(from=, to=, a prefix)", s->url, pages, INDEX_REQUESTS_MAX);
	}
	if (pages >= 0)
		return by_pages(s, pages, err);
	rc = by_keys(s, err);
	return rc ? rc < 0 ? rc : 0 : at_once(s, err);
}

int index_server_import(struct import *i, const char *url, const struct fetch_options *fetch,
                        const volatile sig_atomic_t *stop, struct err *err)
{
	struct server s = { .i = i, .url = url + sizeof INDEX_PREFIX - 1, .stop = stop };
	struct fetch_options o = *fetch;
	int rc;

	o.ignore_robots = true;
	o.retries = RETRIES;
	o.max_body = o.max_decoded = INDEX_ANSWER_MAX;
	o.max_memory = 2 * INDEX_ANSWER_MAX;
	o.whole_timeout = 3600;
	o.head_timeout = 300;           /* large queries take their time */
	o.decode = true;
	o.connections = 1;
	rc = fetch_new(&s.fetch, &o, err);
	if (rc < 0)
		return rc;
	buf_init(&s.asked, BUF_NO_LIMIT);
	buf_init(&s.body, INDEX_ANSWER_MAX);
	snprintf(s.state_key, sizeof s.state_key, "index %016llx",
	         (unsigned long long)hash_bytes(s.url, strlen(s.url), 0));
	rc = read_all(&s, err);
	if (rc == 0)
		rc = remember(&s, "", err);
	buf_release(&s.asked);
	buf_release(&s.body);
	fetch_free(s.fetch);
	return rc;
}
