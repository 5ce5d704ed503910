/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - see tokens.h. */
#include "serve/token/tokens.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdio.h>

#include "base/buf.h"

#define STATE_KEY "tokens"

static const char *const rights[] = { "none", "read", "lease", "admin" };

const char *right_name(enum right r)
{
	return rights[r];
}

static void hex(const unsigned char *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void digest_of(const char *text, char out[65])
{
	unsigned char raw[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)text, strlen(text), raw);
	hex(raw, sizeof raw, out);
}

static int draw(char *out, struct err *err)
{
	unsigned char raw[TOKEN_BYTES];

	if (RAND_bytes(raw, sizeof raw) != 1)
		return err_set(err, E_FAIL, "the system has no random bytes");
	hex(raw, sizeof raw, out);
	return 0;
}

/* ---- in the store ---- */

static bool read_line(struct token *t, const char *line)
{
	char right[8];
	long long made;

	if (sscanf(line, "%60s %7s %64s %lld", t->name, right, t->digest, &made) != 4 ||
	    strlen(t->digest) != 64)
		return false;
	t->made = made;
	for (t->right = RIGHT_READ; t->right <= RIGHT_ADMIN; t->right++)
		if (!strcmp(right, rights[t->right]))
			return true;
	return false;
}

/* *ret: as it is stored, or NULL; the caller frees it. */
static int load(struct tokens *t, struct store *s, struct fleet *fleet, char **ret, struct err *err)
{
	char *text, *rest, *line;
	int rc = fleet ? fleet_state_get(fleet, STATE_KEY, ret, err) :
		store_state_get(s, STORE_OF_FLEET, STATE_KEY, ret, err);

	t->v.n = 0;
	if (rc <= 0)
		return rc;
	rc = 0;
	text = mem_strdup(*ret);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		struct token one;

		if (*line && (!read_line(&one, line) || t->v.n == TOKENS_MAX))
			rc = err_set(err, E_STORE, "the list of tokens cannot be read");
		else if (*line)
			vec_push(&t->v, one);
	}
	free(text);
	return rc;
}

int tokens_load(struct tokens *t, struct store *s, struct err *err)
{
	char *stored = NULL;
	int rc = load(t, s, NULL, &stored, err);

	free(stored);
	return rc;
}

void tokens_release(struct tokens *t)
{
	vec_release(&t->v);
}

/* 1: done; 0: another has changed them. */
static int save(const struct tokens *t, struct store *s, struct fleet *fleet, const char *old,
                struct err *err)
{
	struct buf text;
	const char *now;
	int rc;

	buf_init(&text, BUF_NO_LIMIT);
	for (size_t i = 0; i < t->v.n; i++)
		buf_printf(&text, "%s %s %s %lld\n", t->v.v[i].name, rights[t->v.v[i].right],
		           t->v.v[i].digest, (long long)t->v.v[i].made);
	now = text.size ? buf_text(&text) : NULL;
	if (fleet)
		rc = fleet_state_swap(fleet, STATE_KEY, old, now, err);
	else if ((rc = store_state_put(s, STORE_OF_FLEET, STATE_KEY, now, err)) == 0)
		rc = 1;
	buf_release(&text);
	return rc;
}

static size_t index_of(const struct tokens *t, const char *name)
{
	size_t i = 0;

	while (i < t->v.n && strcmp(t->v.v[i].name, name))
		i++;
	return i;
}

static int check_name(const char *name, struct err *err)
{
	size_t ok = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	if (!*name || name[ok] || ok > TOKEN_NAME_MAX)
		return err_set(err, E_USAGE, "the name of a token has 1 to %d letters, digits, dots, "
		               "hyphens and underscores", TOKEN_NAME_MAX);
	return 0;
}

/* 1: there is something to write; 0: all is as it should be. */
typedef int token_edit(struct tokens *t, const struct token *one, bool again, struct err *err);

static int edit_add(struct tokens *t, const struct token *one, bool again, struct err *err)
{
	size_t at = index_of(t, one->name);

	if (at < t->v.n && again && !strcmp(t->v.v[at].digest, one->digest))
		return 0;
	if (at < t->v.n)
		return err_set(err, E_USAGE, "there is a token %s already; `freshet token remove` takes it "
		               "away", one->name);
	if (t->v.n == TOKENS_MAX)
		return err_set(err, E_LIMIT, "there are %d tokens already", TOKENS_MAX);
	vec_push(&t->v, *one);
	return 1;
}

static int edit_remove(struct tokens *t, const struct token *one, bool again, struct err *err)
{
	size_t at = index_of(t, one->name);

	if (at == t->v.n)
		return again ? 0 : err_set(err, E_USAGE, "there is no token of this name; `freshet token list` "
		                           "shows them");
	for (t->v.n--; at < t->v.n; at++)
		t->v.v[at] = t->v.v[at + 1];
	return 1;
}

/* Of a fleet another command may write between our read and our write: then it begins anew. */
static int change(struct store *s, struct fleet *fleet, const struct token *one, token_edit *edit,
                  struct err *err)
{
	int rc = fleet ? 0 : store_begin(s, err), wrote = 0;

	if (rc < 0)
		return rc;
	for (bool again = false; rc == 0 && !wrote; again = true) {
		struct tokens t = { 0 };
		char *old = NULL;

		rc = load(&t, s, fleet, &old, err);
		if (rc == 0 && (rc = edit(&t, one, again, err)) == 0)
			wrote = 1;
		if (rc > 0 && (rc = wrote = save(&t, s, fleet, old, err)) > 0)
			rc = 0;
		tokens_release(&t);
		free(old);
	}
	if (rc == 0 && !fleet)
		rc = store_commit(s, err);
	else if (!fleet)
		store_rollback(s);
	return rc;
}

int tokens_add(struct store *s, struct fleet *fleet, const char *name, enum right right,
               int64_t now, char ret[TOKEN_TEXT], struct err *err)
{
	struct token one = { .right = right, .made = now };
	int rc = check_name(name, err);

	strcpy(ret, "freshet_");
	if (rc == 0)
		rc = draw(ret + 8, err);
	if (rc < 0)
		return rc;
	snprintf(one.name, sizeof one.name, "%s", name);
	digest_of(ret, one.digest);
	return change(s, fleet, &one, edit_add, err);
}

int tokens_remove(struct store *s, struct fleet *fleet, const char *name, struct err *err)
{
	struct token one = { 0 };
	int rc = check_name(name, err);

	if (rc < 0)
		return rc;
	snprintf(one.name, sizeof one.name, "%s", name);
	return change(s, fleet, &one, edit_remove, err);
}

const struct token *tokens_find(const struct tokens *t, const char *text)
{
	const struct token *found = NULL;
	char digest[65];

	digest_of(text, digest);
	for (size_t i = 0; i < t->v.n; i++)
		if (!CRYPTO_memcmp(t->v.v[i].digest, digest, 64))
			found = &t->v.v[i];
	return found;
}

/* ---- sessions ---- */

struct session { char digest[65], token[65]; int64_t used; };

struct sessions {
	pthread_mutex_t lock;
	VEC(struct session) v;
};

struct sessions *sessions_new(void)
{
	struct sessions *s = mem_zalloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	vec_release(&s->v);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Those that are over, and if there are too many the one that was not used longest. */
static void forget_old(struct sessions *s, int64_t now)
{
	size_t n = 0, oldest = 0;

	for (size_t i = 0; i < s->v.n; i++)
		if (now - s->v.v[i].used <= SESSION_SECONDS)
			s->v.v[n++] = s->v.v[i];
	s->v.n = n;
	for (size_t i = 0; i < s->v.n; i++)
		if (s->v.v[i].used < s->v.v[oldest].used)
			oldest = i;
	if (s->v.n >= SESSIONS_MAX)
		s->v.v[oldest] = s->v.v[--s->v.n];
}

void sessions_begin(struct sessions *s, const struct token *t, int64_t now, char ret[65])
{
	struct session one = { .used = now };

	if (draw(ret, NULL) < 0)
		abort();
	memcpy(one.token, t->digest, sizeof one.token);
	digest_of(ret, one.digest);
	pthread_mutex_lock(&s->lock);
	forget_old(s, now);
	vec_push(&s->v, one);
	pthread_mutex_unlock(&s->lock);
}

static struct session *find(struct sessions *s, const char *text)
{
	struct session *found = NULL;
	char digest[65];

	digest_of(text, digest);
	for (size_t i = 0; i < s->v.n; i++)
		if (!CRYPTO_memcmp(s->v.v[i].digest, digest, 64))
			found = &s->v.v[i];
	return found;
}

bool sessions_find(struct sessions *s, const char *text, int64_t now, char ret_digest[65])
{
	struct session *found;

	pthread_mutex_lock(&s->lock);
	found = find(s, text);
	if (found && now - found->used > SESSION_SECONDS)
		found = NULL;
	if (found) {
		found->used = now;
		memcpy(ret_digest, found->token, 65);
	}
	pthread_mutex_unlock(&s->lock);
	return found != NULL;
}

void sessions_end(struct sessions *s, const char *text)
{
	struct session *found;

	pthread_mutex_lock(&s->lock);
	found = find(s, text);
	if (found)
		*found = s->v.v[--s->v.n];
	pthread_mutex_unlock(&s->lock);
}
