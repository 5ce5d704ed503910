/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_shard.h - a service on one shard of a fleet.
 *
 * The service holds the shard's lease for as long as it runs, so no worker takes the shard, and
 * writes under its fence.  What others want of the shard is in its inbox: a thread applies that.
 * It ends the service when the lease is lost, because what the service knows of the open cycle may
 * then be wrong.
 */
#ifndef CLI_CMD_CRAWL_SERVE_SHARD_H
#define CLI_CMD_CRAWL_SERVE_SHARD_H

#include <signal.h>

#include "cli/frame/command.h"

struct serve_shard;

/* The command holds the shard (repository_open()).  *stop is set when the lease is lost. */
MUST_CHECK int serve_shard_begin(struct serve_shard **ret, struct cli *cli,
                                 volatile sig_atomic_t *stop, struct err *err);
const char *serve_shard_store(const struct serve_shard *s);     /* its name, with the fence */
bool serve_shard_lost(const struct serve_shard *s);
void serve_shard_end(struct serve_shard *s);                    /* s may be NULL */

#endif
