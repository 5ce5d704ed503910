/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - one visit into the store; see keep.h. */
#include "engine/keep.h"

#include <math.h>

int keep_visit(struct store *s, const struct kept_visit *v, unsigned confirmations,
               enum outcome *ret_outcome, struct err *err)
{
	enum outcome o = v->outcome;
	struct store_page p;
	struct store_visit row = {
		.cycle = v->cycle, .page = v->page, .time = v->time, .reason = v->reason,
		.status = v->status, .score = v->score, .probability = v->probability,
	};
	int rc = store_page_get(s, v->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", v->page);
	if (o == OUTCOME_GONE) {
		p.fails++;
		if (p.fails < confirmations)
			o = OUTCOME_FAILED;
	} else if (o == OUTCOME_FAILED) {
		p.fails++;
	} else if (o != OUTCOME_BLOCKED) {
		p.fails = 0;
	}
	if (v->capture) {
		v->capture->page = v->page;
		v->capture->time = v->time;
		rc = store_capture_add(s, v->capture, err);
		if (rc < 0)
			return rc;
		row.capture = v->capture->id;
		if (rc > 0 && o < OUTCOME_GONE && !v->capture->revisit && v->status < 300)
			p.capture = v->capture->id;
	}
	if (o <= OUTCOME_GONE) {
		p.visits++;
		p.last_visit = v->time;
		p.changes += o != OUTCOME_SAME;
		if (o != OUTCOME_SAME)
			p.last_change = v->time;
		p.state = o == OUTCOME_GONE ? STORE_PAGE_GONE : STORE_PAGE_HERE;
	}
	row.outcome = (uint8_t)o;
	row.hit = o == OUTCOME_CHANGED || o == OUTCOME_GONE;
	if ((rc = store_page_update(s, &p, err)) < 0 || (rc = store_visit_add(s, &row, err)) < 0)
		return rc;
	*ret_outcome = o;
	return 0;
}
