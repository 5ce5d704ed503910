/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - the worker: cycles are opened, shards claimed, leases renewed; see work.h. */
#include "engine/fleet/work_inner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stop.h"

#define BEAT_SECONDS 5
#define LOOP_MS 200
#define LOOK_MS 500             /* at the ledger */
#define FAILED_SECONDS 5        /* a slot that failed takes the next shard after it */
#define STOP_BEFORE_MS 2000     /* before its deadline a slot stops by itself */

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static bool is_stopped(const struct work *w)
{
	return stop_is_set(w->o->stop);
}

/* ---- renewals ---- */

static void set_deadline(struct slot *s, double sent)
{
	atomic_store(&s->send_until, (int64_t)((sent + LEASE_OWN_SECONDS) * 1000));
}

/* Renew the leases of all slots that work.  False: the ledger did not answer. */
static bool renew(struct work *w)
{
	VEC(struct fleet_lease) leases = { 0 };
	VEC(struct slot *) slots = { 0 };
	double sent = fleet_clock();
	bool *held, good;

	pthread_mutex_lock(&w->filling);
	for (uint32_t i = 0; i < w->o->take; i++)
		if (atomic_load(&w->slots[i].state) == SLOT_WORKS) {
			vec_push(&leases, w->slots[i].lease);
			vec_push(&slots, &w->slots[i]);
		}
	pthread_mutex_unlock(&w->filling);
	held = mem_zalloc(leases.n + 1, sizeof *held);
	good = fleet_renew(w->renewing, leases.v, leases.n, held, NULL) == 0;
	pthread_mutex_lock(&w->filling);
	for (size_t i = 0; i < slots.n; i++) {
		/* the slot may have ended meanwhile, and have another lease */
		if (slots.v[i]->lease.fence != leases.v[i].fence ||
		    slots.v[i]->lease.shard != leases.v[i].shard)
			continue;
		if (good && held[i] && atomic_load(&slots.v[i]->send_until)) {
			set_deadline(slots.v[i], sent);
		} else if (good && !held[i]) {
			atomic_store(&slots.v[i]->send_until, 0);
			stop_set(&slots.v[i]->stop);
		}
	}
	pthread_mutex_unlock(&w->filling);
	free(held);
	vec_release(&leases);
	vec_release(&slots);
	return good;
}

/* A slot whose lease cannot be renewed ends while it still may write. */
static void stop_late(struct work *w)
{
	int64_t now = (int64_t)(fleet_clock() * 1000);

	pthread_mutex_lock(&w->filling);
	for (uint32_t i = 0; i < w->o->take; i++)
		if (atomic_load(&w->slots[i].state) == SLOT_WORKS &&
		    now > atomic_load(&w->slots[i].send_until) - STOP_BEFORE_MS)
			stop_set(&w->slots[i].stop);
	pthread_mutex_unlock(&w->filling);
}

static void *renew_all(void *arg)
{
	struct work *w = arg;
	double next = fleet_clock() + RENEW_SECONDS;

	while (!atomic_load(&w->over)) {
		if (fleet_clock() >= next)
			next = fleet_clock() + (renew(w) ? RENEW_SECONDS : 1);
		stop_late(w);
		sleep_ms(LOOP_MS);
	}
	return NULL;
}

/* ---- cycles ---- */

/* The cycle that is due now, unless another has opened it. */
static int open_due(struct work *w, const struct fleet_cycle *last, double now, size_t n_shards,
                    struct err *err)
{
	struct fleet_cycle c = { .number = last->number + 1, .slot = (int64_t)now };
	struct work_schedule s = { 0 };
	double share;
	int rc;

	if ((rc = w->o->schedule(w->o->arg, &s, err)) < 0 ||
	    (rc = fleet_pages(w->fleet, &c.pages, err)) < 0 || !c.pages)
		return rc;
	c.every = s.every;
	/* Of slots that were missed only the last is made up for; where `every` was made shorter, the
	 * last of the short ones: one of the long may be over for longer than the new cycle lasts. */
	if (last->number) {
		int64_t step = s.every < last->every ? s.every : last->every;

		c.slot = last->slot + (int64_t)floor((now - (double)last->slot) / (double)step) * step;
	}
	share = s.budget.percent ? floor(s.budget.value / 100 * (double)c.pages + 1e-9) :
		s.budget.value;
	c.budget = share < 1 ? 1 : share < UINT32_MAX ? (uint32_t)share : UINT32_MAX;
	/* `auto` chooses by what a repository has; the shards of a fleet need one policy */
	snprintf(c.policy, sizeof c.policy, "%s", strcmp(s.policy, "auto") || n_shards == 1 ?
	         s.policy : c.budget >= c.pages ? "oldest" : "tide");
	snprintf(c.aim, sizeof c.aim, "%s", s.aim);
	return fleet_cycle_open(w->fleet, &c, err);
}

static bool is_over(const struct fleet_cycle *c, size_t n_shards)
{
	return c->number && c->done >= n_shards;
}

/* ---- slots ---- */

static void start(struct slot *s, const struct fleet_lease *lease, const struct fleet_cycle *c)
{
	struct work *w = s->work;

	pthread_mutex_lock(&w->filling);
	*s = (struct slot){ .work = w, .lease = *lease, .cycle = *c };
	set_deadline(s, lease->sent);
	atomic_store(&s->state, SLOT_WORKS);
	pthread_mutex_unlock(&w->filling);
	if (pthread_create(&s->thread, NULL, slot_run, s))
		err_no_memory();
}

/* Take the threads that have ended.  Returns how many work. */
static uint32_t collect(struct work *w, bool *ret_failed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->o->take; i++) {
		struct slot *s = &w->slots[i];

		if (atomic_load(&s->state) == SLOT_ENDED) {
			pthread_join(s->thread, NULL);
			*ret_failed |= s->failed;
			atomic_store(&s->state, SLOT_FREE);
		}
		n += atomic_load(&s->state) == SLOT_WORKS;
	}
	return n;
}

static int claim(struct work *w, const struct fleet_cycle *last, double now, struct err *err)
{
	static const struct fleet_cycle none;
	bool open = last->number && now < (double)(last->slot + last->every);
	int rc = 1;

	for (uint32_t i = 0; i < w->o->take && rc > 0; i++) {
		struct fleet_lease lease;
		bool cycle = open;

		if (atomic_load(&w->slots[i].state) != SLOT_FREE)
			continue;
		rc = open ? fleet_claim(w->fleet, w->o->worker, last->number, -1, &lease, err) : 0;
		if (rc == 0) {
			cycle = false;
			rc = fleet_claim(w->fleet, w->o->worker, 0, -1, &lease, err);
		}
		if (rc > 0)
			start(&w->slots[i], &lease, cycle ? last : &none);
	}
	return rc < 0 ? rc : 0;
}

struct standing { double beat, looked, not_before; uint32_t last_cycle; bool known, over; };

static struct fleet_worker describe(const struct work *w, bool stopped)
{
	struct fleet_worker r = { .process = getpid(), .take = w->o->take, .stopped = stopped,
	                          .ahead = atomic_load(&w->ahead),
	                          .requests = atomic_load(&w->requests),
	                          .version = FRESHET_VERSION };

	snprintf(r.worker, sizeof r.worker, "%s", w->o->worker);
	gethostname(r.host, sizeof r.host - 1);
	return r;
}

/* Is our last cycle over, or, with nothing of ours under way, the next one due?  What shards that
 * others have still do of it is theirs. */
static bool is_enough(const struct work *w, const struct standing *st,
                      const struct fleet_cycle *last, size_t n_shards, bool due, uint32_t working)
{
	return w->o->cycles && (last->number > st->last_cycle ||
	                        (last->number == st->last_cycle &&
	                         (is_over(last, n_shards) || (due && !working))));
}

/* One look at the ledger: what is due is begun. */
static int look(struct work *w, struct standing *st, uint32_t working, struct err *err)
{
	struct fleet_shard *shards = NULL;
	struct fleet_worker me;
	struct fleet_cycle last;
	double now, ahead;
	size_t n;
	bool due;
	int rc;

	if ((rc = fleet_now(w->fleet, &now, &ahead, err)) < 0 ||
	    (rc = fleet_cycle_last(w->fleet, &last, err)) < 0 ||
	    (rc = fleet_shards(w->fleet, &shards, &n, err)) < 0)
		return rc;
	free(shards);
	atomic_store(&w->ahead, ahead);
	due = !last.number || now >= (double)(last.slot + last.every);
	if (!st->known && w->o->cycles)
		st->last_cycle = last.number + w->o->cycles - (!due && !is_over(&last, n));
	st->known = true;
	if (is_enough(w, st, &last, n, due, working)) {
		st->over = true;
		return 0;
	}
	if (due && (!w->o->cycles || last.number < st->last_cycle) &&
	    ((rc = open_due(w, &last, now, n, err)) < 0 ||
	     (rc = fleet_cycle_last(w->fleet, &last, err)) < 0))
		return rc;
	if (fleet_clock() >= st->not_before && (rc = claim(w, &last, now, err)) < 0)
		return rc;
	if (fleet_clock() - st->beat >= BEAT_SECONDS) {
		st->beat = fleet_clock();
		me = describe(w, false);
		rc = fleet_beat(w->fleet, &me, err);
	}
	return rc;
}

static int loop(struct work *w, struct err *err)
{
	struct standing st = { 0 };
	uint32_t working = 0;
	bool failed;
	int rc = 0;

	while (rc == 0 && !is_stopped(w) && !st.over) {
		failed = false;
		working = collect(w, &failed);
		if (failed)
			st.not_before = fleet_clock() + FAILED_SECONDS;
		if (fleet_clock() - st.looked >= LOOK_MS / 1000.0) {
			st.looked = fleet_clock();
			rc = look(w, &st, working, err);
			if (rc == E_STORE || rc == E_BUSY) {    /* the server is away: leases end, we stay */
				log_warn("%s", err->text);
				rc = 0;
			}
		}
		sleep_ms(LOOP_MS / 4);
	}
	for (uint32_t i = 0; i < w->o->take; i++)
		stop_set(&w->slots[i].stop);
	if (is_stopped(w) && working)
		log_info("stopping: %u shard%s given back when what is under way has come; once more "
		         "stops at once", working, working == 1 ? " is" : "s are");
	while (collect(w, &failed))
		sleep_ms(LOOP_MS / 4);
	return rc;
}

int work_run(const struct work_opts *o, struct err *err)
{
	struct work w = { .o = o, .filling = PTHREAD_MUTEX_INITIALIZER };
	struct fleet_worker me;
	int rc = fleet_open(&w.fleet, o->url, err);

	if (rc == 0)
		rc = fleet_open(&w.renewing, o->url, err);
	me = describe(&w, false);
	if (rc == 0 && (rc = fleet_hello(w.fleet, &me, err)) == 0) {
		if (!o->clients)
			left_finish(&w);
		w.slots = mem_zalloc(o->take, sizeof *w.slots);
		for (uint32_t i = 0; i < o->take; i++)
			w.slots[i].work = &w;
		if (pthread_create(&w.renewer, NULL, renew_all, &w))
			err_no_memory();
		rc = loop(&w, err);
		atomic_store(&w.over, 1);
		pthread_join(w.renewer, NULL);
		me = describe(&w, true);
		(void)!fleet_beat(w.fleet, &me, NULL);
		free(w.slots);
	}
	fleet_close(w.renewing);
	fleet_close(w.fleet);
	if (rc == 0 && stop_is_set(o->stop))
		rc = err_set(err, E_STOP, "stopped; all shards were given back");
	return rc;
}
