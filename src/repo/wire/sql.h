/* SPDX-License-Identifier: Apache-2.0 */
/* sql.h - the statements of the PostgreSQL backend, by name.  Each is prepared at its first
 * use on a connection. */
#ifndef REPO_WIRE_SQL_H
#define REPO_WIRE_SQL_H

enum pg_sql {
#define SQL(name, text) PG_##name,
#include "repo/wire/sql.def"
#undef SQL
	N_PG_SQL
};

extern const char *const pg_sql_texts[N_PG_SQL];
extern const char *const pg_sql_names[N_PG_SQL];

#endif
