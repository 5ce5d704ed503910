/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c - the loop of the fetcher: start requests, take answers, return outcomes.
 *
 * fetch_next() frees the memory of the last outcome, lets polite choose jobs while
 * connections are free, runs the wire, and returns a job that is done.  The content
 * coding is undone when an outcome is returned, or by the caller (fetch_decode).  So few
 * decoded bodies are in memory.
 */
#include "fetch/fetch_inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HANDED_AT_ONCE 16       /* outcomes returned before the wire is polled again */
#define KEEP_URL 256            /* bytes; larger buffers are freed after use */

int fetch_new(struct fetch **ret, const struct fetch_options *options, struct err *err)
{
	struct fetch *f = mem_zalloc(1, sizeof *f);
	int r;

	f->opt = *options;
	f->free_job = NONE;
	f->cycle = span_begin(options->cycle_seconds, wire_now());
	f->done = (struct list){ NONE, NONE };
	buf_init(&f->decoded, options->max_decoded);
	if ((r = proxy_init(&f->proxy, options->proxy, options->no_proxy, getenv, err)) ||
	    (r = wire_new(&f->wire, options, f->proxy.http || f->proxy.https, err))) {
		fetch_free(f);
		return r;
	}
	f->polite = polite_new(&options->polite);
	f->resolve = resolve_new(options->resolve, options->arg);
	wire_watch(f->wire, resolve_fd(f->resolve));
	if ((r = fetch_program_new(f, err)) < 0) {
		fetch_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	if (f->wire)
		wire_stop(f->wire);             /* first: the wire uses memory of jobs */
	program_free(f->program);
	for (size_t i = 0; i < f->jobs.n; i++) {
		if (f->jobs.v[i]->live)
			job_free(f, f->jobs.v[i]);
		buf_release(&f->jobs.v[i]->url);
		free(f->jobs.v[i]);
	}
	for (size_t i = 0; i < f->hosts.n; i++) {
		free(f->hosts.v[i].pins);
		free(f->hosts.v[i].why);
	}
	for (size_t i = 0; i < f->origins.n; i++)
		origin_release(&f->origins.v[i]);
	vec_release(&f->jobs);
	vec_release(&f->hosts);
	vec_release(&f->origins);
	vec_release(&f->sent);
	strtab_release(&f->origin_names);
	resolve_free(f->resolve);
	wire_free(f->wire);
	polite_free(f->polite);
	proxy_release(&f->proxy);
	buf_release(&f->decoded);
	free(f);
}

struct job *job_new(struct fetch *f)
{
	struct job *j;

	if (f->free_job != NONE) {
		j = f->jobs.v[f->free_job];
		f->free_job = j->next;
	} else {
		j = mem_zalloc(1, sizeof *j);
		j->number = (uint32_t)f->jobs.n;
		vec_push(&f->jobs, j);
		buf_init(&j->url, URL_SIZE_MAX);
	}
	j->next = NONE;
	j->live = true;
	return j;
}

/* Frees all but the buffer of the URL. */
void job_free(struct fetch *f, struct job *j)
{
	struct buf url = j->url;
	uint32_t number = j->number;

	for (size_t i = 0; i < j->hops.n; i++) {
		f->hops_held -= j->hops.v[i].head_size + j->hops.v[i].body_size;
		free((char *)(uintptr_t)j->hops.v[i].url);
		free((char *)(uintptr_t)j->hops.v[i].head);
	}
	vec_release(&j->hops);
	asking_extra_free(j->extra);
	free(j->etag);
	free(j->last_modified);
	free(j->why);
	if (j->transfer)
		fetch_recycle(f, j->transfer);
	if (url.cap > KEEP_URL)
		buf_release(&url);
	else
		buf_clear(&url);
	*j = (struct job){ .number = number, .url = url, .next = f->free_job };
	f->free_job = number;
}

void list_push(struct fetch *f, struct list *l, struct job *j)
{
	j->next = NONE;
	if (l->last == NONE)
		l->first = j->number;
	else
		f->jobs.v[l->last]->next = j->number;
	l->last = j->number;
}

void job_done(struct fetch *f, struct job *j, enum fetch_error error, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	text[0] = '\0';
	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof text, fmt, ap);
		va_end(ap);
	}
	j->error = error;
	free(j->why);
	j->why = *text ? mem_strdup(text) : NULL;
	if (j->is_robots) {
		robots_done(f, j, NULL, wire_now());
		return;
	}
	list_push(f, &f->done, j);
	f->n_done++;
}

bool job_queue(struct fetch *f, struct job *j, double now, bool first)
{
	struct url_parts *p = &j->parts;
	uint32_t host;

	url_split(j->url.data, j->url.size, p);
	host = polite_host(f->polite, j->url.data + p->host, p->host_end - p->host);
	while (f->hosts.n <= host)
		vec_push(&f->hosts, ((struct host){ .parked = { NONE, NONE } }));
	j->host = host;
	if (!j->is_robots && !j->hops.n)
		j->home = host;
	j->pins_tried = 0;
	if (gate_refuses_port(p->port)) {
		job_done(f, j, FETCH_PORT, "port %u is not for web servers", p->port);
		return false;
	}
	if (!j->is_robots) {
		bool is_new;

		j->origin = strtab_intern(&f->origin_names, j->url.data, p->path, &is_new);
		if (is_new)
			vec_push(&f->origins, ((struct origin){ .parked = { NONE, NONE } }));
	}
	if (first && !job_is_guest(j))          /* begun jobs go before new ones */
		polite_add_first(f->polite, host, j->number, now);
	else
		polite_add(f->polite, host, j->number, now);
	return true;
}

void fetch_again(struct fetch *f, const struct fetch_options *options)
{
	f->opt.spend = options->spend;
	f->opt.follows = options->follows;
	f->opt.arg = options->arg;
	f->opt.seed = options->seed;
	f->opt.decode = options->decode;
	f->opt.cycle_seconds = options->cycle_seconds;
	f->opt.host_seconds = options->host_seconds;
	f->cycle = span_begin(options->cycle_seconds, wire_now());
	for (size_t i = 0; i < f->hosts.n; i++)
		f->hosts.v[i].part = (struct span){ 0 };
	f->stopped = false;
	f->stats = (struct fetch_stats){ 0 };
	for (size_t i = 0; f->opt.robots_load && i < f->origins.n; i++)
		f->origins.v[i].known = UNKNOWN;
}

/* A validator that could end its header line is not sent at all. */
static char *clean_copy(const char *s)
{
	if (!s || !*s)
		return NULL;
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c < 0x20 && *c != '\t')
			return NULL;
	return strlen(s) <= 4096 ? mem_strdup(s) : NULL;
}

void fetch_add(struct fetch *f, const struct fetch_request *r)
{
	struct job *j = job_new(f);
	struct err err;

	j->page = r->page;
	j->site = r->site;
	j->method = r->method;
	j->second_opinion = r->second_opinion;
	j->only_robots = r->only_robots;
	j->any_type = r->any_type;
	j->etag = clean_copy(r->etag);
	j->last_modified = clean_copy(r->last_modified);
	f->n_pending++;
	if (url_canonical(r->url, strlen(r->url), &j->url, &err))
		job_done(f, j, FETCH_BAD_URL, "%s", err.text);
	else if (f->stopped)
		job_done(f, j, FETCH_STOPPED, NULL);
	else
		job_queue(f, j, wire_now(), r->next);
}

/* ---- the loop ---- */

static void give_back(struct fetch *f, double now)
{
	uint32_t host, number;

	while (polite_take_blocked(f->polite, now, &host, &number)) {
		struct job *j = f->jobs.v[number];

		j->blocked = polite_blocked(f->polite, host, now);
		job_done(f, j, FETCH_BACKOFF, "the host rests for %.0f s", j->blocked);
	}
	while (f->stopped && polite_take_any(f->polite, &host, &number))
		job_done(f, f->jobs.v[number], FETCH_STOPPED, NULL);
	while (now >= f->cycle.ask_until && polite_take_any(f->polite, &host, &number))
		job_give_up(f, f->jobs.v[number]);
}

static unsigned n_active(const struct fetch *f)
{
	return wire_active(f->wire) + (f->program ? program_active(f->program) : 0);
}

static bool is_full(const struct fetch *f)
{
	return n_active(f) >= f->opt.connections || n_active(f) + f->n_done >= 2 * f->opt.connections;
}

/* Requests that wait go out, if they may. */
static void release(struct fetch *f, bool wait)
{
	if (f->held && f->opt.cleared(f->opt.arg, wait)) {
		f->held = false;
		wire_flush(f->wire);
	}
}

void fetch_release(struct fetch *f)
{
	release(f, true);
}

static void choose(struct fetch *f, double now)
{
	uint32_t host, number;

	release(f, false);
	if (f->held)                    /* those that follow will wait together */
		return;
	while (!is_full(f) && polite_next(f->polite, now, &host, &number))
		job_dispatch(f, f->jobs.v[number], now);
	f->held = f->sent.n && !f->opt.sent(f->opt.arg, f->sent.v, f->sent.n);
	f->sent.n = 0;
	if (!f->held)
		wire_flush(f->wire);
}

static void round_of_work(struct fetch *f, double seconds)
{
	struct resolve_answer answer;
	struct transfer *t;
	double now = wire_now(), wait;

	give_back(f, now);
	choose(f, now);
	give_back(f, now);
	/* if all connections are in use, hosts wait for a connection, not for a time */
	wait = is_full(f) ? -1 : polite_wait(f->polite, now);
	if (wait < 0 || wait > seconds)
		wait = seconds;
	if (wait > f->cycle.ask_until - now && now < f->cycle.ask_until)
		wait = f->cycle.ask_until - now;
	if (f->done.first != NONE)
		wait = 0;
	wire_work(f->wire, f->held ? 0 : wait);
	now = wire_now();
	while ((t = wire_finished(f->wire))) {
		job_answered(f, f->jobs.v[t->owner], t, now);
		wait = 0;
	}
	if (wait > 0)                   /* nothing else to do */
		release(f, true);
	fetch_program_answers(f, now);
	while (resolve_take(f->resolve, &answer))
		host_resolved(f, &answer, now);
	choose(f, now);
}

enum fetch_next fetch_next(struct fetch *f, double seconds, const struct fetch_result **ret)
{
	double end = seconds < 0 ? INFINITY : wire_now() + seconds;
	bool worked = f->n_handed < HANDED_AT_ONCE, looked = false;

	if (f->delivered) {
		job_free(f, f->delivered);
		f->delivered = NULL;
		f->n_pending--;
	}
	for (;;) {
		struct job *j;
		double left;

		if (f->done.first != NONE && worked) {
			j = f->jobs.v[f->done.first];
			f->done.first = j->next;
			if (f->done.first == NONE)
				f->done.last = NONE;
			f->n_done--;
			f->n_handed++;
			f->delivered = j;
			release(f, false);
			job_fill_result(f, j);
			*ret = &f->result;
			return FETCH_GOT;
		}
		if (!f->n_pending)
			return FETCH_IDLE;
		left = end - wire_now();
		if (looked && left <= 0)
			return FETCH_LATER;
		round_of_work(f, left < 0 ? 0 : left < 3600 ? left : 3600);
		f->n_handed = 0;
		worked = looked = true;
	}
}

uint32_t fetch_hold(struct fetch *f)
{
	uint32_t held = f->delivered->number;

	f->delivered = NULL;
	f->n_pending--;
	return held;
}

void fetch_drop(struct fetch *f, uint32_t held)
{
	job_free(f, f->jobs.v[held]);
}

void fetch_stop(struct fetch *f)
{
	f->stopped = true;
}

size_t fetch_pending(const struct fetch *f)
{
	return f->n_pending - (f->delivered != NULL);
}

unsigned fetch_active(const struct fetch *f)
{
	return n_active(f);
}

size_t fetch_known(const struct fetch *f)
{
	return f->hosts.n + f->origins.n;
}

void fetch_stats(const struct fetch *f, struct fetch_stats *ret)
{
	*ret = f->stats;
	ret->connections = wire_connections(f->wire);
	ret->memory_peak = wire_memory_peak(f->wire);
}
