/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_model.c - the chance that a page is alive, from what was tested.
 *
 * Rates.  A node's (alive, tested) are its own pages' and its children's, each
 * child with (a, t) speaking for (a, t) / (1 + t / 3): a parent's rate is that of
 * its children, not of its pages.  Down the tree p = (a + p(parent)) / (t + 1).
 * Sums are kept by differences along the path of a test.
 *
 * Effects.  Groups and links have u = sum (y - e) / (1 + sum e (1 - e)) over the
 * tested pages, y the outcome and e the rate the tree gave just before it: one
 * Newton step of a random effect of unit precision.  A page's own outcome is thus
 * never in what it was predicted with.
 *
 * Weights.  Ridge logistic regression on the features each tested page had when
 * it was tested; rows are thinned evenly, refits come at 1.15 times the tests.
 */
#include <math.h>

#include "graph/graph.h"
#include "policy/evidence.h"

#define RATE_MIN 0.001f
#define REFIT 1.15
#define HUB 200                 /* pages with more links do not pass effects on */

static const struct logistic_prior *priors(void)
{
	static const struct logistic_prior p[EVIDENCE_FEATURES] = {
		[EVIDENCE_TREE] = { 1, 10 }, [EVIDENCE_SITE] = { 0, 10 },
		[EVIDENCE_THIN] = { 0, 10 },
		[EVIDENCE_GROUP ... EVIDENCE_GROUP + N_GROUPS - 1] = { 0.3, 10 },
		[EVIDENCE_LINK ... EVIDENCE_LINK + N_LINK_EFFECTS - 1] = { 0.3, 10 },
		[EVIDENCE_STATIC ... EVIDENCE_STATIC + N_STATICS - 1] = { 0, 20 },
		[EVIDENCE_ONE] = { 0, 10 },
	};

	return p;
}

void evidence_model_init(struct evidence_state *s, const struct view *v)
{
	const struct evidence_world *w = &s->world;
	uint32_t n = v->n_pages;

	s->alive = mem_zalloc(w->n_nodes, sizeof *s->alive);
	s->tested = mem_zalloc(w->n_nodes, sizeof *s->tested);
	s->own_tests = mem_zalloc(w->n_nodes, sizeof *s->own_tests);
	s->rate = mem_zalloc(w->n_nodes, sizeof *s->rate);
	s->node_score = mem_zalloc(w->n_nodes, sizeof *s->node_score);
	s->host_score = mem_zalloc(w->n_nodes, sizeof *s->host_score);
	for (int g = 0; g < N_GROUPS; g++)
		s->group[g] = mem_zalloc(w->n_group[g], sizeof *s->group[g]);
	s->out = mem_zalloc(n, sizeof *s->out);
	s->in = mem_zalloc(n, sizeof *s->in);
	s->cocited = mem_zalloc(n, sizeof *s->cocited);
	s->cociting = mem_zalloc(n, sizeof *s->cociting);
	s->fixed = mem_zalloc(n, sizeof *s->fixed);
	s->rows = mem_array((size_t)EVIDENCE_ROWS * EVIDENCE_FEATURES, sizeof *s->rows);
	s->row_hit = mem_zalloc(EVIDENCE_ROWS, 1);
	s->stride = 1;
	s->next_fit = 20;
	s->stale_fixed = true;
	for (int i = 0; i < EVIDENCE_FEATURES; i++)
		s->weight[i] = priors()[i].mean;
}

void evidence_model_release(struct evidence_state *s)
{
	free(s->alive);
	free(s->tested);
	free(s->own_tests);
	free(s->rate);
	free(s->node_score);
	free(s->host_score);
	for (int g = 0; g < N_GROUPS; g++)
		free(s->group[g]);
	free(s->out);
	free(s->in);
	free(s->cocited);
	free(s->cociting);
	free(s->fixed);
	free(s->rows);
	free(s->row_hit);
}

static float rate_at(const struct evidence_state *s, uint32_t node, float above)
{
	float p = node ? (s->alive[node] + above) / (s->tested[node] + 1) :
	                 (s->alive[0] + 1) / (s->tested[0] + 2);

	return p < RATE_MIN ? RATE_MIN : p > 1 - RATE_MIN ? 1 - RATE_MIN : p;
}

static float logit(float p)
{
	return logf(p / (1 - p));
}

void evidence_rates(struct evidence_state *s)
{
	const double *w = s->weight;

	for (uint32_t i = 0; i < s->world.n_nodes; i++) {
		float tree;

		s->rate[i] = rate_at(s, i, s->rate[s->world.parent[i]]);
		tree = logit(s->rate[i]);
		s->node_score[i] = tree * (float)(w[EVIDENCE_TREE] + w[EVIDENCE_THIN] /
		                                  (1 + s->own_tests[i]));
		s->host_score[i] = tree * (float)w[EVIDENCE_SITE];
	}
}

/* The rate of one node, from the root down. */
static float rate_of(const struct evidence_state *s, uint32_t node)
{
	uint32_t path[16];
	int n = 0;
	float p = 0.5f;

	for (; n < 16; node = s->world.parent[node]) {
		path[n++] = node;
		if (!node)
			break;
	}
	while (n)
		p = rate_at(s, path[--n], p);
	return p;
}

float evidence_score(const struct evidence_state *s, const struct view *v, uint32_t page)
{
	const struct evidence_world *w = &s->world;
	float score = s->fixed[page] + s->node_score[w->node[page]] +
	              s->host_score[w->host[page]];

	for (int g = 0; g < N_GROUPS; g++)
		if (w->n_group[g])
			score += (float)s->weight[EVIDENCE_GROUP + g] *
			         s->group[g][w->group[g][page]].value;
	if (v->links && v->links_in)
		score += (float)s->weight[EVIDENCE_LINK + LINK_OUT] * s->out[page].value +
		         (float)s->weight[EVIDENCE_LINK + LINK_IN] * s->in[page].value +
		         (float)s->weight[EVIDENCE_LINK + LINK_COCITED] * s->cocited[page] +
		         (float)s->weight[EVIDENCE_LINK + LINK_COCITING] * s->cociting[page];
	return score;
}

static void features(const struct evidence_state *s, uint32_t page, float rate, float *x)
{
	const struct evidence_world *w = &s->world;

	x[EVIDENCE_TREE] = logit(rate);
	x[EVIDENCE_SITE] = logit(rate_of(s, w->host[page]));
	x[EVIDENCE_THIN] = x[EVIDENCE_TREE] / (1 + (float)s->own_tests[w->node[page]]);
	for (int g = 0; g < N_GROUPS; g++)
		x[EVIDENCE_GROUP + g] = w->n_group[g] ?
			s->group[g][w->group[g][page]].value : 0;
	x[EVIDENCE_LINK + LINK_OUT] = s->out[page].value;
	x[EVIDENCE_LINK + LINK_IN] = s->in[page].value;
	x[EVIDENCE_LINK + LINK_COCITED] = s->cocited[page];
	x[EVIDENCE_LINK + LINK_COCITING] = s->cociting[page];
	memcpy(x + EVIDENCE_STATIC, w->statics + (size_t)page * N_STATICS,
	       N_STATICS * sizeof *x);
	x[EVIDENCE_ONE] = 1;
}

static void teach_tree(struct evidence_state *s, uint32_t node, bool hit, float voice)
{
	float a = hit, t = 1;

	s->own_tests[node]++;
	for (;; node = s->world.parent[node]) {
		float was = 1 / (1 + s->tested[node] / voice);
		float is = 1 / (1 + (s->tested[node] + t) / voice);
		float da = (s->alive[node] + a) * is - s->alive[node] * was;
		float dt = (s->tested[node] + t) * is - s->tested[node] * was;

		s->alive[node] = fmaxf(0, s->alive[node] + a);
		s->tested[node] += t;
		if (!node)
			break;
		a = da;
		t = dt;
	}
}

/* The page's outcome in the effects of those that link to it, of those it links
 * to, and of their neighbours. */
static void teach_links(const struct graph *from, const struct graph *to, uint32_t page,
                        float sum, float var, struct effect *effect, float *beyond)
{
	uint64_t n, m;
	const uint32_t *near = graph_links(from, page, &n), *far;

	for (uint64_t i = 0; i < n; i++) {
		struct effect *e = &effect[near[i]];
		float was = e->value, move;

		effect_add(e, sum, var);
		move = e->value - was;
		far = graph_links(to, near[i], &m);
		for (uint64_t k = 0; m <= HUB && k < m; k++)
			beyond[far[k]] += move / sqrtf((float)graph_degree(from, far[k]));
	}
}

static void keep_row(struct evidence_state *s, const float *x, bool hit)
{
	if (s->n_tested % s->stride)
		return;
	if (s->n_rows == EVIDENCE_ROWS) {
		for (size_t i = 0; i < EVIDENCE_ROWS / 2; i++) {
			memcpy(s->rows + i * EVIDENCE_FEATURES, s->rows + 2 * i * EVIDENCE_FEATURES,
			       EVIDENCE_FEATURES * sizeof *s->rows);
			s->row_hit[i] = s->row_hit[2 * i];
		}
		s->n_rows = EVIDENCE_ROWS / 2;
		s->stride *= 2;
	}
	memcpy(s->rows + s->n_rows * EVIDENCE_FEATURES, x, EVIDENCE_FEATURES * sizeof *x);
	s->row_hit[s->n_rows++] = hit;
}

void evidence_learn(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o, uint32_t page, bool hit)
{
	const struct evidence_world *w = &s->world;
	float x[EVIDENCE_FEATURES], e = rate_of(s, w->node[page]);
	float sum = (hit ? 1.f : 0.f) - e, var = e * (1 - e);

	features(s, page, e, x);
	keep_row(s, x, hit);
	s->n_tested++;
	teach_tree(s, w->node[page], hit, (float)o->voice);
	for (int g = 0; g < N_GROUPS; g++)
		if (w->n_group[g])
			effect_add(&s->group[g][w->group[g][page]], sum, var);
	if (v->links && v->links_in) {
		/* who links to it: its `out`; what those link to: cocited with it */
		teach_links(v->links_in, v->links, page, sum, var, s->out, s->cocited);
		teach_links(v->links, v->links_in, page, sum, var, s->in, s->cociting);
	}
	if (s->n_tested < s->next_fit || o->nofit)
		return;
	logistic_fit(s->rows, s->row_hit, s->n_rows, EVIDENCE_FEATURES, priors(), s->weight);
	s->next_fit = (uint64_t)ceil(REFIT * (double)s->n_tested);
	s->stale_fixed = true;
}
