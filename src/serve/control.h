/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - what admins may do: cycles, settings, pages under care, replays (replays.c). */
#ifndef SERVE_CONTROL_H
#define SERVE_CONTROL_H

#include "serve/serve_inner.h"

/* A cycle of our own fetcher, as a job.  budget and policy may be NULL: as the settings say.
 * E_BUSY: one runs; E_USAGE: one is open for other crawlers. */
MUST_CHECK int control_begin_cycle(struct serve *s, const char *budget, const char *policy,
                                   bool anew, struct err *err);

/* "--OPTION=VALUE", in `keep`. */
char *control_option(struct arena *keep, const char *option, const char *value);
/* The answer to an error; 409 if it is one of the moment. */
void control_conflict(struct call *c, int rc, const struct err *err);

#endif
