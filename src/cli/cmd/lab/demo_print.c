/* SPDX-License-Identifier: Apache-2.0 */
/* demo_print.c - what the demo shows: the standing, JSON, the report. */
#include "cli/cmd/lab/demo.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/print/history_report.h"

void demo_print_standing(const struct demo *d, int64_t cycle, int64_t cycles, bool redraw)
{
	if (redraw)                     /* over the table before */
		printf("\033[%zuA\033[J", d->n_players + 2);
	printf("cycle %lld of %lld\n%-24s %10s %12s %10s %8s %8s\n", (long long)cycle,
	       (long long)cycles, "policy", "freshness", "ChangeRatio", "downloads", "changed",
	       "failed");
	for (size_t k = 0; k < d->n_players; k++) {
		const struct demo_player *p = &d->players[k];

		printf("%-24s %10.3f %12.3f %10llu %8llu %8llu\n", p->as.name,
		       d->n_measured ? p->freshness / d->n_measured : 0,
		       p->downloads ? (double)p->changed / (double)p->downloads : 0,
		       (unsigned long long)p->downloads, (unsigned long long)p->changed,
		       (unsigned long long)p->failed);
	}
	fflush(stdout);
}

/* Returns the policy that kept the freshest copies. */
static size_t say_verdict(const struct demo *d, struct report *r)
{
	size_t best = 0, fresh = 0;

	for (size_t k = 1; k < d->n_players; k++) {
		if (d->players[k].changed > d->players[best].changed)
			best = k;
		if (d->players[k].freshness > d->players[fresh].freshness)
			fresh = k;
	}
	report_say(r, "With the same requests, %s kept the freshest copies: %.1f %% true after a "
	           "cycle, where random has %.1f %%.", d->players[fresh].as.name,
	           100 * d->players[fresh].freshness / d->n_measured,
	           100 * d->players[0].freshness / d->n_measured);
	report_say(r, "%s found the most changes: %.1f times as many as random.",
	           fresh == best ? "It also" : d->players[best].as.name,
	           (double)d->players[best].changed /
	           (double)(d->players[0].changed ? d->players[0].changed : 1));
	return fresh;
}

static void print_end(const struct demo *d, const struct report *r, const char *path,
                      const char *keep)
{
	char *whole = realpath(path, NULL);

	printf("\n%s\n\nThe same with charts, for a browser: %s\n", buf_text(&r->verdict),
	       whole ? whole : path);
	if (keep)
		printf("\nThe repository of %s is kept; a dashboard, and what fails there:\n"
		       "  freshet -C %s serve\n"
		       "  freshet -C %s status --failing\n", d->players[d->n_players - 1 - (d->fleet != NULL)].as.name,
		       keep, keep);
	printf("\nGo on with your own pages:\n"
	       "  freshet init crawl && freshet -C crawl import urls.txt\n"
	       "  freshet replay archive.cdxj.gz --policy all      # proof on recorded history\n"
	       "  freshet -C crawl set contact mailto:you@example.org && freshet -C crawl cycle\n");
	free(whole);
}

static void json_turns(struct json *j, const struct demo_player *p, int64_t cycles)
{
	json_key(j, "cycles");
	json_array(j);
	for (int64_t c = 0; c < cycles; c++) {
		const struct demo_turn *t = &p->turns[c];

		json_object(j);
		json_kint(j, "cycle", c + 1);
		json_kint(j, "downloads", t->downloads);
		json_kint(j, "failed", t->failed);
		json_kint(j, "changed", t->changed);
		json_knum(j, "change_ratio", t->downloads ? (double)t->changed / t->downloads : 0);
		json_knum(j, "freshness", t->freshness);
		json_end_object(j);
	}
	json_end_array(j);
}

void demo_print_json(struct json *j, const struct demo *d, const struct demo_opts *o)
{
	cli_json_schema(j, "demo");
	json_kint(j, "pages", d->n_pages);
	json_kint(j, "cycles", o->cycles);
	json_kint(j, "cycle_seconds", o->every);
	json_kint(j, "budget", (int64_t)share_of(o->budget, d->n_pages));
	json_key(j, "runs");
	json_array(j);
	for (size_t k = 0; k < d->n_players; k++) {
		const struct demo_player *p = &d->players[k];

		json_object(j);
		json_kstr(j, "policy", p->as.name);
		if (!p->store) {
			json_kint(j, "workers", o->workers);
			json_kint(j, "shards", demo_fleet_shards(d->fleet));
		}
		json_kint(j, "downloads", (int64_t)p->downloads);
		json_kint(j, "failed", (int64_t)p->failed);
		json_kint(j, "changed", (int64_t)p->changed);
		json_knum(j, "change_ratio", (double)p->changed / (double)p->downloads);
		json_knum(j, "freshness", p->freshness / d->n_measured);
		json_turns(j, p, o->cycles);
		json_end_object(j);
	}
	json_end_array(j);
	cli_json_end(j);
}

void demo_print_begin(const struct demo *d, const struct demo_opts *o)
{
	printf("A small web lives on loopback: %u pages of %u hosts; pages change, directories are "
	       "rewritten,\npages die, and some fail. One host is rebuilt every day: its copies never stay true "
	       "for long.\n", d->n_pages, d->world.living.n_sites);
	if (o->workers)
		printf("One machine keeps its copy of it all fresh, and so does a fleet of %lld workers on "
		       "PostgreSQL,\nwhose %u shards share one budget: the same number of requests.\n\n",
		       (long long)o->workers, demo_fleet_shards(d->fleet));
	else
		printf("Each policy keeps its own copy of it all fresh with the same number of requests.\n\n");
	fflush(stdout);
}

int demo_write_report(struct demo *d, struct cli *cli, const struct demo_opts *o,
                      struct err *err)
{
	const char *path = o->report ? o->report : DEMO_REPORT;
	struct report_head head = { "A small living web, kept fresh by several policies",
	                            cli->line, clock_now() };
	struct history_report_opts ho = { .cycle_seconds = o->every, .clusters = 8,
	                                  .seed = (uint64_t)cli->common.seed };
	struct report r;
	size_t fresh;
	int rc;

	report_init(&r);
	fresh = say_verdict(d, &r);
	demo_print_json(report_json(&r), d, o);
	ho.policy = d->players[fresh].as.policy;
	rc = d->fleet ? 0 : history_report_add(&r, d->players[fresh].store, &ho, err);
	if (rc == 0)
		rc = report_write(&r, path, &head, err);
	if (rc == 0 && !cli->common.json)
		print_end(d, &r, path, o->keep);
	report_release(&r);
	return rc;
}
