/* SPDX-License-Identifier: Apache-2.0 */
/* guarantee.c - the pace that keeps every page younger than max_age; see guarantee.h. */
#include "engine/cycle/guarantee.h"

#include <math.h>

#include "base/mem.h"

#define MAX_AGE_MOST 1000000    /* cycles; a longer age is treated as this one */

/* The longest that there is. */
static uint32_t longest(const struct view *v, const struct guarantee *g)
{
	uint32_t most = g->max_age;

	for (uint32_t k = 0; g->of_site && k < v->tree->n_sites; k++)
		most = g->of_site[k] > most ? g->of_site[k] : most;
	return most > MAX_AGE_MOST ? MAX_AGE_MOST : most;
}

bool guarantee_is_on(const struct guarantee *g, const struct view *v)
{
	return longest(v, g) > 0;
}

double guarantee_score(const struct view *v, const struct guarantee *g, uint32_t page)
{
	uint32_t own = guarantee_of(g, v, page);

	/* alike for all pages, this is the age */
	return own ? (double)view_age(v, page) + g->max_age - own : (double)NAN;
}

uint32_t guarantee_need(const struct view *v, const struct guarantee *g)
{
	uint32_t most = longest(v, g);
	uint64_t *due, sum = 0, need = 0;

	if (!most)
		return 0;
	due = mem_zalloc((size_t)most + 1, sizeof *due);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		uint32_t age = view_age(v, i), own = guarantee_of(g, v, i);

		if (!view_open(v, i) || !own)
			continue;
		own = own > MAX_AGE_MOST ? MAX_AGE_MOST : own;
		/* due[j]: pages that must be visited in this or the next j - 1 cycles */
		due[age >= own ? 1 : age ? own - age + 1 : own]++;
	}
	for (uint32_t j = 1; j <= most; j++) {
		sum += due[j];
		if ((sum + j - 1) / j > need)
			need = (sum + j - 1) / j;
	}
	free(due);
	return need > UINT32_MAX ? UINT32_MAX : (uint32_t)need;
}

int guarantee_cycles(int64_t max_age, int64_t cycle_seconds, uint32_t *ret, struct err *err)
{
	*ret = 0;
	if (max_age <= 0 || cycle_seconds <= 0)
		return 0;
	if (max_age < cycle_seconds)
		return err_set(err, E_USAGE, "max-age: shorter than one cycle: choose a longer age, or "
		               "a shorter cycle");
	max_age /= cycle_seconds;
	*ret = (uint32_t)(max_age < MAX_AGE_MOST ? max_age : MAX_AGE_MOST);
	return 0;
}
