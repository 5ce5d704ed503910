/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_web.c - robots.txt and sitemaps of sites; see discover.h.
 *
 * robots.txt is fetched for every origin with candidates, so that no forbidden page is
 * added. Sitemaps are read once a day for the origins of our pages: those that robots.txt
 * names on the same site, or /sitemap.xml if it names none.  Indexes are followed
 * (limits: web/rules/sitemap.h), a site's sitemaps one after the other, and for some
 * minutes only: the cycle waits for the slowest site.  All requests go through the fetcher, so they are polite
 * and safe; they are counted separately and cost no budget.
 */
#include <string.h>

#include "base/io/input.h"
#include "base/stop.h"
#include "engine/discover/discover_inner.h"
#include "fetch/wire.h"
#include "web/rules/robots.h"
#include "web/rules/sitemap.h"
#include "web/url/url.h"

#define WINDOW 1000             /* tasks given to the fetcher at a time */

struct task {
	char *url;                      /* robots.txt, or of a sitemap */
	uint32_t site;
	uint8_t depth;
	bool is_sitemap, wants_sitemaps;
	size_t after;                   /* the site's next sitemap; 0: none is known */
};

/* The sitemaps of a site. */
struct maps {
	uint32_t n;
	bool busy, over;                /* one is under way; no more is asked for */
	size_t last;                    /* task; 0: none */
	double since;                   /* when the first was asked for; 0: not yet */
};

struct reading {
	struct discover *d;
	struct fetch *f;
	VEC(struct task) tasks;
	size_t next;                            /* first task not yet given to the fetcher */
	struct strtab asked;                    /* origins */
	struct map seen;                        /* sitemaps, by hash of their URL */
	VEC(struct maps) maps;                  /* by site */
	const struct task *task;                /* whose sitemap is read */
	struct buf decoded;
};

static uint32_t site_of(struct discover *d, const char *url, size_t size)
{
	buf_clear(&d->name);
	url_site(url, size, false, &d->name);
	return strtab_find(&d->sites, d->name.data, d->name.size);
}

static void add_robots(struct reading *r, const char *origin, uint32_t site, bool sitemaps)
{
	struct task t = { .site = site, .wants_sitemaps = sitemaps };

	buf_clear(&r->d->url);
	buf_str(&r->d->url, origin);
	buf_str(&r->d->url, "/robots.txt");
	t.url = mem_strdup(buf_text(&r->d->url));
	vec_push(&r->tasks, t);
}

/* Add a sitemap of the same site, once, up to the limit. */
static void add_sitemap(struct reading *r, const char *url, size_t size, uint32_t site,
                        unsigned depth)
{
	struct task t = { .site = site, .is_sitemap = true, .depth = (uint8_t)depth };
	struct maps *m = &r->maps.v[site];
	bool fresh;

	if (depth > SITEMAP_DEPTH_MAX || site_of(r->d, url, size) != site ||
	    m->n >= DISCOVER_SITEMAPS_MAX)
		return;
	map_intern(&r->seen, hash_bytes(url, size, 0), 0, &fresh);
	if (!fresh)
		return;
	m->n++;
	if (m->last)
		r->tasks.v[m->last].after = r->tasks.n;
	m->last = r->tasks.n;
	t.url = mem_strndup(url, size);
	vec_push(&r->tasks, t);
}

static void robots_known(struct reading *r, size_t at)
{
	struct task t = r->tasks.v[at];
	const struct robots *rules = fetch_robots(r->f, t.url, strlen(t.url));
	size_t n = rules ? rules->sitemaps.n : 0, before = r->tasks.n;

	if (!t.wants_sitemaps)
		return;
	for (size_t i = 0; i < n; i++)
		add_sitemap(r, robots_sitemap(rules, i), strlen(robots_sitemap(rules, i)),
		            t.site, 0);
	if (r->tasks.n == before) {
		buf_clear(&r->d->url);
		buf_add(&r->d->url, t.url, strlen(t.url) - strlen("robots.txt"));
		buf_str(&r->d->url, "sitemap.xml");
		add_sitemap(r, buf_text(&r->d->url), r->d->url.size, t.site, 0);
	}
	vec_push(&r->d->sites_read, t.site);
}

/* A page listed more than once has the newest date. */
static void see_date(struct discover *d, uint32_t page, int64_t lastmod)
{
	bool fresh;
	uint32_t i = map_intern(&d->dated, page, (uint32_t)d->dates.n, &fresh);

	if (fresh) {
		vec_push(&d->dates, ((struct dated){ page, lastmod }));
		d->report->dates++;
	} else if (lastmod > d->dates.v[i].lastmod) {
		d->dates.v[i].lastmod = lastmod;
	}
}

static int see_entry(void *context, const struct sitemap_entry *e, struct err *err)
{
	struct reading *r = context;
	struct discover *d = r->d;
	uint32_t page;

	(void)err;
	if (e->is_sitemap) {
		add_sitemap(r, e->url, e->url_size, r->task->site, r->task->depth + 1u);
		return 0;
	}
	page = map_get(&d->known, discover_key(e->url, e->url_size));
	if (page != MAP_NONE && e->has_lastmod && e->lastmod > 0)
		see_date(d, page, e->lastmod);
	discover_see(d, e->url, e->url_size, STORE_NONE);
	return 0;
}

static void read_sitemap(struct reading *r, size_t at, struct fetch_result *result)
{
	struct task task = r->tasks.v[at];
	struct sitemap_source source = { .url = task.url, .url_size = strlen(task.url),
		.scope = SITEMAP_SITE, .depth = task.depth };
	struct sitemap_report report;
	struct input *in;
	struct err err;

	r->d->report->sitemap_requests += result->requests;
	if (result->status != 200 || (result->error != FETCH_OK && !result->body_size))
		return;
	buf_clear(&r->decoded);
	fetch_decode(result, &r->decoded, &err);
	if (input_open_memory(&in, result->decoded, result->decoded_size, task.url, &err) < 0)
		return;
	r->task = &task;
	/* entries before an error are used */
	if (sitemap_read(in, &source, see_entry, r, &report, &err) == 0 || report.entries)
		r->d->report->sitemaps++;
	input_close(in);
}

static void ask(struct reading *r, size_t at)
{
	struct task *t = &r->tasks.v[at];
	struct maps *m = t->is_sitemap ? &r->maps.v[t->site] : NULL;

	if (m) {
		m->busy = true;
		m->since = m->since > 0 ? m->since : wire_now();
	}
	fetch_add(r->f, &(struct fetch_request){ .page = (uint32_t)at, .url = t->url,
		.only_robots = !t->is_sitemap, .any_type = true });
}

/* A sitemap has come: what it names is known, and the next of its site can be asked for. */
static void go_on(struct reading *r, size_t at)
{
	double most = r->d->opts.sitemap_seconds;
	struct maps *m = &r->maps.v[r->tasks.v[at].site];
	size_t after = r->tasks.v[at].after;

	m->busy = false;
	m->over = wire_now() - m->since >= (most > 0 ? most : DISCOVER_SITEMAP_SECONDS);
	if (!m->over && after && after < r->next)
		ask(r, after);
}

/* May it be asked for now?  If not, go_on() does it. */
static bool is_its_turn(const struct reading *r, const struct task *t)
{
	return !t->is_sitemap || (!r->maps.v[t->site].busy && !r->maps.v[t->site].over);
}

static int work(struct reading *r, const volatile sig_atomic_t *stop, struct err *err)
{
	const struct fetch_result *got;

	for (;;) {
		for (; r->next < r->tasks.n && fetch_pending(r->f) < WINDOW; r->next++)
			if (is_its_turn(r, &r->tasks.v[r->next]))
				ask(r, r->next);
		if (stop_is_set(stop))
			return err_set(err, E_STOP, "stopped before the cycle had begun");
		if (!fetch_pending(r->f))
			return 0;
		if (fetch_next(r->f, 0.2, &got) != FETCH_GOT)
			continue;
		if (r->tasks.v[got->page].is_sitemap) {
			struct fetch_result result = *got;
			size_t at = got->page;

			read_sitemap(r, at, &result);
			go_on(r, at);
		} else {
			robots_known(r, got->page);
		}
	}
}

/* Are the sitemaps of this site due?  Its row in `hints` says so. */
static int is_due(struct discover *d, uint32_t site, bool *ret, struct err *err)
{
	struct text name = { strtab_get(&d->sites, site), strtab_size(&d->sites, site) };
	struct store_hint h = { 0 };
	int rc = store_hint_get(d->store, name, &h, err);

	*ret = !h.read || h.read + DISCOVER_SITEMAP_AGE <= d->row.time;
	return rc < 0 ? rc : 0;
}

/* Origins of pages under care whose sitemaps are due. */
static int add_due(struct reading *r, struct err *err)
{
	struct discover *d = r->d;
	uint32_t n_due = 0;
	int rc = 0;

	for (uint32_t i = 0; i < d->origins.n && n_due < DISCOVER_ORIGINS_MAX && rc == 0; i++) {
		const char *origin = strtab_get(&d->origins, i);
		size_t size = strtab_size(&d->origins, i);
		uint32_t site;
		bool due;

		buf_clear(&d->url);
		buf_add(&d->url, origin, size);
		buf_byte(&d->url, '/');
		site = site_of(d, d->url.data, d->url.size);
		rc = is_due(d, site, &due, err);
		if (rc < 0 || !due)
			continue;
		n_due++;
		strtab_intern(&r->asked, origin, size, NULL);
		add_robots(r, origin, site, true);
	}
	return rc;
}

/* Origins of candidates: a link may go to the other scheme of a site. */
static void add_others(struct reading *r)
{
	struct discover *d = r->d;

	for (uint32_t i = 0; i < d->candidates.n; i++) {
		const char *url = strtab_get(&d->urls, i);
		struct url_parts p;
		bool fresh;

		if (d->candidates.v[i].refusal)
			continue;
		url_split(url, strtab_size(&d->urls, i), &p);
		strtab_intern(&r->asked, url, p.path, &fresh);
		if (fresh)
			add_robots(r, strtab_get(&r->asked, r->asked.n - 1),
			           d->candidates.v[i].site, false);
	}
}

int discover_web(struct discover *d, struct fetch *f, const volatile sig_atomic_t *stop,
                 struct err *err)
{
	struct reading r = { .d = d, .f = f };
	int rc;

	buf_init(&r.decoded, SITEMAP_BYTES_MAX);
	while (r.maps.n < d->sites.n)
		vec_push(&r.maps, ((struct maps){ 0 }));
	rc = add_due(&r, err);
	for (int i = 0; i < 2 && rc == 0; i++) {        /* sitemaps bring candidates, too */
		add_others(&r);
		rc = work(&r, stop, err);
	}
	for (size_t i = 0; i < r.tasks.n; i++)
		free(r.tasks.v[i].url);
	vec_release(&r.tasks);
	vec_release(&r.maps);
	map_release(&r.seen);
	strtab_release(&r.asked);
	buf_release(&r.decoded);
	return rc;
}
