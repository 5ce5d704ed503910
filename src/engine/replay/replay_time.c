/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_time.c - freshness and age over time, at moments that all runs share, and
 * the future for a policy that may know it.
 *
 * The moments are S, S + 1 day, S + 2 days ... before E.  Between two cycles our copies
 * stand still and only the pages move, so most pages need one comparison for all
 * moments of a cycle; a page with a capture in it is followed from capture to capture.
 *
 * Cost.  O(pages + captures) a cycle.
 */
#include "engine/replay/replay_run.h"

#include <math.h>

/* Moments of one cycle: n of them, a day apart. */
struct moments { int64_t first; uint32_t n; };

static struct moments moments_of(int64_t start, int64_t from, int64_t to)
{
	int64_t k = (from - start + DAY_SECONDS - 1) / DAY_SECONDS;
	int64_t end = (to - start + DAY_SECONDS - 1) / DAY_SECONDS;

	return (struct moments){ start + k * DAY_SECONDS, end > k ? (uint32_t)(end - k) : 0 };
}

/* What one page adds while it stays at the capture `current`, for n moments from t on. */
static void add_stay(struct run *run, uint32_t page, uint32_t current, int64_t t, uint32_t n)
{
	struct time_sums *s = &run->time;
	double w = (double)run->r->weight[page], age;

	if (!n)
		return;
	s->copies += n;
	s->weight += n * w;
	if (!differs(run, run->copy[page], current)) {
		s->fresh += n;
		s->weight_fresh += n * w;
		return;
	}
	age = current == NEVER ? 0 :
	      (double)(t - stale_since(run, page, current)) + (n - 1) / 2.0 * DAY_SECONDS;
	age = fmax(0, age) * n / DAY_SECONDS;   /* the nearest capture may lie ahead */
	s->age += age;
	s->weight_age += age * w;
}

/* When the capture behind `at` takes its place; the nearest one does so half-way. */
static int64_t next_at(const struct run *run, uint32_t page, uint32_t at)
{
	const struct history *h = run->r->history;
	uint64_t next = at == NEVER ? h->first[page] : (uint64_t)at + 1;

	if (next >= h->first[page + 1])
		return INT64_MAX;
	if (!run->r->opts.nearest || at == NEVER)
		return h->captures.v[next].time;
	return h->captures.v[at].time +
	       (h->captures.v[next].time - h->captures.v[at].time) / 2 + 1;
}

static void follow(struct run *run, uint32_t page, struct moments m)
{
	uint32_t at = run->before[page];

	while (m.n) {
		int64_t next = next_at(run, page, at), days;

		if (next <= m.first) {
			at = at == NEVER ? (uint32_t)run->r->history->first[page] : at + 1;
			continue;
		}
		days = next == INT64_MAX ? m.n :
		       (next - m.first + DAY_SECONDS - 1) / DAY_SECONDS;
		if (days > m.n)
			days = m.n;
		add_stay(run, page, at, m.first, (uint32_t)days);
		m.first += days * DAY_SECONDS;
		m.n -= (uint32_t)days;
	}
}

void measure_time(struct run *run, int64_t from, int64_t to)
{
	struct moments m = moments_of(run->r->start, from, to);

	for (uint32_t i = 0; i < run->r->pages.n && m.n; i++) {
		if (!(run->engine.visits.state[i] & PAGE_HERE))
			continue;
		if (run->before[i] == run->current[i])
			add_stay(run, i, run->current[i], m.first, m.n);
		else
			follow(run, i, m);
	}
}

struct replay_time measured_time(const struct run *run)
{
	const struct time_sums *s = &run->time;

	return (struct replay_time){
		.freshness = s->copies > 0 ? s->fresh / s->copies : 1,
		.weighted_freshness = s->weight > 0 ? s->weight_fresh / s->weight : 1,
		.age_days = s->copies > 0 ? s->age / s->copies : 0,
		.weighted_age_days = s->weight > 0 ? s->weight_age / s->weight : 0,
	};
}

void find_future(struct run *run)
{
	const struct history *h = run->r->history;

	for (uint32_t i = 0; i < run->r->pages.n; i++) {
		uint32_t current = run->current[i];
		uint64_t k = current == NEVER ? h->first[i] : (uint64_t)current + 1;

		run->stale_since[i] = run->copy[i] == NEVER || !changed_local(run, i) ||
		                      failing(run, i) != FAILURE_NO ? INT64_MAX :
		                      current == NEVER ? run->r->start : stale_since(run, i, current);
		while (current != NEVER && k < h->first[i + 1] && history_same(h, current, k))
			k++;
		run->next_change[i] = k < h->first[i + 1] && h->captures.v[k].time < run->r->end ?
		                      h->captures.v[k].time : run->r->end;
	}
}
