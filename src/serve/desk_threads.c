/* SPDX-License-Identifier: Apache-2.0 */
/* desk_threads.c - what lease and tell must not wait for: one thread opens cycles and plans rounds
 * ahead, one carries the log of the store into its tables; see desk.h. */
#include <time.h>

#include "base/log.h"
#include "serve/desk.h"

#define LOG_EVERY 1                     /* seconds */
#define LOG_MOST (768u << 20)           /* bytes; then the log begins anew */
#define LOG_LITTLE (4u << 20)           /* bytes that may be left for that moment */
#define LOG_PASSES 6                    /* to come so far */

/* The first who asks must not wait for it. */
static void warm_up(struct desk *d)
{
	struct err err = { 0 };

	if (client_warm(d->client, &err) < 0)
		log_warn("%s", err.text);
	pthread_mutex_lock(&d->shown);
	d->warm = true;
	pthread_mutex_unlock(&d->shown);
}

static void open_cycle(struct desk *d)
{
	struct err err = { 0 };

	__atomic_store_n(&d->opens, true, __ATOMIC_RELAXED);
	if (client_prepare(d->client, (int64_t)time(NULL), &err) < 0)
		log_warn("%s", err.text);
	__atomic_store_n(&d->opens, false, __ATOMIC_RELAXED);
}

static void *plan_ahead(void *arg)
{
	struct desk *d = arg;

	log_hush(true);
	pthread_mutex_lock(&d->lock);
	warm_up(d);
	while (!d->stop) {
		struct client *c = d->client;
		enum client_due due = client_due(c);

		if (due == CLIENT_DUE_CYCLE)
			open_cycle(d);
		/* calls go on while it thinks; one may replace the client, which waits for us */
		for (bool more = due == CLIENT_DUE_ROUND && client_plan(c); more;
		     more = c == d->client && client_planned(c)) {
			pthread_mutex_unlock(&d->lock);
			client_think(c);
			pthread_mutex_lock(&d->lock);
		}
		if (due == CLIENT_DUE_NOTHING)
			pthread_cond_wait(&d->work, &d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* The end of a call. */
void desk_leave(struct desk *d)
{
	bool due = client_due(d->client) != CLIENT_DUE_NOTHING;

	pthread_mutex_unlock(&d->lock);
	if (due)
		pthread_cond_signal(&d->work);
}

bool desk_opens_cycle(struct desk *d)
{
	return __atomic_load_n(&d->opens, __ATOMIC_RELAXED);
}

/* ---- the log ---- */

/*
 * Who writes first after all of the log was carried begins it anew, and syncs the disk for that,
 * while all others wait.  Under load this would be once a second.  So a handle that is frozen in
 * the log holds it, until it is long or nobody writes.
 */
static void let_log_go(struct desk *d)
{
	if (d->log_held)
		store_thaw(d->log_holder);
	d->log_held = false;
}

/* All that is there now may be carried. */
static int hold_log(struct desk *d, struct err *err)
{
	struct store_page p;
	int rc;

	let_log_go(d);
	if ((rc = store_freeze(d->log_holder, err)) < 0)
		return rc;
	d->log_held = true;
	rc = store_page_get(d->log_holder, 0, &p, err);         /* it is frozen by the first read */
	return rc < 0 ? rc : 0;
}

/* While one pass carries what there is, more comes; each is shorter than the one before. */
static int carry_most(struct desk *d, struct store_log *log, struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < LOG_PASSES && log->left > LOG_LITTLE; i++) {
		rc = hold_log(d, err);
		if (rc == 0)
			rc = store_carry_log(d->log_store, log, err);
	}
	return rc;
}

/* Nobody writes for the moment that the rest takes. */
static int begin_log_anew(struct desk *d, struct store_log *log, struct err *err)
{
	int rc = carry_most(d, log, err);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&d->lock);
	let_log_go(d);
	rc = store_carry_log(d->log_store, log, err);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

static void carry(struct desk *d)
{
	struct err err = { 0 };
	struct store_log log;
	int rc = store_carry_log(d->log_store, &log, &err);

	if (rc == 0 && !log.left)               /* nobody writes */
		let_log_go(d);
	else if (rc == 0 && (rc = hold_log(d, &err)) == 0)
		rc = store_carry_log(d->log_store, &log, &err);
	if (rc == 0 && log.bytes > LOG_MOST)
		rc = begin_log_anew(d, &log, &err);
	if (rc < 0) {
		let_log_go(d);
		log_warn("%s", err.text);
	}
}

static void *carry_log(void *arg)
{
	struct desk *d = arg;
	struct timespec until;

	log_hush(true);
	pthread_mutex_lock(&d->shown);
	while (!d->stop) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += LOG_EVERY;
		pthread_cond_timedwait(&d->log_stop, &d->shown, &until);
		if (!d->stop) {
			pthread_mutex_unlock(&d->shown);
			carry(d);
			pthread_mutex_lock(&d->shown);
		}
	}
	pthread_mutex_unlock(&d->shown);
	let_log_go(d);
	return NULL;
}

int desk_threads_start(struct desk *d, struct err *err)
{
	int rc = 0;

	if (!store_is_far(d->store)) {
		rc = serve_store(d->serve, STORE_EXISTING, &d->log_store, err);
		if (rc == 0)
			rc = serve_store(d->serve, STORE_EXISTING, &d->log_holder, err);
	}
	if (rc < 0) {
		store_close(d->log_store);
		return rc;
	}
	store_leave_log(d->store);
	pthread_cond_init(&d->work, NULL);
	pthread_cond_init(&d->log_stop, NULL);
	pthread_create(&d->planner, NULL, plan_ahead, d);
	if (d->log_store)
		pthread_create(&d->carrier, NULL, carry_log, d);
	d->started = true;
	return 0;
}

void desk_threads_stop(struct desk *d)
{
	if (!d->started)
		return;
	pthread_mutex_lock(&d->lock);
	pthread_mutex_lock(&d->shown);
	d->stop = true;
	pthread_cond_signal(&d->work);
	pthread_cond_signal(&d->log_stop);
	pthread_mutex_unlock(&d->shown);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->planner, NULL);
	if (d->log_store)
		pthread_join(d->carrier, NULL);
	pthread_cond_destroy(&d->work);
	pthread_cond_destroy(&d->log_stop);
	store_close(d->log_holder);
	store_close(d->log_store);
}
