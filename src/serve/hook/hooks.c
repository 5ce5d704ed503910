/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - see hooks.h. */
#include "serve/hook/hooks.h"

#include <inttypes.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>

#include "base/buf.h"

#define STATE_PREFIX "webhook."

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
	h->url = NULL;
}

void hooks_release(struct hooks *h)
{
	for (size_t i = 0; i < h->v.n; i++)
		hook_release(&h->v.v[i]);
	vec_release(&h->v);
}

static bool read_hook(struct hook *h, const char *id, char *text)
{
	char *line[5] = { NULL }, *end;
	long long made;

	for (int i = 0; i < 5; i++)
		line[i] = strsep(&text, "\n");
	h->id = strtoull(id, &end, 16);
	if (!h->id || *end || !line[4] || !*line[0] || strlen(line[0]) > HOOK_URL_MAX ||
	    strlen(line[1]) != 64 || strlen(line[2]) > HOOK_CURSOR_MAX ||
	    sscanf(line[3], "%lld %u %u", &made, &h->tries, &h->fails) != 3)
		return false;
	h->made = made;
	h->url = mem_strdup(line[0]);
	snprintf(h->secret, sizeof h->secret, "%s", line[1]);
	snprintf(h->cursor, sizeof h->cursor, "%s", line[2]);
	snprintf(h->why, sizeof h->why, "%s", line[4]);
	return true;
}

static int see_state(void *arg, const char *key, const char *value, struct err *err)
{
	struct hooks *hooks = arg;
	size_t prefix = strlen(STATE_PREFIX);
	struct hook h = { 0 };
	char *text;
	bool ok;

	if (strncmp(key, STATE_PREFIX, prefix))
		return 0;
	text = mem_strdup(value);
	ok = hooks->v.n < HOOKS_MAX && read_hook(&h, key + prefix, text);
	free(text);
	if (!ok)
		return err_set(err, E_STORE, "the webhook %.40s cannot be read", key);
	vec_push(&hooks->v, h);
	return 0;
}

int hooks_load(struct hooks *h, struct store *s, struct err *err)
{
	return store_states(s, STORE_OF_SHARD, see_state, h, err);
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

static int put(struct store *s, const char *key, const char *value, bool known, struct err *err)
{
	char *kept = NULL;
	int rc = store_begin(s, err), found = 1;

	if (rc < 0)
		return rc;
	if (known)
		rc = found = store_state_get(s, STORE_OF_SHARD, key, &kept, err);
	free(kept);
	if (rc >= 0 && found)
		rc = store_state_put(s, STORE_OF_SHARD, key, value, err);
	if (rc == 0 && found)
		rc = store_commit(s, err);
	else
		store_rollback(s);
	return rc < 0 ? rc : found;
}

int hook_put(const struct hook *h, struct store *s, bool known, struct err *err)
{
	struct buf text;
	char key[32];
	int rc;

	name_of(h->id, key);
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%s\n%s\n%s\n%lld %u %u\n%s", h->url, h->secret, h->cursor,
	           (long long)h->made, h->tries, h->fails, h->why);
	rc = put(s, key, buf_text(&text), known, err);
	buf_release(&text);
	return rc;
}

int hook_remove(uint64_t id, struct store *s, struct err *err)
{
	char key[32];
	int rc;

	name_of(id, key);
	rc = put(s, key, NULL, false, err);
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
