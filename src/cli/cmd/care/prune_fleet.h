/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_fleet.h - prune and compact, shard after shard.
 *
 * Each shard is taken as a worker takes it, for as long as its turn lasts; the others go on.  First
 * all shards lose what is to go, and files that no shard needs; then files are written anew: so a
 * disk that is nearly full has room for that.
 */
#ifndef CLI_CMD_CARE_PRUNE_FLEET_H
#define CLI_CMD_CARE_PRUNE_FLEET_H

#include "cli/frame/command.h"
#include "engine/prune/prune.h"

#define PRUNE_FLEET_HELP \
	"Of a fleet: shard after shard, or --shard K. One that a worker holds is left out. Files of\n" \
	"workers are looked for in DIR/warc/WORKER; those on other machines stay as they are until the\n" \
	"command runs there."

struct prune_fleet {
	int (*rows)(void *arg, struct prune *p, struct err *err);       /* NULL: none go */
	void *arg;
	bool merge;                     /* small files, instead of what is unused */
	/* what came of it */
	struct prune *p;                /* NULL: it is no fleet */
	uint32_t n_held;                /* shards that somebody holds */
	uint64_t n_elsewhere;           /* files on other machines */
	char elsewhere[200];            /* whose */
};

/* p->store is opened here, anew for each shard and each worker's files. */
MUST_CHECK int prune_fleet(struct cli *cli, struct prune *p, struct prune_fleet *f,
                           struct err *err);
/* What was left out.  E_BUSY: shards. */
MUST_CHECK int prune_fleet_say(const struct prune_fleet *f, struct err *err);

#endif
