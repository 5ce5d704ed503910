/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shards.h - commands on a fleet: a store with several shards, or one that workers hold.
 *
 * A command says how it deals with that (enum on_fleet).  What it writes goes into the inboxes
 * of shards; then the command takes the shards that nobody holds and applies their inboxes
 * itself.  The others are applied by their workers, within seconds.
 */
#ifndef CLI_FRAME_SHARDS_H
#define CLI_FRAME_SHARDS_H

#include "cli/frame/command.h"
#include "repo/fleet/fleet.h"

struct shards {
	char *url;                      /* of the store */
	struct fleet *fleet;
	struct fleet_shard *list;
	size_t n;
	struct fleet_lease lease;       /* of the shard that the command holds, */
	bool holds;
	struct renewing *renewing;      /* renewed while it does */
};

typedef int shards_go(struct cli *cli, int n, char **args, struct err *err);
/* Run the command: once, or on each shard. */
MUST_CHECK int shards_run(struct cli *cli, int n, char **args, shards_go *go, struct err *err);

/* Does the command work on a fleet?  Else all is as ever. */
static inline bool shards_any(const struct cli *cli)
{
	return cli->shards != NULL;
}

/* Shards of the fleet; 0: it is none. */
static inline uint32_t shards_count(const struct cli *cli)
{
	return cli->shards ? (uint32_t)cli->shards->n : 0;
}

/* Take the lease of a shard, for repository_open(); E_BUSY: a worker has it. */
MUST_CHECK int shards_hold(struct cli *cli, int32_t shard, struct err *err);
void shards_release(struct cli *cli);
/* Which shard is a page of?  As a user types it; -1: it is no URL. */
int32_t shards_of(const struct cli *cli, const char *url);
int32_t shards_find(const struct fleet_shard *list, size_t n, const char *url);
/* Append the name of the store that the command is to open. */
void shards_where(const struct cli *cli, bool writes, struct buf *ret);

/* Shards of a store by its name, which names none of them; 0: it is none of a fleet, or cannot be
 * looked at. */
uint32_t shards_at(const char *where);
/* Append the name of a file that a command writes; of a fleet one for each shard: x-shard-3.html. */
void shards_file(const struct cli *cli, const char *name, struct buf *ret);

/* What a command wants of shards: entries of inboxes, put together. */
struct shards_mail { struct shards_letter *letters; size_t n; const char *kind; };
/* Begin; head: the first line of each entry, or NULL. */
void shards_mail_begin(struct shards_mail *m, const struct cli *cli, const char *kind,
                       const char *head);
/* One line for a shard; all shards: -1. */
MUST_CHECK int shards_mail_line(struct shards_mail *m, struct cli *cli, int32_t shard,
                                struct text line, struct err *err);
struct inbox_stats;
/* Send it, and settle what can be settled now.  *ret_left: shards whose workers do the rest. */
MUST_CHECK int shards_mail_end(struct shards_mail *m, struct cli *cli, struct inbox_stats *ret,
                               uint32_t *ret_left, struct err *err);
void shards_mail_release(struct shards_mail *m, const struct cli *cli);

#endif
