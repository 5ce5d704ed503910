/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - the parts of the policy `evidence`; see evidence.c. */
#ifndef POLICY_EVIDENCE_H
#define POLICY_EVIDENCE_H

#include "policy/logistic.h"
#include "policy/plan.h"

/* Groups of alike pages within a site, each with a random effect. */
enum { GROUP_NAME, GROUP_WORD, GROUP_LAST, GROUP_DIRS,         /* enum family */
       GROUP_SHAPE, GROUP_EXT, GROUP_DEPTH, N_GROUPS };
enum { LINK_OUT, LINK_IN, LINK_COCITED, LINK_COCITING, N_LINK_EFFECTS };
enum { STATIC_DEPTH, STATIC_DIGIT, STATIC_DATE, STATIC_VERSION, STATIC_EMPTY,
       STATIC_LENGTH, STATIC_IN, STATIC_OUT, STATIC_RANK, N_STATICS };

enum evidence_feature {
	EVIDENCE_TREE, EVIDENCE_SITE, EVIDENCE_THIN,
	EVIDENCE_GROUP,
	EVIDENCE_LINK = EVIDENCE_GROUP + N_GROUPS,
	EVIDENCE_STATIC = EVIDENCE_LINK + N_LINK_EFFECTS,
	EVIDENCE_ONE = EVIDENCE_STATIC + N_STATICS,
	EVIDENCE_FEATURES
};

#define EVIDENCE_ROWS 6000      /* that weights are fitted to */

struct evidence_opts {
	double sample, share, voice;
	bool nourl, nolinks, nofit;
};

/* What never changes: made once from the URLs and links. */
struct evidence_world {
	uint32_t n_nodes;
	uint32_t *parent;               /* of a node; node 0 is the root */
	uint32_t *node;                 /* by page: the deepest */
	uint32_t *host;                 /* by page: the host's node */
	uint32_t *group[N_GROUPS];      /* by page; owned for the last three */
	uint32_t n_group[N_GROUPS];
	float *statics;                 /* n_pages x N_STATICS, standardised */
	uint32_t *sample;               /* systematic, shuffled */
	uint32_t n_sample;
};

/* Tested pages that were alive more or less often than the tree expected. */
struct effect { float sum, var, value; };

static inline void effect_add(struct effect *e, float sum, float var)
{
	e->sum += sum;
	e->var += var;
	e->value = e->sum / (1 + e->var);
}

struct evidence_state {
	struct evidence_world world;
	bool ready;
	/* lasting: changes only when told */
	float *alive, *tested;          /* by node, with the children's voices */
	uint32_t *own_tests;            /* by node, its own pages */
	struct effect *group[N_GROUPS];
	struct effect *out, *in;        /* by page: of what it links to, what links to it */
	float *cocited, *cociting;      /* by page: over neighbours, by root of degree */
	double weight[EVIDENCE_FEATURES];
	uint64_t n_tested, next_fit;
	float *rows;
	uint8_t *row_hit;
	size_t n_rows, stride;
	/* derived, set anew when asked */
	float *rate;                    /* by node */
	float *node_score;              /* by node: what it gives its pages */
	float *host_score;              /* by node: what it gives pages below it */
	float *fixed;                   /* by page: score of the statics */
	bool stale_fixed;
};

void evidence_world_init(struct evidence_world *w, const struct view *v, bool urls,
                         double sample);
void evidence_world_release(struct evidence_world *w);

void evidence_model_init(struct evidence_state *s, const struct view *v);
void evidence_model_release(struct evidence_state *s);
/* All rates top-down, and what each node gives to the score of its pages. */
void evidence_rates(struct evidence_state *s);
float evidence_score(const struct evidence_state *s, const struct view *v, uint32_t page);
void evidence_learn(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o, uint32_t page, bool hit);

#endif
