/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.c - known pages and new pages; see discover.h.
 *
 * A cycle resumed after a crash must rank as before.  So only captures that existed at
 * its start are read.  The state `discover` has the last id of these, and the
 * numbers to report.
 *
 * Cost.  A pass over pages and one over captures with their links, before each cycle
 * that discovers; some 40 bytes a page.
 */
#include "engine/discover/discover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "engine/discover/discover_inner.h"
#include "policy/plan.h"
#include "web/rules/lastmod.h"
#include "web/url/url.h"

#define STATE_KEY "discover"

const char *refusal_name(unsigned refusal)
{
	static const char *const own[] = { "robots", "directory-full", "site-full", "too-many",
	                                   "scope" };

	return refusal < N_TRAPS ? trap_name((enum trap)refusal) :
	       refusal < N_REFUSALS ? own[refusal - N_TRAPS] : "?";
}

/* http and https of one URL are the same page here. */
uint64_t discover_key(const char *url, size_t size)
{
	size_t skip = size > 8 && url[4] == 's' ? 8 : 7;

	return hash_bytes(url + skip, size - skip, 0);
}

uint64_t discover_dir(struct discover *d, const char *url, size_t size)
{
	struct url_dirs dirs;

	buf_clear(&d->name);
	if (url_query_dir(url, size, &d->name))
		return hash_bytes(d->name.data, d->name.size, 0);
	url_dirs(url, size, &dirs);
	return hash_bytes(url + dirs.begin, dirs.end[dirs.n - 1] - dirs.begin, 0);
}

uint64_t discover_shape(struct discover *d, const char *url, size_t size)
{
	buf_clear(&d->name);
	trap_shape(url, size, &d->name);
	return hash_bytes(d->name.data, d->name.size, 1);
}

/* ---- pages ---- */

static void add_one(struct map *m, uint64_t key)
{
	uint32_t n = map_get(m, key);

	map_put(m, key, n == MAP_NONE ? 1 : n + 1);
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct discover *d = arg;
	uint32_t i = d->n_pages++, site;
	struct url_parts parts;
	bool fresh;

	(void)err;
	mem_grow((void **)&d->state, &d->cap_state, d->n_pages, 1);
	mem_grow((void **)&d->last_visit, &d->cap_visit, d->n_pages, sizeof *d->last_visit);
	mem_grow((void **)&d->hint, &d->cap_hint, d->n_pages, sizeof *d->hint);
	mem_grow((void **)&d->page_site, &d->cap_site, d->n_pages, sizeof *d->page_site);
	buf_clear(&d->name);
	url_site(p->url.s, p->url.size, false, &d->name);
	site = strtab_intern(&d->sites, d->name.data, d->name.size, &fresh);
	if (fresh) {
		vec_push(&d->site_found, 0);
		vec_push(&d->site_seen, 0);
	}
	url_split(p->url.s, p->url.size, &parts);
	strtab_intern(&d->origins, p->url.s, parts.path, NULL);
	map_put(&d->known, discover_key(p->url.s, p->url.size), i);
	d->state[i] = p->state == STORE_PAGE_HERE && !p->care;
	d->n_here += d->state[i];
	d->last_visit[i] = p->last_visit;
	d->hint[i] = p->hint;
	d->page_site[i] = site;
	if (!p->found)
		return 0;
	d->site_found.v[site]++;
	add_one(&d->dir_found, discover_dir(d, p->url.s, p->url.size));
	add_one(&d->shape_found, discover_shape(d, p->url.s, p->url.size));
	if (d->state[i] && !p->last_visit && !p->fails)
		vec_push(&d->pending, i);
	return 0;
}

int discover_new(struct discover **ret, struct store *s, const struct discover_opts *o,
                 const struct store_cycle *row, struct err *err)
{
	struct discover *d = mem_zalloc(1, sizeof *d);
	int rc;

	d->store = s;
	d->opts = *o;
	d->row = *row;
	buf_init(&d->url, URL_SIZE_MAX);
	buf_init(&d->name, URL_SIZE_MAX);
	rc = store_pages(s, 0, see_page, d, err);
	if (rc < 0) {
		discover_free(d);
		return rc;
	}
	d->yield = mem_zalloc((size_t)d->n_pages + 1, sizeof *d->yield);
	*ret = d;
	return 0;
}

void discover_free(struct discover *d)
{
	if (!d)
		return;
	map_release(&d->known);
	map_release(&d->dir_found);
	map_release(&d->shape_found);
	map_release(&d->by_key);
	map_release(&d->dated);
	strtab_release(&d->sites);
	strtab_release(&d->origins);
	strtab_release(&d->urls);
	free(d->state);
	free(d->last_visit);
	free(d->hint);
	free(d->page_site);
	free(d->yield);
	vec_release(&d->pending);
	vec_release(&d->site_found);
	vec_release(&d->site_seen);
	vec_release(&d->candidates);
	vec_release(&d->chosen);
	vec_release(&d->dates);
	vec_release(&d->sites_read);
	vec_release(&d->offers);
	buf_release(&d->url);
	buf_release(&d->name);
	free(d);
}

uint32_t discover_here(const struct discover *d)
{
	return d->n_here;
}

/* ---- the store ---- */

static int put_pages(struct discover *d, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->chosen.n && rc >= 0; i++) {
		uint32_t k = d->chosen.v[i];
		struct store_page p = {
			.url = { strtab_get(&d->urls, k), strtab_size(&d->urls, k) },
			.added = d->row.time, .found = d->row.number, .weight = 1,
		};
		bool fresh = false;

		rc = store_pages_add(d->store, &p, 1, &fresh, err);
		if (!fresh)
			continue;
		vec_push(&d->pending, p.number);
		d->report->added++;
	}
	return rc < 0 ? rc : 0;
}

/* Store the sitemap dates of known pages, and when the sitemaps were read. */
static int put_dates(struct discover *d, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->dates.n && rc >= 0; i++) {
		struct store_page p, was;

		rc = store_page_get(d->store, d->dates.v[i].page, &p, err);
		if (rc <= 0)
			continue;
		was = p;
		p.hint = d->hint[p.number] = d->dates.v[i].lastmod;
		p.hint_seen = d->row.time;
		rc = store_page_update(d->store, &was, &p, err);
	}
	for (size_t i = 0; i < d->sites_read.n && rc >= 0; i++) {
		uint32_t k = d->sites_read.v[i];
		struct text site = { strtab_get(&d->sites, k), strtab_size(&d->sites, k) };
		struct store_hint_change h = { .site = site, .read = d->row.time };

		rc = store_hints_change(d->store, &h, 1, err);
	}
	return rc < 0 ? rc : 0;
}

static int put_state(struct discover *d, struct err *err)
{
	const struct discovery *r = d->report;
	struct buf text;
	int rc;

	buf_init(&text, 4096);
	buf_printf(&text, "%u %" PRIu64 " %u %u %u %u %u %u %u %u", d->row.number,
	           d->last_capture, r->share, r->found, r->added, r->waiting, r->outside,
	           r->sitemaps, r->sitemap_requests, r->dates);
	for (int i = 0; i < N_REFUSALS; i++)
		buf_printf(&text, " %u", r->refused[i]);
	buf_printf(&text, " %u", r->nofollow);
	rc = store_state_put(d->store, STORE_OF_SHARD, STATE_KEY, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

static int write_all(struct discover *d, struct err *err)
{
	int rc = store_begin(d->store, err);

	if (rc == 0 && (rc = put_pages(d, err)) == 0 && (rc = put_dates(d, err)) == 0 &&
	    (rc = put_state(d, err)) == 0 &&
	    (rc = store_cycle_put(d->store, &d->row, err)) == 0)
		rc = store_commit(d->store, err);
	if (rc < 0)
		store_rollback(d->store);
	return rc;
}

/* Free the candidates: the cycle does not need them. */
static void forget_candidates(struct discover *d)
{
	map_release(&d->known);
	map_release(&d->by_key);
	map_release(&d->dir_found);
	map_release(&d->shape_found);
	strtab_release(&d->urls);
	vec_release(&d->candidates);
	vec_release(&d->dates);
	map_release(&d->dated);
}

int discover_run(struct discover *d, uint32_t budget, struct fetch *f,
                 const volatile sig_atomic_t *stop, struct discovery *ret, struct err *err)
{
	uint32_t share = (uint32_t)share_of(d->opts.share, budget);
	int rc;

	*ret = (struct discovery){ .on = true, .share = share };
	d->report = ret;
	d->row.budget = budget;
	d->row.open = false;            /* every capture counts */
	rc = discover_links(d, true, err);
	if (rc == 0)
		rc = discover_web(d, f, stop, err);
	if (rc < 0)
		return rc;
	discover_choose(d, f, share > d->pending.n ? share - (uint32_t)d->pending.n : 0);
	d->row.open = true;
	rc = write_all(d, err);
	forget_candidates(d);
	return rc;
}

int discover_recall(struct discover *d, struct discovery *ret, struct err *err)
{
	char *text = NULL, *s;
	uint32_t number = 0, *const into[] = { &ret->share, &ret->found, &ret->added, &ret->waiting,
		&ret->outside, &ret->sitemaps, &ret->sitemap_requests, &ret->dates };
	int rc = store_state_get(d->store, STORE_OF_SHARD, STATE_KEY, &text, err);

	*ret = (struct discovery){ .on = true };
	d->report = ret;
	if (rc < 0)
		return rc;
	if (!rc) {                      /* no cycle has ever used discovery */
		*ret = (struct discovery){ 0 };
		return 0;
	}
	number = (uint32_t)strtoul(text, &s, 10);
	d->last_capture = strtoull(s, &s, 10);
	for (size_t i = 0; i < sizeof into / sizeof *into; i++)
		*into[i] = (uint32_t)strtoul(s, &s, 10);
	for (int i = 0; i < N_REFUSALS; i++)
		ret->refused[i] = (uint32_t)strtoul(s, &s, 10);
	ret->nofollow = (uint32_t)strtoul(s, &s, 10);
	free(text);
	if (number != d->row.number) {  /* the cycle began without discovery */
		*ret = (struct discovery){ 0 };
		return 0;
	}
	return discover_links(d, false, err);
}

/* ---- what the share is for ---- */

/* Offer pages that changed since our visit, by a sitemap whose dates were right before.
 * */
static int offer_told(struct discover *d, struct err *err)
{
	uint8_t *trusted = mem_zalloc((size_t)d->sites.n + 1, 1);
	int rc = 0;

	for (uint32_t i = 0; i < d->sites.n && rc >= 0; i++) {
		struct text site = { strtab_get(&d->sites, i), strtab_size(&d->sites, i) };
		struct store_hint h = { 0 };
		struct lastmod_trust t;

		rc = store_hint_get(d->store, site, &h, err);
		t = (struct lastmod_trust){ h.checks, h.hits, h.told };
		trusted[i] = lastmod_trusted(&t);
	}
	for (uint32_t i = 0; i < d->n_pages && rc >= 0; i++)
		if (d->state[i] && trusted[d->page_site[i]] && d->last_visit[i] &&
		    d->hint[i] > d->last_visit[i])
			vec_push(&d->offers, ((struct offer){ .page = i, .score = 1,
				.probability = 1, .reason = REASON_TOLD }));
	free(trusted);
	return rc < 0 ? rc : 0;
}

int discover_offers(struct discover *d, int64_t cycle_seconds, const struct offer **ret,
                    size_t *ret_n, struct err *err)
{
	double cycle = cycle_seconds > 0 ? (double)cycle_seconds : 86400;
	size_t hubs;
	int rc;

	d->offers.n = 0;
	for (size_t i = 0; i < d->pending.n; i++)
		vec_push(&d->offers, ((struct offer){ .page = d->pending.v[i], .score = 1,
			.probability = 1, .reason = REASON_NEW }));
	rc = offer_told(d, err);
	if (rc < 0)
		return rc;
	hubs = d->offers.n;
	for (uint32_t i = 0; i < d->n_pages; i++)
		if (d->state[i] && d->yield[i] > 0 && d->last_visit[i] < d->row.time)
			vec_push(&d->offers, ((struct offer){ .page = i, .probability = 1,
				.reason = REASON_HUB, .score = (float)((double)d->yield[i] *
				(double)(d->row.time - d->last_visit[i]) / cycle) }));
	if (d->offers.n > hubs)
		offers_select(d->offers.v + hubs, d->offers.n - hubs, d->offers.n - hubs,
		              d->row.seed, d->row.number);
	*ret = d->offers.v;
	*ret_n = d->offers.n;
	return 0;
}
