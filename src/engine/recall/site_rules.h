/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_rules.h - what the user has set for single sites (repo/site_settings.h), as the engine
 * goes by it: how old pages may become, and how many requests of a cycle they may cost.
 */
#ifndef ENGINE_RECALL_SITE_RULES_H
#define ENGINE_RECALL_SITE_RULES_H

#include "engine/cycle/cycle.h"
#include "repo/store.h"

struct site_rules {             /* zeroed: none */
	uint32_t *max_age;      /* by site, cycles; 0: it has none of its own */
	uint32_t *group;        /* by site: whose budget; UINT32_MAX: it has none */
	VEC(uint32_t) budget;   /* by group: requests of a cycle */
};

MUST_CHECK int site_rules_load(struct site_rules *r, struct store *s, const struct pages *p,
                               int64_t cycle_seconds, struct err *err);
/* From now on; r must outlive the engine. */
void site_rules_apply(const struct site_rules *r, struct engine *e);
void site_rules_release(struct site_rules *r);

#endif
