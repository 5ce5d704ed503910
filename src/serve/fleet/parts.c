/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - see parts.h. */
#include "serve/fleet/parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/stop.h"
#include "policy/policy.h"

#define LOOK_MS 250
#define SAY_SECONDS 5           /* the ledger is told at least so often that we are at work */
#define ASK_SECONDS 0.2         /* pause after the ledger granted nothing */

struct part {
	struct part *next;
	const struct work_part *work;
	pthread_mutex_t lock;
	struct client *client;
	struct client_opts opts;
	struct client_fleet fleet;
	double asked;                   /* when a grant was last asked for in vain */
	unsigned users;                 /* requests that use it; guarded by the lock of struct parts */
	bool closed;                    /* it is over; guarded by the lock of this part */
};

struct parts {
	pthread_mutex_t lock;           /* of the following */
	pthread_cond_t free;            /* the last request has left some part */
	struct part *first;
	size_t turn;                    /* which part is asked first */
	struct client_opts opts;
};

struct parts *parts_new(const struct client_opts *opts)
{
	struct parts *p = mem_zalloc(1, sizeof *p);

	p->opts = *opts;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->free, NULL);
	return p;
}

void parts_free(struct parts *p)
{
	if (!p)
		return;
	pthread_cond_destroy(&p->free);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void parts_renew(struct parts *p, const struct client_opts *opts)
{
	pthread_mutex_lock(&p->lock);
	p->opts = *opts;
	pthread_mutex_unlock(&p->lock);
}

int64_t part_now(const struct part *p)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)((double)t.tv_sec + 1e-9 * (double)t.tv_nsec - p->work->fleet->ahead);
}

/* ---- requests find parts ---- */

struct client *part_client(struct part *p)
{
	return p->client;
}

struct store *part_store(struct part *p)
{
	return p->work->store;
}

static void let_go(struct parts *d, struct part *p)
{
	pthread_mutex_lock(&d->lock);
	if (!--p->users)
		pthread_cond_broadcast(&d->free);
	pthread_mutex_unlock(&d->lock);
}

/* Lock it, unless it has ended. */
static bool enter(struct parts *d, struct part *p)
{
	pthread_mutex_lock(&p->lock);
	if (!p->closed)
		return true;
	pthread_mutex_unlock(&p->lock);
	let_go(d, p);
	return false;
}

struct part *part_enter(struct parts *d, int32_t shard)
{
	struct part *p;

	pthread_mutex_lock(&d->lock);
	for (p = d->first; p && p->work->shard != shard; p = p->next)
		;
	if (p)
		p->users++;
	pthread_mutex_unlock(&d->lock);
	return p && enter(d, p) ? p : NULL;
}

void part_leave(struct parts *d, struct part *p)
{
	pthread_mutex_unlock(&p->lock);
	let_go(d, p);
}

void parts_list(struct parts *d, struct parts_list *ret)
{
	size_t n = 0, first;

	pthread_mutex_lock(&d->lock);
	for (struct part *p = d->first; p; p = p->next)
		n++;
	first = n ? d->turn++ % n : 0;
	for (int round = 0; round < 2; round++) {
		size_t i = 0;

		for (struct part *p = d->first; p; p = p->next, i++)
			if ((i >= first) == (round == 0))
				vec_push(&ret->shards, p->work->shard);
	}
	pthread_mutex_unlock(&d->lock);
}

size_t parts_count(struct parts *d)
{
	struct parts_list l = { 0 };
	size_t n;

	parts_list(d, &l);
	n = l.shards.n;
	vec_release(&l.shards);
	return n;
}

/* ---- lease ---- */

/* Its texts live until the next call of the client, which may come at once. */
static void take_offer(struct parts_asked *to, const struct client_offer *from, int32_t shard,
                       struct arena *keep)
{
	struct client_offer o = *from;
	const char **texts[] = { &o.url, &o.given, &o.etag, &o.last_modified };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (*texts[i])
			*texts[i] = arena_strndup(keep, *texts[i], strlen(*texts[i]));
	snprintf(o.lease, sizeof o.lease, "%d.%.23s", shard, from->lease);
	vec_push(&to->offers, o);
}

static int ask_part(struct parts *d, int32_t shard, const struct client_asking *a,
                    struct arena *keep, struct parts_asked *to, struct err *err)
{
	struct part *p = part_enter(d, shard);
	struct client_asking own = *a;
	struct client_asked r = { 0 };
	int rc;

	if (!p)
		return 0;
	if (stop_is_set(p->work->stop)) {       /* it is given back: what is leased now could not be told */
		part_leave(d, p);
		return 0;
	}
	own.now = part_now(p);
	rc = client_ask(p->client, &own, &r, err);
	for (size_t i = 0; rc == 0 && i < r.n; i++)
		take_offer(to, &r.offers[i], shard, keep);
	if (rc == 0 && r.answer == CLIENT_WAIT)
		to->wait = to->wait && to->wait < r.wait ? to->wait : r.wait;
	part_leave(d, p);
	return rc;
}

int parts_ask(struct parts *d, const struct client_asking *a, struct arena *keep,
              struct parts_asked *ret, struct err *err)
{
	struct parts_list l = { 0 };
	int rc = 0;

	parts_list(d, &l);
	/* a fair part of each, then what is left of any; what the client had before comes once */
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < l.shards.n && rc == 0 && ret->offers.n < a->want; i++) {
			size_t left = a->want - ret->offers.n, fair = (a->want + l.shards.n - 1) / l.shards.n;
			struct client_asking own = *a;

			own.want = (uint32_t)(round || fair > left ? left : fair);
			own.once = round > 0;
			rc = ask_part(d, l.shards.v[i], &own, keep, ret, err);
		}
	vec_release(&l.shards);
	return ret->offers.n ? 0 : rc;          /* what was leased before an error is leased */
}

/* ---- the thread of a part ---- */

static int ask_more(void *arg, struct engine *e, bool out, uint32_t *granted, struct err *err)
{
	struct part *p = arg;
	const struct crawl_fleet *f = p->work->fleet;
	uint32_t before = *granted;
	int rc;

	if (fleet_clock() - p->asked < ASK_SECONDS)
		return CLIENT_MORE_LATER;
	rc = f->more(f->arg, e, out ? CRAWL_CONNECTIONS_IDLE : CRAWL_ALL_IDLE, granted, err);
	if (rc >= 0)
		p->fleet.granted = *granted;    /* an engine that is made anew has it, too */
	p->asked = *granted > before ? 0 : fleet_clock();
	return rc < 0 ? rc : rc == CRAWL_NO_MORE ? CLIENT_NO_MORE : CLIENT_MORE_LATER;
}

static void set_up(struct part *p, struct parts *d)
{
	const struct work_part *w = p->work;

	p->fleet = (struct client_fleet){
		.n_shards = w->n_shards, .expected = w->expected, .granted = w->fleet->granted,
		.budget = w->fleet->budget, .pages = w->fleet->pages, .shared = w->fleet->shared,
		.more = ask_more, .arg = p,
	};
	p->fleet.from = part_now(p);
	pthread_mutex_lock(&d->lock);
	p->opts = d->opts;
	pthread_mutex_unlock(&d->lock);
	p->opts.policy = w->cycle->policy;
	p->opts.budget = (struct share){ .value = w->expected };
	p->opts.rules.every = w->cycle->every;
	aim_find(w->cycle->aim, &p->opts.rules.aim);
	p->opts.ahead = 0;
	p->opts.fleet = &p->fleet;
	pthread_mutex_init(&p->lock, NULL);
	client_open(&p->client, w->store, &p->opts);
}

static void show(struct parts *d, struct part *p)
{
	pthread_mutex_lock(&d->lock);
	p->next = d->first;
	d->first = p;
	pthread_mutex_unlock(&d->lock);
}

/* Nobody has it any more after this. */
static void hide(struct parts *d, struct part *p)
{
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_lock(&d->lock);
	for (struct part **at = &d->first; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	while (p->users)
		pthread_cond_wait(&d->free, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

static bool is_other(const struct store_cycle *a, const struct store_cycle *b)
{
	return a->number != b->number || a->downloads != b->downloads || a->changed != b->changed ||
	       a->same != b->same || a->fresh != b->fresh || a->gone != b->gone ||
	       a->failed != b->failed || a->blocked != b->blocked;
}

/* Clients ask and tell; until it is over, or it is to stop. */
static int wait_over(struct part *p, struct store_cycle *row, struct err *err)
{
	const struct work_part *w = p->work;
	double due = fleet_clock() + w->seconds, told = fleet_clock();
	struct timespec t = { 0, LOOK_MS * 1000000 };
	bool over = false;
	int rc = 0;

	while (rc == 0 && !over && !stop_is_set(w->stop) && fleet_clock() < due) {
		struct store_cycle now = { 0 };

		nanosleep(&t, NULL);
		pthread_mutex_lock(&p->lock);
		rc = client_part_look(p->client, part_now(p), &now, &over, err);
		/* the ledger hears of it, and the inbox is looked at, as after a batch of a crawl */
		if (rc == 0 && now.number && (is_other(&now, row) || fleet_clock() - told > SAY_SECONDS)) {
			*row = now;
			told = fleet_clock();
			rc = w->fleet->committed(w->fleet->arg, row, err);
		}
		p->closed = over;               /* before another asks */
		pthread_mutex_unlock(&p->lock);
	}
	return rc;
}

int parts_run(struct parts *d, const struct work_part *w, struct crawl_report *ret,
              struct err *err)
{
	struct part p = { .work = w };
	int rc;

	set_up(&p, d);
	rc = client_part(p.client, w->anew, part_now(&p), &ret->cycle, err);
	/* the ledger knows it before a page is out: whoever has the shard next goes on with it */
	if (rc == 0 && ret->cycle.number)
		rc = w->fleet->committed(w->fleet->arg, &ret->cycle, err);
	if (rc == 0 && ret->cycle.number) {
		show(d, &p);
		rc = wait_over(&p, &ret->cycle, err);
		hide(d, &p);
		if (rc == 0 && stop_is_set(w->stop))
			rc = err_set(err, E_STOP, "stopped");
		else if (rc == 0 && (rc = client_end(p.client, part_now(&p), &ret->cycle, err)) > 0)
			rc = 0;
	}
	client_close(p.client);
	pthread_mutex_destroy(&p.lock);
	return rc;
}
