/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - visits, updates and rates of each site; see sites.h. */
#include "engine/recall/sites.h"

#include <math.h>

#include "base/math/stat.h"
#include "base/mem.h"
#include "policy/catalogue/catalogue.h"

struct counting {
	const struct pages *pages;
	struct site_status *rows;
	int64_t *last;                  /* by page: its visit before, 0: none */
	double *exposure;               /* by site, days between visits */
	uint64_t *n, *x;                /* by site: visits with one before; changes */
	uint32_t *answered, *hits;      /* by page: visits; those that found a change */
};

static int count_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct counting *c = arg;
	uint32_t site = c->pages->site[v->page];
	struct site_status *row = &c->rows[site];

	(void)err;
	row->visits++;
	row->failed += v->outcome == OUTCOME_FAILED;
	row->blocked += v->outcome > OUTCOME_FAILED;
	if (v->outcome >= OUTCOME_FAILED || v->goal != GOAL_CHANGED)
		return 0;
	row->answered++;
	row->updates += v->hit;
	c->answered[v->page]++;
	c->hits[v->page] += v->hit;
	if (v->time > row->last_visit)
		row->last_visit = v->time;
	if (c->last[v->page] && v->time > c->last[v->page]) {
		c->exposure[site] += (double)(v->time - c->last[v->page]) / DAY_SECONDS;
		c->n[site]++;
		c->x[site] += v->hit;
	}
	c->last[v->page] = v->time;
	return 0;
}

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
static void estimate_fresh(struct site_status *row, const struct counting *c,
                           const struct loaded *l, int64_t now)
{
	const struct tree *t = &c->pages->tree;
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
	struct pages_opts po = { .site_by_domain = opts->site_by_domain };
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

int sites_status(const struct loaded *l, struct resumed *says, struct store *s,
                 int64_t cycle_seconds, int64_t now, struct site_status **ret,
                 struct err *err)
{
	const struct pages *p = &l->pages;
	uint32_t n = p->tree.n_sites;
	struct counting c = { .pages = p };
	int rc;

	c.rows = mem_zalloc(n, sizeof *c.rows);
	c.last = mem_zalloc(p->n, sizeof *c.last);
	c.answered = mem_zalloc(p->n, sizeof *c.answered);
	c.hits = mem_zalloc(p->n, sizeof *c.hits);
	c.exposure = mem_zalloc(n, sizeof *c.exposure);
	c.n = mem_zalloc(n, sizeof *c.n);
	c.x = mem_zalloc(n, sizeof *c.x);
	rc = store_visits(s, 0, UINT32_MAX, count_visit, &c, err);
	for (uint32_t k = 0; k < n && rc == 0; k++) {
		struct site_status *row = &c.rows[k];
		double sum = 0, known = 0, none = 1;

		row->site = k;
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
		estimate_rate(row, (double)c.n[k], (double)c.x[k], c.exposure[k]);
		estimate_fresh(row, &c, l, now);
		if (known > 0)
			estimate_next(row, none, cycle_seconds);
	}
	free(c.last);
	free(c.answered);
	free(c.hits);
	free(c.exposure);
	free(c.n);
	free(c.x);
	if (rc < 0)
		free(c.rows);
	else
		*ret = c.rows;
	return rc;
}
