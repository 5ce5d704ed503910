/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that always fail, through HTTP: 1,000 pages on 8 hosts.
 *
 * Two trials of version 0.1.0, which spent its cycles on them: 30 % of the pages answer 403,
 * and 100 requests are made a cycle; 4.3 % answer 500, and 20 are made.  The first cycle
 * asks for everything, so each of them has failed once.  From then on `auto`, `oldest`,
 * `nutch` and `frequency` must find 90 % of the changes that they find when those pages are
 * not there.
 *
 * Plain only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "demo/origin.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define START 1700000000
#define HOSTS 8
#define DIRS 5
#define PAGES 1000

struct trial {
	double share;                   /* of the pages fail, */
	int status;                     /* with this, */
	uint32_t budget, cycles;
	bool only_living;               /* and are not there */
	int64_t now;
	struct origin *origin;
	struct bed bed;
	uint32_t changed, failed;
};

static bool fails(const struct trial *t, uint32_t page)
{
	return rng_unit(rng_draw(11, 0, page, RNG_USER)) < t->share;
}

static uint32_t version(uint32_t page, int64_t now)
{
	double u = rng_unit(rng_draw(12, 0, page, RNG_USER)), pace = 0.3 * u * u * u;
	uint32_t n = 0;

	for (int64_t day = 1; day <= (now - START) / DAY; day++)
		n += rng_unit(rng_draw(13, (uint64_t)day, page, RNG_USER)) < pace;
	return n;
}

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct trial *t = arg;
	uint32_t page = 0;

	if (sscanf(q->path, "/d%*u/p%u", &page) != 1 || page >= PAGES) {
		r->status = 404;
		return;
	}
	if (fails(t, page)) {
		r->status = t->status;
		return;
	}
	buf_str(&r->headers, "Content-Type: text/html\n");
	buf_printf(&r->body, "<html><body><p>page %u version %u</p></body></html>", page,
	           version(page, t->now));
}

static struct crawl_report cycle(struct trial *t, const char *policy, struct share budget)
{
	t->bed.opts.policy = policy;
	t->bed.opts.budget = budget;
	t->bed.opts.now = t->now;
	return bed_cycle(&t->bed);
}

/* Returns how many of all pages fail. */
static uint32_t add_pages(struct trial *t)
{
	uint32_t n = 0, number;
	struct err err;
	char url[80];

	assert_int_equal(store_begin(t->bed.store, &err), 0);
	for (uint32_t i = 0; i < PAGES; i++) {
		n += fails(t, i);
		if (t->only_living && fails(t, i))
			continue;
		snprintf(url, sizeof url, "http://127.0.9.%u:%u/d%u/p%u", i % HOSTS + 1,
		         origin_port(t->origin), i / HOSTS % DIRS, i);
		assert_int_equal(store_page_add(t->bed.store, (struct text){ url, strlen(url) }, 1,
		                                &number, &err), 1);
	}
	assert_int_equal(store_commit(t->bed.store, &err), 0);
	return n;
}

static void run(struct trial *t, const char *policy)
{
	struct crawl_report r;
	uint32_t n_failing;

	t->now = START;
	t->origin = origin_start(answer, t);
	bed_open(&t->bed, "127.0.9.0/24");
	t->bed.opts.fetch.ignore_robots = true;
	n_failing = add_pages(t);
	r = cycle(t, "random", (struct share){ 100, true });
	assert_int_equal(r.cycle.fresh, PAGES - n_failing);
	assert_int_equal(r.cycle.failed, t->only_living ? 0 : n_failing);
	for (uint32_t c = 1; c <= t->cycles; c++) {
		t->now += DAY;
		r = cycle(t, policy, (struct share){ t->budget, false });
		assert_int_equal(r.cycle.downloads, t->budget);
		/* --retry-share, 5 % of the requests */
		assert_true(r.cycle.failed <= (t->budget + 19) / 20);
		t->changed += r.cycle.changed;
		t->failed += r.cycle.failed;
	}
	bed_close(&t->bed);
	origin_stop(t->origin);
}

static void compare(double share, int status, uint32_t budget, uint32_t cycles)
{
	static const char *const policies[] = { "auto", "oldest", "nutch", "frequency" };

	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		struct trial with = { .share = share, .status = status, .budget = budget,
		                      .cycles = cycles }, without = with;

		without.only_living = true;
		run(&with, policies[i]);
		run(&without, policies[i]);
		print_message("%s: %u changes found, %u without the pages that fail; %u of %u requests "
		              "failed\n", policies[i], with.changed, without.changed, with.failed,
		              budget * cycles);
		assert_true(without.changed > budget * cycles / 10);
		assert_true(with.changed >= 0.9 * without.changed);
	}
}

static void many_pages_are_forbidden(void **state)
{
	(void)state;
	compare(0.3, 403, 100, 16);
}

static void few_pages_fail_and_the_budget_is_small(void **state)
{
	(void)state;
	compare(0.043, 500, 20, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_pages_are_forbidden),
		cmocka_unit_test(few_pages_fail_and_the_budget_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
