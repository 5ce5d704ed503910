/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_inner.h - shared by the files of the ledger; see fleet.h. */
#ifndef REPO_FLEET_FLEET_INNER_H
#define REPO_FLEET_FLEET_INNER_H

#include <pthread.h>

#include "repo/fleet/fleet.h"
#include "repo/wire/args.h"
#include "repo/wire/link.h"
#include "repo/wire/pipe.h"
#include "repo/wire/row.h"

struct fleet {
	pthread_mutex_t lock;           /* one call at a time */
	struct pg_target target;
	struct pg_link link;
	bool prepared[N_PG_SQL];
	bool is_open;                   /* it was connected once */
};

/* One statement, committed when it returns.  *ret may be NULL. */
int fleet_ask(struct fleet *l, const char *sql, const struct pg_args *args, PGresult **ret,
               struct err *err);
/* The same under a lease: E_BUSY, and nothing done, if it was lost. */
int fleet_ask_leased(struct fleet *l, const struct fleet_lease *lease, const char *sql,
                      const struct pg_args *args, PGresult **ret, struct err *err);

static inline int64_t fleet_int(const PGresult *r, int row, int column)
{
	struct pg_row cell = { .r = r, .i = row };

	return PQgetisnull(r, row, column) ? 0 : pg_row_any(&cell, column);
}

static inline uint32_t fleet_count(const PGresult *r, int row, int column)
{
	int64_t n = fleet_int(r, row, column);

	return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

double fleet_real(const PGresult *r, int row, int column);
bool fleet_flag(const PGresult *r, int row, int column);
void fleet_text(const PGresult *r, int row, int column, char *out, size_t size);

#endif
