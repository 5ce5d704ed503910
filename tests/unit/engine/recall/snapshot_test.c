/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: for every policy of the catalogue, the plan that an engine makes out of a
 * snapshot is the one that it makes when it is told every visit; also when cycles came
 * after it.  A snapshot that is damaged, copied, of another seed, or older than a change of
 * the past is not used.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/recall/dry.h"
#include "engine/recall/snapshot.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/bed.h"

#define PAGES 400
#define CYCLES 9
#define BUDGET 60

static int64_t moment(uint32_t cycle)
{
	return INT64_C(1700000000) + (int64_t)cycle * DAY_SECONDS;
}

/* Places differ; and some pages always fail. */
static uint8_t draw_outcome(uint64_t seed, uint32_t cycle, uint32_t page)
{
	uint64_t u = rng_draw(seed, cycle, page, RNG_USER) % 100, rate = page / 20 % 5 * 20;

	return (uint8_t)(page % 17 == 0 ? OUTCOME_FAILED : u == 0 ? OUTCOME_GONE :
	                 u < rate ? OUTCOME_CHANGED : OUTCOME_SAME);
}

static void add_visit(struct store *s, uint64_t seed, uint32_t cycle, uint32_t page,
                      uint64_t capture, uint8_t reason)
{
	struct store_visit v = { .cycle = cycle, .page = page, .capture = capture,
		.time = moment(cycle) - (cycle ? 0 : (page % 7) * 40000), .reason = reason,
		.score = 0.5f, .probability = NAN, .outcome = draw_outcome(seed, cycle, page) };
	struct err err;

	v.hit = v.outcome == OUTCOME_CHANGED || v.outcome == OUTCOME_GONE;
	v.cause = v.outcome == OUTCOME_FAILED ? CAUSE_STATUS : CAUSE_NONE;
	v.status = v.outcome == OUTCOME_FAILED ? 503 : 200;
	assert_int_equal(store_visit_add(s, &v, &err), 0);
}

static void add_capture(struct store *s, uint32_t page)
{
	char links[200];
	struct store_capture c = { .page = page, .time = moment(0) - DAY_SECONDS, .status = 200,
		.length = 100 * (page % 9), .bytes_text = -1, .words = 10 * (page % 31), .images = -1,
		.tables = -1, .emails = -1, .outlinks = 2, .digest = { "x", 1 } };
	struct err err;
	int n = snprintf(links, sizeof links, "/d%u/%u /d%u/%u", page % 13, (page * 7) % PAGES,
	                 page % 11, (page * 3 + 1) % PAGES);

	c.links = (struct text){ links, (size_t)n };
	assert_int_equal(store_capture_add(s, &c, &err), 1);
}

static void add_cycle(struct bed *b, uint64_t seed, uint32_t cycle)
{
	struct store_cycle row = { .number = cycle, .time = moment(cycle), .budget = BUDGET,
	                           .policy = { "x", 1 } };
	static const uint8_t reasons[] = { REASON_CHANCE, REASON_OLDEST, REASON_TURN };
	struct err err;

	assert_int_equal(store_begin(b->store, &err), 0);
	assert_int_equal(store_cycle_put(b->store, &row, &err), 0);
	for (uint32_t i = 0; i < PAGES; i++)
		if (rng_draw(seed, cycle, i, RNG_SAMPLE) % 6 == 0)
			add_visit(b->store, seed, cycle, i, i % 5 == 4, reasons[i % 3]);
	assert_int_equal(store_commit(b->store, &err), 0);
}

static void open_bed(struct bed *b, uint64_t seed, uint32_t cycles)
{
	struct err err;

	bed_open(b, "127.0.0.1");
	for (uint32_t i = 0; i < PAGES; i++)
		bed_add(b, "http://site%u.example/d%u/%u", i % 4, i / 20, i);
	assert_int_equal(store_begin(b->store, &err), 0);
	for (uint32_t i = 0; i < PAGES; i++) {
		add_capture(b->store, i);
		for (uint32_t k = 0; k < 2 && i % 5 < 4; k++)   /* others have their first copy later */
			add_visit(b->store, seed + k, 0, i, k == 0, 0);
	}
	assert_int_equal(store_commit(b->store, &err), 0);
	for (uint32_t c = 1; c <= cycles; c++)
		add_cycle(b, seed, c);
}

static void name_of(const struct bed *b, char ret[SCRATCH_PATH + 80])
{
	snprintf(ret, SCRATCH_PATH + 80, "%s" SNAPSHOT_END, store_file(b->store));
}

/* What the next cycle would be; how many cycles came out of the snapshot. */
static uint32_t plan(struct bed *b, const struct resume_opts *o, uint64_t *ret_hash)
{
	struct resumed r;
	struct err err;
	uint32_t n;

	if (resume(&r, b->store, o, &err) < 0)
		fail_msg("%s", err.text);
	n = r.recalled.n_thawed;
	assert_int_equal(dry_cycle(&r, moment(o->before_cycle), BUDGET, &err), 0);
	*ret_hash = r.recalled.n_told;
	assert_true(r.engine.cycle.n_seen > 0);
	for (size_t i = 0; i < r.engine.cycle.n_seen; i++) {
		const struct seen *s = &r.engine.cycle.seen[i];
		const float scores[] = { s->score, isnan(s->probability) ? -1 : s->probability };
		const uint32_t numbers[] = { s->page, s->reason, s->gap };

		*ret_hash = hash_bytes(scores, sizeof scores, hash_bytes(numbers, sizeof numbers,
		                                                         *ret_hash));
	}
	if (policy_explain(r.policy))
		*ret_hash = hash_bytes(policy_explain(r.policy), strlen(policy_explain(r.policy)),
		                       *ret_hash);
	resume_release(&r);
	return n;
}

/* A plan without a snapshot. */
static uint64_t full(struct bed *b, const struct resume_opts *o)
{
	struct resume_opts plain = *o;
	char name[SCRATCH_PATH + 80], aside[SCRATCH_PATH + 90];
	uint64_t hash;

	name_of(b, name);
	snprintf(aside, sizeof aside, "%s.aside", name);
	rename(name, aside);            /* it stays the same file */
	plain.keep = false;
	assert_int_equal(plan(b, &plain, &hash), 0);
	rename(aside, name);
	return hash;
}

static struct resume_opts options(const char *policy, uint32_t before)
{
	return (struct resume_opts){ .policy = policy, .seed = 3, .cycle_seconds = DAY_SECONDS,
		.aim = AIM_FRESHNESS, .before_cycle = before, .keep = true };
}

static void plans_are_the_same(void **state)
{
	const struct policy_ops *ops = *state;
	struct resume_opts o = options(ops->name, 0);
	uint32_t n_used = 0;
	uint64_t hash;
	struct bed b;

	if (ops->only_replay)
		return;
	open_bed(&b, 1, 2);
	for (uint32_t before = 3; before <= CYCLES; before++) {
		uint64_t want;
		uint32_t thawed;

		o.before_cycle = before;
		want = full(&b, &o);
		o.keep = before != 5;           /* then the next one has two cycles to tell */
		thawed = plan(&b, &o, &hash);
		n_used += thawed > 0;
		if (thawed)
			assert_int_equal(thawed, before == 6 ? 3 : before - 2);
		if (hash != want)
			fail_msg("%s: another plan before cycle %u", ops->name, before);
		assert_int_equal(hash, full(&b, &o));
		add_cycle(&b, 1, before);
	}
	assert_int_equal(n_used, ops->freeze ? CYCLES - 3 : 0);
	bed_close(&b);
}

/* ---- snapshots that must not be used ---- */

static uint8_t *read_file(const char *name, size_t *ret_n)
{
	FILE *f = fopen(name, "rb");
	uint8_t *bytes;
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	*ret_n = (size_t)st.st_size;
	bytes = malloc(*ret_n);
	assert_int_equal(fread(bytes, 1, *ret_n, f), *ret_n);
	fclose(f);
	return bytes;
}

/* Into the same file: it is the very one that was written. */
static void write_file(const char *name, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(name, "r+b");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(ftruncate(fileno(f), (off_t)n), 0);
	fclose(f);
}

static void damaged_ones_are_not_used(void **state)
{
	struct resume_opts o = options("tide", 6);
	char name[SCRATCH_PATH + 80], aside[SCRATCH_PATH + 90];
	uint64_t want, hash;
	uint8_t *bytes;
	struct bed b;
	struct rng g;
	size_t n;

	(void)state;
	rng_init(&g, 1);
	open_bed(&b, 2, 6);
	name_of(&b, name);
	want = full(&b, &o);
	plan(&b, &o, &hash);
	o.keep = false;
	assert_int_equal(plan(&b, &o, &hash), 5);
	assert_int_equal(hash, want);
	bytes = read_file(name, &n);
	for (int i = 0; i < 60; i++) {
		size_t at = i < 20 ? (size_t)i * 4 : (size_t)rng_below(&g, n);

		bytes[at] ^= (uint8_t)(1 << i % 8);
		write_file(name, bytes, n);
		assert_int_equal(plan(&b, &o, &hash), 0);
		assert_int_equal(hash, want);
		bytes[at] ^= (uint8_t)(1 << i % 8);
	}
	for (int i = 0; i < 20; i++) {
		write_file(name, bytes, i < 10 ? n - 1 - (size_t)i : (size_t)rng_below(&g, n));
		assert_int_equal(plan(&b, &o, &hash), 0);
		assert_int_equal(hash, want);
	}
	write_file(name, bytes, n);
	assert_int_equal(plan(&b, &o, &hash), 5);       /* as good as before */
	/* a copy of it is a file of others */
	snprintf(aside, sizeof aside, "%s.aside", name);
	assert_int_equal(rename(name, aside), 0);
	fclose(fopen(name, "wb"));
	write_file(name, bytes, n);
	assert_int_equal(plan(&b, &o, &hash), 0);
	assert_int_equal(hash, want);
	free(bytes);
	bed_close(&b);
}

static void others_are_not_used(void **state)
{
	struct resume_opts o = options("tide", 6), other;
	struct err err;
	uint64_t hash;
	struct bed b;

	(void)state;
	open_bed(&b, 3, 6);
	plan(&b, &o, &hash);
	o.keep = false;
	other = o;
	other.seed++;
	assert_int_equal(plan(&b, &other, &hash), 0);
	other = o;
	other.policy = "tide:noise=0.4";
	assert_int_equal(plan(&b, &other, &hash), 0);
	other = o;
	other.aim = AIM_AGE;
	assert_int_equal(plan(&b, &other, &hash), 0);
	other = o;
	other.cycle_seconds *= 2;
	assert_int_equal(plan(&b, &other, &hash), 0);
	other = o;
	other.weight = WEIGHT_PAGERANK;
	assert_int_equal(plan(&b, &other, &hash), 0);
	other = o;
	other.goal = GOAL_ALIVE;
	assert_int_equal(plan(&b, &other, &hash), 0);
	other = o;
	other.before_cycle = 4;                         /* it knows what came later */
	assert_int_equal(plan(&b, &other, &hash), 0);
	assert_int_equal(plan(&b, &o, &hash), 5);
	/* the cycle that goes on changes nothing of the past */
	assert_int_equal(store_begin(b.store, &err), 0);
	add_visit(b.store, 3, 6, 1, 0, 0);
	assert_int_equal(store_commit(b.store, &err), 0);
	assert_int_equal(plan(&b, &o, &hash), 5);
	bed_close(&b);
}

static void import_late(struct bed *b) { add_visit(b->store, 9, 0, 5, 0, 0); }
static void tell_late(struct bed *b) { add_visit(b->store, 9, 3, 1, 0, 0); }

static void forget(struct bed *b)
{
	struct err err;

	assert_int_equal(store_visits_forget(b->store, 7, &err), 0);
}

static void change_cycle(struct bed *b)
{
	struct store_cycle row = { .number = 2, .time = moment(2) + 5, .budget = BUDGET,
	                           .policy = { "x", 1 } };
	struct err err;

	assert_int_equal(store_cycle_put(b->store, &row, &err), 0);
}

static void add_page(struct bed *b)
{
	uint32_t number;
	struct err err;

	assert_int_equal(store_page_add(b->store, (struct text){ "http://new.example/", 19 }, 1,
	                                &number, &err), 1);
}

static void another_past_is_recalled(void **state)
{
	static void (*const changes[])(struct bed *) = { import_late, tell_late, forget,
	                                                 change_cycle, add_page };

	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct resume_opts o = options("tide", 6);
		uint64_t want, hash;
		struct err err;
		struct bed b;

		open_bed(&b, 4, 6);
		plan(&b, &o, &hash);
		o.keep = false;
		assert_int_equal(plan(&b, &o, &hash), 5);
		assert_int_equal(store_begin(b.store, &err), 0);
		changes[i](&b);
		assert_int_equal(store_commit(b.store, &err), 0);
		want = full(&b, &o);
		assert_int_equal(plan(&b, &o, &hash), 0);
		assert_int_equal(hash, want);
		bed_close(&b);
	}
}

/* No room, no rights: no snapshot, and nothing else. */
static void it_may_be_missing(void **state)
{
	struct resume_opts o = options("tide", 6);
	char name[SCRATCH_PATH + 80];
	uint64_t want, hash;
	struct bed b;

	(void)state;
	open_bed(&b, 5, 6);
	name_of(&b, name);
	want = full(&b, &o);
	assert_int_equal(mkdir(name, 0700), 0);         /* the name is taken */
	assert_int_equal(plan(&b, &o, &hash), 0);
	assert_int_equal(hash, want);
	assert_int_equal(plan(&b, &o, &hash), 0);
	assert_int_equal(hash, want);
	assert_int_equal(rmdir(name), 0);
	bed_close(&b);
}

int main(void)
{
	struct CMUnitTest tests[100] = {
		cmocka_unit_test(damaged_ones_are_not_used),
		cmocka_unit_test(others_are_not_used),
		cmocka_unit_test(another_past_is_recalled),
		cmocka_unit_test(it_may_be_missing),
	};
	size_t n = 4;

	for (const struct policy_ops *ops; n < 100 && (ops = policy_at(n - 4)); n++)
		tests[n] = (struct CMUnitTest){ ops->name, plans_are_the_same, NULL, NULL,
		                                (void *)(uintptr_t)ops };
	return _cmocka_run_group_tests("snapshots", tests, n, NULL, NULL);
}
