/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing.h - pages whose last visits brought no answer about them: why, since when, how
 * often.
 *
 * A visit that failed or was blocked begins such a row or makes it longer; any other ends
 * it.  What was cut short by ourselves (a request not granted, a stop) does neither.
 */
#ifndef ENGINE_RECALL_FAILING_H
#define ENGINE_RECALL_FAILING_H

#include "base/cause.h"
#include "engine/recall/resume.h"
#include "policy/policy.h"

struct failing {
	uint32_t failed, blocked;       /* visits of the page, ever */
	uint32_t times;                 /* failures in a row until now; 0: the page does not fail */
	uint32_t alike;                 /* of these, the latest ones that ended as the last did */
	int64_t since, last;            /* times of the first and of the last of the row */
	/* what the last visit brought: */
	enum outcome outcome;           /* FAILED or BLOCKED */
	enum cause cause;
	int32_t status;                 /* 0: there was no answer */
	int64_t until;                  /* the page or its site rests until then; 0: it does not, or
	                                 * failing_rests() was not called */
};

/* Of one page. */
MUST_CHECK int failing_page(struct store *s, uint32_t page, struct failing *ret,
                            struct err *err);
/* One more visit of the page; they come in their order. */
void failing_add(struct failing *f, const struct store_visit *v);
/* Of all pages, by their numbers, in new memory; those that are gone or left do not fail. */
struct visit_counts;
struct failing *failing_pages(const struct visit_counts *c, const struct loaded *l);

/* Add until when they rest (engine/cycle/backoff.h): of all pages, or of one. */
void failing_rests(struct failing *by_page, const struct resumed *r, int64_t now);
int64_t failing_rest(const struct resumed *r, uint32_t page, int64_t now);

/* What the pages of a site have in common; sites without a page that fails are left out. */
struct failing_site {
	uint32_t site, pages, failing;  /* all its pages, and those that fail */
	uint32_t failed, blocked;       /* of the last, by their last visit */
	enum cause cause;               /* the most frequent */
	uint32_t of_cause;
	uint32_t times;                 /* visits in a row, of all its pages together */
	int64_t since, last;
	int64_t until;                  /* the site rests, all of it */
};

/* The sites with the most pages that fail first, in new memory; r may be NULL: no rests. */
struct failing_site *failing_sites(const struct pages *p, const struct failing *by_page,
                                   const struct resumed *r, int64_t now, uint32_t *ret_n);
/* The numbers of the pages that fail, the longest first; in new memory. */
uint32_t *failing_list(const struct pages *p, const struct failing *by_page, uint32_t *ret_n);

#endif
