/* SPDX-License-Identifier: Apache-2.0 */
/* crawl_inner.h - what crawl.c (the cycle) and crawl_keep.c (one outcome into
 * archive and store) share. */
#ifndef ENGINE_CRAWL_INNER_H
#define ENGINE_CRAWL_INNER_H

#include <time.h>

#include "engine/analyse.h"
#include "engine/crawl.h"
#include "engine/cycle.h"
#include "warc/warc_write.h"

struct crawl {
	struct store *store;
	const struct crawl_opts *opts;
	struct crawl_report *report;
	struct fetch *fetch;
	struct resumed *resumed;
	struct warc_writer *warc;
	struct analyser analyser;
	uint32_t budget, spent;         /* requests: made, and promised to pages asked for */
	uint32_t extras;                /* of them redirect hops and retries */
	uint32_t in_batch;
	uint32_t placed;                /* places of the cycle given before this round */
	double batch_began;
	struct buf head;
	struct warc_place last;         /* newest record, of the batch or before */
	struct warc_hasher hasher;
};

static inline double crawl_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Judge an outcome, archive it, write it to the store (inside a batch). */
MUST_CHECK int crawl_keep(struct crawl *c, const struct offer *o, uint32_t order,
                          const struct fetch_result *r, struct delivery *ret,
                          struct err *err);
/* What a crash left of the archive: cut it back to what the store knows. */
MUST_CHECK int crawl_repair(struct store *s, const char *folder, struct err *err);
/* The archive to the disk, then the tables: the batch is safe. */
MUST_CHECK int crawl_commit(struct crawl *c, struct err *err);

#endif
