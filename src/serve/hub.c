/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c - see hub.h. */
#include "serve/hub.h"

#include <time.h>

#include "base/log.h"
#include "base/map.h"
#include "cli/frame/command.h"
#include "engine/book/last_cycle.h"
#include "serve/access.h"
#include "serve/control.h"
#include "serve/desk.h"
#include "serve/feed.h"
#include "serve/fleet/fleet.h"

#define LOOK_EVERY 0.5                  /* seconds */

struct listener {
	struct listener *next;
	struct http_stream *stream;
	bool changes_only;
	struct feed *feed;              /* what it has not seen yet */
	uint64_t reading;               /* the newest that was for it */
	uint64_t who;
};

struct hub {
	struct serve *serve;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	bool stop;
	struct store *store;            /* of the thread */
	uint64_t others;                /* store_others() when it was looked at last; 0: look at all */
	VEC(int64_t) batches;           /* over a fleet: the commits of each shard so far */
	struct listener *listeners;
	unsigned n_listeners;
	uint64_t reading;               /* of changes, for some of them; only the thread sets it */
	struct buf now;                 /* the document as it was sent last */
	double due;                     /* on the clock of serve_uptime(); 0: no schedule */
	double beat;
};

int64_t hub_due(struct hub *h)
{
	double due;

	pthread_mutex_lock(&h->lock);
	due = h->due;
	pthread_mutex_unlock(&h->lock);
	/* to the minute, so that it is the same when looked at again */
	return due > 0 ? ((int64_t)time(NULL) + (int64_t)(due - serve_uptime()) + 30) / 60 * 60 : 0;
}

unsigned hub_listeners(struct hub *h)
{
	unsigned n;

	pthread_mutex_lock(&h->lock);
	n = h->n_listeners;
	pthread_mutex_unlock(&h->lock);
	return n;
}

/* ---- the thread ---- */

static void drop(struct hub *h, struct listener **at)
{
	struct listener *l = *at;

	*at = l->next;
	h->n_listeners--;
	http_stream_end(l->stream);
	http_stream_release(l->stream);
	feed_free(l->feed);
	free(l);
}

static void tell_all(struct hub *h, const char *text, size_t size, bool change)
{
	for (struct listener **at = &h->listeners; *at;) {
		bool wanted = change || !(*at)->changes_only;

		if (wanted && !http_stream_add((*at)->stream, text, size))
			drop(h, at);
		else
			at = &(*at)->next;
	}
}

static void send_now(struct hub *h)
{
	struct buf text;
	struct json j;

	buf_init(&text, BUF_NO_LIMIT);
	json_to_buf(&j, &text);
	now_print(h->serve, &j);
	pthread_mutex_lock(&h->lock);
	if (text.size != h->now.size || memcmp(text.data, h->now.data, text.size)) {
		struct buf event;

		buf_clear(&h->now);
		buf_add(&h->now, text.data, text.size);
		buf_init(&event, BUF_NO_LIMIT);
		feed_event(&event, "now", NULL, text.data, text.size);
		tell_all(h, event.data, event.size, false);
		buf_release(&event);
	}
	pthread_mutex_unlock(&h->lock);
	buf_release(&text);
}

/* Who stands where the first does that had none of the readings since: one is for all of them.  NULL:
 * nobody is left. */
static struct feed *gather(struct hub *h, size_t shard, uint64_t since)
{
	struct feed *place = NULL;

	pthread_mutex_lock(&h->lock);
	h->reading++;
	for (struct listener **at = &h->listeners; *at;) {
		struct listener *l = *at;

		if (l->reading <= since && shard >= feed_shards(l->feed)) {
			drop(h, at);
			continue;
		}
		if (l->reading <= since && !place)
			place = feed_copy(l->feed);
		if (l->reading <= since && feed_same(place, l->feed))
			l->reading = h->reading;
		at = &l->next;
	}
	pthread_mutex_unlock(&h->lock);
	return place;
}

/* What was read, and the place behind it, to those for whom it was.  text NULL: it went wrong. */
static void hand_out(struct hub *h, const struct feed *place, const struct buf *text)
{
	pthread_mutex_lock(&h->lock);
	for (struct listener **at = &h->listeners; *at;) {
		struct listener *l = *at;
		bool mine = l->reading == h->reading;

		if (mine && (!text || (text->size && !http_stream_add(l->stream, text->data, text->size)))) {
			drop(h, at);
			continue;
		}
		if (mine)
			feed_move(l->feed, place);
		at = &l->next;
	}
	pthread_mutex_unlock(&h->lock);
}

/* Each listener has its own place in the changes; those at the end are many, and share.  The lock is
 * not held while the store is asked, which may be slow.  True: there is more for some. */
static bool send_changes_of(struct hub *h, size_t shard, struct store *s)
{
	uint64_t since = h->reading;
	bool more = false;

	for (struct feed *place; (place = gather(h, shard, since));) {
		struct err err;
		struct buf text;

		buf_init(&text, HTTP_STREAM_MAX / 4);
		hand_out(h, place, feed_events(place, shard, s, &text, &err) < 0 ? NULL : &text);
		more |= feed_has_more(place);
		buf_release(&text);
		feed_free(place);
	}
	return more;
}

/* Whoever listens anew sets it back meanwhile.  True: it was the same. */
static bool others_were(struct hub *h, uint64_t others)
{
	bool same;

	pthread_mutex_lock(&h->lock);
	same = h->others == others;
	h->others = others;
	pthread_mutex_unlock(&h->lock);
	return same;
}

/* Shards that were written to since. */
static void send_changes_of_fleet(struct hub *h)
{
	struct serve_fleet *fleet = h->serve->fleet;
	struct fleet_shard *list = NULL;
	struct err err;
	size_t n = 0;

	if (!hub_listeners(h) || serve_fleet_shards(fleet, &list, &n, &err) < 0)
		return;
	if (!others_were(h, 1) || h->batches.n != n) {
		h->batches.n = 0;
		for (size_t i = 0; i < n; i++)
			vec_push(&h->batches, -1);
	}
	for (size_t i = 0; i < n; i++) {
		struct store *s = NULL;

		if (h->batches.v[i] == list[i].batch ||
		    serve_fleet_store(fleet, list[i].shard, &s, &err) < 0)
			continue;
		h->batches.v[i] = send_changes_of(h, i, s) ? -1 : list[i].batch;
		store_close(s);
	}
	free(list);
}

static void send_changes(struct hub *h)
{
	struct err err;
	uint64_t others = 0;
	bool all = false;

	if (h->serve->fleet) {
		send_changes_of_fleet(h);
		return;
	}
	if (store_others(h->store, &others, &err) == 0)
		all = !others_were(h, others) || !others;
	if (all && send_changes_of(h, 0, h->store))
		others_were(h, 0);      /* look again */
}

static void begin_due(struct hub *h)
{
	struct serve *s = h->serve;
	bool due;

	pthread_mutex_lock(&h->lock);
	due = h->due > 0 && serve_uptime() >= h->due;
	while (due && serve_uptime() >= h->due)
		h->due += (double)s->opts.every;
	pthread_mutex_unlock(&h->lock);
	if (due) {
		struct err err = { 0 };

		if (control_begin_cycle(s, NULL, NULL, false, &err) < 0)
			log_warn("the cycle that is due does not begin: %s", err.text);
	}
}

static void *work(void *arg)
{
	struct hub *h = arg;

	log_hush(false);
	pthread_mutex_lock(&h->lock);
	while (!h->stop) {
		struct timespec t;
		double now;

		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += (long)(LOOK_EVERY * 1e9);
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&h->more, &h->lock, &t);
		now = serve_uptime();
		if (now - h->beat > HUB_BEAT) {
			h->beat = now;
			tell_all(h, ": here\n\n", 8, true);
		}
		pthread_mutex_unlock(&h->lock);
		begin_due(h);
		serve_tick(h->serve);
		send_now(h);
		send_changes(h);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

int hub_start(struct hub **ret, struct serve *s, struct err *err)
{
	struct hub *h = mem_zalloc(1, sizeof *h);
	int64_t wait = 0;
	int rc = s->fleet ? 0 : serve_store(s, STORE_EXISTING, &h->store, err);

	if (rc == 0 && h->store && s->opts.every > 0)
		rc = last_cycle_wait(h->store, s->opts.every, (int64_t)time(NULL), &wait, err);
	if (rc < 0) {
		store_close(h->store);
		free(h);
		return rc;
	}
	h->serve = s;
	h->beat = serve_uptime();
	h->due = s->opts.every > 0 ? serve_uptime() + (double)wait : 0;
	buf_init(&h->now, BUF_NO_LIMIT);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->more, NULL);
	*ret = s->hub = h;
	pthread_create(&h->thread, NULL, work, h);
	return 0;
}

void hub_stop(struct hub *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	while (h->listeners)
		drop(h, &h->listeners);
}

void hub_free(struct hub *h)
{
	if (!h)
		return;
	store_close(h->store);
	buf_release(&h->now);
	vec_release(&h->batches);
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* ---- listeners ---- */

/* Is there a place for one more of them?  If not, the answer is there. */
static bool has_place(const struct hub *h, uint64_t who, struct http_answer *a)
{
	unsigned n = 0;

	for (const struct listener *l = h->listeners; l; l = l->next)
		n += l->who == who;
	if (n >= HUB_LISTENERS_EACH)
		http_problem(a, 429, "%d of yours listen already", HUB_LISTENERS_EACH);
	else if (h->stop || h->n_listeners >= HUB_LISTENERS_MAX)
		http_problem(a, 503, "more than %d listen already", HUB_LISTENERS_MAX);
	else
		return true;
	http_answer_header(a, "Retry-After", "%d", HUB_BEAT);
	return false;
}

static struct listener *add_listener(struct hub *h, bool changes_only, struct feed *feed)
{
	struct listener *l = mem_zalloc(1, sizeof *l);

	l->stream = http_stream_new();
	l->changes_only = changes_only;
	l->feed = feed;
	l->next = h->listeners;
	h->listeners = l;
	h->n_listeners++;
	h->others = 0;                  /* it may have something to see */
	return l;
}

void hub_listen(struct call *c, bool changes_only, struct feed *feed)
{
	const char *who = c->who ? c->who : access_peer(c->serve, c->request);
	uint64_t id = hash_bytes(who, strlen(who), c->who != NULL);
	struct hub *h = c->serve->hub;
	struct listener *l = NULL;
	struct buf event;

	if (!strcmp(c->request->method, "HEAD")) {      /* it would hear nothing */
		feed_free(feed);
	} else {
		buf_init(&event, BUF_NO_LIMIT);
		pthread_mutex_lock(&h->lock);
		if (has_place(h, id, c->answer)) {
			l = add_listener(h, changes_only, feed);
			l->who = id;
			buf_str(&event, "retry: 3000\n\n");
			if (!changes_only && h->now.size)
				feed_event(&event, "now", NULL, h->now.data, h->now.size);
			http_stream_add(l->stream, event.data, event.size);
			c->answer->stream = http_stream_keep(l->stream);
		}
		pthread_mutex_unlock(&h->lock);
		buf_release(&event);
		if (!l) {
			feed_free(feed);
			return;
		}
	}
	c->answer->status = 200;
	c->answer->type = "text/event-stream";
}
