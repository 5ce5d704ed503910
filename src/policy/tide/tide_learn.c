/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_learn.c - what a visit adds to the totals of directories; see tide_model.h.
 *
 * The totals of a ring are kept by differences: a visit changes its directory's
 * events and exposure, and every ancestor by what the child's voice moved.  So
 * nothing is summed anew within a cycle and only the path of a visit is touched;
 * a path is refreshed before it is learnt from, hence what is learnt does not
 * depend on when plans were asked for.
 */
#include "policy/tide/tide_model.h"

#include <math.h>

#define CERTAIN 1.5             /* longest_wait(): whole up to 8 expected events, half from 16 on */
#define CERTAIN_SPAN 16
#define DAY (86400 / TIDE_UNIT) /* of long slots no more than that is told apart */

static void add_nodes(struct tide_model *m, uint32_t dir)
{
	for (uint32_t d = dir; d != DIR_NONE && !m->node[d]; d = m->tree->dir_parent[d]) {
		struct tide_node n = { .dir = d };
		size_t floats = 2 * tide_ring_room(m);

		vec_push(&m->nodes, n);
		vec_reserve(&m->rings, floats);
		memset(m->rings.v + m->rings.n, 0, floats * sizeof *m->rings.v);
		m->rings.n += floats;
		m->node[d] = (uint32_t)m->nodes.n;
	}
}

/* What one visit adds, in the slots from `from` on. */
struct lesson {
	uint32_t from;
	float part;                     /* of the first of them */
	float events[TIDE_SLOTS], exposure[TIDE_SLOTS];         /* by slot */
};

static void spread(const struct tide_model *m, const struct tide_level *r, bool hit,
                   struct lesson *l)
{
	double survive = 1, sum = 0, before = 0;

	for (uint32_t j = l->from; j < m->n_slots; j++) {
		uint32_t i = m->slot[j].column;
		double part = j == l->from ? (double)l->part : 1;
		double q = part < 1 ? -expm1(part * log1p(-(double)r->hazard[i])) :
		           (double)r->hazard[i];

		l->events[j] = hit ? (float)(q * survive) : 0;
		l->exposure[j] = (float)part;
		sum += l->events[j];
		survive *= 1 - q;
	}
	if (!hit)
		return;
	for (uint32_t j = l->from; j < m->n_slots; j++) {
		l->events[j] = (float)(l->events[j] / sum);
		l->exposure[j] *= (float)(1 - before);
		before += l->events[j];
	}
}

static inline float above_zero(float x)
{
	return x > 0 ? x : 0;
}

/* Add the lesson to a node's ring, leaving what its parent hears in it.  Columns are put side
 * by side first, so that compilers make vector code of what is slow, the divisions. */
static void teach(struct tide_ring r, const struct tide_model *m, struct lesson *l)
{
	float k = (float)(1 / m->par.voice), events[TIDE_SLOTS], exposure[TIDE_SLOTS];
	int from = (int)l->from, n = (int)m->n_slots;

	for (int j = from; j < n; j++) {
		events[j] = r.events[m->slot[j].column];
		exposure[j] = r.exposure[m->slot[j].column];
	}
	#pragma omp simd
	for (int j = from; j < n; j++) {
		float x = above_zero(events[j] + l->events[j]);
		float y = above_zero(exposure[j] + l->exposure[j]);
		float was = 1 / (1 + exposure[j] * k), is = 1 / (1 + y * k);

		l->events[j] = x * is - events[j] * was;
		l->exposure[j] = y * is - exposure[j] * was;
		events[j] = x;
		exposure[j] = y;
	}
	for (int j = from; j < n; j++) {
		r.events[m->slot[j].column] = events[j];
		r.exposure[m->slot[j].column] = exposure[j];
	}
}

/* Add to a sum; what its parent hears of it stays in x and y. */
static void add_voiced(float *events, float *exposure, float k, float *x, float *y)
{
	float was = 1 / (1 + *exposure * k), is = 1 / (1 + (*exposure + *y) * k);
	float dx = (*events + *x) * is - *events * was;
	float dy = (*exposure + *y) * is - *exposure * was;

	*events += *x;
	*exposure += *y;
	*x = dx;
	*y = dy;
}

struct sum { float x, y; };

static void teach_long_run(struct tide_model *m, uint32_t node, struct sum late,
                           struct sum all)
{
	float k = (float)(1 / m->par.voice_base);

	m->nodes.v[node].own_events += late.x;
	m->nodes.v[node].own_exposure += late.y;
	for (; node != PAGE_NONE; node = tide_parent_node(m, node)) {
		struct tide_node *n = &m->nodes.v[node];

		add_voiced(&n->events, &n->exposure, k, &late.x, &late.y);
		add_voiced(&n->all_events, &n->all_exposure, k, &all.x, &all.y);
	}
}

/* Of a slot in which a change came, the part behind it, on the mean; q: its hazard. */
static double after_event(double q)
{
	double x = -log1p(-q);

	return x < 1e-3 ? 0.5 : 1 - (1 / x - (1 - q) / q);
}

/* The time to a change counts for no more than this, if it was found after a time `gap`:
 * 1 / rate leaves the rate as it is.  What was as good as certain to be found may as well
 * have come much sooner: half of it, so that more such finds raise the rate. */
static double longest_wait(double rate, double gap)
{
	return fmin(fmax(CERTAIN - rate * gap / CERTAIN_SPAN, 0.5), 1) / rate;
}

/* The time to a change, `wait` by the slots: they tell when it came, if they put it into a
 * small part of the time `gap` since the last visit (sharp: the integral of its squared
 * density) and calm visits to the host prove that they can be believed.  Such a burst was
 * dated by other visits, and the quiet before it is a fact; else a wait counts at most
 * longest_wait(). */
static double wait_of(double wait, double rate, double gap, double sharp, double calm)
{
	double most = longest_wait(rate, gap), known = 1 - 1 / (sharp * gap);

	if (wait <= most)
		return wait;
	return most + fmax(known, 0) * -expm1(-calm) * (wait - most);
}

void tide_model_soon(const struct tide_model *m, uint32_t dir)
{
	const char *ring;

	if (!m->node[dir])
		return;
	__builtin_prefetch(&m->nodes.v[m->node[dir] - 1], 1);
	ring = (const char *)tide_ring_of(m, m->node[dir] - 1).events;
	for (size_t at = 0; at < 2 * tide_ring_room(m) * sizeof(float); at += 64)
		__builtin_prefetch(ring + at, 1);
}

void tide_model_learn(struct tide_model *m, uint32_t dir, uint32_t last, bool hit)
{
	struct tide_root *root = &m->roots[m->root[dir]];
	struct lesson l;
	double x = 0, y = 0, all_x = 0, all_y = 0, age = 0, behind = 0, sharp = 0;
	double ever;
	uint32_t node;

	if (last >= m->now)
		return;
	l.from = tide_slot_after(m, m->alone ? m->now - 1 : last, &l.part);
	add_nodes(m, dir);
	node = m->node[dir] - 1;
	if (m->path != node)
		tide_model_refresh(m, dir);
	spread(m, &m->level[m->depth], hit, &l);
	m->path = PAGE_NONE;
	for (uint32_t j = m->n_slots; j-- > l.from;) {
		double width = (double)m->slot[j].width, events = (double)l.events[j];
		double weight = m->fade[j], exposure = width * (double)l.exposure[j];

		x += weight * events;
		y += weight * exposure;
		all_x += events;
		all_y += exposure;
		if (hit) {
			double q = (double)m->level[m->depth].hazard[m->slot[j].column];

			behind += (width < DAY ? width : DAY) * events * after_event(q);
			sharp += events * events / width;
		}
		age += width;
	}
	ever = (double)m->level[m->depth].ever;
	root->events += all_x;
	root->exposure += all_y;
	all_y -= behind;
	if (hit)
		all_y = wait_of(all_y, ever, age, sharp, root->calm);
	else
		root->calm += fmax(ever * all_y - 1, 0);
	teach_long_run(m, node, (struct sum){ (float)x, (float)y },
	               (struct sum){ (float)all_x, (float)all_y });
	for (; node != PAGE_NONE; node = tide_parent_node(m, node))
		teach(tide_ring_of(m, node), m, &l);
}
