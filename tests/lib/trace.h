/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - small histories for tests: written by hand, or a made-up world. */
#ifndef TESTS_LIB_TRACE_H
#define TESTS_LIB_TRACE_H

#include "engine/archive/world.h"
#include "engine/history/history.h"

#define TRACE_START 1640995200          /* 2022-01-01, a midnight */

/* A capture `day` days after the start (may have a fraction); content NULL: the
 * page is gone.  links: space-separated, may be NULL. */
void trace_add(struct history *h, const char *url, double day, const char *content,
               const char *links);
/* The same with a status of its own. */
void trace_add_status(struct history *h, const char *url, double day, int status,
                      const char *content, const char *links);
/* The number of a page after history_finish(). */
uint32_t trace_page(const struct history *h, const char *url);

/* The defaults of a world, to be changed before trace_world(). */
void trace_world_defaults(struct world_opts *o);
/* Adds every capture of the world. */
void trace_world(struct history *h, const struct world_opts *o);

#endif
