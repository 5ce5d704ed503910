/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_robots.c - robots.txt of each origin, from one start to the next.
 *
 * The fetcher asks here before it asks a server, and tells what it learnt; ages are by
 * the engine's clock, so that trials which move it ask again as a year of cycles would.
 * What was not asked for in 30 days is dropped: it binds nobody any more.  A server that
 * could not be reached is asked again at the next start: then the network may be better.
 *
 * Inside a batch a copy is written with it, and outside (while new pages are looked for)
 * by itself.  A store that fails here fails at the next commit, too; then the first error
 * is told.
 */
#include "engine/crawl_inner.h"

#include "web/robots.h"

static int64_t engine_now(const struct crawl *c)
{
	return c->opts->now ? c->opts->now : (int64_t)time(NULL);
}

bool crawl_robots_load(void *arg, const char *origin, size_t size,
                       struct fetch_robots_copy *ret)
{
	struct crawl *c = arg;
	int64_t now = engine_now(c);
	struct store_robots r;
	struct err err;
	int rc = store_robots_get(c->store, (struct text){ origin, size }, &r, &err);

	if (rc < 0 && !c->robots_rc) {
		c->robots_rc = rc;
		c->robots_err = err;
	}
	/* of a time to come: another clock made it */
	if (rc <= 0 || r.time > now || r.tried > now || r.failing > now)
		return false;
	*ret = (struct fetch_robots_copy){
		.status = r.time ? r.status : 0, .age = (double)(now - r.time),
		.body = r.body.s ? r.body.s : "", .size = r.body.size, .cut = r.cut,
		.failed = r.failing != 0, .tried = (double)(now - r.tried),
		.failing = r.failing ? (double)(now - r.failing) : 0,
	};
	return true;
}

void crawl_robots_save(void *arg, const char *origin, size_t size,
                       const struct fetch_robots_copy *copy)
{
	struct crawl *c = arg;
	struct text name = { origin, size };
	int64_t now = engine_now(c);
	struct store_robots r = { 0 };
	struct err err;
	int rc = 0;

	if (copy->failed) {
		rc = store_robots_get(c->store, name, &r, &err);
		if (rc == 0 && !copy->status)
			return;
		if (!r.failing || r.failing > now)
			r.failing = now;
	} else {
		r = (struct store_robots){ .time = now, .status = copy->status, .cut = copy->cut,
			.body = { copy->size ? copy->body : NULL, copy->size } };
	}
	if (copy->status)
		r.tried = now;
	if (rc >= 0)
		rc = store_robots_put(c->store, name, &r, &err);
	if (rc < 0 && !c->robots_rc) {
		c->robots_rc = rc;
		c->robots_err = err;
	}
}

int crawl_robots_check(struct crawl *c, struct err *err)
{
	if (c->robots_rc < 0)
		*err = c->robots_err;
	return c->robots_rc;
}

int crawl_robots_forget(struct crawl *c, struct err *err)
{
	return store_robots_forget(c->store, engine_now(c) - ROBOTS_UNREACHABLE_MAX, err);
}
