/* SPDX-License-Identifier: Apache-2.0 */
/* visit.c - one visit into the store; see visit.h. */
#include "engine/book/visit.h"

#include "base/buf.h"
#include "base/status.h"
#include "engine/book/touch.h"
#include "web/rules/lastmod.h"
#include "web/url/url.h"

int visit_trust(struct store *s, struct text url, struct lastmod_trust *ret, struct err *err)
{
	struct store_hint h = { 0 };
	struct buf site;
	int rc;

	buf_init(&site, URL_SIZE_MAX);
	url_site(url.s, url.size, false, &site);
	rc = store_hint_get(s, (struct text){ site.data, site.size }, &h, err);
	buf_release(&site);
	if (rc >= 0)
		*ret = (struct lastmod_trust){ .checks = h.checks, .hits = h.hits, .told = h.told };
	return rc < 0 ? rc : 0;
}

/* Was the lastmod date of the site right about this visit?  It is counted only if the date
 * was read since the visit before. */
static int check_hint(struct store *s, const struct store_page *p, bool changed,
                      struct err *err)
{
	struct lastmod_trust trust;
	struct store_hint h = { 0 }, was;
	struct buf site;
	int rc;

	if (!p->hint || !p->last_visit || p->hint_seen <= p->last_visit)
		return 0;
	buf_init(&site, URL_SIZE_MAX);
	url_site(p->url.s, p->url.size, false, &site);
	rc = store_hint_get(s, (struct text){ site.data, site.size }, &h, err);
	if (rc >= 0) {
		was = h;
		trust = (struct lastmod_trust){ h.checks, h.hits, h.told };
		lastmod_check(&trust, p->hint > p->last_visit, changed);
		h.checks = trust.checks;
		h.hits = trust.hits;
		h.told = trust.told;
		rc = store_hint_update(s, (struct text){ site.data, site.size }, &was, &h, err);
	}
	buf_release(&site);
	return rc;
}

/* Count failures in a row, and say what the outcome counts as: "gone" is a failure until
 * it was answered often enough. */
static enum outcome confirm(struct store_page *p, enum outcome o, unsigned confirmations)
{
	if (o == OUTCOME_BLOCKED)
		return o;
	if (o < OUTCOME_GONE) {
		p->fails = p->fails_gone = 0;
		return o;
	}
	p->fails += p->fails < UINT32_MAX;
	if (o == OUTCOME_FAILED)
		return o;
	if (p->found && !p->capture && !p->visits) {
		/* a page that discovery found and that never was there: no need for confirmation */
		p->state = STORE_PAGE_LEFT;
		return OUTCOME_FAILED;
	}
	p->fails_gone += p->fails_gone < UINT32_MAX;
	return p->fails_gone < confirmations ? OUTCOME_FAILED : o;
}

bool visit_once(struct map *had, uint32_t page, enum outcome o)
{
	uint32_t before = map_get(had, page);

	if (before != MAP_NONE && (before < OUTCOME_FAILED || o >= OUTCOME_FAILED))
		return false;
	map_put(had, page, o);
	return true;
}

/* Was there something to compare with?  Our copy; or a copy of the crawler that tells us.  It
 * has one if it says "same", or "changed" without content, or has told of the page before. */
static bool was_compared(const struct store_page *p, const struct new_visit *v,
                         enum outcome o)
{
	if (p->capture || o == OUTCOME_SAME)
		return true;
	return o == OUTCOME_CHANGED ? !v->capture || v->capture->revisit : p->visits > 0;
}

int visit_write(struct store *s, const struct new_visit *v, unsigned confirmations,
                struct verdict *ret, struct err *err)
{
	struct store_page p;
	int rc = store_page_get(s, v->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", v->page);
	return visit_write_page(s, v, &p, confirmations, ret, err);
}

int visit_write_page(struct store *s, const struct new_visit *v, const struct store_page *page,
                     unsigned confirmations, struct verdict *ret, struct err *err)
{
	enum outcome o = v->outcome;
	struct store_page p = *page, was = p;
	struct store_visit row = {
		.cycle = v->cycle, .page = v->page, .time = v->time, .reason = v->reason,
		.status = v->status, .score = v->score, .probability = v->probability,
		.place = v->place, .order = v->order,
	};
	bool first;
	int rc;

	if ((o == OUTCOME_SAME || o == OUTCOME_CHANGED) &&
	    (rc = check_hint(s, &p, o == OUTCOME_CHANGED, err)) < 0)
		return rc;
	/* a touch is about the time after a visit that was made before it */
	if (o <= OUTCOME_GONE && v->time >= p.touched && p.last_visit &&
	    (rc = touch_check(s, &p, o != OUTCOME_SAME, err)) < 0)
		return rc;
	o = confirm(&p, o, confirmations);
	first = judge_first(o, was_compared(&p, v, o));
	row.hit = judge_hit(o, first);
	if (v->capture) {
		v->capture->page = v->page;
		v->capture->time = v->time;
		rc = store_capture_add(s, v->capture, err);
		if (rc < 0)
			return rc;
		row.capture = v->capture->id;
		if (rc > 0 && o < OUTCOME_GONE && !v->capture->revisit &&
		    (!v->status || status_is_page(v->status)))
			p.capture = v->capture->id;
	}
	if (o <= OUTCOME_GONE) {
		p.visits++;
		p.changes += row.hit;
		if (o != OUTCOME_SAME && v->time > p.last_change)
			p.last_change = v->time;
		/* another crawler may tell of an earlier time */
		if (v->time >= p.last_visit) {
			p.last_visit = v->time;
			p.state = o == OUTCOME_GONE ? STORE_PAGE_GONE : STORE_PAGE_HERE;
		}
	}
	row.outcome = (uint8_t)o;
	row.extra = v->extra < STORE_EXTRA_MAX ? v->extra : STORE_EXTRA_MAX;
	if (o >= OUTCOME_FAILED)
		row.cause = (uint8_t)(v->cause == CAUSE_NONE && v->status ? CAUSE_STATUS : v->cause);
	if ((rc = store_page_update(s, &was, &p, err)) < 0 || (rc = store_visit_add(s, &row, err)) < 0)
		return rc;
	*ret = (struct verdict){ .outcome = o, .first = first, .compared = true };
	return 0;
}
