/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - one visit into the store; see keep.h. */
#include "engine/book/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/status.h"
#include "engine/book/ledger.h"
#include "web/rules/lastmod.h"
#include "web/url/url.h"

#define BUSY_TRIES 600          /* for the lock, */
#define BUSY_WAIT 50000         /* microseconds apart: half a minute together */

int keep_trust(struct store *s, struct text url, struct lastmod_trust *ret, struct err *err)
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

/* Did the site's date tell what the visit found?  Only a date that was read since
 * the visit before can have. */
static int check_hint(struct store *s, const struct store_page *p, bool changed,
                      struct err *err)
{
	struct lastmod_trust trust;
	struct store_hint h = { 0 };
	struct buf site;
	int rc;

	if (!p->hint || !p->last_visit || p->hint_seen <= p->last_visit)
		return 0;
	buf_init(&site, URL_SIZE_MAX);
	url_site(p->url.s, p->url.size, false, &site);
	rc = store_hint_get(s, (struct text){ site.data, site.size }, &h, err);
	if (rc >= 0) {
		trust = (struct lastmod_trust){ h.checks, h.hits, h.told };
		lastmod_check(&trust, p->hint > p->last_visit, changed);
		h.checks = trust.checks;
		h.hits = trust.hits;
		h.told = trust.told;
		rc = store_hint_put(s, (struct text){ site.data, site.size }, &h, err);
	}
	buf_release(&site);
	return rc;
}

/* What an outcome is to be taken for, failures in a row being counted. */
static enum outcome settle(struct store_page *p, enum outcome o, unsigned confirmations)
{
	if (o == OUTCOME_BLOCKED)
		return o;
	if (o < OUTCOME_GONE) {
		p->fails = 0;
		return o;
	}
	p->fails += p->fails % STORE_FAIL_GONE < STORE_FAIL_GONE / 2;
	if (o == OUTCOME_FAILED)
		return o;
	if (p->found && !p->capture && !p->visits) {
		/* a link that leads nowhere: there is no copy to be careful of */
		p->state = STORE_PAGE_LEFT;
		return OUTCOME_FAILED;
	}
	p->fails += STORE_FAIL_GONE;    /* what merely failed confirms nothing */
	return p->fails / STORE_FAIL_GONE < confirmations ? OUTCOME_FAILED : o;
}

bool keep_once(struct map *had, uint32_t page, enum outcome o)
{
	uint32_t before = map_get(had, page);

	if (before != MAP_NONE && (before < OUTCOME_FAILED || o >= OUTCOME_FAILED))
		return false;
	map_put(had, page, o);
	return true;
}

/* Was there something to compare with?  Our copy; or that of the crawler that tells: it
 * says of a page that it is as before, tells of a change but of no content, or has told
 * of the page before. */
static bool was_compared(const struct store_page *p, const struct kept_visit *v,
                         enum outcome o)
{
	if (p->capture || o == OUTCOME_SAME)
		return true;
	return o == OUTCOME_CHANGED ? !v->capture || v->capture->revisit : p->visits > 0;
}

int keep_visit(struct store *s, const struct kept_visit *v, unsigned confirmations,
               struct verdict *ret, struct err *err)
{
	enum outcome o = v->outcome;
	struct store_page p;
	struct store_visit row = {
		.cycle = v->cycle, .page = v->page, .time = v->time, .reason = v->reason,
		.status = v->status, .score = v->score, .probability = v->probability,
		.place = v->place, .order = v->order,
	};
	int rc = store_page_get(s, v->page, &p, err);
	bool first;

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", v->page);
	if ((o == OUTCOME_SAME || o == OUTCOME_CHANGED) &&
	    (rc = check_hint(s, &p, o == OUTCOME_CHANGED, err)) < 0)
		return rc;
	o = settle(&p, o, confirmations);
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
		/* another crawler may tell of the past */
		if (v->time >= p.last_visit) {
			p.last_visit = v->time;
			p.state = o == OUTCOME_GONE ? STORE_PAGE_GONE : STORE_PAGE_HERE;
		}
	}
	row.outcome = (uint8_t)o;
	row.extra = v->extra < STORE_EXTRA_MAX ? v->extra : STORE_EXTRA_MAX;
	if (o >= OUTCOME_FAILED)
		row.cause = (uint8_t)(v->cause == CAUSE_NONE && v->status ? CAUSE_STATUS : v->cause);
	if ((rc = store_page_update(s, &p, err)) < 0 || (rc = store_visit_add(s, &row, err)) < 0)
		return rc;
	*ret = (struct verdict){ .outcome = o, .first = first, .compared = true };
	return 0;
}

static int see_cycle(void *arg, const struct store_cycle *row, struct err *err)
{
	struct last_cycle *l = arg;

	(void)err;
	l->row = *row;
	snprintf(l->policy, sizeof l->policy, "%.*s", (int)row->policy.size,
	         row->policy.s ? row->policy.s : "");
	l->row.policy = (struct text){ l->policy, strlen(l->policy) };
	l->any = true;
	return 0;
}

int keep_last_cycle(struct store *s, struct last_cycle *ret, struct err *err)
{
	*ret = (struct last_cycle){ 0 };
	return store_cycles(s, see_cycle, ret, err);
}

int keep_end_cycle(struct store *s, struct last_cycle *last, struct err *err)
{
	struct ledger l;
	int rc;

	last->row.open = false;
	if (!last->row.clients)
		return store_cycle_put(s, &last->row, err);
	rc = ledger_load(&l, s, err);           /* what is out lapses */
	if (rc == 0 && l.open)
		rc = ledger_end(&l, err);
	last->row.downloads = l.last.row.downloads;
	ledger_release(&l);
	return rc;
}

int keep_next_cycle(struct store *s, uint32_t *ret_number, uint32_t *ret_ended,
                    struct err *err)
{
	struct last_cycle last;
	int rc = keep_last_cycle(s, &last, err);

	*ret_ended = 0;
	if (rc == 0 && last.any && last.row.open) {
		*ret_ended = last.row.number;
		rc = keep_end_cycle(s, &last, err);
	}
	*ret_number = last.row.number + 1;
	return rc;
}

int keep_lock(const char *folder, int *ret_fd, struct err *err)
{
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		bool taken = errno == EWOULDBLOCK;

		close(fd);
		fd = -1;
		if (taken)
			return err_set(err, E_BUSY, "%s: another freshet is at work on this repository "
			               "(cycle, run, live or tell): wait until it ends, or stop it",
			               folder);
	}
	*ret_fd = fd;
	return 0;
}

int keep_lock_wait(struct store *s, const char *folder, int *ret_fd, struct err *err)
{
	int rc = keep_lock(folder, ret_fd, err);

	for (int i = 0; i < BUSY_TRIES && rc == E_BUSY; i++) {
		struct last_cycle last;

		if (keep_last_cycle(s, &last, NULL) == 0 && last.any && last.row.open &&
		    !last.row.clients)
			break;
		usleep(BUSY_WAIT);
		rc = keep_lock(folder, ret_fd, err);
	}
	return rc;
}
