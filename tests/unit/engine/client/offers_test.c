/* SPDX-License-Identifier: Apache-2.0 */
/* What an offer says of its page: the URL as given, and what we know of robots.txt. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../../lib/client_desk.h"
#include "base/io/squeeze.h"

#define READ (DESK_NOW - 3600)

static const char rules[] = "User-agent: *\nDisallow: /d1/\nCrawl-delay: 7\n\n"
                            "User-agent: shy\nDisallow: /\nAllow: /d2/\n";

static void put(struct client_desk *d, const char *origin, const struct store_robots *r)
{
	struct store_robots row = *r;

	row.origin = (struct text){ origin, strlen(origin) };
	assert_int_equal(store_robots_put(d->store[0], &row, 1, &d->err), 0);
}

/* Hosts 0 to 5: rules as they are and compressed, none, a damaged copy, one of the future,
 * one that could never be read. */
static void put_all(struct client_desk *d)
{
	struct buf packed;
	struct text plain = { rules, sizeof rules - 1 };

	buf_init(&packed, BUF_NO_LIMIT);
	squeeze(&packed, rules, sizeof rules - 1);
	put(d, "http://h0.example", &(struct store_robots){ .time = READ, .tried = READ,
	                                                    .status = 200, .body = plain });
	put(d, "http://h1.example", &(struct store_robots){ .time = READ, .tried = READ,
	    .status = 200, .body = { packed.data, packed.size } });
	put(d, "http://h2.example", &(struct store_robots){ .time = READ, .tried = READ,
	                                                    .status = 404, .body = plain });
	put(d, "http://h3.example", &(struct store_robots){ .time = READ, .tried = READ,
	    .status = 200, .body = { packed.data, packed.size / 2 } });
	put(d, "http://h4.example", &(struct store_robots){ .time = DESK_NOW + 1,
	    .tried = DESK_NOW + 1, .status = 200, .body = plain });
	put(d, "http://h5.example", &(struct store_robots){ .tried = READ, .failing = READ });
	buf_release(&packed);
}

/* By hand, from the rules above: NULL is "not known". */
static const char *verdict(uint32_t page, bool shy)
{
	uint32_t host = page % 9, folder = page / 10 % 4;

	if (host > 2)
		return NULL;
	if (host == 2)
		return "allowed";
	return (shy ? folder != 2 : folder == 1) ? "forbidden" : "allowed";
}

static void test_robots(void **state)
{
	static const char *const agents[] = { NULL, "shy", "Shy", "other" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct client_asking a = { .want = 1000, .now = DESK_NOW, .agent = agents[i] };
		bool shy = i == 1 || i == 2;
		struct client_desk d;
		struct client_asked got;
		uint32_t n_known = 0;

		desk_open(&d, "oldest");
		d.opts.budget.value = DESK_PAGES;
		desk_kill(&d);
		put_all(&d);
		got = desk_ask(&d, &a);
		assert_int_equal(got.n, DESK_PAGES);
		for (size_t k = 0; k < got.n; k++) {
			const struct client_offer *o = &got.offers[k];
			uint32_t page = desk_page(o->url);
			const char *want = verdict(page, shy);

			assert_int_equal(!want, !o->robots);
			if (want)
				assert_string_equal(o->robots, want);
			assert_int_equal(o->robots_read, want ? READ : 0);
			if (page % 9 < 2 && !shy)
				assert_true(o->crawl_delay >= 7 && o->crawl_delay <= 7);
			else
				assert_true(isnan(o->crawl_delay));
			n_known += want != NULL;
		}
		assert_int_equal(n_known, 42);          /* of pages 0 to 119: 14 a host, 3 hosts */
		desk_close(&d);
	}
}

/* A page that is told by its URL keeps what was told; others have the canonical one. */
static void test_given(void **state)
{
	struct client_asking a = { .name = "alpha", .want = 1000, .now = DESK_NOW + 10 };
	struct told t = desk_told();
	struct client_desk d;
	struct client_asked got;
	bool seen = false;

	(void)state;
	desk_open(&d, "oldest");
	d.opts.budget.value = 500;
	desk_kill(&d);
	desk_text(&t.url, desk_url(7));
	desk_text(&t.given, "HTTP://H7.example/x/../d0/p7#top");
	t.outcome = OUTCOME_SAME;
	assert_int_equal(desk_tell(&d, &t, DESK_NOW).n_lines, 1);
	for (int again = 0; again < 2; again++) {
		got = desk_ask(&d, &a);
		assert_int_equal(got.n, DESK_PAGES);
		for (size_t k = 0; k < got.n; k++) {
			bool it = desk_page(got.offers[k].url) == 7;

			assert_string_equal(got.offers[k].given, it ? "HTTP://H7.example/x/../d0/p7#top" :
			                    got.offers[k].url);
			seen |= it;
		}
		assert_true(seen);
		desk_kill(&d);
	}
	desk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_robots),
		cmocka_unit_test(test_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
