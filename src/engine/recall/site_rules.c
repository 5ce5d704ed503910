/* SPDX-License-Identifier: Apache-2.0 */
/* site_rules.c - see site_rules.h. */
#include "engine/recall/site_rules.h"

#include <stdlib.h>

#include "base/mem.h"
#include "repo/site_settings.h"

/* In cycles, one at least: a page cannot be visited more often. */
static uint32_t cycles_of(const char *text, int64_t cycle_seconds)
{
	uint32_t cycles = 0;
	int64_t seconds;

	if (!text || !duration_parse(text, &seconds) || cycle_seconds <= 0)
		return 0;
	if (seconds < cycle_seconds)
		return 1;
	return guarantee_cycles(seconds, cycle_seconds, &cycles, NULL) < 0 ? 1 : cycles;
}

/* Sites that go by the same row share its budget: the row is known by where its value is. */
static uint32_t group_of(struct site_rules *r, struct map *groups, const char *value)
{
	uint32_t fresh = (uint32_t)r->budget.n, group;

	if (!value)
		return UINT32_MAX;
	group = map_intern(groups, (uint64_t)(uintptr_t)value, fresh, NULL);
	if (group == fresh)
		vec_push(&r->budget, (uint32_t)strtoul(value, NULL, 10));
	return group;
}

int site_rules_load(struct site_rules *r, struct store *s, const struct pages *p,
                    int64_t cycle_seconds, struct err *err)
{
	uint32_t n = p->tree.n_sites;
	struct site_settings x;
	struct map groups = { 0 };
	bool ages, budgets;
	int rc = site_settings_load(&x, s, err);

	*r = (struct site_rules){ 0 };
	ages = site_settings_has(&x, "max-age");
	budgets = site_settings_has(&x, "budget");
	if (ages)
		r->max_age = mem_zalloc(n, sizeof *r->max_age);
	if (budgets)
		r->group = mem_array(n, sizeof *r->group);
	for (uint32_t k = 0; (ages || budgets) && k < n; k++) {
		const char *name = strtab_get(&p->site_names, k);
		size_t size = strtab_size(&p->site_names, k);

		if (ages)
			r->max_age[k] = cycles_of(site_settings_of(&x, "max-age", name, size),
			                          cycle_seconds);
		if (budgets)
			r->group[k] = group_of(r, &groups, site_settings_of(&x, "budget", name, size));
	}
	map_release(&groups);
	site_settings_release(&x);
	return rc;
}

void site_rules_apply(const struct site_rules *r, struct engine *e)
{
	e->rules.site_max_age = r->max_age;
	e->ceiling.budgets = (struct ceiling_budgets){ r->group, r->budget.v };
}

void site_rules_release(struct site_rules *r)
{
	free(r->max_age);
	free(r->group);
	vec_release(&r->budget);
	*r = (struct site_rules){ 0 };
}
