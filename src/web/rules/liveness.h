/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.h - is there still a page behind this URL?
 *
 * Pure functions over what was observed; nothing is fetched here.
 *
 * Classes are those of the LiveRank study (Huynh, Mathieu, Viennot 2014): no
 * answer, 404 (and 410, its plainer form), redirect, 200 (real or soft 404),
 * other.  Alive is a real 200; of a redirect the target is what lives, once,
 * however many old URLs lead to it: count distinct final URLs.
 *
 * Two tests tell a soft 404, a page that says "not here" with status 200:
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
#define LIVENESS_SIBLING_SIZE   25              /* letters of a name nobody chose */
#define LIVENESS_SIMHASH_MAX    3               /* bits apart, and yet the same */
#define LIVENESS_SIMILARITY_MIN 0.95

/* What came of one GET, redirects followed. */
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

/* The class of the page asked for (REDIRECT if there was one), by phrases; and
 * that of the place it led to, which is the same if there was no redirect.
 * *ret_target may be NULL. */
enum liveness_class liveness_classify(const struct liveness_answer *a,
                                      enum liveness_class *ret_target);

/* "Page Not Found" or "Error 404" in this text, in any case, whatever blanks lie
 * between the words.  For titles and visible text, not for markup. */
bool liveness_has_phrase(const char *text, size_t size);

/* Append a URL in the directory of `url` (canonical) that nobody has: its name is
 * LIVENESS_SIBLING_SIZE letters of `draw`.  One per directory and cycle will do. */
MUST_CHECK int liveness_sibling(const char *url, size_t size, uint64_t draw,
                                struct buf *out, struct err *err);

enum liveness_reason {
	LIVENESS_BY_ERROR,              /* the page itself failed: dead */
	LIVENESS_BY_HONESTY,            /* the sibling failed, as it should: alive */
	LIVENESS_BY_ROOT,               /* the site's front page: alive */
	LIVENESS_BY_REDIRECTS,          /* led on by more or fewer steps: alive */
	LIVENESS_BY_PLACE,              /* both led to one place: dead */
	LIVENESS_BY_LIKENESS,           /* both say the same: dead */
	LIVENESS_BY_DIFFERENCE,         /* they do not: alive */
};

/* Alive or not, by the sibling's answer.  `similarity` of the two texts (token
 * sequences or 4-shingles, 0..1), or negative if only the simhashes are known. */
bool liveness_by_sibling(const char *url, size_t size,
                         const struct liveness_answer *page,
                         const struct liveness_answer *sibling, double similarity,
                         enum liveness_reason *ret_reason);

#endif
