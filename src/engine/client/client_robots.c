/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_robots.c - what we know of robots.txt, for offers.
 *
 * Freshet fetches no robots.txt for other crawlers: it knows those that its own cycles have
 * read.  Those of all offers are read at once, and each is applied to its offers as it comes.
 */
#include "engine/client/client_inner.h"

#include <math.h>

#include "engine/book/robots_copy.h"
#include "web/url/url.h"

struct applying {
	struct client *c;
	const char *agent;
	int64_t now;
	struct strtab origins;
	VEC(uint32_t) first;            /* by origin: an offer of it, */
	VEC(uint32_t) next;             /* by offer: another of its origin; MAP_NONE: no more */
	struct buf text;
};

static void apply(struct client_offer *o, const struct robots *rules, int64_t read)
{
	o->robots = robots_allows(rules, o->url, strlen(o->url), NULL) ? "allowed" : "forbidden";
	o->robots_read = read;
	if (rules->crawl_delay > 0)
		o->crawl_delay = rules->crawl_delay;
}

static int see_robots(void *arg, const struct store_robots *row, struct err *err)
{
	struct applying *a = arg;
	uint32_t origin = strtab_find(&a->origins, row->origin.s, row->origin.size);
	struct robots rules = { 0 };

	(void)err;
	if (origin == MAP_NONE || !row->time || !robots_copy_read(row, a->now, &a->text))
		return 0;
	if (robots_policy(row->status, 0) == ROBOTS_READ)
		if (robots_read(&rules, a->text.data, a->text.size, row->cut, a->agent, NULL) < 0)
			return 0;       /* as if it had never been read */
	for (uint32_t i = a->first.v[origin]; i != MAP_NONE; i = a->next.v[i])
		apply(&a->c->offers.v[i], &rules, row->time);
	robots_release(&rules);
	return 0;
}

int client_robots(struct client *c, const char *agent, int64_t now, struct err *err)
{
	struct applying a = { .c = c, .agent = agent ? agent : "", .now = now };
	VEC(struct text) origins = { 0 };
	int rc = 0;

	for (size_t i = 0; i < c->offers.n; i++) {
		struct client_offer *o = &c->offers.v[i];
		struct url_parts p;
		uint32_t origin;
		bool fresh;

		o->crawl_delay = NAN;
		url_split(o->url, strlen(o->url), &p);
		origin = strtab_intern(&a.origins, o->url, p.path, &fresh);
		if (fresh) {
			vec_push(&origins, ((struct text){ o->url, p.path }));
			vec_push(&a.first, MAP_NONE);
		}
		vec_push(&a.next, a.first.v[origin]);
		a.first.v[origin] = (uint32_t)i;
	}
	if (origins.n)
		rc = store_robots(c->store, origins.v, origins.n, see_robots, &a, err);
	vec_release(&origins);
	strtab_release(&a.origins);
	vec_release(&a.first);
	vec_release(&a.next);
	buf_release(&a.text);
	return rc;
}
