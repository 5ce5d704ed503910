/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - what an answer means: one rule for the crawl, imports, `tell`, replay and
 * tests of life.
 *
 * The status says what kind of answer it is.  Only 200 and 203 bring a page, 304 says
 * that the asker's copy is still true, 404 and 410 say that the page is gone, and
 * everything else says nothing of it.  The content of a page is compared with our copy by
 * the detector:
 *
 *   - equal bytes are the same content, for every detector;
 *   - else the detector's mark (text, tags, simhash) decides, if both have one;
 *   - else the bytes decide, if both have a digest of them;
 *   - else nothing was compared, and the content counts as changed.
 *
 * Redirects differ by who tells.  A crawl follows them, ours or another's, and the answer
 * at the end counts: a redirect that is an answer led nowhere, so it failed.  An archive
 * keeps each request as a record of its own, under its own URL.  There the redirect is
 * all that is known of the page then: it is a state of the page, and differs from every
 * content.
 */
#ifndef ENGINE_ARCHIVE_JUDGE_H
#define ENGINE_ARCHIVE_JUDGE_H

#include "base/numbers.h"
#include "repo/store.h"
#include "web/page/change.h"

/* What a content is compared by; hashes stand for texts. */
struct fingerprint {
	uint64_t bytes, mark;           /* mark: what the detector looks at */
	bool has_bytes, has_mark;
};

enum answer_kind {
	ANSWER_PAGE, ANSWER_REDIRECT,
	ANSWER_AS_BEFORE,               /* it says itself that nothing changed */
	ANSWER_GONE, ANSWER_NOTHING
};

enum told_by {
	TOLD_BY_OURS,                   /* our crawl: conditional on our copy, or without a copy */
	TOLD_BY_CRAWLER,                /* another crawler, which may have its own copy */
	TOLD_BY_ARCHIVE
};

struct answer {
	enum told_by by;
	enum { ANSWER_CAME, ANSWER_FAILED, ANSWER_BLOCKED } fate;
	int status;                     /* 0: unknown */
	/* Of an archive: it has the content with these bytes, wherever that was captured;
	 * without a digest, the content of the previous capture. */
	bool revisit;
	struct fingerprint content;         /* of a 304: none */
};

struct verdict {
	enum outcome outcome;           /* GONE: the server said so just now */
	bool first;                     /* there was no copy to compare with */
	bool compared;                  /* false with CHANGED: nothing could be compared */
};

enum answer_kind judge_kind(int status, bool revisit);
/* copy: the answer that our copy was made from; of an archive, the previous answer; NULL:
 * none. */
struct verdict judge(const struct detector *d, const struct answer *a,
                     const struct answer *copy);
/* Is the page there?  SAME: it lives.  soft: it says "not found" with status 200. */
enum outcome judge_life(const struct answer *a, bool soft);

/* The mark that a detector compares; false: unknown.  simhash may be NULL. */
bool judge_mark(const struct detector *d, struct text digest, struct text prose,
                struct text tags, const uint64_t *simhash, uint64_t *ret);
struct fingerprint judge_fingerprint(const struct detector *d, struct text digest,
                                     struct text prose, struct text tags,
                                     const uint64_t *simhash);
/* Are two marks the same content? */
bool judge_same_mark(const struct detector *d, uint64_t a, uint64_t b);

/* A visit that says something of a page is its first if there was nothing to compare it
 * with: it makes the copy that changes are counted from, or says that there is no page.
 */
static inline bool judge_first(enum outcome o, bool had_copy)
{
	return !had_copy && o < OUTCOME_FAILED;
}

/* A visit is a hit if it found a change.  What is first is new, and no change. */
static inline bool judge_hit(enum outcome o, bool first)
{
	return !first && (o == OUTCOME_CHANGED || o == OUTCOME_GONE);
}

/* The same, of a visit that was kept: it found a content, or that there is none, and is
 * no hit. */
static inline bool judge_was_first(const struct store_visit *v)
{
	return v->goal == GOAL_CHANGED && !v->hit &&
	       (v->outcome == OUTCOME_CHANGED || v->outcome == OUTCOME_GONE);
}

#endif
