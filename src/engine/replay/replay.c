/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - what all runs of a replay share: the window and its cycles, the
 * pages and copies at the start, links, PageRank, weights, the budget.
 *
 * Cost.  O(pages + captures + links), once.
 */
#include "engine/replay/replay_run.h"
#include "engine/replay/shards.h"

#include <math.h>

#define BUDGET_MAX 0x7fffffff
#define CYCLES_MAX 10000000
#define SPAN_MAX (100 * 366 * (int64_t)DAY_SECONDS)     /* without --start and --end */

/* The links of a copy at the start.  Those to pages that appear later count only
 * if such pages join: else they would drain PageRank. */
const uint32_t *replay_links_at_start(struct replay_links *l, uint32_t page, size_t *ret_n)
{
	const struct replay *r = l->r;
	const uint32_t *all;
	size_t n;

	*ret_n = 0;
	if (r->copy_at_start[page] == NEVER)
		return NULL;
	all = history_links(r->history, r->copy_at_start[page], &n);
	l->pages.n = 0;
	for (size_t i = 0; i < n; i++)
		if (r->opts.join || r->copy_at_start[all[i]] != NEVER)
			vec_push(&l->pages, all[i]);
	*ret_n = l->pages.n;
	return l->pages.v;
}

static const uint32_t *links_at_start(const void *from, uint32_t page, size_t *ret_n)
{
	struct replay_links *const *l = from;

	return replay_links_at_start(*l, page, ret_n);
}

static int prepare_all(struct replay *r, unsigned needs, struct err *err)
{
	struct replay_links l = { .r = r }, *from = &l;
	int rc = prepare(&r->prepared, &r->pages, needs, links_at_start, &from, err);

	vec_release(&l.pages);
	if (rc == 0 && (needs & NEED_SIZES)) {
		r->prepared.size = mem_zalloc(r->pages.n, 1);
		for (uint32_t i = 0; i < r->pages.n; i++)
			if (r->copy_at_start[i] != NEVER)
				r->prepared.size[i] = r->history->captures.v[r->copy_at_start[i]].size;
	}
	return rc;
}

static int64_t next_midnight(int64_t t)
{
	return (t + DAY_SECONDS - 1) / DAY_SECONDS * DAY_SECONDS;
}

static int no_cycle(const struct replay *r, struct err *err)
{
	char start[21], end[21], length[24], first[21], last[21];

	when_iso(r->start, start);
	when_iso(r->end, end);
	when_iso(r->history->begin, first);
	when_iso(r->history->end, last);
	duration_format(r->opts.cycle_seconds, length);
	if (r->end <= r->start && !r->opts.start && !r->opts.end)
		return err_set(err, E_USAGE, "the history covers only %.16s to %.16s: a replay needs "
		               "captures over days; within a day give --start, --end and a short "
		               "--cycle", first, last);
	return err_set(err, E_USAGE, "no whole cycle of %s lies between %.10s and %.10s (the "
	               "history goes from %.10s to %.10s): choose a shorter --cycle, or another "
	               "--start or --end", length, start, end, first, last);
}

/* One capture with a wrong clock would make a replay of centuries. */
static int wrong_times(const struct replay *r, struct err *err)
{
	char first[21], last[21];

	when_iso(r->history->begin, first);
	when_iso(r->history->end, last);
	return err_set(err, E_USAGE, "the history goes from %.10s to %.10s: some capture has a "
	               "wrong time; give --start and --end", first, last);
}

static int plan_cycles(struct replay *r, struct err *err)
{
	const struct replay_opts *o = &r->opts;
	int64_t n;

	r->start = o->start ? o->start : next_midnight(r->history->begin);
	r->end = o->end ? o->end : next_midnight(r->history->end);
	if (o->cycle_seconds <= 0)
		return err_set(err, E_USAGE, "cycle: must be longer than 0");
	n = (r->end - r->start) / o->cycle_seconds;
	if (n < 1)
		return no_cycle(r, err);
	if (r->end - r->start > SPAN_MAX && !(o->start && o->end))
		return wrong_times(r, err);
	if (n > CYCLES_MAX)
		return err_set(err, E_USAGE, "%lld cycles: choose a longer --cycle", (long long)n);
	r->n_cycles = (uint32_t)n;
	r->max_age = o->max_age_cycles;
	return r->max_age ? 0 : guarantee_cycles(o->max_age, o->cycle_seconds, &r->max_age, err);
}

static void find_copies(struct replay *r)
{
	const struct history *h = r->history;

	r->copy_at_start = mem_array(h->n_pages, sizeof *r->copy_at_start);
	for (uint32_t i = 0; i < h->n_pages; i++) {
		int64_t at = history_at(h, i, r->start, false);

		while (at >= (int64_t)h->first[i] &&
		       (h->captures.v[at].gone || h->captures.v[at].moved))
			at--;
		if (at < (int64_t)h->first[i])
			at = -1;
		r->copy_at_start[i] = at >= 0 ? (uint32_t)at : NEVER;
		r->n_repository += at >= 0;
	}
}

static double weight_at(const struct replay *r, uint32_t i)
{
	return r->opts.weight == WEIGHT_GIVEN ? (double)r->history->weight[i] :
	       r->prepared.pagerank[i];
}

/* PageRank times N, or the weights given; the mean over the repository being 1: pages of
 * the trace that appear later hold some of the rank, which would raise all others. */
static void find_weights(struct replay *r)
{
	uint32_t n = r->pages.n;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += r->copy_at_start[i] != NEVER ? weight_at(r, i) : 0;
	r->weight = mem_array(n, sizeof *r->weight);
	for (uint32_t i = 0; i < n; i++) {
		if (r->opts.weights == WEIGHTS_PAGERANK10 && r->opts.weight != WEIGHT_GIVEN)
			r->weight[i] = r->prepared.pagerank10[i];
		else
			r->weight[i] = sum > 0 ? (float)(weight_at(r, i) * r->n_repository / sum) : 1;
	}
}

/* A share is of the pages at the start; a number stands as it is. */
static uint32_t find_budget(const struct replay *r)
{
	if (r->opts.budget.percent)
		return (uint32_t)share_of(r->opts.budget, r->n_repository);
	return (uint32_t)fmin(fmax(1, round(r->opts.budget.value)), BUDGET_MAX);
}

int replay_open(struct replay *r, const struct history *h, const struct replay_opts *opts,
                unsigned needs, struct err *err)
{
	struct pages_opts po = { .site_by_domain = opts->site_by_domain, .borrow = true };
	int rc;

	*r = (struct replay){ .history = h, .opts = *opts };
	if (opts->weight == WEIGHT_GIVEN && !h->weight)
		return err_set(err, E_USAGE, "--weight given: only repositories hold the weights of "
		               "their pages; replay one, or choose --weight pagerank");
	rc = plan_cycles(r, err);
	if (rc < 0)
		return rc;
	find_copies(r);
	if (!r->n_repository)
		return err_set(err, E_USAGE, "no page has a capture of status 200 at or before the "
		               "start: choose a later --start");
	r->budget = find_budget(r);
	pages_init(&r->pages, h->urls.pool, h->urls.offset, h->n_pages, &po);
	rc = prepare_all(r, needs | NEED_PAGERANK, err);
	if (rc < 0)
		return rc;
	find_weights(r);
	return r->opts.shards.count ? shards_open(r, needs | NEED_PAGERANK, err) : 0;
}

void replay_close(struct replay *r)
{
	shards_close(r);
	pages_release(&r->pages);
	prepare_release(&r->prepared);
	free(r->weight);
	free(r->copy_at_start);
	*r = (struct replay){ 0 };
}
