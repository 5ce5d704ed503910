/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch_choose.c - which touched pages a cycle begins with; see touch.h.
 *
 * Cost.  The touched pages are read by an index of their own; trust is read once for each
 * notifier and site among them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "engine/book/touch.h"
#include "engine/book/touch_inner.h"
#include "web/url/url.h"

#define STATE_KEY "touched"             /* "CYCLE PAGE PAGE ..." */

struct touch { int64_t time; uint32_t page, notifier, site; };

struct site_of {                        /* what a notifier may still have at a site */
	enum touch_rank rank;
	uint32_t trials;                /* pages that it may have though nothing is proven */
};

struct notifier {
	struct lastmod_trust all;
	bool known;
	uint32_t most, trials;          /* pages that it may still have: all; of unproven sites */
	size_t at;                      /* the next of its touches */
};

struct choosing {
	struct store *store;
	const struct touch_rule *rule;
	struct touch_names names;
	struct strtab keys;             /* "NUMBER SITE" */
	VEC(struct site_of) sites;
	VEC(struct touch) touches;
	struct notifier *notifiers;     /* by number - 1 */
	uint32_t most;                  /* pages of one notifier */
	struct buf text;
};

/* The site of a touch, and what its notifier may have there. */
static int find_site(struct choosing *c, const struct store_page *p, uint32_t *ret,
                     struct err *err)
{
	const char *name = touch_name(&c->names, p->notifier);
	struct notifier *of = &c->notifiers[p->notifier - 1];
	struct lastmod_trust site, all;
	bool fresh;
	int rc;

	buf_clear(&c->text);
	buf_printf(&c->text, "%u ", p->notifier);
	url_site(p->url.s, p->url.size, false, &c->text);
	*ret = strtab_intern(&c->keys, c->text.data, c->text.size, &fresh);
	if (!fresh)
		return 0;
	rc = touch_trust(c->store, name, p->url, &site, &all, err);
	vec_push(&c->sites, ((struct site_of){ touch_judge(&site, &all),
		site.checks < LASTMOD_CHECKS_MIN ? LASTMOD_CHECKS_MIN - site.checks : 0 }));
	if (!of->known) {
		*of = (struct notifier){ .all = all, .known = true, .most = c->most,
		                         .trials = UINT32_MAX };
		if (!lastmod_trusted(&all))     /* one trial for all sites, as long as it lasts */
			of->trials = all.checks < LASTMOD_CHECKS_MIN ? LASTMOD_CHECKS_MIN - all.checks : 0;
	}
	return rc;
}

static int see_touched(void *arg, const struct store_page *p, struct err *err)
{
	struct choosing *c = arg;
	struct touch t = { .time = p->touched, .page = p->number, .notifier = p->notifier };
	int rc;

	if (p->state != STORE_PAGE_HERE || p->care || !p->last_visit || p->touched > c->rule->now ||
	    p->number >= c->rule->n_pages || !touch_name(&c->names, p->notifier))
		return 0;
	rc = find_site(c, p, &t.site, err);
	vec_push(&c->touches, t);
	return rc;
}

static int compare(const void *pa, const void *pb)
{
	const struct touch *a = pa, *b = pb;

	if (a->notifier != b->notifier)
		return a->notifier < b->notifier ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

/* May this touch be followed?  Then it is counted. */
static bool take(struct choosing *c, struct notifier *of, const struct touch *t)
{
	struct site_of *site = &c->sites.v[t->site];

	if (site->rank == TOUCH_WRONG || !of->most)
		return false;
	if (site->rank == TOUCH_UNPROVEN) {
		if (!site->trials || !of->trials)
			return false;
		site->trials--;
		of->trials--;
	}
	of->most--;
	return true;
}

/* The next page of a notifier; false: it gets no more. */
static bool next_of(struct choosing *c, uint32_t number, uint32_t *ret)
{
	struct notifier *of = &c->notifiers[number - 1];

	for (; of->at < c->touches.n && c->touches.v[of->at].notifier == number; of->at++)
		if (take(c, of, &c->touches.v[of->at])) {
			*ret = c->touches.v[of->at++].page;
			return true;
		}
	return false;
}

/* Each in turn, until none has more or all of them have enough. */
static void deal(struct choosing *c, uint32_t most, struct touch_offers *ret)
{
	bool more = true;

	for (size_t i = c->touches.n; i-- > 0;)
		c->notifiers[c->touches.v[i].notifier - 1].at = i;
	while (more && ret->v.n < most) {
		more = false;
		for (uint32_t k = 1; k <= c->names.names.n && ret->v.n < most; k++) {
			uint32_t page;

			if (!c->notifiers[k - 1].known || !next_of(c, k, &page))
				continue;
			vec_push(&ret->v, ((struct offer){ .page = page, .score = 1, .probability = 1,
				.reason = REASON_TOUCHED }));
			more = true;
		}
	}
}

int touch_choose(struct touch_offers *ret, struct store *s, const struct touch_rule *rule,
                 struct err *err)
{
	const struct share all = { TOUCH_ALL_PERCENT, true };
	struct choosing c = { .store = s, .rule = rule };
	int rc;

	ret->v.n = 0;
	if (!(rule->share.value > 0) || !rule->budget)
		return 0;
	c.most = (uint32_t)share_of(rule->share, rule->budget);
	rc = touch_names_load(&c.names, s, err);
	if (rc == 0 && c.names.names.n) {
		buf_init(&c.text, BUF_NO_LIMIT);
		c.notifiers = mem_zalloc(c.names.names.n, sizeof *c.notifiers);
		rc = store_pages_touched(s, see_touched, &c, err);
		if (rc == 0 && c.touches.n) {
			qsort(c.touches.v, c.touches.n, sizeof *c.touches.v, compare);
			deal(&c, (uint32_t)share_of(all, rule->budget), ret);
		}
		buf_release(&c.text);
	}
	free(c.notifiers);
	strtab_release(&c.keys);
	vec_release(&c.sites);
	vec_release(&c.touches);
	touch_names_release(&c.names);
	return rc;
}

/* ---- kept with the cycle ---- */

int touch_keep(const struct touch_offers *o, struct store *s, uint32_t cycle, struct err *err)
{
	struct buf text;
	int rc;

	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%" PRIu32, cycle);
	for (size_t i = 0; i < o->v.n; i++)
		buf_printf(&text, " %" PRIu32, o->v.v[i].page);
	rc = store_state_put(s, STORE_OF_SHARD, STATE_KEY, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

int touch_recall(struct touch_offers *ret, struct store *s, uint32_t cycle, uint32_t n_pages,
                 struct err *err)
{
	char *text = NULL, *rest, *end;
	int rc = store_state_get(s, STORE_OF_SHARD, STATE_KEY, &text, err);
	bool is_ours;

	ret->v.n = 0;
	if (rc <= 0)
		return rc;
	is_ours = strtoul(text, &rest, 10) == cycle;
	while (is_ours && *rest) {
		unsigned long page = strtoul(rest, &end, 10);

		if (end == rest || page >= n_pages)
			break;
		rest = end;
		vec_push(&ret->v, ((struct offer){ .page = (uint32_t)page, .score = 1,
			.probability = 1, .reason = REASON_TOUCHED }));
	}
	free(text);
	return is_ours;
}
