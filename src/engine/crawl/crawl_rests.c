/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_rests.c - hosts that asked to be left alone, from one start to the next.
 *
 * The setting state.rests, written with each batch, has a line for each host that
 * rests: its name and until when, by the real clock.  Trials, whose clock is not the
 * servers', neither read nor write it.  (Pages and hosts that fail are left alone by the
 * engine, in its own time and for days: engine/cycle/retry.h.)
 */
#include "engine/crawl/crawl_inner.h"

#include <stdio.h>
#include <string.h>

#define STATE_KEY "state.rests"
#define RESTS_SIZE_MAX (1 << 20)

int crawl_rests_load(struct crawl *c, struct err *err)
{
	char *text = NULL, *line, *save = NULL;
	int64_t now = (int64_t)time(NULL);
	int rc = c->opts->now ? 0 : store_setting_get(c->store, STATE_KEY, &text, err);

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

static void add_rest(void *arg, const char *host, double seconds)
{
	struct buf *b = arg;

	if (seconds >= 1)
		buf_printf(b, "%s %lld\n", host, (long long)time(NULL) + (long long)seconds + 1);
}

int crawl_rests_save(struct crawl *c, struct err *err)
{
	struct buf text;
	int rc = 0;

	if (c->opts->now || !c->fetch)
		return 0;
	buf_init(&text, RESTS_SIZE_MAX);
	fetch_rests(c->fetch, add_rest, &text);
	if (text.size || c->rests)
		rc = store_setting_put(c->store, STATE_KEY, text.size ? buf_text(&text) : NULL, err);
	c->rests = text.size > 0;
	buf_release(&text);
	return rc;
}
