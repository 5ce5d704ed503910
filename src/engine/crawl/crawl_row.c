/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_row.c - the row of a cycle: begun, gone on with, ended.
 *
 * The row is written with every batch and is open until the last.  A row that is open at the
 * start is gone on with: its policy, seed, time and budget, and the answers it had
 * (engine_continue()).
 */
#include "engine/crawl/crawl_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book/last_cycle.h"

/* Is the last cycle to be gone on with?  One that was broken off is, unless it is to be
 * ended; a run that looked for life is also when it ended, for its list is still the
 * same. */
static int check_last(struct crawl *c, struct last_cycle *last, struct err *err)
{
	bool same = last->any && last->row.goal == (uint8_t)c->opts->goal;
	bool alive = c->opts->goal == GOAL_ALIVE;
	int rc = 0;

	if (last->any && last->row.open && last->row.clients && !c->opts->anew)
		return err_set(err, E_USAGE, "cycle %u is open for other crawlers: end it first with "
		               "`freshet end`%s", last->row.number,
		               alive ? "" : "; --new ends it and begins another");
	if (last->any && last->row.open && !same && !c->opts->anew)
		return err_set(err, E_USAGE, "cycle %u was broken off: end it first with `freshet %s`",
		               last->row.number, alive ? "cycle" : "live");
	c->report->resumed = same && (last->row.open || alive) && !c->opts->anew &&
		!(alive && c->opts->life.again);
	if (last->any && last->row.open && !c->report->resumed) {
		uint32_t lapsed;

		if ((rc = store_begin(c->store, err)) == 0 &&
		    (rc = crawl_sent_lapse(c, &last->row, &lapsed, err)) == 0 &&
		    (rc = last_cycle_end(c->store, last, err)) == 0)
			rc = store_commit(c->store, err);
	}
	return rc;
}

int crawl_row_begin(struct crawl *c, struct last_cycle *last, struct err *err)
{
	struct crawl_report *rep = c->report;
	int64_t now = c->opts->now ? c->opts->now : crawl_now(c);
	int rc = last_cycle_read(c->store, last, err);

	if (rc < 0)
		return rc;
	/* whatever the clock does, our time goes on: histories are ordered by it */
	if (last->any && now <= last->row.time) {
		rep->clock_behind = last->row.time - now;
		now = last->row.time + 1;
	}
	rc = check_last(c, last, err);
	if (rc < 0)
		return rc;
	if (rep->resumed) {
		rep->cycle = last->row;
		snprintf(rep->policy, sizeof rep->policy, "%s",
		         last->row.open ? last->policy : c->opts->policy);
		rep->cycle.open = true;
		c->same_policy = !strcmp(rep->policy, last->policy);
	} else {
		rep->cycle = (struct store_cycle){
			.number = last->any ? last->row.number + 1 : 1, .open = true,
			.time = now, .owed = last_cycle_owed(last),
			.seed = c->opts->seed, .goal = (uint8_t)c->opts->goal,
		};
		snprintf(rep->policy, sizeof rep->policy, "%s", c->opts->policy);
	}
	rep->cycle.policy = (struct text){ rep->policy, strlen(rep->policy) };
	return 0;
}

int crawl_row_aim(struct crawl *c, struct err *err)
{
	char *text = NULL;
	int rc;

	c->report->aim = c->opts->aim;
	if (!c->report->resumed)
		return store_state_put(c->store, STORE_OF_SHARD, "aim", aim_name(c->opts->aim), err);
	rc = store_state_get(c->store, STORE_OF_SHARD, "aim", &text, err);
	if (rc > 0)
		aim_find(text, &c->report->aim);
	free(text);
	return rc < 0 ? rc : 0;
}

int crawl_row_lapse(struct crawl *c, struct err *err)
{
	struct crawl_report *rep = c->report;
	int rc = 0;

	if (rep->resumed) {
		if ((rc = store_begin(c->store, err)) < 0 ||
		    (rc = crawl_sent_lapse(c, &rep->cycle, &rep->lapsed, err)) < 0)
			return rc;
		if (c->opts->goal != GOAL_ALIVE) {
			rep->visits += rep->lapsed;
			rep->reasons[FETCH_LAPSED] += rep->lapsed;
			rc = crawl_counts_save(c, err);
		}
		if (rc == 0 && (rc = store_cycle_put(c->store, &rep->cycle, err)) == 0)
			rc = store_commit(c->store, err);
	}
	return rc < 0 ? rc : store_sent_clear(c->store, err);
}

/* Did the rules keep us from every page?  Then the network is not to blame. */
static bool left_alone(const struct crawl_report *r)
{
	return r->visits == r->reasons[FETCH_ROBOTS] + r->reasons[FETCH_BACKOFF] +
	                    r->reasons[FETCH_CRAWL_DELAY];
}

int crawl_row_end(struct crawl *c, double began, int rc, struct err *err)
{
	struct err second;
	int rc2;

	c->report->cycle.seconds_total += crawl_seconds() - began;
	if (rc < 0 && rc != E_STOP) {
		store_rollback(c->store);
		if (!c->opts->fleet && !store_is_far(c->store))
			(void)!store_sent_clear(c->store, &second);     /* no page's fault: ask again */
		return rc;
	}
	c->report->cycle.open = rc == E_STOP;
	rc2 = crawl_robots_forget(c, &second);
	if (rc2 == 0)
		rc2 = crawl_pauses_save(c, &second);
	if (rc2 == 0)
		rc2 = crawl_commit(c, &second);
	store_rollback(c->store);
	if (rc2 == 0)
		rc2 = store_sent_clear(c->store, &second);
	c->batch.is_kept = rc2 == 0;
	if (rc2 < 0)
		*err = second;          /* worse than being stopped */
	if (rc2 == 0 && rc == 0 && c->report->visits && !c->report->answered &&
	    c->report->reasons[FETCH_GATE] == c->report->visits)
		return err_set(err, E_NET, "no page has a public address: open networks of your own by --allow-net CIDR (127.0.0.0/8 "
		               "is this machine)");
	if (rc2 == 0 && rc == 0 && c->report->visits && !c->report->answered && left_alone(c->report))
		return err_set(err, E_NET, "no page may be asked now: robots.txt forbids it or cannot be "
		               "had, or the hosts want to be left alone (see `freshet status --failing`)");
	if (rc2 == 0 && rc == 0 && !c->report->answered &&
	    c->report->visits > c->report->reasons[FETCH_LAPSED])
		return err_set(err, E_NET, "nothing could be reached: is the network up, and is a proxy "
		               "needed (--proxy), or one set that does not answer?");
	return rc2 < 0 ? rc2 : rc;
}

/* A number may pass that of the pages: redirects want requests, too. */
void crawl_row_budget_of(struct crawl *c, uint32_t n_pages)
{
	const struct share *b = &c->opts->budget;
	struct store_cycle *row = &c->report->cycle;

	row->budget = (uint32_t)share_of(*b, b->percent ? n_pages : UINT32_MAX);
	c->report->taken_off = last_cycle_pay(row);
}

/* A run that looks for life may have no budget; given again, it comes on top. */
void crawl_row_budget(struct crawl *c, bool open)
{
	const struct share *b = &c->opts->budget;
	uint32_t n = c->resumed->has.loaded.n_here;
	double most = b->percent ? b->value / 100 * n : b->value;
	double all = (LIVENESS_REDIRECTS_MAX + 3.0) * c->resumed->has.loaded.pages.n + 1000;
	struct store_cycle *row = &c->report->cycle;

	if (c->opts->goal != GOAL_ALIVE) {
		if (!c->report->resumed && !c->report->discovery.on)
			crawl_row_budget_of(c, n);
	} else if (b->value <= 0) {
		row->budget = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
	} else if (!c->report->resumed || !open) {
		most += row->downloads;
		row->budget = most < 1 ? 1 : most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	}
	c->budget = row->budget;
}
