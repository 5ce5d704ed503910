/* SPDX-License-Identifier: Apache-2.0 */
/*
 * care.h - which pages are under care: removing, pausing and resuming them, tags, and the
 * rules that decide by URL.
 *
 * Each page has a few bits (enum care): removed, paused, its site is paused, out of scope.
 * None set: it is under care and takes part in cycles.  The last two follow from rules (the
 * settings include, exclude and paused@HOST).  They are found once, when a page comes or the
 * rules change, and never while a cycle is planned.
 *
 * A page that leaves keeps its number, its history and its copies.  A cycle that is open goes on
 * with the pages it began with; those that left are not offered any more, and what is told of
 * one that was offered before is taken.  A page that was out when the cycle began comes with the
 * next one.
 */
#ifndef ENGINE_BOOK_CARE_H
#define ENGINE_BOOK_CARE_H

#include "base/mem.h"
#include "repo/site_settings.h"
#include "repo/store.h"
#include "web/rules/scope.h"

/* ---- rules ---- */

struct care_rules {             /* zeroed: all URLs are in scope, no site is paused */
	struct scope scope;
	struct site_settings sites;
	bool any_paused;
};

/* As the settings of the store have it; release it also after an error. */
MUST_CHECK int care_rules_load(struct care_rules *r, struct store *s, struct err *err);
void care_rules_release(struct care_rules *r);
/* CARE_SCOPE and CARE_SITE, as the rules say of a canonical URL. */
uint8_t care_rules_say(struct care_rules *r, const char *url, size_t size);

/* ---- choosing pages ---- */

/* All that is set must hold of a page; urls go alone. */
struct care_which {
	char **urls;            /* as a user types them */
	size_t n_urls;
	const char *site;       /* host */
	struct scope_list match;
	const char *tag;
	void (*report)(void *arg, const char *text);    /* a URL that is not there; or NULL */
	void *arg;
};

struct care_page { uint32_t page; uint8_t care; };

struct care_pages {
	VEC(struct care_page) pages;    /* in ascending order, each once */
	uint32_t n_unknown;             /* URLs that are not in the repository */
};

/* Read in one pass over the pages; release it also after an error. */
MUST_CHECK int care_choose(struct care_pages *p, struct store *s, const struct care_which *w,
                           struct err *err);
void care_pages_release(struct care_pages *p);

/* ---- changing ---- */

/* How changes are written: in one batch, whole or not at all.  If other crawlers have a cycle
 * open, their programs are made to look again. */
struct care_writing {
	struct store *store;
	int64_t now;
	bool dry;                       /* only count */
	const char *setting, *value;    /* to be put in the same batch; setting NULL: none */
};

/* Set some bits of the pages and clear others.  *ret_n: pages that changed. */
MUST_CHECK int care_change(const struct care_writing *w, const struct care_pages *p,
                           unsigned set, unsigned clear, uint64_t *ret_n, struct err *err);

/* What new rules would do, or have done. */
struct care_effect {
	uint64_t in, out;       /* pages that come into scope, and leave it */
	uint64_t resumed, paused;       /* with their site */
	/* Called for each page that changes; may be NULL. */
	void (*each)(void *arg, struct text url, bool in);
	void *arg;
};

/* Decide anew about every page by these rules. */
MUST_CHECK int care_decide(const struct care_writing *w, struct care_rules *r,
                           struct care_effect *ret, struct err *err);

/* Of a page: since when its care is as it is; 0: always. */
MUST_CHECK int care_since(struct store *s, uint32_t page, int64_t *ret, struct err *err);

#endif
