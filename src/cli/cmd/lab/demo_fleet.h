/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo_fleet.h - the demo's web kept fresh by a fleet: some workers, two shards for each of
 * them, one budget, and a PostgreSQL of the demo's own unless --store names one.
 *
 * The workers are those of `freshet work` (engine/fleet/work.h), each with its own leases and
 * connections, as threads of this process: so the demo's clock, which it moves, is theirs.
 * Nor do they open cycles: the demo does, when it has moved the clock.
 */
#ifndef CLI_CMD_LAB_DEMO_FLEET_H
#define CLI_CMD_LAB_DEMO_FLEET_H

#include "demo/origin.h"
#include "engine/fleet/work.h"

struct demo_fleet_opts {
	const char *store;              /* URL; NULL: a server of its own is started */
	uint32_t workers;
	const char *folder;             /* for WARC files */
	char *const *urls;              /* of the pages */
	size_t n_urls;
	const struct origin_world *world;
	/* Fill in what the cycles of all players have in common. */
	void (*set)(void *arg, struct crawl_opts *o);
	void *arg;
};

struct demo_fleet;

/* Deal out the pages, and start the workers.  What *o points to must stay. */
MUST_CHECK int demo_fleet_open(struct demo_fleet **ret, const struct demo_fleet_opts *o,
                               struct err *err);
/* One cycle; `stop` set: E_STOP. */
MUST_CHECK int demo_fleet_cycle(struct demo_fleet *f, const char *policy, struct share budget,
                                int64_t every, const volatile sig_atomic_t *stop,
                                struct fleet_cycle *ret, struct err *err);
MUST_CHECK int demo_fleet_pages(struct demo_fleet *f, store_page_each *each, void *arg,
                                struct err *err);
uint32_t demo_fleet_shards(const struct demo_fleet *f);
/* A line for each worker: its requests.  On standard output. */
MUST_CHECK int demo_fleet_print(struct demo_fleet *f, struct err *err);
void demo_fleet_close(struct demo_fleet *f);    /* f may be NULL */

#endif
