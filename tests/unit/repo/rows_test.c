/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every field of every row comes back as it was given.
 *
 * Each type of row has one list of its fields, in order, with two values for each.  The rows
 * are made from that list without names, so a field that is added to a struct of the store
 * and not to its list does not compile; one that is added to the list and not stored fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "repo/store.h"
#include "../../lib/scratch.h"

#pragma GCC diagnostic error "-Wmissing-field-initializers"

#define T(s) { s, sizeof s - 1 }

/* F(kind, name, first row, second row) */
#define PAGE(F) F(INT, number, 0, 1) F(TEXT, url, T("http://a/"), T("http://b/x")) \
	F(TEXT, given, T("HTTP://A/#1"), T("b/x")) \
	F(INT, added, 101, 201) F(INT, last_visit, 102, 202) F(INT, last_change, 103, 203) \
	F(INT, visits, 104, 204) F(INT, changes, 105, 205) F(INT, fails, 106, 207) \
	F(INT, fails_gone, 3, 208) \
	F(INT, state, STORE_PAGE_GONE, STORE_PAGE_LEFT) F(INT, capture, 108, 208) \
	F(INT, hint, 109, 209) F(INT, hint_seen, 110, 210) F(INT, found, 111, 211) \
	F(REAL, weight, 0.25, 3) F(INT, care, CARE_REMOVED | CARE_SCOPE, CARE_PAUSED) \
	F(INT, touched, 112, 212) F(INT, notifier, 7, 8)
#define CAPTURE(F) F(INT, id, 1, 2) F(INT, page, 0, 1) F(INT, time, 103, 203) \
	F(INT, status, 200, 404) F(INT, revisit, true, false) \
	F(TEXT, mime, T("text/html"), T("text/plain")) F(TEXT, digest, T("d1"), T("d2")) \
	F(TEXT, prose, T("p1"), T("p2")) F(TEXT, tags, T("t1"), T("t2")) \
	F(TEXT, title, T("One"), T("Two")) F(TEXT, etag, T("\"e1\""), T("\"e2\"")) \
	F(TEXT, modified, T("m1"), T("m2")) F(INT, has_simhash, true, false) \
	F(INT, simhash, 0xfedcba9876543210u, 0) F(INT, length, 115, 215) \
	F(INT, bytes_text, 116, 216) F(INT, words, 117, 217) F(INT, images, 118, 218) \
	F(INT, tables, 119, 219) F(INT, emails, 120, 220) F(INT, outlinks, 121, 221) \
	F(TEXT, links, T("/x /y"), T("/z")) F(TEXT, terms, T("1:2"), T("3:4")) \
	F(TEXT, robots, T("noindex"), T("nofollow")) \
	F(TEXT, target, T("http://c/"), T("http://d/")) \
	F(TEXT, worker, T("w1"), T("w2")) F(TEXT, file, T("1.warc.gz"), T("2.warc.gz")) F(INT, offset, 126, 226) \
	F(INT, size, 127, 227)
#define VISIT(F) F(INT, cycle, 1, 2) F(INT, page, 0, 1) F(INT, time, 103, 203) \
	F(INT, outcome, OUTCOME_FAILED, OUTCOME_CHANGED) F(INT, reason, 5, 6) \
	F(INT, cause, 7, 8) F(INT, extra, 108, 208) F(INT, status, 503, 200) \
	F(INT, hit, true, false) F(REAL, score, 0.5f, 0.25f) F(REAL, probability, 0.75f, 0.125f) \
	F(INT, capture, 112, 212) F(INT, order, 1, 2) F(INT, place, 114, 214) \
	F(INT, goal, GOAL_ALIVE, GOAL_CHANGED)
#define CYCLE(F) F(INT, number, 1, 2) F(INT, time, 102, 202) F(INT, open, false, true) \
	F(INT, clients, true, false) \
	F(INT, goal, GOAL_ALIVE, GOAL_CHANGED) F(TEXT, policy, T("tide"), T("oldest")) \
	F(INT, seed, 106, 206) F(INT, budget, 107, 207) \
	F(INT, owed, 118, 218) F(INT, pages, 117, 217) \
	F(INT, downloads, 108, 208) \
	F(INT, fresh, 109, 209) F(INT, changed, 110, 210) F(INT, same, 111, 211) \
	F(INT, gone, 112, 212) F(INT, failed, 113, 213) F(INT, blocked, 114, 214) \
	F(REAL, seconds_plan, 1.5, 2.5) F(REAL, seconds_total, 3.5, 4.5)
#define HINT(F) F(INT, checks, 101, 201) F(INT, hits, 102, 202) F(INT, told, 103, 203) \
	F(INT, read, 104, 204) F(INT, doubt, 1, 2)
#define ROBOTS(F) F(TEXT, origin, T("a"), T("b")) F(INT, time, 101, 201) F(INT, status, 200, 404) F(INT, cut, true, false) \
	F(TEXT, body, T("Disallow: /"), T("Allow: /")) F(INT, tried, 105, 205) \
	F(INT, failing, 106, 206)
#define LEASE(F) F(INT, cycle, 2, 2) F(INT, place, 1, 2) F(INT, page, 1, 0) \
	F(TEXT, client, T("one"), T("two")) F(INT, from, 105, 205) F(INT, until, 106, 206) \
	F(INT, requests, 7, 8) F(INT, order, 108, 208) \
	F(INT, state, STORE_LEASE_LAPSED, STORE_LEASE_GIVEN_BACK) F(INT, reason, 9, 10) \
	F(REAL, score, 0.5f, 0.25f) F(REAL, probability, 0.75f, 0.125f)
#define CARE(F) F(INT, cycle, 1, 2) F(INT, page, 0, 1) \
	F(INT, care, CARE_REMOVED | CARE_SCOPE, CARE_PAUSED) F(INT, time, 104, 204)
#define SENT(F) F(INT, cycle, 1, 2) F(INT, page, 102, 202) F(INT, place, 103, 203) \
	F(INT, reason, 4, 5) F(INT, read, true, false)

#define FIRST(kind, name, a, b) a,
#define SECOND(kind, name, a, b) b,
#define ROWS(type, list) static const struct type type##_rows[2] = \
	{ { list(FIRST) }, { list(SECOND) } }
ROWS(store_page, PAGE);
ROWS(store_capture, CAPTURE);
ROWS(store_visit, VISIT);
ROWS(store_cycle, CYCLE);
ROWS(store_hint, HINT);
ROWS(store_robots, ROBOTS);
ROWS(store_lease, LEASE);
ROWS(store_care, CARE);
ROWS(store_sent, SENT);

#define SAME_INT(name) if (got->name != want->name) fail_msg("%s differs", #name);
#define SAME_REAL(name) if (got->name < want->name || got->name > want->name) \
	fail_msg("%s differs", #name);
#define SAME_TEXT(name) if (!got->name.s || got->name.size != want->name.size || \
	memcmp(got->name.s, want->name.s, want->name.size)) fail_msg("%s differs", #name);
#define SAME(kind, name, a, b) SAME_##kind(name)
/* Compares, and counts the rows that a scan delivers. */
#define CHECK(type, list) \
	static int check_##type(void *arg, const struct type *got, struct err *err) \
	{ \
		const struct type *want = &type##_rows[(*(size_t *)arg)++]; \
		(void)err; \
		list(SAME) \
		return 0; \
	}
CHECK(store_page, PAGE)
CHECK(store_capture, CAPTURE)
CHECK(store_visit, VISIT)
CHECK(store_cycle, CYCLE)
CHECK(store_hint, HINT)
CHECK(store_robots, ROBOTS)
CHECK(store_lease, LEASE)
CHECK(store_care, CARE)
CHECK(store_sent, SENT)

static void put(struct store *s, size_t i)
{
	const struct store_page *p = &store_page_rows[i];
	struct store_capture c = store_capture_rows[i];
	struct text key = i ? (struct text)T("b") : (struct text)T("a");
	struct store_hint none = { 0 };
	uint32_t number;

	assert_int_equal(store_page_add(s, p->url, p->added, &number, NULL), 1);
	assert_int_equal(number, i);
	assert_int_equal(store_page_weigh(s, number, p->weight, NULL), 0);
	assert_int_equal(store_page_given(s, number, p->url, p->given, NULL), 0);
	assert_int_equal(store_page_update(s, &(struct store_page){ 0 }, p, NULL), 0);
	assert_int_equal(store_capture_add(s, &c, NULL), 1);
	assert_int_equal(c.id, i + 1);
	assert_int_equal(store_cycle_put(s, &store_cycle_rows[i], NULL), 0);
	assert_int_equal(store_care_put(s, &store_care_rows[i], 1, store_care_rows[i].time, NULL),
	                 0);
	assert_int_equal(store_visit_add(s, &store_visit_rows[i], NULL), 0);
	assert_int_equal(store_hint_update(s, key, &none, &store_hint_rows[i], NULL), 0);
	assert_int_equal(store_robots_put(s, &store_robots_rows[i], 1, NULL), 0);
}

static void get(struct store *s, size_t i)
{
	struct text key = i ? (struct text)T("b") : (struct text)T("a");
	struct store_page p;
	struct store_capture c;
	struct store_hint h;
	struct store_robots r;
	size_t at = i;

	assert_int_equal(store_page_get(s, (uint32_t)i, &p, NULL), 1);
	check_store_page(&at, &p, NULL);
	at = i;
	assert_int_equal(store_page_find(s, store_page_rows[i].url, &p, NULL), 1);
	check_store_page(&at, &p, NULL);
	at = i;
	assert_int_equal(store_capture_get(s, i + 1, &c, NULL), 1);
	check_store_capture(&at, &c, NULL);
	at = i;
	assert_int_equal(store_hint_get(s, key, &h, NULL), 0);
	check_store_hint(&at, &h, NULL);
	at = i;
	assert_int_equal(store_robots_get(s, key, &r, NULL), 1);
	check_store_robots(&at, &r, NULL);
}

/* A scan delivers both rows, in order; the arguments before the callback. */
#define SCAN(type, scan, ...) do { \
	size_t n = 0; \
	assert_int_equal(scan(__VA_ARGS__, check_##type, &n, NULL), 0); \
	assert_int_equal(n, 2); \
} while (0)

static void test_rows_come_back_whole(void **state)
{
	char path[SCRATCH_PATH];
	struct store *s;

	(void)state;
	scratch_path(path, "db");
	assert_int_equal(store_open(&s, path, STORE_CREATE, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	for (size_t i = 0; i < 2; i++)
		put(s, i);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(store_leases_put(s, &store_lease_rows[i], 1, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_sent_add(s, store_sent_rows, 2, NULL), 0);
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < 2; i++)
			get(s, i);
		SCAN(store_page, store_pages, s, 0);
		SCAN(store_capture, store_captures, s, NULL, 0);
		SCAN(store_visit, store_visits, s, 0, UINT32_MAX);
		SCAN(store_cycle, store_cycles, s, 0);
		SCAN(store_care, store_care_log, s, STORE_NONE, 0, UINT32_MAX);
		SCAN(store_lease, store_leases, s, 2);
		SCAN(store_sent, store_sent, s);
		store_close(s);                 /* and from the file */
		assert_int_equal(store_open(&s, path, STORE_EXISTING, NULL), 0);
	}
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows_come_back_whole) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
