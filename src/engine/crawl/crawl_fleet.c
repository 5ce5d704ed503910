/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_fleet.c - a cycle of one shard of a fleet: its budget comes in parts, and hosts that
 * were asked just now are known to whoever has the shard next.  See struct crawl_fleet, and
 * engine/recall/grants.h for what is kept of grants.
 *
 * The state `pauses`, written when the shard is given back, has a line for each host: its name
 * and until when it must not be asked, in milliseconds of the fleet's clock.
 */
#include "engine/crawl/crawl_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSES_KEY "pauses"
#define PAUSES_SIZE_MAX (16 << 20)
#define ASK_SECONDS 0.2         /* between two questions for a grant */

int64_t crawl_now(const struct crawl *c)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return c->opts->fleet ? (int64_t)((double)t.tv_sec + 1e-9 * (double)t.tv_nsec -
	                                  c->opts->fleet->ahead) : (int64_t)t.tv_sec;
}

int crawl_shards_keep(struct crawl *c, uint32_t *ret, struct err *err)
{
	return grants_shards(c->store, c->report->resumed, c->opts->n_shards, ret, err);
}

/* ---- grants ---- */

int crawl_grants_save(struct crawl *c, struct err *err)
{
	const struct engine *e = &c->resumed->engine;
	int rc;

	if (!c->opts->fleet || c->grants_kept == e->cycle.planned_with.n + 1)
		return 0;
	rc = grants_save(c->store, c->report->cycle.number, e, err);
	c->grants_kept = e->cycle.planned_with.n + 1;
	return rc;
}

/* What the cycle that goes on was granted, round by round. */
int crawl_grants_load(struct crawl *c, struct crawl_made *m, struct err *err)
{
	int rc = grants_load(&m->grants, c->store, c->report->cycle.number, m->planned_after.n, err);

	if (rc > 0) {
		c->budget = m->grants.expected;
		c->shared = m->grants.shared;
	}
	return rc < 0 ? rc : 0;
}

void crawl_shared_set(struct crawl *c)
{
	const struct crawl_fleet *f = c->opts->fleet;

	c->resumed->engine.view.shared = !f ? (struct shared){ 0 } :
	                                 c->report->resumed ? c->shared : f->shared;
}

void crawl_grants_begin(struct crawl *c)
{
	const struct crawl_fleet *f = c->opts->fleet;
	struct engine *e = &c->resumed->engine;

	if (!f)
		return;
	if (f->granted > e->cycle.granted)
		engine_grant(e, f->granted - e->cycle.granted);
	c->report->cycle.budget = e->cycle.granted;
}

int crawl_grants_ask(struct crawl *c, struct err *err)
{
	const struct crawl_fleet *f = c->opts->fleet;
	struct engine *e = &c->resumed->engine;
	double now = crawl_seconds();
	uint32_t granted = e->cycle.granted;
	int rc;

	if (!f || c->grants_over || now - c->grants_asked < ASK_SECONDS ||
	    !engine_wants_grant(e, &(struct asking){ .hops = true }) || crawl_stopped(c) ||
	    fetch_over(c->fetch) || !crawl_is_idle(c, 0, now))
		return 0;
	c->grants_asked = now;
	rc = f->more(f->arg, e, crawl_pending(c) ? CRAWL_CONNECTIONS_IDLE : CRAWL_ALL_IDLE, &granted,
	             err);
	if (rc < 0)
		return rc;
	c->grants_over = rc == CRAWL_NO_MORE;
	if (granted > e->cycle.granted)
		engine_grant(e, granted - e->cycle.granted);
	c->report->cycle.budget = e->cycle.granted;
	return 0;
}

bool crawl_grants_wait(struct crawl *c)
{
	struct timespec t = { 0, 50000000 };

	if (!c->opts->fleet || c->grants_over || crawl_stopped(c) || fetch_over(c->fetch) ||
	    !c->asking.wants_grant)
		return false;
	nanosleep(&t, NULL);
	return true;
}

/* ---- pauses ---- */

static double fleet_seconds(const struct crawl *c)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - c->opts->fleet->ahead;
}

struct pauses { struct buf text; double now; };

static void add_pause(void *arg, const char *host, double seconds)
{
	struct pauses *p = arg;

	buf_printf(&p->text, "%s %" PRId64 "\n", host, (int64_t)((p->now + seconds) * 1000) + 1);
}

int crawl_pauses_save(struct crawl *c, struct err *err)
{
	struct pauses p;
	int rc;

	if (!c->opts->fleet || !c->fetch)
		return 0;
	p.now = fleet_seconds(c);
	buf_init(&p.text, PAUSES_SIZE_MAX);
	fetch_pauses(c->fetch, add_pause, &p);
	rc = store_state_put(c->store, STORE_OF_SHARD, PAUSES_KEY,
	                     p.text.size ? buf_text(&p.text) : NULL, err);
	buf_release(&p.text);
	return rc;
}

int crawl_pauses_load(struct crawl *c, struct err *err)
{
	char *text = NULL, *line, *save = NULL;
	double now;
	int rc;

	if (!c->opts->fleet)
		return 0;
	rc = store_state_get(c->store, STORE_OF_SHARD, PAUSES_KEY, &text, err);
	now = fleet_seconds(c);
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *space = strrchr(line, ' ');
		double left = space ? (double)strtoll(space + 1, NULL, 10) / 1000 - now : 0;

		/* a longer one is no pause: somebody else wrote it */
		if (left > 0 && left < 86400)
			fetch_hold_host(c->fetch, line, (size_t)(space - line), left);
	}
	free(text);
	return rc < 0 ? rc : 0;
}

/* ---- sending ---- */

bool crawl_follows(void *arg, const char *url, size_t size)
{
	const struct crawl *c = arg;
	const struct crawl_fleet *f = c->opts->fleet;

	return !f || c->apart || f->follows(f->arg, url, size);
}
