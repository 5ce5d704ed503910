/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - the parts of the policy `evidence`; see evidence.c. */
#ifndef POLICY_EVIDENCE_EVIDENCE_H
#define POLICY_EVIDENCE_EVIDENCE_H

#include "base/heap.h"
#include "policy/model/logistic.h"
#include "policy/plan.h"

/* Groups of alike pages within a site, each with a random effect. */
enum { GROUP_NAME, GROUP_LAST, GROUP_DIRS, GROUP_FORM, GROUP_EXT, N_GROUPS };
enum { LINK_OUT, LINK_IN, LINK_COCITED, LINK_COCITING, N_LINK_EFFECTS };
enum { STATIC_DEPTH, STATIC_DIGIT, STATIC_DATE, STATIC_VERSION, STATIC_EMPTY,
       STATIC_LENGTH, STATIC_IN, STATIC_OUT, STATIC_RANK, N_STATICS };

enum evidence_feature {
	EVIDENCE_TREE, EVIDENCE_SITE, EVIDENCE_THIN, EVIDENCE_WORDS,
	EVIDENCE_GROUP,
	EVIDENCE_LINK = EVIDENCE_GROUP + N_GROUPS,
	EVIDENCE_STATIC = EVIDENCE_LINK + N_LINK_EFFECTS,
	EVIDENCE_ONE = EVIDENCE_STATIC + N_STATICS,
	EVIDENCE_FEATURES
};

#define EVIDENCE_WORDS_MAX 16   /* of a name */
#define EVIDENCE_ROWS 6000      /* that weights are fitted to */

struct evidence_opts {
	double sample, share, voice;
	bool nourl, nolinks, nofit;
};

/* What never changes: made once from the URLs and links. */
struct evidence_world {
	uint32_t n_nodes;
	uint32_t *parent;               /* of a node; node 0 is the root */
	uint32_t *first, *size;         /* by node: its pages in order[] */
	uint32_t *order;                /* pages by node, then URL */
	uint32_t *node;                 /* by page: the deepest */
	uint32_t *host;                 /* by page: the host's node */
	uint32_t *group[N_GROUPS];      /* by page; the last two are owned */
	uint32_t n_group[N_GROUPS];
	uint32_t *word_first, *word;    /* those of a page: word[word_first[page]...] */
	uint32_t n_words;               /* different ones */
	float *statics;                 /* n_pages x N_STATICS, standardised */
	uint32_t *sample;               /* every beginning of it evenly spread */
	uint32_t n_sample;
};

/* Tested pages that were alive more or less often than the tree expected. */
struct effect { float sum, var; };

struct evidence_sums { uint32_t node; float alive, tested; };

struct evidence_test { uint32_t page; float sum, var; bool hit, counts; };

struct evidence_state {
	struct evidence_world world;
	bool ready;
	/* lasting: changes only when told */
	float *alive, *tested;          /* by node, with the children's voices */
	uint32_t *own_alive, *own_tests; /* by node, its own pages */
	VEC(struct evidence_test) tests;
	VEC(struct evidence_sums) before;       /* doubts of this batch: see evidence_doubt() */
	uint32_t *test_of;              /* by page: its test + 1 */
	struct effect *group[N_GROUPS];
	struct effect *word;            /* by word */
	struct effect *out, *in;        /* by page: of what it links to, what links to it */
	float *cocited, *cociting;      /* by page: over neighbours, by root of degree */
	double weight[EVIDENCE_FEATURES];
	uint64_t n_alive;               /* of the tests */
	uint64_t n_misses;              /* chosen pages that were dead */
	uint64_t n_explored;            /* of the sample, after the opening */
	uint64_t next_fit;
	float *rows;
	uint8_t *row_hit;
	size_t n_rows, stride;
	/* derived, set anew when asked */
	float *rate;                    /* by node */
	float *node_score;              /* by node: what it gives its pages */
	float *host_score;              /* by node: what it gives pages below it */
	float *fixed;                   /* by page: score of the statics */
	bool stale_fixed;
	/* the queue: see evidence_queue.c */
	struct heap heap;
	bool queue_ready;
	double floor;
	uint64_t full_at;               /* tests when all pages were scored */
	VEC(uint32_t) dirty_node, dirty_page;
	VEC(uint32_t) lowered;          /* in the heap, by doubts of this batch */
};

void evidence_world_init(struct evidence_world *w, const struct view *v, bool urls,
                         double sample);
void evidence_world_release(struct evidence_world *w);

/* The hashes of the words of s...end, each once, at most EVIDENCE_WORDS_MAX. */
int evidence_words(const char *s, const char *end, uint64_t seed, uint64_t *ret_words);

void evidence_model_init(struct evidence_state *s, const struct view *v);
void evidence_model_release(struct evidence_state *s);
float evidence_score(const struct evidence_state *s, const struct view *v, uint32_t page);
/* fair: the page was drawn by chance, not chosen. */
void evidence_learn(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o, uint32_t page, bool hit,
                    bool fair);
/* A page of the batch is asked for: until all are chosen it counts as half dead. */
void evidence_doubt(struct evidence_state *s, const struct evidence_opts *o, uint32_t page);
/* All sums as they were, to the bit: asking teaches nothing. */
void evidence_settle(struct evidence_state *s);
/* All rates top-down, and what each node gives to the score of its pages. */
void evidence_rates(struct evidence_state *s);
/* The same for one node and those above it. */
void evidence_rates_to(struct evidence_state *s, uint32_t node);
void evidence_fix_statics(struct evidence_state *s, uint32_t n_pages);

void evidence_queue_init(struct evidence_state *s, uint32_t n_pages);
void evidence_queue_release(struct evidence_state *s);
/* A page was tested: those around it are scored anew before the next is taken. */
void evidence_queue_touch(struct evidence_state *s, const struct view *v, uint32_t page);
/* Doubts are over: what they lowered is scored anew. */
void evidence_queue_settle(struct evidence_state *s);
/* The open page with the highest score, taken out; PAGE_NONE: there is none. */
uint32_t evidence_queue_pop(struct evidence_state *s, const struct view *v,
                            double *ret_score);
/* A page that was taken out and is not asked for after all. */
void evidence_queue_push(struct evidence_state *s, uint32_t page, double score);

#endif
