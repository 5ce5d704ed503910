/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - see fleet.h. */
#include "serve/fleet/fleet.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/frame/shards.h"

#define CYCLE_SECONDS 1         /* after this long the ledger is asked for the cycle again */

struct serve_fleet {
	struct serve_fleet_opts opts;
	struct fleet *ledger;
	struct parts *parts;
	volatile sig_atomic_t *ends;    /* set it, and the service ends */
	pthread_t worker;
	bool works;
	volatile sig_atomic_t stop;     /* set it, and the worker ends */
	int rc;                         /* how the worker ended, */
	struct err err;                 /* and why */
	pthread_mutex_t lock;           /* of the following */
	struct fleet_cycle cycle;
	size_t n_shards;
	double looked;
};

int serve_fleet_open(struct serve_fleet **ret, const struct serve_fleet_opts *o,
                     const struct client_opts *client, volatile sig_atomic_t *stop,
                     struct err *err)
{
	struct serve_fleet *f = mem_zalloc(1, sizeof *f);
	int rc = fleet_open(&f->ledger, o->url, err);

	f->opts = *o;
	f->ends = stop;
	f->parts = parts_new(client);
	pthread_mutex_init(&f->lock, NULL);
	if (rc < 0)
		serve_fleet_close(f);
	else
		*ret = f;
	return rc;
}

void serve_fleet_close(struct serve_fleet *f)
{
	if (!f)
		return;
	fleet_close(f->ledger);
	parts_free(f->parts);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* ---- the worker ---- */

static int load_schedule(void *arg, struct work_schedule *ret, struct err *err)
{
	const struct serve_fleet_opts *o = &((struct serve_fleet *)arg)->opts;

	return o->schedule(o->arg, ret, err);
}

static int run_part(void *arg, const struct work_part *p, struct crawl_report *ret, struct err *err)
{
	return parts_run(((struct serve_fleet *)arg)->parts, p, ret, err);
}

static void *work(void *arg)
{
	struct serve_fleet *f = arg;
	struct work_opts wo = {
		.url = f->opts.url, .worker = f->opts.worker, .take = f->opts.take, .clients = true,
		.stop = &f->stop, .schedule = load_schedule, .crawl = run_part, .arg = f,
	};

	f->rc = work_run(&wo, &f->err);
	if (f->rc == E_STOP)
		f->rc = 0;
	if (f->rc < 0) {
		log_warn("%s: the service ends", f->err.text);
		stop_set(f->ends);
	}
	return NULL;
}

void serve_fleet_start(struct serve_fleet *f)
{
	if (!f->opts.take)
		return;
	if (pthread_create(&f->worker, NULL, work, f))
		err_no_memory();
	f->works = true;
}

int serve_fleet_stop(struct serve_fleet *f, struct err *err)
{
	if (!f->works)
		return 0;
	stop_set(&f->stop);
	pthread_join(f->worker, NULL);
	f->works = false;
	if (f->rc < 0)
		*err = f->err;
	return f->rc;
}

/* ---- what is there ---- */

struct parts *serve_fleet_parts(struct serve_fleet *f)
{
	return f->parts;
}

struct fleet *serve_fleet_ledger(struct serve_fleet *f)
{
	return f->ledger;
}

int serve_fleet_shards(struct serve_fleet *f, struct fleet_shard **ret, size_t *ret_n,
                       struct err *err)
{
	return fleet_shards(f->ledger, ret, ret_n, err);
}

int serve_fleet_store(struct serve_fleet *f, int32_t shard, struct store **ret, struct err *err)
{
	struct buf url;
	int rc;

	buf_init(&url, BUF_NO_LIMIT);
	fleet_url(f->opts.url, shard, 0, NULL, &url);
	rc = store_open(ret, buf_text(&url), STORE_READ, err);
	buf_release(&url);
	return rc;
}

int serve_fleet_cycle(struct serve_fleet *f, bool anew, struct fleet_cycle *ret,
                      size_t *ret_shards, struct err *err)
{
	struct fleet_shard *list = NULL;
	int rc = 0;

	pthread_mutex_lock(&f->lock);
	if (anew || fleet_clock() - f->looked >= CYCLE_SECONDS) {
		rc = fleet_cycle_last(f->ledger, &f->cycle, err);
		if (rc == 0)
			rc = fleet_shards(f->ledger, &list, &f->n_shards, err);
		free(list);
		f->looked = rc == 0 ? fleet_clock() : 0;
	}
	*ret = f->cycle;
	*ret_shards = f->n_shards;
	pthread_mutex_unlock(&f->lock);
	return rc;
}

int serve_fleet_has(struct serve_fleet *f, int32_t shard, struct err *err)
{
	struct fleet_shard *list = NULL;
	size_t n = 0;
	int rc = fleet_shards(f->ledger, &list, &n, err);
	bool has = false;

	for (size_t i = 0; i < n; i++)
		has |= list[i].shard == shard;
	free(list);
	return rc < 0 ? rc : has;
}

int serve_fleet_find(struct serve_fleet *f, const char *url, int32_t *ret, struct err *err)
{
	struct fleet_shard *list = NULL;
	size_t n = 0;
	int rc = fleet_shards(f->ledger, &list, &n, err);

	*ret = rc == 0 ? shards_find(list, n, url) : -1;
	free(list);
	return rc;
}
