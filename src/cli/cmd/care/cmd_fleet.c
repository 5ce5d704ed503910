/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fleet.c - `freshet fleet`: where shards are, and what is done to them by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/progress.h"
#include "cli/cmd/care/fleet_place.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/fleet/work.h"

static void show_step(void *arg, const char *what, uint64_t done, uint64_t of)
{
	struct progress *p = arg;

	if (of && !strcmp(what, "pages written")) {
		if (!p->total)
			progress_start(p, "splitting", "pages", of);
		progress_set(p, done);
	}
}

/* What waits in the inbox of the shard is of pages with their old numbers: it comes first. */
static int settle(struct cli *cli, struct err *err)
{
	struct inbox_stats done = { 0 };
	struct store *s = NULL;
	int rc = repository_open(cli, &s, err);

	if (rc == 0)
		rc = inbox_apply(cli->shards->fleet, &cli->shards->lease, s, INBOX_IF_CLOSED, &done, err);
	store_close(s);
	return rc;
}

static int split_shard(struct cli *cli, const char *name, struct err *err)
{
	struct progress progress = { 0 };
	struct fleet_split_watch watch = { show_step, &progress };
	struct fleet_split done;
	struct json j;
	char *end;
	long shard = strtol(name, &end, 10);
	int rc;

	if (!*name || *end || shard < 0 || (size_t)shard >= cli->shards->n)
		return err_set(err, E_USAGE, "fleet split: %.40s: a number from 0 to %zu; `freshet status "
		               "--shards` lists them", name, cli->shards->n - 1);
	cli->shard = (int32_t)shard;
	rc = shards_hold(cli, cli->shard, err);
	if (rc == 0)
		rc = settle(cli, err);
	if (rc == 0)
		rc = fleet_split(cli->shards->fleet, &cli->shards->lease, &watch, &done, err);
	progress_end(&progress);
	shards_release(cli);
	if (rc < 0)
		return rc;
	if (cli->common.json) {
		cli_json_begin(&j, "fleet");
		json_kint(&j, "shard", cli->shard);
		json_kint(&j, "new_shard", done.shard);
		json_kint(&j, "cut", (int64_t)done.cut);
		json_kint(&j, "pages", (int64_t)done.pages[0]);
		json_kint(&j, "new_pages", (int64_t)done.pages[1]);
		cli_json_end(&j);
		return 0;
	}
	printf("shard %d: %llu pages; new shard %d: %llu pages\n", cli->shard,
	       (unsigned long long)done.pages[0], done.shard, (unsigned long long)done.pages[1]);
	log_info("who follows changes by a cursor begins anew: the old one is refused");
	return 0;
}

static int fleet_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	(void)opts;
	if (!shards_any(cli))
		return err_set(err, E_USAGE, "fleet: a fleet needs PostgreSQL: give --store "
		               "postgresql://host/database");
	if (!strcmp(args[0], "place"))
		return fleet_place(cli, n_args - 1, args + 1, err);
	if (strcmp(args[0], "split") || n_args != 2)
		return err_set(err, E_USAGE, "fleet: `place [URL...]` says where shards are, `split SHARD` "
		               "divides one");
	return split_shard(cli, args[1], err);
}

const struct command command_fleet = {
	.name = "fleet",
	.on_fleet = FLEET_ALWAYS,
	.arguments = "place|split [URL...|SHARD]",
	.summary = "where the shards of a fleet are; divide one that grew",
	.description =
		"`place` says of each shard, or of those that URLs belong to, who works on it or did last,\n"
		"and which workers have its archive files, which is where copies are read and pruned.\n\n"
		"`split` divides the domains of a shard between it and a new one, so that both have about as\n"
		"many pages; a domain stays whole. Pages, history, tags, and what policies can learn from\n"
		"them, go along. Nobody may hold the shard, and its part of the cycle must be over; workers\n"
		"go on with the others meanwhile. All of it happens, or nothing: after a crash of whatever\n"
		"kind the same command can be given again.\n\n"
		"Page numbers are drawn anew. A cursor of changes from before is refused (410): begin\n"
		"without one.",
	.examples =
		"  freshet fleet place --store 'postgresql://db.example/fleet?schema=news'\n"
		"  freshet fleet place https://example.org/ --store 'postgresql://db.example/fleet?schema=news'\n"
		"  freshet fleet split 0 --store 'postgresql://db.example/fleet?schema=news'\n",
	.n_args_min = 1,
	.n_args_max = -1,
	.run = fleet_run,
};
