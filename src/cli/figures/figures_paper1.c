/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_paper1.c - Tan et al. 2007a: sampling with neighbours.
 *
 * The paper's archive had 300,000 pages and budgets of 25, 50 and 100 thousand:
 * 8.3, 16.7 and 33 % here.  Its archive could only compare a page with its own
 * state one cycle ago, so policies are told that (OBSERVE_CYCLE).
 */
#include <stdio.h>

#include "cli/figures/figures.h"

#define DOMAINS_MOST 512        /* top-level domains that are told apart */
#define DOMAINS_SHOWN 6
#define DEPTHS 11               /* 0 .. 9, and 10 or more */

struct domain {
	uint32_t sites, pages, at_start, captures;
	uint32_t depths[DEPTHS];
};

struct domains {
	struct strtab names;
	struct domain *all;
	uint32_t order[DOMAINS_MOST];   /* most pages first */
};

/* The top-level domain of a host; hosts without a dot, and addresses, are "other". */
static uint32_t domain_of(struct domains *d, const char *url, const char **ret_path)
{
	const char *host = strstr(url, "://"), *dot, *end;
	uint32_t number;

	host = host ? host + 3 : url;
	*ret_path = host + strcspn(host, "/?#");
	end = memchr(host, ':', (size_t)(*ret_path - host));
	end = end ? end : *ret_path;
	dot = memrchr(host, '.', (size_t)(end - host));
	if (!dot || dot + 1 == end || (dot[1] >= '0' && dot[1] <= '9') ||
	    d->names.n >= DOMAINS_MOST - 1)
		return strtab_intern(&d->names, "other", 5, NULL);
	number = strtab_intern(&d->names, dot + 1, (size_t)(end - dot - 1), NULL);
	return number;
}

static uint32_t depth_of(const char *path)
{
	uint32_t n = 0;

	for (; *path && *path != '?' && *path != '#'; path++)
		n += *path == '/';
	n = n ? n - 1 : 0;              /* the first slash is the root */
	return n < DEPTHS ? n : DEPTHS - 1;
}

static void domains_count(struct domains *d, const struct figures *f)
{
	const struct history *h = &f->history;
	int64_t start = f->ask->start ? f->ask->start :
		(h->begin + DAY_SECONDS - 1) / DAY_SECONDS * DAY_SECONDS;
	struct strtab sites = { 0 };

	d->all = mem_zalloc(DOMAINS_MOST, sizeof *d->all);
	for (uint32_t i = 0; i < h->n_pages; i++) {
		const char *url = strtab_get(&h->urls, i), *path;
		struct domain *one = &d->all[domain_of(d, url, &path)];
		int64_t at = history_at(h, i, start, false);
		bool new;

		strtab_intern(&sites, url, (size_t)(path - url), &new);
		one->sites += new;
		one->pages++;
		one->at_start += at >= 0 && !h->captures.v[at].gone;
		one->captures += (uint32_t)(h->first[i + 1] - h->first[i]);
		one->depths[depth_of(path)]++;
	}
	for (uint32_t i = 0; i < d->names.n; i++) {
		uint32_t k = i;

		for (; k > 0 && d->all[d->order[k - 1]].pages < d->all[i].pages; k--)
			d->order[k] = d->order[k - 1];
		d->order[k] = i;
	}
	strtab_release(&sites);
}

static void domains_release(struct domains *d)
{
	strtab_release(&d->names);
	free(d->all);
}

static int make_table1(struct figures *f, const struct figure *figure, struct plot *ret,
                       struct err *err)
{
	static const char *const columns[] = { "sites", "pages", "at the start", "captures" };
	struct domains d = { 0 };
	uint32_t rows;

	(void)figure;
	(void)err;
	domains_count(&d, f);
	rows = d.names.n < 20 ? d.names.n : 20;
	plot_init(ret, PLOT_TABLE, 4, rows + 1);
	ret->decimals = 0;
	for (int c = 0; c < 4; c++)
		snprintf(ret->series[c].label, PLOT_LABEL, "%s", columns[c]);
	for (uint32_t i = 0; i < d.names.n; i++) {
		const struct domain *one = &d.all[d.order[i]];
		double v[] = { one->sites, one->pages, one->at_start, one->captures };

		if (i < rows)
			snprintf(ret->names[i], PLOT_LABEL, ".%.70s", strtab_get(&d.names, d.order[i]));
		for (int c = 0; c < 4; c++) {
			double *sum = &ret->series[c].y[rows];

			if (i < rows)
				ret->series[c].y[i] = v[c];
			*sum = i ? *sum + v[c] : v[c];
		}
	}
	snprintf(ret->names[rows], PLOT_LABEL, "all");
	snprintf(ret->caption, sizeof ret->caption, "Sites (hosts), pages with any capture, pages "
	         "that live at the start, and captures, by top-level domain%s.",
	         rows < d.names.n ? "; the 20 largest" : "");
	domains_release(&d);
	return 0;
}

static int make_depths(struct figures *f, const struct figure *figure, struct plot *ret,
                       struct err *err)
{
	struct domains d = { 0 };
	uint32_t shown;

	(void)figure;
	(void)err;
	domains_count(&d, f);
	shown = d.names.n < DOMAINS_SHOWN ? d.names.n : DOMAINS_SHOWN;
	plot_init(ret, PLOT_LINES, shown, DEPTHS);
	for (uint32_t k = 0; k < DEPTHS; k++)
		ret->x[k] = k;
	for (uint32_t i = 0; i < shown; i++) {
		const struct domain *one = &d.all[d.order[i]];

		snprintf(ret->series[i].label, PLOT_LABEL, ".%.40s (%u)",
		         strtab_get(&d.names, d.order[i]), one->pages);
		for (uint32_t k = 0; k < DEPTHS; k++)
			ret->series[i].y[k] = (double)one->depths[k] / one->pages;
	}
	snprintf(ret->caption, sizeof ret->caption, "Share of a top-level domain's pages by the "
	         "number of directories above them (10: ten or more); the domains with most "
	         "pages, their number in brackets.");
	domains_release(&d);
	return 0;
}

static const struct figure_line sweep[] = {
	{ "LB (links)", "neighbour:by=link,d=-6..8", -6 },
	{ "DB (directories)", "neighbour:by=dir,d=-6..8", -6 },
	{ "CB (clusters)", "neighbour:by=cluster,d=0..8", 0 },
	{ "GSB (site)", "site", 0 },
	{ "RNS (random)", "random", 0 },
};
static const struct figure_line policies[] = {
	{ "RNS (random)", "random", 0 }, { "RR (round-robin)", "round-robin", 0 },
	{ "GSB (site)", "site", 0 }, { "LB, d=3", "neighbour:by=link,d=3", 0 },
	{ "DB, d=1", "neighbour:by=dir,d=1", 0 }, { "CB, d=0", "neighbour:by=cluster,d=0", 0 },
	{ "tide", "tide", 0 },
};
static const struct figure_line links[] = { { "LB", "neighbour:by=link,d=-6..8", -6 } };
static const struct figure_line dirs[] = { { "DB", "neighbour:by=dir,d=-6..8", -6 } };
static const struct figure_line pra[] = {
	{ "RNS (random)", "random", 0 }, { "GSB (site)", "site", 0 },
	{ "DB, d=0", "neighbour:by=dir,d=0", 0 }, { "DB, d=1", "neighbour:by=dir,d=1", 0 },
	{ "PRA, d=0", "neighbour:by=dir,d=0,phi=pagerank", 0 },
	{ "PRA, d=1", "neighbour:by=dir,d=1,phi=pagerank", 0 },
	{ "PRA-AND, d=0", "neighbour:by=dir,d=0,phi=pagerank,trigger=changed", 0 },
	{ "PRA-AND, d=1", "neighbour:by=dir,d=1,phi=pagerank,trigger=changed", 0 },
	{ "LB, d=0", "neighbour:by=link,d=0", 0 },
};
static const struct figure_line over_time[] = {
	{ "RNS (random)", "random", 0 }, { "DB, d=1", "neighbour:by=dir,d=1", 0 },
	{ "HA", "neighbour:by=dir,d=1,phi=history", 0 },
	{ "WHA", "neighbour:by=dir,d=1,phi=weighted", 0 },
	{ "HA by visits", "neighbour:by=dir,d=1,phi=history,count=visits", 0 },
	{ "WHA by visits", "neighbour:by=dir,d=1,phi=weighted,count=visits", 0 },
};

#define BY_CYCLE .observe = OBSERVE_CYCLE
#define RATIO "ChangeRatio, cycle reading"

static const struct figure figures[] = {
	{ .id = "table1", .title = "Table 1: sites and pages by top-level domain",
	  .x_label = "domain", .y_label = "", .make = make_table1 },
	{ .id = "fig4", .title = "Figure 4: depth of pages by top-level domain",
	  .x_label = "directories above the page", .y_label = "share of the domain's pages",
	  .make = make_depths },
	{ .id = "fig5", .title = "Figure 5: how far the neighbourhood reaches (d)",
	  .x_label = "d", .note = "Links: d > 0 follows links out, d < 0 links in. Directories: "
	  "d > 0 goes up, d < 0 down. Clusters: d counts clusters by nearness.",
	  .y_label = RATIO, .kind = PLOT_LINES, .axis = AXIS_RANGE, .cycles = "8w",
	  .budgets = "8.3%", FIGURE_LINES(sweep), FIGURE_MEASURE(change_ratio_cycle), BY_CYCLE },
	{ .id = "fig6", .title = "Figure 6: policies", .x_label = "length of a cycle",
	  .y_label = RATIO, .kind = PLOT_BARS, .axis = AXIS_SETTING, .cycles = "2w,4w,8w",
	  .budgets = "8.3%", FIGURE_LINES(policies), FIGURE_MEASURE(change_ratio_cycle),
	  BY_CYCLE },
	{ .id = "fig7a", .title = "Figure 7 (a): d by cycle length and budget, directories",
	  .x_label = "d", .y_label = RATIO, .kind = PLOT_LINES, .axis = AXIS_RANGE,
	  .cycles = "2w,4w,8w", .budgets = "8.3%,16.7%,33%", FIGURE_LINES(dirs),
	  FIGURE_MEASURE(change_ratio_cycle), BY_CYCLE },
	{ .id = "fig7b", .title = "Figure 7 (b): d by cycle length and budget, links",
	  .x_label = "d", .y_label = RATIO, .kind = PLOT_LINES, .axis = AXIS_RANGE,
	  .cycles = "2w,4w,8w", .budgets = "8.3%,16.7%,33%", FIGURE_LINES(links),
	  FIGURE_MEASURE(change_ratio_cycle), BY_CYCLE },
	{ .id = "fig8", .title = "Figure 8: PageRank as download probability",
	  .note = "Weights: PageRank as integers 0..10.", .x_label = "",
	  .y_label = "weighted ChangeRatio", .kind = PLOT_BARS, .axis = AXIS_SETTING,
	  .cycles = "2w", .budgets = "8.3%", FIGURE_LINES(pra),
	  FIGURE_MEASURE(weighted_change_ratio), BY_CYCLE, .weights = WEIGHTS_PAGERANK10 },
	{ .id = "fig9", .title = "Figure 9: the long run, history as download probability",
	  .x_label = "cycle", .y_label = RATIO, .kind = PLOT_LINES, .axis = AXIS_CYCLES,
	  .cycles = "2w", .budgets = "8.3%", FIGURE_LINES(over_time),
	  FIGURE_MEASURE(change_ratio_cycle), BY_CYCLE },
};

const struct figure_paper figures_paper1 = {
	.name = "paper1", .title = "sampling with neighbours", .detect = "bytes",
	.figures = figures, .n_figures = sizeof figures / sizeof *figures,
};
