/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: finds life where URLs or links show it, and is not worse than random
 * where they do not, or lie.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/rng.h"
#include "../../lib/stage.h"

enum layout { GROUPED, SHUFFLED, ONE_A_SITE, ONE_DIRECTORY };

struct lab { const struct stage *s; uint64_t seed; double flip; bool by_page; };

static uint32_t number_of(const struct stage *s, uint32_t page)
{
	const char *p = strrchr(pages_url(&s->r.pages, page), 'p');

	return p && p[1] >= '0' && p[1] <= '9' ? (uint32_t)atoi(p + 1) : 0;
}

/* A third of the groups of 20 live; in them nearly every page, elsewhere few. */
static bool lives(const struct lab *l, uint32_t page)
{
	uint32_t k = number_of(l->s, page);
	bool good = rng_unit(rng_draw(5 + 10 * l->seed, 0, k / 20, RNG_USER)) < 0.35;

	if (l->by_page)
		return rng_unit(rng_draw(5 + 10 * l->seed, 0, page, RNG_USER + 1)) < 0.4;
	return rng_unit(rng_draw(5 + 10 * l->seed, 0, page, RNG_USER + 1)) < (good ? 0.95 : 0.05);
}

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	const struct lab *l = arg;
	bool alive = lives(l, page);

	if (rng_unit(rng_draw(6, cycle, page, RNG_USER)) < l->flip)
		alive = !alive;
	return alive ? OUTCOME_SAME : OUTCOME_GONE;
}

static void lab_pages(struct stage *s, enum layout layout, bool links)
{
	stage_open(s);
	for (uint32_t i = 0; i < 1200; i++) {
		uint32_t d = layout == SHUFFLED ? (uint32_t)(rng_draw(9, 0, i, RNG_USER) % 60) : i / 20;
		char url[80], to[200] = "";

		if (layout == ONE_A_SITE)
			snprintf(url, sizeof url, "http://s%u.example/p%04u", i, i);
		else if (layout == ONE_DIRECTORY)
			snprintf(url, sizeof url, "http://a.example/p%04u", i);
		else
			snprintf(url, sizeof url, "http://a.example/d%u/p%04u", d, i);
		/* links to the next and the next but one of its group */
		if (links && layout == ONE_DIRECTORY)
			snprintf(to, sizeof to, "/p%04u /p%04u", i / 20 * 20 + (i + 1) % 20,
			         i / 20 * 20 + (i + 7) % 20);
		trace_add(&s->h, url, 0, "a", *to ? to : NULL);
	}
}

/* Downloads for each living page, when half of them are found. */
static double cost(struct stage *s, struct lab *l, const char *spec, double share)
{
	double all = 0, found = 0;

	l->s = s;
	stage_play(s, spec);
	s->fate = fate;
	s->arg = l;
	s->e.view.seed = l->seed;
	s->e.view.goal = GOAL_ALIVE;
	stage_cycle(s, s->r.pages.n);
	assert_int_equal(s->e.n_seen, s->r.pages.n);
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		all += lives(l, i);
	for (size_t i = 0; i < s->e.n_seen; i++) {
		found += lives(l, s->e.seen[i].page);
		if (found >= share * all)
			return (double)(i + 1) / found;
	}
	return INFINITY;
}

static void compare(enum layout layout, bool links, struct lab l, const char *spec, double most)
{
	struct stage s;
	double random, ours;

	lab_pages(&s, layout, links);
	random = ours = 0;
	for (l.seed = 1; l.seed <= 4; l.seed++) {
		random += cost(&s, &l, "random", 0.5) / 4;
		ours += cost(&s, &l, spec, 0.5) / 4;
	}
	if (getenv("SHOW"))
		fprintf(stderr, "%s %.3f random %.3f\n", spec, ours, random);
	if (ours > most * random)
		fail_msg("%s %.3f, random %.3f", spec, ours, random);
	stage_close(&s);
}

static void directories_tell(void **state)
{
	(void)state;
	compare(GROUPED, false, (struct lab){ .flip = 0 }, "evidence", 0.6);
}

static void links_tell(void **state)
{
	(void)state;
	compare(ONE_DIRECTORY, true, (struct lab){ .flip = 0 }, "evidence:nourl=1", 0.75);
}

/* Nothing to learn: 3 % are noise of 1200 pages. */
static void shuffled(void **state)
{
	(void)state;
	compare(SHUFFLED, false, (struct lab){ .by_page = true }, "evidence", 1.05);
}

static void one_page_a_site(void **state)
{
	(void)state;
	compare(ONE_A_SITE, false, (struct lab){ .by_page = true }, "evidence", 1.05);
}

static void one_directory(void **state)
{
	(void)state;
	compare(ONE_DIRECTORY, false, (struct lab){ .by_page = true }, "evidence", 1.05);
}

static void flipped(void **state)
{
	(void)state;
	compare(GROUPED, false, (struct lab){ .flip = 0.3 }, "evidence", 0.9);
}

static void same_seed_same_order(void **state)
{
	struct stage s;
	struct lab l = { .flip = 0 };
	uint32_t *order;

	(void)state;
	lab_pages(&s, GROUPED, false);
	cost(&s, &l, "evidence", 0.5);
	order = malloc(s.e.n_seen * sizeof *order);
	for (size_t i = 0; i < s.e.n_seen; i++)
		order[i] = s.e.seen[i].page;
	cost(&s, &l, "evidence", 0.5);
	for (size_t i = 0; i < s.e.n_seen; i++)
		assert_int_equal(order[i], s.e.seen[i].page);
	free(order);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directories_tell),
		cmocka_unit_test(links_tell),
		cmocka_unit_test(shuffled),
		cmocka_unit_test(one_page_a_site),
		cmocka_unit_test(one_directory),
		cmocka_unit_test(flipped),
		cmocka_unit_test(same_seed_same_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
