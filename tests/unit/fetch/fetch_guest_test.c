/* SPDX-License-Identifier: Apache-2.0 */
/* What others see of us when a site plays with names, ports and redirects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../lib/origin_client.h"
#include "../../lib/origin_tape.h"
#include "fetch/wire.h"

/* ---- the pace of an address that is not the first ---- */

#define HOSTS 24
#define PACE 0.05               /* seconds */

struct victim { double times[2 * HOSTS]; size_t n; };

static void victim_answer(void *arg, const char *path, const char *request, struct buf *head,
                          struct buf *body)
{
	struct victim *v = arg;

	(void)path;
	(void)request;
	if (v->n < 2 * HOSTS)
		v->times[v->n++] = wire_now();
	buf_str(head, "HTTP/1.1 200 OK\r\nConnection: close\r\n");
	buf_str(body, "page");
}

static void set_v4(struct sockaddr_storage *a, const char *text)
{
	struct sockaddr_in *s = (void *)a;

	memset(a, 0, sizeof *a);
	s->sin_family = AF_INET;
	inet_pton(AF_INET, text, &s->sin_addr);
}

/* h7.test: first 127.0.7.7, where nobody listens, then the victim. */
static int two_addresses(void *arg, const char *host, struct sockaddr_storage *ret)
{
	char dead[32];
	unsigned i;

	(void)arg;
	if (sscanf(host, "h%u.test", &i) != 1)
		return -1;
	snprintf(dead, sizeof dead, "127.0.7.%u", i + 1);
	set_v4(&ret[0], dead);
	set_v4(&ret[1], "127.0.0.1");
	return 2;
}

/* Many names with a dead first address share the second: it sees its own pace. */
static void test_pace_of_the_second_address(void **state)
{
	struct victim v = { .n = 0 };
	struct origin_tape *tape = origin_tape_start(victim_answer, &v);
	const struct fetch_result *r;
	struct visitor b;

	(void)state;
	visitor_init(&b, NULL, NULL);
	b.opt.ignore_robots = true;
	b.opt.resolve = two_addresses;
	b.opt.polite.address_delay = PACE;
	visitor_go(&b);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < HOSTS; i++)
			visitor_ask(&b, "http://h%u.test:%u/%d", i, origin_tape_port(tape), round);
	for (unsigned i = 0; i < 2 * HOSTS; i++) {
		r = visitor_take(&b);
		if (r->error != FETCH_OK)
			fail_msg("%s: %s %s", r->url, fetch_error_name(r->error), r->why);
		assert_string_equal(r->ip, "127.0.0.1");
		assert_int_equal(r->requests, 1);
	}
	visitor_release(&b);
	origin_tape_stop(tape);
	assert_int_equal(v.n, 2 * HOSTS);
	/* The starts lie PACE apart; arrivals may be held up by a busy machine, so over
	 * all of them half of that will do.  Without the pace it is a few milliseconds. */
	if (v.times[v.n - 1] - v.times[0] < (2 * HOSTS - 1) * PACE / 2)
		fail_msg("%d requests in %.3f s", 2 * HOSTS, v.times[v.n - 1] - v.times[0]);
}

/* ---- names whose servers say nothing ---- */

#define SLOW 8                          /* redirects to such names: as many as threads */

static int silent_names(void *arg, const char *host, struct sockaddr_storage *ret)
{
	(void)arg;
	if (strstr(host, "slow.test"))
		usleep(1800 * 1000);
	set_v4(&ret[0], "127.0.0.1");
	return strstr(host, "slow.test") ? -1 : 1;
}

static void silent_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	(void)arg;
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strncmp(q->path, "/to-", 4)) {
		r->status = 302;
		buf_printf(&r->headers, "Location: http://%s/\n", q->path + 4);
	} else {
		buf_str(&r->body, "page");
	}
}

/* A site that redirects to ever new names, which take long to be told unknown, does not hold up
 * the names of pages. */
static void test_slow_names(void **state)
{
	const struct fetch_result *r;
	double began, last = 0;
	unsigned n = 0;
	struct visitor b;

	(void)state;
	visitor_init(&b, silent_answer, NULL);
	b.opt.resolve = silent_names;
	b.opt.polite.host_connections = 64;
	visitor_go(&b);
	for (unsigned i = 0; i < SLOW; i++)
		visitor_ask(&b, "http://evil.test:%u/to-n%u.slow.test:81", origin_port(b.origin), i);
	/* one name that a page wants, too, stands behind all those */
	visitor_ask(&b, "http://evil.test:%u/to-good7.test:%u", origin_port(b.origin),
	            origin_port(b.origin));
	assert_int_equal(fetch_next(b.fetch, 0.3, &r), FETCH_LATER);
	began = wire_now();
	for (unsigned i = 0; i < 10; i++)
		visitor_ask(&b, "http://good%u.test:%u/", i, origin_port(b.origin));
	while (fetch_next(b.fetch, 20, &r) == FETCH_GOT) {
		if (!strstr(r->url, "//good"))
			continue;
		assert_int_equal(r->error, FETCH_OK);
		last = wire_now() - began;
		n++;
	}
	assert_int_equal(n, 10 + 1);
	print_message("10 names of pages beside %d slow ones: %.2f s\n", SLOW, last);
	assert_true(last < 1);         /* else it is 1.5 s at least */
	visitor_release(&b);
}

/* ---- failures that others cause ---- */

static void framing_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	(void)arg;
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strncmp(q->path, "/to-", 4)) {
		r->status = 302;
		buf_printf(&r->headers, "Location: http://victim.test:%s/\n", q->path + 4);
	} else {
		buf_str(&r->body, "page");
	}
}

/* A site that sends us to closed ports of another does not have us leave that one alone; and it
 * is not believed for long. */
static void test_framed(void **state)
{
	static const int closed[] = { 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 24 };
	const unsigned n = sizeof closed / sizeof *closed;
	const struct fetch_result *r;
	unsigned unwelcome = 0;
	struct visitor b;

	(void)state;
	visitor_init(&b, framing_answer, NULL);
	b.opt.resolve = silent_names;
	b.opt.polite.max_wait = 30;
	visitor_go(&b);
	for (unsigned i = 0; i < n; i++)
		visitor_ask(&b, "http://evil.test:%u/to-%d", origin_port(b.origin), closed[i]);
	for (unsigned i = 0; i < n; i++) {
		r = visitor_take(&b);
		assert_true(r->error == FETCH_CONNECT || r->error == FETCH_BACKOFF);
		unwelcome += r->error == FETCH_BACKOFF;
	}
	assert_true(unwelcome >= n - b.opt.polite.failure_limit);
	for (unsigned i = 0; i < 3; i++) {
		visitor_ask(&b, "http://victim.test:%u/%u", origin_port(b.origin), i);
		assert_int_equal(visitor_take(&b)->error, FETCH_OK);
	}
	/* its own failures are its own */
	for (unsigned i = 0; i < n; i++)
		visitor_ask(&b, "http://victim.test:%d/", closed[i]);
	for (unsigned i = 0; i < n; i++)
		r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_BACKOFF);
	visitor_release(&b);
}

/* Nor do those whom others send stand before its own pages. */
static void test_guests_queue(void **state)
{
	unsigned own = 0, guests = 0, between = 0;
	const struct fetch_result *r;
	struct visitor b;

	(void)state;
	visitor_init(&b, framing_answer, NULL);
	b.opt.resolve = silent_names;
	b.opt.polite.delay = PACE;
	visitor_go(&b);
	for (unsigned i = 0; i < 60; i++)
		visitor_ask(&b, "http://evil%u.test:%u/to-%u/%u", i % 4, origin_port(b.origin),
		            origin_port(b.origin), i);
	for (unsigned i = 0; i < 10; i++)
		visitor_ask(&b, "http://victim.test:%u/%u", origin_port(b.origin), i);
	while (own + guests < 70) {
		r = visitor_take(&b);
		assert_int_equal(r->error, FETCH_OK);
		own += r->n_hops == 0;
		guests += r->n_hops > 0;
		between = own == 10 && !between ? guests : between;
	}
	assert_true(between < 30);
	visitor_release(&b);
}

/* ---- ports ---- */

static void port_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	(void)arg;
	if (!strcmp(q->path, "/robots.txt") && !strcmp(q->host, "127.0.3.2")) {
		r->status = 302;
		buf_str(&r->headers, "Location: http://127.0.3.1:25/robots.txt\n");
	} else if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else {
		r->status = 302;
		buf_str(&r->headers, "Location: http://127.0.3.1:22/\n");
	}
}


static void test_ports_of_other_protocols(void **state)
{
	static const struct { const char *url; int hops, requests; } cases[] = {
		{ "http://127.0.3.1:22/", 0, 0 }, { "https://127.0.3.1:25/", 0, 0 },
		{ "http://www.example.org:6667/x", 0, 0 },
		{ "http://127.0.3.1:%u/away", 1, 1 },
		{ "http://127.0.3.2:%u/closed-by-robots", 0, 0 },
	};
	const struct fetch_result *r;
	struct fetch_stats stats;
	struct visitor b;

	(void)state;
	visitor_init(&b, port_answer, NULL);
	visitor_go(&b);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char url[128];

		snprintf(url, sizeof url, cases[i].url, origin_port(b.origin));
		visitor_ask(&b, "%s", url);
		r = visitor_take(&b);
		if (r->error != FETCH_PORT || !strstr(r->why, "port 2") == (i != 2) ||
		    (int)r->n_hops != cases[i].hops || (int)r->requests != cases[i].requests)
			fail_msg("%s: %s %s", url, fetch_error_name(r->error), r->why);
	}
	fetch_stats(b.fetch, &stats);
	assert_int_equal(stats.requests, 1);
	assert_int_equal(visitor_count(&b, NULL, NULL), 3);      /* and two robots.txt */
	visitor_release(&b);
}

/* ---- a Crawl-delay that we would not keep ---- */

static void slow_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	unsigned host = 0;

	sscanf(q->host, "127.0.3.%u", &host);
	if (!strcmp(q->path, "/robots.txt"))
		buf_printf(&r->body, "User-agent: *\nCrawl-delay: 0.%u\n", host);
	else if (!strcmp(q->path, "/away")) {
		r->status = 302;
		buf_printf(&r->headers, "Location: http://127.0.3.2:%u/\n", *(unsigned *)arg);
	}
}

static void test_crawl_delay_too_long(void **state)
{
	static const enum fetch_error want[] = { FETCH_OK, FETCH_CRAWL_DELAY, FETCH_CRAWL_DELAY };
	static const char *const paths[] = { "1:%u/", "2:%u/", "1:%u/away" };
	const struct fetch_result *r;
	struct visitor b;
	unsigned port;

	(void)state;
	visitor_init(&b, slow_answer, &port);
	port = origin_port(b.origin);
	b.opt.polite.max_crawl_delay = 0.15;
	visitor_go(&b);
	for (int i = 0; i < 3; i++) {
		char url[64], rest[32];

		snprintf(rest, sizeof rest, paths[i], port);
		snprintf(url, sizeof url, "http://127.0.3.%s", rest);
		visitor_ask(&b, "%s", url);
		r = visitor_take(&b);
		assert_int_equal(r->error, want[i]);
		assert_int_equal(r->n_hops, i == 2);
		if (i)
			assert_non_null(strstr(r->why, "Crawl-delay: 0.2 is more than the 0.15 s"));
		if (i < 2)
			assert_int_equal(fetch_allows(b.fetch, url, strlen(url)), i == 0);
	}
	assert_int_equal(visitor_count(&b, "127.0.3.2", "/"), 0);
	fetch_free(b.fetch);
	/* Who is slower by his own choice keeps it. */
	b.opt.polite.delay = 0.25;
	visitor_go(&b);
	visitor_ask(&b, "http://127.0.3.2:%u/", port);
	assert_int_equal(visitor_take(&b)->error, FETCH_OK);
	visitor_release(&b);
}

/* ---- robots.txt of where redirects lead ---- */

#define PAGES 30
#define BUDGET 310              /* all of it would take 11 requests a page */

struct purse { unsigned left, port; };

/* The first of each page is paid by the tests. */
static bool spend(void *arg, uint32_t page, uint32_t site, enum fetch_spend what)
{
	struct purse *p = arg;

	(void)page;
	(void)site;
	if (what != FETCH_MORE)
		return true;
	if (!p->left)
		return false;
	p->left--;
	return true;
}

/* Page i of one site goes through ever new hosts and ends at one victim. */
static void chain_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct purse *p = arg;
	unsigned page, hop;

	if (sscanf(q->path, "/p%u-%u", &page, &hop) != 2)
		return;                 /* an empty robots.txt */
	if (hop == 5)
		return;
	r->status = 302;
	if (hop == 4)
		buf_printf(&r->headers, "Location: http://127.0.8.%u:%u/p%u-5\n", page + 1, p->port,
		           page);
	else
		buf_printf(&r->headers, "Location: http://127.%u.%u.1:%u/p%u-%u\n", 10 + hop, page,
		           p->port, page, hop + 1);
}

/* All that one site makes us ask is in the budget, but for its own robots.txt. */
static void test_robots_of_redirects_are_budgeted(void **state)
{
	unsigned ok = 0, paid = 0, requests = 0;
	struct purse purse = { .left = BUDGET };
	const struct fetch_result *r;
	struct fetch_stats stats;
	struct visitor b;

	(void)state;
	visitor_init(&b, chain_answer, &purse);
	purse.port = origin_port(b.origin);
	b.opt.spend = spend;
	b.opt.arg = &purse;
	visitor_go(&b);
	for (unsigned i = 0; i < PAGES; i++) {
		assert_true(spend(&purse, i, 0, FETCH_MORE));
		visitor_ask(&b, "http://127.0.4.1:%u/p%u-0", purse.port, i);
	}
	for (unsigned i = 0; i < PAGES; i++) {
		r = visitor_take(&b);
		assert_true(r->error == FETCH_OK || r->error == FETCH_BUDGET);
		ok += r->error == FETCH_OK;
		requests += r->requests;
		paid += r->robots;
		if (r->error == FETCH_OK)
			assert_true(r->requests == 6 && r->robots == 5);
	}
	fetch_stats(b.fetch, &stats);
	assert_int_equal(purse.left, 0);
	assert_true(ok > 0 && ok < PAGES);
	assert_int_equal(stats.robots_requests, 1);
	assert_int_equal(stats.robots_budgeted, paid);
	/* the server's own count: the budget, and the site's robots.txt */
	assert_in_range(visitor_count(&b, NULL, NULL), requests + paid + 1, BUDGET + 1);
	assert_int_equal(visitor_count(&b, NULL, "/robots.txt"), paid + 1);
	visitor_release(&b);
}

static void moved_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct purse *p = arg;

	if (strcmp(q->path, "/robots.txt"))
		return;
	r->status = strstr(q->host, "from") ? 301 : 404;
	buf_printf(&r->headers, "Location: http://to.%s:%u/robots.txt\n",
	           strstr(q->host, "near") ? "site.test" : "other.test", p->port);
}

static int all_here(void *arg, const char *host, struct sockaddr_storage *ret)
{
	(void)arg;
	(void)host;
	set_v4(ret, "127.0.0.1");
	return 1;
}

/* A redirect whose robots.txt cannot be paid closes nothing for others: pages of its
 * target that are asked for themselves have theirs. */
static void test_no_budget_for_robots(void **state)
{
	struct purse purse = { .left = 1 };
	const struct fetch_result *r;
	struct visitor b;

	(void)state;
	visitor_init(&b, chain_answer, &purse);
	purse.port = origin_port(b.origin);
	b.opt.spend = spend;
	b.opt.arg = &purse;
	visitor_go(&b);
	visitor_ask(&b, "http://127.0.4.1:%u/p1-4", purse.port);
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_BUDGET);
	assert_int_equal(r->n_hops, 1);
	assert_int_equal(r->requests, 1);
	assert_int_equal(r->unused, 1);         /* the hop was granted, and not made */
	assert_int_equal(visitor_count(&b, "127.0.8.2", NULL), 0);
	visitor_ask(&b, "http://127.0.8.2:%u/p1-5", purse.port);
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_OK);
	assert_int_equal(visitor_count(&b, "127.0.8.2", NULL), 2);
	visitor_release(&b);
}

/* A robots.txt that is redirected: free inside its domain, else in the budget. */
static void test_redirects_of_robots(void **state)
{
	static const struct { const char *host; unsigned purse; enum fetch_error error;
		unsigned robots, apart; } cases[] = {
		{ "from.near.site.test", 0, FETCH_OK, 0, 2 },
		{ "from.far.site.test", 1, FETCH_OK, 1, 1 },
		{ "from.poor.site.test", 0, FETCH_BUDGET, 0, 1 },
	};
	struct purse purse = { 0 };
	struct fetch_stats stats;
	const struct fetch_result *r;
	struct visitor b;

	(void)state;
	visitor_init(&b, moved_answer, &purse);
	purse.port = origin_port(b.origin);
	b.opt.spend = spend;
	b.opt.arg = &purse;
	b.opt.resolve = all_here;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		purse.left = cases[i].purse;
		visitor_go(&b);
		visitor_ask(&b, "http://%s:%u/", cases[i].host, purse.port);
		r = visitor_take(&b);
		fetch_stats(b.fetch, &stats);
		assert_int_equal(r->error, cases[i].error);
		assert_int_equal(r->requests, r->error == FETCH_OK);
		assert_int_equal(r->robots, cases[i].robots);
		assert_int_equal(stats.robots_requests, cases[i].apart);
		assert_int_equal(purse.left, 0);
		fetch_free(b.fetch);
	}
	b.fetch = NULL;
	visitor_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pace_of_the_second_address),
		cmocka_unit_test(test_slow_names), cmocka_unit_test(test_framed),
		cmocka_unit_test(test_guests_queue),
		cmocka_unit_test(test_ports_of_other_protocols),
		cmocka_unit_test(test_crawl_delay_too_long),
		cmocka_unit_test(test_robots_of_redirects_are_budgeted),
		cmocka_unit_test(test_redirects_of_robots),
		cmocka_unit_test(test_no_budget_for_robots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
