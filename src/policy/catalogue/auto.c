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
 * Why no more cases.  Looked at were how much history there is (the first cycle, the
 * next two, the next ten, the rest), the budget against what changes (from more
 * changes than it reaches to sixteen visits for each), its share of the pages (0.1 to
 * 95 %), links or none, many sites or a single one of any size: in each of these tide
 * was ahead of every other policy (docs/results/beyond.md, "auto"); at fewer than 64
 * pages it is level with `oldest`.  A rule that does not pay is left out.  What the
 * repository is like decides how tide works, and the text says it: the text is of the
 * moment in which the cycle began.
 */
#include <stdio.h>

#include "base/when.h"
#include "graph/graph.h"
#include "policy/catalogue/catalogue.h"
#include "policy/plan.h"

#define LITTLE 0.05             /* visits a page below which history is little */
#define SCARCE 0.5              /* visits with a change from which on budget is short, */
#define AMPLE 0.1               /* and below which it reaches more than changes */
#define FADE 0.8                /* of the share of changes, a cycle */

struct auto_state {
	struct policy *main, *sweep;    /* told of everything; used if R >= pages */
	bool sweeping;
	uint64_t visits;                /* with a known outcome */
	double recent, recent_hits;     /* the same, fading */
	uint64_t visits_before;         /* the last cycle begun: what was known then, */
	double share_before;            /* share of visits that found a change, */
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

/* What the budget is against what changes. */
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
};
