/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_report.c - see history_report.h.
 *
 * The documents are those of `status`, `log`, `status --sites`, `status --failing` (if
 * any page fails) and `cluster`; of the
 * sites the REPORT_SITES_MAX most visited, of the pages that fail as many.  Cost: that of
 * the visits since the newest cycle but one (engine/recall/visit_counts.h); with pages, or a
 * policy that can say probabilities, that of planning one cycle; all copies, for clusters.
 */
#include "cli/print/history_report.h"

#include <math.h>
#include <stdlib.h>

#include "base/when.h"
#include "cli/print/cluster_run.h"
#include "cli/print/failing_print.h"
#include "cli/print/history_print.h"
#include "cli/print/report_pages.h"

#define LATELY 5                        /* cycles that the verdict covers */
#define SITE_VISITS_MIN 10              /* before a site's rate is worth a sentence */

struct cycles_seen {
	struct json *j;
	uint32_t n, n_first;            /* cycles that looked for changes; cycles of first copies only */
	uint64_t downloads, hits, copies;
	uint32_t lately_downloads[LATELY], lately_hits[LATELY];
};

/* A cycle of first copies only cannot find a change, so it says nothing of how well pages
 * are chosen (views.js leaves it out of its charts, too). */
static bool made_copies_only(const struct store_cycle *c)
{
	return c->fresh && !c->changed && !c->same;
}

static int add_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct cycles_seen *seen = arg;
	uint32_t hits = c->changed + c->gone;

	(void)err;
	if (c->goal != GOAL_CHANGED)
		return 0;
	json_object(seen->j);
	cycle_print_json(seen->j, c);
	json_end_object(seen->j);
	if (made_copies_only(c)) {
		seen->n_first++;
		seen->copies += c->fresh;
		return 0;
	}
	seen->downloads += c->downloads;
	seen->hits += hits;
	seen->lately_downloads[seen->n % LATELY] = c->downloads;
	seen->lately_hits[seen->n % LATELY] = hits;
	seen->n++;
	return 0;
}

static int add_cycles(struct report *r, struct store *s, struct cycles_seen *seen,
                      struct err *err)
{
	int rc;

	seen->j = report_json(r);
	cli_json_schema(seen->j, "log");
	json_key(seen->j, "cycles");
	json_array(seen->j);
	rc = store_cycles(s, 0, add_cycle, seen, err);
	json_end_array(seen->j);
	cli_json_end(seen->j);
	return rc;
}

static void say_cycles(struct report *r, const struct cycles_seen *seen)
{
	char requests[32], hits[32];
	double downloads = 0, found = 0;

	if (!seen->n && !seen->n_first) {
		report_say(r, "No cycle has run here yet.");
		return;
	}
	if (seen->n_first)
		report_say(r, "%s first copies were made.", report_count(seen->copies, hits));
	if (!seen->n) {
		report_say(r, "The next cycles look for changes.");
		return;
	}
	report_say(r, "In %u cycle%s%s %s requests found %s changes: a ChangeRatio of "
	           "%.1f %%.", seen->n, seen->n == 1 ? "" : "s", seen->n_first ? " since" : "",
	           report_count(seen->downloads, requests), report_count(seen->hits, hits),
	           seen->downloads ? 100.0 * (double)seen->hits / (double)seen->downloads : 0);
	for (int i = 0; i < LATELY; i++) {
		downloads += seen->lately_downloads[i];
		found += seen->lately_hits[i];
	}
	if (seen->n > LATELY && downloads > 0)
		report_say(r, "The last %d cycles found %.1f %%.", LATELY,
		           100 * found / downloads);
}

/* "2.5 days", and less than a day as 4m9s. */
static void time_text(double days, char out[40])
{
	char short_text[24], figure[32];

	if (days < 1) {
		duration_format((int64_t)fmax(days * 86400, 1), short_text);
		snprintf(out, 40, "%s", short_text);
	} else {
		figure_format(days, 3, figure);
		snprintf(out, 40, "%s days", figure);
	}
}

static void say_sites(struct report *r, const struct site_status *rows, uint32_t n,
                      const struct pages *p)
{
	const struct site_status *best = NULL;
	char every[40];

	for (uint32_t i = 0; i < n; i++)
		if (rows[i].answered >= SITE_VISITS_MIN && rows[i].updates && !isnan(rows[i].rate) &&
		    (!best || rows[i].rate > best->rate))
			best = &rows[i];
	if (!best || n < 2)
		return;
	time_text(1 / best->rate, every);
	report_say(r, "The liveliest site of those with %d visits or more is %s: a page of it "
	           "changes every %s.", SITE_VISITS_MIN, strtab_get(&p->site_names, best->site),
	           every);
}

/* The pages, and what is known of them. */
struct known {
	struct planning plan;           /* of the next cycle, if pages are named; */
	struct sites sites;             /* else these */
	bool is_planned;
	const struct loaded *loaded;
	struct visit_counts counts;
	struct site_status *rows;
};

static bool can_say(const struct resumed *r)
{
	return r->policy && r->policy->ops->probability;
}

/* What a policy says of the sites is asked before the next cycle is planned. */
static int know(struct known *k, struct store *s, const struct history_report_opts *o,
                struct err *err)
{
	struct resume_opts ro = { .policy = o->policy, .seed = o->seed,
	                          .cycle_seconds = o->cycle_seconds, .progress = o->progress };
	struct resumed *says;
	int rc = k->is_planned ? planning_open(&k->plan, s, o->plan, err) :
	                         sites_open(&k->sites, s, &ro, err);

	if (rc < 0)
		return rc;
	k->loaded = k->is_planned ? &k->plan.r.has.loaded : k->sites.loaded;
	says = !k->is_planned ? k->sites.says : can_say(&k->plan.r) ? &k->plan.r : NULL;
	rc = visit_counts_load(&k->counts, s, &k->loaded->pages, o->progress, err);
	if (rc == 0)
		k->rows = sites_status(k->loaded, says, &k->counts, o->cycle_seconds, 0);
	return rc;
}

static void known_release(struct known *k)
{
	free(k->rows);
	visit_counts_release(&k->counts);
	if (k->is_planned)
		planning_release(&k->plan);
	else
		sites_close(&k->sites);
}

static void add_sites(struct report *r, struct known *k, const struct history_report_opts *o)
{
	const struct pages *p = &k->loaded->pages;
	uint32_t n = p->tree.n_sites;

	sites_sort(k->rows, n, p, SITES_BY_VISITS);
	sites_print_json(report_json(r), NULL, k->loaded, o->policy, k->rows,
	                 n < REPORT_SITES_MAX ? n : REPORT_SITES_MAX, NULL);
	if (o->verdict)
		say_sites(r, k->rows, n, p);
}

static void add_failing(struct report *r, const struct known *k,
                        const struct history_report_opts *o)
{
	struct failing_table t;
	char count[32];

	failing_table_make(&t, &k->counts, k->loaded, NULL, 0);
	if (t.n_pages)
		status_print_failing(report_json(r), NULL, &t, REPORT_SITES_MAX);
	if (t.n_pages && o->verdict)
		report_say(r, "%s page%s without an answer when last asked for.",
		           report_count(t.n_pages, count), t.n_pages == 1 ? " was" : "s were");
	failing_table_release(&t);
}

/* In the order of the page: cycles, pages by name, sites, what fails. */
static int add_known(struct report *r, struct store *s, struct known *k,
                     const struct history_report_opts *o, struct err *err)
{
	struct report_pages named = { .store = s, .folder = o->folder, .loaded = k->loaded,
	                              .counts = &k->counts,
	                              .plan = k->is_planned ? &k->plan : NULL };
	struct cycles_seen seen = { 0 };
	int rc = add_cycles(r, s, &seen, err);

	if (rc == 0 && o->verdict)
		say_cycles(r, &seen);
	if (rc == 0 && o->folder && k->loaded->pages.n)
		rc = report_pages_json(report_json(r), &named, err);
	if (rc < 0)
		return rc;
	add_sites(r, k, o);
	add_failing(r, k, o);
	return 0;
}

int history_report_add(struct report *r, struct store *s, const struct history_report_opts *o,
                       struct err *err)
{
	struct status_counts counts;
	struct known k = { 0 };
	int rc = status_count(s, &counts, o->progress, err);

	if (rc < 0)
		return rc;
	status_print_json(report_json(r), &counts);
	k.is_planned = o->folder && o->plan && counts.store.pages;
	rc = know(&k, s, o, err);
	if (rc == 0)
		rc = add_known(r, s, &k, o, err);
	known_release(&k);
	if (rc == 0 && o->clusters && counts.store.captures && counts.store.pages >= 2 * o->clusters)
		rc = cluster_repository_json(report_json(r), s, o->clusters, o->seed, o->progress, err);
	return rc;
}
