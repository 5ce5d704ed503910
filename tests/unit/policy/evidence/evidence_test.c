/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: finds life where URLs or links show it, and is not worse than random
 * where they do not, or lie.
 *
 * Plain only.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/math/stat.h"
#include "../../../lib/stage.h"

enum layout { GROUPED, SHUFFLED, ONE_A_SITE, ONE_DIRECTORY };

#define SEEDS 12

struct lab {
	const struct stage *s;
	uint64_t seed;
	double flip;            /* share of outcomes that lie */
	bool by_page;           /* nothing but chance decides who lives */
	bool barren;            /* nothing lives */
	uint32_t turn_at;       /* after so many tests other groups live; 0: never */
	uint32_t asked, found;
};

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

	if (l->barren)
		return false;
	if (l->by_page)
		return rng_unit(rng_draw(5 + 10 * l->seed, 0, page, RNG_USER + 1)) < 0.4;
	return rng_unit(rng_draw(5 + 10 * l->seed, 0, page, RNG_USER + 1)) < (good ? 0.95 : 0.05);
}

static enum outcome fate(void *arg, uint32_t page, uint32_t cycle)
{
	struct lab *l = arg, other = *l;
	bool alive;

	other.seed += l->turn_at && l->asked >= l->turn_at ? 1000u : 0;
	alive = lives(&other, page);
	if (l->asked++ < l->s->r.pages.n / 2)
		l->found += alive;

	if (rng_unit(rng_draw(6, cycle, page, RNG_USER)) < l->flip)
		alive = !alive;
	return alive ? OUTCOME_SAME : OUTCOME_GONE;
}

static void lab_pages(struct stage *s, enum layout layout, bool links)
{
	stage_open(s);
	s->needs = NEED_FAMILIES;
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
	assert_int_equal(s->e.cycle.n_seen, s->r.pages.n);
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		all += lives(l, i);
	for (size_t i = 0; i < s->e.cycle.n_seen; i++) {
		found += lives(l, s->e.cycle.seen[i].page);
		if (found >= share * all)
			return (double)(i + 1) / found;
	}
	return INFINITY;
}

static void compare(enum layout layout, bool links, struct lab l, const char *spec, double most)
{
	struct stage s;
	double random = 0, ours = 0;

	lab_pages(&s, layout, links);
	for (l.seed = 1; l.seed <= SEEDS; l.seed++) {
		random += cost(&s, &l, "random", 0.5) / SEEDS;
		ours += cost(&s, &l, spec, 0.5) / SEEDS;
	}
	if (getenv("SHOW"))
		fprintf(stderr, "%s %.3f random %.3f\n", spec, ours, random);
	if (!(ours <= most * random))
		fail_msg("%s %.3f, random %.3f", spec, ours, random);
	stage_close(&s);
}

/* Where nothing can be learnt both orders are random ones, and their mean costs over
 * the seeds may differ by two standard errors of the difference, no more.  That is
 * about 1.5 % here: 600 tests find 240 living pages, +- 12, in either order. */
static void as_good_as_random(enum layout layout, const char *spec)
{
	struct lab l = { .by_page = true };
	struct stat_mean d = { 0 };
	struct stage s;

	lab_pages(&s, layout, false);
	for (l.seed = 1; l.seed <= SEEDS; l.seed++) {
		double random = cost(&s, &l, "random", 0.5), ours = cost(&s, &l, spec, 0.5);

		stat_add(&d, ours / random - 1);
	}
	if (getenv("SHOW"))
		fprintf(stderr, "%s %+.4f +- %.4f of random\n", spec, d.mean, stat_se(&d));
	assert_true(stat_se(&d) < 0.02);
	if (d.mean > 2 * stat_se(&d))
		fail_msg("%s costs %+.4f +- %.4f of random", spec, d.mean, stat_se(&d));
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

static void shuffled(void **state)
{
	(void)state;
	as_good_as_random(SHUFFLED, "evidence");
}

static void one_page_a_site(void **state)
{
	(void)state;
	as_good_as_random(ONE_A_SITE, "evidence");
}

static void one_directory(void **state)
{
	(void)state;
	as_good_as_random(ONE_DIRECTORY, "evidence");
	as_good_as_random(ONE_DIRECTORY, "evidence:nourl=1");
}

/* Directories whose pages were dealt out by chance, among groups that do tell. */
static void groups_shuffled(void **state)
{
	(void)state;
	compare(SHUFFLED, false, (struct lab){ .flip = 0 }, "evidence", 1.02);
}

/* After a quarter of the tests other groups live: what was learnt is wrong, and
 * still half of all tests find more than random ones. */
static void regime_changes(void **state)
{
	struct lab l = { .turn_at = 300 };
	struct stage s;
	uint32_t ours = 0, random = 0;

	(void)state;
	lab_pages(&s, GROUPED, false);
	for (l.seed = 1; l.seed <= SEEDS; l.seed++) {
		l.asked = l.found = 0;
		cost(&s, &l, "random", 0.5);
		random += l.found;
		l.asked = l.found = 0;
		cost(&s, &l, "evidence", 0.5);
		ours += l.found;
	}
	if (getenv("SHOW"))
		fprintf(stderr, "regime: %u, random %u\n", ours, random);
	assert_true(ours > random);
	stage_close(&s);
}

/* A batch that holds pages of several hosts does not ask one of them twice while
 * another has not been asked. */
static void hosts_take_turns(void **state)
{
	struct stage s;
	struct lab l = { .by_page = true, .seed = 1 };
	size_t from = 0, rounds = 0;

	(void)state;
	stage_open(&s);
	for (uint32_t i = 0; i < 9000; i++) {
		char url[80];

		snprintf(url, sizeof url, "http://s%u.example/d/p%05u", i % 7, i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	cost(&s, &l, "evidence:share=0", 0.5);
	for (size_t i = 1; i <= s.e.cycle.n_seen; i++) {
		uint32_t count[16] = { 0 };

		if (i < s.e.cycle.n_seen && s.e.cycle.seen[i].round == s.e.cycle.seen[from].round)
			continue;
		/* a host comes for the k-th time only behind the (k - 1)-th time of all that
		 * come as often */
		for (size_t k = from; k < i && s.e.cycle.seen[from].reason == REASON_CHANCE; k++) {
			uint32_t site = s.e.view.site[s.e.cycle.seen[k].page];

			assert_true(site < 16);
			for (size_t j = k + 1; j < i; j++) {
				uint32_t other = s.e.view.site[s.e.cycle.seen[j].page];

				assert_true(count[other] >= count[site] || other == site);
			}
			count[site]++;
		}
		rounds += i - from > 7;
		from = i;
	}
	assert_true(rounds > 50);
	stage_close(&s);
}

/* Steps of the golden ratio around a circle: of 20 points any two are more than 1/60
 * apart and any arc of 1/10 holds one (the gaps are .034, .056 and .090).  So the
 * first 20 tests, while nothing lives, come from 20 of 60 even directories, none more
 * than 6 after the last. */
static void opening_is_spread(void **state)
{
	struct stage s;
	struct lab l = { .barren = true };

	(void)state;
	stage_open(&s);
	for (uint32_t i = 0; i < 1200; i++) {
		char url[80];

		snprintf(url, sizeof url, "http://a.example/d%02u/p%04u", i / 20, i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	for (l.seed = 1; l.seed <= SEEDS; l.seed++) {
		bool met[60] = { false };
		uint32_t since = 0;

		cost(&s, &l, "evidence", 0.5);
		for (size_t i = 0; i < 20; i++) {
			uint32_t dir = number_of(&s, s.e.cycle.seen[i].page) / 20;

			assert_false(met[dir]);
			met[dir] = true;
		}
		for (uint32_t i = 0; i < 120; i++) {
			since = met[i % 60] ? 0 : since + 1;
			assert_true(since < 6);
		}
	}
	stage_close(&s);
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
	order = malloc(s.e.cycle.n_seen * sizeof *order);
	for (size_t i = 0; i < s.e.cycle.n_seen; i++)
		order[i] = s.e.cycle.seen[i].page;
	cost(&s, &l, "evidence", 0.5);
	for (size_t i = 0; i < s.e.cycle.n_seen; i++)
		assert_int_equal(order[i], s.e.cycle.seen[i].page);
	free(order);
	stage_close(&s);
}

/* Other directories change in each cycle. */
static enum outcome changes(void *arg, uint32_t page, uint32_t cycle)
{
	struct lab l = { .s = arg, .seed = cycle };

	return lives(&l, page) ? OUTCOME_CHANGED : OUTCOME_SAME;
}

/* Goal `changed`: every cycle is a run of its own, the last found as well as the first.  A
 * tenth of the pages is asked for, of which by chance 0.365 change, +- 0.044. */
static void changes_are_found_in_every_cycle(void **state)
{
	struct stage s;

	(void)state;
	lab_pages(&s, GROUPED, false);
	stage_play(&s, "evidence");
	s.fate = changes;
	s.arg = &s;
	for (int c = 1; c <= 12; c++) {
		uint32_t hits = 0;

		stage_cycle(&s, 120);
		for (size_t i = 0; i < s.e.cycle.n_seen; i++)
			hits += s.e.cycle.seen[i].hit;
		if (hits < 0.55 * 120)
			fail_msg("cycle %d: %u of 120", c, hits);
	}
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
		cmocka_unit_test(groups_shuffled),
		cmocka_unit_test(opening_is_spread),
		cmocka_unit_test(flipped),
		cmocka_unit_test(regime_changes),
		cmocka_unit_test(hosts_take_turns),
		cmocka_unit_test(same_seed_same_order),
		cmocka_unit_test(changes_are_found_in_every_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
