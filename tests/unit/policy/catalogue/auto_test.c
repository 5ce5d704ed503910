/* SPDX-License-Identifier: Apache-2.0 */
/* auto: what it chooses, when, and what it says of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../../lib/stage.h"

static enum outcome odd_change(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)cycle;
	return page % 2 ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static void assert_says(const struct stage *s, const char *const *texts)
{
	const char *said = policy_explain(s->policy);

	for (; *texts; texts++)
		if (!strstr(said, *texts))
			fail_msg("'%s' is not in '%s'", *texts, said);
}

#define SAYS(s, ...) assert_says(s, (const char *const[]){ __VA_ARGS__, NULL })

/* How much history, budget against changes, links or none, as of each cycle's start. */
static void auto_says_why(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < 199; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://a.example/p%03d", i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	stage_play(&s, "auto");
	assert_int_equal(s.r.pages.n, 200);
	SAYS(&s, "no cycle");
	s.fate = odd_change;
	stage_cycle(&s, 4);
	SAYS(&s, "tide: ", "2 % of 200 pages", "not known yet", "no history", "no links");
	stage_cycle(&s, 20);                            /* 4 visits are below 5 % of 200 */
	SAYS(&s, "10 % of 200", "little history", " % of visits");
	stage_cycle(&s, 20);                            /* 24 are not */
	SAYS(&s, "history enough");
	stage_cycle(&s, 500);
	SAYS(&s, "oldest: ", "500 reaches all 200 pages");
	assert_int_equal(s.e.cycle.n_seen, 200);
	s.fate = NULL;                                  /* nothing changes any more */
	for (int c = 0; c < 12; c++)
		stage_cycle(&s, 50);
	SAYS(&s, "far more pages than change");
	stage_play(&s, "auto");
	s.e.view.goal = GOAL_ALIVE;
	stage_cycle(&s, 5);
	SAYS(&s, "evidence:nolinks=1: ", "living pages", "no links", "no history");
	assert_null(policy_explain(NULL));
	stage_close(&s);
}

static enum outcome all_change(void *arg, uint32_t page, uint32_t cycle)
{
	(void)arg;
	(void)page;
	(void)cycle;
	return OUTCOME_CHANGED;
}

static void auto_sees_links_and_scarcity(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < 40; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://a.example/p%02d", i);
		trace_add(&s.h, url, 0, "a", "/p00 /p01");
	}
	stage_play(&s, "auto");
	s.fate = all_change;
	stage_cycle(&s, 5);
	stage_cycle(&s, 5);
	SAYS(&s, "tide: ", "more changes than it reaches", "100 % of visits", "links are known");
	stage_play(&s, "auto");
	s.e.view.goal = GOAL_ALIVE;
	stage_cycle(&s, 5);
	SAYS(&s, "evidence: ", "URLs and links");
	stage_close(&s);
}

static void open_folders(struct stage *s, int folders)
{
	stage_open(s);
	for (int i = 0; i < 99; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://a.example/%d/p%02d", i % folders, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
	stage_play(s, "auto");
	s->e.view.aim = AIM_FRESHNESS;
	s->fate = all_change;
}

/* One folder, aim freshness: while visits show that most pages change, each has its turn; in
 * two folders, under another aim, and once little changes, tide chooses. */
static void takes_turns_in_a_flat_folder(void **state)
{
	struct stage s;

	(void)state;
	for (int folders = 1; folders <= 2; folders++) {
		open_folders(&s, folders);
		stage_cycle(&s, 10);
		SAYS(&s, "tide: ", "not known yet");
		stage_cycle(&s, 10);
		if (folders == 1)
			SAYS(&s, "oldest: ", "one folder", "100 % of visits", "its turn");
		else
			SAYS(&s, "tide: ", "more changes than it reaches");
		assert_string_equal(policy_chosen(s.policy), folders == 1 ? "oldest" : "tide");
		s.e.view.aim = AIM_CHANGES;
		stage_cycle(&s, 10);
		SAYS(&s, "tide: ");
		s.e.view.aim = AIM_FRESHNESS;
		s.fate = NULL;                          /* nothing changes any more */
		for (int c = 0; c < 12; c++)
			stage_cycle(&s, 10);
		SAYS(&s, "tide: ", folders == 1 ? "one folder" : "");
		stage_close(&s);
	}
}

/* No page comes twice before each has had its turn. */
static void turns_reach_every_page(void **state)
{
	uint32_t count[100] = { 0 };
	struct stage s;

	(void)state;
	open_folders(&s, 1);
	assert_int_equal(s.r.pages.n, 100);             /* one of the stage itself */
	for (int c = 0; c < 10; c++) {
		stage_cycle(&s, 10);
		assert_int_equal(s.e.cycle.n_seen, 10);
		for (size_t i = 0; i < 10; i++)
			assert_int_equal(count[s.e.cycle.seen[i].page]++, 0);
	}
	stage_close(&s);
}

static void says_that_pages_are_alone(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < 50; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://h%02d.example/", i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	stage_play(&s, "auto");
	s.fate = all_change;
	stage_cycle(&s, 5);
	SAYS(&s, "tide: ", "alone on its host");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_says_why),
		cmocka_unit_test(auto_sees_links_and_scarcity),
		cmocka_unit_test(takes_turns_in_a_flat_folder),
		cmocka_unit_test(turns_reach_every_page),
		cmocka_unit_test(says_that_pages_are_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
