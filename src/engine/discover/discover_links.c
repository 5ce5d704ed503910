/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_links.c - links to unknown pages, and which pages bring them; see discover.h.
 *
 * The newest copy of every page says where it leads to now.  A page's yield is
 * the mean number of links that a visit found and the visit before had not, older
 * visits counting less by YIELD_KEEP each (Dasgupta et al., WWW 2007); what is left of
 * the share goes to the pages with the largest yield times cycles since the visit.
 */
#include <string.h>

#include "base/buf.h"
#include "engine/book/care.h"
#include "engine/discover/discover_inner.h"
#include "web/rules/robots_tag.h"
#include "web/url/url.h"

#define YIELD_KEEP 0.9          /* weight that a visit keeps at the next */

/* The first-level directory; pages of the root are one of their own. */
static uint64_t top_key(const char *url, size_t size)
{
	struct url_dirs dirs;

	url_dirs(url, size, &dirs);
	return hash_bytes(url + dirs.begin, dirs.end[dirs.n > 1] - dirs.begin, 0);
}

/* May one more candidate of the site be held?  Half of the room is for who comes first, half is
 * shared alike, so that a few sites cannot take all of it.  What only other sites link to gets
 * half of a site's: it may be there to keep the site's own out. */
static bool has_room(const struct discover *d, uint32_t site, bool own)
{
	uint32_t most = DISCOVER_SITE_URLS_MAX;

	if (d->urls.n >= DISCOVER_URLS_MAX / 2) {
		most = DISCOVER_URLS_MAX / 2 / d->sites.n;
		if (most < 2)
			most = 2;
	}
	return d->urls.n < DISCOVER_URLS_MAX && d->site_seen.v[site] < (own ? most : most / 2);
}

void discover_see(struct discover *d, const char *url, size_t size, uint32_t page)
{
	uint64_t key = discover_key(url, size);
	struct candidate c = { .last_page = STORE_NONE };
	uint32_t number, site;
	struct candidate *at;

	if (map_get(&d->known, key) != MAP_NONE)
		return;
	number = map_get(&d->by_key, key);
	if (number == MAP_NONE) {
		buf_clear(&d->name);
		url_site(url, size, false, &d->name);
		site = strtab_find(&d->sites, d->name.data, d->name.size);
		if (site == MAP_NONE) {
			d->report->outside++;
			return;
		}
		if (!has_room(d, site, page == STORE_NONE || d->page_site[page] == site)) {
			d->report->refused[REFUSED_MANY]++;
			return;
		}
		c.site = site;
		c.dir = discover_dir(d, url, size);
		c.shape = discover_shape(d, url, size);
		c.top = top_key(url, size);
		c.refusal = (uint8_t)trap_find(url, size, d->row.time);
		if (!c.refusal && d->opts.care && care_rules_say(d->opts.care, url, size))
			c.refusal = REFUSED_SCOPE;
		number = strtab_intern(&d->urls, url, size, NULL);
		map_put(&d->by_key, key, number);
		vec_push(&d->candidates, c);
		d->site_seen.v[site]++;
		d->report->found++;
		d->report->refused[c.refusal] += c.refusal != 0;
	}
	at = &d->candidates.v[number];
	at->own |= page == STORE_NONE || d->page_site[page] == at->site;
	if (page == STORE_NONE) {
		at->in_sitemap = true;
	} else if (at->last_page != page) {
		at->last_page = page;
		at->links++;
	}
}

struct linking {
	struct discover *d;
	bool gather;                    /* candidates, too; else only yields */
	uint32_t page;                  /* page of the captures being read */
	uint64_t text;                  /* hash of its newest links */
	bool any;
	VEC(uint64_t) links, before;    /* sorted hashes */
	double sum, weight;
	struct buf newest, base, target;
	struct buf robots;              /* rules for robots of the newest copy */
	VEC(uint64_t) closed;           /* its links that must not be followed */
	struct buf home;                /* the page's own URL */
};

static int compare_hashes(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Replace the list of links; returns how many are new in it. */
static uint32_t take_links(struct linking *l, struct text links)
{
	struct text link;
	uint32_t fresh = 0;
	size_t k = 0;

	l->links.n = 0;
	while (text_word(&links, &link))
		if (*link.s == '/')     /* of the page's own site */
			vec_push(&l->links, hash_bytes(link.s, link.size, 0));
	if (l->links.n)
		qsort(l->links.v, l->links.n, sizeof *l->links.v, compare_hashes);
	for (size_t i = 0; i < l->links.n; i++) {
		while (k < l->before.n && l->before.v[k] < l->links.v[i])
			k++;
		fresh += k >= l->before.n || l->before.v[k] != l->links.v[i];
	}
	l->before.n = 0;
	for (size_t i = 0; i < l->links.n; i++)
		vec_push(&l->before, l->links.v[i]);
	return fresh;
}

/* Find links of the newest copy that must not be followed; true: all of them. */
static bool read_robots(struct linking *l)
{
	struct text rest = { buf_text(&l->robots), l->robots.size }, link;
	size_t words;
	unsigned tags = robots_tag_kept(rest.s, rest.size, &words);

	l->closed.n = 0;
	if (l->d->opts.follow_all)
		return false;
	rest = (struct text){ rest.s + words, rest.size - words };
	while (text_word(&rest, &link))
		vec_push(&l->closed, hash_bytes(link.s, link.size, 0));
	if (l->closed.n)
		qsort(l->closed.v, l->closed.n, sizeof *l->closed.v, compare_hashes);
	return tags & ROBOTS_TAG_NOFOLLOW;
}

static bool is_closed(const struct linking *l, struct text link)
{
	uint64_t key = hash_bytes(link.s, link.size, 0);

	return l->closed.n && bsearch(&key, l->closed.v, l->closed.n, sizeof key, compare_hashes);
}

static void end_page(struct linking *l)
{
	struct text rest = { buf_text(&l->newest), l->newest.size }, link;
	bool all = l->gather && read_robots(l);

	if (l->page == STORE_NONE)
		return;
	if (l->weight > 0)
		l->d->yield[l->page] = (float)(l->sum / l->weight);
	while (l->gather && text_word(&rest, &link)) {
		buf_clear(&l->target);
		if (all || is_closed(l, link))
			l->d->report->nofollow++;
		else if (url_resolve(l->base.data, l->base.size, link.s, link.size, &l->target,
		                     NULL) == 0)
			discover_see(l->d, l->target.data, l->target.size, l->page);
	}
}

static int turn_to(struct linking *l, uint32_t page, struct err *err)
{
	struct store_page p;
	int rc = store_page_get(l->d->store, page, &p, err);

	l->page = page;
	l->any = false;
	l->sum = l->weight = 0;
	l->before.n = 0;
	l->text = 0;
	buf_clear(&l->newest);
	buf_clear(&l->robots);
	buf_clear(&l->home);
	if (rc > 0)
		buf_add(&l->home, p.url.s, p.url.size);
	return rc < 0 ? rc : 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct linking *l = arg;
	struct discover *d = l->d;
	uint32_t fresh = 0;
	int rc;

	if (d->row.open && c->id > d->last_capture)
		return 0;
	if (c->id > d->last_capture)
		d->last_capture = c->id;
	if (c->page >= d->n_pages || !d->state[c->page] || c->status >= 400)
		return 0;
	if (c->page != l->page) {
		end_page(l);
		if ((rc = turn_to(l, c->page, err)) < 0)
			return rc;
	}
	if (c->links.s && c->status < 300) {
		uint64_t text = hash_bytes(c->links.s, c->links.size, 0);

		if (!l->any || text != l->text)
			fresh = take_links(l, c->links);
		l->text = text;
		buf_clear(&l->newest);
		buf_add(&l->newest, c->links.s, c->links.size);
		buf_clear(&l->robots);
		if (c->robots.s)
			buf_add(&l->robots, c->robots.s, c->robots.size);
		buf_clear(&l->base);
		if (c->target.s)
			buf_add(&l->base, c->target.s, c->target.size);
		else
			buf_add(&l->base, l->home.data, l->home.size);
	}
	if (l->any) {           /* links of the first copy are not new */
		l->sum = YIELD_KEEP * l->sum + fresh;
		l->weight = YIELD_KEEP * l->weight + 1;
	}
	l->any |= c->links.s && c->status < 300;
	return 0;
}

int discover_links(struct discover *d, bool gather, struct err *err)
{
	struct linking l = { .d = d, .gather = gather, .page = STORE_NONE };
	int rc;

	buf_init(&l.newest, BUF_NO_LIMIT);
	buf_init(&l.robots, BUF_NO_LIMIT);
	buf_init(&l.base, BUF_NO_LIMIT);
	buf_init(&l.home, BUF_NO_LIMIT);
	buf_init(&l.target, URL_SIZE_MAX);
	rc = store_captures(d->store, NULL, 0, see_capture, &l, err);
	if (rc == 0)
		end_page(&l);
	vec_release(&l.links);
	vec_release(&l.before);
	vec_release(&l.closed);
	buf_release(&l.newest);
	buf_release(&l.robots);
	buf_release(&l.base);
	buf_release(&l.home);
	buf_release(&l.target);
	return rc;
}
