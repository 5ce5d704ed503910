/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_model.c - hazards of directories by cycle; see tide_model.h.
 *
 * The totals of a ring are kept by differences: a visit changes its directory's
 * events and exposure, and every ancestor by what the child's voice moved.  So
 * nothing is summed anew within a cycle and only the path of a visit is touched;
 * a path is refreshed before it is learnt from, hence what is learnt does not
 * depend on when plans were asked for.
 */
#include "policy/tide_model.h"

#include <math.h>

#define HAZARD_MIN 1e-6f
#define HAZARD_MAX 0.98f
#define RATIO_MAX 8.f           /* of a directory's long-run rate to its parent's */
#define RARE_BASE 0.03          /* prior of the rate of an unknown host */
#define HOST_VOICE 500.0        /* exposure at which a host speaks half */

void tide_model_init(struct tide_model *m, const struct tree *tree,
                     const struct tide_params *par)
{
	*m = (struct tide_model){ .par = *par, .tree = tree, .base = RARE_BASE,
	                          .path = PAGE_NONE };
	m->node = mem_zalloc(tree->n_dirs, sizeof *m->node);
	m->root = mem_array(tree->n_dirs, sizeof *m->root);
	m->roots = mem_zalloc(tree->n_dirs, sizeof *m->roots);
	m->level = mem_array(TIDE_DEPTH_MAX, sizeof *m->level);
	for (uint32_t d = 0; d < tree->n_dirs; d++) {
		uint32_t up = tree->dir_parent[d];

		m->root[d] = up == DIR_NONE ? d : m->root[up];
	}
}

void tide_model_release(struct tide_model *m)
{
	free(m->node);
	free(m->root);
	free(m->roots);
	free(m->level);
	vec_release(&m->nodes);
	vec_release(&m->rings);
	*m = (struct tide_model){ 0 };
}

static uint32_t parent_node(const struct tide_model *m, uint32_t node)
{
	uint32_t up = m->tree->dir_parent[m->nodes.v[node].dir];

	return up == DIR_NONE ? PAGE_NONE : m->node[up] - 1;
}

static inline float least(float a, float b)
{
	return a < b ? a : b;
}

static inline float clip(float x, float lo, float hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* log(1 - q) for 0 <= q < 1 in single precision, in a form compilers make
 * vector code of: 1 - q = 2^e (1 + f), log(1 + f) = 2 atanh(f / (2 + f)). */
static inline float log_survive(float q)
{
	union { float f; uint32_t u; } x = { 1 - q };
	/* the nearest power of two, so that f is small on both sides of 1 */
	int32_t e = (int32_t)(x.u - 0x3f3504f3u) >> 23;
	float s, t;

	x.u -= (uint32_t)e << 23;
	s = (x.f - 1) / (x.f + 1);
	t = s * s;
	return (float)e * 0.69314718f +
	       2 * s * (1 + t * (1 / 3.f + t * (1 / 5.f + t * (1 / 7.f + t / 9))));
}

int tide_level_refresh(struct tide_model *m, uint32_t node, int above)
{
	const struct tide_node *n = &m->nodes.v[node];
	const struct tide_ring *r = &m->rings.v[node];
	const struct tide_level *up = above < 0 ? NULL : &m->level[above];
	struct tide_level *l = &m->level[above + 1];
	float kb = (float)m->par.k_base, sum = 0, step[TIDE_CYCLES];
	float base = up ? up->base : (float)m->base;

	l->base = least(HAZARD_MAX, (n->events + kb * base) / (n->exposure + kb));
	if (!up) {
		float k = (float)m->par.k_site, prior = k * l->base;

		#pragma omp simd
		for (int i = 0; i < TIDE_CYCLES; i++)
			l->hazard[i] = clip((r->events[i] + prior) / (r->exposure[i] + k),
			                    HAZARD_MIN, HAZARD_MAX);
	} else {
		float k = (float)m->par.k_dir;
		float ratio = clip(l->base / base, 1 / RATIO_MAX, RATIO_MAX);

		#pragma omp simd
		for (int i = 0; i < TIDE_CYCLES; i++) {
			float prior = least(HAZARD_MAX, up->hazard[i] * ratio);

			l->hazard[i] = clip((r->events[i] + k * prior) / (r->exposure[i] + k),
			                    HAZARD_MIN, HAZARD_MAX);
		}
	}
	#pragma omp simd
	for (int i = 0; i < TIDE_CYCLES; i++)
		step[i] = log_survive(l->hazard[i]);
	for (uint32_t j = m->first; j <= m->now; j++) {
		uint32_t i = j % TIDE_CYCLES;

		sum += step[i];
		l->alive[i] = sum;
	}
	m->path = node;
	m->depth = above + 1;
	return m->depth;
}

int tide_model_refresh(struct tide_model *m, uint32_t dir)
{
	uint32_t path[TIDE_DEPTH_MAX], n = 0;
	int level = -1;

	for (; dir != DIR_NONE; dir = m->tree->dir_parent[dir])
		if (m->node[dir] && n < TIDE_DEPTH_MAX)
			path[n++] = m->node[dir] - 1;
	while (n)
		level = tide_level_refresh(m, path[--n], level);
	return level;
}

/* Long-run sums with the children's voices, children before parents. */
static void sum_long_run(struct tide_model *m)
{
	for (size_t i = 0; i < m->nodes.n; i++) {
		struct tide_node *n = &m->nodes.v[i];

		n->own_events *= (float)m->par.discount;
		n->own_exposure *= (float)m->par.discount;
		n->events = n->own_events;
		n->exposure = n->own_exposure;
	}
	for (uint32_t d = m->tree->n_dirs; d-- > 0;) {
		struct tide_node *n, *up;
		uint32_t parent;
		float voice;

		if (!m->node[d])
			continue;
		n = &m->nodes.v[m->node[d] - 1];
		parent = parent_node(m, m->node[d] - 1);
		if (parent == PAGE_NONE)
			continue;
		up = &m->nodes.v[parent];
		voice = 1 / (1 + n->exposure / (float)m->par.voice_base);
		up->events += n->events * voice;
		up->exposure += n->exposure * voice;
	}
}

static double base_of_all(const struct tide_model *m)
{
	double x = 1, y = 1 / RARE_BASE;

	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct tide_root *r = &m->roots[m->nodes.v[i].dir];
		double w = 1 / (1 + r->exposure / HOST_VOICE);

		x += w * r->events;
		y += w * r->exposure;
	}
	return fmin(0.5, x / y);
}

void tide_model_begin(struct tide_model *m, uint32_t cycle)
{
	m->now = cycle;
	m->first = cycle >= TIDE_CYCLES ? cycle - TIDE_CYCLES + 1 : 1;
	for (size_t i = 0; i < m->rings.n; i++) {
		m->rings.v[i].events[cycle % TIDE_CYCLES] = 0;
		m->rings.v[i].exposure[cycle % TIDE_CYCLES] = 0;
	}
	sum_long_run(m);
	m->base = base_of_all(m);
	m->path = PAGE_NONE;
}

float tide_model_survival(const struct tide_model *m, int level, uint32_t last)
{
	return tide_model_survival_of_copy(m, level, m->alone ? m->now - 1 : last);
}

float tide_model_survival_of_copy(const struct tide_model *m, int level, uint32_t last)
{
	const struct tide_level *l;

	if (last >= m->now)
		return 0;
	if (last + 1 < m->first)
		last = m->first - 1;
	if (level < 0)
		return (float)((double)(m->now - last) * log1p(-m->base));
	l = &m->level[level];
	return l->alive[m->now % TIDE_CYCLES] -
	       (last < m->first ? 0 : l->alive[last % TIDE_CYCLES]);
}

static void add_nodes(struct tide_model *m, uint32_t dir)
{
	for (uint32_t d = dir; d != DIR_NONE && !m->node[d]; d = m->tree->dir_parent[d]) {
		static const struct tide_ring empty;
		struct tide_node n = { .dir = d };

		vec_push(&m->nodes, n);
		vec_push(&m->rings, empty);
		m->node[d] = (uint32_t)m->nodes.n;
	}
}

/* What one visit adds, by cycle from `from` to now. */
struct lesson {
	uint32_t from;
	float events[TIDE_CYCLES], exposure[TIDE_CYCLES];
};

static void spread(const struct tide_model *m, const struct tide_level *r, bool hit,
                   struct lesson *l)
{
	double survive = 1, sum = 0, before = 0;

	for (uint32_t j = l->from; j <= m->now; j++) {
		uint32_t i = j % TIDE_CYCLES;

		l->events[i] = hit ? (float)(r->hazard[i] * survive) : 0;
		l->exposure[i] = 1;
		sum += l->events[i];
		survive *= 1 - (double)r->hazard[i];
	}
	if (!hit)
		return;
	for (uint32_t j = l->from; j <= m->now; j++) {
		uint32_t i = j % TIDE_CYCLES;

		l->events[i] = (float)(l->events[i] / sum);
		l->exposure[i] = (float)(1 - before);
		before += l->events[i];
	}
}

/* Add the lesson to a node's ring, leaving what its parent hears in it. */
static void teach(struct tide_ring *r, const struct tide_model *m, struct lesson *l)
{
	float k = (float)(1 / m->par.voice);

	for (uint32_t j = l->from; j <= m->now; j++) {
		uint32_t i = j % TIDE_CYCLES;
		float x = fmaxf(0, r->events[i] + l->events[i]);
		float y = fmaxf(0, r->exposure[i] + l->exposure[i]);
		float was = 1 / (1 + r->exposure[i] * k), is = 1 / (1 + y * k);

		l->events[i] = x * is - r->events[i] * was;
		l->exposure[i] = y * is - r->exposure[i] * was;
		r->events[i] = x;
		r->exposure[i] = y;
	}
}

static void teach_long_run(struct tide_model *m, uint32_t node, float x, float y)
{
	float k = (float)(1 / m->par.voice_base);

	m->nodes.v[node].own_events += x;
	m->nodes.v[node].own_exposure += y;
	for (; node != PAGE_NONE; node = parent_node(m, node)) {
		struct tide_node *n = &m->nodes.v[node];
		float was = 1 / (1 + n->exposure * k), is = 1 / (1 + (n->exposure + y) * k);
		float dx = (n->events + x) * is - n->events * was;
		float dy = (n->exposure + y) * is - n->exposure * was;

		n->events += x;
		n->exposure += y;
		x = dx;
		y = dy;
	}
}

void tide_model_learn(struct tide_model *m, uint32_t dir, uint32_t last, bool hit)
{
	struct tide_root *root = &m->roots[m->root[dir]];
	struct lesson l = { .from = last + 1 };
	double x = 0, y = 0, weight = 1;
	uint32_t node;

	if (m->alone)
		l.from = m->now;
	if (l.from < m->first)
		l.from = m->first;
	if (l.from > m->now)
		return;
	add_nodes(m, dir);
	node = m->node[dir] - 1;
	if (m->path != node)
		tide_model_refresh(m, dir);
	spread(m, &m->level[m->depth], hit, &l);
	m->path = PAGE_NONE;
	for (uint32_t j = m->now; j >= l.from; j--) {
		uint32_t i = j % TIDE_CYCLES;

		x += weight * l.events[i];
		y += weight * l.exposure[i];
		root->events += l.events[i];
		root->exposure += l.exposure[i];
		weight *= m->par.discount;
	}
	teach_long_run(m, node, (float)x, (float)y);
	for (; node != PAGE_NONE; node = parent_node(m, node))
		teach(&m->rings.v[node], m, &l);
}
