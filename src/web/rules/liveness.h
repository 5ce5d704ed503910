/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.h - is there still a page behind this URL?
 *
 * Pure functions on observed answers; nothing is fetched here.
 *
 * Classes are those of the LiveRank study (Huynh, Mathieu, Viennot 2014): no
 * answer, 404 or 410, redirect, 200 (real or soft 404), other.  Alive is a real 200.  Of
 * a redirect the target is alive, and counts once however many old URLs lead to it: count
 * distinct final URLs.
 *
 * Two tests find a soft 404, a page that says "not found" with status 200:
 *   - the study's two phrases in title or text (half of all its 200s);
 *   - on the live web the better one: ask for a sibling that cannot exist and
 *     see whether it comes back the same way.
 *
 * Blind spots.  An article about error 404 holds the phrase.  A site that builds
 * every page by script answers the same shell to everything, so the probe calls
 * all of it dead.  The reason is returned with the verdict so that it shows.
 */
#ifndef WEB_RULES_LIVENESS_H
#define WEB_RULES_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define LIVENESS_REDIRECTS_MAX  10              /* of page and probe alike */
#define LIVENESS_BODY_MAX       (64 * 1024)     /* bytes of a body worth comparing */
#define LIVENESS_SIBLING_SIZE   25              /* letters of a made-up name */
#define LIVENESS_SIMHASH_MAX    3               /* bits that may differ in the same text */
#define LIVENESS_SIMILARITY_MIN 0.95

/* The answer of one GET, redirects followed. */
struct liveness_answer {
	int status;                     /* the last one; 0: no answer */
	unsigned redirects;             /* followed on the way */
	const char *final_url;          /* canonical; NULL: as asked */
	size_t final_size;
	uint64_t simhash;               /* of the text, if status is 200 */
	bool not_found_phrase;          /* liveness_has_phrase(title or text) */
};

enum liveness_class {
	LIVENESS_NO_ANSWER,
	LIVENESS_NOT_FOUND,             /* 404, 410 */
	LIVENESS_REDIRECT,
	LIVENESS_SOFT_404,              /* 200 that says 404 */
	LIVENESS_REAL_200,
	LIVENESS_OTHER,
	LIVENESS_CLASSES
};

const char *liveness_name(enum liveness_class c);

/* The class of the requested page (REDIRECT if there was one), by phrases.  *ret_target,
 * if not NULL: the class of the redirect's target, or the same class without a redirect.
 * */
enum liveness_class liveness_classify(const struct liveness_answer *a,
                                      enum liveness_class *ret_target);

/* "Page Not Found" or "Error 404" in this text, in any case, whatever blanks lie
 * between the words.  For titles and visible text, not for markup. */
bool liveness_has_phrase(const char *text, size_t size);

/* Append a URL in the directory of `url` (canonical) that cannot exist: its name is
 * LIVENESS_SIBLING_SIZE letters from `draw`.  One per directory and cycle is enough. */
MUST_CHECK int liveness_sibling(const char *url, size_t size, uint64_t draw,
                                struct buf *out, struct err *err);

enum liveness_reason {
	LIVENESS_BY_ERROR,              /* the page itself failed: dead */
	LIVENESS_BY_HONESTY,            /* the sibling failed, as it should: alive */
	LIVENESS_BY_ROOT,               /* the site's front page: alive */
	LIVENESS_BY_REDIRECTS,          /* different numbers of redirects: alive */
	LIVENESS_BY_PLACE,              /* both were redirected to one URL: dead */
	LIVENESS_BY_LIKENESS,           /* both have the same text: dead */
	LIVENESS_BY_DIFFERENCE,         /* the texts differ: alive */
};

/* Alive or not, by the sibling's answer.  `similarity` of the two texts (token
 * sequences or 4-shingles, 0..1), or negative if only the simhashes are known. */
bool liveness_by_sibling(const char *url, size_t size,
                         const struct liveness_answer *page,
                         const struct liveness_answer *sibling, double similarity,
                         enum liveness_reason *ret_reason);

#endif
