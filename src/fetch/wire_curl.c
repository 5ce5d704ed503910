/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_curl.c - the exchanges of one lane, by libcurl's multi interface on epoll.
 *
 * Deadlines are ours: ten times a second we check all active transfers.  So we can tell
 * "no connection", "no head in time", "too slow" and "too long" apart and keep the part
 * that was received, and libcurl needs no timers.
 *
 * Memory: heads and bodies of all transfers together stay under max_memory plus one body,
 * and the first 128 KiB of each.  At that limit transfers with larger bodies are paused when
 * they receive data, all but the first to reach it. When memory is freed the others continue.
 * If that one is slow while others wait, the answer is cut that has held most for longest: a
 * few servers that send large bodies and then nearly nothing would stop everybody else.
 *
 * limit_rate: what was received is paid for by time.  Until it is paid, a transfer that
 * receives data is paused; then the one that has waited longest goes on.  Pauses of ours do
 * not count as the server's time.
 */
#include "fetch/wire_inner.h"

#include <curl/curl.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define SWEEP 0.1               /* seconds between checks of the deadlines */
#define EVENTS 256
#define HURRY 65536             /* bytes/s: what others wait for must come as fast */
#define KEEP_BODY (64 << 10)    /* bytes; larger buffers are freed after use */

double wire_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int lane_new(struct lane **ret, const struct fetch_options *options, bool behind_proxy,
             struct err *err)
{
	struct lane *w;

	w = mem_zalloc(1, sizeof *w);
	w->opt = *options;
	w->finished_end = &w->finished;
	w->timer = w->watched = -1;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->multi = curl_multi_init();
	w->share = curl_share_init();
	if (w->epoll < 0 || !w->multi || !w->share) {
		lane_free(w);
		return err_errno(err, E_FAIL, "no event queue");
	}
	curl_share_setopt(w->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
	wire_sockets_init(w);
	curl_multi_setopt(w->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	curl_multi_setopt(w->multi, CURLMOPT_MAXCONNECTS, (long)options->connections * 2);
	/* Idle connections count at the address that keeps them, too.  libcurl's
	 * "host" is the pinned address; behind a proxy it would be the proxy. */
	if (!behind_proxy)
		curl_multi_setopt(w->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
		                  (long)options->polite.address_connections);
	wire_ask_init(w);
	*ret = w;
	return 0;
}

void lane_free(struct lane *w)
{
	struct transfer *t;

	if (!w)
		return;
	while ((t = w->active)) {
		w->active = t->next_active;
		curl_multi_remove_handle(w->multi, t->easy);
		lane_free_transfer(t);
	}
	while ((t = lane_finished(w)))
		lane_free_transfer(t);
	while ((t = w->idle)) {
		w->idle = t->next;
		lane_free_transfer(t);
	}
	curl_multi_cleanup(w->multi);
	curl_share_cleanup(w->share);
	wire_ask_release(w);
	if (w->epoll >= 0)
		close(w->epoll);
	vec_release(&w->sockets);
	for (size_t i = 0; i < w->spare.n; i++)
		buf_release(&w->spare.v[i]);
	vec_release(&w->spare);
	free(w);
}

void lane_watch(struct lane *w, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.fd = fd };

	epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e);
	w->watched = fd;
}

static void finish(struct lane *w, struct transfer *t)
{
	if (t->active_link) {
		*t->active_link = t->next_active;
		if (t->next_active)
			t->next_active->active_link = t->active_link;
		t->active_link = NULL;
		w->n_active--;
	}
	if (t->paused)
		w->n_paused--;
	curl_easy_cleanup(t->easy);     /* now: see wire_ask.c */
	t->easy = NULL;
	t->seconds = wire_now() - t->started;
	t->next = NULL;
	*w->finished_end = t;
	w->finished_end = &t->next;
}

/* See fetch_options.send_until. */
static bool is_too_late_to_send(const struct fetch_options *o)
{
	struct timespec t;

	if (!o->send_until)
		return false;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 >= atomic_load(o->send_until);
}

void lane_start(struct lane *w, const struct wire_request *r, double now)
{
	struct transfer *t = wire_ask_take(w, r);
	const char *why;

	t->owner = r->owner;
	t->error = FETCH_OK;
	t->why[0] = t->ip[0] = '\0';
	t->status = 0;
	t->cut = FETCH_WHOLE;
	t->started = t->window = now;
	t->first = t->connect_seconds = 0;
	t->received = t->head_bytes = t->window_bytes = t->held = 0;
	t->accept = r->accept;
	t->waited = 0;
	t->head_done = t->in_framing = t->paused = t->failed_here = false;
	t->status_line = 0;
	t->max_body = r->max_body;
	t->until = r->until;
	t->length = -1;
	t->message[0] = '\0';
	why = wire_ask(w, t, r);
	t->active_link = &w->active;
	t->next_active = w->active;
	if (w->active)
		w->active->active_link = &t->next_active;
	w->active = t;
	w->n_active++;
	if (is_too_late_to_send(&w->opt)) {
		wire_fail(t, FETCH_STOPPED, "no request may be sent any more");
		finish(w, t);
	} else if (why || curl_multi_add_handle(w->multi, t->easy) != CURLM_OK) {
		wire_fail(t, FETCH_PROTOCOL, why ? why : "libcurl refuses the request");
		finish(w, t);
	}
}

static void complete(struct lane *w, struct transfer *t, CURLcode c)
{
	char *ip = NULL;
	long status = 0;
	curl_off_t connect = 0;

	curl_easy_getinfo(t->easy, CURLINFO_PRIMARY_IP, &ip);
	curl_easy_getinfo(t->easy, CURLINFO_CONNECT_TIME_T, &connect);
	if (t->head_done)
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (ip)
		strncpy(t->ip, ip, sizeof t->ip - 1);   /* its last byte is 0 */
	t->status = (int)status;
	t->connect_seconds = (double)connect * 1e-6;
	wire_set_error(t, (int)c);
	if (!t->head_done && t->error == FETCH_OK)
		wire_fail(t, FETCH_PROTOCOL, "answer without a head");
	curl_multi_remove_handle(w->multi, t->easy);
	finish(w, t);
}

/* TLS and proxy are done: the request was sent, or will be sent next. */
static bool is_connected(const struct transfer *t)
{
	curl_off_t ready = 0;

	curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &ready);
	return ready > 0;
}

/* Its time without our pauses. */
static double seconds_of_server(const struct transfer *t, double now)
{
	return now - t->started - t->waited - (t->paused ? now - t->paused_since : 0);
}

/* Check the deadlines.  A paused transfer is slow because of us, not of the server. */
static const char *too_late(const struct lane *w, struct transfer *t, double now)
{
	const struct fetch_options *o = &w->opt;

	if (seconds_of_server(t, now) > o->whole_timeout)
		return "took too long";
	if (now >= t->until)
		return "took longer than its cycle or its host may";
	if (!t->head_done && now - t->started > o->connect_timeout && !is_connected(t))
		return "no connection in time";
	if (!t->head_done && now - t->started > o->connect_timeout + o->head_timeout)
		return "no answer in time";
	if (now - t->window >= o->slow_seconds) {
		double got = (double)(t->received - t->window_bytes);

		if (t->received && !t->paused && !(o->limit_rate > 0) && got < o->slow_rate * (now - t->window))
			return "too slow";
		t->window = now;
		t->window_bytes = t->received;
	}
	return NULL;
}

static void cut(struct lane *w, struct transfer *t, const char *why)
{
	wire_fail(t, FETCH_TIMEOUT, why);
	if (t->head_done)
		t->cut = FETCH_CUT_TIME;
	complete(w, t, CURLE_OK);
}

/* Memory is full, and the one that may go on is slow: see above. */
static void make_room(struct lane *w, double now)
{
	struct transfer *worst = NULL;
	double cost, most = 0, seconds = now - w->elder_since;
	bool slow;

	if (!w->elder || !w->elder->active_link || seconds < w->opt.slow_seconds / 4)
		return;
	slow = (double)(w->elder->received - w->elder_bytes) < HURRY * seconds;
	w->elder_since = now;
	w->elder_bytes = w->elder->received;
	if (!slow || !w->n_paused || w->opt.limit_rate > 0)
		return;
	for (struct transfer *t = w->active; t; t = t->next_active) {
		cost = (double)t->held * seconds_of_server(t, now);
		if (cost > most) {
			most = cost;
			worst = t;
		}
	}
	if (worst)
		cut(w, worst, "slow with what others wait for: memory");
}

static void sweep(struct lane *w, double now)
{
	struct transfer *t, *next;

	if (now - w->swept < SWEEP)
		return;
	w->swept = now;
	for (t = w->active; t; t = next) {
		const char *why = too_late(w, t, now);

		next = t->next_active;
		if (why)
			cut(w, t, why);
	}
	make_room(w, now);
}

/* Let a paused transfer continue. */
static void unpause(struct lane *w, struct transfer *t)
{
	CURLcode c;

	t->paused = false;
	t->waited += wire_now() - t->paused_since;
	w->n_paused--;
	/* this delivers held data at once; if the transfer ends here, only the return value
	 * says so */
	c = curl_easy_pause(t->easy, CURLPAUSE_CONT);
	if (c != CURLE_OK)
		complete(w, t, c);
}

/* What was received is paid for: who has waited longest goes on, until something is owed
 * again. */
static void go_on(struct lane *w)
{
	for (unsigned n = w->n_paused; n && w->n_paused && wire_now() >= w->paid_until; n--) {
		struct transfer *longest = NULL;

		for (struct transfer *t = w->active; t; t = t->next_active)
			if (t->paused && (!longest || t->paused_since < longest->paused_since))
				longest = t;
		if (longest)
			unpause(w, longest);
	}
}

void lane_work(struct lane *w, double seconds)
{
	struct epoll_event events[EVENTS];
	double now = wire_now(), wait = seconds;
	int n, running, left;
	CURLMsg *m;

	if (w->n_active && wait > SWEEP)
		wait = SWEEP;
	if (w->timer >= 0 && w->timer - now < wait)
		wait = w->timer > now ? w->timer - now : 0;
	if (w->n_paused && w->opt.limit_rate > 0 && w->paid_until - now < wait)
		wait = w->paid_until > now ? w->paid_until - now : 0;
	if (w->finished)
		wait = 0;
	/* rounded up, so that the last millisecond is not spent in a loop */
	n = epoll_wait(w->epoll, events, EVENTS, wait <= 0 ? 0 : (int)(wait * 1000) + 1);
	now = wire_now();
	/* First the idle sockets: the timer starts requests, and would take one of them whose
	 * stray bytes we have just been told of. */
	for (int i = 0; i < n; i++)
		if (events[i].data.fd == w->watched || wire_sockets_stray(w, events[i].data.fd))
			events[i].events = 0;
	if (w->timer >= 0 && w->timer <= now) {
		w->timer = -1;
		curl_multi_socket_action(w->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	for (int i = 0; i < n; i++) {
		int what = 0;

		what |= events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0;
		what |= events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
		what |= events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0;
		if (what)
			curl_multi_socket_action(w->multi, events[i].data.fd, what, &running);
	}
	while ((m = curl_multi_info_read(w->multi, &left))) {
		struct transfer *t;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		complete(w, t, m->data.result);
	}
	if (w->opt.limit_rate > 0)
		go_on(w);
	sweep(w, now);
}

struct transfer *lane_finished(struct lane *w)
{
	struct transfer *t = w->finished;

	if (!t)
		return NULL;
	w->finished = t->next;
	if (!w->finished)
		w->finished_end = &w->finished;
	return t;
}

void lane_recycle(struct lane *w, struct transfer *t)
{
	struct transfer *next;

	w->memory -= t->held;
	t->held = 0;
	if (w->elder == t)
		w->elder = NULL;
	buf_clear(&t->head);
	if (t->body.cap > KEEP_BODY) {
		buf_release(&t->body);
	} else if (t->body.cap) {
		buf_clear(&t->body);
		vec_push(&w->spare, t->body);
	}
	buf_init(&t->body, BUF_NO_LIMIT);
	t->next = w->idle;
	w->idle = t;
	if (!w->n_paused || (w->elder && w->memory > w->opt.max_memory / 2))
		return;
	for (t = w->active; t; t = next) {
		next = t->next_active;
		if (t->paused)
			unpause(w, t);
	}
}
