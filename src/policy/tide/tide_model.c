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
#include "policy/tide/tide_model.h"

#include <math.h>

#define HAZARD_MIN 1e-6f
#define HAZARD_MAX 0.98f
#define RATIO_MAX 8.f           /* of a directory's long-run rate to its parent's */
#define RARE_BASE 0.03          /* prior of the rate of an unknown host */
#define HOST_VOICE 500.0        /* exposure at which a host speaks half */
#define HOST_EVENTS 0.5         /* events of the usual rate that a host begins with */
#define EVENTS_TELL 8.f         /* events that count as much as a prior's order of size */
#define CERTAIN 1.5             /* from 8 expected events on, down to half at 16 */
#define CERTAIN_SPAN 16
#define DAY (86400 / TIDE_UNIT) /* of long slots no more than that is told apart */
#define JUMP_MOST 4096          /* cycles passed over that are kept apart */
#define SLOTS_FINE 28           /* slots of one cycle */
#define SLOTS_EACH 4            /* of each larger size */
#define SIZE_MAX_SLOT 9         /* 28 + 9 * 4 are all */

void tide_model_init(struct tide_model *m, const struct tree *tree,
                     const struct tide_params *par)
{
	*m = (struct tide_model){ .par = *par, .tree = tree, .base = RARE_BASE,
	                          .usual = RARE_BASE, .path = PAGE_NONE };
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
	frozen_rows(f, m->roots, n, sizeof *m->roots);
	frozen_vec(f, &m->nodes);
	frozen_vec(f, &m->rings);
	frozen_check(f, m->n_slots <= TIDE_SLOTS && m->n_columns <= TIDE_SLOTS &&
	             m->nodes.n == m->rings.n && m->nodes.n <= n);
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
	const struct tide_ring *r = &m->rings.v[node];
	const struct tide_level *up = above < 0 ? NULL : &m->level[above];
	struct tide_level *l = &m->level[above + 1];
	float kb = (float)m->par.k_base, sum = 0, step[TIDE_SLOTS];
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

			l->hazard[i] = clip((r->events[i] + k * prior) / (r->exposure[i] + k),
			                    HAZARD_MIN, HAZARD_MAX);
		}
	} else {
		float k = (float)m->par.k_dir;
		float ratio = clip(l->base / base, 1 / RATIO_MAX, RATIO_MAX);

		#pragma omp simd
		for (int i = 0; i < n_columns; i++) {
			float prior = least(HAZARD_MAX, up->hazard[i] * ratio);

			l->hazard[i] = clip((r->events[i] + k * prior) / (r->exposure[i] + k),
			                    HAZARD_MIN, HAZARD_MAX);
		}
	}
	#pragma omp simd
	for (int i = 0; i < n_columns; i++)
		step[i] = log_survive(l->hazard[i]);
	for (uint32_t j = 0; j < m->n_slots; j++) {
		sum += step[m->slot[j].column];
		l->alive[j] = sum;
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
static void sum_long_run(struct tide_model *m, double width)
{
	float keep = (float)pow(m->par.discount, width);

	for (size_t i = 0; i < m->nodes.n; i++) {
		struct tide_node *n = &m->nodes.v[i];

		m->roots[n->dir].calm *= (double)keep;
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
		parent = parent_node(m, m->node[d] - 1);
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
		const struct tide_root *r = &m->roots[m->nodes.v[i].dir];
		double w = 1 / (1 + r->exposure / HOST_VOICE);
		double voice = r->exposure / (r->exposure + 1);

		if (!(r->exposure > 0))
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

/* Make slots k and k + 1 one.  Who was at risk in one of them was so for a part of the
 * whole, by their widths. */
static void merge_slots(struct tide_model *m, uint32_t k)
{
	struct tide_slot *a = &m->slot[k], *b = a + 1;
	float share = b->width / (a->width + b->width);

	for (size_t i = 0; i < m->rings.n; i++) {
		struct tide_ring *r = &m->rings.v[i];

		r->events[a->column] += r->events[b->column];
		r->exposure[a->column] += share * (r->exposure[b->column] -
		                                   r->exposure[a->column]);
	}
	a->last = b->last;
	a->width += b->width;
	a->size = a->size < SIZE_MAX_SLOT ? a->size + 1 : a->size;
	m->width[a->column] = a->width;
	m->width[b->column] = 0;
	m->n_slots--;
	memmove(b, b + 1, (m->n_slots - k - 1) * sizeof *b);
}

/* The oldest two of a size are made one where there are too many of them. */
static void coarsen(struct tide_model *m)
{
	for (uint8_t size = 0; size <= SIZE_MAX_SLOT; size++) {
		uint32_t n = 0, first = 0;

		for (uint32_t k = m->n_slots; k-- > 0;)
			if (m->slot[k].size == size) {
				n++;
				first = k;
			}
		if (n > (size ? SLOTS_EACH : SLOTS_FINE - 1))   /* one is about to come */
			merge_slots(m, first);
	}
}

static uint8_t free_column(const struct tide_model *m)
{
	uint8_t column = 0;

	for (uint32_t k = 0; k < m->n_slots; k++)
		if (m->slot[k].column == column) {
			column++;
			k = UINT32_MAX;         /* look again from the first */
		}
	return column;
}

static void add_slot(struct tide_model *m, double width)
{
	struct tide_slot s = { .first = m->now + 1, .last = m->now + 1, .width = (float)width };

	m->now++;
	coarsen(m);
	s.column = free_column(m);
	m->slot[m->n_slots++] = s;
	m->n_columns = m->n_columns > s.column ? m->n_columns : s.column + 1u;
	m->width[s.column] = s.width;
	for (size_t i = 0; i < m->rings.n; i++) {
		m->rings.v[i].events[s.column] = 0;
		m->rings.v[i].exposure[s.column] = 0;
	}
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
		add_slot(m, width);
	if (!again)
		sum_long_run(m, width);
	for (uint32_t j = m->n_slots; j-- > 0; age += (double)m->slot[j].width)
		m->fade[j] = pow(m->par.discount, age);
	tide_model_sum(m, &sums);
	tide_model_set_rates(m, &sums);
}

/* The first slot that is not wholly in or before a cycle; *ret_part: the part of it that
 * comes after. */
static uint32_t slot_after(const struct tide_model *m, uint32_t cycle, float *ret_part)
{
	uint32_t lo = 0, hi = m->n_slots;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (m->slot[mid].last <= cycle)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_part = 1;
	if (lo < m->n_slots && m->slot[lo].first <= cycle)
		*ret_part = (float)(m->slot[lo].last - cycle) /
		            (float)(m->slot[lo].last - m->slot[lo].first + 1);
	return lo;
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
	k = slot_after(m, last, &part);
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

/* What one visit adds, by column, in the slots from `from` on. */
struct lesson {
	uint32_t from;
	float part;                     /* of the first of them */
	float events[TIDE_SLOTS], exposure[TIDE_SLOTS];
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

		l->events[i] = hit ? (float)(q * survive) : 0;
		l->exposure[i] = (float)part;
		sum += l->events[i];
		survive *= 1 - q;
	}
	if (!hit)
		return;
	for (uint32_t j = l->from; j < m->n_slots; j++) {
		uint32_t i = m->slot[j].column;

		l->events[i] = (float)(l->events[i] / sum);
		l->exposure[i] *= (float)(1 - before);
		before += l->events[i];
	}
}

/* Add the lesson to a node's ring, leaving what its parent hears in it. */
static void teach(struct tide_ring *r, const struct tide_model *m, struct lesson *l)
{
	float k = (float)(1 / m->par.voice);

	for (uint32_t j = l->from; j < m->n_slots; j++) {
		uint32_t i = m->slot[j].column;
		float x = fmaxf(0, r->events[i] + l->events[i]);
		float y = fmaxf(0, r->exposure[i] + l->exposure[i]);
		float was = 1 / (1 + r->exposure[i] * k), is = 1 / (1 + y * k);

		l->events[i] = x * is - r->events[i] * was;
		l->exposure[i] = y * is - r->exposure[i] * was;
		r->events[i] = x;
		r->exposure[i] = y;
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
	for (; node != PAGE_NONE; node = parent_node(m, node)) {
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

void tide_model_learn(struct tide_model *m, uint32_t dir, uint32_t last, bool hit)
{
	struct tide_root *root = &m->roots[m->root[dir]];
	struct lesson l = { .from = 0 };
	double x = 0, y = 0, all_x = 0, all_y = 0, age = 0, behind = 0, sharp = 0;
	double ever;
	uint32_t node;

	if (last >= m->now)
		return;
	l.from = slot_after(m, m->alone ? m->now - 1 : last, &l.part);
	add_nodes(m, dir);
	node = m->node[dir] - 1;
	if (m->path != node)
		tide_model_refresh(m, dir);
	spread(m, &m->level[m->depth], hit, &l);
	m->path = PAGE_NONE;
	for (uint32_t j = m->n_slots; j-- > l.from;) {
		uint32_t i = m->slot[j].column;
		double width = (double)m->slot[j].width;
		double weight = m->fade[j], exposure = width * (double)l.exposure[i];

		x += weight * (double)l.events[i];
		y += weight * exposure;
		all_x += (double)l.events[i];
		all_y += exposure;
		if (hit) {
			behind += fmin(width, DAY) * (double)l.events[i] *
			          after_event((double)m->level[m->depth].hazard[i]);
			sharp += (double)l.events[i] * (double)l.events[i] / width;
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
	for (; node != PAGE_NONE; node = parent_node(m, node))
		teach(&m->rings.v[node], m, &l);
}
