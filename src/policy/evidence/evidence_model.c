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
 * Score.  What the place of a page gives (its node's and its host's rate, the groups of its
 * directories), and what the page adds (its name, evidence_effect.c, and its statics and
 * links, evidence_static.c).  Doubts and most tests move whole places at once.
 * Every test's e in the effects is set anew at each refit; a test in between counts with
 * the rate just before it, which is the same thing at that moment.
 *
 * Weights.  Ridge logistic regression on the features each tested page had when
 * it was tested; rows are thinned evenly, refits come at 1.15 times the tests.
 */
#include <math.h>

#include "policy/evidence/evidence.h"
#include "policy/sweep.h"

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
	s->own_tests = mem_zalloc(w->n_nodes, sizeof *s->own_tests);
	s->rate = mem_zalloc(w->n_nodes, sizeof *s->rate);
	s->place = mem_zalloc(w->n_leaves, sizeof *s->place);
	for (int g = 0; g < N_GROUPS; g++)      /* hidden groups: one, without effect */
		s->group[g] = mem_zalloc(w->n_group[g] ? w->n_group[g] : 1, sizeof *s->group[g]);
	s->word = mem_zalloc(w->n_words, sizeof *s->word);
	s->named = mem_zalloc(w->n_names, sizeof *s->named);
	s->known = mem_zalloc(n, 1);
	s->base = mem_zalloc(n, sizeof *s->base);
	if (v->links && v->links_in) {
		s->out = mem_zalloc(n, sizeof *s->out);
		s->in = mem_zalloc(n, sizeof *s->in);
		s->cocited = mem_zalloc(n, sizeof *s->cocited);
		s->cociting = mem_zalloc(n, sizeof *s->cociting);
	}
	s->rows = mem_array((size_t)EVIDENCE_ROWS * EVIDENCE_FEATURES, sizeof *s->rows);
	s->row_hit = mem_zalloc(EVIDENCE_ROWS, 1);
	s->n_rows = 0;
	s->stride = 1;
	s->n_tests = s->n_alive = s->n_misses = s->n_explored = 0;
	s->next_fit = 20;
	for (int i = 0; i < EVIDENCE_FEATURES; i++)
		s->weight[i] = priors()[i].mean;
}

void evidence_model_release(struct evidence_state *s)
{
	free(s->alive);
	free(s->tested);
	free(s->own_tests);
	free(s->rate);
	free(s->place);
	for (int g = 0; g < N_GROUPS; g++)
		free(s->group[g]);
	free(s->word);
	vec_release(&s->before);
	free(s->named);
	free(s->known);
	free(s->base);
	free(s->out);
	free(s->in);
	free(s->cocited);
	free(s->cociting);
	free(s->rows);
	free(s->row_hit);
}

static float above_zero(float x)
{
	return x > 0 ? x : 0;
}

/* A node's rate; less: 1 to leave a test out, whose outcome is y, else both 0. */
static float rate_at(const struct evidence_state *s, uint32_t node, float above, float less,
                     float y)
{
	float a = above_zero(s->alive[node] - y), t = above_zero(s->tested[node] - less);
	float p = node ? (a + FIRM * above) / (t + FIRM) : (a + 1) / (t + 2);

	return p < RATE_MIN ? RATE_MIN : p > 1 - RATE_MIN ? 1 - RATE_MIN : p;
}

static float logit(float p)
{
	return logf(p / (1 - p));
}

static float place_of(const struct evidence_state *s, const struct evidence_leaf *leaf,
                      float tree, float site)
{
	const double *w = s->weight;
	float sum = tree * (float)(w[EVIDENCE_TREE] +
	                           w[EVIDENCE_THIN] / (1 + s->own_tests[leaf->node])) +
	            site * (float)w[EVIDENCE_SITE];

	for (int g = N_NAME_GROUPS; g < N_GROUPS; g++)
		sum += (float)w[EVIDENCE_GROUP + g] *
		       s->group[g][leaf->group[g - N_NAME_GROUPS]].value;
	return sum;
}

static void set_places(void *arg, unsigned block, size_t from, size_t to)
{
	struct evidence_state *s = arg;
	const struct evidence_world *w = &s->world;
	uint32_t host = UINT32_MAX;
	float site = 0;

	(void)block;
	for (size_t i = from; i < to; i++) {
		if (w->leaf[i].host != host)
			site = logit(s->rate[host = w->leaf[i].host]);
		s->place[i] = place_of(s, &w->leaf[i], logit(s->rate[w->leaf[i].node]), site);
	}
}

void evidence_rates(struct evidence_state *s, const struct view *v)
{
	const struct evidence_world *w = &s->world;

	for (uint32_t i = 0; i < w->n_nodes; i++)
		s->rate[i] = rate_at(s, i, s->rate[w->parent[i]], 0, 0);
	sweep(v, w->n_leaves, sweep_blocks(w->n_leaves), set_places, s);
}

static uint32_t node_of(const struct evidence_state *s, uint32_t page)
{
	return s->world.leaf[s->world.leaf_of[page]].node;
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

/* The rate of one node and of its host, from the root down. */
static float rates_of(const struct evidence_state *s, uint32_t node, float less, float y,
                      float *ret_site)
{
	uint32_t path[PATH_MAX_NODES];
	int n = path_to(s, node, path), host = n > 1 ? n - 2 : 0;
	float p = 0.5f;

	while (n-- > 0) {
		p = rate_at(s, path[n], p, less, y);
		if (n == host)
			*ret_site = p;
	}
	return p;
}

float evidence_place(const struct evidence_state *s, uint32_t leaf)
{
	const struct evidence_leaf *l = &s->world.leaf[leaf];
	float site, rate = rates_of(s, l->node, 0, 0, &site);

	return place_of(s, l, logit(rate), logit(site));
}

float evidence_score(struct evidence_state *s, uint32_t page)
{
	return evidence_place(s, s->world.leaf_of[page]) + evidence_own(s, page);
}

static void features(const struct evidence_state *s, const struct view *v, uint32_t page,
                     float *x)
{
	const struct evidence_world *w = &s->world;
	const struct evidence_leaf *leaf = &w->leaf[w->leaf_of[page]];
	uint32_t name = w->name_of[page];
	float site, rate = rates_of(s, leaf->node, 0, 0, &site);

	x[EVIDENCE_TREE] = logit(rate);
	x[EVIDENCE_SITE] = logit(site);
	x[EVIDENCE_THIN] = x[EVIDENCE_TREE] / (1 + (float)s->own_tests[leaf->node]);
	x[EVIDENCE_WORDS] = evidence_words_value(s, name);
	for (int g = 0; g < N_GROUPS; g++)
		x[EVIDENCE_GROUP + g] = s->group[g][g < N_NAME_GROUPS ? w->name[name].group[g] :
		                                    leaf->group[g - N_NAME_GROUPS]].value;
	x[EVIDENCE_LINK + LINK_OUT] = s->out ? effect_value(s->out[page]) : 0;
	x[EVIDENCE_LINK + LINK_IN] = s->in ? effect_value(s->in[page]) : 0;
	x[EVIDENCE_LINK + LINK_COCITED] = s->cocited ? s->cocited[page] : 0;
	x[EVIDENCE_LINK + LINK_COCITING] = s->cociting ? s->cociting[page] : 0;
	evidence_statics(w, v, page, x + EVIDENCE_STATIC);
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

		s->alive[node] = above_zero(s->alive[node] + a);
		s->tested[node] = above_zero(s->tested[node] + t);
		if (!node)
			break;
		a = da;
		t = dt;
	}
}

void evidence_doubt(struct evidence_state *s, const struct evidence_opts *o, uint32_t page)
{
	uint32_t path[PATH_MAX_NODES], node = node_of(s, page);

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

/* All sums from the tests up, so that differences leave no error behind. */
static void recount_tree(struct evidence_state *s, float voice)
{
	const struct evidence_world *w = &s->world;

	memset(s->alive, 0, w->n_nodes * sizeof *s->alive);
	for (uint32_t i = 0; i < w->n_pages; i++)
		if (s->known[i] == (KNOWN_TEST | KNOWN_ALIVE | KNOWN_COUNTS))
			s->alive[node_of(s, i)]++;
	for (uint32_t i = 0; i < w->n_nodes; i++)
		s->tested[i] = (float)s->own_tests[i];
	for (uint32_t i = w->n_nodes; i-- > 1;) {
		float f = 1 / (1 + s->tested[i] / voice);

		s->alive[w->parent[i]] += s->alive[i] * f;
		s->tested[w->parent[i]] += s->tested[i] * f;
	}
}

/* Every test counted anew with the rate that the others give it. */
static void refresh(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o)
{
	uint32_t node = UINT32_MAX;
	uint8_t known = 0;
	float e = 0, site;

	recount_tree(s, (float)o->voice);
	evidence_forget_effects(s, v->n_pages);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		float y = s->known[i] & KNOWN_ALIVE ? 1 : 0, less = s->known[i] & KNOWN_COUNTS ? 1 : 0;

		if (!s->known[i])
			continue;
		if (s->known[i] != known || node_of(s, i) != node)      /* not as that before it */
			e = rates_of(s, node_of(s, i), less, less * y, &site);
		known = s->known[i];
		node = node_of(s, i);
		evidence_teach_effects(s, v, i, (struct effect){ y - e, e * (1 - e) }, false);
	}
	evidence_spread_links(s, v);
}

/* The test about to be learnt, with the features it has now, as a row of the fit. */
static void keep_row(struct evidence_state *s, const struct view *v, uint32_t page, bool hit)
{
	if (s->n_tests % s->stride)
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
	features(s, v, page, s->rows + s->n_rows * EVIDENCE_FEATURES);
	s->row_hit[s->n_rows++] = hit;
}

void evidence_learn(struct evidence_state *s, const struct view *v,
                    const struct evidence_opts *o, uint32_t page, bool hit,
                    bool fair)
{
	bool counts = fair || !o->nourl;
	float site, e;

	if (s->known[page])
		return;
	s->known[page] = (uint8_t)(KNOWN_TEST | (hit ? KNOWN_ALIVE : 0) |
	                           (counts ? KNOWN_COUNTS : 0));
	e = rates_of(s, node_of(s, page), 0, 0, &site);
	keep_row(s, v, page, hit);
	s->n_tests++;
	if (counts) {
		s->own_tests[node_of(s, page)]++;
		shift_tree(s, node_of(s, page), hit, 1, (float)o->voice);
	}
	evidence_teach_effects(s, v, page, (struct effect){ (hit ? 1.f : 0.f) - e, e * (1 - e) },
	                       true);
	evidence_queue_touch(s, v, page);
	if (s->n_tests < s->next_fit)
		return;
	refresh(s, v, o);
	if (!o->nofit)
		logistic_fit(s->rows, s->row_hit, s->n_rows, EVIDENCE_FEATURES, priors(),
		             s->weight);
	evidence_set_base(s, v);
	s->next_fit = evidence_due(s, s->n_tests, REFIT);
	s->queue_ready = false;
}
