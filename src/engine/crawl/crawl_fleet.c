/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_fleet.c - a cycle of one shard of a fleet: its budget comes in parts, and hosts that
 * were asked just now are known to whoever has the shard next.  See struct crawl_fleet.
 *
 * The state `shards` has how many the fleet had when the cycle began: scores depend on it
 * (view.n_shards).  The state `grants` has what the shard expected of the cycle, what all shards
 * had learnt together when it began (view.shared), and for each
 * round what was granted before it was planned: a cycle that goes on plans the same rounds
 * again (engine_rules.planned_with).  The state `pauses`, written when the shard is given back,
 * has a line for each host: its name and until when it must not be asked, in milliseconds of
 * the fleet's clock.
 */
#include "engine/crawl/crawl_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS_KEY "shards"
#define GRANTS_KEY "grants"
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

/* A shard that is split while its cycle is open is still planned as one of so many: its
 * rounds were. */
int crawl_shards_keep(struct crawl *c, uint32_t *ret, struct err *err)
{
	char number[16], *text = NULL;
	int rc;

	*ret = c->opts->n_shards;
	if (!*ret)
		return 0;
	snprintf(number, sizeof number, "%u", *ret);
	if (!c->report->resumed)
		return store_state_put(c->store, STORE_OF_SHARD, SHARDS_KEY, number, err);
	rc = store_state_get(c->store, STORE_OF_SHARD, SHARDS_KEY, &text, err);
	if (rc >= 0)
		*ret = rc > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;  /* begun by a version before */
	free(text);
	return rc < 0 ? rc : 0;
}

/* ---- grants ---- */

int crawl_grants_save(struct crawl *c, struct err *err)
{
	const struct cycle *e = &c->resumed->engine.cycle;
	struct buf text;
	int rc;

	if (!c->opts->fleet || c->grants_kept == e->planned_with.n + 1)
		return 0;
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%u %u", c->report->cycle.number, c->resumed->engine.view.budget);
	for (int i = 0; c->resumed->engine.view.shared.any && i < SHARED_SUMS; i++)
		buf_printf(&text, " %.17g", c->resumed->engine.view.shared.sum[i]);
	for (size_t i = 0; i < e->planned_with.n; i++)
		if (!i || e->planned_with.v[i] != e->planned_with.v[i - 1])
			buf_printf(&text, "\n%zu %u", i + 1, e->planned_with.v[i]);
	rc = store_state_put(c->store, STORE_OF_SHARD, GRANTS_KEY, buf_text(&text), err);
	buf_release(&text);
	c->grants_kept = e->planned_with.n + 1;
	return rc;
}

/* The sums behind the first two numbers of the line, if they are there. */
static struct shared read_shared(const char *line)
{
	struct shared s = { .any = true };
	char *end = NULL;

	for (int i = 0; i < 2 + SHARED_SUMS; i++, line = end) {
		double x = strtod(line, &end);

		if (end == line)
			return (struct shared){ 0 };
		if (i >= 2)
			s.sum[i - 2] = x;
	}
	return s;
}

/* What the cycle that goes on was granted, round by round. */
int crawl_grants_load(struct crawl *c, struct crawl_made *m, struct err *err)
{
	char *text = NULL, *line, *save = NULL;
	unsigned cycle = 0, expected = 0, round, granted;
	uint32_t with = 0;
	int rc = store_state_get(c->store, STORE_OF_SHARD, GRANTS_KEY, &text, err);

	if (rc <= 0)
		return rc;
	line = strtok_r(text, "\n", &save);
	if (line && sscanf(line, "%u %u", &cycle, &expected) == 2 &&
	    cycle == c->report->cycle.number) {
		c->budget = expected ? expected : 1;
		c->shared = read_shared(line);
		for (size_t i = 0; i < m->planned_after.n; i++)
			vec_push(&m->planned_with, 0);
		line = strtok_r(NULL, "\n", &save);
		for (size_t i = 0; i < m->planned_with.n; i++) {
			while (line && sscanf(line, "%u %u", &round, &granted) == 2 && round <= i + 1) {
				with = granted;
				line = strtok_r(NULL, "\n", &save);
			}
			m->planned_with.v[i] = with;
		}
	}
	free(text);
	return 0;
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
