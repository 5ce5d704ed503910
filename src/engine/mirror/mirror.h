/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror.h - the newest copies of a repository as a folder that a browser can open.
 *
 * One file for each page that has a copy with content (mirror_name.h), links rewritten
 * (mirror_page.h), and index.html with all sites.  A file that is there already with the
 * same bytes is not touched, any other is replaced whole.  Nothing is deleted: a page that
 * is gone keeps its last copy.
 */
#ifndef ENGINE_MIRROR_MIRROR_H
#define ENGINE_MIRROR_MIRROR_H

#include "repo/store.h"

struct mirror {
	struct store *store;            /* open for reading */
	const char *folder;             /* of the repository */
	const char *to;                 /* folder to write; made if it is not there */
	/* Called for each page whose content cannot be read; may be NULL. */
	void (*report)(void *arg, const char *text);
	void *arg;
	uint64_t n_written, n_same;     /* files */
	uint64_t n_missing;             /* pages without content */
	uint64_t n_lost;                /* pages whose content cannot be read */
};

MUST_CHECK int mirror_write(struct mirror *m, struct err *err);

#endif
