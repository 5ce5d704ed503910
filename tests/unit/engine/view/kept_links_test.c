/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of an epoch: for repositories out of a seed, and for every cycle of theirs, the links
 * are those that a naive reading of the captures gives, whether they are read or come out of
 * the file beside the store; a file that is damaged, of another epoch or of another past is
 * not used.
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
#include "engine/view/inventory.h"
#include "engine/view/kept_links.h"
#include "../../../lib/bed.h"

#define MOST 60                 /* pages */
#define CYCLES 30
#define COPIES 400
#define NEEDS (NEED_LINKS | NEED_PAGERANK | NEED_SIZES)

/* What was written, for the naive reading. */
struct copy {
	uint32_t page, to[2];
	int64_t time, words;
	int32_t status;
	uint32_t host;                  /* of a link without one */
	bool relative;
};

struct world {
	struct bed bed;
	struct rng g;
	uint32_t n_pages, n_cycles;
	uint32_t pages[CYCLES + 2];     /* by cycle, when it began */
	struct copy copies[COPIES];
	uint32_t n_copies;
};

static int64_t moment(uint32_t cycle)
{
	return INT64_C(1700000000) + (int64_t)cycle * DAY_SECONDS;
}

static void add_pages(struct world *w, uint32_t n)
{
	for (; n && w->n_pages < MOST; n--, w->n_pages++)
		bed_add(&w->bed, "http://s%u.example/%u", w->n_pages % 3, w->n_pages);
}

static void add_copy(struct world *w, uint32_t page, int64_t time)
{
	struct copy *x = &w->copies[w->n_copies];
	struct store_capture c = { .page = page, .time = time, .length = -1, .bytes_text = -1,
		.images = -1, .tables = -1, .emails = -1, .outlinks = 2, .digest = { "x", 1 } };
	char links[100], target[40];
	struct err err;
	int rc;

	/* some links lead to pages that come later */
	*x = (struct copy){ page, { (uint32_t)rng_below(&w->g, MOST),
		(uint32_t)rng_below(&w->g, MOST) }, time, (int64_t)rng_below(&w->g, 3000),
		rng_below(&w->g, 9) ? 200 : 404, page % 3, rng_below(&w->g, 2) };
	if (rng_below(&w->g, 3) == 0) {         /* a text that many pages have */
		x->to[0] = 1;
		x->to[1] = 5;
	}
	if (rng_below(&w->g, 4) == 0) {
		x->host = (uint32_t)rng_below(&w->g, 3);
		c.target = (struct text){ target, (size_t)snprintf(target, sizeof target,
			"http://s%u.example/there", x->host) };
	}
	c.status = x->status;
	c.words = x->words;
	c.links = (struct text){ links, (size_t)(x->relative ?
		snprintf(links, sizeof links, "/%u %u", x->to[0], x->to[1]) :
		snprintf(links, sizeof links, "http://s%u.example/%u http://s%u.example/%u",
		         x->to[0] % 3, x->to[0], x->to[1] % 3, x->to[1])) };
	assert_int_equal(store_begin(w->bed.store, &err), 0);
	rc = store_capture_add(w->bed.store, &c, &err);
	assert_in_range(rc, 0, 1);
	assert_int_equal(store_commit(w->bed.store, &err), 0);
	w->n_copies += rc == 1 && w->n_copies + 1 < COPIES;
}

/* Own cycle: its row, then copies of some pages. */
static void add_cycle(struct world *w)
{
	uint32_t n = ++w->n_cycles;
	struct store_cycle row = { .number = n, .time = moment(n), .policy = { "x", 1 },
	                           .pages = w->n_pages };
	struct err err;

	assert_int_equal(store_begin(w->bed.store, &err), 0);
	assert_int_equal(store_cycle_put(w->bed.store, &row, &err), 0);
	assert_int_equal(store_commit(w->bed.store, &err), 0);
	w->pages[n] = w->n_pages;
	for (uint32_t k = 0; k < 8; k++)
		add_copy(w, (uint32_t)rng_below(&w->g, w->n_pages), moment(n) + k);
}

static void world_open(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof *w);
	bed_open(&w->bed, "127.0.0.1");
	rng_init(&w->g, seed);
	add_pages(w, 25);
	for (uint32_t i = 0; i < 20; i++)
		add_copy(w, (uint32_t)rng_below(&w->g, w->n_pages), moment(0));
}

/* ---- the naive reading ---- */

/* The first cycles of epochs, and those with which links are read again. */
static uint32_t last_of(const uint32_t *all, size_t n, uint32_t cycle)
{
	uint32_t ret = 1;

	for (size_t i = 0; i < n; i++)
		ret = all[i] <= cycle ? all[i] : ret;
	return ret;
}

struct expected { bool to[MOST][MOST]; uint8_t size[MOST]; uint32_t n; };

static void naive(const struct world *w, uint32_t cycle, struct expected *ret)
{
	static const uint32_t epochs[] = { 1, 2, 4, 8, 16, 27 }, renewed[] = { 1, 27 };
	uint32_t from = last_of(epochs, 6, cycle), again = last_of(renewed, 2, cycle);
	int64_t until = from <= w->n_cycles ? moment(from) : INT64_MAX;
	int64_t fixed = again <= w->n_cycles ? moment(again) : INT64_MAX;
	bool copied[MOST] = { 0 };

	memset(ret, 0, sizeof *ret);
	ret->n = from <= w->n_cycles ? w->pages[from] : w->n_pages;
	for (uint32_t page = 0; page < ret->n; page++) {
		const struct copy *best = NULL;

		for (uint32_t i = 0; i < w->n_copies; i++) {
			const struct copy *x = &w->copies[i];

			if (x->page != page || x->status != 200 || x->time >= until)
				continue;
			copied[page] = true;
			/* the newest before links were renewed, else the first */
			if (!best || (x->time < fixed ? best->time >= fixed || x->time > best->time :
			              best->time >= fixed && x->time < best->time))
				best = x;
		}
		for (int k = 0; best && k < 2; k++)
			if (!best->relative || best->host == best->to[k] % 3)
				ret->to[page][best->to[k]] = best->to[k] != page && best->to[k] < ret->n;
		ret->size[page] = best ? size_class(best->words, -1) : 0;
	}
	for (uint32_t page = 0; page < ret->n; page++)
		for (uint32_t to = 0; to < MOST; to++)
			ret->to[page][to] &= copied[to];
}

/* ---- comparing ---- */

static void compare(struct world *w, uint32_t before, bool cache, bool *ret_found)
{
	struct inventory_opts o = { .needs = NEEDS, .as_planned = true, .before_cycle = before,
	                            .cache = cache };
	static struct expected want;
	struct inventory v;
	double sum = 0, least = 1;
	struct err err;

	naive(w, before ? before : w->n_cycles + 1, &want);
	assert_int_equal(inventory_open(&v, w->bed.store, &o, &err), 0);
	*ret_found = v.prepared.found != 0;
	assert_int_equal(v.loaded.pages.n_settled, want.n);
	for (uint32_t i = 0; i < w->n_pages; i++) {
		uint64_t n, n_want = 0;
		const uint32_t *to = graph_links(&v.prepared.links, i, &n);

		for (uint32_t k = 0; k < MOST; k++)
			n_want += want.to[i][k];
		assert_int_equal(n, n_want);
		for (uint64_t k = 0; k < n; k++)
			assert_true(want.to[i][to[k]]);
		assert_int_equal(v.prepared.size[i], want.size[i]);
		if (i < want.n) {
			sum += v.prepared.pagerank[i];
			least = fmin(least, v.prepared.pagerank[i]);
		} else {
			assert_true(v.prepared.pagerank[i] >= least && v.prepared.pagerank[i] <= least);
		}
	}
	assert_true(fabs(sum - 1) < 1e-6);
	inventory_release(&v);
}

static void links_are_those_of_the_epoch(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		static struct world w;
		uint32_t n_found = 0;

		world_open(&w, seed);
		for (uint32_t c = 1; c <= CYCLES; c++) {
			static const uint32_t epochs[] = { 1, 2, 4, 8, 16, 27 };
			bool found;

			add_pages(&w, (uint32_t)rng_below(&w.g, 3));
			compare(&w, 0, false, &found);          /* a look ahead */
			add_cycle(&w);
			compare(&w, c, true, &found);           /* the cycle goes on after a crash */
			n_found += found;
			assert_int_equal(found, last_of(epochs, 6, c) != c);
			compare(&w, c, true, &found);
			assert_true(found);
			compare(&w, 1 + (uint32_t)rng_below(&w.g, c), false, &found);   /* back */
		}
		assert_int_equal(n_found, CYCLES - 6);
		bed_close(&w.bed);
	}
}

/* ---- files that must not be used ---- */

static void name_of(const struct world *w, char ret[SCRATCH_PATH + 80])
{
	snprintf(ret, SCRATCH_PATH + 80, "%s" KEPT_LINKS_END, store_file(w->bed.store));
}

static void flip(const char *name, off_t at, int bit)
{
	FILE *f = fopen(name, "r+b");
	int c;

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	c = fgetc(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	fputc(c ^ 1 << bit, f);
	fclose(f);
}

static void damaged_ones_are_not_used(void **state)
{
	static struct world w;
	char name[SCRATCH_PATH + 80];
	struct stat st;
	bool found;

	(void)state;
	world_open(&w, 9);
	for (int c = 1; c <= 5; c++)
		add_cycle(&w);
	name_of(&w, name);
	compare(&w, 5, true, &found);
	assert_int_equal(stat(name, &st), 0);
	for (int i = 0; i < 120; i++) {
		off_t at = i < 24 ? i * 3 : (off_t)rng_below(&w.g, (uint64_t)st.st_size);

		flip(name, at, i % 8);
		compare(&w, 5, false, &found);
		assert_false(found);
		flip(name, at, i % 8);
	}
	compare(&w, 5, false, &found);
	assert_true(found);
	for (int i = 1; i < 20; i++) {
		assert_int_equal(truncate(name, st.st_size - i * st.st_size / 20), 0);
		compare(&w, 5, false, &found);
		assert_false(found);
	}
	compare(&w, 5, true, &found);                   /* made anew */
	compare(&w, 5, true, &found);
	assert_true(found);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(symlink("/etc/passwd", name), 0);
	compare(&w, 5, false, &found);
	assert_false(found);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkdir(name, 0700), 0);         /* the name is taken */
	compare(&w, 5, true, &found);
	compare(&w, 5, true, &found);
	assert_false(found);
	assert_int_equal(rmdir(name), 0);
	bed_close(&w.bed);
}

/* Copies of earlier times come: whoever writes them raises the past. */
static void another_past_is_read(void **state)
{
	static struct world w;
	struct err err;
	bool found;

	(void)state;
	world_open(&w, 10);
	for (int c = 1; c <= 5; c++)
		add_cycle(&w);
	compare(&w, 5, true, &found);
	compare(&w, 5, true, &found);
	assert_true(found);
	for (uint32_t i = 0; i < 120; i++)
		add_copy(&w, (uint32_t)rng_below(&w.g, 10),
		         moment((uint32_t)rng_below(&w.g, 3)) + 100 + (int64_t)rng_below(&w.g, 1000));
	assert_int_equal(store_begin(w.bed.store, &err), 0);
	assert_int_equal(store_past_raise(w.bed.store, &err), 0);
	assert_int_equal(store_commit(w.bed.store, &err), 0);
	compare(&w, 5, true, &found);
	assert_false(found);
	compare(&w, 5, true, &found);
	assert_true(found);
	bed_close(&w.bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_those_of_the_epoch),
		cmocka_unit_test(damaged_ones_are_not_used),
		cmocka_unit_test(another_past_is_read),
	};

	return cmocka_run_group_tests_name("kept links", tests, NULL, NULL);
}
