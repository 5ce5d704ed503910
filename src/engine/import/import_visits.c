/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_visits.c - what a page's captures say of its visits.
 *
 * A capture that no cycle of ours made was a visit of somebody's crawler.  It found a
 * change if its content differs from the capture before, by the repository's detector
 * (engine/archive/judge.h).  After captures were added in any order, the imported visits of
 * a page are written anew and its counters are set from all visits, imported and own.
 *
 * A capture may have been pruned (engine/prune).  Its imported visit then stays as it was, and
 * so does that of the next capture, which was compared with it.
 *
 * Many pages at a time: where the tables are at network distance each call of the store is
 * a round trip.
 */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/status.h"
#include "engine/archive/judge.h"
#include "engine/archive/site_detect.h"
#include "engine/import/import.h"
#include "policy/policy.h"

#define AT_ONCE 1000            /* pages */

struct known { int64_t time; uint64_t id; struct answer answer; };

struct timeline {
	struct detector detect;
	VEC(struct known) captures;
	struct map by_bytes;            /* captures with content: hash of its bytes to index */
	VEC(uint64_t) own;              /* captures that our visits made */
	VEC(struct store_visit) old;    /* imported visits as they were, by time */
	struct map there;               /* captures that are there: id to 0 */
	struct store_page was, page;    /* numbers only: their texts are gone */
	int64_t state_time;             /* time of the capture or visit that set page.state */
};

/* Some pages, and what is written of them. */
struct settling {
	const struct detectors *detect;
	VEC(struct timeline) pages;
	struct map at;                  /* page -> index */
	VEC(struct store_visit) visits;
	VEC(struct store_page_change) changes;
};

static struct timeline *timeline_of(struct settling *s, uint32_t page)
{
	uint32_t at = map_get(&s->at, page);

	return at != MAP_NONE ? &s->pages.v[at] : NULL;
}

static int add_page(void *arg, const struct store_page *p, struct err *err)
{
	struct settling *s = arg;
	struct timeline t = { .was = *p, .state_time = INT64_MIN,
	                      .detect = detectors_for(s->detect, p->url.s, p->url.size) };

	(void)err;
	t.was.url = t.was.given = (struct text){ 0 };
	t.page = t.was;
	t.page.visits = t.page.changes = 0;
	t.page.last_visit = t.page.last_change = 0;
	map_put(&s->at, p->number, (uint32_t)s->pages.n);
	vec_push(&s->pages, t);
	return 0;
}

static int add_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct timeline *t = timeline_of(arg, c->page);
	struct known k = { .time = c->time, .id = c->id, .answer = {
		.by = TOLD_BY_ARCHIVE, .status = c->status, .revisit = c->revisit } };

	(void)err;
	if (!t)
		return 0;
	k.answer.content = judge_fingerprint(&t->detect, c->digest, c->prose, c->tags,
	                                     c->has_simhash ? &c->simhash : NULL);
	if (k.answer.content.has_bytes && !c->revisit &&
	    judge_kind(c->status, false) == ANSWER_PAGE)
		map_put(&t->by_bytes, k.answer.content.bytes, (uint32_t)t->captures.n);
	vec_push(&t->captures, k);
	map_put(&t->there, c->id, 0);
	return 0;
}

static int add_old(void *arg, const struct store_visit *v, struct err *err)
{
	struct timeline *t = timeline_of(arg, v->page);

	(void)err;
	if (!t)
		return 0;
	vec_push(&t->old, *v);
	return 0;
}

static bool is_pruned(const struct timeline *t, const struct store_visit *v)
{
	return v->capture && map_get(&t->there, v->capture) == MAP_NONE;
}

/* A revisit has the content of the capture with the same digest.  The digest of a 304 may be
 * that of an empty body, so it counts only if a capture has it. */
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
			a->content = (struct fingerprint){ 0 };
	}
}

/* Is the page there?  The latest capture or visit decides. */
static void note_state(struct timeline *t, int64_t time, bool gone)
{
	if (time < t->state_time)
		return;
	t->state_time = time;
	t->page.state = gone ? STORE_PAGE_GONE : STORE_PAGE_HERE;
}

static int add_own(void *arg, const struct store_visit *v, struct err *err)
{
	struct timeline *t = timeline_of(arg, v->page);

	(void)err;
	if (!t)
		return 0;
	if (v->capture)
		vec_push(&t->own, v->capture);
	if (v->outcome >= OUTCOME_FAILED)
		return 0;
	if (v->goal == GOAL_ALIVE) {    /* a test of life says nothing of changes */
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

static void put_visit(struct settling *s, struct timeline *t, struct store_visit v)
{
	t->page.visits++;
	t->page.changes += v.hit;
	if (v.time > t->page.last_visit)
		t->page.last_visit = v.time;
	if (v.outcome != OUTCOME_SAME && v.time > t->page.last_change)
		t->page.last_change = v.time;
	note_state(t, v.time, v.outcome == OUTCOME_GONE);
	v.order = 0;
	vec_push(&s->visits, v);
}

/* The visits of captures that were pruned stay as they were. */
static void write_pruned(struct settling *s, struct timeline *t)
{
	for (size_t i = 0; i < t->old.n; i++)
		if (is_pruned(t, &t->old.v[i]))
			put_visit(s, t, t->old.v[i]);
}

/* The visit of this capture as it was, if what it was compared with was pruned; or NULL. */
static const struct store_visit *old_visit(const struct timeline *t, const struct known *k,
                                           const struct known *before)
{
	const struct store_visit *own = NULL;
	bool pruned = false;

	for (size_t i = 0; i < t->old.n; i++) {
		const struct store_visit *v = &t->old.v[i];

		if (v->capture == k->id)
			own = v;
		else if (v->time < k->time && (!before || v->time > before->time))
			pruned |= is_pruned(t, v);
	}
	return pruned ? own : NULL;
}

static void write_visit(struct settling *s, struct timeline *t, const struct known *k,
                        const struct verdict *found, const struct store_visit *old)
{
	struct store_visit v = {
		.page = t->page.number, .time = k->time,
		.outcome = (uint8_t)found->outcome, .status = k->answer.status,
		.hit = judge_hit(found->outcome, found->first),
		.score = NAN, .probability = NAN, .capture = k->id,
	};

	put_visit(s, t, old ? *old : v);
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
	/* Some index lines have no digest, and graphs have none.  A content with a digest after
	 * one without is a first copy.  Two without count as the same. */
	if (tells_nothing(k) && !tells_nothing(before))
		return false;
	if (tells_nothing(k))
		ret->outcome = OUTCOME_SAME;
	else
		ret->first = true;
	return true;
}

static void write_imported(struct settling *s, struct timeline *t)
{
	const struct known *before = NULL;

	write_pruned(s, t);
	join_revisits(t);
	for (size_t i = 0; i < t->captures.n; i++) {
		const struct known *k = &t->captures.v[i];
		bool brings = !k->answer.revisit && k->answer.status != 304;
		struct verdict found;

		if (!find(t, k, before, &found))
			continue;
		if (found.outcome != OUTCOME_GONE && !status_is_redirect(k->answer.status) &&
		    (brings || found.outcome == OUTCOME_CHANGED))
			t->page.capture = k->id;
		if (!is_own(t, k->id))
			write_visit(s, t, k, &found, old_visit(t, k, before));
		/* as a crawl does: the next is compared with the newest copy */
		if (!before || brings || found.outcome != OUTCOME_SAME)
			before = k;
	}
}

static int write_all(struct store *s, struct settling *of, struct err *err)
{
	int rc;

	for (size_t i = 0; i < of->pages.n; i++) {
		struct timeline *t = &of->pages.v[i];
		struct store_page_change c;

		write_imported(of, t);
		c = store_page_diff(&t->was, &t->page);
		if (c.set || c.visits || c.changes)
			vec_push(&of->changes, c);
	}
	rc = store_visits_add(s, of->visits.v, of->visits.n, err);
	return rc < 0 ? rc : store_pages_change(s, of->changes.v, of->changes.n, err);
}

static void settling_release(struct settling *of)
{
	for (size_t i = 0; i < of->pages.n; i++) {
		vec_release(&of->pages.v[i].captures);
		vec_release(&of->pages.v[i].own);
		vec_release(&of->pages.v[i].old);
		map_release(&of->pages.v[i].there);
		map_release(&of->pages.v[i].by_bytes);
	}
	vec_release(&of->pages);
	map_release(&of->at);
	vec_release(&of->visits);
	vec_release(&of->changes);
}

int import_visits_rewrite(struct store *s, const struct detectors *detect,
                          const uint32_t *pages, size_t n, struct err *err)
{
	int rc = 0;

	for (size_t from = 0; from < n && rc == 0; from += AT_ONCE) {
		size_t count = n - from < AT_ONCE ? n - from : AT_ONCE;
		const uint32_t *some = pages + from;
		struct settling of = { .detect = detect };

		if ((rc = store_pages_get(s, some, count, add_page, &of, err)) == 0 &&
		    (rc = store_captures(s, some, count, add_capture, &of, err)) == 0 &&
		    (rc = store_visits_of(s, some, count, 0, 1, add_old, &of, err)) == 0 &&
		    (rc = store_visits_forget(s, some, count, err)) == 0 &&
		    (rc = store_visits_of(s, some, count, 1, UINT32_MAX, add_own, &of, err)) == 0)
			rc = write_all(s, &of, err);
		settling_release(&of);
	}
	return rc;
}
