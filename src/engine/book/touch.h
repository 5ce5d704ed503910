/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch.h - notifications: somebody says that pages have changed.
 *
 * A notifier (a publishing system, a webhook, a person) touches pages.  That is evidence, not
 * an order.  How often it was right is learnt as of sitemaps' dates (web/rules/lastmod.h):
 * each visit whose outcome is known checks the touch of its page, whatever the visit was made
 * for, and takes the touch off.  A page that is gone counts as changed.
 *
 * Trust is kept for each notifier and site, and for each notifier over all sites, in the table
 * of hints: "HOST/NAME" and, for all sites, "ALL/NAME".  Touched pages are offered first in the next cycle
 * (engine_rules.reserved), oldest touch first:
 *
 *   the site's touches were right      all of them
 *   not enough is known of the site    as many as a verdict still needs (LASTMOD_CHECKS_MIN),
 *                                      for all sites together until the notifier was right
 *                                      with some
 *   they were wrong                    none; what the policy visits anyway goes on checking
 *
 * Ceilings.  A notifier gets at most `share` of a cycle, and all notifiers together at most
 * TOUCH_ALL_PERCENT; they take turns.  So one that touches everything costs a few requests,
 * once, and then nothing.
 *
 * Of two notifiers that touch a page the one that is trusted more counts, else the first: one
 * that lies cannot take the merit of another, nor hide its pages.
 *
 * The offers of a cycle are kept when it begins (state `touched`), so after a restart it goes
 * on with the same ones.  What is touched later is for the next cycle.
 */
#ifndef ENGINE_BOOK_TOUCH_H
#define ENGINE_BOOK_TOUCH_H

#include "base/mem.h"
#include "base/when.h"
#include "policy/policy.h"
#include "repo/store.h"
#include "web/rules/lastmod.h"

#define TOUCH_NAME_MAX 60               /* bytes of the name of a notifier */
#define TOUCH_NOTIFIERS_MAX 1000
#define TOUCH_ALL_PERCENT 50
#define TOUCH_SHARE "10%"               /* of a cycle, for one notifier, unless it is set */
#define TOUCH_LOCAL "local"             /* who gives no name */

enum touch_rank { TOUCH_WRONG, TOUCH_UNPROVEN, TOUCH_RIGHT };
const char *touch_rank_name(enum touch_rank r);         /* wrong, unproven, right */

struct touch_stats {
	uint64_t touched;               /* pages that are marked now, and were not */
	uint64_t again;                 /* that were marked already */
	uint64_t unknown;               /* URLs that are not under care */
	uint64_t bad;                   /* texts that are no URL of a page */
};

/* May it be the name of a notifier?  Letters, digits and . _ - @ only. */
bool touch_is_name(const char *name);

/* Mark pages, in a batch of its own.  URLs as a user types them. */
MUST_CHECK int touch_pages(struct store *s, const char *notifier, const char *const *urls,
                           size_t n, int64_t now, struct touch_stats *ret, struct err *err);

/* A visit has looked at a page that was touched: count whether that was right.  In the batch
 * of the visit; the caller writes the page, of which the touch is taken off. */
MUST_CHECK int touch_check(struct store *s, struct store_page *p, bool changed,
                           struct err *err);

/* What is known of a touch that no visit has checked yet. */
struct touch_known {
	char notifier[TOUCH_NAME_MAX + 1];
	struct lastmod_trust site, all;
	enum touch_rank rank;           /* of what it says of this site */
};
/* 1: the page was touched; 0: it was not. */
MUST_CHECK int touch_known(struct store *s, const struct store_page *p,
                           struct touch_known *ret, struct err *err);

struct touch_offers { VEC(struct offer) v; };
struct touch_rule {
	struct share share;             /* of a cycle, for one notifier; value 0: none */
	uint32_t budget;                /* of the cycle */
	uint32_t n_pages;               /* that the engine knows: others are left out */
	int64_t now;                    /* what was touched later waits */
};
/* The pages that a cycle begins with. */
MUST_CHECK int touch_choose(struct touch_offers *ret, struct store *s,
                            const struct touch_rule *rule, struct err *err);
/* Keep them with a cycle, in a batch; and what was kept: 1, or 0: nothing was for this cycle. */
MUST_CHECK int touch_keep(const struct touch_offers *o, struct store *s, uint32_t cycle,
                          struct err *err);
MUST_CHECK int touch_recall(struct touch_offers *ret, struct store *s, uint32_t cycle,
                            uint32_t n_pages, struct err *err);

#endif
