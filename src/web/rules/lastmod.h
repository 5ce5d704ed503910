/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lastmod.h - can a site's own modification dates be trusted?
 *
 * Each download of a page checks its lastmod (or Last-Modified) for free: did the date
 * move since the last visit, and did the content?  Dates are trusted when "the date moved
 * <=> the content changed" held in more than 0.9 of at least 20 checks.  Before that, and
 * when the share falls, dates are only recorded.
 *
 * Both directions count: a site that stamps every page every night (date moves, content
 * does not) is as useless as one that never does.  If changes are rare, a date that never
 * moves would agree nearly always.  So at least one check must be a change that the date
 * showed.
 *
 * Old evidence fades: at LASTMOD_MEMORY checks all counts are halved, so a site that
 * behaves differently is noticed after about as many checks.
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
	uint32_t told;                  /* hits whose page had changed: the date told of it */
};

static inline void lastmod_check(struct lastmod_trust *t, bool date_moved, bool changed)
{
	if (t->checks >= LASTMOD_MEMORY) {
		t->checks /= 2;
		t->hits /= 2;
		t->told = (t->told + 1) / 2;    /* never back to 0 */
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
