/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_freeze.c - what an engine remembers between two cycles, as bytes; see cycle.h.
 *
 * That is: which cycle it was, the last visits, who is here, who rests, and the policy's
 * memory.  The ceiling and the sample begin anew in every cycle.
 */
#include "engine/cycle/cycle.h"

static void freeze_backoff(struct backoff *b, uint32_t n_pages, uint32_t n_sites,
                           struct frozen *f)
{
	frozen_value(f, &b->seed);
	frozen_value(f, &b->now);
	frozen_value(f, &b->cycle_seconds);
	frozen_value(f, &b->cycle);
	frozen_value(f, &b->n_answered);
	frozen_value(f, &b->n_over);
	frozen_vec(f, &b->pages);
	frozen_vec(f, &b->hosts);
	frozen_check(f, b->n_over <= b->pages.n);
	for (size_t i = 0; f->thaw && i < b->pages.n; i++) {
		frozen_check(f, b->pages.v[i].page < n_pages);
		map_put(&b->page_at, b->pages.v[i].page, (uint32_t)i);
	}
	for (size_t i = 0; f->thaw && i < b->hosts.n; i++) {
		frozen_check(f, b->hosts.v[i].host < n_sites &&
		             b->hosts.v[i].n_pages <= BACKOFF_PAGES);
		map_put(&b->host_at, b->hosts.v[i].host, (uint32_t)i);
	}
}

void engine_freeze(struct engine *e, struct frozen *f)
{
	uint32_t n = e->view.n_pages;

	frozen_value(f, &e->view.cycle);
	frozen_rows(f, e->visits.state, n, sizeof *e->visits.state);
	frozen_rows(f, e->visits.last_cycle, n, sizeof *e->visits.last_cycle);
	frozen_rows(f, e->visits.last_visit, n, sizeof *e->visits.last_visit);
	for (uint32_t i = 0; f->thaw && i < n; i++)
		frozen_check(f, e->visits.last_cycle[i] <= e->view.cycle &&
		             e->visits.state[i] <= PAGE_HERE);
	freeze_backoff(&e->retry.backoff, n, e->view.tree->n_sites, f);
	policy_freeze(e->policy, &e->view, f);
}
