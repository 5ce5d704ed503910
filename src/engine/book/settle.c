/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settle.c - what a page's captures say of its visits.
 *
 * A capture that no cycle of ours made was a visit of somebody's crawler: it
 * found a change if its content differs from the capture before.  After captures
 * were added in any order, the imported visits of a page are written anew and its
 * counters are set from all visits, imported and own.
 */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/book/import.h"
#include "policy/policy.h"

struct known { int64_t time; uint64_t id, digest; int32_t status; bool revisit; };

struct timeline {
	VEC(struct known) captures;
	VEC(uint64_t) own;              /* captures that our visits made */
	struct store_page page;
	int64_t state_time;             /* of what page.state rests on */
};

static int add_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct timeline *t = arg;
	struct known k = { .time = c->time, .id = c->id, .status = c->status,
	                   .revisit = c->revisit };

	(void)err;
	k.digest = c->digest.s ? hash_bytes(c->digest.s, c->digest.size, 0) : 0;
	vec_push(&t->captures, k);
	return 0;
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

static bool is_gone(const struct known *k)
{
	return k->status == 404 || k->status == 410;
}

/* A revisit without a digest is what was there before; with one, what has it. */
static enum outcome outcome_of(const struct known *before, const struct known *k)
{
	if (is_gone(k))
		return OUTCOME_GONE;
	if (k->status == 304 || (k->revisit && k->status == 0))
		return !k->digest || !before || before->digest == k->digest ? OUTCOME_SAME :
		       OUTCOME_CHANGED;
	if (k->status < 200 || k->status > 399)
		return OUTCOME_FAILED;
	if (k->revisit && !k->digest)
		return OUTCOME_SAME;
	return before && before->digest == k->digest &&
	       (k->revisit || before->status == k->status) ? OUTCOME_SAME : OUTCOME_CHANGED;
}

static int write_visit(struct store *s, struct timeline *t, const struct known *k,
                       enum outcome o, bool first, struct err *err)
{
	struct store_visit v = {
		.page = t->page.number, .time = k->time, .outcome = (uint8_t)o,
		.status = k->status, .hit = !first && (o == OUTCOME_CHANGED || o == OUTCOME_GONE),
		.score = NAN, .probability = NAN, .capture = k->id,
	};

	t->page.visits++;
	t->page.changes += v.hit;
	if (k->time > t->page.last_visit)
		t->page.last_visit = k->time;
	if ((v.hit || first) && k->time > t->page.last_change)
		t->page.last_change = k->time;
	note_state(t, k->time, o == OUTCOME_GONE);
	return store_visit_add(s, &v, err);
}

/* Can the two be compared?  An index may know no digest, and graphs know none. */
static bool tells(const struct known *before, const struct known *k)
{
	return !before || k->revisit || is_gone(k) || is_gone(before) ||
	       !k->digest == !before->digest || k->status / 100 != before->status / 100;
}

static int write_imported(struct store *s, struct timeline *t, struct err *err)
{
	const struct known *before = NULL;
	int rc = 0;

	for (size_t i = 0; i < t->captures.n && rc == 0; i++) {
		const struct known *k = &t->captures.v[i];
		enum outcome o = outcome_of(before, k);

		/* what failed says nothing of the page, and gone is gone */
		if (o == OUTCOME_FAILED || (o == OUTCOME_GONE && before && is_gone(before)) ||
		    (!k->digest && !tells(before, k)))
			continue;
		if (!tells(before, k))          /* the first that can be compared with */
			before = NULL;
		if (o != OUTCOME_GONE && k->status < 300 && (!k->revisit || o == OUTCOME_CHANGED))
			t->page.capture = k->id;
		if (!is_own(t, k->id))
			rc = write_visit(s, t, k, o, !before, err);
		if (o != OUTCOME_SAME || !before)
			before = k;
	}
	return rc;
}

int settle_page(struct store *s, uint32_t page, struct err *err)
{
	struct timeline t = { 0 };
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
	return rc;
}
