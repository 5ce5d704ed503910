/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_slots.c - the slots of time of rings: a new one each cycle, and older ones that are
 * made one; see tide_model.h.
 *
 * Cost.  O(directories visited) for a new slot.
 */
#include "policy/tide/tide_model.h"

#define SLOTS_FINE 28           /* slots of one cycle */
#define SLOTS_EACH 4            /* of each larger size */
#define SIZE_MAX_SLOT 9         /* 28 + 9 * 4 are all */

/* What a new slot makes of a ring's columns: pairs are made one, one is emptied. */
struct turn {
	struct pair { uint8_t into, from; float share; } pair[SIZE_MAX_SLOT + 1];
	int n_pairs;
	uint8_t empty;
};

/* Make slots k and k + 1 one.  Who was at risk in one of them was so for a part of the
 * whole, by their widths. */
static struct pair merge_slots(struct tide_model *m, uint32_t k)
{
	struct tide_slot *a = &m->slot[k], *b = a + 1;
	struct pair p = { a->column, b->column, b->width / (a->width + b->width) };

	a->last = b->last;
	a->width += b->width;
	a->size = a->size < SIZE_MAX_SLOT ? a->size + 1 : a->size;
	m->width[a->column] = a->width;
	m->width[b->column] = 0;
	m->n_slots--;
	memmove(b, b + 1, (m->n_slots - k - 1) * sizeof *b);
	return p;
}

/* The oldest two of a size are made one where there are too many of them. */
static void coarsen(struct tide_model *m, struct turn *t)
{
	for (uint8_t size = 0; size <= SIZE_MAX_SLOT; size++) {
		uint32_t n = 0, first = 0;

		for (uint32_t k = m->n_slots; k-- > 0;)
			if (m->slot[k].size == size) {
				n++;
				first = k;
			}
		if (n > (size ? SLOTS_EACH : SLOTS_FINE - 1))   /* one is about to come */
			t->pair[t->n_pairs++] = merge_slots(m, first);
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

/* Make room for one more column, from the last ring on: each moves up. */
static void add_column(struct tide_model *m)
{
	size_t was = tide_ring_room(m), is;

	m->n_columns++;
	is = tide_ring_room(m);
	if (is == was)
		return;
	m->rings.n = m->nodes.n * 2 * is;
	mem_grow((void **)&m->rings.v, &m->rings.cap, m->rings.n, sizeof *m->rings.v);
	for (size_t i = 2 * m->nodes.n; i-- > 0;) {
		float *to = m->rings.v + i * is;

		memmove(to, m->rings.v + i * was, was * sizeof *to);
		memset(to + was, 0, (is - was) * sizeof *to);
	}
}

/* A ring has up to half a KiB, so all of it is done at once. */
static void turn_rings(struct tide_model *m, const struct turn *t)
{
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		struct tide_ring r = tide_ring_of(m, i);

		for (int k = 0; k < t->n_pairs; k++) {
			struct pair p = t->pair[k];

			r.events[p.into] += r.events[p.from];
			r.exposure[p.into] += p.share * (r.exposure[p.from] - r.exposure[p.into]);
		}
		r.events[t->empty] = 0;
		r.exposure[t->empty] = 0;
	}
}

void tide_slot_add(struct tide_model *m, double width)
{
	struct tide_slot s = { .first = m->now + 1, .last = m->now + 1, .width = (float)width };
	struct turn t = { .n_pairs = 0 };

	m->now++;
	coarsen(m, &t);
	s.column = t.empty = free_column(m);
	m->slot[m->n_slots++] = s;
	if (s.column == m->n_columns)
		add_column(m);
	m->width[s.column] = s.width;
	turn_rings(m, &t);
}

uint32_t tide_slot_after(const struct tide_model *m, uint32_t cycle, float *ret_part)
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
