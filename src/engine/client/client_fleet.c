/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_fleet.c - a cycle for clients that is the part of one shard in a cycle of a fleet: its
 * budget comes in parts; see struct client_fleet, and engine/recall/grants.h for what is kept.
 *
 * What was granted is asked for only when a client wants pages: a service that nobody asks must
 * not keep budget from the other shards.
 */
#include "engine/client/client_inner.h"

#include "engine/cycle/cycle.h"

/* ---- the engine ---- */

int client_fleet_shards(struct client *c, bool goes_on, uint32_t *ret, struct err *err)
{
	return c->opts.fleet ? grants_shards(c->store, goes_on, c->opts.fleet->n_shards, ret, err) : 0;
}

void client_fleet_rules(struct client *c)
{
	const struct client_fleet *f = c->opts.fleet;
	struct engine *e = &c->resumed.engine;

	if (!f)
		return;
	e->rules.metered = true;
	e->ceiling.fleet = (struct ceiling_fleet){ f->budget, f->pages };
}

void client_fleet_begin(struct client *c, uint32_t *budget)
{
	const struct client_fleet *f = c->opts.fleet;
	struct engine *e = &c->resumed.engine;

	if (!f)
		return;
	*budget = f->expected ? f->expected : 1;
	e->view.shared = f->shared;
	c->grants_kept = 0;
	c->grants_over = c->dry = false;
}

int client_fleet_recall(struct client *c, struct grants *g, size_t n_rounds, uint32_t *budget,
                        struct err *err)
{
	struct engine *e = &c->resumed.engine;
	int rc;

	if (!c->opts.fleet)
		return 0;
	*budget = c->opts.fleet->expected ? c->opts.fleet->expected : 1;
	rc = grants_load(g, c->store, c->ledger.last.row.number, n_rounds, err);
	if (rc > 0) {
		*budget = g->expected;
		e->view.shared = g->shared;
		e->rules.planned_with = g->planned_with.n ? g->planned_with.v : NULL;
	}
	return rc < 0 ? rc : 0;
}

void client_fleet_granted(struct client *c)
{
	const struct client_fleet *f = c->opts.fleet;
	struct engine *e = &c->resumed.engine;

	if (f && f->granted > e->cycle.granted)
		engine_grant(e, f->granted - e->cycle.granted);
}

int client_fleet_more(struct client *c, bool *ret, struct err *err)
{
	const struct client_fleet *f = c->opts.fleet;
	struct engine *e = &c->resumed.engine;
	uint32_t granted = e->cycle.granted;
	int rc = f && !c->grants_over ? f->more(f->arg, e, e->cycle.n_offered != 0, &granted, err) :
	         CLIENT_NO_MORE;

	*ret = rc >= 0 && granted > e->cycle.granted;
	c->grants_over = rc == CLIENT_NO_MORE;
	if (*ret)
		engine_grant(e, granted - e->cycle.granted);
	return rc < 0 ? rc : 0;
}

int client_fleet_save(struct client *c, struct err *err)
{
	const struct engine *e = &c->resumed.engine;
	int rc;

	if (!c->opts.fleet || !c->ready)
		return 0;
	c->ledger.last.row.budget = e->cycle.granted;
	if (c->grants_kept == e->cycle.planned_with.n + 1)
		return 0;
	rc = grants_save(c->store, c->ledger.last.row.number, e, err);
	c->grants_kept = e->cycle.planned_with.n + 1;
	return rc;
}

/* ---- the part ---- */

int client_part(struct client *c, bool fresh, int64_t now, struct store_cycle *ret,
                struct err *err)
{
	struct client_asking a = { .now = now, .anew = fresh };
	struct client_asked r = { 0 };
	int rc = client_enter(c, err);

	if (rc == 0 && (rc = client_open_cycle(c, &a, &r, err)) == 0)
		rc = client_commit(c, err);
	c->dry = rc > 0;                /* there are no pages */
	*ret = rc == 0 ? c->ledger.last.row : (struct store_cycle){ 0 };
	return client_leave(c, rc < 0 ? rc : 0);
}

int client_part_look(struct client *c, int64_t now, struct store_cycle *ret, bool *ret_over,
                     struct err *err)
{
	struct ledger *l = &c->ledger;
	int rc = client_enter(c, err);

	if (rc == 0 && !c->ready && l->open)
		rc = client_load(c, err);
	if (rc == 0 && l->open && ledger_due(l, 0, now) && (rc = client_begin(c, err)) == 0 &&
	    (rc = client_lapse(c, now, err)) == 0)
		rc = client_commit(c, err);
	if (rc == 0) {
		uint32_t first = ledger_first(l);

		*ret_over = !l->open || (c->dry && first > l->leases.n);
		*ret = l->open ? l->last.row : (struct store_cycle){ 0 };
	}
	return client_leave(c, rc);
}
