/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_left.c - how long the cycle still takes, for who watches it.
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

#define SHOW_EVERY 1            /* seconds */

/* Pages that were planned since the last look. */
void crawl_left_planned(struct crawl *c)
{
	struct crawl_left *l = &c->left;
	const struct engine *e = &c->resumed->engine;
	const struct view *v = &e->view;
	uint32_t open = 0, room;

	if (!c->opts->left || l->n_leases == e->cycle.leases.n)
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

	if (!c->opts->left)
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

void crawl_left_show(struct crawl *c)
{
	struct crawl_left *l = &c->left;
	const struct pages *p = &c->resumed->has.loaded.pages;
	double now = crawl_seconds(), spent = now - l->began, left;

	if (!c->opts->left || !l->hosts.n || now - l->shown < SHOW_EVERY)
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
	c->opts->left(c->opts->arg, left);
}

void crawl_left_release(struct crawl *c)
{
	vec_release(&c->left.hosts);
	vec_release(&c->left.now);
	map_release(&c->left.at);
}
