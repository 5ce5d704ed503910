/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c - see webhooks.h. */
#include "serve/webhooks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "cli/frame/command.h"
#include "serve/fleet/fleet.h"
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

struct feed_from webhooks_feed(const struct webhooks *w)
{
	return (struct feed_from){ .store = w->store, .fleet = w->serve->fleet };
}

void webhooks_forget(struct webhooks *w, size_t i)
{
	size_t behind = w->hooks.v.n - i - 1;

	hook_release(&w->hooks.v.v[i]);
	free(w->progress.v[i].next);
	memmove(w->hooks.v.v + i, w->hooks.v.v + i + 1, behind * sizeof *w->hooks.v.v);
	memmove(w->progress.v + i, w->progress.v + i + 1, behind * sizeof *w->progress.v);
	w->hooks.v.n--;
	w->progress.n--;
}

/* What is kept of it holds.  If another service was told to try it again, it is tried now. */
static void take_kept(struct hook *mine, struct hook *kept, struct hook_progress *p)
{
	struct hook was = *mine;
	bool moved = strcmp(was.cursor, kept->cursor);

	if (p->unkept && !moved)
		return;                 /* what became of it here could not be written */
	if (was.fails && !kept->fails)
		p->due = 0;
	p->look |= was.fails != kept->fails || moved;
	if (moved) {                    /* another delivers: the batch under way does not count */
		free(p->next);
		p->next = NULL;
	}
	*mine = *kept;
	*kept = was;                    /* to be released with the list */
}

int webhooks_sync(struct webhooks *w, struct err *err)
{
	struct hooks kept = { 0 };
	int rc = hooks_load(&kept, w->place, err);

	for (size_t i = w->hooks.v.n; rc == 0 && i-- > 0;) {
		size_t k = 0;

		while (k < kept.v.n && kept.v.v[k].id != w->hooks.v.v[i].id)
			k++;
		if (k == kept.v.n)
			webhooks_forget(w, i);
		else
			take_kept(&w->hooks.v.v[i], &kept.v.v[k], &w->progress.v[i]);
	}
	for (size_t k = 0; rc == 0 && k < kept.v.n; k++)
		if (webhooks_index(w, kept.v.v[k].id) == w->hooks.v.n) {
			vec_push(&w->hooks.v, kept.v.v[k]);
			vec_push(&w->progress, ((struct hook_progress){ .look = true }));
			kept.v.v[k] = (struct hook){ 0 };       /* it is ours now */
		}
	hooks_release(&kept);
	return rc;
}

/* ---- the thread ---- */

/* Keep what has become of it.  0: somebody else has removed it or moved its cursor. */
static int keep(struct webhooks *w, const struct hook *h, const char *was)
{
	struct err err = { 0 };
	int rc = hook_put(h, was, w->place, &err);

	w->progress.v[webhooks_index(w, h->id)].unkept = rc < 0;
	if (rc == 0)
		rc = webhooks_sync(w, &err);
	else if (rc > 0)
		return 1;
	if (rc < 0)
		log_warn("webhook %016" PRIx64 ": %s", h->id, err.text);
	return rc;
}

static void note_failure(struct webhooks *w, size_t i, const char *why, bool for_good)
{
	struct hook *h = &w->hooks.v.v[i];
	struct hook_progress *p = &w->progress.v[i];

	h->fails = for_good ? h->tries : h->fails + 1;
	log_plain_line(why, h->why, sizeof h->why);
	p->due = serve_uptime() + hook_pause(h->fails);
	p->look = true;
	if (hook_is_stopped(h))
		log_warn("webhook %016" PRIx64 " stops: %s", h->id, why);
	keep(w, h, h->cursor);
}

/* The batch was taken: only now the cursor moves on. */
static void note_success(struct webhooks *w, size_t i)
{
	struct hook *h = &w->hooks.v.v[i];
	struct hook_progress *p = &w->progress.v[i];
	struct hook moved = *h;
	size_t n = p->n;
	int rc;

	if (!p->next)
		return;
	moved.cursor = p->next;
	moved.fails = 0;
	moved.why[0] = '\0';
	rc = keep(w, &moved, h->cursor);
	if (rc < 0) {
		note_failure(w, i, "the store did not keep that it was delivered", false);
	} else if (rc > 0) {
		p->next = h->cursor;
		*h = moved;
		p->look = true;
		p->delivered += (int64_t)n;
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
			note_failure(w, i, r->why, false);
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
	struct feed_from from = webhooks_feed(w);
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
	free(p->next);
	p->next = mem_strdup(buf_text(&next));
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
	int rc;

	buf_init(&body, BUF_NO_LIMIT);
	p->look = false;
	rc = print_batch(w, h, p, &body, &err);
	if (rc < 0) {
		note_failure(w, i, err.text, rc == E_GONE);
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

/* A number that changes when something is written; 0: it is not known. */
static uint64_t written(struct webhooks *w)
{
	struct fleet_shard *list = NULL;
	uint64_t sum = 0;
	struct err err;
	size_t n = 0;

	if (w->store)
		return store_others(w->store, &sum, &err) == 0 ? sum : 0;
	if (serve_fleet_shards(w->serve->fleet, &list, &n, &err) < 0)
		return 0;
	sum = n + 1;
	for (size_t i = 0; i < n; i++)          /* each only rises */
		sum += (uint64_t)list[i].batch;
	free(list);
	return sum;
}

/* Returns the seconds until there is something to do. */
static double begin_due(struct webhooks *w)
{
	double now = serve_uptime(), wait = LOOK_EVERY;
	uint64_t others = w->hooks.v.n ? written(w) : 0;

	if (!others || others != w->others)
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

/* Over a fleet: is it our turn?  Not while the ledger does not say so. */
static bool may_deliver(struct webhooks *w)
{
	struct err err = { 0 };
	bool was = w->turn.ours;
	size_t n;
	int rc;

	if (w->store)
		return true;
	pthread_mutex_lock(&w->lock);
	rc = webhooks_sync(w, &err);
	n = w->hooks.v.n;
	if (!was)
		w->others = 0;          /* when the turn comes, look at all of them */
	pthread_mutex_unlock(&w->lock);
	return rc == 0 && n && turn_take(&w->turn, w->place.fleet, serve_uptime(), &err) > 0;
}

static void *work(void *arg)
{
	struct webhooks *w = arg;
	bool stop = false;

	log_hush(false);
	while (!stop) {
		bool may = may_deliver(w);
		struct post_result r;
		double wait;

		pthread_mutex_lock(&w->lock);
		wait = may ? begin_due(w) : LOOK_EVERY;
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
	int rc = s->fleet ? turn_begin(&w->turn, err) : serve_store(s, STORE_EXISTING, &w->store, err);

	w->place.store = w->store;
	w->place.fleet = s->fleet ? serve_fleet_ledger(s->fleet) : NULL;
	if (rc == 0)
		rc = hooks_load(&w->hooks, w->place, err);
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
	if (!w->store)
		turn_end(&w->turn, w->place.fleet);
	while (w->hooks.v.n)
		webhooks_forget(w, w->hooks.v.n - 1);
	hooks_release(&w->hooks);
	vec_release(&w->progress);
	store_close(w->store);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
