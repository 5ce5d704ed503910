/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_left.c - what the cycle is doing and how long it still takes, for who watches it.
 *
 * What is planned and not yet answered is counted by host; the pauses are those that the
 * fetcher keeps, and answers take as long as those of the host took so far (of a host that
 * has not answered yet: of all hosts).  Pages that a later round may ask for are not known:
 * if the budget has room for more, and there are more, they are taken to come at the pace
 * so far.
 */
#include "engine/crawl/crawl_inner.h"
#include "engine/crawl/time_left.h"

#include <math.h>
#include <string.h>

#define SHOW_EVERY 1            /* seconds */

/* Pages that were planned since the last look. */
void crawl_left_planned(struct crawl *c)
{
	struct crawl_left *l = &c->left;
	const struct engine *e = &c->resumed->engine;
	const struct view *v = &e->view;
	uint32_t open = 0, room;

	if (!c->opts->doing || l->n_leases == e->cycle.leases.n)
		return;
	if (l->began == 0)
		l->began = crawl_seconds();
	for (; l->n_leases < e->cycle.leases.n; l->n_leases++) {
		const struct lease *lease = &e->cycle.leases.v[l->n_leases];
		uint32_t site = v->site[lease->offer.page], at = map_get(&l->at, site);

		if (lease->state > LEASE_OFFERED)
			continue;
		if (at == MAP_NONE) {
			at = (uint32_t)l->hosts.n;
			map_put(&l->at, site, at);
			vec_push(&l->hosts, ((struct crawl_left_host){ .page = lease->offer.page }));
		}
		l->hosts.v[at].requests++;
		l->requests++;
	}
	for (uint32_t i = 0; i < v->n_pages; i++)
		open += view_open(v, i);
	room = engine_left(e);
	room -= l->requests < room ? l->requests : room;
	l->more = open < room ? open : room;
}

static void pace_add(struct crawl_pace *p, double seconds)
{
	p->answers++;
	p->seconds += seconds;
}

void crawl_left_told(struct crawl *c, uint32_t lease, const struct fetch_result *r)
{
	const struct engine *e = &c->resumed->engine;
	struct crawl_left *l = &c->left;
	uint32_t at;

	if (!c->opts->doing)
		return;
	at = map_get(&l->at, e->view.site[engine_lease(e, lease)->offer.page]);
	l->hosts.v[at].requests--;
	l->requests--;
	l->told++;
	if (r->requests && r->error != FETCH_STOPPED) {
		pace_add(&l->hosts.v[at].pace, r->seconds);
		pace_add(&l->pace, r->seconds);
	}
}

struct resting { const char *name; double seconds; };

static void see_rest(void *arg, const char *host, double seconds)
{
	struct resting *r = arg;

	size_t size = strlen(host);

	if (!strncmp(host, r->name, size) && (!r->name[size] || r->name[size] == ':'))
		r->seconds = seconds;
}

/* Keep the hosts with the most pages, in order. */
static void keep_host(struct crawl_doing *d, const struct crawl_doing_host *h)
{
	unsigned i = d->n_hosts;

	if (i == CRAWL_DOING_HOSTS && d->hosts[i - 1].pages >= h->pages)
		return;
	i -= i == CRAWL_DOING_HOSTS;
	for (; i > 0 && d->hosts[i - 1].pages < h->pages; i--)
		d->hosts[i] = d->hosts[i - 1];
	d->hosts[i] = *h;
	d->n_hosts += d->n_hosts < CRAWL_DOING_HOSTS;
}

static void count_rest(void *arg, const char *host, double seconds)
{
	(void)host;
	(void)seconds;
	++*(uint32_t *)arg;
}

static void tell_watcher(struct crawl *c, double spent, double left)
{
	const struct pages *p = &c->resumed->has.loaded.pages;
	const struct engine *e = &c->resumed->engine;
	struct crawl_doing d = {
		.cycle = &c->report->cycle, .spent = e->cycle.n_spent, .visits = c->report->visits,
		.seconds = spent, .seconds_left = left, .active = fetch_active(c->fetch),
		.planned = c->left.requests,
	};

	for (size_t i = 0; i < c->left.hosts.n; i++) {
		const struct crawl_left_host *h = &c->left.hosts.v[i];
		struct crawl_doing_host shown = {
			.name = strtab_get(&p->site_names, e->view.site[h->page]), .page = h->page,
			.pages = h->requests };

		if (!h->requests)
			continue;
		d.n_waiting++;
		keep_host(&d, &shown);
	}
	fetch_rests(c->fetch, count_rest, &d.n_resting);
	for (unsigned i = 0; i < d.n_hosts; i++) {
		struct crawl_doing_host *h = &d.hosts[i];
		struct resting r = { h->name, 0 };
		bool robots;

		if (d.n_resting)
			fetch_rests(c->fetch, see_rest, &r);
		h->rests = r.seconds;
		h->pause = fetch_pause(c->fetch, pages_url(p, h->page), pages_url_size(p, h->page),
		                       &robots);
	}
	fetch_stats(c->fetch, &d.fetch);
	c->opts->doing(c->opts->arg, &d);
}

void crawl_left_show(struct crawl *c)
{
	struct crawl_left *l = &c->left;
	const struct pages *p = &c->resumed->has.loaded.pages;
	double now = crawl_seconds(), spent = now - l->began, left;

	if (!c->opts->doing || !l->hosts.n || now - l->shown < SHOW_EVERY)
		return;
	l->shown = now;
	l->now.n = 0;
	for (size_t i = 0; i < l->hosts.n; i++) {
		const struct crawl_left_host *h = &l->hosts.v[i];
		const struct crawl_pace *pace = h->pace.answers ? &h->pace : &l->pace;
		struct left_host queue = { .requests = h->requests };
		bool robots;

		if (!h->requests)
			continue;
		queue.pause = fetch_pause(c->fetch, pages_url(p, h->page),
		                          pages_url_size(p, h->page), &robots);
		queue.requests += robots;
		queue.answer = pace->answers ? pace->seconds / pace->answers : 0;
		vec_push(&l->now, queue);
	}
	left = time_left(l->now.v, l->now.n, c->opts->fetch.connections);
	if (l->more && l->told && spent > 0)
		left = fmax(left, (l->more + l->requests) * spent / l->told);
	tell_watcher(c, spent, left);
}

void crawl_left_release(struct crawl *c)
{
	vec_release(&c->left.hosts);
	vec_release(&c->left.now);
	map_release(&c->left.at);
}
