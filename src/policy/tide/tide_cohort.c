/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tide_cohort.c - pages of one host that were last visited in one slot of time: a cohort.
 *
 * All pages of a cohort have the same unknown time behind them.  Where visits of this cycle
 * find more of them changed than the hazards say, or fewer, the hazards of that time are
 * wrong, and wrong for the rest of the cohort, too.  The hazards learn it slowly: they are
 * those of all pages of a directory, and a visit to a page that was not seen for long, and
 * seldom changes, tells them as much as one to a busy page that was seen lately.
 *
 * So a cohort has a random effect on the log-odds, as families have: hits less expected
 * ones, for the cycle.  Told of the cycle alone, a host is one cohort.
 *
 * Cost.  8 bytes a slot for each host that is visited in the cycle; a lookup for pages of the
 * same last visit that lie side by side.
 */
#include "policy/tide/tide.h"

void tide_cohort_begin(struct tide_state *s)
{
	s->cohorts.n = 0;
	memset(s->cohorts_of, 0, s->model.n_roots * sizeof *s->cohorts_of);
}

/* The cohorts of a host have their slot for a number. */
static uint32_t slot_of(const struct tide_model *m, uint32_t last)
{
	float part;

	return tide_slot_after(m, m->alone ? m->now - 1 : last, &part);
}

static struct tide_family *row_of(const struct tide_state *s, uint32_t root)
{
	return s->cohorts.v + (size_t)(s->cohorts_of[root] - 1) * s->model.n_slots;
}

struct tide_family tide_cohort(const struct tide_state *s, uint32_t root, uint32_t last)
{
	uint32_t slot = s->cohorts_of[root] ? slot_of(&s->model, last) : s->model.n_slots;

	return slot < s->model.n_slots ? row_of(s, root)[slot] : (struct tide_family){ 0 };
}

void tide_cohort_learn(struct tide_state *s, uint32_t root, uint32_t last, bool hit,
                       double chance)
{
	uint32_t slot = slot_of(&s->model, last), n = s->model.n_slots;

	if (slot >= n)
		return;
	if (!s->cohorts_of[root]) {
		vec_reserve(&s->cohorts, n);
		memset(s->cohorts.v + s->cohorts.n, 0, n * sizeof *s->cohorts.v);
		s->cohorts.n += n;
		s->cohorts_of[root] = (uint32_t)(s->cohorts.n / n);
	}
	tide_surprise(&row_of(s, root)[slot], hit, chance);
}
