/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.c - the open cycle, the file to read first; see cycle.h.
 *
 * The budget.  A caller asks for every request before sending it (engine_spend()): the
 * first of a page, each redirect hop, each retry.  The real cost of a page is known when
 * it is told.  So at every moment
 *
 *     requests of told and lapsed pages + requests granted to offered pages <= budget
 *
 * An offered page without a granted request only waits.  Redirect hops of other pages may
 * use up the budget meanwhile; a page that then gets no request is left over.
 */
#include "engine/cycle/cycle.h"

#include <time.h>

#define ANSWERS_AT_ONCE 65536   /* pages that engine_cycle() asks its source for at a time */

void engine_init(struct engine *e, const struct pages *p, struct policy *policy,
                 int64_t start)
{
	*e = (struct engine){ .policy = policy };
	visits_init(&e->visits, p->n, start);
	pages_view(p, &e->visits, &e->view);
	policy_size(policy, p->n);
}

void engine_release(struct engine *e)
{
	visits_release(&e->visits);
	plan_release(&e->plan);
	ceiling_release(&e->ceiling);
	retry_release(&e->retry);
	sample_release(&e->sample);
	vec_release(&e->cycle.leases);
	vec_release(&e->cycle.planned_after);
	vec_release(&e->cycle.planned_with);
	map_release(&e->cycle.by_page);
	map_release(&e->out);
	free(e->cycle.seen);
}

double engine_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- begin and end ---- */

void engine_begin(struct engine *e, int64_t now, uint32_t budget)
{
	struct cycle *c = &e->cycle, last = *c;
	double from = engine_seconds();

	*c = (struct cycle){ .seen = last.seen, .cap_seen = last.cap_seen, .leases = last.leases,
	                     .planned_after = last.planned_after,
	                     .planned_with = last.planned_with, .by_page = last.by_page };
	c->leases.n = c->planned_after.n = c->planned_with.n = 0;
	map_clear(&c->by_page);
	e->view.now = now;
	e->view.cycle++;
	e->view.round = 0;
	e->view.budget = e->view.room = budget;         /* of a metered cycle: expected */
	sample_draw(&e->sample, &e->view);
	retry_begin(&e->retry, &e->view, e->visits.state);
	ceiling_begin(&e->ceiling, &e->view, e->visits.state);
	policy_begin(e->policy, &e->view);
	c->plan_seconds += engine_seconds() - from;
}

void engine_end(struct engine *e)
{
	struct cycle *c = &e->cycle;
	double from = engine_seconds();

	policy_end(e->policy, &e->view);
	ceiling_end(&e->ceiling, &e->view, e->visits.state);
	retry_end(&e->retry, &e->view, e->visits.state);
	for (size_t i = 0; i < c->leases.n; i++)
		e->visits.state[c->leases.v[i].offer.page] &= (uint8_t)~(PAGE_TAKEN | PAGE_RETRIED);
	for (size_t i = 0; i < c->n_seen; i++)          /* recalled visits have no lease */
		e->visits.state[c->seen[i].page] &= (uint8_t)~PAGE_TAKEN;
	c->plan_seconds += engine_seconds() - from;
}

/* ---- asking ---- */

uint32_t engine_left(const struct engine *e)
{
	uint64_t used = (uint64_t)e->cycle.n_spent + e->cycle.n_granted;

	return used < engine_budget(e) ? engine_budget(e) - (uint32_t)used : 0;
}

/* May one more page be offered?  Each waiting page keeps its first request.  If pages may
 * be redirected and some are offered, one request is held back, plus the mean number of
 * extra requests so far for each offered page. */
static bool may_offer(const struct engine *e, const struct asking *a)
{
	const struct cycle *c = &e->cycle;
	uint64_t held = c->n_waiting;

	if (a->hops && c->n_offered) {
		held++;
		if (c->answers)
			held += (uint64_t)c->n_offered * c->extras / c->answers;
	}
	return engine_left(e) > held;
}

bool engine_wants_grant(const struct engine *e, const struct asking *a)
{
	return e->rules.metered && (!cycle_room(e) || !may_offer(e, a));
}

static void offer_page(struct engine *e, struct lease *l)
{
	l->state = LEASE_OFFERED;
	e->cycle.n_offered++;
	e->cycle.n_waiting++;
}

static bool is_out(const struct engine *e, const struct lease *l)
{
	return map_get(&e->out, l->offer.page) == 1;
}

/* Take pages from the queue, in its order.  (To drop one is an event, which waits while the
 * policy thinks.) */
static size_t serve(struct engine *e, const struct asking *a, uint32_t *ret)
{
	struct cycle *c = &e->cycle;
	uint32_t before = 0, at = c->queue_first, next;
	size_t n = 0;

	for (; at && n < a->want && may_offer(e, a); at = next) {
		struct lease *l = &c->leases.v[at - 1];

		next = l->next;
		if (l->state == LEASE_QUEUED && ((a->fits && !a->fits(a->arg, &l->offer)) ||
		                                 (c->thinks && is_out(e, l)))) {
			before = at;
			continue;
		}
		if (before)
			c->leases.v[before - 1].next = next;
		else
			c->queue_first = next;
		if (c->queue_last == at)
			c->queue_last = before;
		l->next = 0;
		if (l->state != LEASE_QUEUED)
			continue;
		c->n_queued--;
		offer_page(e, l);
		if (is_out(e, l))
			engine_drop(e, at);
		else
			ret[n++] = at;
	}
	return n;
}

/* May the next round be planned?  The opening sample waits for all its answers: without
 * the slow pages it would not be random. */
static bool is_due(const struct engine *e, bool impatient)
{
	const struct cycle *c = &e->cycle;
	double may_miss = 1 - policy_patience(e->policy);

	if (c->phase == PHASE_SAMPLE && e->sample.n_open)
		return impatient;
	return impatient || !c->plan_open || c->plan_open <= may_miss * c->plan_size;
}

/* A plan came out empty.  It can come out otherwise when pages have opened since: they were
 * given back, or their owner or host was opened.  Without filling up, it is the policy that
 * asked for nothing, and any event may change its mind. */
static uint64_t could_open(const struct engine *e)
{
	const struct cycle *c = &e->cycle;

	return e->rules.no_fill ? c->n_events :
	       (uint64_t)c->n_given_back + e->ceiling.n_opened + e->retry.n_opened;
}

static bool is_dry(const struct engine *e)
{
	return e->cycle.phase == PHASE_DRY && e->cycle.dry_since == could_open(e);
}

bool engine_is_due(const struct engine *e, uint32_t queued, bool impatient)
{
	const struct cycle *c = &e->cycle;

	return !c->thinks && c->n_queued <= queued && engine_left(e) > c->n_waiting &&
	       cycle_room(e) && is_due(e, impatient) && !is_dry(e);
}

bool engine_plan_begin(struct engine *e)
{
	return cycle_plan_begin(e);
}

bool engine_plan_end(struct engine *e)
{
	struct cycle *c = &e->cycle;
	double from = engine_seconds();
	enum planned what = cycle_plan_end(e);

	c->dry_since = could_open(e);
	c->plan_seconds += c->think_seconds + engine_seconds() - from;
	c->think_seconds = 0;
	return what != PLANNED_AGAIN;
}

enum ask engine_ask(struct engine *e, const struct asking *a, uint32_t *ret, size_t *ret_n)
{
	struct cycle *c = &e->cycle;

	while (!(*ret_n = serve(e, a, ret))) {
		bool under_way = c->n_offered > 0, planned = false;

		if (a->queue_only && (c->thinks || engine_is_due(e, UINT32_MAX, a->impatient)))
			return ASK_WAIT;
		if (!a->queue_only && may_offer(e, a) && is_due(e, a->impatient) && !is_dry(e)) {
			double from = engine_seconds();

			planned = cycle_plan(e);
			c->dry_since = could_open(e);
			c->plan_seconds += engine_seconds() - from;
			c->think_seconds = 0;   /* among them */
		}
		if (!planned)
			return under_way || (c->n_queued && engine_left(e)) ? ASK_WAIT :
			       e->rules.metered && !cycle_room(e) ? ASK_GRANT : ASK_DONE;
	}
	return ASK_OFFERS;
}

/* The ceiling does not bind the first request of a page that the guarantee asks for; it
 * does bind the redirects of that page. */
bool engine_may_spend(const struct engine *e, uint32_t lease)
{
	const struct lease *l = engine_lease(e, lease);

	return l->state == LEASE_OFFERED && engine_left(e) &&
		((!l->requests && l->offer.reason == REASON_GUARANTEE) ||
		 ceiling_left(&e->ceiling, &e->view, l->offer.page));
}

bool engine_has_room(const struct engine *e, const struct offer *o)
{
	return engine_left(e) && (o->reason == REASON_GUARANTEE ||
	                          ceiling_left(&e->ceiling, &e->view, o->page));
}

void engine_hold(struct engine *e, uint32_t lease, uint32_t n)
{
	struct lease *l = &e->cycle.leases.v[lease - 1];

	if (l->state != LEASE_OFFERED || !n)
		return;
	ceiling_spent(&e->ceiling, &e->view, l->offer.page, n);
	e->cycle.n_waiting -= !l->requests;
	e->cycle.n_granted += n;
	l->requests += n;
}

bool engine_spend(struct engine *e, uint32_t lease)
{
	bool may = engine_may_spend(e, lease);

	if (may)
		engine_hold(e, lease, 1);
	return may;
}

uint32_t engine_find(struct engine *e, uint32_t page)
{
	struct cycle *c = &e->cycle;
	uint32_t at;

	for (; c->n_indexed < c->leases.n; c->n_indexed++)
		map_put(&c->by_page, c->leases.v[c->n_indexed].offer.page, c->n_indexed + 1);
	at = map_get(&c->by_page, page);
	return at == MAP_NONE ? 0 : at;
}

uint32_t engine_adopt(struct engine *e, const struct offer *o)
{
	struct cycle *c = &e->cycle;
	uint32_t at = engine_find(e, o->page);
	struct lease l = { .offer = *o, .round = e->view.round };

	if (at && c->leases.v[at - 1].state != LEASE_GIVEN_BACK &&
	    c->leases.v[at - 1].state != LEASE_DROPPED) {
		if (c->leases.v[at - 1].state == LEASE_QUEUED) {
			c->n_queued--;
			offer_page(e, &c->leases.v[at - 1]);
		}
		return at;
	}
	vec_push(&c->leases, l);
	e->visits.state[o->page] |= PAGE_TAKEN;
	ceiling_recall(&e->ceiling, &e->view, e->visits.state, o->page);
	offer_page(e, &c->leases.v[c->leases.n - 1]);
	return (uint32_t)c->leases.n;
}

/* ---- whole cycles ---- */

int engine_work(struct engine *e, enum ask *ret_why, struct err *err)
{
	size_t most = engine_budget(e) < ANSWERS_AT_ONCE ? engine_budget(e) : ANSWERS_AT_ONCE, n;
	struct asking a = { .want = most };
	uint32_t *leases = mem_array(most + 1, sizeof *leases);
	struct delivery *deliveries = mem_array(most + 1, sizeof *deliveries);
	struct offer *offers = mem_array(most + 1, sizeof *offers);
	double from = engine_seconds() - e->cycle.plan_seconds, fetching = 0;
	int rc = 0;

	*ret_why = ASK_DONE;
	while (rc == 0 && !(e->source.enough && e->source.enough(e->source.self)) &&
	       (*ret_why = engine_ask(e, &a, leases, &n)) == ASK_OFFERS) {
		double before = engine_seconds();

		for (size_t i = 0; i < n; i++)
			offers[i] = engine_lease(e, leases[i])->offer;
		memset(deliveries, 0, n * sizeof *deliveries);
		rc = e->source.deliver(e->source.self, offers, n, deliveries, err);
		fetching += engine_seconds() - before;
		for (size_t i = 0; i < n && rc == 0; i++)
			engine_tell(e, leases[i], &deliveries[i]);
	}
	e->cycle.plan_seconds = engine_seconds() - from - fetching;
	free(leases);
	free(deliveries);
	free(offers);
	return rc;
}

int engine_finish(struct engine *e, struct err *err)
{
	enum ask why;
	int rc = engine_work(e, &why, err);

	engine_end(e);
	return rc;
}

int engine_cycle(struct engine *e, int64_t now, uint32_t budget, struct err *err)
{
	engine_begin(e, now, budget);
	return engine_finish(e, err);
}
