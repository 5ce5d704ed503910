/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_model.c - the chance that a page is alive, from what was tested.
 *
 * Rates.  A node's (alive, tested) are its own pages' and its children's, each
 * child with (a, t) speaking for (a, t) / (1 + t / 3): a parent's rate is that of
 * its children, not of its pages.  Down the tree p = (a + 2 p(parent)) / (t + 2).
 * Sums are kept by differences along the path of a test.  With hidden URLs there is
 * one rate for all, and only tests by chance count in it: chosen pages live more often
 * than others, and against their rate a living neighbour would say nothing.
 *
 * Doubt.  A page asked for and not yet answered counts as half a dead one, so that a
 * batch does not spend itself on one place of which little is known.
 *
 * Effects.  Groups, words of names and links have u = sum (y - e) / (1 + sum e (1 - e)) over the tested pages, y the outcome and e
 * the rate the tree gives without that test: one Newton step of a random effect
 * of unit precision.  All e are set anew at each refit; a test in between counts
 * with the rate just before it, which is the same thing at that moment.
 *
 * Weights.  Ridge logistic regression on the features each tested page had when
 * it was tested; rows are thinned evenly, refits come at 1.15 times the tests.
 */
#include <math.h>

#include "graph/graph.h"
#include "policy/evidence/evidence.h"

#define RATE_MIN 0.001f
#define REFIT 1.15
#define FIRM 2.f                /* tests that the rate above a node is worth */
#define PATH_MAX_NODES 16
#define DOUBT 0.5f              /* of a dead page that a page asked for counts as */

static const struct logistic_prior *priors(void)
{
	static const struct logistic_prior p[EVIDENCE_FEATURES] = {
		[EVIDENCE_TREE] = { 1, 10 }, [EVIDENCE_SITE] = { 0, 10 },
		[EVIDENCE_THIN] = { 0, 10 }, [EVIDENCE_WORDS] = { 0.3, 10 },
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
	s->own_alive = mem_zalloc(w->n_nodes, sizeof *s->own_alive);
	s->own_tests = mem_zalloc(w->n_nodes, sizeof *s->own_tests);
	s->rate = mem_zalloc(w->n_nodes, sizeof *s->rate);
	s->node_score = mem_zalloc(w->n_nodes, sizeof *s->node_score);
	s->host_score = mem_zalloc(w->n_nodes, sizeof *s->host_score);
	for (int g = 0; g < N_GROUPS; g++)
		s->group[g] = mem_zalloc(w->n_group[g], sizeof *s->group[g]);
	s->word = mem_zalloc(w->n_words, sizeof *s->word);
	s->test_of = mem_zalloc(n, sizeof *s->test_of);
	s->out = mem_zalloc(n, sizeof *s->out);
	s->in = mem_zalloc(n, sizeof *s->in);
	s->cocited = mem_zalloc(n, sizeof *s->cocited);
	s->cociting = mem_zalloc(n, sizeof *s->cociting);
	s->fixed = mem_zalloc(n, sizeof *s->fixed);
	s->rows = mem_array((size_t)EVIDENCE_ROWS * EVIDENCE_FEATURES, sizeof *s->rows);
	s->row_hit = mem_zalloc(EVIDENCE_ROWS, 1);
	s->n_rows = 0;
	s->stride = 1;
	s->n_alive = s->n_misses = s->n_explored = 0;
	s->next_fit = 20;
	s->stale_fixed = true;
	for (int i = 0; i < EVIDENCE_FEATURES; i++)
		s->weight[i] = priors()[i].mean;
}

void evidence_model_release(struct evidence_state *s)
{
	free(s->alive);
	free(s->tested);
	free(s->own_alive);
	free(s->own_tests);
	free(s->rate);
	free(s->node_score);
	free(s->host_score);
	for (int g = 0; g < N_GROUPS; g++)
		free(s->group[g]);
	free(s->word);
	vec_release(&s->tests);
	vec_release(&s->before);
	free(s->test_of);
	free(s->out);
	free(s->in);
	free(s->cocited);
	free(s->cociting);
	free(s->fixed);
	free(s->rows);
	free(s->row_hit);
}

static float effect_value(const struct effect *e)
{
	return e->sum / (1 + e->var);
}

static void effect_add(struct effect *e, float sum, float var)
{
	e->sum += sum;
	e->var += var;
}

/* A node's rate; less: 1 to leave a test out, whose outcome is y, else both 0. */
static float rate_at(const struct evidence_state *s, uint32_t node, float above, float less,
                     float y)
{
	float a = fmaxf(0, s->alive[node] - y), t = fmaxf(0, s->tested[node] - less);
	float p = node ? (a + FIRM * above) / (t + FIRM) : (a + 1) / (t + 2);

	return p < RATE_MIN ? RATE_MIN : p > 1 - RATE_MIN ? 1 - RATE_MIN : p;
}

static float logit(float p)
{
	return logf(p / (1 - p));
}

static void rate_node(struct evidence_state *s, uint32_t i)
{
	float tree;

	s->rate[i] = rate_at(s, i, s->rate[s->world.parent[i]], 0, 0);
	tree = logit(s->rate[i]);
	s->node_score[i] = tree * (float)(s->weight[EVIDENCE_TREE] + s->weight[EVIDENCE_THIN] /
	                                  (1 + s->own_tests[i]));
	s->host_score[i] = tree * (float)s->weight[EVIDENCE_SITE];
}

void evidence_rates(struct evidence_state *s)
{
	for (uint32_t i = 0; i < s->world.n_nodes; i++)
		rate_node(s, i);
}

static int path_to(const struct evidence_state *s, uint32_t node, uint32_t *path)
{
	int n = 0;

	for (; n < PATH_MAX_NODES; node = s->world.parent[node]) {
		path[n++] = node;
		if (!node)
			break;
	}
	return n;
}

void evidence_rates_to(struct evidence_state *s, uint32_t node)
{
	uint32_t path[PATH_MAX_NODES];
	int n = path_to(s, node, path);

	while (n)
		rate_node(s, path[--n]);
}

/* The rate of one node, from the root down. */
static float rate_of(const struct evidence_state *s, uint32_t node, float less, float y)
{
	uint32_t path[PATH_MAX_NODES];
	int n = path_to(s, node, path);
	float p = 0.5f;

	while (n)
		p = rate_at(s, path[--n], p, less, y);
	return p;
}

/* A page's words together, less each the more there are. */
static float words_value(const struct evidence_state *s, uint32_t page)
{
	const struct evidence_world *w = &s->world;
	uint32_t from = w->word_first[page], to = w->word_first[page + 1];
	float sum = 0;

	for (uint32_t i = from; i < to; i++)
		sum += effect_value(&s->word[w->word[i]]);
	return to > from ? sum / sqrtf((float)(to - from)) : 0;
}

float evidence_score(const struct evidence_state *s, const struct view *v, uint32_t page)
{
	const struct evidence_world *w = &s->world;
	float score = s->fixed[page] + s->node_score[w->node[page]] +
	              s->host_score[w->host[page]] +
	              (float)s->weight[EVIDENCE_WORDS] * words_value(s, page);

	for (int g = 0; g < N_GROUPS; g++)
		if (w->n_group[g])
			score += (float)s->weight[EVIDENCE_GROUP + g] *
			         effect_value(&s->group[g][w->group[g][page]]);
	if (v->links && v->links_in)
		score += (float)s->weight[EVIDENCE_LINK + LINK_OUT] * effect_value(&s->out[page]) +
		         (float)s->weight[EVIDENCE_LINK + LINK_IN] * effect_value(&s->in[page]) +
		         (float)s->weight[EVIDENCE_LINK + LINK_COCITED] * s->cocited[page] +
		         (float)s->weight[EVIDENCE_LINK + LINK_COCITING] * s->cociting[page];
	return score;
}

void evidence_fix_statics(struct evidence_state *s, uint32_t n_pages)
{
	for (uint32_t i = 0; i < n_pages; i++) {
		const float *x = s->world.statics + (size_t)i * N_STATICS;
		float sum = (float)s->weight[EVIDENCE_ONE];

		for (int k = 0; k < N_STATICS; k++)
			sum += (float)s->weight[EVIDENCE_STATIC + k] * x[k];
		s->fixed[i] = sum;
	}
	s->stale_fixed = false;
}

static void features(const struct evidence_state *s, uint32_t page, float rate, float *x)
{
	const struct evidence_world *w = &s->world;

	x[EVIDENCE_TREE] = logit(rate);
	x[EVIDENCE_SITE] = logit(rate_of(s, w->host[page], 0, 0));
	x[EVIDENCE_THIN] = x[EVIDENCE_TREE] / (1 + (float)s->own_tests[w->node[page]]);
	x[EVIDENCE_WORDS] = words_value(s, page);
	for (int g = 0; g < N_GROUPS; g++)
		x[EVIDENCE_GROUP + g] = w->n_group[g] ?
			effect_value(&s->group[g][w->group[g][page]]) : 0;
	x[EVIDENCE_LINK + LINK_OUT] = effect_value(&s->out[page]);
	x[EVIDENCE_LINK + LINK_IN] = effect_value(&s->in[page]);
	x[EVIDENCE_LINK + LINK_COCITED] = s->cocited[page];
	x[EVIDENCE_LINK + LINK_COCITING] = s->cociting[page];
	memcpy(x + EVIDENCE_STATIC, w->statics + (size_t)page * N_STATICS,
	       N_STATICS * sizeof *x);
	x[EVIDENCE_ONE] = 1;
}

/* The sums when a of t tests more of a node's own pages are alive. */
static void shift_tree(struct evidence_state *s, uint32_t node, float a, float t, float voice)
{
	for (;; node = s->world.parent[node]) {
		float was = 1 / (1 + s->tested[node] / voice);
		float is = 1 / (1 + (s->tested[node] + t) / voice);
		float da = (s->alive[node] + a) * is - s->alive[node] * was;
		float dt = (s->tested[node] + t) * is - s->tested[node] * was;

		s->alive[node] = fmaxf(0, s->alive[node] + a);
		s->tested[node] = fmaxf(0, s->tested[node] + t);
		if (!node)
			break;
		a = da;
		t = dt;
	}
}

void evidence_doubt(struct evidence_state *s, const struct evidence_opts *o, uint32_t page)
{
	uint32_t path[PATH_MAX_NODES], node = s->world.node[page];

	if (o->nourl)
		return;
	for (int n = path_to(s, node, path); n-- > 0;)
		vec_push(&s->before, ((struct evidence_sums){ path[n], s->alive[path[n]],
		                                              s->tested[path[n]] }));
	/* the queue need not know: it scores anew what comes to its top */
	shift_tree(s, node, 0, DOUBT, (float)o->voice);
}

void evidence_settle(struct evidence_state *s)
{
	while (s->before.n) {
		struct evidence_sums b = s->before.v[--s->before.n];

		s->alive[b.node] = b.alive;
		s->tested[b.node] = b.tested;
	}
	evidence_queue_settle(s);
}

static void teach_tree(struct evidence_state *s, uint32_t node, bool hit, float voice)
{
	s->own_tests[node]++;
	s->own_alive[node] += hit;
	shift_tree(s, node, hit, 1, voice);
}

/* All sums from the pages up, so that differences leave no error behind. */
static void recount_tree(struct evidence_state *s, float voice)
{
	const struct evidence_world *w = &s->world;

	for (uint32_t i = 0; i < w->n_nodes; i++) {
		s->alive[i] = (float)s->own_alive[i];
		s->tested[i] = (float)s->own_tests[i];
	}
	for (uint32_t i = w->n_nodes; i-- > 1;) {
		float f = 1 / (1 + s->tested[i] / voice);

		s->alive[w->parent[i]] += s->alive[i] * f;
		s->tested[w->parent[i]] += s->tested[i] * f;
	}
}

static void teach_near(const struct graph *g, const struct evidence_test *t,
                       struct effect *effect)
{
	uint64_t n;
	const uint32_t *near = graph_links(g, t->page, &n);

	for (uint64_t i = 0; i < n; i++)
		effect_add(&effect[near[i]], t->sum, t->var);
}

/* The test in the effects of its groups, of those that link to it and of those
 * it links to. */
static void teach_effects(struct evidence_state *s, const struct view *v,
                          const struct evidence_test *t)
{
	const struct evidence_world *w = &s->world;

	for (int g = 0; g < N_GROUPS; g++)
		if (w->n_group[g])
			effect_add(&s->group[g][w->group[g][t->page]], t->sum, t->var);
	for (uint32_t i = w->word_first[t->page]; i < w->word_first[t->page + 1]; i++)
		effect_add(&s->word[w->word[i]], t->sum, t->var);
	if (v->links && v->links_in) {
		teach_near(v->links_in, t, s->out);
		teach_near(v->links, t, s->in);
	}
}

/* Over the neighbours of each page, divided by the root of their number. */
static void spread(const struct graph *g, uint32_t n_pages, const struct effect *effect,
                   float *ret)
{
	for (uint32_t i = 0; i < n_pages; i++) {
		uint64_t n;
		const uint32_t *near = graph_links(g, i, &n);
		float sum = 0;

		for (uint64_t k = 0; k < n; k++)
			sum += effect_value(&effect[near[k]]);
		ret[i] = n ? sum / sqrtf((float)n) : 0;
	}
}

/* Every test counted anew with the rate that the others give it. */
static void refresh(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o)
{
	recount_tree(s, (float)o->voice);
	for (int g = 0; g < N_GROUPS; g++)
		memset(s->group[g], 0, s->world.n_group[g] * sizeof *s->group[g]);
	memset(s->word, 0, s->world.n_words * sizeof *s->word);
	memset(s->out, 0, v->n_pages * sizeof *s->out);
	memset(s->in, 0, v->n_pages * sizeof *s->in);
	for (size_t i = 0; i < s->tests.n; i++) {
		struct evidence_test *t = &s->tests.v[i];
		float y = t->hit, e = rate_of(s, s->world.node[t->page], t->counts,
		                              t->counts ? y : 0);

		t->sum = y - e;
		t->var = e * (1 - e);
		teach_effects(s, v, t);
	}
	if (v->links && v->links_in) {
		spread(v->links_in, v->n_pages, s->out, s->cocited);
		spread(v->links, v->n_pages, s->in, s->cociting);
	}
}

static void keep_row(struct evidence_state *s, const float *x, bool hit)
{
	if (s->tests.n % s->stride)
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
                    const struct evidence_opts *o, uint32_t page, bool hit,
                    bool fair)
{
	float x[EVIDENCE_FEATURES], e = rate_of(s, s->world.node[page], 0, 0);
	struct evidence_test t = { page, (hit ? 1.f : 0.f) - e, e * (1 - e), hit,
	                           fair || !o->nourl };

	if (s->test_of[page])
		return;
	features(s, page, e, x);
	keep_row(s, x, hit);
	vec_push(&s->tests, t);
	s->test_of[page] = (uint32_t)s->tests.n;
	if (t.counts)
		teach_tree(s, s->world.node[page], hit, (float)o->voice);
	teach_effects(s, v, &t);
	evidence_queue_touch(s, v, page);
	if (s->tests.n < s->next_fit)
		return;
	refresh(s, v, o);
	if (!o->nofit)
		logistic_fit(s->rows, s->row_hit, s->n_rows, EVIDENCE_FEATURES, priors(),
		             s->weight);
	s->next_fit = (uint64_t)ceil(REFIT * (double)s->tests.n);
	s->stale_fixed = true;
	s->queue_ready = false;
}
