/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_robots.c - robots.txt of each origin, from one start to the next.
 *
 * The fetcher asks here before it asks a server, and tells what it learnt; ages are by
 * the engine's clock, so that trials which move it ask again as a year of cycles would.
 * What was not asked for in 30 days is dropped: it binds nobody any more.  A server that
 * could not be reached is asked again at the next start: then the network may be better.
 *
 * Copies are squeezed, and there is an end to what they take in the store: a copy that
 * finds no room is not kept, and its server is asked again at the next start.  Copies of an
 * ordinary size always have room, unless only a redirect has led there: such ones may take
 * a quarter of the whole.
 *
 * Inside a batch a copy is written with it, and outside (while new pages are looked for)
 * by itself.  A store that fails here fails at the next commit, too; then the first error
 * is told.
 */
#include "engine/crawl/crawl_inner.h"

#include "base/io/squeeze.h"
#include "engine/book/robots_copy.h"
#include "web/rules/robots.h"

#define KEPT_MAX (64 << 20)     /* bytes, of all origins */
#define KEPT_ALWAYS (4 << 10)   /* of one */

static int64_t engine_now(const struct crawl *c)
{
	return c->opts->now ? c->opts->now : crawl_now(c);
}

static void note_failure(struct crawl *c, int rc, const struct err *err)
{
	if (rc >= 0 || c->robots.rc)
		return;
	c->robots.rc = rc;
	c->robots.err = *err;
}

bool crawl_robots_load(void *arg, const char *origin, size_t size,
                       struct fetch_robots_copy *ret)
{
	struct crawl *c = arg;
	int64_t now = engine_now(c);
	struct store_robots r;
	struct err err;
	int rc = robots_copy_get(c->store, (struct text){ origin, size }, now, &r,
	                         &c->robots.text, &err);

	note_failure(c, rc, &err);
	if (rc <= 0)
		return false;
	*ret = (struct fetch_robots_copy){
		.status = r.time ? r.status : 0, .age = (double)(now - r.time),
		.body = buf_text(&c->robots.text), .size = c->robots.text.size, .cut = r.cut,
		.failed = r.failing != 0, .tried = (double)(now - r.tried),
		.failing = r.failing ? (double)(now - r.failing) : 0,
	};
	return true;
}

/* Is there room for so many bytes more?  If so, they are counted. */
static bool has_room(struct crawl *c, const struct fetch_robots_copy *copy, size_t size)
{
	uint64_t most = c->opts->robots_kept ? c->opts->robots_kept : KEPT_MAX;
	struct err err;
	int rc = c->robots.is_counted ? 0 : store_robots_size(c->store, &c->robots.size, &err);

	note_failure(c, rc, &err);
	c->robots.is_counted = rc == 0;
	if (copy->passing)
		most /= 4;
	if (rc < 0 || (c->robots.size + size > most && (copy->passing || size > KEPT_ALWAYS)))
		return false;
	c->robots.size += size;
	return true;
}

void crawl_robots_save(void *arg, const char *origin, size_t size,
                       const struct fetch_robots_copy *copy)
{
	struct crawl *c = arg;
	struct text name = { origin, size };
	int64_t now = engine_now(c);
	struct store_robots r = { 0 };
	struct buf body;
	struct err err;
	int rc = 0;

	buf_init(&body, BUF_NO_LIMIT);
	if (copy->failed) {
		rc = store_robots_get(c->store, name, &r, &err);
		if (rc == 0 && !copy->status)
			return;         /* not stored: the next start asks again */
		if (!r.failing || r.failing > now)
			r.failing = now;
	} else {
		r = (struct store_robots){ .time = now, .status = copy->status, .cut = copy->cut };
		if (copy->size)
			squeeze(&body, copy->body, copy->size);
		if (body.size)
			r.body = (struct text){ body.data, body.size };
		if (!has_room(c, copy, body.size)) {
			buf_release(&body);
			return;
		}
	}
	r.origin = name;
	if (copy->status)
		r.tried = now;
	if (rc >= 0)
		rc = store_robots_put(c->store, &r, 1, &err);
	note_failure(c, rc, &err);
	buf_release(&body);
}

int crawl_robots_check(struct crawl *c, struct err *err)
{
	if (c->robots.rc < 0)
		*err = c->robots.err;
	return c->robots.rc;
}

int crawl_robots_forget(struct crawl *c, struct err *err)
{
	return store_robots_forget(c->store, engine_now(c) - ROBOTS_UNREACHABLE_MAX, err);
}
