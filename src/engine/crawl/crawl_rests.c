/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_rests.c - hosts that asked to be left alone, from one start to the next.
 *
 * The state `rests`, written with each batch, has a line for each host that
 * rests: its name and until when, by the real clock.  Trials, whose clock is not the
 * servers', neither read nor write it.  (Pages and hosts that fail are left alone by the
 * engine, in its own time and for days: engine/cycle/retry.h.)
 */
#include "engine/crawl/crawl_inner.h"

#include <stdio.h>
#include <string.h>

#define STATE_KEY "rests"
#define RESTS_SIZE_MAX (1 << 20)

int crawl_rests_load(struct crawl *c, struct err *err)
{
	char *text = NULL, *line, *save = NULL;
	int64_t now = crawl_now(c);
	int rc = c->opts->now ? 0 :
		store_state_get(c->store, STORE_OF_SHARD, STATE_KEY, &text, err);

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *space = strrchr(line, ' ');
		long long until = space ? strtoll(space + 1, NULL, 10) : 0;

		if (until <= now)
			continue;
		fetch_rest(c->fetch, line, (size_t)(space - line), (double)(until - now));
		c->rests = true;
	}
	free(text);
	return rc < 0 ? rc : 0;
}

struct rests { struct buf text; int64_t now; };

static void add_rest(void *arg, const char *host, double seconds)
{
	struct rests *r = arg;

	if (seconds >= 1)
		buf_printf(&r->text, "%s %lld\n", host, (long long)r->now + (long long)seconds + 1);
}

int crawl_rests_save(struct crawl *c, struct err *err)
{
	struct rests r = { .now = crawl_now(c) };
	int rc = 0;

	if (c->opts->now || !c->fetch)
		return 0;
	buf_init(&r.text, RESTS_SIZE_MAX);
	fetch_rests(c->fetch, add_rest, &r);
	if (r.text.size || c->rests)
		rc = store_state_put(c->store, STORE_OF_SHARD, STATE_KEY,
		                     r.text.size ? buf_text(&r.text) : NULL, err);
	c->rests = r.text.size > 0;
	buf_release(&r.text);
	return rc;
}
