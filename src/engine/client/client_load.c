/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_load.c - the engine of a cycle that is open for clients.
 *
 * It is made from what the store has: the past, then the events of the open cycle in their
 * order, with the rounds where they were planned, then what is out.  What was offered is
 * stored and wins: if a round comes out otherwise than the first time (somebody imported
 * history meanwhile), nobody gets a page that another has.
 */
#include "engine/client/client_inner.h"

#include <math.h>

#include "engine/archive/judge.h"
#include "engine/cycle/guarantee.h"

struct made {
	VEC(struct event) events;
	VEC(uint32_t) order;            /* of each event */
	VEC(uint32_t) planned_after;
};

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct made *m = arg;
	enum outcome o = (enum outcome)v->outcome;
	struct event e = {
		.kind = EVENT_TOLD,
		.offer = { v->page, v->score, v->probability, v->reason },
		.delivery = { .outcome = o, .extra = v->extra,
			.hit = v->hit, .first = judge_was_first(v),
			.failure = retry_judge(o, (enum cause)v->cause, v->status) },
	};

	(void)err;
	if (v->reason == REASON_LATE)
		return 0;
	vec_push(&m->events, e);
	vec_push(&m->order, v->order);
	return 0;
}

static int see_round(void *arg, uint32_t number, uint32_t after, struct err *err)
{
	struct made *m = arg;

	(void)number;
	(void)err;
	vec_push(&m->planned_after, after);
	return 0;
}

static int compare_orders(const void *a, const void *b)
{
	const struct store_lease *const *x = a, *const *y = b;

	return (*x)->order < (*y)->order ? -1 : (*x)->order > (*y)->order;
}

static struct event lease_event(const struct store_lease *row)
{
	/* one that is told by now had lapsed before */
	enum event_kind kind = row->state == STORE_LEASE_GIVEN_BACK ? EVENT_GIVEN_BACK :
	                       row->state == STORE_LEASE_DROPPED ? EVENT_DROPPED : EVENT_LAPSED;
	bool lapsed = kind == EVENT_LAPSED;

	return (struct event){
		.kind = (uint8_t)kind,
		.offer = { row->page, row->score, row->probability, row->reason },
		.delivery = { .outcome = lapsed ? OUTCOME_FAILED : OUTCOME_BLOCKED,
			.extra = lapsed && row->requests ? row->requests - 1 : 0 },
	};
}

/* The visits come in their order; what was given back or lapsed goes between them. */
static void merge_leases(struct made *m, const struct ledger *l)
{
	VEC(const struct store_lease *) ended = { 0 };
	struct made all = { 0 };
	size_t k = 0;

	for (uint32_t i = 1; i <= l->leases.n; i++)
		if (ledger_lease(l, i)->order)
			vec_push(&ended, ledger_lease(l, i));
	if (ended.n)
		qsort(ended.v, ended.n, sizeof *ended.v, compare_orders);
	for (size_t i = 0; i < m->events.n; i++) {
		for (; k < ended.n && ended.v[k]->order < m->order.v[i]; k++)
			vec_push(&all.events, lease_event(ended.v[k]));
		vec_push(&all.events, m->events.v[i]);
	}
	for (; k < ended.n; k++)
		vec_push(&all.events, lease_event(ended.v[k]));
	vec_release(&ended);
	vec_release(&m->events);
	m->events.v = all.events.v;
	m->events.n = all.events.n;
	m->events.cap = all.events.cap;
}

static void give_out_again(struct client *c)
{
	struct engine *e = &c->resumed.engine;

	for (uint32_t i = 1; i <= c->ledger.leases.n; i++) {
		const struct store_lease *row = ledger_lease(&c->ledger, i);
		struct offer o = { row->page, row->score, row->probability, row->reason };

		if (row->state != STORE_LEASE_OUT || row->page >= e->view.n_pages)
			continue;
		engine_hold(e, engine_adopt(e, &o), row->requests);
	}
}

/* The turns that hosts have given already. */
static void find_slots(struct client *c)
{
	for (uint32_t i = 1; i <= c->ledger.leases.n; i++) {
		const struct store_lease *row = ledger_lease(&c->ledger, i);
		uint32_t site = c->resumed.engine.view.site[row->page];
		uint32_t at = map_get(&c->hosts, site);

		if (at == MAP_NONE) {
			at = (uint32_t)c->slots.n;
			map_put(&c->hosts, site, at);
			vec_push(&c->slots, ((struct client_host){ row->from, 0 }));
		}
		if (row->from > c->slots.v[at].last)
			c->slots.v[at] = (struct client_host){ row->from, 0 };
		c->slots.v[at].n += row->from == c->slots.v[at].last;
	}
}

/* The pause between requests to a site: its own setting, or that of all. */
static double delay_of(const struct client *c, uint32_t site)
{
	const struct strtab *names = &c->resumed.has.loaded.pages.site_names;
	const char *value = site_settings_of(&c->sites, "delay", strtab_get(names, site),
	                                     strtab_size(names, site));
	double seconds;

	return value && duration_parse_exact(value, &seconds) ? seconds : c->opts.delay;
}

int64_t client_slot(struct client *c, uint32_t page, int64_t now, bool take)
{
	uint32_t site = c->resumed.engine.view.site[page], at = map_get(&c->hosts, site);
	double delay = delay_of(c, site);
	uint32_t in_second = delay > 0 && delay < 1 ? (uint32_t)(1 / delay) : 1;
	struct client_host h = at == MAP_NONE ? (struct client_host){ 0, 0 } : c->slots.v[at];

	if (!(delay > 0))
		return now;
	if (c->opts.fleet && at == MAP_NONE && now < c->opts.fleet->from + (int64_t)ceil(delay))
		now = c->opts.fleet->from + (int64_t)ceil(delay);
	if (h.n && h.n >= in_second)
		h = (struct client_host){ h.last + (int64_t)fmax(1, ceil(delay)), 0 };
	if (h.last < now)
		h = (struct client_host){ now, 0 };
	h.n++;
	if (take && at == MAP_NONE) {
		map_put(&c->hosts, site, (uint32_t)c->slots.n);
		vec_push(&c->slots, h);
	} else if (take) {
		c->slots.v[at] = h;
	}
	return h.last;
}

/* Touched pages come first. */
static void reserve(struct client *c)
{
	struct engine_rules *r = &c->resumed.engine.rules;

	r->reserved = c->touched.v.v;
	r->n_reserved = c->touched.v.n;
	r->reserved_most = (uint32_t)c->touched.v.n;
}

static int go_on(struct client *c, struct err *err)
{
	struct engine *e = &c->resumed.engine;
	struct ledger *l = &c->ledger;
	uint32_t cycle = l->last.row.number;
	uint32_t budget = l->last.row.budget;
	struct grants grants = { 0 };
	struct made m = { 0 };
	int rc = store_visits(c->store, cycle, cycle + 1, see_visit, &m, err);

	if (rc == 0)
		rc = store_rounds(c->store, cycle, see_round, &m, err);
	if (rc == 0)
		rc = client_fleet_recall(c, &grants, m.planned_after.n, &budget, err);
	if (rc == 0)
		rc = touch_recall(&c->touched, c->store, cycle, e->view.n_pages, err);
	if (rc >= 0) {
		rc = 0;
		reserve(c);
		merge_leases(&m, l);
		for (uint32_t i = l->n_pages; i < e->view.n_pages; i++)
			e->visits.state[i] = 0;
		engine_continue(e, l->last.row.time, budget, m.events.v, m.events.n,
		                m.planned_after.v, m.planned_after.n, true);
		e->rules.planned_with = NULL;
		client_fleet_granted(c);
		give_out_again(c);
		find_slots(c);
	}
	c->rounds_kept = (uint32_t)m.planned_after.n;
	vec_release(&m.events);
	vec_release(&m.order);
	vec_release(&m.planned_after);
	grants_release(&grants);
	return rc;
}

static int set_rules(struct client *c, const struct ledger_rules *r, struct err *err)
{
	struct engine *e = &c->resumed.engine;

	e->retry.share = r->retry_share;
	e->ceiling.share = r->site_share;
	e->ceiling.usual = true;
	client_fleet_rules(c);
	return guarantee_cycles(r->max_age, r->every, &e->rules.max_age, err);
}

static void forget_cycle(struct client *c)
{
	site_settings_release(&c->sites);
	c->sites = (struct site_settings){ 0 };
	map_release(&c->hosts);
	vec_release(&c->slots);
	map_release(&c->shown);
	c->rounds_kept = 0;
	c->ready = c->whole = false;
}

int client_load(struct client *c, struct err *err)
{
	const struct ledger *l = &c->ledger;
	const struct ledger_rules *r = l->open ? &l->rules : &c->opts.rules;
	struct resume_opts ro = {
		.policy = l->open ? l->last.policy : c->opts.policy,
		.seed = l->open ? l->last.row.seed : c->opts.seed,
		.cycle_seconds = r->every, .aim = r->aim, .weight = r->weight,
		.before_cycle = l->open || c->resumed.next ? l->last.row.number + !l->open : 0,
		.snapshot = l->open, .progress = c->opts.progress,
	};
	int rc;

	if (!c->resumed.next)
		client_unload(c);
	forget_cycle(c);
	rc = site_settings_load(&c->sites, c->store, err);
	if (rc == 0)
		rc = client_fleet_shards(c, l->open, &ro.n_shards, err);
	if (rc == 0)
		rc = resume_again(&c->resumed, c->store, &ro, err);
	rc = rc < 0 ? rc : 0;
	if (rc == 0)
		rc = set_rules(c, r, err);
	if (rc == 0 && l->open)
		rc = go_on(c, err);
	c->ready = rc == 0;
	c->ahead = c->ready && c->opts.ahead && c->resumed.has.loaded.pages.n >= c->opts.ahead;
	c->seconds_counted = c->resumed.engine.cycle.plan_seconds;
	if (rc < 0)
		client_unload(c);
	return rc;
}

void client_unload(struct client *c)
{
	client_settle(c, true);
	resume_release(&c->resumed);
	c->resumed = (struct resumed){ 0 };
	forget_cycle(c);
}

void client_load_ended(struct client *c)
{
	uint32_t cycle = c->ledger.last.row.number;

	client_settle(c, false);
	if (!c->ready || !c->whole) {
		client_unload(c);
		return;
	}
	engine_end(&c->resumed.engine);
	resume_ended(&c->resumed, cycle);
	forget_cycle(c);
}

int client_start(struct client *c, struct err *err)
{
	const struct store_cycle *row = &c->ledger.last.row;
	struct touch_rule rule = { c->opts.notifier_share, row->budget,
	                           c->resumed.engine.view.n_pages, row->time };
	int rc;

	client_fleet_begin(c, &rule.budget);
	rc = touch_choose(&c->touched, c->store, &rule, err);
	if (rc == 0)
		rc = touch_keep(&c->touched, c->store, row->number, err);
	if (rc < 0)
		return rc;
	reserve(c);
	engine_begin(&c->resumed.engine, row->time, rule.budget);
	client_fleet_granted(c);
	c->seconds_counted = c->resumed.engine.cycle.plan_seconds;
	c->rounds_kept = 0;
	c->whole = true;
	return 0;
}

/* ---- what happens while the engine stands ---- */

void client_event(void *client, const struct tell_event *t)
{
	struct client *c = client;
	struct engine *e = &c->resumed.engine;
	struct delivery d = { .outcome = t->outcome, .first = t->first, .extra = t->extra,
		.hit = judge_hit(t->outcome, t->first),
		.failure = retry_judge(t->outcome, t->cause, t->status) };
	struct offer o = { t->page, t->score, t->probability, t->reason };
	uint32_t lease;

	if (!c->ready)
		return;
	if (c->plans) {
		vec_push(&c->events, *t);
		return;
	}
	if (t->page >= e->view.n_pages) {       /* it is new: the engine has no room for it */
		client_unload(c);
		return;
	}
	lease = t->what == TELL_VISIT ? engine_adopt(e, &o) : engine_find(e, t->page);
	if (!lease)
		return;
	if (t->what == TELL_VISIT)
		engine_tell(e, lease, &d);
	else if (t->what == TELL_GIVEN_BACK)
		engine_give_back(e, lease);
	else
		engine_lapse(e, lease);
}

int client_rounds_save(struct client *c, struct err *err)
{
	const struct cycle *e = &c->resumed.engine.cycle;
	uint32_t kept = c->rounds_kept;
	size_t n = e->planned_after.n;
	int rc = 0;

	if (kept < n)
		rc = store_rounds_add(c->store, c->ledger.last.row.number, kept + 1,
		                      e->planned_after.v + kept, n - kept, err);
	c->rounds_kept = (uint32_t)n;
	return rc;
}
