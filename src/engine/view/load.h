/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - a repository in memory: the compact view that planning reads.
 *
 * One pass over the pages table fills arrays by page number.  50 bytes a page
 * and 24 a directory, URL text excluded.
 */
#ifndef ENGINE_VIEW_LOAD_H
#define ENGINE_VIEW_LOAD_H

#include "engine/view/pages.h"
#include "repo/store.h"

struct loaded {
	struct pages pages;
	struct visits visits;           /* last visits; the state is HERE, OUT, or 0: gone */
	int64_t *added;                 /* by page: when it came under care */
	float *weight;                  /* by page, as given */
	uint32_t n_here, n_removed;
};

MUST_CHECK int load_pages(struct loaded *l, struct store *s, const struct pages_opts *opts,
                          struct err *err);
void loaded_release(struct loaded *l);

#endif
