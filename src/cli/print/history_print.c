/* SPDX-License-Identifier: Apache-2.0 */
/* history_print.c - see history_print.h. */
#include "cli/print/history_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/frame/command.h"
#include "cli/print/failing_print.h"
#include "engine/archive/judge.h"

bool visit_is_first(const struct store_visit *v)
{
	return v->outcome == OUTCOME_CHANGED && judge_was_first(v);
}

uint32_t cycle_visits(const struct store_cycle *c)
{
	return c->fresh + c->changed + c->same + c->gone + c->failed + c->blocked;
}

static int count_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct status_counts *counts = arg;

	(void)err;
	if (c->goal == GOAL_ALIVE)
		counts->of_life += cycle_visits(c);
	else
		counts->of_cycles += cycle_visits(c);
	counts->failed += c->failed;
	counts->blocked += c->blocked;
	return 0;
}

/* The setting; a text that is none of the aims is told by the commands that go by it. */
static int find_aim(struct store *s, enum aim *ret, struct err *err)
{
	char *text = NULL;
	int rc = store_setting_get(s, "aim", &text, err);

	aim_find(rc > 0 ? text : AIM_DEFAULT, ret);
	free(text);
	return rc < 0 ? rc : 0;
}

int status_count(struct store *s, struct status_counts *ret, struct progress *progress,
                 struct err *err)
{
	int rc;

	*ret = (struct status_counts){ 0 };
	rc = store_count(s, &ret->store, err);
	if (rc == 0)
		rc = find_aim(s, &ret->aim, err);
	if (rc == 0)
		rc = tally_count(&ret->tally, s, progress, err);
	return rc < 0 ? rc : store_cycles(s, 0, count_cycle, ret, err);
}

static uint64_t imported(const struct status_counts *c)
{
	uint64_t others = c->of_cycles + c->of_life;

	return c->store.visits > others ? c->store.visits - others : 0;
}

static void status_members(struct json *j, const struct status_counts *c)
{
	char t[21];

	json_kint(j, "pages", (int64_t)(c->store.pages - c->store.removed));
	json_kint(j, "sites", c->tally.sites);
	json_kint(j, "directories", c->tally.dirs);
	json_kint(j, "captures", (int64_t)c->store.captures);
	json_kint(j, "visits", (int64_t)c->store.visits);
	json_kint(j, "cycles", (int64_t)c->store.cycles);
	json_kint(j, "gone", (int64_t)c->store.gone);
	json_kint(j, "paused", (int64_t)c->store.paused);
	json_kint(j, "out_of_scope", (int64_t)c->store.outside);
	json_kint(j, "removed", (int64_t)c->store.removed);
	json_kint(j, "visits_imported", (int64_t)imported(c));
	json_kint(j, "visits_cycles", (int64_t)c->of_cycles);
	json_kint(j, "visits_live", (int64_t)c->of_life);
	json_kint(j, "failed", (int64_t)c->failed);
	json_kint(j, "blocked", (int64_t)c->blocked);
	if (c->store.captures) {
		when_iso(c->store.first_capture, t);
		json_kstr(j, "first_capture", t);
		when_iso(c->store.last_capture, t);
		json_kstr(j, "last_capture", t);
	}
	json_kint(j, "view_bytes", (int64_t)tally_view_bytes(&c->tally));
	json_kstr(j, "aim", aim_name(c->aim));
	if (c->checked)
		json_kbool(j, "checked", true);
}

void status_print_json(struct json *j, const struct status_counts *c)
{
	cli_json_schema(j, "status");
	status_members(j, c);
	cli_json_end(j);
}

void status_print_failing(struct json *j, const struct status_counts *c,
                          const struct failing_table *t, uint32_t most)
{
	cli_json_schema(j, "status");
	if (c)
		status_members(j, c);
	failing_print_json(j, t, most);
	cli_json_end(j);
}

static void print_part(uint64_t n, const char *what, const char **between)
{
	if (!n)
		return;
	printf("%s%llu %s", *between, (unsigned long long)n, what);
	*between = ", ";
}

void status_print_text(const struct status_counts *c)
{
	const char *between = ": ";
	char from[21], to[21];

	printf("pages        %llu", (unsigned long long)(c->store.pages - c->store.removed));
	between = " (";
	print_part(c->store.gone, "gone or left", &between);
	print_part(c->store.paused, "paused", &between);
	print_part(c->store.outside, "out of scope", &between);
	if (*between == ',')
		putchar(')');
	if (c->store.removed)
		printf("; %llu removed", (unsigned long long)c->store.removed);
	between = ": ";
	printf("\nsites        %u\ndirectories  %u\ncaptures     %llu", c->tally.sites,
	       c->tally.dirs, (unsigned long long)c->store.captures);
	if (c->store.captures) {
		when_iso(c->store.first_capture, from);
		when_iso(c->store.last_capture, to);
		printf(", %s to %s", from, to);
	}
	printf("\nvisits       %llu", (unsigned long long)c->store.visits);
	print_part(imported(c), "imported", &between);
	print_part(c->of_cycles, "of cycles", &between);
	print_part(c->of_life, "of live", &between);
	between = "; ";
	print_part(c->failed, "failed", &between);
	print_part(c->blocked, "blocked", &between);
	if (c->failed || c->blocked)
		printf(" (`status --failing` says why)");
	printf("\ncycles       %llu\naim          %s\n", (unsigned long long)c->store.cycles,
	       aim_name(c->aim));
}

struct ordering { enum sites_order by; const struct pages *pages; };

static double sort_value(const struct site_status *r, enum sites_order by)
{
	double v = by == SITES_BY_VISITS ? (double)r->visits :
	           by == SITES_BY_UPDATES ? (double)r->updates :
	           by == SITES_BY_PROBABILITY ? r->probability : r->rate;

	return isnan(v) ? -1 : v;
}

static int compare_sites(const void *pa, const void *pb, void *arg)
{
	const struct site_status *a = pa, *b = pb;
	const struct ordering *o = arg;
	double x = sort_value(a, o->by), y = sort_value(b, o->by);

	if (o->by != SITES_BY_NAME && (x < y || x > y))
		return x > y ? -1 : 1;
	return strcmp(strtab_get(&o->pages->site_names, a->site),
	              strtab_get(&o->pages->site_names, b->site));
}

void sites_sort(struct site_status *rows, uint32_t n, const struct pages *p,
                enum sites_order by)
{
	struct ordering order = { by, p };

	qsort_r(rows, n, sizeof *rows, compare_sites, &order);
}

static void number_cell(struct table *t, double v, const char *format)
{
	char text[40] = "-";

	if (!isnan(v)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof text, format, v);
#pragma GCC diagnostic pop
	}
	table_cell(t, "%s", text);
}

static void time_cell(struct table *t, int64_t v)
{
	char text[21] = "-";

	if (v)
		when_iso(v, text);
	table_cell(t, "%.16s", text);
}

static const char *const site_keys[] = { "delay", "budget", "max-age", "weight", "detect", "ignore", "header",
	"accept", "max-body", "paused" };
#define N_SITE_KEYS (sizeof site_keys / sizeof *site_keys)

static void site_settings_json(struct json *j, const struct site_settings *x, const char *site)
{
	json_key(j, "settings");
	json_object(j);
	for (size_t k = 0; x && k < N_SITE_KEYS; k++) {
		const char *value = site_settings_of(x, site_keys[k], site, strlen(site));

		if (value)
			json_kstr(j, site_keys[k], value);
	}
	json_end_object(j);
}

/* Bytes of a value that the table shows: of its first line, up to 40. */
static size_t shown_size(const char *value)
{
	size_t n = strcspn(value, "\n");

	return n < 40 ? n : 40;
}

static void site_settings_cell(struct table *t, const struct site_settings *x, const char *site)
{
	char text[200] = "";
	size_t n = 0;

	for (size_t k = 0; x && k < N_SITE_KEYS; k++) {
		const char *value = site_settings_of(x, site_keys[k], site, strlen(site));

		if (value && n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %.*s", n ? ", " : "",
			                      site_keys[k], (int)shown_size(value), value);
	}
	table_cell(t, "%s", n ? log_plain(text) : "-");
}

void sites_print_table(struct cli *cli, const struct site_status *rows, uint32_t n,
                       const struct pages *p, const uint64_t *access)
{
	const char *heads[14] = { "<site", "pages", "visits", "failed", "blocked", "changed",
		"changes/day", "low", "high", "<last visit" };
	size_t n_heads = 10;
	bool chances = false;
	struct table *t;

	for (uint32_t i = 0; i < n; i++)
		chances |= !isnan(rows[i].probability);
	if (chances) {
		heads[n_heads++] = "probability";
		heads[n_heads++] = "<next expected";
	}
	if (access)
		heads[n_heads++] = "accessibility";
	if (n && rows->settings && rows->settings->values.n)
		heads[n_heads++] = "<settings";
	t = table_new(heads, n_heads);
	for (uint32_t i = 0; i < n; i++) {
		const struct site_status *r = &rows[i];

		table_cell(t, "%s", strtab_get(&p->site_names, r->site));
		table_cell(t, "%u", r->pages);
		table_cell(t, "%llu", (unsigned long long)r->visits);
		table_cell(t, "%llu", (unsigned long long)r->failed);
		table_cell(t, "%llu", (unsigned long long)r->blocked);
		table_cell(t, "%llu", (unsigned long long)r->updates);
		number_cell(t, r->rate, "%.4f");
		number_cell(t, r->rate_low, "%.4f");
		number_cell(t, r->rate_high, "%.4f");
		time_cell(t, r->last_visit);
		if (chances) {
			number_cell(t, r->probability, "%.3f");
			time_cell(t, r->next);
		}
		if (access)
			table_cell(t, "%llu", (unsigned long long)access[r->site]);
		if (rows->settings && rows->settings->values.n)
			site_settings_cell(t, r->settings, strtab_get(&p->site_names, r->site));
	}
	table_finish(cli, t);
}

void sites_print_json(struct json *j, const struct status_counts *c, const struct loaded *l,
                      const char *policy, const struct site_status *rows, uint32_t n,
                      const uint64_t *access)
{
	const struct pages *p = &l->pages;
	char t[21];

	cli_json_schema(j, "status");
	if (c)
		status_members(j, c);
	else
		json_kint(j, "sites", p->tree.n_sites);
	json_kstr(j, "policy", policy);
	if (c)
		json_knum(j, "fresh", sites_fresh(rows, n));
	json_key(j, "by_site");
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		const struct site_status *r = &rows[i];

		json_object(j);
		json_kstr(j, "site", strtab_get(&p->site_names, r->site));
		json_kint(j, "pages", r->pages);
		json_kint(j, "gone", r->gone);
		json_kint(j, "kept_out", r->out);
		site_settings_json(j, r->settings, strtab_get(&p->site_names, r->site));
		json_kint(j, "visits", (int64_t)r->visits);
		json_kint(j, "failed", (int64_t)r->failed);
		json_kint(j, "blocked", (int64_t)r->blocked);
		json_kint(j, "updates", (int64_t)r->updates);
		json_knum(j, "probability", r->probability);
		json_knum(j, "rate_per_day", r->rate);
		json_knum(j, "rate_low", r->rate_low);
		json_knum(j, "rate_high", r->rate_high);
		if (c)                          /* a report has no clock of its own */
			json_knum(j, "fresh", r->fresh);
		when_iso(r->last_visit, t);
		json_kstr(j, "last_visit", r->last_visit ? t : NULL);
		when_iso(r->next, t);
		json_kstr(j, "next", r->next ? t : NULL);
		if (access)
			json_kint(j, "accessibility", (int64_t)access[r->site]);
		json_end_object(j);
	}
	json_end_array(j);
	cli_json_end(j);
}

double cycle_change_ratio(const struct store_cycle *c)
{
	return c->downloads ? (double)(c->changed + c->gone) / c->downloads : 0;
}

void cycle_counts_json(struct json *j, const struct store_cycle *c)
{
	json_kint(j, "budget", c->budget);
	json_kint(j, "downloads", c->downloads);
	json_kint(j, "new", c->fresh);
	json_kint(j, "changed", c->changed);
	json_kint(j, "same", c->same);
	json_kint(j, "gone", c->gone);
	json_kint(j, "failed", c->failed);
	json_kint(j, "blocked", c->blocked);
	json_knum(j, "change_ratio", cycle_change_ratio(c));
}

void cycle_print_json(struct json *j, const struct store_cycle *c)
{
	char t[15];

	when_digits(c->time, t);
	json_kint(j, "cycle", c->number);
	json_kstr(j, "time", t);
	if (c->goal == GOAL_ALIVE)
		json_kstr(j, "goal", "alive");
	json_key(j, "policy");
	json_strn(j, c->policy.s, c->policy.size);
	cycle_counts_json(j, c);
	json_kbool(j, "open", c->open);
}
