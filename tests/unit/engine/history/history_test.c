/* SPDX-License-Identifier: Apache-2.0 */
/* Histories built from records in any order, against a naive list of records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "../../../lib/trace.h"

#define RECORDS 600
#define URLS 25

struct plain { int url; double day; int status; int content; };

static const char *const contents[] = { "one", "two", "three" };

static bool says_something(const struct plain *p)
{
	return (p->status >= 200 && p->status <= 399 && p->status != 304) ||
	       p->status == 404 || p->status == 410;
}

static bool is_gone(const struct plain *p)
{
	return p->status == 404 || p->status == 410;
}

static void url_of(int i, char out[60])
{
	snprintf(out, 60, "http://h%d.example/d%d/p%d", i % 3, i % 5, i);
}

/* Times differ by at least a minute, so that the nearest is never a tie. */
static void make_records(struct plain *all, uint64_t seed)
{
	static const int statuses[] = { 200, 200, 200, 200, 301, 404, 410, 500, 304, 403 };
	struct rng r;

	rng_init(&r, seed);
	for (int i = 0; i < RECORDS; i++)
		all[i] = (struct plain){ (int)rng_below(&r, URLS), i / 1440.0 + (double)
		                         rng_below(&r, 100), statuses[rng_below(&r, 10)],
		                         (int)rng_below(&r, 3) };
	for (size_t i = RECORDS; i > 1; i--) {
		size_t j = (size_t)rng_below(&r, i);
		struct plain t = all[i - 1];

		all[i - 1] = all[j];
		all[j] = t;
	}
}

static void build(struct history *h, const struct plain *all)
{
	struct err err;

	history_init(h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	for (int i = 0; i < RECORDS; i++) {
		char url[60];

		url_of(all[i].url, url);
		trace_add_status(h, url, all[i].day, all[i].status, contents[all[i].content], NULL);
	}
	assert_int_equal(history_finish(h, &err), 0);
}

static bool is_redirect(const struct plain *p)
{
	return p->status / 100 == 3;
}

static const struct plain *naive_at(const struct plain *all, int url, double day, bool nearest)
{
	const struct plain *before = NULL, *after = NULL;

	for (int i = 0; i < RECORDS; i++) {
		if (all[i].url != url || !says_something(&all[i]))
			continue;
		if (all[i].day <= day && (!before || all[i].day > before->day))
			before = &all[i];
		if (all[i].day > day && (!after || all[i].day < after->day))
			after = &all[i];
	}
	if (nearest && before && after && after->day - day < day - before->day)
		return after;
	return before;
}

static void finds_what_a_search_finds(void **state)
{
	static struct plain all[RECORDS];
	struct history h;

	(void)state;
	make_records(all, 5);
	build(&h, all);
	for (int url = 0; url < URLS; url++) {
		char text[60];
		uint32_t page;
		int64_t last = -1;
		const struct plain *last_plain = NULL;

		url_of(url, text);
		page = trace_page(&h, text);
		for (int k = 0; k < 2 * 110; k++) {
			double day = k / 2 - 3 + 0.37;
			const struct plain *p = naive_at(all, url, day, k & 1);
			int64_t at = history_at(&h, page, TRACE_START + (int64_t)(day * DAY_SECONDS),
			                        k & 1);

			if (!p) {
				assert_int_equal(at, -1);
				continue;
			}
			assert_true(at >= 0);
			assert_int_equal(h.captures.v[at].time,
			                 TRACE_START + (int64_t)(p->day * DAY_SECONDS));
			assert_int_equal(h.captures.v[at].gone, is_gone(p));
			if (last_plain) {
				bool same = is_gone(p) || is_gone(last_plain) ?
				            is_gone(p) == is_gone(last_plain) :
				            p->content == last_plain->content &&
				            is_redirect(p) == is_redirect(last_plain);

				assert_int_equal(history_same(&h, (uint64_t)at, (uint64_t)last), same);
			}
			last = at;
			last_plain = p;
		}
	}
	history_release(&h);
}

static void order_of_input_does_not_matter(void **state)
{
	static struct plain all[RECORDS], turned[RECORDS];
	struct history a, b;

	(void)state;
	make_records(all, 9);
	for (int i = 0; i < RECORDS; i++)
		turned[i] = all[RECORDS - 1 - i];
	build(&a, all);
	build(&b, turned);
	assert_int_equal(a.captures.n, b.captures.n);
	assert_int_equal(a.n_pages, b.n_pages);
	for (uint32_t i = 0; i < a.n_pages; i++) {
		assert_string_equal(strtab_get(&a.urls, i), strtab_get(&b.urls, i));
		assert_int_equal(a.first[i + 1], b.first[i + 1]);
	}
	for (size_t i = 0; i < a.captures.n; i++) {
		assert_int_equal(a.captures.v[i].time, b.captures.v[i].time);
		assert_int_equal(a.captures.v[i].key, b.captures.v[i].key);
	}
	history_release(&a);
	history_release(&b);
}

static void links_belong_to_their_capture(void **state)
{
	struct history h;
	struct err err;
	const uint32_t *to;
	size_t n;

	(void)state;
	history_init(&h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	trace_add(&h, "http://a.example/x/p", 1, "2", "q http://b.example/");
	trace_add(&h, "http://a.example/x/p", 0, "1", "/x/q /nowhere /x/p");
	trace_add(&h, "http://a.example/x/q", 0, "1", "");
	trace_add(&h, "http://b.example/", 0, "1", NULL);
	assert_int_equal(history_finish(&h, &err), 0);
	assert_int_equal(h.n_pages, 3);
	to = history_links(&h, (uint64_t)history_at(&h, trace_page(&h, "http://a.example/x/p"),
	                                            TRACE_START, false), &n);
	assert_int_equal(n, 2);                 /* /nowhere has no capture */
	assert_int_equal(to[0], trace_page(&h, "http://a.example/x/q"));
	assert_int_equal(to[1], trace_page(&h, "http://a.example/x/p"));
	to = history_links(&h, (uint64_t)history_at(&h, trace_page(&h, "http://a.example/x/p"),
	                                            TRACE_START + DAY_SECONDS, false), &n);
	assert_int_equal(n, 2);
	assert_int_equal(to[0], trace_page(&h, "http://a.example/x/q"));
	assert_int_equal(to[1], trace_page(&h, "http://b.example/"));
	history_links(&h, (uint64_t)history_at(&h, trace_page(&h, "http://b.example/"),
	                                       TRACE_START, false), &n);
	assert_int_equal(n, 0);
	history_release(&h);
}

static void detectors_compare_what_they_say(void **state)
{
	static const struct { const char *name; bool same[3]; } cases[] = {
		/* against the first: other bytes; other bytes and text; all other */
		{ "bytes", { false, false, false } },
		{ "text", { true, false, false } },
		{ "tags", { true, true, false } },
		{ "near:3", { true, true, false } },
		{ "near:2", { true, false, false } },
	};
	struct err err;

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		static const char *const bytes[] = { "b0", "b1", "b2", "b3" };
		static const char *const text[] = { "t0", "t0", "t1", "t2" };
		static const char *const tags[] = { "g0", "g0", "g0", "g1" };
		static const uint64_t simhash[] = { 0, 3, 0x700, UINT64_MAX };
		struct detector d;
		struct history h;

		assert_int_equal(detector_parse(&d, cases[k].name, &err), 0);
		history_init(&h, d, 0);
		for (int i = 0; i < 4; i++) {
			struct record r = { .status = 200, .time = TRACE_START + i,
				.url = { "http://a.example/", 17 }, .digest = { bytes[i], 2 },
				.prose = { text[i], 2 }, .tags = { tags[i], 2 },
				.has_simhash = true, .simhash = simhash[i] };

			assert_int_equal(history_add(&h, &r, &err), 0);
		}
		assert_int_equal(history_finish(&h, &err), 0);
		for (uint64_t i = 1; i < 4; i++)
			assert_int_equal(history_same(&h, 0, i), cases[k].same[i - 1]);
		history_release(&h);
	}
	for (const char *bad = "near:\0near:65\0near:x\0byte\0\0"; *bad; bad += strlen(bad) + 1) {
		struct detector d;

		assert_int_equal(detector_parse(&d, bad, &err), E_USAGE);
	}
}

static void what_has_no_digest_is_counted(void **state)
{
	struct history h;
	struct err err;

	(void)state;
	history_init(&h, (struct detector){ .kind = DETECT_TAGS }, 0);
	trace_add(&h, "http://a.example/", 0, "1", NULL);
	assert_int_equal(h.n_no_key, 1);
	assert_int_equal(history_finish(&h, &err), E_USAGE);
	history_release(&h);
	history_init(&h, (struct detector){ .kind = DETECT_BYTES }, 0);
	assert_int_equal(history_finish(&h, &err), E_PARSE);
	history_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_a_search_finds),
		cmocka_unit_test(order_of_input_does_not_matter),
		cmocka_unit_test(links_belong_to_their_capture),
		cmocka_unit_test(detectors_compare_what_they_say),
		cmocka_unit_test(what_has_no_digest_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
