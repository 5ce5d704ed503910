/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every policy of the catalogue asks for the same pages in the same order, whether one
 * process makes all cycles, a new one each of them, or one goes on where another was
 * stopped in the middle of a cycle.
 *
 * In a world of some thousand pages on several hosts, with links and places that differ,
 * under both goals: so that models are fitted, queues run dry and batches have many
 * pages.  (conformance_test.c does it for every option in a world of a hundred.)
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/cycle/cycle.h"
#include "engine/replay/replay.h"
#include "../../../lib/trace.h"
#include "policy/catalogue/catalogue.h"

#define CYCLES 3
#define HOSTS 7
#define PAGES 3500

struct told {
	struct seen *v;
	size_t n;
	uint32_t *plans;                /* after how many visits each was made */
	size_t n_plans;
};

/* One process: a policy, and what came of its cycles. */
struct process {
	struct policy *policy;
	struct engine e;
	uint8_t *truth;
	struct told past[CYCLES];
};

static struct history history;
static struct replay web;

static const char *url_of(int i, char *ret, size_t size)
{
	static const char *const names[] = { "news", "help", "index", "list", "man" };
	int host = i % HOSTS, dir = i / HOSTS % 23, deep = i / 161 % 4;

	snprintf(ret, size, "http://h%d.example/d%d/%s%s%d.%s", host, dir,
	         deep == 1 ? "old/" : deep == 2 ? "v2/x/" : "", names[i * 7 % 5], i,
	         i % 3 ? "html" : "php");
	return ret;
}

static void open_web(void)
{
	struct replay_opts o = { .cycle_seconds = DAY_SECONDS, .budget = { 10, true } };
	char url[80], links[400];
	struct err err;

	history_init(&history, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS | WANT_FACTS);
	for (int i = 0; i < PAGES; i++) {
		size_t n = 0;

		for (int k = 0; k < i % 5; k++) {
			int to = (int)(rng_draw(3, (uint64_t)k, (uint64_t)i, RNG_USER) % PAGES);

			/* most links stay near */
			url_of(k % 2 ? to : (i + 7 * k) % PAGES, url, sizeof url);
			n += (size_t)snprintf(links + n, sizeof links - n, "%s%s", k ? " " : "", url);
		}
		links[n] = '\0';
		trace_add(&history, url_of(i, url, sizeof url), 0, "a", n ? links : NULL);
	}
	trace_add(&history, "http://h0.example/d0/last", 0, "a", NULL);
	trace_add(&history, "http://h0.example/d0/last", 10, "b", NULL);
	assert_int_equal(history_finish(&history, &err), 0);
	if (replay_open(&web, &history, &o, ~0u, &err) < 0)
		fail_msg("%s", err.text);
}

/* Places differ, and so do their pages. */
static struct delivery fate_of(const struct engine *e, uint32_t page, uint32_t cycle)
{
	bool alive = e->view.goal == GOAL_ALIVE;
	double place = rng_unit(rng_draw(5, alive ? 0 : cycle / 2, web.pages.dir[page], RNG_USER));
	double u = rng_unit(rng_draw(6, alive ? 0 : cycle, page, RNG_USER));
	enum outcome o;

	place = place < 0.3 ? 0.05 : place < 0.8 ? 0.4 : 0.9;
	if (u > 0.98)
		o = u > 0.99 ? OUTCOME_BLOCKED : OUTCOME_FAILED;
	else if (alive)
		o = u < place ? OUTCOME_SAME : OUTCOME_GONE;
	else
		o = u < place / 20 ? OUTCOME_GONE : u < place ? OUTCOME_CHANGED : OUTCOME_SAME;
	if (!alive && page % 6 == 0)    /* it always fails, one page in one way, the next in another */
		o = OUTCOME_FAILED;
	return (struct delivery){ .outcome = o, .failure = o == OUTCOME_FAILED ? (enum failure)
	                          (FAILURE_ANSWER + page / 6 % (N_FAILURES - FAILURE_ANSWER)) :
	                          FAILURE_UNKNOWN, .hit = alive ? o == OUTCOME_SAME :
	                          o == OUTCOME_CHANGED || o == OUTCOME_GONE };
}

static int deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                   struct err *err)
{
	struct process *p = self;

	(void)err;
	for (size_t i = 0; i < n; i++)
		ret[i] = fate_of(&p->e, offers[i].page, p->e.view.cycle);
	return 0;
}

static void open_process(struct process *p, const char *spec, enum goal goal)
{
	struct err err;

	*p = (struct process){ 0 };
	if (policy_new(&p->policy, spec, &err) < 0)
		fail_msg("%s", err.text);
	engine_init(&p->e, &web.pages, p->policy, web.start);
	prepare_view(&web.prepared, &p->e.view);
	p->e.view.seed = 5;
	p->e.view.goal = goal;
	p->e.view.cycle_seconds = DAY_SECONDS;
	p->e.source = (struct source){ .self = p, .deliver = deliver };
	p->truth = mem_zalloc(web.pages.n, 1);
	p->e.view.truth = p->truth;
	memset(p->e.visits.state, PAGE_HERE, web.pages.n);
	if (goal == GOAL_ALIVE) {
		p->e.sample.rule.most = 300;
		p->e.sample.rule.hits = 60;
		p->e.sample.rule.least = 50;
	} else {
		p->e.rules.max_age = 40;
		p->e.ceiling.share = (struct share){ 40, true };
	}
}

static void close_process(struct process *p)
{
	for (int c = 0; c < CYCLES; c++) {
		free(p->past[c].v);
		free(p->past[c].plans);
	}
	engine_release(&p->e);
	policy_free(p->policy);
	free(p->truth);
}

static int64_t moment(uint32_t cycle)
{
	return TRACE_START + (int64_t)cycle * DAY_SECONDS;
}

static uint32_t budget_of(const struct process *p)
{
	return p->e.view.goal == GOAL_ALIVE ? PAGES * 3 / 4 : PAGES / 10;
}

static void go_on(struct process *p, uint32_t cycle, const struct told *made)
{
	struct event *events = mem_array(made->n + 1, sizeof *events);

	for (size_t i = 0; i < made->n; i++) {
		const struct seen *s = &made->v[i];

		events[i] = (struct event){ .kind = EVENT_TOLD,
			.offer = { s->page, s->score, s->probability, s->reason },
			.delivery = fate_of(&p->e, s->page, cycle) };
	}
	engine_continue(&p->e, moment(cycle), budget_of(p), events, made->n, made->plans,
	                made->n_plans, true);
	free(events);
}

/* One cycle; made: what a process that was stopped in it had kept, or NULL. */
static void run_cycle(struct process *p, uint32_t cycle, const struct told *made)
{
	struct told *t = &p->past[cycle - 1];
	struct cycle *c = &p->e.cycle;
	struct err err;

	for (uint32_t i = 0; i < web.pages.n; i++)
		p->truth[i] = fate_of(&p->e, i, cycle).hit;
	if (made)
		go_on(p, cycle, made);
	else
		engine_begin(&p->e, moment(cycle), budget_of(p));
	assert_int_equal(engine_finish(&p->e, &err), 0);
	*t = (struct told){ .n = c->n_seen, .n_plans = c->planned_after.n };
	t->v = mem_array(t->n + 1, sizeof *t->v);
	memcpy(t->v, c->seen, t->n * sizeof *t->v);
	t->plans = mem_array(t->n_plans + 1, sizeof *t->plans);
	memcpy(t->plans, c->planned_after.v, t->n_plans * sizeof *t->plans);
}

static void recall(struct process *p, const struct process *first, uint32_t cycles)
{
	for (uint32_t c = 1; c <= cycles; c++)
		engine_recall(&p->e, moment(c), budget_of(p), first->past[c - 1].v,
		              first->past[c - 1].n);
}

static void assert_same_cycle(const struct process *a, const struct process *b, uint32_t cycle,
                              const char *what)
{
	const struct told *x = &a->past[cycle - 1], *y = &b->past[cycle - 1];

	if (x->n != y->n)
		fail_msg("%s, %s, goal %d: cycle %u has %zu visits, then %zu", a->policy->spec, what,
		         a->e.view.goal, cycle, x->n, y->n);
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].page != y->v[i].page || x->v[i].score != y->v[i].score ||
		    x->v[i].reason != y->v[i].reason)
			fail_msg("%s, %s, goal %d: cycle %u, visit %zu: page %u (%.9g, %s), then %u "
			         "(%.9g, %s)", a->policy->spec, what, a->e.view.goal, cycle, i,
			         x->v[i].page, (double)x->v[i].score, reason_name(x->v[i].reason),
			         y->v[i].page, (double)y->v[i].score, reason_name(y->v[i].reason));
}

static void a_new_process_goes_on(void **state)
{
	const struct policy_ops *ops = *state;

	for (int goal = GOAL_CHANGED; goal <= GOAL_ALIVE; goal++) {
		struct process a, b;

		open_process(&a, ops->name, (enum goal)goal);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			run_cycle(&a, c, NULL);
			/* clusters are those of the copies that a process begins with */
			if (c == 1 || policy_needs(a.policy) & NEED_CLUSTERS)
				continue;
			open_process(&b, ops->name, (enum goal)goal);
			recall(&b, &a, c - 1);
			run_cycle(&b, c, NULL);
			assert_same_cycle(&a, &b, c, "a process for each cycle");
			close_process(&b);
		}
		close_process(&a);
	}
}

/* What is kept of a cycle that is stopped before its visit `at`. */
static struct told stop_at(const struct told *t, size_t at)
{
	struct told ret = { .v = t->v, .n = at, .plans = t->plans };

	while (ret.n_plans < t->n_plans && t->plans[ret.n_plans] <= at)
		ret.n_plans++;
	return ret;
}

static void a_stopped_cycle_goes_on(void **state)
{
	const struct policy_ops *ops = *state;

	for (int goal = GOAL_CHANGED; goal <= GOAL_ALIVE; goal++) {
		struct process a;

		open_process(&a, ops->name, (enum goal)goal);
		for (uint32_t c = 1; c <= CYCLES - 1; c++) {
			run_cycle(&a, c, NULL);
			if (c > 1 && policy_needs(a.policy) & NEED_CLUSTERS)
				continue;
			for (size_t k = 0; k < 5; k++) {
				struct process b;
				struct told made = stop_at(&a.past[c - 1],
				                           k ? a.past[c - 1].n * k / 4 - 1 : 0);

				open_process(&b, ops->name, (enum goal)goal);
				recall(&b, &a, c - 1);
				run_cycle(&b, c, &made);
				assert_same_cycle(&a, &b, c, "stopped");
				assert_int_equal(a.e.cycle.n_spent, b.e.cycle.n_spent);
				close_process(&b);
			}
		}
		close_process(&a);
	}
}

int main(void)
{
	struct CMUnitTest tests[200];
	size_t n = 0;
	int rc;

	open_web();
	for (const struct policy_ops *ops; n < 200 && (ops = policy_at(n / 2)); n += 2) {
		tests[n] = (struct CMUnitTest){ ops->name, a_new_process_goes_on, NULL, NULL,
		                                (void *)(uintptr_t)ops };
		tests[n + 1] = tests[n];
		tests[n + 1].test_func = a_stopped_cycle_goes_on;
	}
	rc = _cmocka_run_group_tests("policies", tests, n, NULL, NULL);
	replay_close(&web);
	history_release(&history);
	return rc;
}
