/* SPDX-License-Identifier: Apache-2.0 */
/* failing.c - see failing.h. */
#include "engine/recall/failing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/recall/visit_counts.h"

void failing_add(struct failing *f, const struct store_visit *v)
{
	if (v->outcome < OUTCOME_FAILED) {
		*f = (struct failing){ .failed = f->failed, .blocked = f->blocked };
		return;
	}
	f->failed += v->outcome == OUTCOME_FAILED;
	f->blocked += v->outcome != OUTCOME_FAILED;
	if (v->cause == CAUSE_BUDGET || v->cause == CAUSE_STOPPED)
		return;
	if (!f->times++)
		f->since = v->time;
	f->last = v->time;
	f->alike = f->outcome == v->outcome && f->cause == (enum cause)v->cause &&
		f->status == v->status ? f->alike + 1 : 1;
	f->outcome = v->outcome == OUTCOME_FAILED ? OUTCOME_FAILED : OUTCOME_BLOCKED;
	f->cause = (enum cause)v->cause;
	f->status = v->status;
}

static int read_visit(void *arg, const struct store_visit *v, struct err *err)
{
	(void)err;
	failing_add(arg, v);
	return 0;
}

int failing_page(struct store *s, uint32_t page, struct failing *ret, struct err *err)
{
	*ret = (struct failing){ 0 };
	return store_visits_of(s, &page, 1, 0, UINT32_MAX, read_visit, ret, err);
}

struct failing *failing_pages(const struct visit_counts *c, const struct loaded *l)
{
	struct failing *by_page = mem_zalloc(l->pages.n + 1ul, sizeof *by_page);

	for (size_t i = 0; i < c->failing.n; i++) {
		struct failing *f = &by_page[c->failing.v[i].page];

		*f = c->failing.v[i].failing;
		if (!(l->visits.state[c->failing.v[i].page] & PAGE_HERE))
			f->times = 0;
	}
	return by_page;
}

/* ---- rests ---- */

static int64_t rest_of(const struct resumed *r, uint32_t page, uint32_t site, int64_t now)
{
	uint32_t fails;
	int64_t until;

	return backoff_why(&r->engine.retry.backoff, page, site, &until, &fails) && until > now ?
	       until : 0;
}

int64_t failing_rest(const struct resumed *r, uint32_t page, int64_t now)
{
	return rest_of(r, page, r->has.loaded.pages.site[page], now);
}

void failing_rests(struct failing *by_page, const struct resumed *r, int64_t now)
{
	for (uint32_t i = 0; i < r->has.loaded.pages.n; i++)
		if (by_page[i].times)
			by_page[i].until = failing_rest(r, i, now);
}

/* ---- sites ---- */

/* The cause of most of the failing pages of a site; of equals that with the least number. */
static void find_cause(struct failing_site *row, const struct pages *p,
                       const struct failing *by_page)
{
	uint32_t count[UINT8_MAX + 1] = { 0 };

	for (uint32_t i = p->tree.site_first[row->site]; i < p->tree.site_first[row->site + 1]; i++) {
		const struct failing *f = &by_page[p->tree.site_pages[i]];

		if (f->times)
			count[f->cause]++;
	}
	for (unsigned c = 0; c <= UINT8_MAX; c++) {
		if (count[c] > row->of_cause) {
			row->of_cause = count[c];
			row->cause = (enum cause)c;
		}
	}
}

static void add_page(struct failing_site *row, const struct failing *f)
{
	if (!f->times)
		return;
	row->failing++;
	row->failed += f->outcome == OUTCOME_FAILED;
	row->blocked += f->outcome == OUTCOME_BLOCKED;
	row->times += f->times;
	if (!row->since || f->since < row->since)
		row->since = f->since;
	if (f->last > row->last)
		row->last = f->last;
}

static int compare_sites(const void *pa, const void *pb)
{
	const struct failing_site *a = pa, *b = pb;

	if (a->failing != b->failing)
		return a->failing > b->failing ? -1 : 1;
	return a->site < b->site ? -1 : 1;
}

struct failing_site *failing_sites(const struct pages *p, const struct failing *by_page,
                                   const struct resumed *r, int64_t now, uint32_t *ret_n)
{
	struct failing_site *rows = mem_zalloc(p->tree.n_sites + 1ul, sizeof *rows);
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->tree.n_sites; k++) {
		struct failing_site row = { .site = k };

		for (uint32_t i = p->tree.site_first[k]; i < p->tree.site_first[k + 1]; i++) {
			row.pages++;
			add_page(&row, &by_page[p->tree.site_pages[i]]);
		}
		if (!row.failing)
			continue;
		find_cause(&row, p, by_page);
		if (r)
			row.until = rest_of(r, PAGE_NONE, k, now);
		rows[n++] = row;
	}
	qsort(rows, n, sizeof *rows, compare_sites);
	*ret_n = n;
	return rows;
}

/* ---- pages ---- */

static int compare_pages(const void *pa, const void *pb, void *arg)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct failing *x = &((const struct failing *)arg)[a];
	const struct failing *y = &((const struct failing *)arg)[b];

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return a < b ? -1 : 1;
}

uint32_t *failing_list(const struct pages *p, const struct failing *by_page, uint32_t *ret_n)
{
	uint32_t *list = mem_array(p->n + 1ul, sizeof *list), n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (by_page[i].times)
			list[n++] = i;
	qsort_r(list, n, sizeof *list, compare_pages, (void *)by_page);
	*ret_n = n;
	return list;
}
