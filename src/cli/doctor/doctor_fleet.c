/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_fleet.c - a fleet: pages of all shards, who works on them, the cycle. */
#include <stdlib.h>

#include "base/when.h"
#include "cli/doctor/doctor.h"

static void check_shards(struct doctor *d, const struct fleet_shard *v, size_t n,
                         const struct fleet_cycle *c)
{
	uint64_t pages = 0;
	size_t n_held = 0, n_lost = 0;

	for (size_t i = 0; i < n; i++) {
		bool over = v[i].done && v[i].cycle == c->number;

		pages += (uint64_t)v[i].pages;
		n_held += v[i].held;
		n_lost += v[i].lost && !v[i].held && !over;
	}
	if (pages)
		doctor_find(d, "store", VERDICT_GOOD, "%llu pages in %zu shards; schema %d",
		            (unsigned long long)pages, n, STORE_SCHEMA);
	else
		doctor_find(d, "store", VERDICT_ADVICE, "no pages in %zu shards|freshet import FILE... or "
		            "freshet add URL... puts pages under care", n);
	if (n_lost)
		doctor_find(d, "work", VERDICT_ADVICE, "%zu of %zu shards lost their worker, and nobody "
		            "took them yet|freshet status --workers tells who lives and has room", n_lost, n);
	else
		doctor_find(d, "work", VERDICT_GOOD, "%zu of %zu shards are held by workers or commands",
		            n_held, n);
}

static int note_alive(void *arg, const struct fleet_worker *w, struct err *err)
{
	(void)err;
	*(unsigned *)arg += !w->stopped && w->silent < FLEET_DEAD_SECONDS;
	return 0;
}

int doctor_fleet(struct doctor *d, struct fleet *f, struct err *err)
{
	struct fleet_shard *v = NULL;
	struct fleet_cycle c;
	unsigned n_alive = 0;
	char at[21];
	size_t n = 0;
	int rc = fleet_cycle_last(f, &c, err);

	if (rc == 0)
		rc = fleet_shards(f, &v, &n, err);
	if (rc == 0)
		check_shards(d, v, n, &c);
	free(v);
	if (rc < 0 || (rc = fleet_workers(f, note_alive, &n_alive, err)) < 0)
		return rc;
	if (n_alive)
		doctor_find(d, "workers", VERDICT_GOOD, "%u at work", n_alive);
	else
		doctor_find(d, "workers", VERDICT_ADVICE, "none is at work|freshet work, on each machine");
	if (c.number) {
		when_iso(c.opened, at);
		doctor_find(d, "cycles", VERDICT_GOOD, "cycle %u of %s, %u of %zu shards done", c.number,
		            at, c.done, n);
	}
	return 0;
}
