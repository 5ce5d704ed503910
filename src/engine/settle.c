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
#include "engine/import.h"
#include "policy/policy.h"

struct known { int64_t time; uint64_t id, digest; int32_t status; bool revisit; };

struct timeline {
	VEC(struct known) captures;
	VEC(uint64_t) own;              /* captures that our visits made */
	struct store_page page;
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

static int add_own(void *arg, const struct store_visit *v, struct err *err)
{
	struct timeline *t = arg;

	(void)err;
	if (v->capture)
		vec_push(&t->own, v->capture);
	if (v->outcome >= OUTCOME_FAILED)
		return 0;
	t->page.visits++;
	t->page.changes += v->outcome != OUTCOME_SAME;
	if (v->time > t->page.last_visit)
		t->page.last_visit = v->time;
	if (v->outcome != OUTCOME_SAME && v->time > t->page.last_change)
		t->page.last_change = v->time;
	return 0;
}

static bool is_own(const struct timeline *t, uint64_t id)
{
	for (size_t i = 0; i < t->own.n; i++)
		if (t->own.v[i] == id)
			return true;
	return false;
}

static enum outcome outcome_of(const struct known *before, const struct known *k)
{
	if (k->status == 404 || k->status == 410)
		return OUTCOME_GONE;
	if (k->revisit || k->status == 304)
		return OUTCOME_SAME;
	if (k->status < 200 || k->status > 399)
		return OUTCOME_FAILED;
	return before && before->digest == k->digest && before->status == k->status ?
	       OUTCOME_SAME : OUTCOME_CHANGED;
}

static int write_imported(struct store *s, struct timeline *t, struct err *err)
{
	const struct known *before = NULL;
	int rc = 0;

	for (size_t i = 0; i < t->captures.n && rc == 0; i++) {
		const struct known *k = &t->captures.v[i];
		enum outcome o = outcome_of(before, k);
		struct store_visit v = {
			.page = t->page.number, .time = k->time, .outcome = (uint8_t)o,
			.status = k->status, .hit = before && (o == OUTCOME_CHANGED || o == OUTCOME_GONE),
			.score = NAN, .probability = NAN, .capture = k->id,
		};

		/* what failed says nothing of the page */
		if (o != OUTCOME_FAILED) {
			t->page.state = o == OUTCOME_GONE ? STORE_PAGE_GONE : STORE_PAGE_HERE;
			if (o != OUTCOME_GONE && !k->revisit && k->status < 300)
				t->page.capture = k->id;
			if (!is_own(t, k->id)) {
				t->page.visits++;
				t->page.changes += v.hit;
				if (k->time > t->page.last_visit)
					t->page.last_visit = k->time;
				if ((v.hit || !before) && k->time > t->page.last_change)
					t->page.last_change = k->time;
				rc = store_visit_add(s, &v, err);
			}
			before = k->revisit && before ? before : k;
		}
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
	if ((rc = store_captures(s, page, add_capture, &t, err)) == 0 &&
	    (rc = store_visits_forget(s, page, err)) == 0 &&
	    (rc = store_visits(s, page, 1, UINT32_MAX, add_own, &t, err)) == 0 &&
	    (rc = write_imported(s, &t, err)) == 0)
		rc = store_page_update(s, &t.page, err);
	vec_release(&t.captures);
	vec_release(&t.own);
	return rc;
}
