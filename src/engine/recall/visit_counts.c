/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit_counts.c - see visit_counts.h.
 *
 * Cost.  Some 0.5 us a visit that is read, and 1 ns a page to compare the file with the store.
 * The file has 16 bytes a page, 72 a site and 64 a page that ever failed.
 */
#include "engine/recall/visit_counts.h"

#include <stdlib.h>

#include "base/io/output.h"
#include "base/map.h"
#include "engine/view/cachefile.h"

#define WORTH 1000              /* visits that are not in the file, for which it is written anew */

/* ---- counting ---- */

static void count_site(struct visit_counts *c, uint32_t site, const struct store_visit *v)
{
	struct site_counts *k = &c->sites[site];
	int64_t *last = &c->last[v->page];

	k->visits++;
	k->failed += v->outcome == OUTCOME_FAILED;
	k->blocked += v->outcome > OUTCOME_FAILED;
	if (v->outcome >= OUTCOME_FAILED || v->goal != GOAL_CHANGED)
		return;
	k->answered++;
	k->updates += v->hit;
	c->answered[v->page]++;
	c->hits[v->page] += v->hit;
	if (v->time > k->last_visit)
		k->last_visit = v->time;
	if (*last && v->time > *last) {
		k->exposure += (double)(v->time - *last) / DAY_SECONDS;
		k->repeated++;
		k->changed += v->hit;
	}
	*last = v->time;
}

static void count_failing(struct visit_counts *c, const struct store_visit *v)
{
	struct failing_row row = { .page = v->page };

	if (!c->failing_at[v->page] && v->outcome < OUTCOME_FAILED)
		return;
	if (!c->failing_at[v->page]) {
		vec_push(&c->failing, row);
		c->failing_at[v->page] = (uint32_t)c->failing.n;
	}
	failing_add(&c->failing.v[c->failing_at[v->page] - 1].failing, v);
}

static void find_oldest(struct visit_counts *c)
{
	c->oldest = 0;
	for (size_t i = 1; i < c->newest.n; i++)
		if (c->newest.v[i].time < c->newest.v[c->oldest].time)
			c->oldest = i;
}

static void count_change(struct visit_counts *c, const struct store_visit *v)
{
	if (!v->hit || v->goal != GOAL_CHANGED || !v->cycle)
		return;
	c->n_changes++;
	if (c->newest.n < VISIT_CHANGES_MAX)
		vec_push(&c->newest, *v);
	else if (v->time >= c->newest.v[c->oldest].time)
		c->newest.v[c->oldest] = *v;
	else
		return;
	find_oldest(c);
}

struct counting { struct visit_counts *c; const struct pages *pages; };

static int count_visit(void *arg, const struct store_visit *v, struct err *err)
{
	const struct counting *x = arg;
	struct visit_counts *c = x->c;

	c->n_visits++;
	if (c->progress && progress_set(c->progress, c->n_visits - c->n_kept))
		return err_set(err, E_STOP, "the counting of visits was stopped");
	if (v->page >= c->n_pages) {    /* it was added after pages were read */
		c->is_partial = true;
		return 0;
	}
	count_site(c, x->pages->site[v->page], v);
	count_failing(c, v);
	count_change(c, v);
	return 0;
}

/* ---- the file ---- */

/* What it is about: the first so many pages and sites, and visits of cycles before this one. */
struct about { uint64_t key, n_visits; uint32_t n_pages, n_sites, before, zero; };

struct cycles { uint64_t hash; uint32_t before, newest; };

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct cycles *x = arg;
	int64_t numbers[] = { c->number, c->time, c->budget, c->goal, c->pages, c->downloads };

	(void)err;
	x->newest = c->number;
	if (c->number < x->before)
		x->hash = hash_bytes(numbers, sizeof numbers, x->hash);
	return 0;
}

static int find_key(struct store *s, const struct pages *p, const struct about *a, uint64_t *ret,
                    struct err *err)
{
	struct cycles x = { .before = a->before };
	int rc = store_past(s, &x.hash, err);

	if (rc == 0)
		rc = store_cycles(s, 0, see_cycle, &x, err);
	*ret = hash_bytes(p->pool, (size_t)p->offset[a->n_pages],
	                  hash_bytes(p->site, a->n_pages * sizeof *p->site, x.hash));
	return rc;
}

/* Writes the counts, or reads them: f says which (policy/frozen.h). */
static void freeze(struct visit_counts *c, struct frozen *f)
{
	frozen_rows(f, c->last, c->n_pages, sizeof *c->last);
	frozen_rows(f, c->answered, c->n_pages, sizeof *c->answered);
	frozen_rows(f, c->hits, c->n_pages, sizeof *c->hits);
	frozen_rows(f, c->sites, c->n_sites, sizeof *c->sites);
	frozen_vec(f, &c->failing);
	frozen_value(f, &c->n_changes);
	frozen_vec(f, &c->newest);
	frozen_check(f, c->newest.n <= VISIT_CHANGES_MAX);
	for (size_t i = 0; i < c->newest.n && f->thaw; i++) {
		c->newest.v[i].hit = true;
		frozen_check(f, c->newest.v[i].page < c->n_pages &&
		                c->newest.v[i].outcome < OUTCOME_FAILED);
	}
	for (size_t i = 0; i < c->failing.n && f->thaw && !f->bad; i++) {
		frozen_check(f, c->failing.v[i].page < c->n_pages &&
		                c->failing.v[i].failing.outcome <= OUTCOME_BLOCKED &&
		                c->failing.v[i].failing.cause <= UINT8_MAX);
		if (!f->bad)
			c->failing_at[c->failing.v[i].page] = (uint32_t)i + 1;
	}
	if (c->newest.n && !f->bad)
		find_oldest(c);
}

static void counts_init(struct visit_counts *c, const struct pages *p, struct progress *progress)
{
	*c = (struct visit_counts){ .n_pages = p->n, .n_sites = p->tree.n_sites,
	                            .progress = progress };
	c->last = mem_zalloc(p->n, sizeof *c->last);
	c->answered = mem_zalloc(p->n, sizeof *c->answered);
	c->hits = mem_zalloc(p->n, sizeof *c->hits);
	c->failing_at = mem_zalloc(p->n, sizeof *c->failing_at);
	c->sites = mem_zalloc(p->tree.n_sites, sizeof *c->sites);
}

void visit_counts_release(struct visit_counts *c)
{
	free(c->last);
	free(c->answered);
	free(c->hits);
	free(c->failing_at);
	free(c->sites);
	vec_release(&c->failing);
	vec_release(&c->newest);
	*c = (struct visit_counts){ 0 };
}

/* Take what was counted before; *ret_from: the first cycle that it has not. */
static int read_kept(struct visit_counts *c, struct store *s, const struct pages *p,
                     uint32_t before, uint32_t *ret_from, struct err *err)
{
	struct about a;
	struct frozen f;
	uint64_t key = 0;
	int rc = 0;

	if (!cachefile_open(&f, store_file(s), VISIT_COUNTS_END, &a, sizeof a))
		return 0;
	if (a.n_pages > p->n || a.n_sites > c->n_sites || a.before > before ||
	    (rc = find_key(s, p, &a, &key, err)) < 0 || key != a.key) {
		cachefile_leave(&f);
		return rc;
	}
	freeze(c, &f);
	if (cachefile_close(&f)) {
		c->n_visits = c->n_kept = a.n_visits;
		*ret_from = a.before;
	} else {
		struct progress *progress = c->progress;

		visit_counts_release(c);
		counts_init(c, p, progress);
	}
	return 0;
}

static int write_kept(struct visit_counts *c, struct store *s, const struct pages *p,
                      uint32_t before, struct err *err)
{
	struct about a = { .n_visits = c->n_visits, .n_pages = c->n_pages, .n_sites = c->n_sites,
	                   .before = before };
	struct frozen f;
	struct output *o;
	int rc;

	if (c->n_visits - c->n_kept < WORTH || c->is_partial)
		return 0;
	rc = find_key(s, p, &a, &a.key, err);
	if (rc < 0 || !(o = cachefile_begin(&f, store_file(s), VISIT_COUNTS_END, &a, sizeof a)))
		return rc;
	freeze(c, &f);
	cachefile_end(&f, o);
	return 0;
}

static int load(struct visit_counts *c, struct store *s, const struct pages *p, struct err *err)
{
	struct counting x = { c, p };
	struct progress *progress = c->progress;
	struct cycles cycles = { 0 };
	struct store_counts has;
	uint32_t from = 0, before;
	int rc = store_cycles(s, STORE_NEWEST, see_cycle, &cycles, err);

	/* imported visits come before all cycles, and raise store_past() */
	before = cycles.newest ? cycles.newest : 1;
	if (rc == 0)
		rc = store_count(s, &has, err);
	if (rc == 0)
		rc = read_kept(c, s, p, before, &from, err);
	if (rc < 0)
		return rc;
	if (progress)
		progress_start(progress, "counting visits", "visits",
		               has.visits > c->n_kept ? has.visits - c->n_kept : 0);
	if (from < before)
		rc = store_visits(s, from, before, count_visit, &x, err);
	if (rc == 0)
		rc = write_kept(c, s, p, before, err);
	if (rc == 0)
		rc = store_visits(s, before, UINT32_MAX, count_visit, &x, err);
	if (progress)
		progress_end(progress);
	return rc;
}

int visit_counts_load(struct visit_counts *c, struct store *s, const struct pages *p,
                      struct progress *progress, struct err *err)
{
	int rc = store_freeze(s, err);  /* the visits, and the key of the file that has them */

	counts_init(c, p, progress);
	if (rc == 0)
		rc = load(c, s, p, err);
	store_thaw(s);
	return rc;
}
