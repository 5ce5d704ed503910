/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl.c - a cycle on the live web, around the source of its pages (crawl_source.c);
 * see crawl.h.
 *
 * The cycle's row is written with every batch and is open until the last.  A row that
 * is open at the start is gone on with: its policy, seed, time and budget, and the
 * answers it had (engine_continue()).
 */
#include "engine/crawl/crawl_inner.h"
#include "engine/crawl/live_inner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/book/keep.h"

#define KEEP_HOSTS 4000000      /* some 200 bytes each */

void crawl_stop_asking(struct crawl *c)
{
	fetch_stop(c->fetch);
	if (!c->stop_said && c->opts->stopping)
		c->opts->stopping(c->opts->arg, fetch_active(c->fetch));
	c->stop_said = true;
}

static int open_archive(struct crawl *c, struct err *err)
{
	char host[65];
	struct warc_writer_options o = { .folder = c->opts->warc_folder, .prefix = "freshet",
		.host = host, .software = "freshet/" FRESHET_VERSION,
		.robots = c->opts->fetch.ignore_robots ? "ignore" : "obey",
		.user_agent = c->opts->fetch.user_agent };

	if (gethostname(host, sizeof host))
		snprintf(host, sizeof host, "localhost");
	host[sizeof host - 1] = '\0';
	for (char *s = host; *s; s++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *s))
			*s = '_';
	/* another for every run: ids of records must never come again */
	o.seed = hash_bytes(&(int64_t[]){ (int64_t)time(NULL), getpid(), (int64_t)clock() },
	                    3 * sizeof(int64_t), c->report->cycle.number);
	return warc_writer_open(&c->batch.warc, &o, err);
}

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
		               "`freshet end`; --new ends it and begins another", last->row.number);
	if (last->any && last->row.open && !same && !c->opts->anew)
		return err_set(err, E_USAGE, "cycle %u was broken off: end it first with `freshet %s`",
		               last->row.number, alive ? "cycle" : "live");
	c->report->resumed = same && (last->row.open || alive) && !c->opts->anew &&
		!(alive && c->opts->live.again);
	if (last->any && last->row.open && !c->report->resumed) {
		uint32_t lapsed;

		if ((rc = store_begin(c->store, err)) == 0 &&
		    (rc = crawl_sent_lapse(c, &last->row, &lapsed, err)) == 0 &&
		    (rc = keep_end_cycle(c->store, last, err)) == 0)
			rc = store_commit(c->store, err);
	}
	return rc;
}

/* Begin the cycle's row, or take up the one that is open. */
static int begin_row(struct crawl *c, struct last_cycle *last, struct err *err)
{
	struct crawl_report *rep = c->report;
	int64_t now = c->opts->now ? c->opts->now : (int64_t)time(NULL);
	int rc = keep_last_cycle(c->store, last, err);

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
			.time = now,
			.seed = c->opts->seed, .goal = (uint8_t)c->opts->goal,
		};
		snprintf(rep->policy, sizeof rep->policy, "%s", c->opts->policy);
	}
	rep->cycle.policy = (struct text){ rep->policy, strlen(rep->policy) };
	return 0;
}

/* What the last start had sent and not kept is spent, and not asked for again. */
static int lapse(struct crawl *c, struct err *err)
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

/* The engine's cycle, begun or gone on with, on the pages that the source brings. */
static int run_cycle(struct crawl *c, const struct crawl_made *made, struct err *err)
{
	struct crawl_report *rep = c->report;
	struct engine *e = &c->resumed->engine;
	int rc;

	if (rep->resumed) {
		engine_continue(e, rep->cycle.time, c->budget, made->events.v, made->events.n,
		                made->planned_after.v, made->planned_after.n, c->same_policy);
		crawl_rounds_made(c, made);
		/* of pages that have no visit: a stop cut them off */
		if (!c->live && rep->cycle.downloads > e->cycle.n_spent)
			engine_charge(e, rep->cycle.downloads - e->cycle.n_spent);
	} else {
		engine_begin(e, rep->cycle.time, c->budget);
	}
	/* the cycle is known before its first request */
	if ((rc = crawl_begin(c, err)) == 0 && (rc = crawl_commit(c, err)) == 0) {
		c->batch.pause_began = c->batch.began;
		rc = made->goal == GOAL_ALIVE ? live_run(c, err) : crawl_pages(c, err);
	}
	engine_end(e);
	rep->guarantee_broken = e->cycle.guarantee_broken;
	rep->resting = e->retry.n_resting;
	rep->retried = e->retry.n_tried;
	rep->cycle.seconds_plan += e->cycle.plan_seconds;
	crawl_counts_ceiling(c);
	return rc;
}

static int run_engine(struct crawl *c, struct err *err)
{
	struct engine *e = &c->resumed->engine;
	struct crawl_made made = { .goal = c->opts->goal };
	int rc = 0;

	if (made.goal == GOAL_ALIVE)
		rc = live_start(c, err);
	e->rules.max_age = c->opts->max_age;
	e->retry.share = c->opts->retry_share;
	if (made.goal != GOAL_ALIVE)
		e->ceiling = (struct ceiling){ .share = c->opts->site_share, .usual = true };
	if (rc == 0 && c->report->resumed)
		rc = crawl_made_load(c, &made, err);
	if (rc == 0)
		rc = crawl_discover_reserve(c, &made, err);
	if (rc == 0)
		rc = run_cycle(c, &made, err);
	crawl_made_release(&made);
	return rc;
}

/* The last commit: the cycle is over, unless it was stopped. */
static int end_row(struct crawl *c, double began, int rc, struct err *err)
{
	struct err second;
	int rc2;

	c->report->cycle.seconds_total += crawl_seconds() - began;
	if (rc < 0 && rc != E_STOP) {
		store_rollback(c->store);
		(void)!store_sent_clear(c->store, &second);     /* no page's fault: ask again */
		return rc;
	}
	c->report->cycle.open = rc == E_STOP;
	rc2 = crawl_robots_forget(c, &second);
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
	if (rc2 == 0 && rc == 0 && !c->report->answered &&
	    c->report->visits > c->report->reasons[FETCH_LAPSED])
		return err_set(err, E_NET, "nothing could be reached: is the network up, and is a proxy "
		               "needed (--proxy)?");
	return rc2 < 0 ? rc2 : rc;
}

/* The archive is whole; or it is as after a crash, and cut back to what the store knows. */
static int end_archive(struct crawl *c, struct err *err)
{
	struct err second;

	if (c->batch.is_kept)
		return warc_writer_close(c->batch.warc, err);
	warc_writer_abandon(c->batch.warc);
	(void)!crawl_repair(c->store, c->opts->warc_folder, c->report, &second);
	return 0;
}

/* Find out whether words are counted, and load those there are. */
static int load_words(struct crawl *c, struct err *err)
{
	enum crawl_words how = c->opts->words;
	int rc;

	if (how == CRAWL_WORDS_NO)
		return 0;
	rc = import_words_load(&c->batch.words, c->store, c->opts->stem, false, err);
	c->batch.count_words = how == CRAWL_WORDS_YES || c->batch.words.n_stored ||
		(policy_needs(c->resumed->policy) & NEED_WORDS);
	return rc;
}

/* A number may pass that of the pages: redirects want requests, too. */
uint32_t crawl_budget(struct share s, uint32_t n_pages)
{
	uint64_t n = share_of(s, s.percent ? n_pages : UINT32_MAX);

	return (uint32_t)n;
}

/* A run that looks for life may have no budget; given again, it comes on top. */
static void set_budget(struct crawl *c, bool open)
{
	const struct share *b = &c->opts->budget;
	uint32_t n = c->resumed->has.loaded.n_here;
	double most = b->percent ? b->value / 100 * n : b->value;
	double all = (LIVENESS_REDIRECTS_MAX + 3.0) * c->resumed->has.loaded.pages.n + 1000;
	struct store_cycle *row = &c->report->cycle;

	if (c->opts->goal != GOAL_ALIVE) {
		if (!c->report->resumed && !c->report->discovery.on)
			row->budget = crawl_budget(*b, n);
	} else if (b->value <= 0) {
		row->budget = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
	} else if (!c->report->resumed || !open) {
		most += row->downloads;
		row->budget = most < 1 ? 1 : most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	}
	c->budget = row->budget;
}

static int take_fetch(struct crawl *c, const struct fetch_options *o, struct err *err)
{
	if (!c->opts->keep || !*c->opts->keep)
		return fetch_new(&c->fetch, o, err);
	c->fetch = *c->opts->keep;
	*c->opts->keep = NULL;
	fetch_again(c->fetch, o);
	return 0;
}

static int prepare_cycle(struct crawl *c, struct resumed *r, struct last_cycle *last,
                         struct err *err)
{
	const struct crawl_opts *o = c->opts;
	struct crawl_report *rep = c->report;
	struct resume_opts ro = { .cycle_seconds = o->cycle_seconds, .goal = o->goal,
	                          .aim = o->aim, .weight = o->weight,
	                          .keep = o->goal == GOAL_CHANGED };
	struct fetch_options fo = o->fetch;
	int rc;

	if ((rc = crawl_repair(c->store, o->warc_folder, rep, err)) < 0 ||
	    (rc = begin_row(c, last, err)) < 0)
		return rc;
	fo.spend = crawl_spend;
	fo.sent = crawl_sent;
	fo.robots_load = crawl_robots_load;
	fo.robots_save = crawl_robots_save;
	fo.arg = c;
	fo.seed = rep->cycle.seed;
	fo.decode = o->goal == GOAL_ALIVE;      /* else the readers do it */
	if (o->goal == GOAL_ALIVE)
		live_fetch_options(&fo);
	if ((rc = take_fetch(c, &fo, err)) < 0 || (rc = crawl_rests_load(c, err)) < 0 ||
	    (rc = crawl_discover(c, err)) < 0)
		return rc;
	if ((rep->resumed && o->goal != GOAL_ALIVE && (rc = crawl_counts_load(c, err)) < 0) ||
	    (rc = lapse(c, err)) < 0)
		return rc;
	if (rep->resumed && o->goes_on)
		o->goes_on(o->arg, rep);
	rep->aim = o->aim;
	ro.policy = rep->policy;
	ro.seed = rep->cycle.seed;
	/* a run that looks for life knows nothing of those before it */
	ro.before_cycle = o->goal == GOAL_ALIVE ? 1 : rep->cycle.number;
	rc = resume(r, c->store, &ro, err);
	if (rc < 0)
		return rc;
	c->resumed = r;
	set_budget(c, last->any && last->row.open);
	if (o->goal == GOAL_ALIVE)
		return 0;
	if ((rc = load_words(c, err)) < 0 || (rc = open_archive(c, err)) < 0)
		return rc;
	return crawl_start_reading(c, err);
}

/* Redirects may lead to ever new hosts, and a fetcher forgets none. */
static bool may_keep_fetch(const struct crawl *c)
{
	size_t most = c->opts->keep_hosts ? c->opts->keep_hosts : KEEP_HOSTS;

	return c->opts->keep && c->fetch && !fetch_pending(c->fetch) &&
		fetch_known(c->fetch) <= most;
}

static void release(struct crawl *c)
{
	live_free(c->live);
	crawl_stop_reading(c);
	if (may_keep_fetch(c))
		*c->opts->keep = c->fetch;
	else
		fetch_free(c->fetch);
	discover_free(c->discover);
	vec_release(&c->reserved);
	vec_release(&c->sent.read);
	crawl_left_release(c);
	crawl_quiet_release(c);
	buf_release(&c->robots.text);
	free(c->doubt);
	crawl_free_readers(c);
	import_words_release(&c->batch.words);
}

int crawl_cycle(struct store *s, const struct crawl_opts *opts, struct crawl_report *ret,
                struct err *err)
{
	struct crawl c = { .store = s, .opts = opts, .report = ret };
	struct resumed r = { 0 };
	struct last_cycle last = { 0 };
	double began = crawl_seconds();
	struct err closing;
	int lock, rc, rc2 = 0;

	*ret = (struct crawl_report){ 0 };
	rc = keep_lock(opts->warc_folder, &lock, err);
	if (rc < 0)
		return rc;
	rc = prepare_cycle(&c, &r, &last, err);
	if (rc == 0)
		rc = end_row(&c, began, run_engine(&c, err), err);
	if (policy_explain(r.policy))
		snprintf(ret->explain, sizeof ret->explain, "%s", policy_explain(r.policy));
	if (c.live)
		live_estimate(&c);
	crawl_counts_end(&c);
	if (c.batch.warc)
		rc2 = end_archive(&c, rc < 0 ? &closing : err);
	release(&c);
	resume_release(&r);
	if (lock >= 0)
		close(lock);
	return rc < 0 ? rc : rc2;
}
