/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_ahead.c - what the crawl will soon read of the pages that it asks for, read at once.
 *
 * Of each page its row and its newest copy, of its site the trust in its dates and
 * validators; and of sites that are new in this run the robots.txt, which the fetcher wants
 * when the first page of an origin has its turn.  So a page is read once and not twice, and a
 * store at network distance is asked once for many (store_foresee()).
 */
#include "engine/crawl/crawl_inner.h"

#include "base/mem.h"
#include "web/url/url.h"

struct wanted {
	VEC(uint32_t) pages;
	VEC(struct text) sites, origins;
};

/* Is it the first page of its site in this run? */
static bool is_new_site(struct crawl *c, uint32_t site)
{
	bool is_new;

	map_intern(&c->sites_met, site, 0, &is_new);
	return is_new;
}

static void want(struct crawl *c, uint32_t page, struct wanted *w)
{
	const struct pages *p = &c->resumed->has.loaded.pages;
	const char *url = pages_url(p, page);
	uint32_t site = p->site[page];
	struct url_parts parts;

	vec_push(&w->pages, page);
	vec_push(&w->sites, ((struct text){ strtab_get(&p->site_names, site),
	                                    strtab_size(&p->site_names, site) }));
	if (is_new_site(c, site)) {
		url_split(url, pages_url_size(p, page), &parts);
		vec_push(&w->origins, ((struct text){ url, parts.path }));
	}
}

int crawl_foresee(struct crawl *c, const uint32_t *leases, size_t n, struct err *err)
{
	struct wanted w = { 0 };
	int rc;

	for (size_t i = 0; i < n; i++)
		want(c, engine_lease(&c->resumed->engine, leases[i])->offer.page, &w);
	rc = store_foresee(c->store, &(struct store_ahead){
		.pages = w.pages.v, .n_pages = w.pages.n, .sites = w.sites.v, .n_sites = w.sites.n,
		.origins = w.origins.v, .n_origins = w.origins.n }, err);
	vec_release(&w.pages);
	vec_release(&w.sites);
	vec_release(&w.origins);
	return rc;
}
