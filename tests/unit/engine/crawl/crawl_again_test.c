/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that makes cycle after cycle and keeps its engine asks for the same pages, in the
 * same order, as one process for each cycle; also when pages come between them, a page fails,
 * or another process writes to the repository.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define PAGES 150
#define BUDGET 25
#define CYCLES 9

struct stage {
	struct origin_world world;
	struct origin *origin;
	struct bed bed;
	struct resumed kept;
	uint32_t n_pages;
};

static void add_pages(struct stage *s, uint32_t n)
{
	const struct living *l = &s->world.living;
	char path[64];

	for (; n--; s->n_pages++) {
		living_path(l, s->n_pages, path);
		bed_add(&s->bed, "http://127.0.1.%u:%u%s", living_site(l, s->n_pages) + 1,
		        origin_port(s->origin), path);
	}
}

/* Ports are parts of URLs: both ways have the same server. */
static void stage_open(struct stage *s, uint64_t seed)
{
	*s = (struct stage){ .world = { .living = LIVING_DEFAULTS } };
	s->world.living.seed = seed;
	s->world.now = s->world.living.start;
	s->origin = origin_start(origin_world_answer, &s->world);
}

static void repository_open(struct stage *s)
{
	s->n_pages = 0;
	s->world.now = s->world.living.start;
	bed_open(&s->bed, "127.0.1.0/24");
	add_pages(s, PAGES);
	for (int i = 0; i < 4; i++)
		bed_add(&s->bed, "http://127.0.1.9:1/%d", i);   /* nobody answers there */
	s->bed.opts.cycle_seconds = 14 * DAY;
	s->bed.opts.fetch.connections = 1;
}

/* Somebody else gives a page another weight. */
static void write_beside(struct stage *s)
{
	struct store *other;
	struct err err;

	assert_int_equal(store_open(&other, s->bed.db, STORE_EXISTING, &err), 0);
	assert_int_equal(store_begin(other, &err), 0);
	assert_int_equal(store_setting_put(other, "note", "x", &err), 0);
	assert_int_equal(store_commit(other, &err), 0);
	store_close(other);
}

/* The first cycle copies every page.  Epochs begin with 1, 2, 4 and 8. */
static uint64_t make_cycles(struct stage *s, const char *policy, bool keep)
{
	uint64_t hash;

	repository_open(s);
	s->bed.opts.policy = policy;
	s->bed.opts.resumed = keep ? &s->kept : NULL;
	for (uint32_t c = 1; c <= CYCLES; c++) {
		struct crawl_report r;

		s->bed.opts.budget = (struct share){ c == 1 ? 2 * PAGES : BUDGET, false };
		s->bed.opts.now = s->world.now += 14 * DAY;
		if (c == 6)
			write_beside(s);
		if (c == 7)
			add_pages(s, 3);
		r = bed_cycle(&s->bed);
		assert_int_equal(r.cycle.number, c);
		/* kept: not in a new epoch, nor when others wrote or pages came */
		if (r.engine_kept && (c == 4 || c == 6 || c == 7 || c == 8))
			fail_msg("%s: the engine of cycle %u was used again", policy, c - 1);
		if (keep && (c == 3 || c == 5) && !r.engine_kept)
			fail_msg("%s: the engine of cycle %u was not used again", policy, c - 1);
		assert_true(keep || !r.engine_kept);
	}
	hash = bed_hash_visits(&s->bed, true);
	resume_release(&s->kept);
	bed_close(&s->bed);
	return hash;
}

static void plans_are_the_same(void **state)
{
	static const char *const policies[] = { "auto", "tide", "round-robin", "lambda",
	                                        "automaton", "frequency:estimator=mle" };

	(void)state;
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		struct stage s;
		uint64_t want;

		stage_open(&s, i + 1);
		want = make_cycles(&s, policies[i], false);
		if (make_cycles(&s, policies[i], true) != want)
			fail_msg("%s: other pages than one process for each cycle", policies[i]);
		origin_stop(s.origin);
	}
}

/* Clusters are those of the copies that a process begins with. */
static void clusters_are_made_anew(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, 3);
	repository_open(&s);
	s.bed.opts.policy = "neighbour:by=cluster";
	s.bed.opts.resumed = &s.kept;
	for (uint32_t c = 1; c <= 3; c++) {
		s.bed.opts.budget = (struct share){ c == 1 ? 2 * PAGES : BUDGET, false };
		s.bed.opts.now = s.world.now += 14 * DAY;
		assert_false(bed_cycle(&s.bed).engine_kept);
	}
	resume_release(&s.kept);
	bed_close(&s.bed);
	origin_stop(s.origin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_the_same),
		cmocka_unit_test(clusters_are_made_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
