/* SPDX-License-Identifier: Apache-2.0 */
/*
 * automaton.c - a competitive game of learning automata for a limited capacity:
 * the sampling-frequency tuning tool, and its faster relative H-TRAA.
 *
 * lakg.  Every page (or site) j has a state F_j in 1..N and is visited in a cycle
 * with probability F_j/N.  Demand is sum F_j/N, capacity the budget R.
 *   four-case  changed and demand within capacity: F up; unchanged and demand
 *              over capacity: F down; else nothing (the knapsack game: it settles
 *              where all pages are equally likely to be found changed)
 *   two-case   changed and within capacity: F up; else F down (the pseudo-code of
 *              the work: pages that change in less than half of their visits sink
 *              even while capacity is idle)
 * F never leaves 1..N: at 0 a page would never be seen again.  draws=common uses
 * one random number for all pages of a cycle, as the work has it; own draws are
 * better, since common ones make demand all or nothing.
 *
 * unit=site.  The automaton belongs to the site and plays by its main page (the
 * shortest URL); where budget remains, the other pages of the sites that were
 * drawn follow in turn.
 *
 * htraa.  A tree of two-armed automata over the directory tree; automaton_tree.c.
 *
 * Only visits that the game itself drew change its states: pages that fill up the budget
 * say nothing about the players' demand.
 *
 * Cost.  O(pages) a cycle, O(1) a visit, 4 bytes a page; htraa see there.
 */
#include <math.h>

#include "base/math/rng.h"
#include "policy/model/automaton_tree.h"
#include "policy/plan.h"

enum { FOUR_CASE, TWO_CASE };
enum { OWN, COMMON };
enum { BY_PAGE, BY_SITE };
enum { LAKG, HTRAA };

struct automaton_opts { int64_t states, step, start; int rule, draws, unit, kind; };

struct automaton_state {
	uint32_t n_players;
	uint32_t *f;                    /* state of each player */
	uint32_t *main_page;            /* unit=site: by site */
	uint32_t *turn, *ahead;         /* unit=site: next other page of a site; ahead: the same
	                                 * with this cycle's plan, which tell() confirms */
	double n;                       /* N */
	bool exceeded;                  /* demand over capacity in this cycle */
	uint32_t *want, n_want, next;
	uint32_t *drawn;                /* unit=site: sites drawn in this cycle */
	uint32_t n_drawn;
	struct automaton_tree tree;
};

static const struct option_spec automaton_options[] = {
	OPT_INT(automaton_opts, states, 0, 0, 1000000,
	        "N, states of an automaton; 0: 60, or 4 pages/budget if that is more"),
	OPT_INT(automaton_opts, step, 2, 1, 1000, "states moved at once"),
	OPT_INT(automaton_opts, start, 0, 0, 1000000,
	        "first state; 0: such that demand meets the budget, or half of "
	        "the states with unit=site"),
	OPT_CHOICE(automaton_opts, rule, "four-case|two-case", "four-case",
	           "the knapsack game's rule, or the pseudo-code's"),
	OPT_CHOICE(automaton_opts, draws, "own|common", "own",
	           "a random number for each page, or one for all"),
	OPT_CHOICE(automaton_opts, unit, "page|site", "page", "who plays"),
	OPT_CHOICE(automaton_opts, kind, "lakg|htraa", "lakg",
	           "independent automata, or a tree of them over the directories"),
	OPT_END
};

static int automaton_check(const void *opts, struct err *err)
{
	const struct automaton_opts *o = opts;

	if (o->kind == HTRAA && o->unit == BY_SITE)
		return err_set(err, E_USAGE, "kind=htraa plays on pages: unit=site goes with lakg");
	if (o->states && o->start > o->states)
		return err_set(err, E_USAGE, "start: %lld is beyond states=%lld", (long long)o->start,
		               (long long)o->states);
	return 0;
}

/* The page of each site with the shortest URL; first in order among equals. */
static uint32_t *find_main_pages(const struct view *v)
{
	const struct tree *t = v->tree;
	uint32_t *main_page = mem_array(t->n_sites, sizeof *main_page);

	for (uint32_t s = 0; s < t->n_sites; s++) {
		size_t best = SIZE_MAX;

		main_page[s] = PAGE_NONE;
		for (uint32_t i = t->site_first[s]; i < t->site_first[s + 1]; i++) {
			size_t size = strlen(view_url(v, t->site_pages[i]));

			if (size < best) {
				best = size;
				main_page[s] = t->site_pages[i];
			}
		}
	}
	return main_page;
}

static uint32_t tree_states(const struct automaton_opts *o)
{
	return o->states ? (uint32_t)o->states : 200;
}

static void make_players(struct automaton_state *s, const struct automaton_opts *o,
                         const struct view *v)
{
	s->n_players = o->unit == BY_SITE ? v->tree->n_sites : v->n_pages;
	s->f = mem_array(s->n_players, sizeof *s->f);
	s->want = mem_array(s->n_players, sizeof *s->want);
	if (o->unit == BY_SITE) {
		s->main_page = find_main_pages(v);
		s->turn = mem_zalloc(s->n_players, sizeof *s->turn);
		s->ahead = mem_zalloc(s->n_players, sizeof *s->ahead);
		s->drawn = mem_array(s->n_players, sizeof *s->drawn);
	}
}

static void set_up(struct automaton_state *s, const struct automaton_opts *o,
                   const struct view *v)
{
	double r = v->budget ? v->budget : 1, start;

	make_players(s, o, v);
	s->n = o->states ? (double)o->states : fmax(60, ceil(4 * s->n_players / r));
	/* few players may begin with too much demand and learn; many may not */
	start = o->start ? (double)o->start : o->unit == BY_SITE ? round(s->n / 2) :
	        round(s->n * fmin(1, r / fmax(1, s->n_players)));
	for (uint32_t j = 0; j < s->n_players; j++)
		s->f[j] = (uint32_t)fmin(fmax(start, 1), s->n);
}

static bool player_open(const struct automaton_state *s, const struct view *v, uint32_t j)
{
	uint32_t page = s->main_page ? s->main_page[j] : j;

	return page != PAGE_NONE && view_open(v, page);
}

/* Who wants a visit in this cycle, in random order. */
static void draw_players(struct automaton_state *s, const struct automaton_opts *o,
                         const struct view *v)
{
	double demand = 0, common = rng_unit(rng_draw(v->seed, v->cycle, 0, RNG_SAMPLE));
	struct rng r;

	s->n_want = s->next = s->n_drawn = 0;
	if (s->turn)
		memcpy(s->ahead, s->turn, s->n_players * sizeof *s->ahead);
	for (uint32_t j = 0; j < s->n_players; j++) {
		double p = s->f[j] / s->n;

		if (!player_open(s, v, j))
			continue;
		demand += p;
		if ((o->draws == COMMON ? common :
		     rng_unit(rng_draw(v->seed, v->cycle, j, RNG_SAMPLE))) < p)
			s->want[s->n_want++] = j;
	}
	s->exceeded = demand > v->budget;
	rng_init(&r, rng_draw(v->seed, v->cycle, 0, RNG_ORDER));
	rng_shuffle(&r, s->want, s->n_want);
}

static void automaton_begin(struct policy *p, const struct view *v)
{
	const struct automaton_opts *o = p->opts;
	struct automaton_state *s = p->state;

	if (o->kind == HTRAA) {
		automaton_tree_begin(&s->tree, v, tree_states(o));
		return;
	}
	if (!s->f)
		set_up(s, o, v);
	draw_players(s, o, v);
}

/* The other pages of the drawn sites, one of each in turn. */
static void ask_others(struct automaton_state *s, const struct view *v, struct plan *plan)
{
	const struct tree *t = v->tree;
	bool any = true;

	while (any && plan_room(plan)) {
		any = false;
		for (uint32_t i = 0; i < s->n_drawn && plan_room(plan); i++) {
			uint32_t j = s->drawn[i], first = t->site_first[j];
			uint32_t size = t->site_first[j + 1] - first, tried = 0;

			while (tried < size && !view_open(v, t->site_pages[first + s->ahead[j] % size])) {
				s->ahead[j]++;
				tried++;
			}
			if (tried == size)
				continue;
			plan_take(plan, t->site_pages[first + s->ahead[j]++ % size], s->f[j] / s->n, NAN,
			          REASON_TURN);
			any = true;
		}
	}
}

static void automaton_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	const struct automaton_opts *o = p->opts;
	struct automaton_state *s = p->state;

	if (o->kind == HTRAA) {
		automaton_tree_ask(&s->tree, v, plan);
		return;
	}
	for (; s->next < s->n_want && plan_room(plan); s->next++) {
		uint32_t j = s->want[s->next];
		double chance = s->f[j] / s->n;

		plan_take(plan, s->main_page ? s->main_page[j] : j, chance, chance, REASON_CHANCE);
		if (s->main_page)
			s->drawn[s->n_drawn++] = j;
	}
	if (s->main_page)
		ask_others(s, v, plan);
}

/* The next turn of a site is behind this page; its pages are in ascending order. */
static void note_turn(struct automaton_state *s, const struct view *v, uint32_t page)
{
	const struct tree *t = v->tree;
	uint32_t site = v->site[page], lo = t->site_first[site], hi = t->site_first[site + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->site_pages[mid] <= page)
			lo = mid + 1;
		else
			hi = mid;
	}
	s->turn[site] = lo - t->site_first[site];
}

static void automaton_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	const struct automaton_opts *o = p->opts;
	struct automaton_state *s = p->state;
	uint32_t *f;
	int64_t move = 0;

	if (s->turn && seen->reason == REASON_TURN)
		note_turn(s, v, seen->page);
	if (!seen->known || seen->reason != REASON_CHANCE)
		return;
	if (o->kind == HTRAA) {
		automaton_tree_tell(&s->tree, v, seen->page, seen->hit);
		return;
	}
	f = &s->f[s->main_page ? v->site[seen->page] : seen->page];
	if (seen->hit && !s->exceeded)
		move = o->step;
	else if (o->rule == TWO_CASE || (!seen->hit && s->exceeded))
		move = -o->step;
	*f = (uint32_t)fmin(fmax((double)*f + (double)move, 1), s->n);
}

/* Before the first cycle no player has a state. */
static double automaton_probability(struct policy *p, const struct view *v, uint32_t page)
{
	const struct automaton_opts *o = p->opts;
	struct automaton_state *s = p->state;

	if (o->kind == HTRAA)
		return s->tree.nodes ? fmin(1, v->budget * automaton_tree_share(&s->tree, page)) : NAN;
	if (!s->f)
		return NAN;
	if (s->main_page && s->main_page[v->site[page]] != page)
		return NAN;
	return s->f[s->main_page ? v->site[page] : page] / s->n;
}

/* How many states there are, and where players begin, goes by the number of pages; so does
 * the shape of the tree.  None may have come. */
static void automaton_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	const struct automaton_opts *o = p->opts;
	struct automaton_state *s = p->state;
	uint8_t made = s->f != NULL;

	frozen_same(f, v->n_pages);
	if (o->kind == HTRAA) {
		automaton_tree_freeze(&s->tree, v, tree_states(o), f);
		return;
	}
	frozen_value(f, &made);
	if (!made || f->bad)
		return;
	if (f->thaw)
		make_players(s, o, v);
	frozen_value(f, &s->n);
	frozen_bytes(f, s->f, s->n_players * sizeof *s->f);
	if (s->turn)
		frozen_bytes(f, s->turn, s->n_players * sizeof *s->turn);
	frozen_check(f, s->n >= 1 && s->n <= UINT32_MAX);
	for (uint32_t j = 0; f->thaw && j < s->n_players; j++)
		frozen_check(f, s->f[j] >= 1 && s->f[j] <= s->n);
}

static void automaton_release(struct policy *p)
{
	struct automaton_state *s = p->state;

	free(s->f);
	free(s->want);
	free(s->main_page);
	free(s->turn);
	free(s->ahead);
	free(s->drawn);
	automaton_tree_release(&s->tree);
}

const struct policy_ops policy_automaton = {
	.name = "automaton",
	.summary = "a game of learning automata for the budget: each learns how often to look",
	.origin = "the sampling-frequency tuning tool; LAKG, H-TRAA (Granmo, Oommen et al.)",
	.patience = .8,
	.options = automaton_options,
	.opts_size = sizeof(struct automaton_opts),
	.state_size = sizeof(struct automaton_state),
	.check = automaton_check,
	.begin = automaton_begin,
	.ask = automaton_ask,
	.tell = automaton_tell,
	.release = automaton_release,
	.probability = automaton_probability,
	.freeze = automaton_freeze,
};
