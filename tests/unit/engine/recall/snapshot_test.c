/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: for every policy of the catalogue, the plan that an engine makes out of a
 * snapshot is the one that it makes when it is told every visit and all captures are read;
 * also when cycles and pages came after it.  A snapshot that is damaged, copied, of another
 * seed, or older than a change of the past is not used.
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
#include "engine/view/kept_links.h"
#include "engine/recall/snapshot.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/bed.h"

#define PAGES 200               /* at first; GROWTH more before each cycle but some */
#define GROWTH 6
#define CYCLES 9
#define LONG 60                 /* cycles: older ones are told apart less finely */
#define BUDGET 30

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

static uint32_t count_pages(struct store *s)
{
	struct store_counts c;
	struct err err;

	assert_int_equal(store_count(s, &c, &err), 0);
	return (uint32_t)c.pages;
}

static void add_capture(struct store *s, uint32_t page, int64_t time)
{
	char links[200];
	struct store_capture c = { .page = page, .time = time, .status = 200,
		.length = 100 * (page % 9), .bytes_text = -1, .words = 10 * (page % 31), .images = -1,
		.tables = -1, .emails = -1, .outlinks = 2, .digest = { "x", 1 } };
	struct err err;
	/* also to pages that come later */
	uint32_t to = (page * 7) % (PAGES + 50), on = (page * 3 + (uint32_t)(time % 7)) % PAGES;
	int n = snprintf(links, sizeof links, "http://site%u.example/d%u/%u "
	                 "http://site%u.example/d%u/%u", to % 4, to / 20, to, on % 4, on / 20, on);

	c.links = (struct text){ links, (size_t)n };
	assert_int_equal(store_capture_add(s, &c, &err), 1);
}

/* Of the same sites, or a new one; in directories that were alone, and in new ones. */
static void add_pages(struct bed *b, uint32_t n)
{
	for (uint32_t i = count_pages(b->store); n--; i++)
		bed_add(b, "http://site%u.example/d%u/%s%u", i % 9 == 0 ? i : i % 4, i / 20,
		        i % 5 == 0 ? "sub/" : i % 5 == 1 ? "" : "sub/deep/", i);
}

static void add_cycle(struct bed *b, uint64_t seed, uint32_t cycle)
{
	uint32_t n = count_pages(b->store);
	struct store_cycle row = { .number = cycle, .time = moment(cycle), .budget = BUDGET,
	                           .policy = { "x", 1 }, .pages = n };
	static const uint8_t reasons[] = { REASON_CHANCE, REASON_OLDEST, REASON_TURN };
	struct err err;

	assert_int_equal(store_begin(b->store, &err), 0);
	assert_int_equal(store_cycle_put(b->store, &row, &err), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (rng_draw(seed, cycle, i, RNG_SAMPLE) % 6)
			continue;
		if (i % 3 == 0)
			add_capture(b->store, i, moment(cycle));
		add_visit(b->store, seed, cycle, i, i % 5 == 4, reasons[i % 3]);
	}
	assert_int_equal(store_commit(b->store, &err), 0);
}

static void open_bed(struct bed *b, uint64_t seed, uint32_t cycles)
{
	struct err err;

	bed_open(b, "127.0.0.1");
	for (uint32_t i = 0; i < PAGES; i++)
		bed_add(b, "http://site%u.example/d%u/%s%u", i % 4, i / 20,
		        i % 40 == 3 ? "sub/" : "", i);
	assert_int_equal(store_begin(b->store, &err), 0);
	for (uint32_t i = 0; i < PAGES; i++) {
		add_capture(b->store, i, moment(0) - DAY_SECONDS);
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
	assert_int_equal(dry_cycle(&r, moment(o->before_cycle), BUDGET, NULL, &err), 0);
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

/* A plan without anything that was kept: files are set aside, and stay the same. */
static uint64_t full(struct bed *b, const struct resume_opts *o)
{
	static const char *const ends[] = { SNAPSHOT_END, KEPT_LINKS_END };
	char name[2][SCRATCH_PATH + 80], aside[2][SCRATCH_PATH + 80];
	struct resume_opts plain = *o;
	uint64_t hash;

	for (int i = 0; i < 2; i++) {
		snprintf(name[i], sizeof name[i], "%s%s", store_file(b->store), ends[i]);
		snprintf(aside[i], sizeof aside[i], "%s%s.aside", store_file(b->store), ends[i]);
		rename(name[i], aside[i]);
	}
	plain.snapshot = false;
	assert_int_equal(plan(b, &plain, &hash), 0);
	for (int i = 0; i < 2; i++)
		rename(aside[i], name[i]);
	return hash;
}

static struct resume_opts options(const char *policy, uint32_t before)
{
	return (struct resume_opts){ .policy = policy, .seed = 3, .cycle_seconds = DAY_SECONDS,
		.aim = AIM_FRESHNESS, .before_cycle = before, .snapshot = true };
}

/* Is what was told good for more pages?  (Others go by the number of pages, or by all.) */
static bool grows(const char *policy)
{
	return strncmp(policy, "lambda", 6) && strncmp(policy, "automaton", 9) &&
	       strncmp(policy, "evidence", 8);
}

/* Up to this cycle plans are compared; pages come before every cycle but some. */
static void compare_plans(const char *policy, uint64_t seed, uint32_t from, uint32_t cycles)
{
	struct resume_opts o = options(policy, 0);
	uint32_t kept = 0, kept_pages = 0, n_used = 0;
	uint64_t hash;
	struct bed b;

	open_bed(&b, seed, from - 1);
	for (uint32_t before = from; before <= cycles; before++) {
		bool epoch = epoch_first(before) == before;
		uint32_t thawed, pages;
		uint64_t want;

		add_pages(&b, before % 3 ? GROWTH : 0);
		pages = count_pages(b.store);
		o.before_cycle = before;
		want = full(&b, &o);
		o.snapshot = before != 5;           /* then the next one has two cycles to tell */
		thawed = plan(&b, &o, &hash);
		n_used += thawed > 0;
		if (hash != want)
			fail_msg("%s: another plan before cycle %u", policy, before);
		if (!kept || epoch || (pages != kept_pages && !grows(policy)))
			assert_int_equal(thawed, 0);
		else if (thawed != kept)
			fail_msg("%s: %u cycles kept, %u used before cycle %u", policy, kept, thawed,
			         before);
		if (o.snapshot || epoch)
			kept = o.snapshot ? before - 1 : 0;
		kept_pages = o.snapshot ? pages : kept_pages;
		add_cycle(&b, seed, before);
	}
	assert_in_range(n_used, 1, cycles);
	bed_close(&b);
}

static void plans_are_the_same(void **state)
{
	const struct policy_ops *ops = *state;

	for (uint64_t seed = 1; seed <= 2 && !ops->only_replay; seed++)
		compare_plans(ops->name, seed, 3, CYCLES);
}

static void options_have_memory_too(void **state)
{
	static const char *const specs[] = {
		"frequency:estimator=mle", "frequency:estimator=em", "automaton:unit=site",
		"automaton:kind=htraa", "neighbour:phi=weighted", "tide:nofamily=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
		compare_plans(specs[i], 3, 6, 9);
}

static void old_repositories_too(void **state)
{
	(void)state;
	compare_plans("tide", 4, LONG - 4, LONG);
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
	o.snapshot = false;
	assert_int_equal(plan(&b, &o, &hash), 5);
	assert_int_equal(hash, want);
	bytes = read_file(name, &n);
	for (int i = 0; i < 28; i++) {
		size_t at = i < 16 ? (size_t)i * 4 : (size_t)rng_below(&g, n);

		bytes[at] ^= (uint8_t)(1 << i % 8);
		write_file(name, bytes, n);
		assert_int_equal(plan(&b, &o, &hash), 0);
		assert_int_equal(hash, want);
		bytes[at] ^= (uint8_t)(1 << i % 8);
	}
	for (int i = 0; i < 12; i++) {
		write_file(name, bytes, i < 6 ? n - 1 - (size_t)i : (size_t)rng_below(&g, n));
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
	o.snapshot = false;
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
	other.n_shards = 6;
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

	assert_int_equal(store_visits_forget(b->store, &(uint32_t){ 7 }, 1, &err), 0);
}

static void change_cycle(struct bed *b)
{
	struct store_cycle row = { .number = 2, .time = moment(2) + 5, .budget = BUDGET,
	                           .policy = { "x", 1 }, .pages = PAGES };
	struct err err;

	assert_int_equal(store_cycle_put(b->store, &row, &err), 0);
}

static void another_past_is_recalled(void **state)
{
	static void (*const changes[])(struct bed *) = { import_late, tell_late, forget,
	                                                 change_cycle };

	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct resume_opts o = options("tide", 6);
		uint64_t want, hash;
		struct err err;
		struct bed b;

		open_bed(&b, 4, 6);
		plan(&b, &o, &hash);
		o.snapshot = false;
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
		cmocka_unit_test(options_have_memory_too),
		cmocka_unit_test(old_repositories_too),
	};
	const size_t n_first = 6;
	size_t n = n_first;

	for (const struct policy_ops *ops; n < 100 && (ops = policy_at(n - n_first)); n++)
		tests[n] = (struct CMUnitTest){ ops->name, plans_are_the_same, NULL, NULL,
		                                (void *)(uintptr_t)ops };
	return _cmocka_run_group_tests("snapshots", tests, n, NULL, NULL);
}
