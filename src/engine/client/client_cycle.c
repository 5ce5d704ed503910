/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_cycle.c - cycles open and end, rounds are planned ahead; see client.h.
 *
 * Two threads touch a client that plans ahead: the calls, and the one that plans.  They take
 * turns by the caller's lock, but for client_think().  It touches the policy, the view and the
 * states of pages, which calls leave alone while `plans` is set: events wait in a list
 * (client_event()).  Whoever needs the engine whole waits for the thought to end
 * (client_settle()).
 */
#include "engine/client/client_inner.h"

#include <string.h>

#include "engine/cycle/cycle.h"

#define QUEUE_LOW 2000          /* pages that clients take while a round is planned, about */

/* ---- open and end ---- */

int client_lapse(struct client *c, int64_t now, struct err *err)
{
	struct tell t = { .store = c->store, .now = now, .event = client_event, .arg = c };

	return tell_lapse(&t, &c->ledger, err);
}

/* Is there a cycle to go on with?  One of ours ends when the next is due. */
static int end_old(struct client *c, const struct client_asking *a, struct client_asked *ret,
                   struct err *err)
{
	struct ledger *l = &c->ledger;
	struct store_cycle *row = &l->last.row;
	bool due = !c->opts.fleet && l->open && l->rules.every > 0 && a->now - row->time >= l->rules.every;
	int rc = 0;

	if (!l->last.any || !row->open || (l->open && !a->anew && !due))
		return 0;
	if (!l->open && !a->anew)
		return err_set(err, E_USAGE, "cycle %u was begun by `freshet %s`, which goes on with "
		               "it; --new ends it and begins another", row->number,
		               row->goal == GOAL_ALIVE ? "live" : "cycle");
	ret->ended = row->number;
	client_load_ended(c);
	if ((rc = client_begin(c, err)) == 0 && (rc = client_lapse(c, a->now, err)) == 0) {
		rc = l->open ? ledger_end(l, err) : last_cycle_end(c->store, &l->last, err);

		if (rc == 0)
			rc = store_commit(c->store, err);
	}
	return rc;
}

static int begin_new(struct client *c, const struct client_asking *a, struct client_asked *ret,
                     struct err *err)
{
	const struct last_cycle *last = &c->ledger.last;
	const struct share *b = &c->opts.budget;
	struct store_cycle row = {
		.number = last->any ? last->row.number + 1 : 1, .time = a->now, .seed = c->opts.seed,
		.policy = { c->opts.policy, strlen(c->opts.policy) },
		.owed = c->opts.fleet ? 0 : last_cycle_owed(last),
		.pages = c->resumed.has.loaded.pages.n,
	};
	int rc;

	/* whatever the clock does, our time goes on: histories are ordered by it */
	if (last->any && row.time <= last->row.time)
		row.time = last->row.time + 1;
	row.budget = (uint32_t)share_of(*b, b->percent ? c->resumed.has.loaded.n_here : UINT32_MAX);
	ret->taken_off = last_cycle_pay(&row);
	rc = ledger_begin(&c->ledger, &row, &c->opts.rules, c->resumed.has.loaded.pages.n, err);
	return rc < 0 ? rc : client_start(c, err);
}

bool client_stands(const struct client *c, const struct client_asking *a)
{
	const struct ledger *l = &c->ledger;

	return c->ready && l->open && !a->anew &&
	       (c->opts.fleet ||
	        !(l->rules.every > 0 && a->now - l->last.row.time >= l->rules.every));
}

int client_open_cycle(struct client *c, const struct client_asking *a, struct client_asked *ret,
                      struct err *err)
{
	int rc = end_old(c, a, ret, err);

	if (rc == 0 && !c->ready)
		rc = client_load(c, err);
	if (rc == 0 && !c->ledger.open && !c->resumed.has.loaded.n_here) {
		client_unload(c);
		return 1;
	}
	if (rc == 0 && (rc = client_begin(c, err)) == 0) {
		ret->begun = !c->ledger.open;
		rc = c->ledger.open ? client_lapse(c, a->now, err) : begin_new(c, a, ret, err);
	}
	return rc;
}

int client_warm(struct client *c, struct err *err)
{
	int rc = client_enter(c, err);

	if (rc == 0 && !c->ready)
		rc = client_load(c, err);
	return client_leave(c, rc);
}

int client_end(struct client *c, int64_t now, struct store_cycle *ret, struct err *err)
{
	bool open;
	int rc = client_enter(c, err);

	open = rc == 0 && c->ledger.open;
	if (open)
		client_load_ended(c);
	if (open && (rc = client_begin(c, err)) == 0 && (rc = client_lapse(c, now, err)) == 0 &&
	    (rc = ledger_end(&c->ledger, err)) == 0)
		rc = store_commit(c->store, err);
	if (rc == 0)
		*ret = c->ledger.last.row;
	rc = client_leave(c, rc);
	return rc < 0 ? rc : open;
}

/* ---- ahead ---- */

bool client_is_ahead(const struct client *c)
{
	return c->ahead;
}

enum client_due client_due(const struct client *c)
{
	if (c->wanted)
		return CLIENT_DUE_CYCLE;
	return c->ahead && c->ready && c->ledger.open && !c->plans &&
	       engine_is_due(&c->resumed.engine, c->impatient ? UINT32_MAX : QUEUE_LOW,
	                     c->impatient) ? CLIENT_DUE_ROUND : CLIENT_DUE_NOTHING;
}

bool client_plan(struct client *c)
{
	c->impatient = false;
	c->plans = c->thinks = engine_plan_begin(&c->resumed.engine);
	return c->plans;
}

/* What cannot be prepared is left to who asks next, who is told why. */
int client_prepare(struct client *c, int64_t now, struct err *err)
{
	struct client_asking a = { .want = 1, .now = now, .anew = c->wanted_anew };
	struct client_asked r = { 0 };
	int rc = client_enter(c, err);

	c->wanted = c->wanted_anew = false;
	if (rc == 0 && client_stands(c, &a))
		return client_leave(c, 0);
	if (rc == 0)
		rc = client_open_cycle(c, &a, &r, err);
	if (rc > 0) {
		c->ahead = false;
		return client_leave(c, 0);
	}
	if (rc == 0 && (rc = client_commit(c, err)) == 0)
		c->news = (struct client_news){ r.begun, r.taken_off, r.ended };
	if (rc < 0)
		c->ahead = false;
	return client_leave(c, rc);
}

void client_think(struct client *c)
{
	cycle_plan_think(&c->resumed.engine);
	pthread_mutex_lock(&c->thinking);
	c->thinks = false;
	pthread_cond_broadcast(&c->thought);
	pthread_mutex_unlock(&c->thinking);
}

static void hear(struct client *c)
{
	for (size_t i = 0; i < c->events.n && c->ready; i++) {
		struct tell_event e = c->events.v[i];

		client_event(c, &e);
	}
	c->events.n = 0;
}

bool client_planned(struct client *c)
{
	struct engine *e = &c->resumed.engine;

	if (!c->plans)                  /* the engine is gone meanwhile */
		return false;
	if (!engine_plan_end(e) && engine_plan_begin(e)) {
		c->thinks = true;
		return true;
	}
	c->plans = false;
	hear(c);
	return false;
}

void client_settle(struct client *c, bool drop)
{
	if (!c->plans)
		return;
	pthread_mutex_lock(&c->thinking);
	while (c->thinks)
		pthread_cond_wait(&c->thought, &c->thinking);
	pthread_mutex_unlock(&c->thinking);
	if (drop)
		c->events.n = 0;
	while (!drop && !engine_plan_end(&c->resumed.engine) &&
	       engine_plan_begin(&c->resumed.engine))
		cycle_plan_think(&c->resumed.engine);
	c->plans = false;
	hear(c);
}
