/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - a policy on a small repository; see stage.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/catalogue/catalogue.h"
#include "stage.h"

void stage_open(struct stage *s)
{
	*s = (struct stage){ 0 };
	history_init(&s->h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	/* replay wants a history of some length */
	trace_add(&s->h, "http://end.example/", 0, "a", NULL);
	trace_add(&s->h, "http://end.example/", 9, "b", NULL);
}

static int deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                   struct err *err)
{
	struct stage *s = self;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		enum outcome o;

		o = s->fate ? s->fate(s->arg, offers[i].page, s->e.view.cycle) : OUTCOME_SAME;
		ret[i] = (struct delivery){ .outcome = o, .hit = s->e.view.goal == GOAL_ALIVE ?
			o <= OUTCOME_CHANGED : o == OUTCOME_CHANGED || o == OUTCOME_GONE,
			.failure = o == OUTCOME_FAILED ? s->failure : FAILURE_UNKNOWN };
	}
	return 0;
}

void stage_play(struct stage *s, const char *spec)
{
	struct replay_opts o = { .cycle_seconds = DAY_SECONDS, .budget = { 10, true } };
	struct err err;

	if (!s->r.pages.n) {
		assert_int_equal(history_finish(&s->h, &err), 0);
		if (replay_open(&s->r, &s->h, &o, NEED_LINKS | NEED_PAGERANK | s->needs, &err) < 0)
			fail_msg("%s", err.text);
	} else {
		engine_release(&s->e);
		policy_free(s->policy);
	}
	if (policy_new(&s->policy, spec, &err) < 0)
		fail_msg("%s", err.text);
	engine_init(&s->e, &s->r.pages, s->policy, s->r.start);
	prepare_view(&s->r.prepared, &s->e.view);
	s->e.view.seed = 1;
	s->e.view.cycle_seconds = DAY_SECONDS;
	s->e.source = (struct source){ .self = s, .deliver = deliver };
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		s->e.visits.state[i] = PAGE_HERE;
}

void stage_cycle(struct stage *s, uint32_t budget)
{
	int64_t now = s->r.start + (int64_t)(s->e.view.cycle + 1) * DAY_SECONDS;
	struct err err;

	if (engine_cycle(&s->e, now, budget, &err) < 0)
		fail_msg("%s", err.text);
}

void stage_close(struct stage *s)
{
	engine_release(&s->e);
	policy_free(s->policy);
	replay_close(&s->r);
	history_release(&s->h);
}
