/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.h - a PostgreSQL of its own for the demo of a fleet: in a temporary folder, on a unix
 * socket only, so no port is taken.  It ends with the process that started it.
 *
 * The programs are those of the newest version that is installed.  PostgreSQL refuses to run
 * as root: then it runs as the user that Debian's package made, or as `nobody`.
 */
#ifndef DEMO_POSTGRES_H
#define DEMO_POSTGRES_H

#include "base/err.h"

struct postgres;

/* E_USAGE: there is no PostgreSQL on this machine; the message says what to install. */
MUST_CHECK int postgres_start(struct postgres **ret, struct err *err);
const char *postgres_url(const struct postgres *p);
/* Stop it, and remove its folder; p may be NULL. */
void postgres_stop(struct postgres *p);

#endif
