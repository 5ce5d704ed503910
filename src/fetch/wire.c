/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - the threads of the wire, and the queues between them and the caller.
 *
 * libcurl needs more processor time than the rest of fetching.  So it runs in several
 * lanes. A lane has its own thread, multi handle and epoll queue.  All requests to one
 * address (or proxy) use the same lane: their connections are there, and are counted
 * there.  The caller alone decides which host may be asked.
 *
 * The caller puts orders and used transfers into a lane's box; the lane puts finished
 * transfers into the caller's box, many at a time.  A box has a lock, held for a few
 * instructions, and a descriptor that is written only if the other side sleeps.  So under
 * load no thread is woken.  A lane wakes the caller when no more answers arrive, not for
 * each answer: there are fewer processors than threads.
 *
 * With limit_rate there is one lane, which counts what it receives.
 *
 * Memory: each lane may use its share of max_memory (wire_curl.c) plus one body.
 */
#include <curl/curl.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/map.h"
#include "base/thread/pool.h"
#include "fetch/wire_inner.h"

#define LANES_MAX 4
#define LONG_WAIT 3600

struct order { struct wire_request request; double now; char pin[GATE_TEXT]; };

struct station {                        /* a lane and its box */
	struct wire *wire;
	struct lane *lane;
	pthread_t thread;
	pthread_mutex_t lock;
	int wake;
	VEC(struct order) orders;
	struct transfer *back;          /* to be used again */
	bool asleep, paused, stop;
	/* the caller's, since the last flush */
	VEC(struct order) new_orders;
	struct transfer *new_back, **new_back_end;
};

struct wire {
	unsigned n_lanes, n_active;
	struct station stations[LANES_MAX];
	int epoll, wake;
	pthread_mutex_t lock;           /* of what follows, but for `own` */
	struct transfer *finished, **finished_end;
	bool asleep;
	struct transfer *own;           /* finished, seen by the caller */
};

static void ring(int wake)
{
	uint64_t one = 1;

	if (write(wake, &one, sizeof one) < 0)
		return;                 /* the counter is full: the other side will wake up anyway */
}

/* ---- a lane's thread ---- */

/* Returns whether any transfer had finished. */
static bool hand_over(struct wire *w, struct lane *lane)
{
	struct transfer *first = NULL, **end = &first, *t;

	while ((t = lane_finished(lane))) {
		t->next = NULL;
		*end = t;
		end = &t->next;
	}
	if (!first)
		return false;
	pthread_mutex_lock(&w->lock);
	*w->finished_end = first;
	w->finished_end = end;
	pthread_mutex_unlock(&w->lock);
	return true;
}

static void call(struct wire *w)
{
	bool asleep;

	pthread_mutex_lock(&w->lock);
	asleep = w->asleep;
	w->asleep = false;
	pthread_mutex_unlock(&w->lock);
	if (asleep)
		ring(w->wake);
}

static void *run(void *arg)
{
	struct station *s = arg;
	struct order *orders = NULL;
	size_t n = 0, cap = 0;
	bool owes = false;              /* the caller must still be woken */

	wire_memory_keep();
	for (;;) {
		struct transfer *back, *next;
		bool idle, finished;

		pthread_mutex_lock(&s->lock);
		if (s->stop)
			break;
		n = s->orders.n;
		mem_grow((void **)&orders, &cap, n, sizeof *orders);
		if (n)
			memcpy(orders, s->orders.v, n * sizeof *orders);
		s->orders.n = 0;
		back = s->back;
		s->back = NULL;
		idle = !n && !back;
		s->asleep = idle && !owes;
		s->paused = s->lane->n_paused > 0;
		pthread_mutex_unlock(&s->lock);
		for (; back; back = next) {
			next = back->next;
			lane_recycle(s->lane, back);
		}
		if (n)                  /* events that were there already, before new orders */
			lane_work(s->lane, 0);
		for (size_t i = 0; i < n; i++) {
			if (orders[i].request.pin)
				orders[i].request.pin = orders[i].pin;
			lane_start(s->lane, &orders[i].request, orders[i].now);
		}
		lane_work(s->lane, idle && !owes ? LONG_WAIT : 0);
		finished = hand_over(s->wire, s->lane);
		if (owes && idle && !finished)
			call(s->wire);
		owes = finished || (owes && !idle);
	}
	pthread_mutex_unlock(&s->lock);
	free(orders);
	wire_memory_release();
	return NULL;
}

/* ---- making and ending ---- */

static int start_lane(struct wire *w, const struct fetch_options *options, bool behind_proxy,
                      struct err *err)
{
	struct station *s = &w->stations[w->n_lanes];
	int rc = lane_new(&s->lane, options, behind_proxy, err);

	if (rc < 0)
		return rc;
	s->wire = w;
	s->new_back_end = &s->new_back;
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	if (s->wake >= 0)
		lane_watch(s->lane, s->wake);
	if (s->wake < 0 || pthread_create(&s->thread, NULL, run, s)) {
		if (s->wake >= 0)
			close(s->wake);
		lane_free(s->lane);
		return err_errno(err, E_FAIL, "no thread to fetch with");
	}
	w->n_lanes++;
	return 0;
}

int wire_new(struct wire **ret, const struct fetch_options *options, bool behind_proxy,
             struct err *err)
{
	struct fetch_options o = *options;
	unsigned n = o.threads ? o.threads : pool_threads();
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	struct wire *w;
	int rc = 0;

	if (wire_memory_init() < 0)
		return err_set(err, E_FAIL, "libcurl does not start");
	n = o.limit_rate > 0 ? 1 : n < LANES_MAX ? n : LANES_MAX;
	o.max_memory /= n;
	w = mem_zalloc(1, sizeof *w);
	w->finished_end = &w->finished;
	pthread_mutex_init(&w->lock, NULL);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll < 0 || w->wake < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake, &e))
		rc = err_errno(err, E_FAIL, "no event queue");
	while (rc == 0 && w->n_lanes < n)
		rc = start_lane(w, &o, behind_proxy, err);
	if (rc < 0)
		wire_free(w);
	else
		*ret = w;
	return rc;
}

static void free_list(struct transfer *t)
{
	struct transfer *next;

	for (; t; t = next) {
		next = t->next;
		lane_free_transfer(t);
	}
}

void wire_stop(struct wire *w)
{
	for (unsigned i = 0; i < w->n_lanes; i++) {
		struct station *s = &w->stations[i];

		if (s->stop)
			continue;
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		pthread_mutex_unlock(&s->lock);
		ring(s->wake);
		pthread_join(s->thread, NULL);
	}
}

void wire_free(struct wire *w)
{
	if (!w)
		return;
	wire_stop(w);
	free_list(w->own);
	free_list(w->finished);
	for (unsigned i = 0; i < w->n_lanes; i++) {
		struct station *s = &w->stations[i];

		free_list(s->back);
		free_list(s->new_back);
		lane_free(s->lane);
		vec_release(&s->orders);
		vec_release(&s->new_orders);
		pthread_mutex_destroy(&s->lock);
		close(s->wake);
	}
	if (w->epoll >= 0)
		close(w->epoll);
	if (w->wake >= 0)
		close(w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
	curl_global_cleanup();
}

void wire_watch(struct wire *w, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* ---- the caller's side ---- */

void wire_start(struct wire *w, const struct wire_request *r, double now)
{
	const char *where = r->pin ? r->pin : r->proxy ? r->proxy : "";
	struct station *s = &w->stations[hash_bytes(where, strlen(where), 0) % w->n_lanes];
	struct order o = { .request = *r, .now = now };

	if (r->pin)
		strncpy(o.pin, r->pin, sizeof o.pin - 1);
	w->n_active++;
	vec_push(&s->new_orders, o);
}

/* Of what was given back only paused transfers wait. */
static void flush(struct station *s)
{
	bool urgent;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->new_orders.n; i++)
		vec_push(&s->orders, s->new_orders.v[i]);
	*s->new_back_end = s->back;
	s->back = s->new_back;
	urgent = s->asleep && (s->orders.n || s->paused);
	if (urgent)
		s->asleep = false;
	pthread_mutex_unlock(&s->lock);
	if (urgent)
		ring(s->wake);
	s->new_orders.n = 0;
	s->new_back = NULL;
	s->new_back_end = &s->new_back;
}

void wire_flush(struct wire *w)
{
	for (unsigned i = 0; i < w->n_lanes; i++)
		if (w->stations[i].new_orders.n || w->stations[i].new_back)
			flush(&w->stations[i]);
}

void wire_work(struct wire *w, double seconds)
{
	struct epoll_event events[2];
	struct transfer **end = &w->own;

	pthread_mutex_lock(&w->lock);
	if (!w->finished && !w->own && seconds > 0) {
		w->asleep = true;
		pthread_mutex_unlock(&w->lock);
		/* rounded up, so that the last millisecond is not spent in a loop */
		(void)epoll_wait(w->epoll, events, 2, (int)(seconds * 1000) + 1);
		pthread_mutex_lock(&w->lock);
		w->asleep = false;
	}
	while (*end)
		end = &(*end)->next;
	*end = w->finished;
	w->finished = NULL;
	w->finished_end = &w->finished;
	pthread_mutex_unlock(&w->lock);
}

struct transfer *wire_finished(struct wire *w)
{
	struct transfer *t = w->own;

	if (t) {
		w->own = t->next;
		w->n_active--;
	}
	return t;
}

void wire_recycle(struct wire *w, struct transfer *t)
{
	struct station *s = w->stations;

	while (s->lane != t->lane)
		s++;
	t->next = s->new_back;
	if (!s->new_back)
		s->new_back_end = &t->next;
	s->new_back = t;
}

unsigned wire_active(const struct wire *w)
{
	return w->n_active;
}

size_t wire_memory_peak(const struct wire *w)
{
	size_t sum = 0;

	for (unsigned i = 0; i < w->n_lanes; i++)
		sum += w->stations[i].lane->memory_peak;
	return sum;
}

uint64_t wire_connections(const struct wire *w)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < w->n_lanes; i++)
		sum += w->stations[i].lane->n_connections;
	return sum;
}
