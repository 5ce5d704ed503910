/* SPDX-License-Identifier: Apache-2.0 */
/* failing_print.c - see failing_print.h. */
#include "cli/failing_print.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/when.h"
#include "cli/command.h"

void cause_print_json(struct json *j, const struct store_visit *v)
{
	if (v->outcome >= OUTCOME_FAILED && v->cause != CAUSE_NONE)
		json_kstr(j, "cause", cause_name(v->cause));
}

struct cause_words cause_words(enum outcome o, unsigned cause, int32_t status)
{
	struct cause_words w;
	bool named = cause != CAUSE_NONE && cause != CAUSE_STATUS;
	int n = snprintf(w.text, sizeof w.text, "%s%s%s",
	                 o == OUTCOME_BLOCKED ? "blocked" : "failed", named ? " " : "",
	                 named ? cause_name(cause) : "");

	if (status > 0 && status <= 999)
		snprintf(w.text + n, sizeof w.text - (size_t)n, " %d", (int)status);
	return w;
}

static void json_when(struct json *j, const char *key, int64_t time)
{
	char t[21];

	when_iso(time, t);
	json_kstr(j, key, t);
}

static void failing_members(struct json *j, const struct failing *f)
{
	json_kstr(j, "outcome", outcome_name(f->outcome));
	json_kstr(j, "cause", cause_name(f->cause));
	if (f->status)
		json_kint(j, "status", f->status);
	json_when(j, "since", f->since);
	json_when(j, "last", f->last);
	json_kint(j, "times", f->times);
}

void failing_page_json(struct json *j, const struct failing *f)
{
	json_kint(j, "failed", f->failed);
	json_kint(j, "blocked", f->blocked);
	if (!f->times) {
		json_kstr(j, "failing", NULL);
		return;
	}
	json_key(j, "failing");
	json_object(j);
	failing_members(j, f);
	json_kstr(j, "because", cause_text(f->cause));
	json_end_object(j);
}

void failing_page_counts(const struct failing *f)
{
	if (f->failed)
		printf("; %u failed", f->failed);
	if (f->blocked)
		printf("%s %u blocked", f->failed ? "," : ";", f->blocked);
}

void failing_page_text(const struct failing *f)
{
	char since[21], last[21];

	if (!f->times)
		return;
	when_iso(f->since, since);
	when_iso(f->last, last);
	printf("failing      %s: %s", cause_words(f->outcome, f->cause, f->status).text,
	       cause_text(f->cause));
	if (f->times == 1)
		printf("; once, %s\n", last);
	else
		printf("; %u times since %s, last %s\n", f->times, since, last);
}

void failing_print_json(struct json *j, const struct loaded *l, const struct failing *by_page,
                        uint32_t most)
{
	const struct pages *p = &l->pages;
	uint32_t n_sites, n_pages;
	struct failing_site *sites = failing_sites(p, by_page, &n_sites);
	uint32_t *pages = failing_list(p, by_page, &n_pages);

	json_key(j, "failing");
	json_object(j);
	json_kint(j, "n_sites", n_sites);
	json_kint(j, "n_pages", n_pages);
	json_key(j, "sites");
	json_array(j);
	for (uint32_t i = 0; i < n_sites && i < most; i++) {
		const struct failing_site *s = &sites[i];

		json_object(j);
		json_kstr(j, "site", strtab_get(&p->site_names, s->site));
		json_kint(j, "pages", s->pages);
		json_kint(j, "failing", s->failing);
		json_kint(j, "failed", s->failed);
		json_kint(j, "blocked", s->blocked);
		json_kstr(j, "cause", cause_name(s->cause));
		json_kint(j, "of_cause", s->of_cause);
		json_when(j, "since", s->since);
		json_when(j, "last", s->last);
		json_kint(j, "times", s->times);
		json_end_object(j);
	}
	json_end_array(j);
	json_key(j, "pages");
	json_array(j);
	for (uint32_t i = 0; i < n_pages && i < most; i++) {
		json_object(j);
		json_kstr(j, "url", pages_url(p, pages[i]));
		failing_members(j, &by_page[pages[i]]);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	free(sites);
	free(pages);
}

static void time_cell(struct table *t, int64_t time)
{
	char text[21];

	when_iso(time, text);
	table_cell(t, "%.16s", text);
}

static void print_sites(const struct pages *p, const struct failing_site *sites, uint32_t n)
{
	static const char *const heads[] = { "<site", "pages", "failed", "blocked", "<mostly",
		"<since", "<last", "times" };
	struct table *t = table_new(heads, 8);

	for (uint32_t i = 0; i < n; i++) {
		const struct failing_site *s = &sites[i];

		table_cell(t, "%s", strtab_get(&p->site_names, s->site));
		table_cell(t, "%u", s->pages);
		table_cell(t, "%u", s->failed);
		table_cell(t, "%u", s->blocked);
		table_cell(t, "%s", cause_name(s->cause));
		time_cell(t, s->since);
		time_cell(t, s->last);
		table_cell(t, "%u", s->times);
	}
	table_print(t, stdout);
	table_free(t);
}

static void print_pages(const struct pages *p, const struct failing *by_page,
                        const uint32_t *pages, uint32_t n)
{
	static const char *const heads[] = { "<last visit", "<since", "<last", "times", "<url" };
	struct table *t = table_new(heads, 5);

	for (uint32_t i = 0; i < n; i++) {
		const struct failing *f = &by_page[pages[i]];

		table_cell(t, "%s", cause_words(f->outcome, f->cause, f->status).text);
		time_cell(t, f->since);
		time_cell(t, f->last);
		table_cell(t, "%u", f->times);
		table_cell(t, "%s", pages_url(p, pages[i]));
	}
	table_print(t, stdout);
	table_free(t);
}

void failing_print_text(const struct loaded *l, const struct failing *by_page)
{
	const struct pages *p = &l->pages;
	uint32_t n_sites, n_pages;
	struct failing_site *sites = failing_sites(p, by_page, &n_sites);
	uint32_t *pages = failing_list(p, by_page, &n_pages);

	if (n_pages) {
		print_sites(p, sites, n_sites);
		putchar('\n');
		print_pages(p, by_page, pages, n_pages);
	} else {
		puts("no page fails: the last visit of each that was visited had an answer");
	}
	free(sites);
	free(pages);
}
