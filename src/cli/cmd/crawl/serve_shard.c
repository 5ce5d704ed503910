/* SPDX-License-Identifier: Apache-2.0 */
/* serve_shard.c - see serve_shard.h. */
#include "cli/cmd/crawl/serve_shard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/frame/shards.h"
#include "engine/fleet/work.h"

#define LOOK_SECONDS 1

struct serve_shard {
	pthread_t thread;
	struct fleet *fleet;            /* a connection of its own */
	struct fleet_lease lease;
	struct buf where;
	volatile sig_atomic_t *stop;
	_Atomic int over, lost;
};

static int apply_inbox(struct serve_shard *s, struct err *err)
{
	struct inbox_stats stats = { 0 };
	struct store *store = NULL;
	int rc = store_open(&store, buf_text(&s->where), STORE_EXISTING, err);

	if (rc == 0)
		rc = inbox_apply(s->fleet, &s->lease, store, INBOX_IF_CLOSED, &stats, err);
	store_close(store);
	return rc;
}

/* One look: is the lease still ours, and is there something in the inbox? */
static void look(struct serve_shard *s)
{
	struct fleet_shard *list = NULL;
	struct err err;
	size_t n = 0;
	int rc = fleet_shards(s->fleet, &list, &n, &err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		if (list[i].shard != s->lease.shard)
			continue;
		if (list[i].fence != s->lease.fence) {
			log_warn("shard %d: its lease is lost, another has it: the service ends",
			         s->lease.shard);
			atomic_store(&s->lost, 1);
			stop_set(s->stop);
		} else if (list[i].inbox) {
			rc = apply_inbox(s, &err);
		}
	}
	free(list);
	if (rc < 0)
		log_warn("shard %d: %s", s->lease.shard, err.text);
}

static void *keep(void *arg)
{
	struct serve_shard *s = arg;
	double next = fleet_clock() + LOOK_SECONDS;
	struct timespec t = { 0, 50000000 };

	while (!atomic_load(&s->over) && !atomic_load(&s->lost)) {
		if (fleet_clock() >= next) {
			look(s);
			next = fleet_clock() + LOOK_SECONDS;
		}
		nanosleep(&t, NULL);
	}
	return NULL;
}

int serve_shard_begin(struct serve_shard **ret, struct cli *cli, volatile sig_atomic_t *stop,
                      struct err *err)
{
	struct serve_shard *s = mem_zalloc(1, sizeof *s);
	int rc = fleet_open(&s->fleet, cli->shards->url, err);

	s->lease = cli->shards->lease;
	s->stop = stop;
	buf_init(&s->where, BUF_NO_LIMIT);
	shards_where(cli, true, &s->where);
	buf_text(&s->where);
	if (rc < 0) {
		buf_release(&s->where);
		free(s);
		return rc;
	}
	if (pthread_create(&s->thread, NULL, keep, s))
		err_no_memory();
	*ret = s;
	return 0;
}

const char *serve_shard_store(const struct serve_shard *s)
{
	return s->where.data;
}

bool serve_shard_lost(const struct serve_shard *s)
{
	return s && atomic_load(&s->lost);
}

void serve_shard_end(struct serve_shard *s)
{
	if (!s)
		return;
	atomic_store(&s->over, 1);
	pthread_join(s->thread, NULL);
	fleet_close(s->fleet);
	buf_release(&s->where);
	free(s);
}
