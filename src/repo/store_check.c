/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_check.c - check everything: the backend's own check, then every row of every table.
 *
 * A row is checked where it is read, so reading all of them is enough.
 */
#include "repo/store_backend.h"

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)arg, (void)p, (void)err;
	return 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	(void)arg, (void)v, (void)err;
	return 0;
}

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	(void)arg, (void)number, (void)word, (void)err;
	return 0;
}

static int see_pair(void *arg, const char *key, const char *value, struct err *err)
{
	(void)arg, (void)key, (void)value, (void)err;
	return 0;
}

static int see_care(void *arg, const struct store_care *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_tagged(void *arg, uint32_t page, struct err *err)
{
	(void)arg, (void)page, (void)err;
	return 0;
}

static int see_tag(void *arg, struct text tag, uint64_t n_pages, struct err *err)
{
	(void)n_pages;
	return store_tagged(arg, tag, see_tagged, NULL, err);
}

static int see_hint(void *arg, struct text site, const struct store_hint *h, struct err *err)
{
	(void)arg, (void)site, (void)h, (void)err;
	return 0;
}

static int see_robots(void *arg, const struct store_robots *r, struct err *err)
{
	(void)arg, (void)r, (void)err;
	return 0;
}

int store_check(struct store *s, struct err *err)
{
	int rc;

	if ((s->ops->check && (rc = s->ops->check(s, err)) < 0) ||
	    (rc = store_pages(s, 0, see_page, NULL, err)) < 0 ||
	    (rc = store_captures(s, NULL, 0, see_capture, NULL, err)) < 0 ||
	    (rc = store_visits(s, 0, UINT32_MAX, see_visit, NULL, err)) < 0 ||
	    (rc = store_cycles(s, 0, see_cycle, NULL, err)) < 0 ||
	    (rc = store_care_log(s, STORE_NONE, 0, UINT32_MAX, see_care, NULL, err)) < 0 ||
	    (rc = store_tags(s, STORE_NONE, see_tag, s, err)) < 0 ||
	    (rc = store_words(s, 0, see_word, NULL, err)) < 0 ||
	    (rc = store_settings(s, see_pair, NULL, err)) < 0 ||
	    (rc = store_states(s, STORE_OF_SHARD, see_pair, NULL, err)) < 0 ||
	    (rc = store_states(s, STORE_OF_WORKER, see_pair, NULL, err)) < 0 ||
	    (rc = store_hints(s, see_hint, NULL, err)) < 0)
		return rc;
	return store_robots(s, NULL, 0, see_robots, NULL, err);
}
