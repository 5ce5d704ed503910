/* SPDX-License-Identifier: Apache-2.0 */
/* failing_print.c - see failing_print.h. */
#include "cli/print/failing_print.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/when.h"
#include "cli/frame/command.h"

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
	json_kint(j, "alike", f->alike);
	if (f->until)
		json_when(j, "rests_until", f->until);
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
		printf("; once, %s", last);
	else if (f->alike == f->times)
		printf("; %u times since %s, last %s", f->times, since, last);
	else
		printf("; %u of %u visits in a row that failed or were blocked since %s, last %s",
		       f->alike, f->times, since, last);
	if (f->until) {
		when_iso(f->until, last);
		printf("; rests until %s", last);
	}
	putchar('\n');
}

void failing_table_make(struct failing_table *t, const struct visit_counts *c,
                        const struct loaded *l, const struct resumed *r, int64_t now)
{
	*t = (struct failing_table){ .pages = &l->pages, .by_page = failing_pages(c, l) };
	if (r)
		failing_rests(t->by_page, r, now);
	t->sites = failing_sites(t->pages, t->by_page, r, now, &t->n_sites);
	t->list = failing_list(t->pages, t->by_page, &t->n_pages);
}

void failing_table_release(struct failing_table *t)
{
	free(t->by_page);
	free(t->sites);
	free(t->list);
}

static void json_site(struct json *j, const struct pages *p, const struct failing_site *s)
{
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
	if (s->until)
		json_when(j, "rests_until", s->until);
	json_end_object(j);
}

void failing_print_json(struct json *j, const struct failing_table *t, uint32_t most)
{
	json_key(j, "failing");
	json_object(j);
	json_kint(j, "n_sites", t->n_sites);
	json_kint(j, "n_pages", t->n_pages);
	json_key(j, "sites");
	json_array(j);
	for (uint32_t i = 0; i < t->n_sites && i < most; i++)
		json_site(j, t->pages, &t->sites[i]);
	json_end_array(j);
	json_key(j, "pages");
	json_array(j);
	for (uint32_t i = 0; i < t->n_pages && i < most; i++) {
		json_object(j);
		json_kstr(j, "url", pages_url(t->pages, t->list[i]));
		failing_members(j, &t->by_page[t->list[i]]);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void time_cell(struct table *t, int64_t time)
{
	char text[21] = "-";

	if (time)
		when_iso(time, text);
	table_cell(t, "%.16s", text);
}

static void print_sites(const struct failing_table *f)
{
	static const char *const heads[] = { "<site", "pages", "failed", "blocked", "<mostly",
		"<since", "<last", "times", "<rests until" };
	struct table *t = table_new(heads, 9);

	for (uint32_t i = 0; i < f->n_sites; i++) {
		const struct failing_site *s = &f->sites[i];

		table_cell(t, "%s", strtab_get(&f->pages->site_names, s->site));
		table_cell(t, "%u", s->pages);
		table_cell(t, "%u", s->failed);
		table_cell(t, "%u", s->blocked);
		table_cell(t, "%s", cause_name(s->cause));
		time_cell(t, s->since);
		time_cell(t, s->last);
		table_cell(t, "%u", s->times);
		time_cell(t, s->until);
	}
	table_print(t, stdout);
	table_free(t);
}

static void print_pages(const struct failing_table *f)
{
	static const char *const heads[] = { "<last visit", "<since", "<last", "times",
		"<rests until", "<url" };
	struct table *t = table_new(heads, 6);

	for (uint32_t i = 0; i < f->n_pages; i++) {
		const struct failing *p = &f->by_page[f->list[i]];

		table_cell(t, "%s", cause_words(p->outcome, p->cause, p->status).text);
		time_cell(t, p->since);
		time_cell(t, p->last);
		table_cell(t, "%u", p->times);
		time_cell(t, p->until);
		table_cell(t, "%s", pages_url(f->pages, f->list[i]));
	}
	table_print(t, stdout);
	table_free(t);
}

void failing_print_text(const struct failing_table *t)
{
	if (!t->n_pages) {
		puts("no page fails: the last visit of each that was visited had an answer");
		return;
	}
	print_sites(t);
	putchar('\n');
	print_pages(t);
}
