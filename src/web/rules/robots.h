/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.h - robots.txt by RFC 9309: what one crawler may fetch of one host.
 *
 * robots_parse() keeps only the rules that bind the given product token: those
 * of all its groups together, or of the "*" groups if it has none.  The most
 * octets win, allow wins a tie; '*' and a final '$' are special, in patterns of
 * any number of wildcards.  Pattern and URL are brought to one
 * percent-encoding before they are compared, so "~", "%7E" and "%7e" are one.
 *
 * In doubt a line is read as less access: a file longer than
 * ROBOTS_SIZE_MAX and a line longer than ROBOTS_LINE_MAX are cut, and a cut
 * Disallow keeps its beginning (which covers more), while a cut Allow, a cut
 * User-agent and anything else cut are dropped.  If the cut leaves our own group
 * without a rule, the "*" group binds us as well.
 *
 * Records the RFC does not define leave the groups alone, with one exception: a
 * Crawl-delay followed by an empty line ends its group.  Files with "*" and only a delay,
 * then one robot that is shut out, are common; their authors do not mean to shut out all.
 *
 * Nothing is fetched here, and no clock is read.  robots_policy() says what a status
 * means. The fetcher does redirects, caching for 24 hours and retries.
 */
#ifndef WEB_RULES_ROBOTS_H
#define WEB_RULES_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define ROBOTS_SIZE_MAX        (500 * 1024)     /* RFC 9309 section 2.5 */
#define ROBOTS_LINE_MAX        (16 * 1024)
#define ROBOTS_STEPS_MAX       (512 * 1024)     /* bytes compared for one URL */
#define ROBOTS_SITEMAPS_MAX    100
#define ROBOTS_DELAY_MAX       86400.0          /* seconds; the fetcher caps lower */
#define ROBOTS_UNREACHABLE_MAX (30 * 86400)     /* seconds, section 2.3.1.4 */

struct robots_rule {
	uint32_t pattern, size;         /* normalised, in text */
	uint32_t octets;                /* decides among the rules that match */
	uint32_t key;                   /* bytes before the first star that matters */
	uint32_t parent, best;          /* of plain rules; see robots_match.c */
	uint16_t gram;                  /* of rules with wildcards; see robots_match.c */
	uint8_t allow, groups;          /* groups: a bit for each name that the rule binds */
	bool wild;
};

/* Zeroed, it allows everything. */
struct robots {
	struct buf text;
	VEC(struct robots_rule) rules;  /* plain ones by their bytes, then the wild ones, */
	size_t n_plain;                 /* most octets first, allow before disallow */
	VEC(uint32_t) sitemaps;         /* canonical URLs, NUL-terminated, in text */
	double crawl_delay;             /* seconds; 0: none asked */
	bool own_group;                 /* the file names our token */
	bool cut;                       /* the file was longer than we read */
};

/* Parse a body of `size` bytes; `cut` says that there was more of it.  `token`
 * is our product token, such as "freshet".  Never fails: what is no robots.txt
 * has no rules. */
void robots_parse(struct robots *r, const char *data, size_t size, bool cut,
                  const char *token);
void robots_release(struct robots *r);
/* The same in a cell, where there are cells.  An error: it broke the cell, so nothing is known
 * of it. */
MUST_CHECK int robots_read(struct robots *ret, const char *data, size_t size, bool cut,
                           const char *token, struct err *err);
/* The work of a cell. */
int robots_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err);

/* May this canonical URL be fetched?  *ret_rule, if wanted, is the pattern that
 * decided (valid as long as r), NULL if none matched.  /robots.txt itself may
 * always be fetched. */
bool robots_allows(const struct robots *r, const char *url, size_t size,
                   const char **ret_rule);

/* The same with another limit than ROBOTS_STEPS_MAX; also returns the steps used.  At the
 * limit the answer is less access: remaining rules with wildcards allow nothing, and
 * forbid every URL with the same beginning. */
bool robots_allows_within(const struct robots *r, size_t steps, const char *url, size_t size,
                          const char **ret_rule, size_t *ret_steps);

static inline const char *robots_sitemap(const struct robots *r, size_t i)
{
	return r->text.data + r->sitemaps.v[i];
}

enum robots_access {
	ROBOTS_READ,            /* parse the body and ask it */
	ROBOTS_ALLOW_ALL,       /* there is no robots.txt */
	ROBOTS_DISALLOW_ALL,    /* unknown: fetch nothing, try again later */
};

/* What the final status of /robots.txt means (0: no answer; 3xx: more redirects
 * than we follow).  After unreachable_seconds past ROBOTS_UNREACHABLE_MAX an
 * unreachable file counts as absent.  429 is "not now", not "no file". */
enum robots_access robots_policy(int status, int64_t unreachable_seconds);

#endif
