/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_routes.c - webhooks are made, looked at, tried again, removed; see webhooks.h. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "base/when.h"
#include "cli/frame/command.h"
#include "fetch/gate.h"
#include "serve/hook/post.h"
#include "serve/http/body.h"
#include "serve/webhooks.h"
#include "web/url/url.h"

static void print_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (t)
		when_iso(t, text);
	json_kstr(j, key, t ? text : NULL);
}

static void print_hook(struct json *j, const struct hook *h, const struct hook_progress *p)
{
	double left = p->due - serve_uptime();
	char id[17];

	snprintf(id, sizeof id, "%016" PRIx64, h->id);
	json_kstr(j, "id", id);
	json_kstr(j, "url", h->url);
	json_kstr(j, "state", hook_is_stopped(h) ? "stopped" : h->fails ? "retrying" : "active");
	print_time(j, "made", h->made);
	json_kstr(j, "cursor", *h->cursor ? h->cursor : NULL);
	json_kint(j, "tries", h->tries);
	json_kint(j, "fails", h->fails);
	json_kstr(j, "why", h->why[0] ? h->why : NULL);
	print_time(j, "next_try", h->fails && !hook_is_stopped(h) && left > 0 ?
	           (int64_t)time(NULL) + (int64_t)left : 0);
	json_kint(j, "delivered", p->delivered);
	print_time(j, "last_delivery", p->last);
}

void route_webhooks(struct call *c)
{
	struct webhooks *w = c->serve->webhooks;

	cli_json_schema(&c->j, "webhooks");
	json_key(&c->j, "webhooks");
	json_array(&c->j);
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->hooks.v.n; i++) {
		json_object(&c->j);
		print_hook(&c->j, &w->hooks.v.v[i], &w->progress.v[i]);
		json_end_object(&c->j);
	}
	pthread_mutex_unlock(&w->lock);
	json_end_array(&c->j);
	cli_json_end(&c->j);
	answer_json(c);
}

/* What the text of a URL shows; names are judged when they are connected to. */
static bool check_url(struct call *c, const char *url, struct buf *ret)
{
	struct sockaddr_storage address;
	struct url_parts parts;
	struct err err = { 0 };
	const char *why = NULL;
	char host[URL_HOST_MAX + 3];

	if (url_canonical(url, strlen(url), ret, &err) < 0) {
		http_problem(c->answer, 400, "url: %s", err.text);
		return false;
	}
	url_split(ret->data, ret->size, &parts);
	snprintf(host, sizeof host, "%.*s", (int)(parts.host_end - parts.host), ret->data + parts.host);
	if (gate_literal(host, &address))
		why = gate_refuses(c->serve->opts.gate, (struct sockaddr *)&address);
	if (why)
		http_problem(c->answer, 400, "url: %s is refused: %s; the setting allow-net opens networks "
		             "of your own", host, why);
	else if (gate_refuses_port(parts.port))
		http_problem(c->answer, 400, "url: port %u is not for HTTP", parts.port);
	return !c->answer->status;
}

static int keep_new(struct webhooks *w, struct hook *h, const char *since, struct err *err)
{
	struct feed *f;
	struct buf at;
	int rc = hook_draw(h, err);

	if (rc == 0 && w->hooks.v.n == HOOKS_MAX)
		rc = err_set(err, E_BUSY, "there are %d webhooks already: remove one first", HOOKS_MAX);
	if (rc == 0)
		rc = feed_new(&f, webhooks_feed(w), since, 0, err);
	if (rc < 0)
		return rc;
	buf_init(&at, BUF_NO_LIMIT);
	feed_cursor(f, &at);
	h->cursor = mem_strdup(buf_text(&at));
	buf_release(&at);
	feed_free(f);
	rc = hook_add(h, w->place, err);
	if (rc < 0)
		return rc;
	vec_push(&w->hooks.v, *h);
	vec_push(&w->progress, ((struct hook_progress){ .look = true }));
	return 0;
}

void route_webhook_add(struct call *c)
{
	struct webhooks *w = c->serve->webhooks;
	struct body *b = body_parse(c->request, c->answer, "url since tries");
	struct hook h = { .made = (int64_t)time(NULL) };
	const char *url, *since;
	struct err err = { 0 };
	struct buf canonical;
	int64_t tries;
	int rc;

	buf_init(&canonical, HOOK_URL_MAX);
	if (b && body_text(b, c->answer, "url", &url) && body_text(b, c->answer, "since", &since) &&
	    body_int(b, c->answer, "tries", HOOK_TRIES, 1, HOOK_TRIES_MAX, &tries)) {
		if (!url) {
			http_problem(c->answer, 400, "url: where to send changes, please");
		} else if (check_url(c, url, &canonical)) {
			h.url = mem_strdup(buf_text(&canonical));
			h.tries = (uint32_t)tries;
			pthread_mutex_lock(&w->lock);
			rc = keep_new(w, &h, since ? since : "now", &err);
			if (rc == 0) {
				cli_json_schema(&c->j, "webhook-added");
				print_hook(&c->j, &h, &w->progress.v[w->progress.n - 1]);
				json_kstr(&c->j, "secret", h.secret);
				cli_json_end(&c->j);
			}
			pthread_mutex_unlock(&w->lock);
			if (rc == 0) {
				post_wake(w->post);
				c->answer->status = 201;
				answer_json(c);
			} else {
				hook_release(&h);
				if (rc == E_BUSY)
					http_problem(c->answer, 409, "%s", err.text);
				else
					answer_error(c, rc, &err);
			}
		}
	}
	buf_release(&canonical);
	body_free(b);
}

/* Call it with the lock.  False: the answer is there. */
static bool find(struct call *c, size_t *ret)
{
	const struct webhooks *w = c->serve->webhooks;
	char *end;
	uint64_t id = strtoull(c->args[0], &end, 16);

	*ret = webhooks_index(w, id);
	if (*end || strlen(c->args[0]) != 16 || *ret == w->hooks.v.n)
		http_problem(c->answer, 404, "there is no such webhook; GET /v1/webhooks lists them");
	return !c->answer->status;
}

void route_webhook_again(struct call *c)
{
	struct webhooks *w = c->serve->webhooks;
	struct err err = { 0 };
	size_t i;
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	if (find(c, &i)) {
		struct hook *h = &w->hooks.v.v[i];

		h->fails = 0;
		w->progress.v[i].due = 0;
		w->progress.v[i].look = true;
		rc = hook_put(h, h->cursor, w->place, &err);
		if (rc == 0)            /* another service has delivered, or removed it */
			rc = webhooks_sync(w, &err);
		if (rc >= 0 && find(c, &i)) {
			cli_json_schema(&c->j, "webhook-again");
			print_hook(&c->j, &w->hooks.v.v[i], &w->progress.v[i]);
			cli_json_end(&c->j);
		}
	}
	pthread_mutex_unlock(&w->lock);
	post_wake(w->post);
	if (rc < 0)
		answer_error(c, rc, &err);
	else if (!c->answer->status)
		answer_json(c);
}

void route_webhook_remove(struct call *c)
{
	struct webhooks *w = c->serve->webhooks;
	struct err err = { 0 };
	size_t i;
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	if (find(c, &i) && (rc = hook_remove(w->hooks.v.v[i].id, w->place, &err)) == 0)
		webhooks_forget(w, i);
	pthread_mutex_unlock(&w->lock);
	if (rc < 0) {
		answer_error(c, rc, &err);
	} else if (!c->answer->status) {
		cli_json_schema(&c->j, "webhook-removed");
		json_kbool(&c->j, "removed", true);
		cli_json_end(&c->j);
		answer_json(c);
	}
}
