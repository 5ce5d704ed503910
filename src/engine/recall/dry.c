/* SPDX-License-Identifier: Apache-2.0 */
/* dry.c - a cycle in which nothing is fetched; see dry.h. */
#include "engine/recall/dry.h"

struct dry { struct progress *progress; uint64_t done; };

static int deliver_nothing(void *self, const struct offer *offers, size_t n,
                           struct delivery *ret, struct err *err)
{
	struct dry *d = self;

	(void)offers;
	for (size_t i = 0; i < n; i++)
		ret[i] = (struct delivery){ .outcome = OUTCOME_FAILED };
	d->done += n;
	return d->progress && progress_set(d->progress, d->done) ?
	       err_set(err, E_STOP, "the planning was stopped") : 0;
}

int dry_cycle(struct resumed *r, int64_t now, uint32_t budget, struct progress *progress,
              struct err *err)
{
	struct dry d = { .progress = progress };
	int rc;

	if (progress)
		progress_start(progress, "planning", "pages", budget);
	r->engine.source = (struct source){ .self = &d, .deliver = deliver_nothing };
	rc = engine_cycle(&r->engine, now, budget, err);
	r->engine.source.self = NULL;
	if (progress)
		progress_end(progress);
	return rc;
}
