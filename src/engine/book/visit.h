/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit.h - writing what came of a visit, whoever made it: our fetcher, or
 * another crawler that tells us.
 *
 * A good copy is never destroyed: an error page does not replace a page, and
 * `gone` is believed only after so many confirmations over as many visits.
 */
#ifndef ENGINE_BOOK_VISIT_H
#define ENGINE_BOOK_VISIT_H

#include "base/cause.h"
#include "base/map.h"
#include "base/when.h"
#include "engine/archive/judge.h"
#include "policy/policy.h"
#include "repo/store.h"

struct new_visit {
	uint32_t page, cycle;
	int64_t time;
	enum outcome outcome;           /* GONE: the server said so just now */
	int32_t status;
	enum cause cause;               /* of FAILED or BLOCKED; NONE: the status says it */
	float score, probability;
	uint8_t reason;
	uint32_t extra;                 /* requests beyond the first, of a blocked one all */
	uint32_t place;                 /* in the cycle, as planned, from 1; 0: unplanned */
	uint32_t order;                 /* in the cycle, as told; 0: the next */
	struct store_capture *capture;  /* what was captured, or NULL; page and time are set */
};

/* The verdict as it counts: GONE becomes FAILED until confirmed often enough; a page that
 * discovery found and that never was there leaves at once.
 * Call inside a batch. */
MUST_CHECK int visit_write(struct store *s, const struct new_visit *v, unsigned confirmations,
                           struct verdict *ret, struct err *err);
/* The same, for who has just read the page. */
MUST_CHECK int visit_write_page(struct store *s, const struct new_visit *v,
                                const struct store_page *page, unsigned confirmations,
                                struct verdict *ret, struct err *err);

/* How far the dates of a page's site are trusted: checked whenever a visit's
 * outcome is known of a page whose date was read since the visit before. */
struct lastmod_trust;
MUST_CHECK int visit_trust(struct store *s, struct text url, struct lastmod_trust *ret,
                           struct err *err);

/* A cycle that is told visits a page once; one that failed may be tried again.  False:
 * it was told of before.  had: the outcomes so far, by page. */
bool visit_once(struct map *had, uint32_t page, enum outcome o);

#endif
