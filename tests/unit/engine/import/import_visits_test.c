/* SPDX-License-Identifier: Apache-2.0 */
/* Captures become visits: time lines worked out by hand; dates that are checked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/archive/site_detect.h"
#include "engine/import/import.h"
#include "engine/book/visit.h"
#include "web/rules/lastmod.h"

#define DAY(n) (1700000000 + (int64_t)(n) * 86400)

static struct store *open_store(uint32_t *ret_page)
{
	const char *url = "http://a.example/x";
	struct store *s;

	assert_int_equal(store_open(&s, "sqlite::memory:", STORE_CREATE, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_page_add(s, (struct text){ url, strlen(url) }, DAY(0), ret_page,
	                                NULL), 1);
	return s;
}

/* 'a'..'z': that content; '-': revisit without digest; '^': 304; 'A'..'Z': revisit with
 * the digest of that content; '!': gone; '5': failure of the server; '>': redirect. */
static void add(struct store *s, uint32_t page, int day, char what)
{
	char digest[2] = { (char)(what | 32), 0 };
	struct store_capture c = {
		.page = page, .time = DAY(day), .length = -1, .bytes_text = -1, .words = -1,
		.images = -1, .tables = -1, .emails = -1, .outlinks = -1, .offset = -1, .size = -1,
		.status = what == '!' ? 404 : what == '5' ? 503 : what == '>' ? 301 :
		          what == '^' ? 304 : what == '-' ? 0 : 200,
		.revisit = what == '-' || what == '^' || (what >= 'A' && what <= 'Z'),
	};

	if (what != '-' && what != '^')
		c.digest = (struct text){ digest, 1 };
	assert_int_equal(store_capture_add(s, &c, NULL), 1);
}

static int print_visit(void *arg, const struct store_visit *v, struct err *err)
{
	static const char names[] = "sc!?b";    /* same changed gone failed blocked */
	char *out = arg;
	size_t n = strlen(out);

	(void)err;
	out[n] = names[v->outcome];
	if (v->hit && v->outcome == OUTCOME_CHANGED)
		out[n] = 'C';
	out[n + 1] = '\0';
	return 0;
}

static void check(const char *line, const char *visits, uint32_t changes, bool gone,
                  int last_change)
{
	struct store_page p;
	uint32_t page;
	struct store *s = open_store(&page);
	char got[100] = "";

	for (int i = (int)strlen(line) - 1; i >= 0; i -= 2)     /* in any order */
		if (line[i] != '.')
			add(s, page, i + 1, line[i]);
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	for (int i = (int)strlen(line) - 2; i >= 0; i -= 2)
		if (line[i] != '.')
			add(s, page, i + 1, line[i]);
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);   /* again: the same */
	assert_int_equal(store_visits_of(s, &page, 1, 0, 1, print_visit, got, NULL), 0);
	assert_string_equal(got, visits);
	assert_int_equal(store_page_get(s, page, &p, NULL), 1);
	assert_int_equal(p.visits, strlen(visits));
	assert_int_equal(p.changes, changes);
	assert_int_equal(p.state == STORE_PAGE_GONE, gone);
	assert_int_equal(p.last_change, last_change ? DAY(last_change) : 0);
	store_close(s);
}

static void time_lines(void **state)
{
	(void)state;
	check("a", "c", 0, false, 1);           /* the copy we begin with: no hit */
	check("aab", "csC", 1, false, 3);
	check("aba", "cCC", 2, false, 3);
	check("a-a", "css", 0, false, 1);
	check("a^b", "csC", 1, false, 3);
	check("aA", "cs", 0, false, 1);
	check("aB", "cC", 1, false, 2);         /* a revisit of what lay elsewhere */
	check("aBb", "cCs", 1, false, 2);
	check("a5a", "cs", 0, false, 1);        /* a failure says nothing */
	check("a!", "c!", 1, true, 2);
	check("a!!!", "c!", 1, true, 2);        /* gone once */
	check("a!a", "c!C", 2, false, 3);       /* and back */
	check("!", "!", 0, true, 1);
	check("a>>a", "cCsC", 2, false, 4);
	check("5", "", 0, false, 0);
	check("a.a", "cs", 0, false, 1);
}

/* A capture of `digest` whose text is `prose`, or that tells neither. */
static void add_text(struct store *s, uint32_t page, int day, int status, bool revisit,
                     const char *digest, const char *prose)
{
	struct store_capture c = {
		.page = page, .time = DAY(day), .length = -1, .bytes_text = -1, .words = -1,
		.images = -1, .tables = -1, .emails = -1, .outlinks = -1, .offset = -1, .size = -1,
		.status = status, .revisit = revisit,
		.digest = { digest, digest ? strlen(digest) : 0 },
		.prose = { prose, prose ? strlen(prose) : 0 },
	};

	assert_int_equal(store_capture_add(s, &c, NULL), 1);
}

/* Imports go by the detector of the repository, as crawls do. */
static void detectors(void **state)
{
	static const struct detector text = { .kind = DETECT_TEXT };
	struct store *s;
	uint32_t page;

	(void)state;
	for (int by_text = 0; by_text < 2; by_text++) {
		char got[20] = "";
		struct store_page p;

		s = open_store(&page);
		add_text(s, page, 1, 200, false, "d1", "t1");
		add_text(s, page, 2, 200, false, "d2", "t1");   /* other bytes, the same text */
		add_text(s, page, 3, 200, true, "d2", NULL);    /* the text of what has d2 */
		add_text(s, page, 4, 200, true, "d1", NULL);
		add_text(s, page, 5, 200, false, "d3", "t2");
		add_text(s, page, 6, 304, false, "none", NULL); /* the digest of no bytes */
		add_text(s, page, 7, 200, false, "d4", NULL);   /* no text: the bytes decide */
		assert_int_equal(import_visits_rewrite(s, by_text ? &(struct detectors){ text, NULL } :
		                                       NULL, &page, 1, NULL), 0);
		assert_int_equal(store_visits_of(s, &page, 1, 0, 1, print_visit, got, NULL), 0);
		assert_string_equal(got, by_text ? "csssCsC" : "cCsCCsC");
		assert_int_equal(store_page_get(s, page, &p, NULL), 1);
		assert_int_equal(p.changes, by_text ? 2 : 4);
		store_close(s);
	}
}

/* What is no page does not become our copy, nor a change. */
static void parts_say_nothing(void **state)
{
	static const int nothing[] = { 0, 201, 202, 204, 205, 206, 207, 226, 400, 403, 500 };
	uint32_t page;
	struct store *s = open_store(&page);
	struct store_page p;
	char got[20] = "";
	uint64_t copy;

	(void)state;
	add_text(s, page, 1, 200, false, "d1", NULL);
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	assert_int_equal(store_page_get(s, page, &p, NULL), 1);
	copy = p.capture;
	for (int i = 0; i < (int)(sizeof nothing / sizeof *nothing); i++)
		add_text(s, page, 2 + i, nothing[i], false, "part", NULL);
	add_text(s, page, 50, 203, false, "d1", NULL);
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	assert_int_equal(store_visits_of(s, &page, 1, 0, 1, print_visit, got, NULL), 0);
	assert_string_equal(got, "cs");
	assert_int_equal(store_page_get(s, page, &p, NULL), 1);
	assert_int_equal(p.changes, 0);
	assert_true(p.capture > copy);          /* 203: the newest copy */
	store_close(s);
}

/* Older captures that come later do not undo what our own visits know. */
static void own_visits_count(void **state)
{
	struct new_visit v = { .cycle = 1, .time = DAY(10), .outcome = OUTCOME_GONE,
	                        .status = 404, .score = NAN, .probability = NAN };
	struct store_page p;
	struct verdict kept;
	uint32_t page;
	struct store *s = open_store(&page);

	(void)state;
	v.page = page;
	add(s, page, 1, 'a');
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	assert_int_equal(visit_write(s, &v, 2, &kept, NULL), 0);
	assert_int_equal(kept.outcome, OUTCOME_FAILED);            /* not believed yet */
	v.time = DAY(11);
	assert_int_equal(visit_write(s, &v, 2, &kept, NULL), 0);
	assert_int_equal(kept.outcome, OUTCOME_GONE);
	add(s, page, 5, 'b');
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	assert_int_equal(store_page_get(s, page, &p, NULL), 1);
	assert_int_equal(p.state, STORE_PAGE_GONE);
	assert_int_equal(p.visits, 3);
	assert_int_equal(p.changes, 2);
	assert_int_equal(p.last_visit, DAY(11));
	add(s, page, 12, 'b');                          /* somebody saw it later */
	assert_int_equal(import_visits_rewrite(s, NULL, &page, 1, NULL), 0);
	assert_int_equal(store_page_get(s, page, &p, NULL), 1);
	assert_int_equal(p.state, STORE_PAGE_HERE);
	store_close(s);
}

/* A first copy is no change; what is told of the past does not turn time back. */
static void first_copies_and_the_past(void **state)
{
	struct store_capture c = { .status = 200, .digest = { "d1", 2 }, .length = -1,
	                           .bytes_text = -1, .words = -1, .images = -1, .tables = -1,
	                           .emails = -1, .outlinks = -1, .offset = -1, .size = -1 };
	struct new_visit v = { .cycle = 1, .time = DAY(10), .outcome = OUTCOME_CHANGED,
	                        .status = 200, .score = NAN, .probability = NAN, .capture = &c };
	struct store_page p;
	struct verdict kept;
	char got[10] = "";
	struct store *s = open_store(&v.page);

	(void)state;
	assert_int_equal(visit_write(s, &v, 1, &kept, NULL), 0);
	v.time = DAY(12);
	c.digest.s = "d2";
	assert_int_equal(visit_write(s, &v, 1, &kept, NULL), 0);
	v.time = DAY(11);
	v.outcome = OUTCOME_GONE;
	v.capture = NULL;
	assert_int_equal(visit_write(s, &v, 1, &kept, NULL), 0);
	assert_int_equal(store_visits_of(s, &v.page, 1, 1, 2, print_visit, got, NULL), 0);
	assert_string_equal(got, "cC!");
	for (int round = 0; round < 2; round++) {
		assert_int_equal(store_page_get(s, v.page, &p, NULL), 1);
		assert_int_equal(p.visits, 3);
		assert_int_equal(p.changes, 2);
		assert_int_equal(p.state, STORE_PAGE_HERE);
		assert_int_equal(p.last_visit, DAY(12));
		assert_int_equal(import_visits_rewrite(s, NULL, &v.page, 1, NULL), 0);
	}
	store_close(s);
}

static void visit(struct store *s, uint32_t page, int day, enum outcome o, int64_t hint,
                  int hint_seen)
{
	struct new_visit v = { .page = page, .cycle = 1, .time = DAY(day), .outcome = o,
	                        .status = 200, .score = NAN, .probability = NAN };
	struct verdict kept;
	struct store_page p, was;

	assert_int_equal(store_page_get(s, page, &p, NULL), 1);
	was = p;
	p.hint = hint;
	p.hint_seen = DAY(hint_seen);
	assert_int_equal(store_page_update(s, &was, &p, NULL), 0);
	assert_int_equal(visit_write(s, &v, 3, &kept, NULL), 0);
}

static void dates_are_checked(void **state)
{
	struct text url = { "http://a.example/other", 22 };
	struct lastmod_trust t;
	uint32_t page;
	struct store *s = open_store(&page);

	(void)state;
	visit(s, page, 1, OUTCOME_CHANGED, DAY(0), 0);  /* the first visit: nothing to check */
	assert_int_equal(visit_trust(s, url, &t, NULL), 0);
	assert_int_equal(t.checks, 0);
	visit(s, page, 3, OUTCOME_CHANGED, DAY(2), 2);  /* moved, and changed */
	visit(s, page, 5, OUTCOME_SAME, DAY(2), 4);     /* did not move, nor change */
	visit(s, page, 7, OUTCOME_SAME, DAY(6), 6);     /* moved without a change */
	visit(s, page, 9, OUTCOME_CHANGED, DAY(8), 7);  /* read before the visit before: no */
	visit(s, page, 10, OUTCOME_FAILED, DAY(10), 10);        /* no outcome, no check */
	assert_int_equal(visit_trust(s, url, &t, NULL), 0);
	assert_int_equal(t.checks, 3);
	assert_int_equal(t.hits, 2);
	assert_int_equal(t.told, 1);
	assert_false(lastmod_trusted(&t));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_lines),
		cmocka_unit_test(detectors),
		cmocka_unit_test(parts_say_nothing),
		cmocka_unit_test(own_visits_count),
		cmocka_unit_test(first_copies_and_the_past),
		cmocka_unit_test(dates_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
