/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lastmod.h - how far a site's own modification dates are to be believed.
 *
 * A sitemap's lastmod (or a Last-Modified) is checked for free whenever a page
 * is downloaded anyway: did the date move since the last visit, and did the
 * content?  The rule: dates count as observations once the
 * precision of "the date moved <=> the content changed" is above 0.9 over at
 * least 20 checks; until then, and again as soon as it falls, they are only read.
 *
 * Both directions are counted, since a site that stamps every page every night
 * (date moves, nothing changed) is as useless as one that never does.  Where
 * changes are rare, a date that never moves would score well by agreeing on
 * nothing: so at least one of the checks must be a change that the date told.
 *
 * Old evidence fades: past LASTMOD_MEMORY checks all counts are halved, so a site
 * that changes its ways is found out after about as many checks.
 */
#ifndef WEB_RULES_LASTMOD_H
#define WEB_RULES_LASTMOD_H

#include <stdbool.h>
#include <stdint.h>

#define LASTMOD_CHECKS_MIN 20
#define LASTMOD_PRECISION  0.9
#define LASTMOD_MEMORY     1000

/* Of one site; zeroed, it has seen nothing. */
struct lastmod_trust {
	uint32_t checks, hits;          /* hits: date and content agreed */
	uint32_t told;                  /* hits that were changes */
};

static inline void lastmod_check(struct lastmod_trust *t, bool date_moved, bool changed)
{
	if (t->checks >= LASTMOD_MEMORY) {
		t->checks /= 2;
		t->hits /= 2;
		t->told = (t->told + 1) / 2;    /* told once stays told */
	}
	t->checks++;
	t->hits += date_moved == changed;
	t->told += date_moved && changed;
}

static inline bool lastmod_trusted(const struct lastmod_trust *t)
{
	return t->checks >= LASTMOD_CHECKS_MIN && t->told
	       && (double)t->hits > LASTMOD_PRECISION * t->checks;
}

#endif
