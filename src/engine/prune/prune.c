/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.c - which captures stay, and the rows of those that go; see prune.h.
 *
 * A version of a page is a capture with content.  Revisits in between say until when it was
 * true, so they go and stay with the time, and hold the copy that they speak of.
 *
 * Memory: the captures of one batch of pages.
 */
#include "engine/prune/rewrite.h"

#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/status.h"

#define PAGES_AT_ONCE 500

/* The capture whose content a revisit has: the newest earlier copy of its digest, or if there
 * is none the newest earlier copy. */
static size_t original_of(const struct prune_capture *c, size_t i)
{
	size_t newest = i;

	for (size_t j = i; j-- > 0; ) {
		if (!c[j].copy)
			continue;
		if (!c[i].digest || c[j].digest == c[i].digest)
			return j;
		newest = newest == i ? j : newest;
	}
	return newest;
}

void prune_choose(const struct prune_rule *rule, struct prune_capture *c, size_t n,
                  uint64_t newest)
{
	uint32_t n_copies = 0;
	bool true_then = false;         /* the copy at rule->since was found */

	for (size_t i = n; i-- > 0; ) {
		c[i].keep = c[i].time >= rule->since || n_copies < rule->versions ||
		            c[i].id == newest || i == n - 1 || (c[i].copy && !n_copies);
		if (c[i].copy && c[i].time < rule->since && rule->since != INT64_MAX && !true_then)
			c[i].keep = true_then = true;
		n_copies += c[i].copy;
	}
	for (size_t i = n; i-- > 0; )
		if (c[i].keep && c[i].revisit)
			c[original_of(c, i)].keep = true;
}

struct thinning {
	struct prune *p;
	VEC(struct prune_capture) page;         /* captures of the page at hand */
	VEC(int64_t) sizes;             /* of their records, in our files */
	uint32_t number;
	VEC(uint64_t) newest;           /* of the pages of this batch: pages.capture */
	VEC(uint32_t) numbers;
	size_t at;                      /* in numbers */
	VEC(uint64_t) drop;
};

static void end_page(struct thinning *t)
{
	uint64_t before = t->p->n_dropped, newest = 0;

	if (!t->page.n)
		return;
	while (t->at < t->numbers.n && t->numbers.v[t->at] < t->number)
		t->at++;
	if (t->at < t->numbers.n && t->numbers.v[t->at] == t->number)
		newest = t->newest.v[t->at];
	prune_choose(&t->p->rule, t->page.v, t->page.n, newest);
	t->p->n_captures += t->page.n;
	for (size_t i = 0; i < t->page.n; i++) {
		if (t->page.v[i].keep)
			continue;
		vec_push(&t->drop, t->page.v[i].id);
		t->p->bytes_dropped += t->sizes.v[i] > 0 ? (uint64_t)t->sizes.v[i] : 0;
		t->p->n_dropped++;
	}
	t->p->n_thinned += t->p->n_dropped > before;
	t->page.n = t->sizes.n = 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct thinning *t = arg;
	struct prune_capture k = {
		.id = c->id, .time = c->time, .revisit = c->revisit || c->status == 304,
		.digest = c->digest.s ? hash_bytes(c->digest.s, c->digest.size, 0) | 1 : 0,
	};

	(void)err;
	if (c->page != t->number)
		end_page(t);
	t->number = c->page;
	k.copy = !k.revisit && (!c->status || status_is_page(c->status));
	vec_push(&t->page, k);
	vec_push(&t->sizes, rewrite_is_own(c->worker, c->file, NULL) ||
	                    rewrite_is_workers(c->worker, c->file) ? c->size : 0);
	return 0;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct thinning *t = arg;

	(void)err;
	vec_push(&t->numbers, p->number);
	vec_push(&t->newest, p->capture);
	return 0;
}

static int drop_rows(struct thinning *t, struct err *err)
{
	struct store *s = t->p->store;
	char now[24];
	int rc;

	if (!t->drop.n || t->p->dry_run)
		return 0;
	if (t->p->step)
		t->p->step(t->p->arg, "drop rows");
	snprintf(now, sizeof now, "%lld", (long long)t->p->now);
	rc = store_begin(s, err);
	if (rc == 0)
		rc = store_captures_drop(s, t->drop.v, t->drop.n, err);
	if (rc == 0)
		rc = store_state_put(s, STORE_OF_SHARD, "pruned", now, err);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	return rc;
}

static int thin(struct thinning *t, const uint32_t *pages, size_t n, struct err *err)
{
	int rc;

	t->numbers.n = t->newest.n = t->drop.n = t->at = 0;
	rc = store_pages_get(t->p->store, pages, n, see_page, t, err);
	if (rc == 0)
		rc = store_captures(t->p->store, pages, n, see_capture, t, err);
	if (rc == 0)
		end_page(t);
	return rc < 0 ? rc : drop_rows(t, err);
}

static int thin_all(struct thinning *t, struct err *err)
{
	struct store_counts counts;
	uint32_t pages[PAGES_AT_ONCE];
	size_t total = t->p->n_pages;
	int rc = 0;

	if (!t->p->pages) {
		rc = store_count(t->p->store, &counts, err);
		total = rc == 0 ? (size_t)counts.pages : 0;
	}
	for (size_t from = 0; from < total && rc == 0; from += PAGES_AT_ONCE) {
		size_t n = total - from < PAGES_AT_ONCE ? total - from : PAGES_AT_ONCE;

		for (size_t i = 0; i < n; i++)
			pages[i] = t->p->pages ? t->p->pages[from + i] : (uint32_t)(from + i);
		rc = thin(t, pages, n, err);
	}
	return rc;
}

int prune_rows(struct prune *p, struct err *err)
{
	struct thinning t = { .p = p };
	int rc = thin_all(&t, err);

	vec_release(&t.page);
	vec_release(&t.sizes);
	vec_release(&t.newest);
	vec_release(&t.numbers);
	vec_release(&t.drop);
	return rc;
}

int prune_run(struct prune *p, struct err *err)
{
	int rc = prune_rows(p, err);

	if (rc < 0 || p->dry_run)
		return rc;
	rc = sweep_run(p, err);
	return rc < 0 ? rc : store_tidy(p->store, false, err);
}
