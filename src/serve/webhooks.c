/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c - see webhooks.h. */
#include "serve/webhooks.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "base/log.h"
#include "base/when.h"
#include "cli/frame/command.h"
#include "fetch/gate.h"
#include "serve/feed.h"
#include "serve/hook/hooks.h"
#include "serve/hook/post.h"
#include "serve/http/body.h"
#include "web/url/url.h"

#define LOOK_EVERY 0.5                  /* seconds */

/* How a webhook gets on, beside what is kept of it; in the same order. */
struct progress {
	bool look;                      /* there may be changes behind its cursor */
	bool sending;
	char next[CHANGE_CURSOR_SIZE];  /* behind the batch that is under way */
	size_t n;                       /* changes in it */
	double due;                     /* not before, on the clock of `uptime` */
	int64_t delivered, last;        /* changes, since the service runs; when */
};

struct webhooks {
	struct serve *serve;
	pthread_t thread;
	pthread_mutex_t lock;           /* of all but `post` */
	bool stop;
	struct store *store;
	uint64_t others;                /* store_others() when it was looked at last */
	struct hooks hooks;
	VEC(struct progress) progress;
	struct post *post;
};

static double uptime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t index_of(const struct webhooks *w, uint64_t id)
{
	size_t i = 0;

	while (i < w->hooks.v.n && w->hooks.v.v[i].id != id)
		i++;
	return i;
}

static bool is_stopped(const struct hook *h)
{
	return h->fails >= h->tries;
}

static void forget(struct webhooks *w, size_t i)
{
	size_t behind = w->hooks.v.n - i - 1;

	hook_release(&w->hooks.v.v[i]);
	memmove(w->hooks.v.v + i, w->hooks.v.v + i + 1, behind * sizeof *w->hooks.v.v);
	memmove(w->progress.v + i, w->progress.v + i + 1, behind * sizeof *w->progress.v);
	w->hooks.v.n--;
	w->progress.n--;
}

/* ---- the thread ---- */

static void note_failure(struct webhooks *w, size_t i, const char *why)
{
	struct hook *h = &w->hooks.v.v[i];
	struct progress *p = &w->progress.v[i];
	struct err err = { 0 };

	h->fails++;
	snprintf(h->why, sizeof h->why, "%s", why);
	p->due = uptime() + hook_pause(h->fails);
	p->look = true;
	if (is_stopped(h))
		log_warn("webhook %016" PRIx64 " stops after %u failures: %s", h->id, h->fails, why);
	if (hook_put(h, w->store, true, &err) < 0)
		log_warn("webhook %016" PRIx64 ": %s", h->id, err.text);
}

/* The batch was taken: only now the cursor moves on. */
static void note_success(struct webhooks *w, size_t i)
{
	struct hook *h = &w->hooks.v.v[i];
	struct progress *p = &w->progress.v[i];
	struct hook moved = *h;
	struct err err = { 0 };
	int rc;

	snprintf(moved.cursor, sizeof moved.cursor, "%s", p->next);
	moved.fails = 0;
	moved.why[0] = '\0';
	rc = hook_put(&moved, w->store, true, &err);
	if (rc == 0) {                  /* somebody else has removed it */
		forget(w, i);
	} else if (rc < 0) {
		note_failure(w, i, err.text);
	} else {
		*h = moved;
		p->look = true;
		p->delivered += (int64_t)p->n;
		p->last = (int64_t)time(NULL);
	}
}

static void settle(struct webhooks *w, const struct post_result *r)
{
	size_t i;

	pthread_mutex_lock(&w->lock);
	i = index_of(w, r->owner);
	if (i < w->hooks.v.n) {         /* else it was removed meanwhile */
		w->progress.v[i].sending = false;
		if (r->why[0])
			note_failure(w, i, r->why);
		else
			note_success(w, i);
	}
	pthread_mutex_unlock(&w->lock);
}

/* The changes behind the cursor, as the body of a request. */
static int print_batch(struct webhooks *w, const struct hook *h, struct progress *p,
                       struct buf *out, struct err *err)
{
	struct feed *f;
	struct json j;
	char id[17];
	int rc = feed_new(&f, w->store, *h->cursor ? h->cursor : NULL, 0, err);

	if (rc < 0)
		return rc;
	snprintf(id, sizeof id, "%016" PRIx64, h->id);
	json_to_buf(&j, out);
	cli_json_schema(&j, "webhook");
	json_kstr(&j, "webhook", id);
	json_kstr(&j, "since", *h->cursor ? h->cursor : NULL);
	json_key(&j, "changes");
	json_array(&j);
	rc = feed_list(f, w->store, WEBHOOK_BATCH, &j, &p->n, err);
	json_end_array(&j);
	change_cursor_write(feed_at(f), p->next);
	json_kstr(&j, "next", p->next);
	json_kbool(&j, "more", feed_has_more(f));
	cli_json_end(&j);
	feed_free(f);
	return rc < 0 ? rc : 0;
}

static void deliver(struct webhooks *w, size_t i)
{
	const struct hook *h = &w->hooks.v.v[i];
	struct progress *p = &w->progress.v[i];
	int64_t now = (int64_t)time(NULL);
	char headers[300], signature[65];
	struct err err = { 0 };
	struct buf body;

	buf_init(&body, BUF_NO_LIMIT);
	p->look = false;
	if (print_batch(w, h, p, &body, &err) < 0) {
		note_failure(w, i, err.text);
	} else if (p->n) {
		hook_sign(h, now, body.data, body.size, signature);
		snprintf(headers, sizeof headers, "Content-Type: application/json\n"
		         "Freshet-Webhook: %016" PRIx64 "\nFreshet-Timestamp: %lld\n"
		         "Freshet-Signature: %s\n", h->id, (long long)now, signature);
		p->sending = true;
		post_start(w->post, h->id, h->url, headers, body.data, body.size);
	}
	buf_release(&body);
}

/* Returns the seconds until there is something to do. */
static double begin_due(struct webhooks *w)
{
	double now = uptime(), wait = LOOK_EVERY;
	struct err err = { 0 };
	uint64_t others = 0;

	if (store_others(w->store, &others, &err) == 0 && others && others == w->others)
		others = 0;
	else
		for (size_t i = 0; i < w->progress.n; i++)
			w->progress.v[i].look = true;
	if (others)
		w->others = others;
	for (size_t i = 0; i < w->hooks.v.n; i++) {
		struct progress *p = &w->progress.v[i];

		if (p->sending || !p->look || is_stopped(&w->hooks.v.v[i]))
			continue;
		if (p->due <= now)
			deliver(w, i);
		else if (p->due - now < wait)
			wait = p->due - now;
	}
	return wait;
}

static void *work(void *arg)
{
	struct webhooks *w = arg;
	bool stop = false;

	log_hush(false);
	while (!stop) {
		struct post_result r;
		double wait;

		pthread_mutex_lock(&w->lock);
		wait = begin_due(w);
		stop = w->stop;
		pthread_mutex_unlock(&w->lock);
		if (!stop)
			post_wait(w->post, wait);
		while (!stop && post_finished(w->post, &r))
			settle(w, &r);
	}
	return NULL;
}

int webhooks_start(struct webhooks **ret, struct serve *s, struct err *err)
{
	struct webhooks *w = mem_zalloc(1, sizeof *w);
	int rc = serve_store(s, STORE_EXISTING, &w->store, err);

	if (rc == 0)
		rc = hooks_load(&w->hooks, w->store, err);
	if (rc == 0)
		rc = post_new(&w->post, s->opts.gate, err);
	if (rc < 0) {
		hooks_release(&w->hooks);
		store_close(w->store);
		free(w);
		return rc;
	}
	w->serve = s;
	for (size_t i = 0; i < w->hooks.v.n; i++)
		vec_push(&w->progress, ((struct progress){ .look = true }));
	pthread_mutex_init(&w->lock, NULL);
	pthread_create(&w->thread, NULL, work, w);
	*ret = w;
	return 0;
}

void webhooks_stop(struct webhooks *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_mutex_unlock(&w->lock);
	post_wake(w->post);
	pthread_join(w->thread, NULL);
	post_free(w->post);
	hooks_release(&w->hooks);
	vec_release(&w->progress);
	store_close(w->store);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* ---- routes ---- */

static void print_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (t)
		when_iso(t, text);
	json_kstr(j, key, t ? text : NULL);
}

static void print_hook(struct json *j, const struct hook *h, const struct progress *p)
{
	double left = p->due - uptime();
	char id[17];

	snprintf(id, sizeof id, "%016" PRIx64, h->id);
	json_kstr(j, "id", id);
	json_kstr(j, "url", h->url);
	json_kstr(j, "state", is_stopped(h) ? "stopped" : h->fails ? "retrying" : "active");
	print_time(j, "made", h->made);
	json_kstr(j, "cursor", *h->cursor ? h->cursor : NULL);
	json_kint(j, "tries", h->tries);
	json_kint(j, "fails", h->fails);
	json_kstr(j, "why", h->why[0] ? h->why : NULL);
	print_time(j, "next_try", h->fails && !is_stopped(h) && left > 0 ?
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
		http_problem(c->answer, 400, "url: %s is an address of a %s; the setting allow-net opens "
		             "networks of your own", host, why);
	else if (gate_refuses_port(parts.port))
		http_problem(c->answer, 400, "url: port %u is not for HTTP", parts.port);
	return !c->answer->status;
}

static int keep_new(struct webhooks *w, struct hook *h, const char *since, struct err *err)
{
	struct feed *f;
	int rc = hook_draw(h, err);

	if (rc == 0 && w->hooks.v.n == HOOKS_MAX)
		rc = err_set(err, E_BUSY, "there are %d webhooks already: remove one first", HOOKS_MAX);
	if (rc == 0)
		rc = feed_new(&f, w->store, since, 0, err);
	if (rc < 0)
		return rc;
	change_cursor_write(feed_at(f), h->cursor);
	feed_free(f);
	rc = hook_put(h, w->store, false, err);
	if (rc < 0)
		return rc;
	vec_push(&w->hooks.v, *h);
	vec_push(&w->progress, ((struct progress){ .look = true }));
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

	*ret = index_of(w, id);
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
		rc = hook_put(h, w->store, true, &err);
		cli_json_schema(&c->j, "webhook-again");
		print_hook(&c->j, h, &w->progress.v[i]);
		cli_json_end(&c->j);
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
	if (find(c, &i) && (rc = hook_remove(w->hooks.v.v[i].id, w->store, &err)) == 0)
		forget(w, i);
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
