/* SPDX-License-Identifier: Apache-2.0 */
/* copy_inner.h - what copy.c (large tables) and copy_small.c share. */
#ifndef REPO_COPY_COPY_INNER_H
#define REPO_COPY_COPY_INNER_H

#include "base/mem.h"
#include "repo/copy/copy.h"

struct mark { uint64_t pages, capture, cycle, order, cycles, words; };

struct copying {
	struct store *from, *to;
	copy_progress *progress;
	void *arg;
	uint64_t done, total;
	struct mark mark;
	uint64_t drawn;                 /* ids of captures that the target has drawn; 0: not asked yet */
	struct arena texts;             /* of the rows that wait */
	VEC(struct store_page) pages;
	VEC(struct store_capture) captures;
	VEC(struct store_visit) visits;
	VEC(struct text) words;
	VEC(struct store_lease) leases;
	VEC(uint32_t) numbers;          /* rounds of a cycle; pages of a tag */
	VEC(struct store_care) care;
};

/* End a batch that was begun, with this result so far; n rows are done. */
MUST_CHECK int copy_end_batch(struct copying *c, int rc, uint64_t n, struct err *err);

/* Tags, hints, robots.txt, settings and state, in one batch; the journal of requests. */
MUST_CHECK int copy_small(struct copying *c, struct err *err);
MUST_CHECK int copy_sent(struct copying *c, struct err *err);

#endif
