/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - see access.h. */
#include "serve/access.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/log.h"
#include "cli/frame/command.h"
#include "serve/http/body.h"

struct access {
	struct serve *serve;
	struct store *store;            /* of access_renew() */
	pthread_mutex_t lock;
	struct tokens tokens;
	struct sessions *sessions;
};

int access_new(struct access **ret, struct serve *s, struct err *err)
{
	struct access *a = mem_zalloc(1, sizeof *a);
	int rc;

	a->serve = s;
	a->sessions = sessions_new();
	pthread_mutex_init(&a->lock, NULL);
	rc = serve_store(s, STORE_EXISTING, &a->store, err);
	if (rc == 0)
		rc = tokens_load(&a->tokens, a->store, err);
	if (rc < 0)
		access_free(a);
	else
		*ret = a;
	return rc;
}

void access_free(struct access *a)
{
	if (!a)
		return;
	store_close(a->store);
	tokens_release(&a->tokens);
	sessions_free(a->sessions);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void access_renew(struct access *a)
{
	struct tokens now = { 0 };
	struct err err;

	/* if they cannot be read, those that were known go on: nobody gets in by that */
	if (tokens_load(&now, a->store, &err) == 0) {
		pthread_mutex_lock(&a->lock);
		struct tokens old = a->tokens;
		a->tokens = now;
		pthread_mutex_unlock(&a->lock);
		now = old;
	}
	tokens_release(&now);
}

bool access_has_tokens(struct access *a)
{
	bool any;

	pthread_mutex_lock(&a->lock);
	any = a->tokens.v.n > 0;
	pthread_mutex_unlock(&a->lock);
	return any;
}

/* Scripts of a page of ours can read and change; those of others cannot make a browser send
 * the cookie (SameSite), and if one does, Origin or Sec-Fetch-Site gives it away. */
static bool cookie_counts(const struct http_request *r)
{
	const char *site = http_header(r, "Sec-Fetch-Site");

	if (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD"))
		return true;
	return http_header(r, "Origin") || (site && !strcasecmp(site, "same-origin"));
}

static const struct token *find(struct access *a, struct http_request *r)
{
	const char *header = http_header(r, "Authorization"), *cookie;
	char digest[65];

	if (header && !strncasecmp(header, "Bearer ", 7))
		return tokens_find(&a->tokens, header + 7 + strspn(header + 7, " "));
	cookie = http_cookie(r, ACCESS_COOKIE);
	if (!cookie || !cookie_counts(r) ||
	    !sessions_find(a->sessions, cookie, (int64_t)time(NULL), digest))
		return NULL;
	for (size_t i = 0; i < a->tokens.v.n; i++)
		if (!strcmp(a->tokens.v.v[i].digest, digest))
			return &a->tokens.v.v[i];
	return NULL;
}

enum right access_judge(struct access *a, struct http_request *r, const char **ret_who,
                        struct http_answer *answer)
{
	enum right right = RIGHT_NONE;
	const struct token *t;
	bool any;

	pthread_mutex_lock(&a->lock);
	any = a->tokens.v.n > 0;
	t = find(a, r);
	if (t) {
		right = t->right;
		*ret_who = arena_strndup(&r->keep, t->name, strlen(t->name));
	}
	pthread_mutex_unlock(&a->lock);
	if (t || (!any && a->serve->loopback && !a->serve->opts.behind_proxy))
		return t ? right : RIGHT_ADMIN;
	http_problem(answer, 401, http_header(r, "Authorization") ? "the token is none of ours" :
	             "a token is needed: Authorization: Bearer TOKEN (`freshet token add` makes one)");
	http_answer_header(answer, "WWW-Authenticate", "Bearer realm=\"freshet\"");
	return RIGHT_NONE;
}

const char *access_peer(const struct serve *s, struct http_request *r)
{
	/* some proxies add to the header that came, others add a header */
	const char *forwarded = s->opts.behind_proxy ? http_header_last(r, "X-Forwarded-For") : NULL;
	const char *last = forwarded ? strrchr(forwarded, ',') : NULL;

	if (!forwarded)
		return r->peer;
	last = last ? last + 1 : forwarded;     /* the proxy's own word; the rest is hearsay */
	return last + strspn(last, " ");
}

/* ---- routes ---- */

void route_session(struct call *c)
{
	struct http_answer none = { 0 };
	const char *who = NULL;
	enum right right;

	buf_init(&none.body, BUF_NO_LIMIT);
	right = access_judge(c->serve->access, c->request, &who, &none);
	http_answer_clear(&none);
	buf_release(&none.body);
	cli_json_schema(&c->j, "session");
	json_kbool(&c->j, "token_needed", right == RIGHT_NONE);
	json_kstr(&c->j, "name", who);
	json_kstr(&c->j, "right", right_name(right));
	cli_json_end(&c->j);
	answer_json(c);
}

static void set_cookie(struct call *c, const char *value, int seconds)
{
	const struct serve *s = c->serve;

	http_answer_header(c->answer, "Set-Cookie", ACCESS_COOKIE "=%s; Path=/; Max-Age=%d; HttpOnly; "
	                   "SameSite=Strict%s", value, seconds,
	                   s->tls || s->opts.behind_proxy ? "; Secure" : "");
}

void route_session_begin(struct call *c)
{
	struct access *a = c->serve->access;
	struct body *b = body_parse(c->request, c->answer, "token");
	const char *text = NULL;
	struct token found = { 0 };
	const struct token *t;
	char session[65];

	if (!b || !body_text(b, c->answer, "token", &text)) {
		body_free(b);
		return;
	}
	pthread_mutex_lock(&a->lock);
	t = text ? tokens_find(&a->tokens, text) : NULL;
	if (t)
		found = *t;
	pthread_mutex_unlock(&a->lock);
	body_free(b);
	if (!t) {
		http_problem(c->answer, 401, "the token is none of ours");
		return;
	}
	sessions_begin(a->sessions, &found, (int64_t)time(NULL), session);
	set_cookie(c, session, SESSION_SECONDS);
	cli_json_schema(&c->j, "session");
	json_kbool(&c->j, "token_needed", false);
	json_kstr(&c->j, "name", found.name);
	json_kstr(&c->j, "right", right_name(found.right));
	cli_json_end(&c->j);
	answer_json(c);
}

void route_session_end(struct call *c)
{
	const char *cookie = http_cookie(c->request, ACCESS_COOKIE);

	if (cookie)
		sessions_end(c->serve->access->sessions, cookie);
	set_cookie(c, "", 0);
	cli_json_schema(&c->j, "session");
	json_kbool(&c->j, "token_needed", true);
	cli_json_end(&c->j);
	answer_json(c);
}
