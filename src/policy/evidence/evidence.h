/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - the parts of the policy `evidence`; see evidence.c. */
#ifndef POLICY_EVIDENCE_EVIDENCE_H
#define POLICY_EVIDENCE_EVIDENCE_H

#include <math.h>

#include "base/heap.h"
#include "policy/model/logistic.h"
#include "policy/plan.h"

/* Groups of alike pages within a site, each with a random effect: those of a name, then
 * those of a place. */
enum { GROUP_NAME, GROUP_FORM, GROUP_EXT, N_NAME_GROUPS,
       GROUP_LAST = N_NAME_GROUPS, GROUP_DIRS, N_GROUPS,
       N_PLACE_GROUPS = N_GROUPS - N_NAME_GROUPS };
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
#define EVIDENCE_A_TEST 50000   /* pages scored for each test, at most */

struct evidence_opts {
	double sample, share, voice;
	bool nourl, nolinks, nofit;
};

/* A URL cut up; all ends are within its text. */
struct evidence_cut {
	const char *host, *host_end, *path, *name, *name_end, *end;
};

/* What URL and PageRank say of a page by themselves; the rest of the statics is in the
 * graph. */
struct evidence_static {
	float rank;
	uint16_t length;
	uint8_t depth, flags;           /* flags: 1 << (STATIC_DIGIT ... STATIC_EMPTY) */
};

/* A file name of a site: what its pages have in common wherever they are. */
struct evidence_name {
	uint32_t first;                 /* its words: word[first] to those of the next name */
	uint32_t group[N_NAME_GROUPS];
};

/* A place: pages of one node whose directories are in the same groups. */
struct evidence_leaf {
	uint32_t node, host;
	uint32_t first;                 /* its pages: order[first] to those of the next leaf */
	uint32_t group[N_PLACE_GROUPS];
};

/* What never changes: made once from the URLs and links. */
struct evidence_world {
	uint32_t n_pages, n_nodes, n_leaves, n_names, n_words;
	uint32_t *parent;               /* of a node; node 0 is the root */
	uint32_t *leaf_first, *leaf_end; /* by node: the leaves at and below it */
	struct evidence_leaf *leaf;     /* n_leaves + 1 */
	struct evidence_name *name;     /* n_names + 1 */
	uint32_t *word;
	uint32_t *leaf_of, *name_of;    /* by page */
	uint32_t *order, *slot;         /* pages by leaf, in any order; by page: where there */
	uint32_t n_group[N_GROUPS];     /* 0: hidden */
	struct evidence_static *statics;
	uint16_t length_max;
	double mean[N_STATICS], scale[N_STATICS];       /* scale 0: all pages are alike */
	uint32_t *sample;               /* every beginning of it evenly spread */
	uint32_t n_sample;
};

/* Tested pages that were alive more or less often than the tree expected. */
struct effect { float sum, var; };
/* The same, and sum / (1 + var). */
struct group_effect { struct effect e; float value; };

struct evidence_sums { uint32_t node; float alive, tested; };

/* What is known of a page: it was tested, it was alive, it counts in the rates. */
enum evidence_known { KNOWN_TEST = 1, KNOWN_ALIVE = 2, KNOWN_COUNTS = 4 };

/* What a name gives to the score of its pages, as of so many tests. */
struct evidence_named { float value; uint32_t at; };

struct evidence_state {
	struct evidence_world world;
	bool ready;
	/* lasting: changes only when told */
	float *alive, *tested;          /* by node, with the children's voices */
	uint32_t *own_tests;            /* by node: tests of its own pages */
	uint8_t *known;                 /* by page: enum evidence_known */
	uint64_t n_tests;
	VEC(struct evidence_sums) before;       /* doubts of this batch: see evidence_doubt() */
	struct group_effect *group[N_GROUPS];
	struct group_effect *word;      /* by word */
	struct effect *out, *in;        /* by page: of what it links to, what links to it */
	float *cocited, *cociting;      /* by page: over neighbours, by root of degree */
	float *base;                    /* by page: score of its statics and links */
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
	struct evidence_named *named;   /* by name */
	float *place;                   /* by leaf: what it gives to the score of its pages */
	/* the queue: see evidence_queue.c */
	struct heap heap;               /* of leaves */
	float *key;                     /* by slot: what the page there adds to its place */
	uint32_t *n_pool;               /* by leaf: pages in the pool, the first of its slots */
	uint32_t *mended, n_mends;      /* by leaf: the mend in which all its pages were scored */
	bool queue_ready;
	uint64_t seed;                  /* of the chance between equals */
	float floor;
	uint64_t full_at;               /* tests when all pages were scored */
	VEC(uint32_t) dirty_node, dirty_leaf, dirty_page;
	VEC(uint32_t) lowered;          /* leaves, by doubts of this batch */
};

/* evidence_url.c */
void evidence_cut_url(const char *url, struct evidence_cut *c);
uint64_t evidence_form(const struct evidence_cut *c, uint64_t seed);
struct evidence_static evidence_find_static(const struct evidence_cut *c);
/* The hashes of the words of s...end, each once, at most EVIDENCE_WORDS_MAX. */
int evidence_words(const char *s, const char *end, uint64_t seed, uint64_t *ret_words);

/* evidence_world.c */
void evidence_world_init(struct evidence_world *w, const struct view *v, bool urls,
                         double sample);
void evidence_world_release(struct evidence_world *w);
/* evidence_sample.c: sets w->sample. */
void evidence_draw_sample(struct evidence_world *w, const struct view *v, bool urls,
                          double share);
/* evidence_static.c: the statics of a page, standardised; mean and scale of all. */
void evidence_statics(const struct evidence_world *w, const struct view *v, uint32_t page,
                      float *ret);
void evidence_standardise(struct evidence_world *w, const struct view *v);
/* Sets s->base of all pages from the weights in force. */
void evidence_set_base(struct evidence_state *s, const struct view *v);

/* evidence_effect.c */
static inline float effect_value(struct effect e)
{
	return e.sum / (1 + e.var);
}

/* A test that lay e.sum above what was expected, in the effects of its groups, words and
 * links; base: and at once in s->base of the pages it is linked with. */
void evidence_teach_effects(struct evidence_state *s, const struct view *v, uint32_t page,
                            struct effect e, bool base);
void evidence_forget_effects(struct evidence_state *s, uint32_t n_pages);
void evidence_spread_links(struct evidence_state *s, const struct view *v);
/* The words of a name together, less each the more there are. */
float evidence_words_value(const struct evidence_state *s, uint32_t name);
/* What a name gives to the score of its pages. */
float evidence_weigh_name(const struct evidence_state *s, uint32_t name);

/* The same, worked out once between two tests. */
static inline float evidence_name_value(struct evidence_state *s, uint32_t name)
{
	struct evidence_named *to = &s->named[name];

	if (to->at != (uint32_t)s->n_tests + 1)
		*to = (struct evidence_named){ evidence_weigh_name(s, name),
		                               (uint32_t)s->n_tests + 1 };
	return to->value;
}

/* evidence_model.c */
void evidence_model_init(struct evidence_state *s, const struct view *v);
void evidence_model_release(struct evidence_state *s);
/* What a page adds to its place, and both together. */
static inline float evidence_own(struct evidence_state *s, uint32_t page)
{
	return s->base[page] + evidence_name_value(s, s->world.name_of[page]);
}

float evidence_score(struct evidence_state *s, uint32_t page);
/* fair: the page was drawn by chance, not chosen. */
void evidence_learn(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o, uint32_t page, bool hit,
                    bool fair);
/* A page of the batch is asked for: until all are chosen it counts as half dead. */
void evidence_doubt(struct evidence_state *s, const struct evidence_opts *o, uint32_t page);
/* All sums as they were, to the bit: asking teaches nothing. */
void evidence_settle(struct evidence_state *s);
/* All rates top-down, and all places. */
void evidence_rates(struct evidence_state *s, const struct view *v);
/* The place of one leaf as of now. */
float evidence_place(const struct evidence_state *s, uint32_t leaf);

/* The tests at which all pages are looked at again, `from` those of the last time. */
static inline uint64_t evidence_due(const struct evidence_state *s, uint64_t from,
                                    double growth)
{
	uint64_t least = from + 1 + s->world.n_pages / EVIDENCE_A_TEST;
	uint64_t grown = (uint64_t)ceil(growth * (double)from);

	return grown > least ? grown : least;
}

/* evidence_queue.c */
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
void evidence_queue_push(struct evidence_state *s, uint32_t page);

/* evidence_best.c: the order of floats as an order of numbers above 0, the rank; 0 is free
 * for what has no score. */
static inline uint32_t evidence_rank(float score)
{
	uint32_t bits;

	memcpy(&bits, &score, sizeof bits);
	return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

float evidence_unrank(uint32_t rank);
/* The pages with the best `keep` of n ranks, in no order; equals by chance, 0 does not
 * count.  Returns how many there are; *ret_floor: the best of the others, or 0. */
size_t evidence_best(const struct view *v, const uint32_t *rank, uint32_t n, size_t keep,
                     uint64_t seed, uint32_t *ret_best, uint32_t *ret_floor);
/* What decides between pages of the same score: the larger one comes first. */
uint64_t evidence_chance(uint64_t seed, uint32_t page);

#endif
