/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_split_inner.h - what fleet_split.c (rows) and fleet_split_cut.c (where to cut) share. */
#ifndef REPO_FLEET_FLEET_SPLIT_INNER_H
#define REPO_FLEET_FLEET_SPLIT_INNER_H

#include "base/mem.h"
#include "repo/fleet/fleet_inner.h"

#define FLEET_SPLIT_AT_ONCE 10000

struct splitting {
	struct fleet *l;
	const struct fleet_lease *lease;
	const struct fleet_split_watch *watch;
	struct fleet_split *ret;
	VEC(uint32_t) hashes;           /* by page number */
};

/* PostgreSQL wants to know the type of each parameter, used or not. */
#define ALL_ARGS "$1::int8 IS NOT NULL AND $2::int8 IS NOT NULL AND $3::int8 IS NOT NULL"

/* How far it is. */
void fleet_split_say(const struct splitting *s, const char *what, uint64_t done, uint64_t of);
/* Run a statement with the parameters of all: $1 is the shard, $2 the new one, $3 the cut; then
 * more, if there are. */
MUST_CHECK int fleet_split_run(const struct splitting *s, const char *sql, struct pg_rows *more,
                               PGresult **ret, struct err *err);

/* May it be divided now?  Sets the number of the new shard. */
MUST_CHECK int fleet_split_look(struct splitting *s, struct err *err);
/* The hashes of all pages. */
MUST_CHECK int fleet_split_read(struct splitting *s, struct err *err);
/* The cut: the first hash of the upper half, as near to the middle as domains allow. */
MUST_CHECK int fleet_split_choose(struct splitting *s, struct err *err);

#endif
