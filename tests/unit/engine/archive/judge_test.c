/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an answer means: every status, digest, revisit, teller and detector, against a table
 * written by hand.  The table is of letters, not of rules: it is what a reader would answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/status.h"
#include "engine/archive/judge.h"

static struct text text_of(const char *s)
{
	return (struct text){ s, s ? strlen(s) : 0 };
}

/* s same, c changed, u changed but nothing was compared, g gone, f failed; capitals: first. */
static char letter(struct verdict v)
{
	char c = "scgfb"[v.outcome];

	if (!v.compared) {
		assert_int_equal(v.outcome, OUTCOME_CHANGED);
		assert_false(v.first);
		return 'u';
	}
	return v.first ? (char)(c - 32) : c;
}

/* What is known of the two contents. */
enum pair { EQUAL, OTHER_BYTES, OTHER_MARK, NO_MARK_HERE, NO_MARK_IN_COPY, NOT_HERE,
            NOT_IN_COPY, NEITHER, N_PAIRS };

static struct fingerprint content_of(const struct detector *d, const char *digest,
                                 const char *mark, const uint64_t *simhash)
{
	return judge_fingerprint(d, text_of(digest), d->kind == DETECT_TEXT ? text_of(mark) : text_of(NULL),
	                     d->kind == DETECT_TAGS ? text_of(mark) : text_of(NULL),
	                     d->kind == DETECT_NEAR ? simhash : NULL);
}

static void set_pair(const struct detector *d, enum pair p, struct fingerprint *now,
                     struct fingerprint *copy)
{
	static const uint64_t one = 0xff, near = 0xfe, far = 0xff00;
	bool other = p == OTHER_MARK;

	*copy = content_of(d, p == NOT_IN_COPY || p == NEITHER ? NULL : "d1",
	                   p == NO_MARK_IN_COPY || p == NOT_IN_COPY || p == NEITHER ? NULL : "m1",
	                   p == NO_MARK_IN_COPY || p == NOT_IN_COPY || p == NEITHER ? NULL : &one);
	*now = content_of(d, p == NOT_HERE || p == NEITHER ? NULL : p == EQUAL ? "d1" : "d2",
	                  p == NO_MARK_HERE || p == NOT_HERE || p == NEITHER ? NULL :
	                  other ? "m2" : "m1",
	                  p == NO_MARK_HERE || p == NOT_HERE || p == NEITHER ? NULL :
	                  other ? &far : &near);
}

/*
 * A column for each pair, then without a copy.  Pairs: equal bytes; other bytes with the
 * same mark; both differ; no mark here; none in the copy; nothing known here; nothing known
 * of the copy; neither.
 */
struct row { int status; bool revisit; const char *ours, *crawler, *archive; };

static const struct row by_bytes[] = {
	{ 200, false, "sccccuuuC", "sccccuuuC", "sccccuuuC" },
	{ 203, false, "sccccuuuC", "sccccuuuC", "sccccuuuC" },
	{ 304, false, "sccccsssf", "sccccsssS", "sccccsssS" },
	{ 0,   true,  "sccccsssf", "sccccsssS", "sccccsssS" },
	{ 200, true,  "sccccsusC", "sccccsusC", "sccccsusC" },
	{ 304, true,  "sccccsssf", "sccccsssS", "sccccsssS" },
	{ 404, false, "ggggggggG", "ggggggggG", "ggggggggG" },
	{ 410, true,  "ggggggggG", "ggggggggG", "ggggggggG" },
	{ 301, false, "fffffffff", "fffffffff", "ccccccccC" },
	{ 301, true,  "fffffffff", "fffffffff", "cccccscsC" },
	{ 0,   false, "fffffffff", "fffffffff", "fffffffff" },
	{ 100, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 202, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 204, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 206, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 206, true,  "fffffffff", "fffffffff", "fffffffff" },
	{ 403, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 500, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 503, true,  "fffffffff", "fffffffff", "fffffffff" },
};

/* Text, tags and simhash: other bytes with the same mark are the same. */
static const struct row by_mark[] = {
	{ 200, false, "sscccuuuC", "sscccuuuC", "sscccuuuC" },
	{ 203, false, "sscccuuuC", "sscccuuuC", "sscccuuuC" },
	{ 304, false, "sscccsssf", "sscccsssS", "sscccsssS" },
	{ 0,   true,  "sscccsssf", "sscccsssS", "sscccsssS" },
	{ 200, true,  "sscccsusC", "sscccsusC", "sscccsusC" },
	{ 304, true,  "sscccsssf", "sscccsssS", "sscccsssS" },
	{ 404, false, "ggggggggG", "ggggggggG", "ggggggggG" },
	{ 410, true,  "ggggggggG", "ggggggggG", "ggggggggG" },
	{ 301, false, "fffffffff", "fffffffff", "ccccccccC" },
	{ 301, true,  "fffffffff", "fffffffff", "cccccscsC" },
	{ 0,   false, "fffffffff", "fffffffff", "fffffffff" },
	{ 206, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 403, false, "fffffffff", "fffffffff", "fffffffff" },
	{ 503, true,  "fffffffff", "fffffffff", "fffffffff" },
};

static void check_rows(const struct detector *d, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *want[] = { rows[i].ours, rows[i].crawler, rows[i].archive };

		for (unsigned by = TOLD_BY_OURS; by <= TOLD_BY_ARCHIVE; by++) {
			struct answer a = { .by = (enum told_by)by, .status = rows[i].status,
			                    .revisit = rows[i].revisit };
			struct answer copy = { .by = a.by, .status = 200 };
			char got[N_PAIRS + 2] = "";

			for (unsigned p = 0; p < N_PAIRS; p++) {
				set_pair(d, (enum pair)p, &a.content, &copy.content);
				got[p] = letter(judge(d, &a, &copy));
			}
			/* without a copy: whatever is known here; a revisit with a digest */
			set_pair(d, EQUAL, &a.content, &copy.content);
			got[N_PAIRS] = letter(judge(d, &a, NULL));
			if (strcmp(got, want[by]))
				fail_msg("detector %d, status %d, revisit %d, told by %u: %s, not %s",
				         d->kind, rows[i].status, rows[i].revisit, by, got, want[by]);
		}
	}
}

static void test_table(void **state)
{
	static const struct detector bytes = { .kind = DETECT_BYTES };
	static const struct detector marks[] = { { .kind = DETECT_TEXT }, { .kind = DETECT_TAGS },
	                                         { .kind = DETECT_NEAR, .bits = 3 } };

	(void)state;
	check_rows(&bytes, by_bytes, sizeof by_bytes / sizeof *by_bytes);
	for (size_t i = 0; i < 3; i++)
		check_rows(&marks[i], by_mark, sizeof by_mark / sizeof *by_mark);
}

/* The copy may be a redirect, a page that was gone, or a revisit that nothing came before. */
static void test_what_was_before(void **state)
{
	static const struct detector d = { .kind = DETECT_BYTES };
	static const struct { int before, now; bool revisit, equal; char want; } cases[] = {
		{ 404, 200, false, true, 'c' }, { 410, 200, false, false, 'c' },
		{ 404, 304, false, true, 'c' }, { 404, 0, true, true, 'c' },
		{ 404, 404, false, true, 'g' }, { 404, 301, false, true, 'c' },
		{ 301, 200, false, true, 'c' }, { 301, 301, false, true, 's' },
		{ 301, 302, false, true, 's' }, { 301, 302, false, false, 'c' },
		{ 301, 304, false, true, 's' }, { 200, 203, false, true, 's' },
		{ 304, 200, false, true, 's' }, { 304, 200, false, false, 'c' },
		{ 304, 301, false, true, 's' },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct answer copy = { .by = TOLD_BY_ARCHIVE, .status = cases[i].before,
			.revisit = cases[i].before == 304, .content = content_of(&d, "d1", NULL, NULL) };
		struct answer a = { .by = TOLD_BY_ARCHIVE, .status = cases[i].now,
			.revisit = cases[i].revisit,
			.content = content_of(&d, cases[i].equal ? "d1" : "d2", NULL, NULL) };

		if (letter(judge(&d, &a, &copy)) != cases[i].want)
			fail_msg("%d after %d: %c, not %c", cases[i].now, cases[i].before,
			         letter(judge(&d, &a, &copy)), cases[i].want);
	}
}

/* Every status there could be: each is of one kind, the kinds as RFC 9110 has them. */
static void test_kinds(void **state)
{
	(void)state;
	for (int status = -1; status < 1000; status++) {
		enum answer_kind want = ANSWER_NOTHING;

		if (status == 200 || status == 203)
			want = ANSWER_PAGE;
		if (status >= 300 && status < 400)
			want = status == 304 ? ANSWER_AS_BEFORE : ANSWER_REDIRECT;
		if (status == 404 || status == 410)
			want = ANSWER_GONE;
		assert_int_equal(judge_kind(status, false), want);
		assert_int_equal(judge_kind(status, true), status ? want : ANSWER_AS_BEFORE);
		assert_int_equal(status_is_page(status), want == ANSWER_PAGE);
		assert_int_equal(status_is_gone(status), want == ANSWER_GONE);
		assert_int_equal(status_is_redirect(status), want == ANSWER_REDIRECT);
	}
}

static void test_fates_and_life(void **state)
{
	static const struct detector d = { .kind = DETECT_BYTES };

	(void)state;
	for (int status = 0; status < 600; status++) {
		struct answer a = { .status = status, .fate = ANSWER_FAILED };
		enum outcome life = status == 200 || status == 203 ? OUTCOME_SAME :
			status == 404 || status == 410 ? OUTCOME_GONE : OUTCOME_FAILED;

		assert_int_equal(judge(&d, &a, NULL).outcome, OUTCOME_FAILED);
		assert_false(judge(&d, &a, NULL).first);
		a.fate = ANSWER_BLOCKED;
		assert_int_equal(judge(&d, &a, NULL).outcome, OUTCOME_BLOCKED);
		assert_int_equal(judge_life(&a, false), OUTCOME_BLOCKED);
		a.fate = ANSWER_CAME;
		assert_int_equal(judge_life(&a, false), life);
		assert_int_equal(judge_life(&a, true), life == OUTCOME_SAME ? OUTCOME_GONE : life);
	}
}

static void test_first_and_hit(void **state)
{
	static const bool first[] = { true, true, true, false, false };
	static const bool hit[] = { false, true, true, false, false };

	(void)state;
	for (unsigned o = 0; o < N_OUTCOMES; o++) {
		struct store_visit v = { .outcome = (uint8_t)o };

		assert_int_equal(judge_first((enum outcome)o, false), first[o]);
		assert_false(judge_first((enum outcome)o, true));
		assert_int_equal(judge_hit((enum outcome)o, false), hit[o]);
		assert_false(judge_hit((enum outcome)o, true));
		assert_int_equal(judge_was_first(&v), hit[o]);
		v.hit = true;
		assert_false(judge_was_first(&v));
		v = (struct store_visit){ .outcome = (uint8_t)o, .goal = GOAL_ALIVE };
		assert_false(judge_was_first(&v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_what_was_before),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_fates_and_life),
		cmocka_unit_test(test_first_and_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
