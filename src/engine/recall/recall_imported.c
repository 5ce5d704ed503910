/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_imported.c - telling an engine the imported visits, in cycles of equal length.
 *
 * They lie in the order of import.  They are read once if they fit into what may be held; else
 * once more to count them by cycle, and once for each part that fits.
 */
#include "engine/recall/recall_inner.h"

struct importing {
	struct recalling *r;
	size_t held;                    /* visits at a time */
	uint64_t n, n_told;
	int64_t begin, end;             /* times of the first and the last */
	int64_t length;                 /* of their cycles */
	uint64_t count[RECALL_CYCLES_MAX + 1];  /* by cycle - 1; only if all cannot be held */
	uint32_t from, to;              /* of which cycles - 1 visits are read */
	uint32_t before;                /* cycles before the first that is told */
	bool began;                     /* there was one to tell */
};

static uint32_t cycle_of(const struct importing *m, int64_t time)
{
	return (uint32_t)((time - m->begin) / m->length) + 1;
}

/* Hold all of them, if they are not too many. */
static int read_all(void *arg, const struct store_visit *v, struct err *err)
{
	struct importing *m = arg;

	(void)err;
	if (!m->n || v->time < m->begin)
		m->begin = v->time;
	if (!m->n || v->time > m->end)
		m->end = v->time;
	if (m->n++ < m->held)
		vec_push(&m->r->past, recall_visit(v));
	return 0;
}

static int count_cycles(void *arg, const struct store_visit *v, struct err *err)
{
	struct importing *m = arg;

	(void)err;
	m->count[cycle_of(m, v->time) - 1]++;
	return 0;
}

static int read_part(void *arg, const struct store_visit *v, struct err *err)
{
	struct importing *m = arg;
	uint32_t at = cycle_of(m, v->time) - 1;

	(void)err;
	if (at >= m->from && at < m->to)
		vec_push(&m->r->past, recall_visit(v));
	return 0;
}

static int compare_visits(const void *pa, const void *pb)
{
	const struct past_visit *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

/* One archive mostly lies in this order already. */
static bool is_sorted(const struct past_visit *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (compare_visits(&v[i - 1], &v[i]) > 0)
			return false;
	return true;
}

/* Tell the visits held: those of whole cycles. */
static int tell_part(struct importing *m, struct err *err)
{
	struct recalling *r = m->r;
	struct engine *e = r->e;
	const struct past_visit *v = r->past.v;
	size_t n = r->past.n;
	int rc = 0;

	if (!is_sorted(v, n))
		qsort(r->past.v, n, sizeof *r->past.v, compare_visits);
	for (size_t i = 0, from; i < n && rc == 0; recall_found(r, v + from, i - from)) {
		uint32_t cycle = cycle_of(m, v[i].time), told;

		r->seen.n = r->n_first = 0;
		for (from = i; i < n && cycle_of(m, v[i].time) == cycle; i++)
			recall_push(r, &v[i], recall_first(r, &v[i], m->began ? cycle - m->before : 0));
		told = (uint32_t)r->seen.n - r->n_first;
		if (!m->began && !told)
			continue;
		if (!m->began) {
			m->before = cycle - 1;
			m->began = true;
		}
		e->view.cycle = cycle - m->before - 1;
		engine_recall(e, m->begin + (int64_t)cycle * m->length, told, r->seen.v, r->seen.n);
		r->ret->n_told += told;
		r->ret->n_imported_cycles = cycle - m->before;
		rc = recall_shown(r->opts->progress, m->n_told + i, err);
	}
	m->n_told += n;
	return rc;
}

/* More than may be held: so many cycles at a time as fit. */
static int tell_in_parts(struct importing *m, struct err *err)
{
	int rc = store_visits(m->r->store, 0, 1, count_cycles, m, err);

	while (rc == 0 && m->to <= RECALL_CYCLES_MAX) {
		uint64_t sum = m->count[m->from = m->to++];

		while (m->to <= RECALL_CYCLES_MAX && sum + m->count[m->to] <= m->held)
			sum += m->count[m->to++];
		m->r->past.n = 0;
		if (sum && (rc = store_visits(m->r->store, 0, 1, read_part, m, err)) == 0)
			rc = tell_part(m, err);
	}
	return rc;
}

static int tell_all(struct recalling *r, struct err *err)
{
	struct importing m = { .r = r, .held = r->opts->held ? r->opts->held : RECALL_HELD };
	int64_t asked = r->e->view.cycle_seconds, span;
	int rc = store_visits(r->store, 0, 1, read_all, &m, err);

	if (rc < 0 || !m.n)
		return rc;
	recall_start(r->opts->progress, "visits", m.n);
	m.length = asked > 0 ? asked : DAY_SECONDS;
	span = m.end - m.begin + 1;
	if (span / m.length >= RECALL_CYCLES_MAX)
		m.length = span / RECALL_CYCLES_MAX + 1;
	if (m.n > m.held)
		return tell_in_parts(&m, err);
	return tell_part(&m, err);
}

int recall_imported(struct recalling *r, struct err *err)
{
	int rc = tell_all(r, err);

	vec_release(&r->past);          /* a cycle has far fewer */
	vec_release(&r->seen);
	return rc;
}
