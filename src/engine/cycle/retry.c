/* SPDX-License-Identifier: Apache-2.0 */
/* retry.c - rest and retry of pages that fail; see retry.h. */
#include "engine/cycle/retry.h"

#include <math.h>

#include "base/status.h"

static enum failure judge_status(int32_t status)
{
	if (status_is_gone(status))     /* not a failure; other code decides if it is gone */
		return FAILURE_NO;
	switch (status) {
	case 401:
	case 403:
	case 451:
		return FAILURE_FORBIDDEN;
	default:
		return FAILURE_ANSWER;
	}
}

enum failure retry_judge(enum outcome o, enum cause cause, int32_t status)
{
	if (o == OUTCOME_BLOCKED)
		return FAILURE_UNKNOWN;
	if (o < OUTCOME_FAILED)
		return FAILURE_NO;
	switch (cause) {
	case CAUSE_DNS:
		return FAILURE_DNS;
	case CAUSE_CONNECT:
		return FAILURE_CONNECT;
	case CAUSE_RESET:
		return FAILURE_RESET;
	case CAUSE_NONE:                /* an old visit, or another crawler gave no cause */
	case CAUSE_TIMEOUT:
		return status ? judge_status(status) : FAILURE_TIMEOUT;
	case CAUSE_TYPE:
		return FAILURE_UNWANTED;
	case CAUSE_BUDGET:
	case CAUSE_STOPPED:
		return FAILURE_UNKNOWN;
	default:
		return judge_status(status);
	}
}

static bool is_on(const struct view *v)
{
	return v->goal == GOAL_CHANGED;
}

static void close_page(struct retry *r, uint8_t *state, uint32_t page)
{
	if (state[page] & PAGE_RESTS)
		return;
	state[page] |= PAGE_RESTS;
	vec_push(&r->closed, page);
}

/* Call each() for every page that fails, or whose host fails.  Some pages come twice. */
static void each_failing(struct retry *r, const struct view *v, uint8_t *state,
                         void (*each)(struct retry *, const struct view *, uint8_t *, uint32_t))
{
	const struct tree *t = v->tree;

	for (size_t i = 0; i < r->backoff.pages.n; i++)
		if (r->backoff.pages.v[i].fails)
			each(r, v, state, r->backoff.pages.v[i].page);
	for (size_t k = 0; k < r->backoff.hosts.n; k++) {
		const struct backoff_host *h = &r->backoff.hosts.v[k];

		if (!h->fails && h->until <= v->now)
			continue;
		for (uint32_t i = t->site_first[h->host]; i < t->site_first[h->host + 1]; i++)
			each(r, v, state, t->site_pages[i]);
	}
}

/* Close or open a page, as backoff says now. */
static void set_page(struct retry *r, const struct view *v, uint8_t *state, uint32_t page)
{
	enum rest rest = backoff_look(&r->backoff, page, v->site[page]);

	if (rest == REST_RESTS || (rest == REST_BACK && r->full))
		close_page(r, state, page);
	else
		state[page] &= (uint8_t)~PAGE_RESTS;
}

void retry_begin(struct retry *r, const struct view *v, uint8_t *state)
{
	double share = r->share.value > 0 ? r->share.value : RETRY_PERCENT;

	r->had = r->under_way = r->n_resting = r->n_tried = r->n_opened = 0;
	r->full = false;
	r->closed.n = 0;
	if (!is_on(v))
		return;
	if (r->share.percent || !(r->share.value > 0))
		share *= v->budget / 100.0;
	r->most = (uint32_t)fmin(fmax(1, floor(share + 1e-9)), UINT32_MAX);
	backoff_begin(&r->backoff, v->seed, v->cycle_seconds, v->now);
	each_failing(r, v, state, set_page);
	for (size_t i = 0; i < r->closed.n; i++)
		r->n_resting += (state[r->closed.v[i]] & PAGE_HERE) != 0;
}

static void hide_page(struct retry *r, const struct view *v, uint8_t *state, uint32_t page)
{
	(void)v;
	close_page(r, state, page);
}

void retry_hide(struct retry *r, const struct view *v, uint8_t *state)
{
	if (is_on(v))
		each_failing(r, v, state, hide_page);
}

void retry_show(struct retry *r, const struct view *v, uint8_t *state)
{
	if (is_on(v))
		each_failing(r, v, state, set_page);
}

static bool is_back(const struct retry *r, const struct view *v, uint32_t page)
{
	return backoff_look(&r->backoff, page, v->site[page]) == REST_BACK;
}

void retry_plan(struct retry *r, const struct view *v, uint8_t *state, struct plan *p)
{
	uint64_t used = (uint64_t)r->had + r->under_way;
	uint64_t left = r->most > used ? r->most - used : 0;
	size_t kept = 0;

	if (!is_on(v) || (!r->backoff.pages.n && !r->backoff.hosts.n))
		return;
	for (size_t i = 0; i < p->n_taken; i++) {
		uint32_t page = p->taken[i].page;

		if (is_back(r, v, page)) {
			if (!left) {
				state[page] &= (uint8_t)~PAGE_TAKEN;
				r->full = true;
				continue;
			}
			left--;
		}
		p->taken[kept++] = p->taken[i];
	}
	p->n_taken = kept;
	if (r->full)
		each_failing(r, v, state, set_page);
}

void retry_planned(struct retry *r, const struct view *v, uint8_t *state, const struct plan *p)
{
	if (!is_on(v) || (!r->backoff.pages.n && !r->backoff.hosts.n))
		return;
	for (size_t i = 0; i < p->n_taken; i++) {
		uint32_t page = p->taken[i].page;

		if (!is_back(r, v, page))
			continue;
		state[page] |= PAGE_RETRIED;
		r->under_way++;
	}
}

void retry_undo(struct retry *r, uint8_t *state, uint32_t page)
{
	r->under_way -= (state[page] & PAGE_RETRIED) != 0;
	state[page] &= (uint8_t)~PAGE_RETRIED;
}

void retry_told(struct retry *r, const struct view *v, uint8_t *state, uint32_t page,
                enum failure f, uint32_t requests)
{
	const struct tree *t = v->tree;

	if (!is_on(v))
		return;
	if ((state[page] & PAGE_RETRIED) || is_back(r, v, page)) {
		retry_undo(r, state, page);
		r->had += requests;
		r->n_tried++;
	}
	backoff_tell(&r->backoff, page, v->site[page], f);
	for (size_t k = 0; k < r->backoff.moved.n; k++) {
		uint32_t host = r->backoff.moved.v[k];

		for (uint32_t i = t->site_first[host]; i < t->site_first[host + 1]; i++)
			set_page(r, v, state, t->site_pages[i]);
	}
	r->n_opened += (uint32_t)r->backoff.moved.n;
	r->backoff.moved.n = 0;
}

void retry_end(struct retry *r, const struct view *v, uint8_t *state)
{
	if (!is_on(v))
		return;
	backoff_end(&r->backoff);
	for (size_t i = 0; i < r->closed.n; i++)
		state[r->closed.v[i]] &= (uint8_t)~PAGE_RESTS;
}

void retry_release(struct retry *r)
{
	backoff_release(&r->backoff);
	vec_release(&r->closed);
	*r = (struct retry){ .share = r->share };
}
