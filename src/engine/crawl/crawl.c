/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl.c - a cycle on the live web, around the source of its pages (crawl_source.c) and its
 * row (crawl_row.c); see crawl.h.
 */
#include "engine/crawl/crawl_inner.h"
#include "engine/crawl/life_inner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/archive/dictionary.h"
#include "engine/book/last_cycle.h"
#include "engine/book/lock.h"

#define FETCH_HOSTS_MAX 4000000      /* some 200 bytes each */

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
	int rc;

	if (gethostname(host, sizeof host))
		snprintf(host, sizeof host, "localhost");
	host[sizeof host - 1] = '\0';
	for (char *s = host; *s; s++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *s))
			*s = '_';
	/* another for every run: ids of records must never come again */
	o.seed = hash_bytes(&(int64_t[]){ (int64_t)time(NULL), getpid(), (int64_t)clock() },
	                    3 * sizeof(int64_t), c->report->cycle.number);
	c->batch.packing.compress = c->opts->compress;
	if (c->opts->compress == WARC_ZSTD) {
		rc = dictionary_open(&c->batch.dictionary, c->store, c->opts->warc_folder, true,
		                     err);
		if (rc < 0)
			return rc;
		c->batch.packing.dictionary = c->batch.dictionary;
	}
	o.packing = c->batch.packing;
	return warc_writer_open(&c->batch.warc, &o, err);
}

/* The engine's cycle, begun or gone on with, on the pages that the source brings. */
static int run_cycle(struct crawl *c, const struct crawl_made *made, struct err *err)
{
	struct crawl_report *rep = c->report;
	struct engine *e = &c->resumed->engine;
	int rc = 0;

	crawl_shared_set(c);
	if (rep->resumed) {
		e->rules.planned_with = made->grants.planned_with.n ? made->grants.planned_with.v : NULL;
		engine_continue(e, rep->cycle.time, c->budget, made->events.v, made->events.n,
		                made->planned_after.v, made->planned_after.n, c->same_policy);
		e->rules.planned_with = NULL;
		crawl_rounds_made(c, made);
		/* of pages that have no visit: a stop cut them off */
		if (!c->life && rep->cycle.downloads > e->cycle.n_spent)
			engine_charge(e, rep->cycle.downloads - e->cycle.n_spent);
	} else {
		engine_begin(e, rep->cycle.time, c->budget);
	}
	crawl_grants_begin(c);
	/* the cycle is known before its first request; offers of the one before may still be
	 * told of */
	crawl_begin(c);
	c->batch.looked = c->batch.began;
	if (!rep->resumed)
		rc = store_leases_forget(c->store, rep->cycle.number - 1, err);
	if (rc == 0 && (rc = crawl_commit(c, err)) == 0)
		rc = made->goal == GOAL_ALIVE ? live_run(c, err) : crawl_pages(c, err);
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
		rc = life_start(c, err);
	e->rules.max_age = c->opts->max_age;
	e->retry.share = c->opts->retry_share;
	if (made.goal != GOAL_ALIVE) {
		e->ceiling.share = c->opts->site_share;
		e->ceiling.usual = true;
		e->rules.metered = c->opts->fleet != NULL;
		if (c->opts->fleet)
			e->ceiling.fleet = (struct ceiling_fleet){ c->opts->fleet->budget,
			                                           c->opts->fleet->pages };
	}
	if (rc == 0 && c->report->resumed)
		rc = crawl_made_load(c, &made, err);
	if (rc == 0)
		rc = crawl_reserve(c, &made, err);
	if (rc == 0)
		rc = run_cycle(c, &made, err);
	crawl_made_release(&made);
	return rc;
}

/* The archive is whole; or it is as after a crash, and cut back to what the store knows. */
static int end_archive(struct crawl *c, struct err *err)
{
	struct err second;
	int rc = 0;

	/* the tables are on the disk before the file gets its name: or a loss of power leaves a
	 * complete file that no row knows */
	if (c->batch.is_kept && c->batch.warc)
		rc = store_sync(c->store, err);
	if (c->batch.is_kept && rc == 0)
		return warc_writer_close(c->batch.warc, err);
	warc_writer_abandon(c->batch.warc);
	if (rc < 0)
		return rc;
	if (c->opts->fleet)             /* the shard may be another's: the next start of this worker */
		return 0;
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

static int take_fetch(struct crawl *c, const struct fetch_options *o, struct err *err)
{
	if (!c->opts->fetcher || !*c->opts->fetcher)
		return fetch_new(&c->fetch, o, err);
	c->fetch = *c->opts->fetcher;
	*c->opts->fetcher = NULL;
	fetch_again(c->fetch, o);
	return 0;
}

static bool is_outside(void *arg, const char *url, size_t size)
{
	return (care_rules_say(arg, url, size) & CARE_SCOPE) != 0;
}

static int prepare_cycle(struct crawl *c, struct resumed *r, struct last_cycle *last,
                         struct err *err)
{
	const struct crawl_opts *o = c->opts;
	struct crawl_report *rep = c->report;
	struct resume_opts ro = { .cycle_seconds = o->cycle_seconds, .goal = o->goal,
	                          .weight = o->weight,
	                          .snapshot = o->goal == GOAL_CHANGED };
	struct fetch_options fo = o->fetch;
	int rc;

	if ((rc = crawl_repair(c->store, o->warc_folder, rep, err)) < 0 ||
	    (rc = crawl_row_begin(c, last, err)) < 0 ||
	    (o->goal == GOAL_CHANGED && ((rc = crawl_row_aim(c, err)) < 0 ||
	                                 (rc = crawl_shards_keep(c, &ro.n_shards, err)) < 0)))
		return rc;
	fo.spend = crawl_spend;
	fo.sent = crawl_sent;
	fo.cleared = crawl_cleared;
	if (o->fleet) {
		fo.follows = crawl_follows;
		fo.send_until = o->fleet->send_until;
		fo.polite.wait_first = o->fleet->wait_first;
	}
	fo.robots_load = crawl_robots_load;
	fo.robots_save = crawl_robots_save;
	fo.arg = c;
	fo.seed = rep->cycle.seed;
	fo.decode = o->goal == GOAL_ALIVE;      /* else the readers do it */
	if (o->goal == GOAL_ALIVE)
		life_fetch_options(&fo);
	if ((rc = take_fetch(c, &fo, err)) < 0 || (rc = crawl_rests_load(c, err)) < 0 ||
	    (rc = crawl_pauses_load(c, err)) < 0 ||
	    (rc = crawl_discover(c, err)) < 0)
		return rc;
	if ((rep->resumed && o->goal != GOAL_ALIVE && (rc = crawl_counts_load(c, err)) < 0) ||
	    (rc = crawl_row_lapse(c, err)) < 0)
		return rc;
	if (rep->resumed && o->goes_on)
		o->goes_on(o->arg, rep);
	ro.aim = rep->aim;
	ro.policy = rep->policy;
	ro.seed = rep->cycle.seed;
	/* a run that looks for life knows nothing of those before it */
	ro.before_cycle = o->goal == GOAL_ALIVE ? 1 : rep->cycle.number;
	if (o->scope) {
		ro.leave_out = is_outside;
		ro.leave_arg = o->scope;
	}
	rc = resume_again(r, c->store, &ro, err);
	if (rc < 0)
		return rc;
	rep->engine_kept = rc > 0;
	c->resumed = r;
	if (!rep->cycle.pages)
		rep->cycle.pages = r->has.loaded.pages.n;
	crawl_row_budget(c, last->any && last->row.open);
	if (o->goal == GOAL_ALIVE)
		return 0;
	if ((rc = crawl_moved_load(c, err)) < 0 || (rc = load_words(c, err)) < 0 || (rc = open_archive(c, err)) < 0)
		return rc;
	return crawl_start_reading(c, err);
}

/* Redirects may lead to ever new hosts, and a fetcher forgets none. */
static bool may_keep_fetch(const struct crawl *c)
{
	size_t most = c->opts->fetch_hosts_max ? c->opts->fetch_hosts_max : FETCH_HOSTS_MAX;

	return c->opts->fetcher && c->fetch && !fetch_pending(c->fetch) &&
		fetch_known(c->fetch) <= most;
}

static void release(struct crawl *c)
{
	life_free(c->life);
	crawl_stop_reading(c);
	if (may_keep_fetch(c))
		*c->opts->fetcher = c->fetch;
	else
		fetch_free(c->fetch);
	discover_free(c->discover);
	care_rules_release(&c->care);
	crawl_moved_release(c);
	vec_release(&c->reserved);
	vec_release(&c->touched.v);
	vec_release(&c->sent.read);
	vec_release(&c->sent.asked);
	vec_release(&c->asking.dropped);
	crawl_left_release(c);
	crawl_quiet_release(c);
	buf_release(&c->robots.text);
	free(c->doubt);
	map_release(&c->sites_met);
	crawl_free_readers(c);
	warc_dictionary_free(c->batch.dictionary);
	import_words_release(&c->batch.words);
}

int crawl_cycle(struct store *s, const struct crawl_opts *opts, struct crawl_report *ret,
                struct err *err)
{
	struct crawl c = { .store = s, .opts = opts, .report = ret };
	struct resumed own = { 0 }, *r = opts->resumed ? opts->resumed : &own;
	struct last_cycle last = { 0 };
	double began = crawl_seconds();
	struct err closing;
	int rc, rc2 = 0;

	*ret = (struct crawl_report){ 0 };
	rc = store_lock(s, err);
	if (rc < 0)
		return rc;
	rc = prepare_cycle(&c, r, &last, err);
	if (rc == 0)
		rc = crawl_row_end(&c, began, run_engine(&c, err), err);
	if (policy_explain(r->policy))
		snprintf(ret->explain, sizeof ret->explain, "%s", policy_explain(r->policy));
	if (c.life)
		life_estimate(&c);
	crawl_counts_end(&c);
	if (c.batch.warc)
		rc2 = end_archive(&c, rc < 0 ? &closing : err);
	release(&c);
	if (rc == 0 && rc2 == 0 && opts->resumed && !ret->resumed)
		resume_ended(r, ret->cycle.number);
	else
		resume_release(r);
	store_unlock(s);
	return rc < 0 ? rc : rc2;
}
