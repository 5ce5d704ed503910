/* SPDX-License-Identifier: Apache-2.0 */
/* copy_small.c - the small tables of a store into another, written anew; see copy.h. */
#include "repo/copy/copy_inner.h"

#include <string.h>

static int see_tagged(void *arg, uint32_t page, struct err *err)
{
	struct copying *c = arg;

	(void)err;
	vec_push(&c->numbers, page);
	return 0;
}

static int see_tag(void *arg, struct text tag, uint64_t n_pages, struct err *err)
{
	struct copying *c = arg;
	int rc;

	(void)n_pages;
	c->numbers.n = 0;
	rc = store_tagged(c->from, tag, see_tagged, c, err);
	return rc < 0 ? rc : store_tag_put(c->to, tag, c->numbers.v, c->numbers.n, true, err);
}

static int see_hint(void *arg, struct text site, const struct store_hint *h, struct err *err)
{
	struct copying *c = arg;
	struct store_hint has;
	int rc = store_hint_get(c->to, site, &has, err);

	return rc < 0 ? rc : store_hint_update(c->to, site, &has, h, err);
}

static int see_robots(void *arg, const struct store_robots *r, struct err *err)
{
	return store_robots_put(((struct copying *)arg)->to, r, 1, err);
}

static int see_setting(void *arg, const char *key, const char *value, struct err *err)
{
	return store_setting_put(((struct copying *)arg)->to, key, value, err);
}

static int see_state(void *arg, const char *key, const char *value, struct err *err)
{
	return !strcmp(key, COPY_STATE_KEY) ? 0 :
		store_state_put(((struct copying *)arg)->to, STORE_OF_SHARD, key, value, err);
}

static int see_own(void *arg, const char *key, const char *value, struct err *err)
{
	return store_state_put(((struct copying *)arg)->to, STORE_OF_WORKER, key, value, err);
}

int copy_small(struct copying *c, struct err *err)
{
	int rc = store_begin(c->to, err);

	if (rc < 0)
		return rc;
	if ((rc = store_tags(c->from, STORE_NONE, see_tag, c, err)) == 0 &&
	    (rc = store_hints(c->from, see_hint, c, err)) == 0 &&
	    (rc = store_robots(c->from, NULL, 0, see_robots, c, err)) == 0 &&
	    (rc = store_settings(c->from, see_setting, c, err)) == 0 &&
	    (rc = store_states(c->from, STORE_OF_SHARD, see_state, c, err)) == 0)
		rc = store_states(c->from, STORE_OF_WORKER, see_own, c, err);
	return copy_end_batch(c, rc, 0, err);
}

static int see_sent(void *arg, const struct store_sent *s, struct err *err)
{
	return store_sent_add(((struct copying *)arg)->to, s, 1, err);
}

int copy_sent(struct copying *c, struct err *err)
{
	int rc = store_sent_clear(c->to, err);

	return rc < 0 ? rc : store_sent(c->from, see_sent, c, err);
}
