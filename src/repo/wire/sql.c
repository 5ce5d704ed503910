/* SPDX-License-Identifier: Apache-2.0 */
/* sql.c - see sql.h. */
#include "repo/wire/sql.h"

const char *const pg_sql_texts[N_PG_SQL] = {
#define SQL(name, text) text,
#include "repo/wire/sql.def"
#undef SQL
};

const char *const pg_sql_names[N_PG_SQL] = {
#define SQL(name, text) "freshet_" #name,
#include "repo/wire/sql.def"
#undef SQL
};
