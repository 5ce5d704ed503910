/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.c - which connections are open, and which are cut because they take too long.
 *
 * libmicrohttpd closes a connection on which nothing moves.  A peer that sends a byte now and
 * then keeps it for ever; so each has a time by which its request must be whole, or its answer
 * taken.  When most places are taken the idle ones go first, the longest idle before others,
 * so that somebody who opens thousands and leaves them cannot keep others out.
 */
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "serve/http/http_inner.h"

#define IDLE_SAFE 1.0                   /* seconds; a connection so young is left alone */

double http_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void conn_notify(void *http, struct MHD_Connection *c, void **context,
                 enum MHD_ConnectionNotificationCode what)
{
	struct http *h = http;
	struct conn *k = *context;

	pthread_mutex_lock(&h->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

		k = mem_zalloc(1, sizeof *k);
		k->fd = info ? info->connect_fd : -1;
		k->since = http_clock();
		k->allowed = h->opts.seconds;
		k->next = h->conns;
		k->at = &h->conns;
		if (k->next)
			k->next->at = &k->next;
		h->conns = k;
		h->counts.connections++;
		h->counts.open++;
		k->beyond = h->counts.open > h->opts.connections;
		if (h->counts.open > h->opts.connections / 4 * 3)
			pthread_cond_signal(&h->wake);
		*context = k;
	} else if (k) {
		*k->at = k->next;
		if (k->next)
			k->next->at = k->at;
		h->counts.open--;
		*context = NULL;
		free(k);
	}
	pthread_mutex_unlock(&h->lock);
}

void conn_allow(struct http *h, struct conn *c, double seconds)
{
	if (!c)
		return;
	pthread_mutex_lock(&h->lock);
	c->since = http_clock();
	c->allowed = seconds;
	pthread_mutex_unlock(&h->lock);
}

static void cut(struct http *h, struct conn *c)
{
	c->cut = true;
	h->counts.cut++;
	if (c->fd >= 0)
		shutdown(c->fd, SHUT_RDWR);     /* libmicrohttpd sees the end and closes it */
}

static int by_age(const void *pa, const void *pb)
{
	const struct conn *a = *(struct conn *const *)pa, *b = *(struct conn *const *)pb;

	return a->since < b->since ? -1 : a->since > b->since;
}

/* Places are scarce: cut the longest idle until half of them are free. */
static void make_room(struct http *h, double now)
{
	VEC(struct conn *) idle = { 0 };
	unsigned want = h->counts.open > h->opts.connections / 2 ?
	                h->counts.open - h->opts.connections / 2 : 0;

	for (struct conn *c = h->conns; c; c = c->next) {
		if (c->cut)
			want -= want > 0;
		else if (c->allowed >= 0 && now - c->since > IDLE_SAFE)
			vec_push(&idle, c);
	}
	if (idle.n)
		qsort(idle.v, idle.n, sizeof *idle.v, by_age);
	for (size_t i = 0; i < idle.n && i < want; i++)
		cut(h, idle.v[i]);
	vec_release(&idle);
}

void *conn_cutter(void *http)
{
	struct http *h = http;

	pthread_mutex_lock(&h->lock);
	while (!h->stopping) {
		struct timespec t;
		double now;

		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_sec++;
		pthread_cond_timedwait(&h->wake, &h->lock, &t);
		now = http_clock();
		for (struct conn *c = h->conns; c; c = c->next)
			if (!c->cut && c->allowed >= 0 && now - c->since > c->allowed)
				cut(h, c);
		if (h->counts.open > h->opts.connections / 4 * 3)
			make_room(h, now);
		pthread_mutex_unlock(&h->lock);
		h->opts.tick(h->opts.arg);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}
