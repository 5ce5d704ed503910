/* SPDX-License-Identifier: Apache-2.0 */
/* The library: structs of other versions, calls out of place, changes since a cursor,
 * explanations, exports, replay without a repository, work that is watched and stopped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../../lib/scratch.h"
#include "base/math/rng.h"
#include "freshet.h"

#define DAY 86400

static struct freshet *create(char folder[SCRATCH_PATH], const char *name)
{
	struct freshet *f;

	scratch_folder(folder, name);
	assert_int_equal(freshet_create(&f, folder), 0);
	return f;
}

static int tell(struct freshet *f, const char *url, enum freshet_outcome o, int64_t t)
{
	struct freshet_told told = { .size = sizeof told, .url = url, .outcome = o, .time = t,
	                             .add = 1 };

	return freshet_tell(f, &told);
}

static int count(void *arg, const struct freshet_page *page)
{
	assert_int_equal(page->size, sizeof *page);
	++*(int *)arg;
	return 0;
}

/* A struct may be shorter than ours or longer, if what we do not know of it is nothing. */
static void test_sizes(void **state)
{
	struct { struct freshet_plan_options o; int64_t later; } longer = { { 0 }, 0 };
	struct freshet_plan_options o = { .budget = 1 };
	char folder[SCRATCH_PATH];
	struct freshet *f = create(folder, "sizes");
	int n = 0;

	(void)state;
	assert_int_equal(freshet_add(f, "http://a.example/"), 1);
	assert_int_equal(freshet_plan(f, &o, count, &n), FRESHET_E_USAGE);
	assert_non_null(strstr(freshet_error(f), "size"));
	o.size = SIZE_MAX;
	assert_int_equal(freshet_plan(f, &o, count, &n), FRESHET_E_USAGE);
	o.size = offsetof(struct freshet_plan_options, seed);
	o.aim = "nonsense";                     /* beyond its size: never looked at */
	assert_int_equal(freshet_plan(f, &o, count, &n), 0);
	assert_int_equal(freshet_plan(f, NULL, count, &n), 0);
	longer.o.size = sizeof longer;
	assert_int_equal(freshet_plan(f, &longer.o, count, &n), 0);
	assert_int_equal(n, 3);
	longer.later = 1;
	assert_int_equal(freshet_plan(f, &longer.o, count, &n), FRESHET_E_USAGE);
	assert_int_equal(n, 3);
	freshet_close(f);
}

static int call_again(void *arg, const struct freshet_page *page)
{
	struct freshet *f = arg;

	assert_int_equal(freshet_add(f, "http://b.example/"), FRESHET_E_USAGE);
	assert_int_equal(freshet_plan(f, NULL, call_again, f), FRESHET_E_USAGE);
	assert_string_equal(page->url, "http://a.example/");
	return 0;
}

static void test_out_of_place(void **state)
{
	struct freshet_measures m = { .size = sizeof m };
	char folder[SCRATCH_PATH];
	struct freshet *f = create(folder, "place"), *none;
	const char *value = "x";

	(void)state;
	assert_int_equal(freshet_add(f, "http://a.example/"), 1);
	assert_int_equal(freshet_plan(f, NULL, call_again, f), 0);
	assert_int_equal(freshet_plan(f, NULL, NULL, NULL), FRESHET_E_USAGE);
	assert_int_equal(freshet_add(f, NULL), FRESHET_E_USAGE);
	assert_int_equal(freshet_tell(f, NULL), FRESHET_E_USAGE);
	assert_int_equal(freshet_import(f, NULL), FRESHET_E_USAGE);
	assert_int_equal(freshet_set(f, NULL, "x"), FRESHET_E_USAGE);
	assert_int_equal(freshet_get(f, NULL, &value), FRESHET_E_USAGE);
	assert_int_equal(freshet_explain(f, "http://a.example/", NULL, NULL), FRESHET_E_USAGE);
	assert_int_equal(freshet_export(f, "pictures", folder), FRESHET_E_USAGE);
	assert_int_equal(freshet_replay(f, NULL, 7, NULL, &m), FRESHET_E_USAGE);
	assert_int_equal(freshet_add(NULL, "http://a.example/"), FRESHET_E_USAGE);
	assert_int_equal(freshet_open(&none, NULL), 0);
	assert_int_equal(freshet_add(none, "http://a.example/"), FRESHET_E_USAGE);
	assert_non_null(strstr(freshet_error(none), "no repository"));
	freshet_close(none);
	assert_int_equal(freshet_open(&none, "/nonexistent"), FRESHET_E_STORE);
	freshet_close(none);
	assert_int_equal(freshet_set(f, "max_age", "30d"), 0);
	assert_int_equal(freshet_get(f, "max-age", &value), 0);
	assert_string_equal(value, "30d");
	assert_int_equal(freshet_set(f, "max-age", NULL), 0);
	assert_int_equal(freshet_get(f, "max_age", &value), 0);
	assert_null(value);
	freshet_close(f);
}

/* A consumer of changes that may crash between two of them. */
struct consumer {
	char cursor[100];               /* what it kept */
	int seen[200];                  /* how often, by page */
	int crash_after;                /* so many changes */
};

static int consume(void *arg, const struct freshet_change *c)
{
	struct consumer *x = arg;

	assert_int_equal(c->size, sizeof *c);
	assert_int_equal(c->kind, atoi(strrchr(c->url, '/') + 1) % 3 == 2 ? FRESHET_GONE_PAGE :
	                 FRESHET_CHANGED_PAGE);
	x->seen[atoi(strrchr(c->url, '/') + 1)]++;
	if (!x->crash_after--)
		return 1;               /* before the cursor was kept */
	snprintf(x->cursor, sizeof x->cursor, "%s", c->cursor);
	return 0;
}

/* Pages that change, go and stay the same, told while a consumer comes and crashes: it sees
 * every change at least once, in all one more for each crash at most. */
static void changes_of(uint64_t seed)
{
	struct consumer x = { .cursor = "" };
	char folder[SCRATCH_PATH], url[64];
	struct freshet *f, *reader;
	int crashes = 0, seen = 0, changes = 0;

	f = create(folder, "changes");
	assert_int_equal(freshet_set(f, "confirmations", "1"), 0);
	assert_int_equal(freshet_open(&reader, folder), 0);
	for (uint32_t i = 0; i < 200; i++) {
		snprintf(url, sizeof url, "http://a.example/%u", i);
		/* a page that was never there has not gone */
		assert_int_equal(tell(f, url, FRESHET_SAME, 1000 + i), 1);
		assert_int_equal(tell(f, url, i % 3 == 0 ? FRESHET_SAME : i % 3 == 1 ?
		                 FRESHET_CHANGED : FRESHET_GONE, 2000 + i), 1);
		changes += i % 3 != 0;
		if (rng_draw(seed, i, 0, 2) % 4)
			continue;
		x.crash_after = (int)(rng_draw(seed, i, 0, 3) % 6);
		assert_int_equal(freshet_changes(reader, x.cursor[0] ? x.cursor : NULL, consume, &x),
		                 0);
		crashes += x.crash_after < 0;
	}
	x.crash_after = 1000;
	assert_int_equal(freshet_changes(reader, x.cursor[0] ? x.cursor : NULL, consume, &x), 0);
	for (int i = 0; i < 200; i++) {
		assert_true(i % 3 == 0 ? x.seen[i] == 0 : x.seen[i] >= 1);
		seen += x.seen[i];
	}
	assert_true(seen <= changes + crashes);
	memset(x.seen, 0, sizeof x.seen);
	assert_int_equal(freshet_changes(reader, x.cursor, consume, &x), 0);
	for (int i = 0; i < 200; i++)
		assert_int_equal(x.seen[i], 0); /* all of it is known */
	assert_int_equal(freshet_changes(reader, "1.99999.1", consume, &x), FRESHET_E_USAGE);
	assert_int_equal(freshet_changes(reader, "yesterday", consume, &x), FRESHET_E_USAGE);
	assert_int_equal(freshet_changes(reader, "1.1.1x", consume, &x), FRESHET_E_USAGE);
	freshet_close(reader);
	freshet_close(f);
}

static void test_changes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		changes_of(seed);
}

/* Oldest first, by hand: of ten pages visited one after the other and a budget of two, the
 * first comes now, the tenth in five cycles. */
static void test_explain(void **state)
{
	struct freshet_plan_options o = { .size = sizeof o, .policy = "oldest", .budget = 2,
	                                  .now = 20 * DAY };
	struct freshet_explanation x = { .size = sizeof x };
	char folder[SCRATCH_PATH], url[64];
	struct freshet *f = create(folder, "explain");

	(void)state;
	for (int i = 0; i < 10; i++) {
		snprintf(url, sizeof url, "http://s%d.example/", i);
		assert_int_equal(tell(f, url, FRESHET_SAME, DAY * (i + 1)), 1);
	}
	assert_int_equal(freshet_explain(f, "s0.example", &o, &x), 0);
	assert_string_equal(x.url, "http://s0.example/");
	assert_true(x.asked && x.in_next_cycle && x.rank == 1 && x.visits == 1);
	assert_int_equal(x.last_visit, DAY);
	assert_int_equal(freshet_explain(f, "http://s9.example/", &o, &x), 0);
	assert_true(x.asked && !x.in_next_cycle && x.rank == 10 && x.of == 10);
	assert_int_equal(x.cycles, 5);
	assert_non_null(x.because);
	assert_true(isnan(x.probability));
	assert_int_equal(tell(f, "http://s9.example/", FRESHET_FAILED, 19 * DAY), 1);
	assert_int_equal(freshet_explain(f, "http://s9.example/", &o, &x), 0);
	assert_int_equal(x.failed_in_row, 1);
	assert_int_equal(freshet_explain(f, "http://other.example/", &o, &x), FRESHET_E_USAGE);
	freshet_close(f);
}

static int stop_at_once(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	snprintf(arg, 40, "%s", what);
	return 1;
}

static void write_trace(char path[SCRATCH_PATH])
{
	char *text = malloc(40 * 2 * 200);
	size_t n = 0;

	for (int i = 0; i < 40; i++)
		for (int page = 0; page < 2; page++)
			n += (size_t)sprintf(text + n, "example,a)/%d 2022%02d%02d000000 {\"url\":"
			                     "\"http://a.example/%d\",\"status\":\"200\",\"digest\":"
			                     "\"D%d\"}\n", page, 1 + i / 4, 1 + i % 4 * 7, page,
			                     page ? 1 : i);
	scratch_file(path, "trace.cdxj", text, n);
	free(text);
}

/* One of two pages changes with every capture: who visits a page a cycle finds it changed in
 * half of them or more, and the history comes back out of a repository. */
static void test_replay(void **state)
{
	struct freshet_replay_options o = { .size = sizeof o, .policy = "random",
	                                    .budget_percent = 50, .cycle_seconds = 7 * DAY };
	struct freshet_measures m = { .size = sizeof m }, again = { .size = sizeof again };
	char trace[SCRATCH_PATH], folder[SCRATCH_PATH], out[SCRATCH_LONG], what[40] = "";
	struct freshet_hooks hooks = { .size = sizeof hooks, .arg = what,
	                               .progress = stop_at_once };
	const char *paths[] = { trace };
	struct freshet *none, *f;

	(void)state;
	write_trace(trace);
	assert_int_equal(freshet_open(&none, NULL), 0);
	assert_int_equal(freshet_replay(none, paths, 1, &o, &m), 0);
	assert_int_equal(m.pages, 2);
	assert_int_equal(m.budget, 1);
	assert_true(m.change_ratio > 0.2 && m.change_ratio < 0.8);
	f = create(folder, "replay");
	assert_int_equal(freshet_import(f, trace), 0);
	snprintf(out, sizeof out, "%s/out.cdxj.gz", folder);
	assert_int_equal(freshet_export(f, "cdxj", out), 0);
	paths[0] = out;
	assert_int_equal(freshet_replay(none, paths, 1, &o, &again), 0);
	assert_memory_equal(&m, &again, sizeof m);
	o.budget_percent = NAN;
	assert_int_equal(freshet_replay(none, paths, 1, &o, &again), FRESHET_E_USAGE);
	o.budget_percent = 50;
	assert_int_equal(freshet_listen(none, &hooks), 0);
	assert_int_equal(freshet_replay(none, paths, 1, &o, &again), FRESHET_E_STOP);
	assert_string_equal(what, "reading");
	assert_int_equal(freshet_listen(f, &hooks), 0);
	assert_int_equal(freshet_plan(f, NULL, count, NULL), FRESHET_E_STOP);
	assert_int_equal(freshet_listen(f, NULL), 0);
	freshet_close(f);
	freshet_close(none);
}

/* An import that is stopped after its first batch keeps that, and is finished by another. */
static void test_import_stops(void **state)
{
	enum { N = 200005 };            /* a batch is 200,000 */
	char *text = malloc(N * 32), list[SCRATCH_PATH], folder[SCRATCH_PATH], what[40] = "";
	struct freshet_hooks hooks = { .size = sizeof hooks, .arg = what,
	                               .progress = stop_at_once };
	struct freshet *f = create(folder, "stops");
	size_t n = 0;

	(void)state;
	for (int i = 0; i < N; i++)
		n += (size_t)sprintf(text + n, "http://a.example/%d\n", i);
	scratch_file(list, "list", text, n);
	assert_int_equal(freshet_listen(f, &hooks), 0);
	assert_int_equal(freshet_import(f, list), FRESHET_E_STOP);
	assert_string_equal(what, "importing");
	assert_non_null(strstr(freshet_error(f), "stopped"));
	assert_int_equal(freshet_add(f, "http://a.example/199999"), 0);
	assert_int_equal(freshet_listen(f, NULL), 0);
	assert_int_equal(freshet_import(f, list), 0);
	assert_int_equal(freshet_add(f, "http://a.example/200004"), 0);
	freshet_close(f);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_out_of_place),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_import_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
