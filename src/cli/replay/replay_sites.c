/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_sites.c - see replay_sites.h.
 *
 * Figures of a site are sums over its cycles and seeds: ChangeRatio is changed downloads
 * over downloads, freshness the share of its copies that were true when a cycle ended.
 * A site that was never downloaded has no ChangeRatio.
 */
#include "cli/replay/replay_sites.h"

#include <math.h>
#include <stdlib.h>

#include "cli/frame/command.h"
#include "cli/replay/replay_print.h"

#define ROWS 25                 /* of the table; --json has all */

static int compare_sites(const void *a, const void *b, void *arg)
{
	const struct replay_sites *s = arg;
	const struct strtab *names = &s->x->replay->pages.site_names;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (s->truth[i].pages != s->truth[k].pages)
		return s->truth[i].pages > s->truth[k].pages ? -1 : 1;
	return strcmp(strtab_get(names, i), strtab_get(names, k));
}

void replay_sites_init(struct replay_sites *s, const struct experiment *x)
{
	uint32_t n_sites = x->replay->pages.tree.n_sites;

	*s = (struct replay_sites){ .x = x };
	if (!x->replay->opts.by_site)
		return;
	s->truth = replay_site_truth(x->replay);
	s->order = mem_array(n_sites, sizeof *s->order);
	for (uint32_t i = 0; i < n_sites; i++)
		if (s->truth[i].pages || x->results[0].sites[i].copies)
			s->order[s->n++] = i;   /* sites with no page at the start are left out */
	qsort_r(s->order, s->n, sizeof *s->order, compare_sites, s);
}

void replay_sites_release(struct replay_sites *s)
{
	free(s->truth);
	free(s->order);
}

/* NAN: there is nothing to take a share of. */
static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

void replay_sites_json(const struct replay_sites *s, const struct policy_result *p,
                       uint32_t most, struct json *j)
{
	uint32_t n = most && most < s->n ? most : s->n;

	json_key(j, "sites");
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t site = s->order[i];
		const struct site_measure *m = &p->sites[site];

		json_object(j);
		json_kstr(j, "site", strtab_get(&s->x->replay->pages.site_names, site));
		json_kint(j, "pages", s->truth[site].pages);
		json_kint(j, "changes", (int64_t)s->truth[site].changes);
		json_knum(j, "downloads", (double)m->downloads / s->x->n_seeds);
		json_knum(j, "changed", (double)m->changed / s->x->n_seeds);
		json_knum(j, "change_ratio", share(m->changed, m->downloads));
		json_knum(j, "freshness", share(m->fresh, m->copies));
		json_end_object(j);
	}
	json_end_array(j);
	if (n < s->n)
		json_kint(j, "more_sites", s->n - n);
}

/* The policy with the best ratio at a site; n_results: none. */
static size_t best_at(const struct replay_sites *s, uint32_t site)
{
	size_t best = s->x->n_results;
	double most = 0;

	for (size_t i = 0; i < s->x->n_results; i++) {
		const struct site_measure *m = &s->x->results[i].sites[site];
		double ratio = share(m->changed, m->downloads);

		if (ratio > most && !replay_knows_truth(s->x->results[i].spec)) {
			most = ratio;
			best = i;
		}
	}
	return best;
}

static void share_cell(struct table *t, double v)
{
	if (isnan(v))
		table_cell(t, "-");
	else
		table_cell(t, "%.4f", v);
}

void replay_sites_table(const struct replay_sites *s, size_t best, FILE *out)
{
	static const char *const heads[] = { "<site", "pages", "changes", "downloads", "found",
		"ChangeRatio", "freshness", "<highest ChangeRatio" };
	const struct policy_result *p = &s->x->results[best];
	bool several = s->x->n_results > 1;
	struct table *t = table_new(heads, several ? 8 : 7);

	for (uint32_t i = 0; i < s->n && i < ROWS; i++) {
		uint32_t site = s->order[i];
		const struct site_measure *m = &p->sites[site];
		size_t other = best_at(s, site);

		table_cell(t, "%s", strtab_get(&s->x->replay->pages.site_names, site));
		table_cell(t, "%u", s->truth[site].pages);
		table_cell(t, "%llu", (unsigned long long)s->truth[site].changes);
		table_cell(t, "%.1f", (double)m->downloads / s->x->n_seeds);
		table_cell(t, "%.1f", (double)m->changed / s->x->n_seeds);
		share_cell(t, share(m->changed, m->downloads));
		share_cell(t, share(m->fresh, m->copies));
		if (several)
			table_cell(t, "%s", other < s->x->n_results ? s->x->results[other].spec : "-");
	}
	fprintf(out, "\nBy site, %s:\n\n", p->spec);
	table_print(t, out);
	table_free(t);
	if (s->n > ROWS)
		fprintf(out, "and %u more; --json has all\n", s->n - ROWS);
}
