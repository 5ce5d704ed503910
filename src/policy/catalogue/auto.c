/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.c - chooses a policy for this repository, and says which and why.
 *
 * Goal alive: `evidence`, with links if there are any.  Goal changed: `oldest` if the
 * budget reaches every page in every cycle (there is nothing to choose, and the order
 * that is fairest to slow hosts costs nothing); else `tide`.  tide is told of all visits,
 * also of those that `oldest` planned.  So tide has learnt when the budget becomes
 * smaller.
 *
 * Why no more cases.  We varied: the history (the first cycle, the next two, the next
 * ten, the rest); the budget against the changes (from more changes than it reaches to
 * sixteen visits a change); its share of the pages (0.1 to 95 %); links or none; many
 * sites or one, of any size.  tide was ahead of every other policy in each case
 * (docs/results/beyond.md, "auto"); below 64 pages it equals `oldest`.  The explanation
 * describes the repository as it was when the cycle began.
 */
#include <stdio.h>

#include "base/when.h"
#include "graph/graph.h"
#include "policy/catalogue/catalogue.h"
#include "policy/plan.h"

#define LITTLE 0.05             /* visits a page below which history is little */
#define SCARCE 0.5              /* share of visits with a change: from here on budget is short */
#define AMPLE 0.1               /* the same: below this the budget is ample */
#define FADE 0.8                /* weight that `recent` keeps from cycle to cycle */

struct auto_state {
	struct policy *main, *sweep;    /* both are told of all visits */
	bool sweeping;                  /* use `sweep`: the budget reaches all pages */
	uint64_t visits;                /* with a known outcome */
	double recent, recent_hits;     /* visits and hits, older ones weigh less */
	uint64_t visits_before;         /* visits when the cycle began */
	double share_before;            /* share of visits with a change when it began */
	uint32_t pages, budget;
	bool links;
	enum goal goal;
	char text[512];
};

static unsigned auto_needs(const void *opts)
{
	(void)opts;
	return NEED_FAMILIES | NEED_LINKS | NEED_PAGERANK | NEED_SIZES;
}

/* The specs are constants of this file, so an error is a bug. */
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

static void make_ready(struct auto_state *s, const struct view *v)
{
	s->goal = v->goal;
	s->links = v->links && v->links->n_links > 0;
	if (s->main)
		return;
	s->main = make(choose(s), v->n_pages);
	s->sweep = make("oldest", v->n_pages);
}

static void auto_begin(struct policy *p, const struct view *v)
{
	struct auto_state *s = p->state;

	s->pages = count_open(v);
	s->budget = v->budget;
	make_ready(s, v);
	s->sweeping = s->goal == GOAL_CHANGED && s->budget >= s->pages;
	s->visits_before = s->visits;
	s->share_before = s->recent > 0 ? s->recent_hits / s->recent : 0;
	s->recent *= FADE;
	s->recent_hits *= FADE;
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
		s->recent += 1;
		s->recent_hits += seen->hit;
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

static const char *auto_chosen(const struct policy *p)
{
	const struct auto_state *s = p->state;

	return !s->main ? p->spec : s->sweeping ? s->sweep->spec : s->main->spec;
}

static const char *history_text(const struct auto_state *s)
{
	if (!s->visits_before)
		return "there is no history yet, so the first visits sample every part";
	if ((double)s->visits_before < LITTLE * s->pages)
		return "there is little history, so pages lean on their sites and directories";
	return "there is history enough for directories and pages to speak for themselves";
}

/* The budget compared with the changes. */
static const char *need_text(const struct auto_state *s)
{
	if (!s->visits_before)
		return "how much changes is not known yet";
	if (s->share_before >= SCARCE)
		return "more changes than it reaches";
	return s->share_before < AMPLE ? "it reaches far more pages than change" :
	       "it reaches more pages than change";
}

static void explain_changed(struct auto_state *s)
{
	char found[80] = "", share[32];

	figure_format(100 * s->share_before, 3, share);
	if (s->visits_before)
		snprintf(found, sizeof found, " (of late %s %% of visits found a change)", share);
	figure_format(100.0 * s->budget / (s->pages ? s->pages : 1), 2, share);
	snprintf(s->text, sizeof s->text, "%s: the budget is %s %% of %u pages, %s%s; %s; %s",
	         s->main->spec, share, s->pages,
	         need_text(s), found, history_text(s), s->links ?
	         "links are known and count" : "no links are known, URLs and visits do");
}

static const char *auto_explain(const struct policy *p)
{
	struct auto_state *s = p->state;

	if (!s->main)
		return "nothing chosen yet: no cycle has begun";
	if (!s->pages)
		snprintf(s->text, sizeof s->text, "nothing: there are no pages");
	else if (s->sweeping)
		snprintf(s->text, sizeof s->text, "oldest: the budget of %u reaches all %u pages "
		         "in every cycle, nothing is left to choose", s->budget, s->pages);
	else if (s->goal == GOAL_ALIVE)
		snprintf(s->text, sizeof s->text, "%s: the goal is to find living pages; %s; %s",
		         s->main->spec, s->links ? "URLs and links are used" :
		         "there are no links, URLs are used", history_text(s));
	else
		explain_changed(s);
	return s->text;
}

static void auto_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	struct auto_state *s = p->state;

	make_ready(s, v);
	frozen_value(f, &s->visits);
	frozen_value(f, &s->recent);
	frozen_value(f, &s->recent_hits);
	policy_freeze(s->main, v, f);
	policy_freeze(s->sweep, v, f);
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
	.patience = .8,
	.state_size = sizeof(struct auto_state),
	.needs = auto_needs,
	.begin = auto_begin,
	.ask = auto_ask,
	.tell = auto_tell,
	.end = auto_end,
	.explain = auto_explain,
	.chosen = auto_chosen,
	.release = auto_release,
	.freeze = auto_freeze,
};
