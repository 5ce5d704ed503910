/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c - see webhooks.h. */
#include "serve/webhooks.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "cli/frame/command.h"
#include "serve/hook/post.h"

#define LOOK_EVERY 0.5                  /* seconds */

size_t webhooks_index(const struct webhooks *w, uint64_t id)
{
	size_t i = 0;

	while (i < w->hooks.v.n && w->hooks.v.v[i].id != id)
		i++;
	return i;
}

bool hook_is_stopped(const struct hook *h)
{
	return h->fails >= h->tries;
}

void webhooks_forget(struct webhooks *w, size_t i)
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
	struct hook_progress *p = &w->progress.v[i];
	struct err err = { 0 };

	h->fails++;
	snprintf(h->why, sizeof h->why, "%s", why);
	p->due = serve_uptime() + hook_pause(h->fails);
	p->look = true;
	if (hook_is_stopped(h))
		log_warn("webhook %016" PRIx64 " stops after %u failures: %s", h->id, h->fails, why);
	if (hook_put(h, w->store, true, &err) < 0)
		log_warn("webhook %016" PRIx64 ": %s", h->id, err.text);
}

/* The batch was taken: only now the cursor moves on. */
static void note_success(struct webhooks *w, size_t i)
{
	struct hook *h = &w->hooks.v.v[i];
	struct hook_progress *p = &w->progress.v[i];
	struct hook moved = *h;
	struct err err = { 0 };
	int rc;

	snprintf(moved.cursor, sizeof moved.cursor, "%s", p->next);
	moved.fails = 0;
	moved.why[0] = '\0';
	rc = hook_put(&moved, w->store, true, &err);
	if (rc == 0) {                  /* somebody else has removed it */
		webhooks_forget(w, i);
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
	i = webhooks_index(w, r->owner);
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
static int print_batch(struct webhooks *w, const struct hook *h, struct hook_progress *p,
                       struct buf *out, struct err *err)
{
	struct feed *f;
	struct json j;
	char id[17];
	struct feed_from from = { .store = w->store };
	struct buf next;
	int rc = feed_new(&f, from, *h->cursor ? h->cursor : NULL, 0, err);

	if (rc < 0)
		return rc;
	snprintf(id, sizeof id, "%016" PRIx64, h->id);
	json_to_buf(&j, out);
	cli_json_schema(&j, "webhook");
	json_kstr(&j, "webhook", id);
	json_kstr(&j, "since", *h->cursor ? h->cursor : NULL);
	json_key(&j, "changes");
	json_array(&j);
	rc = feed_list(f, from, WEBHOOK_BATCH, &j, &p->n, err);
	json_end_array(&j);
	buf_init(&next, BUF_NO_LIMIT);
	feed_cursor(f, &next);
	snprintf(p->next, sizeof p->next, "%s", buf_text(&next));
	buf_release(&next);
	json_kstr(&j, "next", p->next);
	json_kbool(&j, "more", feed_has_more(f));
	cli_json_end(&j);
	feed_free(f);
	return rc < 0 ? rc : 0;
}

static void deliver(struct webhooks *w, size_t i)
{
	const struct hook *h = &w->hooks.v.v[i];
	struct hook_progress *p = &w->progress.v[i];
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
	double now = serve_uptime(), wait = LOOK_EVERY;
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
		struct hook_progress *p = &w->progress.v[i];

		if (p->sending || !p->look || hook_is_stopped(&w->hooks.v.v[i]))
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
		vec_push(&w->progress, ((struct hook_progress){ .look = true }));
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
