/* SPDX-License-Identifier: Apache-2.0 */
/* demo_fleet.c - see demo_fleet.h. */
#include "cli/cmd/lab/demo_fleet.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "demo/postgres.h"
#include "engine/import/import.h"

#define TAKE 2                  /* shards of a worker at a time */
#define EVERY 86400             /* no cycle is due by the real clock */
#define LOOK_NS 100000000

struct demo_worker {
	struct demo_fleet *all;
	pthread_t thread;
	char name[24];
	bool runs;
	int rc;
	struct err err;
};

struct demo_fleet {
	struct demo_fleet_opts o;
	struct postgres *server;        /* NULL: --store names it */
	char *url;
	struct fleet *fleet;
	struct fleet_shard *shards;
	size_t n_shards;
	struct demo_worker *workers;
	int64_t every;                  /* of the demo's clock */
	volatile sig_atomic_t stop;
};

static int open_shard(const struct demo_fleet *f, int32_t shard, int64_t fence,
                      enum store_mode mode, struct store **ret, struct err *err)
{
	struct buf where;
	int rc;

	buf_init(&where, BUF_NO_LIMIT);
	fleet_url(f->url, shard, fence, NULL, &where);
	rc = store_open(ret, buf_text(&where), mode, err);
	buf_release(&where);
	return rc;
}

/* ---- the pages ---- */

static int fill_shard(struct demo_fleet *f, int32_t shard, struct err *err)
{
	struct fleet_lease lease;
	struct store *s = NULL;
	int rc = fleet_claim(f->fleet, "demo", 0, shard, &lease, err);

	if (rc == 0)
		return err_set(err, E_BUSY, "%s: shard %d is held by a worker", fleet_shown(f->fleet),
		               shard);
	if (rc > 0)
		rc = open_shard(f, shard, lease.fence, STORE_EXISTING, &s, err);
	if (rc < 0)
		return rc;
	struct import i = { .store = s, .now = f->o.world->now };

	for (size_t k = 0; k < f->o.n_urls && rc == 0; k++)
		if (fleet_shard_of(f->shards, f->n_shards,
		                   shard_hash(f->o.urls[k], strlen(f->o.urls[k]))) == shard)
			rc = import_url(&i, f->o.urls[k], err);
	store_close(s);
	return rc < 0 ? rc : fleet_release(f->fleet, &lease, err);
}

static int make_shards(struct demo_fleet *f, struct err *err)
{
	struct store *s = NULL;
	struct store_counts c = { 0 };
	int rc = store_open(&s, f->url, STORE_CREATE, err);

	if (rc == 0)
		rc = store_count(s, &c, err);
	store_close(s);
	if (rc == 0 && c.pages)
		rc = err_set(err, E_USAGE, "%s: there are pages already: name a schema for the demo, "
		             "...&schema=demo", f->url);
	if (rc == 0)
		rc = fleet_open(&f->fleet, f->url, err);
	if (rc == 0)
		rc = fleet_make(f->fleet, TAKE * f->o.workers, err);
	if (rc == 0)
		rc = fleet_shards(f->fleet, &f->shards, &f->n_shards, err);
	for (size_t i = 0; i < f->n_shards && rc == 0; i++)
		rc = fill_shard(f, f->shards[i].shard, err);
	return rc;
}

/* ---- workers ---- */

/* Asked for when a cycle is due, which none is: see EVERY. */
static int no_schedule(void *arg, struct work_schedule *ret, struct err *err)
{
	(void)arg;
	*ret = (struct work_schedule){ .every = EVERY, .budget = { 1, false }, .policy = "oldest",
	                               .aim = "freshness" };
	(void)err;
	return 0;
}

static int crawl_part(void *arg, const struct work_part *p, struct crawl_report *ret,
                      struct err *err)
{
	const struct demo_fleet *f = arg;
	struct crawl_opts c = { .warc_folder = p->folder, .policy = p->cycle->policy,
		.budget = { .value = p->expected }, .fleet = p->fleet, .n_shards = p->n_shards,
		.anew = p->anew };

	f->o.set(f->o.arg, &c);
	aim_find(p->cycle->aim, &c.aim);
	c.now = f->o.world->now;
	c.cycle_seconds = f->every;
	c.stop = p->stop;
	return crawl_cycle(p->store, &c, ret, err);
}

static void *run_worker(void *arg)
{
	struct demo_worker *w = arg;
	struct work_opts o = { .url = w->all->url, .worker = w->name, .take = TAKE,
		.warc_folder = w->all->o.folder, .stop = &w->all->stop, .schedule = no_schedule,
		.crawl = crawl_part, .arg = w->all };

	w->rc = work_run(&o, &w->err);
	return NULL;
}

int demo_fleet_open(struct demo_fleet **ret, const struct demo_fleet_opts *o, struct err *err)
{
	struct demo_fleet *f = mem_zalloc(1, sizeof *f);
	int rc = 0;

	f->o = *o;
	f->workers = mem_zalloc(o->workers, sizeof *f->workers);
	if (!o->store)
		rc = postgres_start(&f->server, err);
	if (rc == 0) {
		f->url = mem_strdup(o->store ? o->store : postgres_url(f->server));
		rc = fleet_is_for(f->url) ? make_shards(f, err) :
		     err_set(err, E_USAGE, "--store: a fleet needs PostgreSQL: postgresql://host/database");
	}
	for (uint32_t i = 0; i < o->workers && rc == 0; i++) {
		struct demo_worker *w = &f->workers[i];

		w->all = f;
		snprintf(w->name, sizeof w->name, "worker-%u", i + 1);
		if (pthread_create(&w->thread, NULL, run_worker, w))
			err_no_memory();
		w->runs = true;
	}
	if (rc < 0)
		demo_fleet_close(f);
	else
		*ret = f;
	return rc;
}

void demo_fleet_close(struct demo_fleet *f)
{
	if (!f)
		return;
	stop_set(&f->stop);
	for (uint32_t i = 0; i < f->o.workers; i++)
		if (f->workers[i].runs)
			pthread_join(f->workers[i].thread, NULL);
	fleet_close(f->fleet);
	postgres_stop(f->server);
	free(f->shards);
	free(f->workers);
	free(f->url);
	free(f);
}

/* ---- cycles ---- */

static int check_workers(const struct demo_fleet *f, struct err *err)
{
	for (uint32_t i = 0; i < f->o.workers; i++)
		if (f->workers[i].rc < 0) {
			*err = f->workers[i].err;
			return f->workers[i].rc;
		}
	return 0;
}

int demo_fleet_cycle(struct demo_fleet *f, const char *policy, struct share budget,
                     int64_t every, const volatile sig_atomic_t *stop, struct fleet_cycle *ret,
                     struct err *err)
{
	struct timespec t = { 0, LOOK_NS };
	struct fleet_cycle c, last;
	double now, ahead;
	int rc;

	f->every = every;
	if ((rc = fleet_cycle_last(f->fleet, &last, err)) < 0 ||
	    (rc = fleet_now(f->fleet, &now, &ahead, err)) < 0)
		return rc;
	c = (struct fleet_cycle){ .number = last.number + 1, .slot = (int64_t)now, .every = EVERY,
	                          .aim = "freshness" };
	snprintf(c.policy, sizeof c.policy, "%s", policy);
	if ((rc = fleet_pages(f->fleet, &c.pages, err)) < 0)
		return rc;
	c.budget = (uint32_t)share_of(budget, c.pages);
	rc = fleet_cycle_open(f->fleet, &c, err);
	while (rc == 0) {
		rc = stop_is_set(stop) ? err_set(err, E_STOP, "stopped") : check_workers(f, err);
		if (rc == 0)
			rc = fleet_cycle_last(f->fleet, ret, err);
		if (rc < 0 || ret->done >= f->n_shards)
			break;
		nanosleep(&t, NULL);
	}
	return rc;
}

int demo_fleet_pages(struct demo_fleet *f, store_page_each *each, void *arg, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < f->n_shards && rc == 0; i++) {
		struct store *s = NULL;

		rc = open_shard(f, f->shards[i].shard, 0, STORE_READ, &s, err);
		if (rc == 0)
			rc = store_pages(s, 0, each, arg, err);
		store_close(s);
	}
	return rc;
}

uint32_t demo_fleet_shards(const struct demo_fleet *f)
{
	return (uint32_t)f->n_shards;
}

static int print_worker(void *arg, const struct fleet_worker *w, struct err *err)
{
	(void)arg, (void)err;
	printf("%-24s %10llu\n", w->worker, (unsigned long long)w->requests);
	return 0;
}

int demo_fleet_print(struct demo_fleet *f, struct err *err)
{
	/* they say how many when they stop */
	stop_set(&f->stop);
	for (uint32_t i = 0; i < f->o.workers; i++)
		if (f->workers[i].runs) {
			pthread_join(f->workers[i].thread, NULL);
			f->workers[i].runs = false;
		}
	printf("\n%-24s %10s\n", "worker", "requests");
	return fleet_workers(f->fleet, print_worker, NULL, err);
}
