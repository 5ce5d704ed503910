/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - outcomes of another crawler, into the tables; see tell.h. */
#include <math.h>

#include "engine/archive/judge.h"
#include "engine/book/tell_inner.h"

/* What the status and the digest say, given our copy.  A digest is all that is told of a
 * content, so every detector goes by it. */
static int derive_outcome(struct store *s, const struct told *told, const struct store_page *p,
                          enum outcome *ret, struct err *err)
{
	const struct detector bytes = { .kind = DETECT_BYTES };
	struct answer a = { .by = TOLD_BY_CRAWLER, .status = told->status };
	struct answer copy = { .by = TOLD_BY_OURS, .status = 200 };
	struct text none = { 0 };
	struct store_capture c;
	int rc = 0;

	if (told->outcome >= 0) {
		*ret = (enum outcome)told->outcome;
		return 0;
	}
	if (judge_kind(told->status, false) == ANSWER_PAGE)
		a.content = judge_fingerprint(&bytes, told->digest, none, none, NULL);
	if (p->capture && (rc = store_capture_get(s, p->capture, &c, err)) > 0)
		copy.content = judge_fingerprint(&bytes, c.digest, none, none, NULL);
	if (rc >= 0)
		*ret = judge(&bytes, &a, rc > 0 ? &copy : NULL).outcome;
	return rc < 0 ? rc : 0;
}

/* Our copy is still good: the server is asked next time with the validators that it gave
 * just now. */
static int refresh_copy(struct tell *t, const struct told *told, uint64_t capture,
                        struct err *err)
{
	struct store_capture c;
	struct buf texts[3];
	struct text *from[3] = { &c.etag, &c.modified, &c.robots };
	int rc = store_capture_get(t->store, capture, &c, err);

	if (rc <= 0)
		return rc;
	if (told->etag.s)
		c.etag = told->etag;
	if (told->modified.s)
		c.modified = told->modified;
	for (int i = 0; i < 3; i++) {           /* the row's texts live until the next get */
		buf_init(&texts[i], BUF_NO_LIMIT);
		buf_add(&texts[i], from[i]->s ? from[i]->s : "", from[i]->size);
		*from[i] = (struct text){ from[i]->s ? buf_text(&texts[i]) : NULL, texts[i].size };
	}
	rc = store_captures_refresh(t->store, &(struct store_headers){ capture, c.etag, c.modified,
	                                                                c.robots }, 1, err);
	for (int i = 0; i < 3; i++)
		buf_release(&texts[i]);
	return rc;
}

static void count(struct tell *t, const struct tell_event *e)
{
	struct store_cycle *row = &t->ledger->last.row;
	bool changed = e->outcome == OUTCOME_CHANGED;

	t->stats.n_lines++;
	t->stats.fresh += e->first && changed;
	t->stats.changed += !e->first && changed;
	t->stats.same += e->outcome == OUTCOME_SAME;
	t->stats.gone += e->outcome == OUTCOME_GONE;
	t->stats.failed += e->outcome >= OUTCOME_FAILED;
	if (!t->ledger->open || e->reason == REASON_LATE)
		return;
	row->fresh += e->first && changed;
	row->changed += !e->first && changed;
	row->same += e->outcome == OUTCOME_SAME;
	row->gone += e->outcome == OUTCOME_GONE;
	row->failed += e->outcome == OUTCOME_FAILED;
	row->blocked += e->outcome == OUTCOME_BLOCKED;
}

/* Write the visit of the page, as it was read. */
static int write_told(struct tell *t, const struct told *told, struct new_visit v,
                      const struct store_page *page, struct err *err)
{
	struct store_capture c = { .status = told->status, .length = -1, .bytes_text = -1,
	                           .words = -1, .images = -1, .tables = -1, .emails = -1,
	                           .outlinks = -1, .offset = -1, .size = -1,
	                           .digest = told->digest, .etag = told->etag,
	                           .modified = told->modified, .links = told->links };
	struct tell_event e = { TELL_VISIT, .page = v.page, .extra = v.extra,
	                        .cause = v.cause, .status = v.status, .score = v.score,
	                        .probability = v.probability, .reason = v.reason };
	struct verdict kept;
	int rc = isnan(told->weight) ? 0 : store_page_weigh(t->store, v.page, told->weight, err);

	if (rc < 0)
		return rc;
	if (v.outcome == OUTCOME_CHANGED &&
	    (told->digest.s || told->etag.s || told->modified.s || told->links.s))
		v.capture = &c;
	if (v.time > t->now + TELL_FUTURE) {   /* it would hide the page from all policies */
		v.time = t->now;
		t->stats.n_future++;
	}
	if (v.outcome == OUTCOME_SAME && page->capture && (told->etag.s || told->modified.s) &&
	    (rc = refresh_copy(t, told, page->capture, err)) < 0)
		return rc;
	/* a copy of an earlier time may be the newest that links are taken from */
	if (v.capture && t->ledger->last.any && v.time < t->ledger->last.row.time &&
	    (rc = store_past_raise(t->store, err)) < 0)
		return rc;
	rc = visit_write_page(t->store, &v, page, t->confirmations, &kept, err);
	if (rc < 0)
		return rc;
	e.outcome = kept.outcome;
	e.first = kept.first;
	count(t, &e);
	if (t->ledger->open && v.reason != REASON_LATE && t->event)
		t->event(t->arg, &e);
	return 0;
}

/* Into the open cycle: 1, or 0 if this was told before. */
static int close_lease(struct tell *t, const struct tell_subject *s, struct new_visit *v,
                       struct err *err)
{
	struct ledger *l = t->ledger;
	const struct store_lease *lease = s->number ? ledger_lease(l, s->number) : NULL;
	bool leased = lease && lease->state != STORE_LEASE_GIVEN_BACK &&
		lease->state != STORE_LEASE_DROPPED;
	int rc = 0;

	if (map_get(&l->told, s->page) != MAP_NONE)
		return 0;
	if (leased) {
		v->place = s->number;
		v->score = lease->score;
		v->probability = lease->probability;
		v->reason = lease->reason;
	}
	if (!leased || lease->state == STORE_LEASE_OUT)         /* else it is spent already */
		l->last.row.downloads += (v->outcome != OUTCOME_BLOCKED) + v->extra;
	if (leased)
		rc = ledger_close(l, s->number, STORE_LEASE_TOLD, err);
	v->order = ledger_event(l);
	map_put(&l->told, s->page, 1);
	return rc < 0 ? rc : 1;
}

/* The offer of a cycle that is over: it is told of once.  1, or 0 if it was before. */
static int close_late(struct tell *t, struct tell_subject *s, struct new_visit *v, struct err *err)
{
	int rc = 0;

	if (s->late.place) {
		if (s->late.state == STORE_LEASE_TOLD)
			return 0;
		s->late.state = STORE_LEASE_TOLD;
		rc = store_leases_put(t->store, &s->late, 1, err);
	}
	v->reason = REASON_LATE;
	v->order = t->ledger->open ? ledger_event(t->ledger) : 0;
	t->stats.n_late += rc == 0;
	return rc < 0 ? rc : 1;
}

static int give_back(struct tell *t, const struct tell_subject *s, const char **ret_why,
                     struct err *err)
{
	struct ledger *l = t->ledger;
	struct tell_event e = { TELL_GIVEN_BACK, .page = s->page };
	int rc;

	if (s->is_late || !l->open) {
		t->stats.n_repeated++;          /* its cycle is over: nothing comes back */
		return 0;
	}
	if (!s->number) {
		*ret_why = "it is not on offer, so it cannot be released";
		return 0;
	}
	if (ledger_lease(l, s->number)->state != STORE_LEASE_OUT) {
		t->stats.n_repeated++;
		return 0;
	}
	rc = ledger_close(l, s->number, STORE_LEASE_GIVEN_BACK, err);
	t->stats.n_given_back += rc == 0;
	if (rc == 0 && t->event)
		t->event(t->arg, &e);
	return rc;
}

int tell_one(struct tell *t, const struct told *told, const char **ret_why, struct err *err)
{
	struct new_visit v = { .cycle = t->cycle, .time = told->time ? told->time : t->now,
	                        .status = told->status, .score = told->score,
	                        .probability = told->probability, .reason = told->reason,
	                        .cause = told->cause };
	struct tell_subject s = { 0 };
	struct store_page p;
	int rc;

	*ret_why = NULL;
	rc = tell_find(t, told, &s, ret_why, err);
	if (rc < 0 || *ret_why)
		return rc;
	if (told->outcome == TOLD_GIVEN_BACK)
		return give_back(t, &s, ret_why, err);
	v.page = s.page;
	rc = store_page_get(t->store, s.page, &p, err);
	if (rc == 0)
		rc = err_set(err, E_STORE, "no page %u", s.page);
	if (rc < 0 || (rc = derive_outcome(t->store, told, &p, &v.outcome, err)) < 0)
		return rc;
	if (told->requests)
		v.extra = told->requests - (v.outcome != OUTCOME_BLOCKED);
	if (s.is_late)
		rc = close_late(t, &s, &v, err);
	else if (t->ledger->open)
		rc = close_lease(t, &s, &v, err);
	else if (!(rc = visit_once(&t->had, v.page, v.outcome)))
		*ret_why = "this page was told of before in this file";
	if (rc == 0 && !*ret_why)
		t->stats.n_repeated++;
	return rc > 0 ? write_told(t, told, v, &p, err) : rc;
}

/* ---- what is told together ---- */

void tell_expect(struct tell *t, const struct told *told)
{
	const struct ledger *l = t->ledger;
	struct text url = told->url;
	uint32_t cycle, number;

	if (!store_is_far(t->store))
		return;
	if (url.s) {
		url.s = arena_strndup(&t->urls, url.s, url.size);
		vec_push(&t->ahead_urls, url);
	} else if (l->open && ledger_parse(told->lease, &cycle, &number) &&
	           cycle == l->last.row.number && number <= l->leases.n) {
		vec_push(&t->ahead_pages, ledger_lease(l, number)->page);
	}
}

int tell_foresee(struct tell *t, struct err *err)
{
	int rc = store_foresee(t->store, &(struct store_ahead){
		.urls = t->ahead_urls.v, .n_urls = t->ahead_urls.n,
		.pages = t->ahead_pages.v, .n_pages = t->ahead_pages.n }, err);

	t->ahead_urls.n = t->ahead_pages.n = 0;
	arena_reset(&t->urls);
	return rc;
}

int tell_lapse(struct tell *t, struct ledger *l, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && l->open && (i = ledger_due(l, i, t->now)) != 0;) {
		struct tell_event e = { TELL_LAPSED, .page = ledger_lease(l, i)->page };

		rc = ledger_close(l, i, STORE_LEASE_LAPSED, err);
		if (rc == 0 && t->event)
			t->event(t->arg, &e);
	}
	return rc;
}

int tell_begin(struct tell *t, struct ledger *l, struct err *err)
{
	t->ledger = l;
	t->cycle = l->last.row.number;
	if (l->open)
		return tell_lapse(t, l, err);
	return last_cycle_next(t->store, &t->cycle, &t->ended, err);
}

static int write_cycle(struct tell *t, struct err *err)
{
	struct tell_stats *s = &t->stats;
	struct store_cycle c = {
		.number = t->cycle, .time = t->now, .policy = { "told", 4 },
		.owed = last_cycle_owed(&t->ledger->last),
		.downloads = (uint32_t)(s->fresh + s->changed + s->same + s->gone + s->failed),
		.fresh = (uint32_t)s->fresh, .changed = (uint32_t)s->changed,
		.same = (uint32_t)s->same, .gone = (uint32_t)s->gone, .failed = (uint32_t)s->failed,
	};

	c.budget = c.downloads;
	return store_cycle_put(t->store, &c, err);
}

int tell_end(struct tell *t, struct err *err)
{
	return t->ledger->open ? ledger_save(t->ledger, err) : write_cycle(t, err);
}

void tell_release(struct tell *t)
{
	map_release(&t->had);
	if (t->care)
		care_rules_release(t->care);
	free(t->care);
	t->care = NULL;
	buf_release(&t->text);
	arena_release(&t->urls);
	vec_release(&t->ahead_urls);
	vec_release(&t->ahead_pages);
}
