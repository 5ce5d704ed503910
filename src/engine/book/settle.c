/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settle.c - what a page's captures say of its visits.
 *
 * A capture that no cycle of ours made was a visit of somebody's crawler.  It found a
 * change if its content differs from the capture before, by the repository's detector
 * (engine/archive/judge.h).  After captures were added in any order, the imported visits of
 * a page are written anew and its counters are set from all visits, imported and own.
 */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/status.h"
#include "engine/archive/judge.h"
#include "engine/book/import.h"
#include "policy/policy.h"

struct known { int64_t time; uint64_t id; struct answer answer; };

struct timeline {
	struct detector detect;
	VEC(struct known) captures;
	struct map by_bytes;            /* those that brought a content: their number */
	VEC(uint64_t) own;              /* captures that our visits made */
	struct store_page page;
	int64_t state_time;             /* of what page.state rests on */
};

static int add_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct timeline *t = arg;
	struct known k = { .time = c->time, .id = c->id, .answer = {
		.by = TOLD_BY_ARCHIVE, .status = c->status, .revisit = c->revisit,
		.content = judge_content(&t->detect, c->digest, c->prose, c->tags,
		                         c->has_simhash ? &c->simhash : NULL) } };

	(void)err;
	if (k.answer.content.has_bytes && !c->revisit &&
	    judge_kind(c->status, false) == ANSWER_PAGE)
		map_put(&t->by_bytes, k.answer.content.bytes, (uint32_t)t->captures.n);
	vec_push(&t->captures, k);
	return 0;
}

/* A revisit is the content that has its digest: it has the marks of that.  The digest of a
 * 304 may be that of no bytes at all, so it counts only if a capture has it. */
static void join_revisits(struct timeline *t)
{
	for (size_t i = 0; i < t->captures.n; i++) {
		struct answer *a = &t->captures.v[i].answer;
		uint32_t at;

		if (!a->content.has_bytes || (!a->revisit && a->status != 304))
			continue;
		at = map_get(&t->by_bytes, a->content.bytes);
		if (at != MAP_NONE)
			a->content = t->captures.v[at].answer.content;
		else if (a->status == 304)
			a->content = (struct content){ 0 };
	}
}

/* Whether the page is there: what was seen last says. */
static void note_state(struct timeline *t, int64_t time, bool gone)
{
	if (time < t->state_time)
		return;
	t->state_time = time;
	t->page.state = gone ? STORE_PAGE_GONE : STORE_PAGE_HERE;
}

static int add_own(void *arg, const struct store_visit *v, struct err *err)
{
	struct timeline *t = arg;

	(void)err;
	if (v->capture)
		vec_push(&t->own, v->capture);
	if (v->outcome >= OUTCOME_FAILED)
		return 0;
	if (v->goal == GOAL_ALIVE) {    /* tells of its life, not of changes */
		note_state(t, v->time, v->outcome == OUTCOME_GONE);
		return 0;
	}
	t->page.visits++;
	t->page.changes += v->hit;
	if (v->time > t->page.last_visit)
		t->page.last_visit = v->time;
	if (v->outcome != OUTCOME_SAME && v->time > t->page.last_change)
		t->page.last_change = v->time;
	note_state(t, v->time, v->outcome == OUTCOME_GONE);
	return 0;
}

static bool is_own(const struct timeline *t, uint64_t id)
{
	for (size_t i = 0; i < t->own.n; i++)
		if (t->own.v[i] == id)
			return true;
	return false;
}

static int write_visit(struct store *s, struct timeline *t, const struct known *k,
                       const struct verdict *found, struct err *err)
{
	struct store_visit v = {
		.page = t->page.number, .time = k->time,
		.outcome = (uint8_t)found->outcome, .status = k->answer.status,
		.hit = judge_hit(found->outcome, found->first),
		.score = NAN, .probability = NAN, .capture = k->id,
	};

	t->page.visits++;
	t->page.changes += v.hit;
	if (k->time > t->page.last_visit)
		t->page.last_visit = k->time;
	if ((v.hit || found->first) && k->time > t->page.last_change)
		t->page.last_change = k->time;
	note_state(t, k->time, found->outcome == OUTCOME_GONE);
	return store_visit_add(s, &v, err);
}

static bool is_gone(const struct known *k)
{
	return judge_kind(k->answer.status, false) == ANSWER_GONE;
}

static bool tells_nothing(const struct known *k)
{
	return !k->answer.content.has_bytes && !k->answer.content.has_mark;
}

/* What a capture says of the page, given the one before; false: nothing. */
static bool find(const struct timeline *t, const struct known *k, const struct known *before,
                 struct verdict *ret)
{
	*ret = judge(&t->detect, &k->answer, before ? &before->answer : NULL);
	if (ret->outcome >= OUTCOME_FAILED ||
	    (ret->outcome == OUTCOME_GONE && before && is_gone(before)))
		return false;
	if (ret->compared)
		return true;
	/* An index may know no digest, and graphs know none.  A content that cannot be
	 * compared is the first of those that can; of two that tell nothing, nothing changed. */
	if (tells_nothing(k) && !tells_nothing(before))
		return false;
	if (tells_nothing(k))
		ret->outcome = OUTCOME_SAME;
	else
		ret->first = true;
	return true;
}

static int write_imported(struct store *s, struct timeline *t, struct err *err)
{
	const struct known *before = NULL;
	int rc = 0;

	join_revisits(t);
	for (size_t i = 0; i < t->captures.n && rc == 0; i++) {
		const struct known *k = &t->captures.v[i];
		bool brings = !k->answer.revisit && k->answer.status != 304;
		struct verdict found;

		if (!find(t, k, before, &found))
			continue;
		if (found.outcome != OUTCOME_GONE && !status_is_redirect(k->answer.status) &&
		    (brings || found.outcome == OUTCOME_CHANGED))
			t->page.capture = k->id;
		if (!is_own(t, k->id))
			rc = write_visit(s, t, k, &found, err);
		/* as a crawl does: the next is compared with the newest copy */
		if (!before || brings || found.outcome != OUTCOME_SAME)
			before = k;
	}
	return rc;
}

int settle_page(struct store *s, const struct detector *detect, uint32_t page,
                struct err *err)
{
	struct timeline t = { .detect = detect ? *detect : (struct detector){ 0 } };
	struct store_page old;
	int rc = store_page_get(s, page, &old, err);

	if (rc <= 0)
		return rc;
	t.page = old;
	t.page.visits = t.page.changes = 0;
	t.page.last_visit = t.page.last_change = 0;
	t.state_time = INT64_MIN;
	if ((rc = store_captures(s, page, add_capture, &t, err)) == 0 &&
	    (rc = store_visits_forget(s, page, err)) == 0 &&
	    (rc = store_visits(s, page, 1, UINT32_MAX, add_own, &t, err)) == 0 &&
	    (rc = write_imported(s, &t, err)) == 0)
		rc = store_page_update(s, &t.page, err);
	vec_release(&t.captures);
	vec_release(&t.own);
	map_release(&t.by_bytes);
	return rc;
}
