/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c - see hub.h. */
#include "serve/hub.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "base/when.h"
#include "cli/frame/command.h"
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
	struct buf now;                 /* the document as it was sent last */
	double due;                     /* on the clock of serve_uptime(); 0: no schedule */
	double beat;
};

/* ---- what goes on ---- */

static bool print_cycle_job(void *arg, const struct job *job)
{
	struct json *j = arg;
	char t[21];

	if (job->kind != JOB_CYCLE)
		return false;
	json_kstr(j, "state", job_state_name(job->state));
	when_iso(job->began, t);
	json_kstr(j, "began", t);
	if (job->ended) {
		when_iso(job->ended, t);
		json_kstr(j, "ended", t);
		json_kint(j, "exit", job->status);
	}
	if (job->state == JOB_FAILED) {
		size_t n = job->said.size < 1000 ? job->said.size : 1000;

		json_key(j, "said");
		json_strn(j, job->said.data ? job->said.data + job->said.size - n : "", n);
	}
	json_key(j, "doing");
	json_raw(j, job->now.size ? buf_text(&job->now) : "null");
	json_key(j, "result");
	json_raw(j, job->output.size && job->state == JOB_DONE ? buf_text(&job->output) : "null");
	return true;
}

/* The members that change only when something happens: the time is not among them. */
static void print_now(struct serve *s, struct hub *h, struct json *j)
{
	int64_t due = hub_due(h);
	char t[21];

	cli_json_schema(j, "now");
	when_iso(s->started, t);
	json_kstr(j, "started", t);
	json_kstr(j, "version", FRESHET_VERSION);
	json_kbool(j, "fleet", s->fleet != NULL);
	json_kbool(j, "running", jobs_running(s->jobs, JOB_CYCLE));
	json_kint(j, "every", s->opts.every);
	if (due)
		when_iso(due, t);
	json_kstr(j, "next_cycle", due ? t : NULL);
	json_key(j, "cycle");
	json_object(j);
	jobs_each(s->jobs, print_cycle_job, j);
	json_end_object(j);
	desk_print(s->desk, j);
	json_kint(j, "listeners", hub_listeners(h));
	cli_json_end(j);
}

void route_now(struct call *c)
{
	print_now(c->serve, c->serve->hub, &c->j);
	answer_json(c);
}

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
	print_now(h->serve, h, &j);
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

/* Each listener has its own place in the changes; those at the end are many, and share.  True: there
 * is more for some. */
static bool send_changes_of(struct hub *h, size_t shard, struct store *s)
{
	struct err err;
	bool more = false;

	pthread_mutex_lock(&h->lock);
	for (struct listener **at = &h->listeners; *at;) {
		struct listener *l = *at;
		struct buf text;
		bool ok;

		buf_init(&text, HTTP_STREAM_MAX / 4);
		ok = shard < feed_shards(l->feed) && feed_events(l->feed, shard, s, &text, &err) >= 0 &&
		     (!text.size || http_stream_add(l->stream, text.data, text.size));
		buf_release(&text);
		more |= feed_has_more(l->feed);
		if (ok)
			at = &l->next;
		else
			drop(h, at);
	}
	pthread_mutex_unlock(&h->lock);
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
	int rc = s->fleet ? 0 : serve_store(s, STORE_EXISTING, &h->store, err);

	if (rc < 0) {
		free(h);
		return rc;
	}
	h->serve = s;
	h->beat = serve_uptime();
	h->due = s->opts.every > 0 ? serve_uptime() : 0;
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

void hub_listen(struct call *c, bool changes_only, struct feed *feed)
{
	struct hub *h = c->serve->hub;
	struct listener *l = NULL;
	struct buf event;

	c->answer->status = 200;
	c->answer->type = "text/event-stream";
	if (!strcmp(c->request->method, "HEAD")) {      /* it would hear nothing */
		feed_free(feed);
		return;
	}
	buf_init(&event, BUF_NO_LIMIT);
	pthread_mutex_lock(&h->lock);
	if (!h->stop && h->n_listeners < HUB_LISTENERS_MAX) {
		l = mem_zalloc(1, sizeof *l);
		l->stream = http_stream_new();
		l->changes_only = changes_only;
		l->feed = feed;
		l->next = h->listeners;
		h->listeners = l;
		h->n_listeners++;
		buf_str(&event, "retry: 3000\n\n");
		if (!changes_only && h->now.size)
			feed_event(&event, "now", NULL, h->now.data, h->now.size);
		http_stream_add(l->stream, event.data, event.size);
		h->others = 0;                  /* it may have something to see */
		c->answer->stream = http_stream_keep(l->stream);
	}
	pthread_mutex_unlock(&h->lock);
	buf_release(&event);
	if (!l) {
		feed_free(feed);
		http_problem(c->answer, 503, "more than %d listen already", HUB_LISTENERS_MAX);
	}
}
