/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_tell.c - outcomes of pages that the caller chose; include/freshet.h is their manual.
 *
 * Each outcome is one batch, with the row of the cycle, so it is kept when the call returns
 * and nothing that comes later can take it back.  The row is that of a cycle which is over: it
 * grows while we hold the lock, and needs no end.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/api/api.h"
#include "engine/book/tell.h"
#include "web/url/url.h"

void api_let_go(struct freshet *f)
{
	if (f->lock >= 0)
		close(f->lock);
	f->lock = -1;
	f->cycle = (struct store_cycle){ 0 };
	map_clear(&f->had);
}

/* The visit, its page and the cycle's row: the rest of a batch. */
static int keep_told(struct freshet *f, struct text url, struct kept_visit *v,
                     struct store_cycle *cycle, unsigned confirmations)
{
	struct verdict kept = { .outcome = OUTCOME_FAILED };
	uint32_t ended, before;
	int rc = 0;

	if (!cycle->number) {
		cycle->time = v->time;
		cycle->policy = (struct text){ "told", 4 };
		rc = keep_next_cycle(f->store, &cycle->number, &ended, &f->err);
	}
	v->cycle = cycle->number;
	if (rc == 0)
		rc = store_page_add(f->store, url, v->time, &v->page, &f->err);
	if (rc < 0)
		return rc;
	before = map_get(&f->had, v->page);
	if (!keep_once(&f->had, v->page, v->outcome))
		return err_set(&f->err, E_USAGE, "%.*s: was told of before in this cycle",
		               (int)url.size, url.s);
	rc = keep_visit(f->store, v, confirmations, &kept, &f->err);
	cycle->budget = ++cycle->downloads;
	cycle->changed += kept.outcome == OUTCOME_CHANGED;
	cycle->same += kept.outcome == OUTCOME_SAME;
	cycle->gone += kept.outcome == OUTCOME_GONE;
	cycle->failed += kept.outcome == OUTCOME_FAILED;
	if (rc == 0)
		rc = store_cycle_put(f->store, cycle, &f->err);
	if (rc == 0)
		rc = store_commit(f->store, &f->err);
	if (rc < 0)
		map_put(&f->had, v->page, before);      /* it was not told */
	return rc;
}

static int write_told(struct freshet *f, struct text url, struct kept_visit *v,
                      unsigned confirmations)
{
	struct store_cycle cycle = f->cycle;
	bool first = f->lock < 0 && !cycle.number;
	int rc = first ? keep_lock(f->archive, &f->lock, &f->err) : 0;

	if (rc == 0)
		rc = store_begin(f->store, &f->err);
	if (rc == 0) {
		rc = keep_told(f, url, v, &cycle, confirmations);
		if (rc < 0)
			store_rollback(f->store);
	}
	if (rc == 0)
		f->cycle = cycle;
	else if (first)
		api_let_go(f);
	return rc;
}

int freshet_tell(struct freshet *f, const struct freshet_told *told)
{
	int64_t now = api_clock(0);
	struct api_settings s;
	struct freshet_told t;
	struct kept_visit v;
	struct buf url;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = API_TAKE(f, t, told);
	if (rc == 0 && !t.url)
		rc = err_set(&f->err, E_USAGE, "no URL");
	if (rc == 0 && (unsigned)t.outcome > FRESHET_FAILED)
		rc = err_set(&f->err, E_USAGE, "%d is no outcome", (int)t.outcome);
	if (rc == 0 && !(t.probability >= 0 && t.probability <= 1) && !isnan(t.probability))
		rc = err_set(&f->err, E_USAGE, "a probability is a number from 0 to 1");
	if (rc == 0)
		rc = api_settings(f, &s);
	if (rc < 0)
		return api_end(f, rc);
	v = (struct kept_visit){
		.time = t.time ? t.time : now, .outcome = (enum outcome)t.outcome,
		.score = (float)t.score,
		.probability = t.probability > 0 ? (float)t.probability : NAN,
	};
	if (v.time > now + TELL_FUTURE) {       /* it would hide the page from all policies */
		v.time = now;
		api_warn(f, "a time in the future was told: taken for now");
	}
	buf_init(&url, URL_SIZE_MAX);
	rc = url_canonical(t.url, strlen(t.url), &url, &f->err);
	if (rc == 0)
		rc = write_told(f, (struct text){ url.data, url.size }, &v, (unsigned)s.confirmations);
	buf_release(&url);
	return api_end(f, rc);
}

int freshet_end_cycle(struct freshet *f)
{
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	api_let_go(f);
	return api_end(f, 0);
}
