/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - see judge.h.  Pure: the facts are all it looks at. */
#include "engine/archive/judge.h"

#include "base/map.h"
#include "base/status.h"

bool judge_mark(const struct detector *d, struct text digest, struct text prose,
                struct text tags, const uint64_t *simhash, uint64_t *ret)
{
	struct text t = d->kind == DETECT_TEXT ? prose : d->kind == DETECT_TAGS ? tags : digest;

	if (d->kind == DETECT_NEAR) {
		*ret = simhash ? *simhash : 0;
		return simhash;
	}
	*ret = t.s ? hash_bytes(t.s, t.size, 0) : 0;
	return t.s;
}

struct fingerprint judge_fingerprint(const struct detector *d, struct text digest,
                                     struct text prose, struct text tags,
                                     const uint64_t *simhash)
{
	struct fingerprint c = { .has_bytes = digest.s };

	c.has_mark = judge_mark(d, digest, prose, tags, simhash, &c.mark);
	if (c.has_bytes)
		c.bytes = hash_bytes(digest.s, digest.size, 0);
	return c;
}

bool judge_same_mark(const struct detector *d, uint64_t a, uint64_t b)
{
	return d->kind == DETECT_NEAR ? simhash_distance(a, b) <= d->bits : a == b;
}

enum answer_kind judge_kind(int status, bool revisit)
{
	if (status == 304 || (revisit && status == 0))
		return ANSWER_AS_BEFORE;
	if (status_is_page(status))
		return ANSWER_PAGE;
	if (status_is_redirect(status))
		return ANSWER_REDIRECT;
	return status_is_gone(status) ? ANSWER_GONE : ANSWER_NOTHING;
}

enum likeness { LIKE, UNLIKE, UNKNOWN };

static enum likeness compare(const struct detector *d, const struct fingerprint *a,
                             const struct fingerprint *b)
{
	bool bytes = a->has_bytes && b->has_bytes;

	if (bytes && a->bytes == b->bytes)
		return LIKE;
	if (a->has_mark && b->has_mark)
		return judge_same_mark(d, a->mark, b->mark) ? LIKE : UNLIKE;
	return bytes ? UNLIKE : UNKNOWN;
}

/* Without a copy to compare with. */
static enum outcome judge_alone(const struct answer *a, enum answer_kind kind)
{
	if (kind == ANSWER_AS_BEFORE)   /* we did not ask for that; another has a copy */
		return a->by == TOLD_BY_OURS ? OUTCOME_FAILED : OUTCOME_SAME;
	return a->revisit && !a->content.has_bytes ? OUTCOME_SAME : OUTCOME_CHANGED;
}

static enum outcome judge_content_of(const struct detector *d, const struct answer *a,
                                     enum answer_kind kind, const struct answer *copy,
                                     bool *ret_compared)
{
	enum answer_kind before = judge_kind(copy->status, copy->revisit);
	enum likeness like = compare(d, &a->content, &copy->content);

	if (before == ANSWER_GONE)
		return OUTCOME_CHANGED;         /* it is back */
	if (kind == ANSWER_AS_BEFORE || (a->revisit && !a->content.has_bytes))
		return like == UNLIKE ? OUTCOME_CHANGED : OUTCOME_SAME;
	if (before != kind && before != ANSWER_AS_BEFORE)
		return OUTCOME_CHANGED;         /* a page became a redirect, or the other way */
	*ret_compared = like != UNKNOWN;
	return like == LIKE ? OUTCOME_SAME : OUTCOME_CHANGED;
}

struct verdict judge(const struct detector *d, const struct answer *a,
                     const struct answer *copy)
{
	enum answer_kind kind = judge_kind(a->status, a->revisit);
	struct verdict v = { .outcome = OUTCOME_FAILED, .compared = true };

	if (a->fate == ANSWER_BLOCKED)
		v.outcome = OUTCOME_BLOCKED;
	else if (a->fate == ANSWER_FAILED || kind == ANSWER_NOTHING ||
	         (kind == ANSWER_REDIRECT && a->by != TOLD_BY_ARCHIVE))
		v.outcome = OUTCOME_FAILED;
	else if (kind == ANSWER_GONE)
		v.outcome = OUTCOME_GONE;
	else if (!copy)
		v.outcome = judge_alone(a, kind);
	else
		v.outcome = judge_content_of(d, a, kind, copy, &v.compared);
	v.first = judge_first(v.outcome, copy != NULL);
	return v;
}

enum outcome judge_life(const struct answer *a, bool soft)
{
	enum answer_kind kind = judge_kind(a->status, a->revisit);

	if (a->fate == ANSWER_BLOCKED)
		return OUTCOME_BLOCKED;
	if (kind == ANSWER_PAGE && a->fate == ANSWER_CAME)
		return soft ? OUTCOME_GONE : OUTCOME_SAME;
	return kind == ANSWER_GONE ? OUTCOME_GONE : OUTCOME_FAILED;
}
