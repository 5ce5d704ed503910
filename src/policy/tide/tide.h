/* SPDX-License-Identifier: Apache-2.0 */
/* tide.h - the parts of the policy `tide`; see tide.c. */
#ifndef POLICY_TIDE_TIDE_H
#define POLICY_TIDE_TIDE_H

#include "policy/model/logistic.h"
#include "policy/plan.h"
#include "policy/tide/tide_model.h"
#include "policy/tide/tide_worth.h"

struct tide_opts {
	double batch, explore, noise, memory, stale;
	double voice, voice_base, discount, k_base, k_site, k_dir, horizon, reserve, k_page;
	bool nocap, nofit, nofamily, nocouncil;
	int weight;
};

/* The logistic correction of the tree's log-odds. */
enum tide_feature {
	TIDE_TREE,                      /* log-odds by the tree */
	TIDE_FAMILY,                    /* N_FAMILIES random effects */
	TIDE_COHORT = TIDE_FAMILY + N_FAMILIES, /* random effect of its cohort */
	TIDE_AGE,                       /* log of the cycles since the visit */
	TIDE_FOUND,                     /* log of 1 + hits in its directory this cycle */
	TIDE_MISSED,                    /* the same of visits without a hit */
	TIDE_NEAR_FOUND, TIDE_NEAR_MISSED,      /* the same, directories of one parent */
	TIDE_OUT,                       /* log of 1 + its out-links */
	TIDE_SIZE,                      /* log of its words, against the usual page */
	TIDE_HISTORY,                   /* log of the page's hits over the expected */
	TIDE_VISITED,                   /* has been visited before */
	TIDE_RANK,                      /* log of its PageRank, mean 1 */
	TIDE_ONE,
	TIDE_FEATURES
};

#define TIDE_K_GRID 8
#define TIDE_PARTS 4
#define TIDE_AGES 128           /* cycles since a visit, for which powers are made but once */
#define TIDE_ROWS 8192          /* latest visits that weights are fitted to */

/* Found more or less often than expected: a random effect on the log-odds. */
struct tide_family {
	float sum, var;                 /* hits less expected; its variance */
};

struct tide_page {
	float hits, expected;
	float fixed;                    /* factor of the odds, for the cycle */
	float chance;                   /* of a hit (told of the cycle alone: partly of
	                                   being stale), as of its site's last rescoring */
	float worth;                    /* of a download now, under the aim; times weight */
};

/* Yield of the chosen and of the longest unvisited pages, discounted; age: sum of the times
 * for which they had not been visited. */
struct tide_yield { float hits, visits, age; };

/* What the council decides by: yields, and of how many shards they are one. */
struct tide_council { struct tide_yield chosen, oldest; double shards; };

/* The shard's own numbers, kept here while those of the fleet are in use (tide_share.c). */
struct tide_own { double base, usual; float k_page, reserve; };

struct tide_state {
	struct tide_yield chosen, oldest;
	struct tide_model model;
	bool ready;
	int64_t then;                   /* when the cycle before began; 0: there was none */
	double weight[TIDE_FEATURES];
	float *rows;                    /* TIDE_ROWS x TIDE_FEATURES, a ring */
	uint8_t *row_hit;
	uint64_t n_rows;
	double k_fit[TIDE_K_GRID];      /* how well each k of the grid foretold visits: sums of
	                                 * log-likelihoods */
	struct tide_family *family[N_FAMILIES];
	float *factor[N_FAMILIES];      /* by family: of the odds, for the cycle */
	VEC(struct tide_family) cohorts;        /* tide_cohort.c */
	uint8_t *failed;                /* by page: did its latest visit fail? */
	uint32_t *cohorts_of;           /* by host: where its cohorts are, + 1; 0: it has none */
	float *found, *missed;          /* by directory, latest visits */
	float *near_found, *near_missed;        /* by parent, of the directories below */
	/* for the cycle only */
	bool fixed_ready;               /* tide_page.fixed, factor, by_age and by_one are of this cycle */
	float by_age[TIDE_AGES];        /* by cycles since the visit: that time to the power of its weight */
	float by_one;                   /* a factor of the odds of all pages */
	uint8_t *dirty;                 /* by host (tide_model.root) */
	uint32_t *dirty_roots, n_dirty;
	uint64_t n_told;                /* visits, to see whether there were any since ... */
	struct tide_stamp { uint64_t told, open; } scored;      /* the last demand() */
	uint32_t *taken;                /* by directory, in this batch */
	uint32_t *touched;              /* directories with taken != 0 */
	struct offer *best;             /* candidates of this batch, in order */
	size_t n_best, cap_best;
	struct tide_part {              /* of a pass over pages */
		uint32_t *bucket;       /* pages by noisy score */
		VEC(struct offer) best;
		size_t n_open;          /* pages that count at all */
	} part[TIDE_PARTS];
	uint32_t floor;                 /* bucket from which on the last batch took */
	uint8_t *pooled;                /* the pages that can be among the best of a batch, a bit each */
	uint32_t *pool;                 /* the same as a list, if they are few */
	size_t n_pool, cap_pool;
	bool pool_wide;                 /* they are many: there is no list */
	float pool_least;               /* a page is in the pool if it can score this much */
	float noise, doubt;             /* of scores; its least share (tide_doubt()) */
	float age_unit, horizon;        /* units of time: a cycle; what is planned for */
	uint32_t n_open;                /* pages, when the cycle began */
	float reserve;                  /* pages that can never be worth this much wait */
	float k_page;                   /* strength with which pages are like their groups */
	double oldest_share, explore;   /* shares of this cycle */
	double batch;                   /* share of the budget */
	double owed, owed_oldest;       /* fractions of a page carried over to the next batch: of those
	                                 * to explore, and of the longest unvisited */
	float *normal;
	struct tide_own own;            /* see tide_share.c */
};

/* The directory that a page is taken to lie in: /a/b/ alone in its directory, with
 * nothing below, is a page of /a/ (as /a/b.html would be). */
static inline uint32_t tide_home(const struct tree *t, uint32_t dir)
{
	return t->dir_alone[dir] && t->dir_parent[dir] != DIR_NONE ? t->dir_parent[dir] : dir;
}

/* tide_begin.c: memory of its own, and the start of a cycle. */
void tide_make_ready(struct tide_state *s, const struct tide_opts *o, const struct view *v);
void tide_begin(struct policy *p, const struct view *v);
/* The worth below which pages wait, if so many cycles take all pages by turns. */
float tide_reserve(const struct tide_state *s, const struct tide_opts *o, const struct view *v,
                   double cycles);
/* The pages of a host must be scored anew. */
void tide_mark_dirty(struct tide_state *s, uint32_t root);
/* The number of shards of the fleet, at least 1: each sees only that part of all visits. */
double tide_shards_of(const struct view *v);

/* tide_score.c: chances. */
extern const struct logistic_prior tide_prior[TIDE_FEATURES];
/* The parent, which stands for all its directories; a root for itself. */
uint32_t tide_near(const struct view *v, uint32_t dir);
/* The factor of the odds that a random effect makes. */
float tide_factor(const struct tide_state *s, int feature, const struct tide_family *g);
void tide_set_fixed(struct policy *p, const struct view *v);
void tide_features(const struct policy *p, const struct view *v, uint32_t page,
                   float survival, float x[TIDE_FEATURES]);
/* What a page's own record makes of the changes y that its groups make expect, as odds: the
 * chance to be unchanged is that of a rate drawn from a gamma distribution of mean
 * (k + hits) / (k + expected), times y. */
float tide_own_odds(const struct tide_state *s, const struct tide_page *h, float y);
/* What is believed of a page's future, at a directory's level; and if its group changes
 * `rate` times in a unit of time. */
struct tide_future tide_future_of(const struct tide_state *s, const struct tide_page *h,
                                  uint32_t dir, int level);
struct tide_future tide_future_at(const struct tide_state *s, const struct tide_page *h,
                                  float rate);
/* How much pages are like their groups: learnt from visits, y changes being expected. */
void tide_learn_k(struct tide_state *s, const struct tide_page *h, float y, bool hit);
float tide_estimate_k(const double fit[TIDE_K_GRID]);

/* A visit found more or less than expected. */
static inline void tide_surprise(struct tide_family *g, bool hit, double chance)
{
	g->sum += (float)((hit ? 1 : 0) - chance);
	g->var += (float)(chance * (1 - chance));
}

/* tide_cohort.c: a new cycle; the cohort of a host's pages that were last visited in a cycle;
 * a visit to one of them, that was a hit with so much chance. */
void tide_cohort_begin(struct tide_state *s);
struct tide_family tide_cohort(const struct tide_state *s, uint32_t root, uint32_t last);
void tide_cohort_learn(struct tide_state *s, uint32_t root, uint32_t last, bool hit,
                       double chance);

/* tide_rescore.c: score all pages of the dirty hosts, and put those that may win into the
 * pool; only_pool: chances are up to date. */
void tide_rescore(struct policy *p, const struct view *v, bool only_pool);

/* tide_share.c: what the shards of a fleet learn together.  Scores between take and leave are
 * made with it. */
void tide_share_say(const struct tide_state *s, const struct view *v, struct shared *ret);
void tide_share_take(struct tide_state *s, const struct tide_opts *o, const struct view *v);
void tide_share_leave(struct tide_state *s, const struct view *v);
/* The yields of the whole fleet, if they are known; else the shard's own. */
struct tide_council tide_share_council(const struct tide_state *s, const struct view *v);

/* tide_batch.c: spending one batch. */
void tide_batch_init(struct tide_state *s, uint32_t n_dirs, uint32_t n_pages, uint64_t seed);
/* The share of the noise that a page's score gets: its hit may be in doubt, and under aims of truth
 * and age the time for which it will be true always is. */
static inline float tide_doubt(float least, float chance)
{
	return 1 - chance > least ? 1 - chance : least;
}
/* Can the page reach pool_least, with the largest noise that is likely? */
#define TIDE_NORMAL_HARDLY 3.f          /* one draw in 740 is larger */
static inline bool tide_may_win(const struct tide_state *s, const struct tide_page *h)
{
	return h->worth * (1 + s->noise * tide_doubt(s->doubt, h->chance) * TIDE_NORMAL_HARDLY) >=
	       s->pool_least;
}
static inline bool tide_is_pooled(const struct tide_state *s, uint32_t page)
{
	return s->pooled[page / 8] >> page % 8 & 1;
}
/* A page that is not in it yet. */
void tide_pool_put(struct tide_state *s, uint32_t page);
void tide_batch_release(struct tide_state *s);
/* Take n pages by noisy chance, then n_explore at random. */
void tide_batch(struct policy *p, const struct view *v, struct plan *plan, uint32_t n,
                uint32_t n_explore);
/* Add the noisy score of every open page. */
void tide_batch_demand(const struct policy *p, const struct view *v, struct demand *ret);
/* Fill the plan with the longest unvisited that did not fail, ties by chance. */
void tide_batch_oldest(const struct tide_state *s, const struct view *v, struct plan *plan);

/* tide_explore.c: take n pages at random. */
void tide_explore(struct policy *p, const struct view *v, struct plan *plan, uint32_t n);

#endif
