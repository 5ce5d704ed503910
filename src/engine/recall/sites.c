/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - visits, updates and rates of each site; see sites.h. */
#include "engine/recall/sites.h"

#include <math.h>

#include "base/math/stat.h"
#include "base/mem.h"
#include "policy/catalogue/catalogue.h"

static double to_rate(double share, double interval)
{
	return -log1p(-fmin(share, 1 - 1e-9)) / interval;
}

static void estimate_rate(struct site_status *row, double n, double x, double exposure)
{
	double middle, half, interval;

	row->rate = row->rate_low = row->rate_high = NAN;
	if (n < 1 || exposure <= 0)
		return;
	interval = exposure / n;
	stat_wilson(x / n, n, STAT_Z95, &middle, &half);
	row->rate = to_rate((x + 0.5) / (n + 1), interval);
	row->rate_low = to_rate(fmax(0, middle - half), interval);
	row->rate_high = to_rate(fmin(1, middle + half), interval);
}

double sites_page_rate(const struct site_status *site, double visits, double changes)
{
	double expected = site->answered ?
		visits * (double)site->updates / (double)site->answered : 0;

	return isnan(site->rate) ? 0 :
	       site->rate * (changes + SITES_PRIOR) / (expected + SITES_PRIOR);
}

/* The row's rate is known. */
static void estimate_fresh(struct site_status *row, const struct visit_counts *c,
                           const struct loaded *l, int64_t now)
{
	const struct tree *t = &l->pages.tree;
	double sum = 0;

	for (uint32_t i = t->site_first[row->site]; i < t->site_first[row->site + 1]; i++) {
		uint32_t page = t->site_pages[i];
		double age = (double)(now - c->last[page]) / DAY_SECONDS;

		if (!c->last[page] || !l->visits.state[page])
			continue;
		row->copies++;
		sum += exp(-fmax(0, age) * sites_page_rate(row, c->answered[page], c->hits[page]));
	}
	row->fresh = row->copies && !isnan(row->rate) ? sum / row->copies : NAN;
}

double sites_fresh(const struct site_status *rows, uint32_t n)
{
	double sum = 0, copies = 0;

	for (uint32_t k = 0; k < n; k++) {
		if (isnan(rows[k].fresh))
			continue;
		sum += rows[k].fresh * rows[k].copies;
		copies += rows[k].copies;
	}
	return copies > 0 ? sum / copies : NAN;
}

static void estimate_next(struct site_status *row, double chance_none, int64_t cycle_seconds)
{
	double p = 1 - chance_none;

	if (row->last_visit && p > 1e-9)
		row->next = row->last_visit + (int64_t)((double)cycle_seconds / p);
}

int sites_open(struct sites *x, struct store *s, const struct resume_opts *opts,
               struct err *err)
{
	struct pages_opts po = { .site_by_domain = opts->site_by_domain,
	                         .progress = opts->progress };
	struct policy *policy;
	bool can_say;
	int rc;

	*x = (struct sites){ .loaded = &x->pages };
	if ((rc = policy_new(&policy, opts->policy, err)) < 0)
		return rc;
	can_say = policy->ops->probability != NULL;
	policy_free(policy);
	if (!can_say)
		return load_pages(&x->pages, s, &po, err);
	x->says = &x->resumed;
	x->loaded = &x->resumed.has.loaded;
	return resume(x->says, s, opts, err);
}

void sites_close(struct sites *x)
{
	if (x->says)
		resume_release(x->says);
	else
		loaded_release(&x->pages);
}

static double chance_of(struct resumed *r, uint32_t page)
{
	return r ? policy_probability(r->policy, &r->engine.view, page) : (double)NAN;
}

static void add_counts(struct site_status *row, const struct site_counts *k)
{
	row->visits = k->visits;
	row->failed = k->failed;
	row->blocked = k->blocked;
	row->answered = k->answered;
	row->updates = k->updates;
	row->last_visit = k->last_visit;
}

struct site_status *sites_status(const struct loaded *l, struct resumed *says,
                                 const struct visit_counts *c, int64_t cycle_seconds,
                                 int64_t now)
{
	const struct pages *p = &l->pages;
	struct site_status *rows = mem_zalloc(p->tree.n_sites, sizeof *rows);

	for (uint32_t k = 0; k < p->tree.n_sites; k++) {
		struct site_status *row = &rows[k];
		double sum = 0, known = 0, none = 1;

		row->site = k;
		add_counts(row, &c->sites[k]);
		row->pages = p->tree.site_first[k + 1] - p->tree.site_first[k];
		for (uint32_t i = p->tree.site_first[k]; i < p->tree.site_first[k + 1]; i++) {
			uint32_t page = p->tree.site_pages[i];
			double chance = chance_of(says, page);

			row->gone += !l->visits.state[page];
			row->out += l->visits.state[page] == PAGE_OUT;
			if (isnan(chance))
				continue;
			sum += chance;
			none *= 1 - chance;
			known++;
		}
		row->probability = known > 0 ? sum / known : NAN;
		estimate_rate(row, (double)c->sites[k].repeated, (double)c->sites[k].changed,
		              c->sites[k].exposure);
		estimate_fresh(row, c, l, now);
		if (known > 0)
			estimate_next(row, none, cycle_seconds);
	}
	return rows;
}
