/* SPDX-License-Identifier: Apache-2.0 */
/* desk_threads.c - what lease and tell must not wait for: one thread opens cycles and plans rounds
 * ahead, one carries the log of the store into its tables; see desk.h. */
#include <time.h>

#include "base/log.h"
#include "serve/desk.h"

#define LOG_EVERY 1                     /* seconds */
#define LOG_MOST (768u << 20)           /* bytes; then nobody writes for the moment that the rest
                                         * takes, and the log begins anew.  That moment is two syncs
                                         * of the disk: so it must be rare.  Without load the log
                                         * begins anew by itself */
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

/* While one pass carries what there is, more comes; each is shorter than the one before. */
static int carry_most(struct desk *d, uint64_t *bytes, struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < LOG_PASSES; i++) {
		uint64_t before = *bytes;

		rc = store_carry_log(d->log_store, bytes, err);
		if (*bytes < before + LOG_LITTLE)
			break;
	}
	return rc;
}

static void carry(struct desk *d)
{
	struct err err = { 0 };
	uint64_t bytes;
	int rc = store_carry_log(d->log_store, &bytes, &err);

	if (rc == 0 && bytes > LOG_MOST && (rc = carry_most(d, &bytes, &err)) == 0) {
		pthread_mutex_lock(&d->lock);
		rc = store_carry_log(d->log_store, &bytes, &err);
		pthread_mutex_unlock(&d->lock);
	}
	if (rc < 0)
		log_warn("%s", err.text);
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
	return NULL;
}

int desk_threads_start(struct desk *d, struct err *err)
{
	int rc = store_is_far(d->store) ? 0 :
	         serve_store(d->serve, STORE_EXISTING, &d->log_store, err);

	if (rc < 0)
		return rc;
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
	store_close(d->log_store);
}
