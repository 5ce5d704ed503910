/* SPDX-License-Identifier: Apache-2.0 */
/* guarantee.c - the pace that keeps every page younger than max_age; see guarantee.h. */
#include "engine/cycle/guarantee.h"

#include "base/mem.h"

#define MAX_AGE_MOST 1000000    /* cycles; a longer age is treated as this one */

uint32_t guarantee_need(const struct view *v, uint32_t max_age)
{
	uint64_t *due, sum = 0, need = 0;

	if (!max_age)
		return 0;
	if (max_age > MAX_AGE_MOST)
		max_age = MAX_AGE_MOST;
	due = mem_zalloc((size_t)max_age + 1, sizeof *due);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		uint32_t age = view_age(v, i);

		if (!view_open(v, i))
			continue;
		/* due[j]: pages that must be visited in this or the next j - 1 cycles */
		due[age >= max_age ? 1 : age ? max_age - age + 1 : max_age]++;
	}
	for (uint32_t j = 1; j <= max_age; j++) {
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
