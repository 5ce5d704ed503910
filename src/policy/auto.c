/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.c - chooses for the repository at hand, and says what and why.
 *
 * Goal alive: `evidence`, with links where there are any.  Goal changed: `oldest`
 * where the budget reaches every page in every cycle (no choice is left, and the
 * order that is fairest to slow hosts costs nothing); else `tide`.  tide is told
 * of every visit from the first on, also of those that `oldest` made, so a budget
 * that falls later finds it taught.
 *
 * Why no more cases: on the histories that we measured (docs/results/beyond.md)
 * tide was ahead at every budget from 1 to 8.3 %, with and without links, from
 * the first cycles on; a rule that is not measured to pay is left out.  What the
 * repository is like decides how tide works, and the text says it: without
 * history it samples, with little it pools by site, with much each directory
 * speaks for itself.
 */
#include <math.h>
#include <stdio.h>

#include "graph/graph.h"
#include "policy/plan.h"

#define LITTLE 0.05             /* visits a page below which history is little */

struct auto_state {
	struct policy *main, *sweep;    /* told of everything; used if R >= pages */
	bool sweeping;
	uint64_t visits, hits;          /* known outcomes */
	uint32_t pages, budget;         /* of the last cycle begun */
	bool links;
	enum goal goal;
	char text[512];
};

static unsigned auto_needs(const void *opts)
{
	(void)opts;
	return NEED_FAMILIES | NEED_LINKS | NEED_PAGERANK | NEED_SIZES;
}

/* A spec of ours cannot be wrong. */
static struct policy *make(const char *spec, uint32_t n_pages)
{
	struct policy *p = NULL;
	struct err err;

	if (policy_new(&p, spec, &err) < 0)
		abort();
	policy_size(p, n_pages);
	return p;
}

static const char *choose(const struct auto_state *s)
{
	if (s->goal == GOAL_ALIVE)
		return s->links ? "evidence" : "evidence:nolinks=1";
	return "tide";
}

static uint32_t count_open(const struct view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_pages; i++)
		n += view_open(v, i);
	return n;
}

static void auto_begin(struct policy *p, const struct view *v)
{
	struct auto_state *s = p->state;

	s->pages = count_open(v);
	s->budget = v->budget;
	s->goal = v->goal;
	s->links = v->links && v->links->n_links > 0;
	if (!s->main) {
		s->main = make(choose(s), v->n_pages);
		s->sweep = make("oldest", v->n_pages);
	}
	s->sweeping = s->goal == GOAL_CHANGED && s->budget >= s->pages;
	policy_begin(s->main, v);
	policy_begin(s->sweep, v);
}

static void auto_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct auto_state *s = p->state;
	struct policy *used = s->sweeping ? s->sweep : s->main;

	used->ops->ask(used, v, plan);
}

static void auto_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	struct auto_state *s = p->state;

	if (seen->known) {
		s->visits++;
		s->hits += seen->hit;
	}
	policy_tell(s->main, v, seen);
	policy_tell(s->sweep, v, seen);
}

static void auto_end(struct policy *p, const struct view *v)
{
	struct auto_state *s = p->state;

	policy_end(s->main, v);
	policy_end(s->sweep, v);
}

static const char *history_text(const struct auto_state *s)
{
	if (!s->visits)
		return "there is no history yet, so the first visits sample every part";
	if ((double)s->visits < LITTLE * s->pages)
		return "there is little history, so pages lean on their sites and directories";
	return "there is history enough for directories and pages to speak for themselves";
}

static const char *auto_explain(const struct policy *p)
{
	struct auto_state *s = p->state;
	char seen[80] = "";

	if (!s->main)
		return "nothing chosen yet: no cycle has begun";
	if (s->sweeping) {
		snprintf(s->text, sizeof s->text, "oldest: the budget of %u reaches all %u pages "
		         "in every cycle, nothing is left to choose", s->budget, s->pages);
	} else if (s->goal == GOAL_ALIVE) {
		snprintf(s->text, sizeof s->text, "%s: the goal is to find living pages; %s; %s",
		         s->main->spec, s->links ? "URLs and links are used" :
		         "there are no links, URLs are used", history_text(s));
	} else {
		if (s->visits)
			snprintf(seen, sizeof seen, " and %.3g %% of %llu visits found a change",
			         100.0 * (double)s->hits / (double)s->visits,
			         (unsigned long long)s->visits);
		snprintf(s->text, sizeof s->text, "%s: the budget is %.2g %% of %u pages%s; %s",
		         s->main->spec, 100.0 * s->budget / (s->pages ? s->pages : 1), s->pages, seen,
		         history_text(s));
	}
	return s->text;
}

static void auto_release(struct policy *p)
{
	struct auto_state *s = p->state;

	policy_free(s->main);
	policy_free(s->sweep);
}

const struct policy_ops policy_auto = {
	.name = "auto",
	.summary = "chooses for the repository at hand and says why",
	.origin = "ours",
	.state_size = sizeof(struct auto_state),
	.needs = auto_needs,
	.begin = auto_begin,
	.ask = auto_ask,
	.tell = auto_tell,
	.end = auto_end,
	.explain = auto_explain,
	.release = auto_release,
};
