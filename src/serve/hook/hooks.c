/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - see hooks.h. */
#include "serve/hook/hooks.h"

#include <inttypes.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>

#include "base/buf.h"

#define STATE_PREFIX "webhook."
#define STATE_OF_FLEET "webhooks"
#define LINES 5                         /* of one, without its ID */

static void hex(const unsigned char *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void name_of(uint64_t id, char ret[32])
{
	snprintf(ret, 32, STATE_PREFIX "%016" PRIx64, id);
}

void hook_release(struct hook *h)
{
	free(h->url);
	free(h->cursor);
	h->url = h->cursor = NULL;
}

void hooks_release(struct hooks *h)
{
	for (size_t i = 0; i < h->v.n; i++)
		hook_release(&h->v.v[i]);
	vec_release(&h->v);
}

/* ---- as text ---- */

static bool read_hook(struct hook *h, const char *id, char *const line[LINES])
{
	char *end;
	long long made;

	h->id = strtoull(id, &end, 16);
	if (!h->id || *end || !line[LINES - 1] || !*line[0] || strlen(line[0]) > HOOK_URL_MAX ||
	    strlen(line[1]) != 64 || sscanf(line[3], "%lld %u %u", &made, &h->tries, &h->fails) != 3)
		return false;
	h->made = made;
	h->url = mem_strdup(line[0]);
	snprintf(h->secret, sizeof h->secret, "%s", line[1]);
	h->cursor = mem_strdup(line[2]);
	snprintf(h->why, sizeof h->why, "%s", line[4]);
	return true;
}

static void write_hook(const struct hook *h, struct buf *out)
{
	buf_printf(out, "%s\n%s\n%s\n%lld %u %u\n%s", h->url, h->secret, h->cursor,
	           (long long)h->made, h->tries, h->fails, h->why);
}

/* Lines that begin at *rest; false: there is none more. */
static bool take_lines(char **rest, char *line[], int n)
{
	for (int i = 0; i < n; i++)
		line[i] = strsep(rest, "\n");
	return line[n - 1];
}

static int see_state(void *arg, const char *key, const char *value, struct err *err)
{
	struct hooks *hooks = arg;
	size_t prefix = strlen(STATE_PREFIX);
	struct hook h = { 0 };
	char *line[LINES], *text, *rest;
	bool ok;

	if (strncmp(key, STATE_PREFIX, prefix))
		return 0;
	text = rest = mem_strdup(value);
	ok = hooks->v.n < HOOKS_MAX && take_lines(&rest, line, LINES) &&
	     read_hook(&h, key + prefix, line);
	free(text);
	if (!ok)
		return err_set(err, E_STORE, "the webhook %.40s cannot be read", key);
	vec_push(&hooks->v, h);
	return 0;
}

/* *ret: as it is stored, or NULL; the caller frees it. */
static int load_fleet(struct hooks *h, struct fleet *fleet, char **ret, struct err *err)
{
	char *line[LINES + 1], *text, *rest;
	int rc = fleet_state_get(fleet, STATE_OF_FLEET, ret, err);

	if (rc <= 0)
		return rc;
	rc = 0;
	text = rest = mem_strdup(*ret);
	while (rc == 0 && take_lines(&rest, line, LINES + 1)) {
		struct hook one = { 0 };

		if (h->v.n == HOOKS_MAX || !read_hook(&one, line[0], line + 1))
			rc = err_set(err, E_STORE, "the webhooks of the fleet cannot be read");
		else
			vec_push(&h->v, one);
	}
	free(text);
	return rc;
}

int hooks_load(struct hooks *h, struct hooks_place at, struct err *err)
{
	char *stored = NULL;
	int rc;

	if (!at.fleet)
		return store_states(at.store, STORE_OF_SHARD, see_state, h, err);
	rc = load_fleet(h, at.fleet, &stored, err);
	free(stored);
	return rc;
}

int hook_draw(struct hook *h, struct err *err)
{
	unsigned char raw[32];

	if (RAND_bytes((unsigned char *)&h->id, sizeof h->id) != 1 ||
	    RAND_bytes(raw, sizeof raw) != 1)
		return err_set(err, E_FAIL, "the system has no random bytes");
	h->id += !h->id;
	hex(raw, sizeof raw, h->secret);
	return 0;
}

/* ---- one is changed ---- */

/* What becomes of the one with this ID: `now`, or nothing.  was: its cursor; NULL: whatever it is. */
struct edit { uint64_t id; const struct hook *now; const char *was; bool adds; };

static size_t index_of(const struct hooks *h, uint64_t id)
{
	size_t i = 0;

	while (i < h->v.n && h->v.v[i].id != id)
		i++;
	return i;
}

/* 1: it is to be done; 0: it is not there, or has another cursor. */
static int check(const struct hooks *h, const struct edit *e, struct err *err)
{
	size_t i = index_of(h, e->id);

	if (e->adds && i == h->v.n && h->v.n == HOOKS_MAX)
		return err_set(err, E_BUSY, "there are %d webhooks already: remove one first", HOOKS_MAX);
	return e->adds || (i < h->v.n && (!e->was || !strcmp(e->was, h->v.v[i].cursor)));
}

/* Of a store only its own row is read: the caller knows how many there are. */
static int edit_store(const struct edit *e, struct store *s, struct err *err)
{
	struct hooks one = { 0 };
	char *kept = NULL, key[32];
	struct buf text;
	int rc = store_begin(s, err), found = 0;

	if (rc < 0)
		return rc;
	name_of(e->id, key);
	buf_init(&text, BUF_NO_LIMIT);
	if (e->now)
		write_hook(e->now, &text);
	rc = store_state_get(s, STORE_OF_SHARD, key, &kept, err);
	if (rc > 0)
		rc = see_state(&one, key, kept, err);
	if (rc == 0)
		rc = found = check(&one, e, err);
	if (rc > 0)
		rc = store_state_put(s, STORE_OF_SHARD, key, e->now ? buf_text(&text) : NULL, err);
	if (rc == 0 && found)
		rc = store_commit(s, err);
	else
		store_rollback(s);
	hooks_release(&one);
	buf_release(&text);
	free(kept);
	return rc < 0 ? rc : found;
}

static void write_all(const struct hooks *h, const struct edit *e, struct buf *out)
{
	bool there = false;

	for (size_t i = 0; i < h->v.n + 1; i++) {
		bool here = i < h->v.n && h->v.v[i].id == e->id, last = i == h->v.n;
		const struct hook *one = here || (last && !there) ? e->now : last ? NULL : &h->v.v[i];

		there |= here;
		if (!one)
			continue;
		buf_printf(out, "%s%016" PRIx64 "\n", out->size ? "\n" : "", one->id);
		write_hook(one, out);
	}
}

static int edit_fleet(const struct edit *e, struct fleet *fleet, struct err *err)
{
	int rc = 1;

	for (bool done = false; rc > 0 && !done;) {     /* until nobody writes between */
		struct hooks all = { 0 };
		struct buf text;
		char *stored = NULL;

		buf_init(&text, BUF_NO_LIMIT);
		rc = load_fleet(&all, fleet, &stored, err);
		if (rc == 0 && (rc = check(&all, e, err)) > 0) {
			write_all(&all, e, &text);
			rc = fleet_state_swap(fleet, STATE_OF_FLEET, stored, text.size ? buf_text(&text) : NULL,
			                      err);
			done = rc > 0;
			rc = rc == 0 ? 1 : rc;
		}
		hooks_release(&all);
		buf_release(&text);
		free(stored);
	}
	return rc;
}

static int edit(const struct edit *e, struct hooks_place at, struct err *err)
{
	return at.fleet ? edit_fleet(e, at.fleet, err) : edit_store(e, at.store, err);
}

int hook_add(const struct hook *h, struct hooks_place at, struct err *err)
{
	return edit(&(struct edit){ .id = h->id, .now = h, .adds = true }, at, err);
}

int hook_put(const struct hook *h, const char *was, struct hooks_place at, struct err *err)
{
	return edit(&(struct edit){ .id = h->id, .now = h, .was = was }, at, err);
}

int hook_remove(uint64_t id, struct hooks_place at, struct err *err)
{
	int rc = edit(&(struct edit){ .id = id }, at, err);

	return rc < 0 ? rc : 0;
}

double hook_pause(uint32_t fails)
{
	double pause = 1;

	for (uint32_t i = 1; i < fails && pause < HOOK_WAIT_MAX; i++)
		pause *= 2;
	return pause < HOOK_WAIT_MAX ? pause : HOOK_WAIT_MAX;
}

void hook_sign(const struct hook *h, int64_t time, const char *body, size_t size, char ret[65])
{
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf text;

	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%lld.", (long long)time);
	buf_add(&text, body, size);
	if (!HMAC(EVP_sha256(), h->secret, (int)strlen(h->secret),
	          (const unsigned char *)text.data, text.size, raw, &n) || n != 32)
		abort();
	hex(raw, n, ret);
	buf_release(&text);
}
