/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_model.c - hazards of directories: the levels that are made from the totals of rings.
 * tide_slots.c divides time, tide_learn.c adds to the totals; see tide_model.h.
 */
#include "policy/tide/tide_model.h"

#include <math.h>

#define HAZARD_MIN 1e-6f
#define HAZARD_MAX 0.98f
#define RATIO_MAX 8.f           /* of a directory's long-run rate to its parent's */
#define RARE_BASE 0.03          /* prior of the rate of an unknown host */
#define HOST_VOICE 500.0        /* exposure at which a host speaks half */
#define HOST_EVENTS 0.5         /* events of the usual rate that a host begins with */
#define EVENTS_TELL 8.f         /* events that count as much as a prior's order of size */
#define JUMP_MOST 4096          /* cycles passed over that are kept apart */

void tide_model_init(struct tide_model *m, const struct tree *tree,
                     const struct tide_params *par)
{
	*m = (struct tide_model){ .par = *par, .tree = tree, .base = RARE_BASE,
	                          .usual = RARE_BASE, .path = PAGE_NONE };
	m->node = mem_zalloc(tree->n_dirs, sizeof *m->node);
	m->root = mem_array(tree->n_dirs, sizeof *m->root);
	m->level = mem_array(TIDE_DEPTH_MAX, sizeof *m->level);
	for (uint32_t d = 0; d < tree->n_dirs; d++) {
		uint32_t up = tree->dir_parent[d];

		m->root[d] = up == DIR_NONE ? m->n_roots++ : m->root[up];
	}
	m->roots = mem_zalloc(m->n_roots, sizeof *m->roots);
	m->root_dir = mem_array(m->n_roots, sizeof *m->root_dir);
	for (uint32_t d = 0; d < tree->n_dirs; d++)
		if (tree->dir_parent[d] == DIR_NONE)
			m->root_dir[m->root[d]] = d;
}

void tide_model_release(struct tide_model *m)
{
	free(m->node);
	free(m->root);
	free(m->roots);
	free(m->root_dir);
	free(m->level);
	vec_release(&m->nodes);
	vec_release(&m->rings);
	*m = (struct tide_model){ 0 };
}

void tide_model_freeze(struct tide_model *m, struct frozen *f)
{
	uint32_t n = m->tree->n_dirs;

	frozen_value(f, &m->slot);
	frozen_value(f, &m->n_slots);
	frozen_value(f, &m->n_columns);
	frozen_value(f, &m->now);
	frozen_value(f, &m->width);
	frozen_value(f, &m->base);
	frozen_value(f, &m->usual);
	frozen_rows(f, m->roots, m->n_roots, sizeof *m->roots);
	frozen_vec(f, &m->nodes);
	frozen_vec(f, &m->rings);
	frozen_check(f, m->n_slots <= TIDE_SLOTS && m->n_columns <= TIDE_SLOTS &&
	             m->rings.n == m->nodes.n * 2 * tide_ring_room(m) && m->nodes.n <= n);
	for (uint32_t i = 0; f->thaw && !f->bad && i < m->n_slots; i++)
		frozen_check(f, m->slot[i].column < m->n_columns);
	for (uint32_t i = 0; f->thaw && !f->bad && i < m->nodes.n; i++) {
		frozen_check(f, m->nodes.v[i].dir < n);
		if (!f->bad)
			m->node[m->nodes.v[i].dir] = i + 1;
	}
	for (uint32_t i = 0; f->thaw && !f->bad && i < m->nodes.n; i++) {
		uint32_t up = m->tree->dir_parent[m->nodes.v[i].dir];

		frozen_check(f, up == DIR_NONE || m->node[up]);
	}
}

uint32_t tide_parent_node(const struct tide_model *m, uint32_t node)
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

/* The rate of x events in a time y, drawn to `prior` as by one of strength k.  Where many
 * events say that the prior is far off, it gives way: a site that is rebuilt every day
 * is known for that after some dozen visits. */
static float shrink(float x, float y, float prior, float k)
{
	float own = k * prior, to = prior;

	if (x > 0 && y > 0)
		to = prior * powf(x / (y * prior), x / (x + EVENTS_TELL));
	return (x + own) / (y + own / fmaxf(to, prior));
}

int tide_level_refresh(struct tide_model *m, uint32_t node, int above)
{
	const struct tide_node *n = &m->nodes.v[node];
	struct tide_ring r = tide_ring_of(m, node);
	const struct tide_level *up = above < 0 ? NULL : &m->level[above];
	struct tide_level *l = &m->level[above + 1];
	float kb = (float)m->par.k_base;
	int n_columns = (int)m->n_columns;
	float base = up ? up->base : (float)m->base;

	l->base = least(HAZARD_MAX, (n->events + kb * base) / (n->exposure + kb));
	l->ever = up ? (n->all_events + kb * up->ever) / (n->all_exposure + kb) :
	          shrink(n->all_events, n->all_exposure, (float)m->usual, kb);
	if (!up) {
		float k = (float)m->par.k_site, own = l->base;

		#pragma omp simd
		for (int i = 0; i < n_columns; i++) {
			float prior = least(HAZARD_MAX, own * m->width[i]);

			l->hazard[i] = clip((r.events[i] + k * prior) / (r.exposure[i] + k),
			                    HAZARD_MIN, HAZARD_MAX);
		}
	} else {
		float k = (float)m->par.k_dir;
		float ratio = clip(l->base / base, 1 / RATIO_MAX, RATIO_MAX);

		#pragma omp simd
		for (int i = 0; i < n_columns; i++) {
			float prior = least(HAZARD_MAX, up->hazard[i] * ratio);

			l->hazard[i] = clip((r.events[i] + k * prior) / (r.exposure[i] + k),
			                    HAZARD_MIN, HAZARD_MAX);
		}
	}
	m->path = node;
	m->depth = above + 1;
	return m->depth;
}

void tide_level_survive(struct tide_model *m, int level)
{
	struct tide_level *l = &m->level[level];
	float sum = 0, step[TIDE_SLOTS];
	int n_columns = (int)m->n_columns;

	#pragma omp simd
	for (int i = 0; i < n_columns; i++)
		step[i] = log_survive(l->hazard[i]);
	for (uint32_t j = 0; j < m->n_slots; j++) {
		sum += step[m->slot[j].column];
		l->alive[j] = sum;
	}
	l->mean = -sum / m->span;
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
	if (level >= 0)
		tide_level_survive(m, level);
	return level;
}

/* Long-run sums with the children's voices, children before parents. */
static void sum_long_run(struct tide_model *m, double width)
{
	float keep = (float)pow(m->par.discount, width);

	for (uint32_t r = 0; r < m->n_roots; r++)
		m->roots[r].calm *= (double)keep;
	for (size_t i = 0; i < m->nodes.n; i++) {
		struct tide_node *n = &m->nodes.v[i];

		n->own_events *= keep;
		n->own_exposure *= keep;
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
		parent = tide_parent_node(m, m->node[d] - 1);
		if (parent == PAGE_NONE)
			continue;
		up = &m->nodes.v[parent];
		voice = 1 / (1 + n->exposure / (float)m->par.voice_base);
		up->events += n->events * voice;
		up->exposure += n->exposure * voice;
	}
}

struct tide_sums tide_sums_first(void)
{
	return (struct tide_sums){ 1, 1 / RARE_BASE, log(RARE_BASE), 1 };
}

/* The usual rate is the mean of the hosts' rates by their logarithms: one that is rebuilt every
 * day, among twenty quiet ones, makes the mean rate a hundred times as high, and this by a
 * third. */
void tide_model_sum(const struct tide_model *m, struct tide_sums *add)
{
	for (size_t i = 0; i < m->nodes.n; i++) {
		uint32_t dir = m->nodes.v[i].dir;
		const struct tide_root *r = &m->roots[m->root[dir]];
		double w = 1 / (1 + r->exposure / HOST_VOICE);
		double voice = r->exposure / (r->exposure + 1);

		if (m->tree->dir_parent[dir] != DIR_NONE || !(r->exposure > 0))
			continue;
		add->events += w * r->events;
		add->exposure += w * r->exposure;
		add->logs += voice * log((r->events + HOST_EVENTS) /
		                         (r->exposure + HOST_EVENTS / m->usual));
		add->voices += voice;
	}
}

void tide_model_set_rates(struct tide_model *m, const struct tide_sums *s)
{
	m->base = fmin(0.5, s->events / s->exposure);
	m->usual = exp(s->logs / s->voices);
	m->path = PAGE_NONE;
}

void tide_model_begin(struct tide_model *m, uint32_t cycle, double width)
{
	struct tide_sums sums = tide_sums_first();
	bool again = cycle <= m->now;
	double age = 0;

	/* cycles that nobody told us of were as long as this one */
	if (cycle > m->now && cycle - m->now > JUMP_MOST)
		m->now = cycle - JUMP_MOST;
	while (m->now < cycle)
		tide_slot_add(m, width);
	if (!again)
		sum_long_run(m, width);
	for (uint32_t j = m->n_slots; j-- > 0;) {
		m->fade[j] = pow(m->par.discount, age);
		age += (double)m->slot[j].width;
	}
	m->span = (float)age;
	tide_model_sum(m, &sums);
	tide_model_set_rates(m, &sums);
}

float tide_model_rests(const struct tide_model *m, uint32_t dir)
{
	return (float)-expm1(-m->roots[m->root[dir]].calm);
}

/* Visits are many when much happens, so a rate by visits is that of busy times.  On a host that
 * is known to rest all times count alike; of another one the hazards are no proof of rest. */
float tide_model_rate(const struct tide_model *m, uint32_t dir, int level)
{
	const struct tide_level *l;

	if (level < 0)
		return (float)m->usual;
	l = &m->level[level];
	return l->ever - tide_model_rests(m, dir) * fmaxf(l->ever - l->mean, 0);
}

float tide_model_survival(const struct tide_model *m, int level, uint32_t last)
{
	return tide_model_survival_of_copy(m, level, m->alone ? m->now - 1 : last);
}

float tide_model_survival_of_copy(const struct tide_model *m, int level, uint32_t last)
{
	const struct tide_level *l;
	float part, before, at;
	uint32_t k;

	if (last >= m->now || !m->n_slots)
		return 0;
	k = tide_slot_after(m, last, &part);
	if (level < 0) {
		float width = part * m->slot[k].width;

		while (++k < m->n_slots)
			width += m->slot[k].width;
		return width * (float)log1p(-m->base);
	}
	l = &m->level[level];
	before = k ? l->alive[k - 1] : 0;
	at = l->alive[k] - part * (l->alive[k] - before);
	return l->alive[m->n_slots - 1] - at;
}
