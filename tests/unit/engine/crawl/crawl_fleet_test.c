/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of a shard of a fleet, whose budget comes in parts: a worker that goes on where
 * another was killed, within a part or between a grant and its plan, asks for the pages that
 * one worker would have asked for, in the same order.  How many shards the fleet has is part
 * of what scores are made of: recalled visits, an engine that is kept and a cycle that goes on
 * know it, and a split does not change a cycle that is open.  So is what the shards have learnt
 * together when the cycle began, whatever they learn until a worker goes on with it.
 *
 * The ledger is a page of memory that the killed process shares with the test.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define PAGES 150
#define BUDGET 20               /* of the shard, in the end */
#define EXPECTED 30             /* what it plans for */
#define PART 10                 /* granted at a time */
#define CYCLES 5                /* the first, which copies every page, is no fleet's */
#define SHARDS 6

struct ledger { uint32_t granted, n_grants, kill_at; bool fail; };

struct stage {
	struct origin_world world;
	struct origin *origin;
	struct bed bed;
	struct resumed kept;
	struct crawl_fleet fleet;
	struct ledger *ledger;
	_Atomic int64_t send_until;
	bool alone;                     /* others tell it nothing */
};

/* Only when nothing is under way: what a round is planned after is then the same in all runs. */
static int grant(void *arg, struct engine *e, enum crawl_idle idle, uint32_t *granted,
                 struct err *err)
{
	struct ledger *l = arg;

	(void)e;
	if (l->fail)                    /* with requests under way */
		return err_set(err, E_STORE, "the ledger does not answer");
	if (idle != CRAWL_ALL_IDLE)
		return CRAWL_MORE_LATER;
	if (l->granted >= BUDGET)
		return CRAWL_NO_MORE;
	l->granted += PART;
	if (++l->n_grants == l->kill_at)
		raise(SIGKILL);         /* it is in the ledger, and nothing was planned with it */
	*granted = l->granted;
	return CRAWL_MORE_LATER;
}

static bool follow(void *arg, const char *url, size_t size)
{
	(void)arg, (void)url, (void)size;
	return true;
}

static int see_commit(void *arg, const struct store_cycle *row, struct err *err)
{
	(void)err;
	assert_true(row->downloads <= ((const struct ledger *)arg)->granted);
	return 0;
}

static void stage_open(struct stage *s, uint64_t seed)
{
	*s = (struct stage){ .world = { .living = LIVING_DEFAULTS } };
	s->world.living.seed = seed;
	s->world.now = s->world.living.start;
	s->origin = origin_start(origin_world_answer, &s->world);
	s->ledger = mmap(NULL, sizeof *s->ledger, PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(s->ledger != MAP_FAILED);
	atomic_store(&s->send_until, INT64_MAX);
}

static void stage_close(struct stage *s)
{
	origin_stop(s->origin);
	munmap(s->ledger, sizeof *s->ledger);
}

static void repository_open(struct stage *s, const char *policy)
{
	const struct living *l = &s->world.living;
	char path[64];

	s->world.now = l->start;
	bed_open(&s->bed, "127.0.1.0/24");
	for (uint32_t i = 0; i < PAGES; i++) {
		living_path(l, i, path);
		bed_add(&s->bed, "http://127.0.1.%u:%u%s", living_site(l, i) + 1,
		        origin_port(s->origin), path);
	}
	s->bed.opts.policy = policy;
	s->bed.opts.cycle_seconds = 14 * DAY;
	s->bed.opts.fetch.connections = 1;
	s->bed.opts.batch = 2;
	s->bed.opts.budget = (struct share){ 2 * PAGES, false };
	s->bed.opts.now = s->world.now += 14 * DAY;
	bed_cycle(&s->bed);
	s->fleet = (struct crawl_fleet){ .budget = SHARDS * BUDGET, .pages = SHARDS * PAGES,
		.more = grant, .follows = follow, .committed = see_commit, .arg = s->ledger,
		.send_until = &s->send_until, .worker = "north", .below = "north/shard-0" };
	s->bed.opts.fleet = &s->fleet;
	s->bed.opts.budget = (struct share){ EXPECTED, false };
}

static void next_cycle(struct stage *s)
{
	*s->ledger = (struct ledger){ 0 };
	s->fleet.granted = 0;
	s->bed.opts.now = s->world.now += 14 * DAY;
	/* hosts of others change in every fourth unit of time; of three of them it is known */
	s->fleet.shared = (struct shared){ .any = !s->alone, .sum = { 250, 1000, -4.2, 3 } };
}

enum kill { NEVER, WITHIN, AT_GRANT };

/* Kill a worker; the next one learns from the ledger what was granted. */
static void kill_worker(struct stage *s, uint32_t at_grant, uint32_t at_request)
{
	s->ledger->kill_at = at_grant;
	assert_true(bed_killed_cycle(&s->bed, at_request));
	s->ledger->kill_at = 0;
	s->fleet.granted = s->ledger->granted;
	s->fleet.shared.sum[0] = 10;    /* meanwhile others found that little changes */
	s->fleet.shared.sum[2] = -13;
}

/* All visits.  later: shards that the fleet has after the first kill of a cycle. */
static uint64_t make_cycles(struct stage *s, const char *policy, uint32_t shards, enum kill kill,
                            uint32_t later)
{
	uint64_t hash;

	repository_open(s, policy);
	for (uint32_t c = 2; c <= CYCLES; c++) {
		struct crawl_report r;

		next_cycle(s);
		s->bed.opts.n_shards = shards;
		if (kill == WITHIN) {
			kill_worker(s, 0, 5);
			s->bed.opts.n_shards = later;
			kill_worker(s, 0, PART + 3);
		} else if (kill == AT_GRANT) {
			for (uint32_t i = 1; i <= 2; i++) {
				kill_worker(s, i, UINT32_MAX);
				s->bed.opts.n_shards = later;
			}
		}
		r = bed_cycle(&s->bed);
		assert_true(r.resumed == (kill != NEVER));
		assert_int_equal(s->ledger->granted, BUDGET);
		assert_int_equal(r.cycle.downloads, BUDGET);
		assert_int_equal(r.cycle.budget, BUDGET);
	}
	hash = bed_hash_visits(&s->bed, true);
	bed_close(&s->bed);
	return hash;
}

static void cycles_go_on(void **state)
{
	static const char *const policies[] = { "tide", "frequency" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct stage s;
		uint64_t want;

		stage_open(&s, i + 1);
		want = make_cycles(&s, policies[i], SHARDS, NEVER, SHARDS);
		if (make_cycles(&s, policies[i], SHARDS, WITHIN, SHARDS) != want)
			fail_msg("%s: other pages after a kill within a part", policies[i]);
		if (make_cycles(&s, policies[i], SHARDS, AT_GRANT, SHARDS + 1) != want)
			fail_msg("%s: other pages after kills between grant and plan, and a split",
			         policies[i]);
		stage_close(&s);
	}
}

/* An engine that made the cycles before, as replay has it, and one that recalls them ask for
 * the same pages; as none of so many shards they would have asked for others. */
static void shards_are_recalled(void **state)
{
	struct stage s;
	uint64_t want;

	(void)state;
	stage_open(&s, 3);
	want = make_cycles(&s, "tide", SHARDS, NEVER, SHARDS);
	assert_true(make_cycles(&s, "tide", 0, NEVER, 0) != want);
	s.alone = true;                 /* nor are they the same without the others' visits */
	assert_true(make_cycles(&s, "tide", SHARDS, NEVER, SHARDS) != want);
	s.alone = false;
	repository_open(&s, "tide");
	s.bed.opts.resumed = &s.kept;
	for (uint32_t c = 2; c <= CYCLES; c++) {
		next_cycle(&s);
		s.bed.opts.n_shards = SHARDS;
		assert_true(bed_cycle(&s.bed).engine_kept == (c == 3 || c == 5));
	}
	assert_true(bed_hash_visits(&s.bed, true) == want);
	next_cycle(&s);
	assert_true(bed_cycle(&s.bed).engine_kept);
	next_cycle(&s);
	s.bed.opts.n_shards++;          /* the engine that is kept has learnt as one of fewer */
	assert_false(bed_cycle(&s.bed).engine_kept);
	resume_release(&s.kept);
	bed_close(&s.bed);
	stage_close(&s);
}

/* Requests for pages since the first so many lines of the log, which are then counted. */
static uint32_t asked(struct stage *s, size_t *seen)
{
	size_t n;
	struct origin_log *log = origin_read_log(s->origin, &n);
	uint32_t pages = 0;

	for (size_t i = *seen; i < n; i++)
		pages += strstr(log[i].path, "robots.txt") == NULL;
	*seen = n;
	free(log);
	return pages;
}

/* A worker is killed, and the next one fails (the ledger does not answer any more) with outcomes
 * that are not committed: what they asked for is spent all the same. */
static void lapses_are_spent(void **state)
{
	struct crawl_report r;
	struct stage s;
	struct err err;
	size_t seen = 0;

	(void)state;
	stage_open(&s, 4);
	repository_open(&s, "tide");
	next_cycle(&s);
	s.bed.opts.n_shards = SHARDS;
	s.bed.opts.batch = 1000;        /* nothing is committed on the way */
	s.bed.lapses = true;
	asked(&s, &seen);
	kill_worker(&s, 0, 3);
	s.ledger->fail = true;
	assert_int_equal(crawl_cycle(s.bed.store, &s.bed.opts, &r, &err), E_STORE);
	s.ledger->fail = false;
	s.fleet.granted = s.ledger->granted;
	r = bed_cycle(&s.bed);
	assert_int_equal(r.cycle.downloads, BUDGET);
	assert_int_equal(asked(&s, &seen), BUDGET);
	bed_close(&s.bed);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_go_on),
		cmocka_unit_test(shards_are_recalled),
		cmocka_unit_test(lapses_are_spent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
