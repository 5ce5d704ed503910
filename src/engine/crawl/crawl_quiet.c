/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_quiet.c - pages at the fetcher whose host is quiet.
 *
 * A host that hangs, rests, or wants long pauses may have many pages at the fetcher.  They
 * take no connection but one, and must not keep others from being asked for.  So they are
 * counted apart: those of every host that nothing has come from for two pauses and QUIET
 * seconds.
 */
#include "engine/crawl/crawl_inner.h"

#include "base/mem.h"

#define QUIET 1                 /* seconds */
#define LOOK_EVERY 0.1          /* seconds */

static uint32_t site_of(const struct crawl *c, uint32_t lease)
{
	const struct engine *e = &c->resumed->engine;

	return e->view.site[engine_lease(e, lease)->offer.page];
}

void crawl_quiet_asked(struct crawl *c, uint32_t lease)
{
	struct crawl_quiet *q = &c->quiet;
	uint32_t site = site_of(c, lease);

	if (!q->at)
		q->at = mem_zalloc(c->resumed->engine.view.tree->n_sites, sizeof *q->at);
	if (!q->at[site]) {
		vec_push(&q->hosts, ((struct quiet_host){ .site = site, .since = crawl_seconds() }));
		q->at[site] = (uint32_t)q->hosts.n;
	}
	q->hosts.v[q->at[site] - 1].pages++;
}

void crawl_quiet_answered(struct crawl *c, uint32_t lease)
{
	struct crawl_quiet *q = &c->quiet;
	uint32_t site = site_of(c, lease), at = q->at[site];
	struct quiet_host *h = &q->hosts.v[at - 1];

	if (h->is_quiet)
		q->pages -= h->pages;
	h->is_quiet = false;
	h->since = crawl_seconds();
	if (--h->pages)
		return;
	*h = q->hosts.v[--q->hosts.n];          /* the last takes its place */
	q->at[h->site] = at;
	q->at[site] = 0;
}

size_t crawl_quiet_pages(struct crawl *c, double now)
{
	struct crawl_quiet *q = &c->quiet;
	double most = QUIET + 2 * c->opts->fetch.polite.delay;

	if (now - q->looked < LOOK_EVERY)
		return q->pages;
	q->looked = now;
	q->pages = 0;
	for (size_t i = 0; i < q->hosts.n; i++) {
		struct quiet_host *h = &q->hosts.v[i];

		h->is_quiet = now - h->since > most;
		q->pages += h->is_quiet ? h->pages : 0;
	}
	return q->pages;
}

void crawl_quiet_release(struct crawl *c)
{
	vec_release(&c->quiet.hosts);
	free(c->quiet.at);
}
