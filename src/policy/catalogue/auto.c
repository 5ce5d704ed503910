/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.c - chooses a policy for this repository, and says which and why.
 *
 * Goal alive: `evidence`, with links if there are any.  Goal changed: `tide`, but `oldest`
 * - if the budget reaches every page in every cycle: there is nothing to choose, and the
 *   order that is fairest to slow hosts costs nothing;
 * - under aim freshness if nearly all pages lie in one folder and most visits find a change.
 *   tide looks for places where something happened, and one folder has only one.  What is
 *   left are rates of single pages, and to even visits they add least where most copies
 *   are stale whatever is done; their estimates cost more than that.
 * tide is told of all visits, also of those that `oldest` planned, so it has learnt when
 * its turn comes.  What decides is measured here: pages, budget, folders, and the share of
 * late visits that found a change.
 *
 * Why no more cases.  We varied: the history (the first cycle, the next two, the next
 * ten, the rest); the budget against the changes (from more changes than it reaches to
 * sixteen visits a change); its share of the pages (0.1 to 95 %); links or none; many
 * sites or one, of any size; one page a host.  `oldest`, the other that it chooses from,
 * was nowhere else ahead of tide by more than 2 % (docs/results/auto.md;
 * scripts/results-auto).  The explanation
 * describes the repository as it was when the cycle began.
 */
#include <stdio.h>
#include <string.h>

#include "base/when.h"
#include "graph/graph.h"
#include "policy/catalogue/catalogue.h"
#include "policy/plan.h"

#define LITTLE 0.05             /* visits a page below which history is little */
#define SCARCE 0.5              /* share of visits with a change: from here on budget is short */
#define AMPLE 0.1               /* the same: below this the budget is ample */
#define NEARLY_ALL 0.9          /* of the pages */
#define FADE 0.8                /* weight that `recent` keeps from cycle to cycle */

struct auto_state {
	struct policy *main, *sweep;    /* both are told of all visits */
	enum reason_to { TO_CHOOSE, TO_SWEEP, TO_TAKE_TURNS } reason;   /* the last two: `sweep` */
	bool flat, alone;               /* nearly all pages: in one folder; one a host */
	uint64_t visits;                /* with a known outcome */
	double recent, recent_hits;     /* visits and hits, older ones weigh less */
	uint64_t visits_before;         /* visits when the cycle began */
	double share_before;            /* share of visits with a change when it began */
	uint32_t pages, budget;
	bool links;
	enum goal goal;
	char held[256];                 /* the one to keep to, or empty */
	char text[640];
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

/* Pages of the largest of n parts; *ret_single: of parts that have but one. */
static uint32_t largest_part(const uint32_t *first, uint32_t n, uint32_t *ret_single)
{
	uint32_t most = 0;

	*ret_single = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = first[i + 1] - first[i];

		most = size > most ? size : most;
		*ret_single += size == 1;
	}
	return most;
}

/* How pages lie in folders and hosts. */
static void look_around(struct auto_state *s, const struct view *v)
{
	const struct tree *t = v->tree;
	double enough = NEARLY_ALL * v->n_pages;
	uint32_t single;

	s->flat = largest_part(t->dir_first, t->n_dirs, &single) >= enough;
	largest_part(t->site_first, t->n_sites, &single);
	s->alone = single >= enough;
}

static enum reason_to reason_for(const struct auto_state *s, const struct view *v)
{
	if (s->goal == GOAL_ALIVE)
		return TO_CHOOSE;
	if (s->held[0])
		return strcmp(s->held, s->sweep->spec) ? TO_CHOOSE : TO_SWEEP;
	if (s->budget >= s->pages)
		return TO_SWEEP;
	return v->aim == AIM_FRESHNESS && s->flat && s->share_before >= SCARCE ? TO_TAKE_TURNS
	                                                                       : TO_CHOOSE;
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
	look_around(s, v);
	s->visits_before = s->visits;
	s->share_before = s->recent > 0 ? s->recent_hits / s->recent : 0;
	s->reason = reason_for(s, v);
	s->recent *= FADE;
	s->recent_hits *= FADE;
	policy_begin(s->main, v);
	policy_begin(s->sweep, v);
}

static void auto_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	struct auto_state *s = p->state;
	struct policy *used = s->reason == TO_CHOOSE ? s->main : s->sweep;

	used->ops->ask(used, v, plan);
}

/* `oldest` knows no gain. */
static bool auto_demand(struct policy *p, const struct view *v, struct demand *ret)
{
	struct auto_state *s = p->state;

	return s->reason == TO_CHOOSE && policy_demand(s->main, v, ret->limits, ret);
}

static void auto_soon(const struct policy *p, const struct view *v, uint32_t page, bool near)
{
	const struct auto_state *s = p->state;

	policy_soon(s->main, v, page, near);
	policy_soon(s->sweep, v, page, near);
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

	return !s->main ? p->spec : s->reason == TO_CHOOSE ? s->main->spec : s->sweep->spec;
}

static void auto_hold(struct policy *p, const char *chosen)
{
	struct auto_state *s = p->state;

	snprintf(s->held, sizeof s->held, "%s", chosen);
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

static const char *shape_text(const struct auto_state *s)
{
	return s->flat ? "; nearly all pages lie in one folder" :
	       s->alone ? "; nearly every page is alone on its host" : "";
}

/* "12.3 %"; what is hardly anything has no digits of its own. */
static void percent_text(double share, char out[48])
{
	char digits[32];

	figure_format(100 * share, 3, digits);
	if (share > 0 && share < 1e-4)
		snprintf(out, 48, "less than 0.01 %%");
	else
		snprintf(out, 48, "%s %%", digits);
}

static void explain_turns(struct auto_state *s)
{
	char share[48];

	percent_text(s->share_before, share);
	snprintf(s->text, sizeof s->text, "oldest: nearly all pages lie in one folder, so no place "
	         "tells which of them changed, and more changes than the budget of %u reaches (of "
	         "late %s of visits found a change); for the most fresh copies every page gets "
	         "its turn", s->budget, share);
}

static void explain_changed(struct auto_state *s)
{
	char found[96] = "", share[48];

	percent_text(s->share_before, share);
	if (s->visits_before)
		snprintf(found, sizeof found, " (of late %s of visits found a change)", share);
	figure_format(100.0 * s->budget / (s->pages ? s->pages : 1), 2, share);
	snprintf(s->text, sizeof s->text, "%s: the budget is %s %% of %u pages, %s%s; %s; %s%s",
	         s->main->spec, share, s->pages,
	         need_text(s), found, history_text(s), s->links ?
	         "links are known and count" : "no links are known, URLs and visits do",
	         shape_text(s));
}

static const char *auto_explain(const struct policy *p)
{
	struct auto_state *s = p->state;

	if (!s->main)
		return "nothing chosen yet: no cycle has begun";
	if (!s->pages)
		snprintf(s->text, sizeof s->text, "nothing: there are no pages");
	else if (s->reason == TO_TAKE_TURNS)
		explain_turns(s);
	else if (s->reason == TO_SWEEP)
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
	.comparable = true,
	.state_size = sizeof(struct auto_state),
	.needs = auto_needs,
	.begin = auto_begin,
	.ask = auto_ask,
	.tell = auto_tell,
	.soon = auto_soon,
	.demand = auto_demand,
	.end = auto_end,
	.explain = auto_explain,
	.chosen = auto_chosen,
	.hold = auto_hold,
	.release = auto_release,
	.freeze = auto_freeze,
};
