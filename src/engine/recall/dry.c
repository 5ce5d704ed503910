/* SPDX-License-Identifier: Apache-2.0 */
/* dry.c - a cycle in which nothing is fetched; see dry.h. */
#include "engine/recall/dry.h"

static int deliver_nothing(void *self, const struct offer *offers, size_t n,
                           struct delivery *ret, struct err *err)
{
	(void)self;
	(void)offers;
	(void)err;
	for (size_t i = 0; i < n; i++)
		ret[i] = (struct delivery){ .outcome = OUTCOME_FAILED };
	return 0;
}

int dry_cycle(struct resumed *r, int64_t now, uint32_t budget, struct err *err)
{
	r->engine.source = (struct source){ .self = NULL, .deliver = deliver_nothing };
	return engine_cycle(&r->engine, now, budget, err);
}
