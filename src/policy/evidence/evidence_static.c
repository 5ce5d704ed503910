/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_static.c - what is known of a page before anything is tested, as numbers with
 * mean 0 and variance 1 over the pages.
 *
 * Kept are the small whole numbers they are made from, 8 bytes a page.  Where all pages
 * are weighed, each number's part of the score is looked up in a table.
 */
#include <math.h>

#include "graph/graph.h"
#include "policy/evidence/evidence.h"
#include "policy/sweep.h"

#define DEGREES 256             /* links in or out with an entry in a table */
#define DEPTHS (UINT8_MAX + 1)
#define FLAG_SETS (1 << (STATIC_EMPTY + 1))

static const int flagged[] = { STATIC_DIGIT, STATIC_DATE, STATIC_VERSION, STATIC_EMPTY };
#define N_FLAGGED (sizeof flagged / sizeof *flagged)

/* As it is, before it is standardised. */
static double raw(int k, uint64_t number)
{
	return k == STATIC_DEPTH ? (double)number : (double)log1pf((float)number);
}

static double flag_of(uint8_t flags, int k)
{
	return flags >> k & 1;
}

static float standard(const struct evidence_world *w, int k, double x)
{
	return (float)((x - w->mean[k]) * w->scale[k]);
}

void evidence_statics(const struct evidence_world *w, const struct view *v, uint32_t page,
                      float *ret)
{
	const struct evidence_static *s = &w->statics[page];
	bool links = v->links && v->links_in;

	for (size_t i = 0; i < N_FLAGGED; i++)
		ret[flagged[i]] = standard(w, flagged[i], flag_of(s->flags, flagged[i]));
	ret[STATIC_DEPTH] = standard(w, STATIC_DEPTH, raw(STATIC_DEPTH, s->depth));
	ret[STATIC_LENGTH] = standard(w, STATIC_LENGTH, raw(STATIC_LENGTH, s->length));
	ret[STATIC_IN] = standard(w, STATIC_IN, links ?
	                          raw(STATIC_IN, graph_degree(v->links_in, page)) : 0);
	ret[STATIC_OUT] = standard(w, STATIC_OUT, links ?
	                           raw(STATIC_OUT, graph_degree(v->links, page)) : 0);
	ret[STATIC_RANK] = standard(w, STATIC_RANK, (double)s->rank);
}

void evidence_standardise(struct evidence_world *w, const struct view *v)
{
	double sum[N_STATICS] = { 0 }, square[N_STATICS] = { 0 }, n = v->n_pages;
	float x[N_STATICS];

	for (int k = 0; k < N_STATICS; k++) {
		w->mean[k] = 0;
		w->scale[k] = 1;
	}
	for (uint32_t i = 0; i < v->n_pages; i++) {
		evidence_statics(w, v, i, x);
		for (int k = 0; k < N_STATICS; k++) {
			sum[k] += (double)x[k];
			square[k] += (double)x[k] * (double)x[k];
		}
	}
	for (int k = 0; k < N_STATICS && n > 0; k++) {
		double sd = sqrt(fmax(0, square[k] / n - sum[k] / n * (sum[k] / n)));

		w->mean[k] = sum[k] / n;
		w->scale[k] = sd > 1e-6 ? 1 / sd : 0;
	}
}

/* The parts of the score by number. */
struct terms {
	float depth[DEPTHS], flags[FLAG_SETS], in[DEGREES], out[DEGREES];
	float *length;
};

static float term(const struct evidence_state *s, int k, double x)
{
	return (float)s->weight[EVIDENCE_STATIC + k] * standard(&s->world, k, x);
}

static void terms_init(struct terms *t, const struct evidence_state *s)
{
	t->length = mem_array((size_t)s->world.length_max + 1, sizeof *t->length);
	for (uint32_t i = 0; i <= s->world.length_max; i++)
		t->length[i] = term(s, STATIC_LENGTH, raw(STATIC_LENGTH, i));
	for (uint32_t i = 0; i < DEPTHS; i++)
		t->depth[i] = term(s, STATIC_DEPTH, raw(STATIC_DEPTH, i));
	for (uint32_t i = 0; i < DEGREES; i++) {
		t->in[i] = term(s, STATIC_IN, raw(STATIC_IN, i));
		t->out[i] = term(s, STATIC_OUT, raw(STATIC_OUT, i));
	}
	for (unsigned i = 0; i < FLAG_SETS; i++) {
		t->flags[i] = (float)s->weight[EVIDENCE_ONE];
		for (size_t k = 0; k < N_FLAGGED; k++)
			t->flags[i] += term(s, flagged[k], flag_of((uint8_t)i, flagged[k]));
	}
}

static float degree_term(const struct evidence_state *s, const float *table, int k,
                         uint64_t degree)
{
	return degree < DEGREES ? table[degree] : term(s, k, raw(k, degree));
}

struct basing { struct evidence_state *s; const struct view *v; struct terms t; };

static void set_bases(void *arg, unsigned block, size_t from, size_t to)
{
	const struct basing *b = arg;
	const struct terms *t = &b->t;
	struct evidence_state *s = b->s;
	const struct evidence_static *x = s->world.statics;
	const double *link = s->weight + EVIDENCE_LINK;

	(void)block;
	for (size_t i = from; i < to; i++) {
		uint32_t page = (uint32_t)i;
		float sum = t->flags[x[i].flags] + t->depth[x[i].depth] + t->length[x[i].length] +
		            term(s, STATIC_RANK, (double)x[i].rank);

		if (s->out) {
			sum += degree_term(s, t->in, STATIC_IN, graph_degree(b->v->links_in, page)) +
			       degree_term(s, t->out, STATIC_OUT, graph_degree(b->v->links, page)) +
			       (float)link[LINK_COCITED] * s->cocited[i] +
			       (float)link[LINK_COCITING] * s->cociting[i];
			if (s->out[i].var > 0)
				sum += (float)link[LINK_OUT] * effect_value(s->out[i]);
			if (s->in[i].var > 0)
				sum += (float)link[LINK_IN] * effect_value(s->in[i]);
		}
		s->base[i] = sum;
	}
}

void evidence_set_base(struct evidence_state *s, const struct view *v)
{
	struct basing b = { .s = s, .v = v };

	terms_init(&b.t, s);
	sweep(v, v->n_pages, sweep_blocks(v->n_pages), set_bases, &b);
	free(b.t.length);
}
