/* SPDX-License-Identifier: Apache-2.0 */
/* tide.h - the parts of the policy `tide`; see tide.c. */
#ifndef POLICY_TIDE_H
#define POLICY_TIDE_H

#include "policy/logistic.h"
#include "policy/plan.h"
#include "policy/tide_model.h"

struct tide_opts {
	double batch, explore, noise, family, memory;
	double voice, voice_base, discount, k_base, k_site, k_dir, k_page;
	bool nocap, nofit;
	int weight;
};

/* The logistic correction of the tree's log-odds. */
enum tide_feature {
	TIDE_TREE,                      /* log-odds by the tree and the page's multiplier */
	TIDE_FAMILY,                    /* N_FAMILIES random effects */
	TIDE_AGE = TIDE_FAMILY + N_FAMILIES,    /* log of the cycles since the visit */
	TIDE_FOUND,                     /* log of 1 + hits in its directory this cycle */
	TIDE_SURPRISE,                  /* the page's hits beyond the expected */
	TIDE_VISITED,                   /* has been visited before */
	TIDE_RANK,                      /* log of its PageRank, mean 1 */
	TIDE_ONE,
	TIDE_FEATURES
};

#define TIDE_ROWS 8192          /* latest visits that weights are fitted to */

/* Found more or less often than expected: a random effect on the log-odds. */
struct tide_family {
	float sum, var;                 /* hits less expected; its variance */
	float factor;                   /* of the odds, less 1 */
};

struct tide_page {
	float hits, expected;
	float fixed;                    /* factor of the odds, for the cycle */
	float chance;                   /* of being stale, as of its site's last rescoring */
};

/* Yield of the chosen and of the explored pages, discounted. */
struct tide_yield { float hits, visits; };

struct tide_state {
	struct tide_yield chosen, explored;
	struct tide_model model;
	bool ready;
	double weight[TIDE_FEATURES];
	float *rows;                    /* TIDE_ROWS x TIDE_FEATURES, a ring */
	uint8_t *row_hit;
	uint64_t n_rows;
	struct tide_family *family[N_FAMILIES];
	/* for the cycle only */
	uint8_t *dirty;                 /* by directory, roots only */
	uint32_t *dirty_roots, n_dirty;
	uint32_t *found, *taken;        /* by directory: hits; taken in this batch */
	uint32_t *touched;              /* directories with taken != 0 */
	struct offer *best;             /* candidates of this batch, in order */
	size_t n_best, cap_best;
	uint32_t *bucket;               /* pages by noisy score */
	double explore;                 /* share of this cycle */
	double carry;
	float *normal;
};

/* tide_batch.c: spending one batch. */
void tide_batch_init(struct tide_state *s, uint32_t n_dirs, uint64_t seed);
void tide_batch_release(struct tide_state *s);
/* Take n pages by noisy chance, then n_random at random. */
void tide_batch(struct policy *p, const struct view *v, struct plan *plan, uint32_t n,
                uint32_t n_random);

#endif
