/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the fetcher may ask: robots.txt, names that lie and move, proxies. */
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
#include "../../lib/origin_raw.h"
#include "../../lib/pack.h"

/* ---- robots.txt ---- */

static void robots_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	unsigned host = 0;

	(void)arg;
	sscanf(q->host, "127.0.3.%u", &host);
	if (strcmp(q->path, "/robots.txt")) {
		buf_str(&r->body, "page");
		if (!strcmp(q->path, "/out")) {
			r->status = 302;
			buf_str(&r->headers, "Location: /no/inside\n");
		}
		return;
	}
	switch (host) {
	case 1: buf_str(&r->body, "User-agent: *\nDisallow: /no\n"); break;
	case 2: r->status = 404; break;
	case 3: r->status = 500; break;
	case 4: buf_str(&r->body, "User-agent: other\nDisallow: /\n\nUser-agent: Freshet\n"
		        "Allow: /no/but\nDisallow: /no\n"); break;
	case 5:                         /* another host's file, for this host's pages */
		r->status = 301;
		buf_printf(&r->headers, "Location: http://127.0.3.1:%s/robots.txt\n",
		           strchr(q->host, ':') ? "" : (char *)arg);
		break;
	case 6: r->status = 302; buf_str(&r->headers, "Location: /robots.txt\n"); break;
	case 7: buf_str(&r->body, "<html><body>User-agent: nobody</body></html>"); break;
	case 8:                         /* rules past the cap must not open anything */
		buf_str(&r->body, "User-agent: *\nDisallow: /no\n");
		while (r->body.size < (600 << 10))
			buf_str(&r->body, "# long\n");
		buf_str(&r->body, "Allow: /no\n");
		break;
	case 9: r->status = 429; buf_str(&r->headers, "Retry-After: 4000\n"); break;
	case 10: r->status = 403; break;
	case 11:
		buf_str(&r->headers, "Content-Encoding: gzip\n");
		pack_gzip(&r->body, "User-agent: *\nDisallow: /no\n", 27);
		break;
	case 12: {                      /* a bomb: what came before the cap binds */
		static char text[32 << 20];

		memset(text, '\n', sizeof text);
		memcpy(text, "User-agent: *\nDisallow: /no\n", 28);
		memcpy(text + sizeof text - 27, "User-agent: *\nAllow: /no/x\n", 27);
		buf_str(&r->headers, "Content-Encoding: gzip\n");
		pack_gzip(&r->body, text, sizeof text);
		break;
	}
	case 21: case 22: case 23:      /* large ones */
		buf_str(&r->body, "User-agent: *\n");
		for (int i = 0; i < 3000; i++)
			buf_printf(&r->body, "Disallow: /%d/%d\n", i, i);
		break;
	default: r->status = 503;
	}
}

static void test_robots_variants(void **state)
{
	/* by host: /yes, /no/x, /no/but */
	static const enum fetch_error want[13][3] = {
		[1] = { FETCH_OK, FETCH_ROBOTS, FETCH_ROBOTS },
		[2] = { FETCH_OK, FETCH_OK, FETCH_OK },
		[3] = { FETCH_ROBOTS, FETCH_ROBOTS, FETCH_ROBOTS },
		[4] = { FETCH_OK, FETCH_ROBOTS, FETCH_OK },
		[5] = { FETCH_OK, FETCH_ROBOTS, FETCH_ROBOTS },
		[6] = { FETCH_OK, FETCH_OK, FETCH_OK },
		[7] = { FETCH_OK, FETCH_OK, FETCH_OK },
		[8] = { FETCH_OK, FETCH_ROBOTS, FETCH_ROBOTS },
		[9] = { FETCH_BACKOFF, FETCH_BACKOFF, FETCH_BACKOFF },
		[10] = { FETCH_OK, FETCH_OK, FETCH_OK },
		[11] = { FETCH_OK, FETCH_ROBOTS, FETCH_ROBOTS },
		[12] = { FETCH_OK, FETCH_ROBOTS, FETCH_ROBOTS },
	};
	static const char *const paths[] = { "/yes", "/no/x", "/no/but" };
	const struct fetch_result *r;
	char port[8];
	struct visitor b;

	(void)state;
	visitor_init(&b, robots_answer, port);
	snprintf(port, sizeof port, "%u", origin_port(b.origin));
	visitor_go(&b);
	for (uint32_t i = 3; i < 39; i++) {
		b.n = i;
		visitor_ask(&b, "http://127.0.3.%u:%s%s", i / 3, port, paths[i % 3]);
	}
	while (fetch_next(b.fetch, 20, &r) == FETCH_GOT)
		if (r->error != want[r->page / 3][r->page % 3] &&
		    !(r->page / 3 == 9 && r->error == FETCH_ROBOTS))
			fail_msg("host %u %s: %s %s", r->page / 3, paths[r->page % 3],
			         fetch_error_name(r->error), r->why);
	/* one request for each robots.txt (5 and 6: and their redirects) */
	assert_int_equal(visitor_count(&b, "127.0.3.4", "/robots.txt"), 1);
	assert_int_equal(visitor_count(&b, "127.0.3.3", "/yes"), 0);
	assert_int_equal(visitor_count(&b, "127.0.3.9", "/yes"), 0);
	assert_true(visitor_count(&b, "127.0.3.6", "/robots.txt") <= 6);
	/* a redirect into what is forbidden stops there */
	visitor_ask(&b, "http://127.0.3.1:%s/out", port);
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_ROBOTS);
	assert_int_equal(r->n_hops, 1);
	visitor_release(&b);
}

/* Large files of many origins cannot take all memory, nor keep us from small ones. */
static void test_rules_held_are_bounded(void **state)
{
	const struct fetch_result *r;
	unsigned good = 0, refused = 0;
	char port[8];
	struct visitor b;

	(void)state;
	visitor_init(&b, robots_answer, port);
	snprintf(port, sizeof port, "%u", origin_port(b.origin));
	b.opt.max_rules = 150000;
	visitor_go(&b);
	for (int i = 21; i < 24; i++)
		visitor_ask(&b, "http://127.0.3.%d:%s/yes", i, port);
	while (fetch_next(b.fetch, 20, &r) == FETCH_GOT) {
		good += r->error == FETCH_OK;
		refused += r->error == FETCH_ROBOTS && strstr(r->why, "too many large") != NULL;
	}
	assert_int_equal(good, 1);
	assert_int_equal(refused, 2);
	visitor_ask(&b, "http://127.0.3.4:%s/yes", port);
	assert_int_equal(visitor_take(&b)->error, FETCH_OK);
	visitor_ask(&b, "http://127.0.3.4:%s/no/x", port);
	assert_int_equal(visitor_take(&b)->error, FETCH_ROBOTS);
	visitor_release(&b);
}

/* ---- names ---- */

struct names { unsigned rebinds, calls; };

static int lookup(void *arg, const char *host, struct sockaddr_storage *ret)
{
	struct names *n = arg;
	const char *list[3] = { NULL };
	int count = 0;

	__sync_fetch_and_add(&n->calls, 1);
	if (!strcmp(host, "good.test") || !strcmp(host, "direct.test"))
		list[0] = "127.0.0.1";
	else if (!strcmp(host, "mixed.test"))
		list[0] = "127.0.0.1", list[1] = "10.0.0.1";
	else if (!strcmp(host, "mixed6.test"))
		list[0] = "127.0.0.1", list[1] = "fe80::1";
	else if (!strcmp(host, "mapped.test"))
		list[0] = "::ffff:10.1.2.3";
	else if (!strcmp(host, "metadata.test"))
		list[0] = "169.254.169.254";
	else if (!strcmp(host, "rebind.test"))
		list[0] = n->rebinds++ ? "169.254.169.254" : "127.0.0.1";
	else if (!strcmp(host, "second.test"))
		list[0] = "127.0.0.9", list[1] = "127.0.0.1";
	for (; count < 3 && list[count]; count++) {
		struct sockaddr_in *s4 = (void *)&ret[count];
		struct sockaddr_in6 *s6 = (void *)&ret[count];

		memset(&ret[count], 0, sizeof ret[count]);
		ret[count].ss_family = strchr(list[count], ':') ? AF_INET6 : AF_INET;
		if (ret[count].ss_family == AF_INET6)
			inet_pton(AF_INET6, list[count], &s6->sin6_addr);
		else
			inet_pton(AF_INET, list[count], &s4->sin_addr);
	}
	return count ? count : -1;
}

static void test_names_and_rebinding(void **state)
{
	static const struct { const char *host; enum fetch_error error; } cases[] = {
		{ "good.test", FETCH_OK }, { "mixed.test", FETCH_GATE },
		{ "mixed6.test", FETCH_GATE }, { "mapped.test", FETCH_GATE },
		{ "metadata.test", FETCH_GATE }, { "nobody.test", FETCH_DNS },
		{ "second.test", FETCH_OK },    /* the first address refuses, the next answers */
	};
	struct origin_raw *raw = origin_raw_start();
	const struct fetch_result *r;
	struct names names = { 0 };
	struct visitor b;
	unsigned port = origin_raw_port(raw);

	(void)state;
	visitor_init(&b, NULL, NULL);
	b.opt.ignore_robots = true;
	b.opt.resolve = lookup;
	b.opt.arg = &names;
	b.opt.dns_age = 0.3;
	visitor_go(&b);
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char url[128];

		snprintf(url, sizeof url, "http://%s:%u/ok", cases[i].host, port);
		r = visitor_one(&b, (struct fetch_request){ .page = i, .url = url });
		if (r->error != cases[i].error)
			fail_msg("%s: %s %s", cases[i].host, fetch_error_name(r->error), r->why);
		if (r->error == FETCH_OK) {
			assert_string_equal(r->ip, "127.0.0.1");
			assert_int_equal(r->requests, 1);
		}
	}
	/* The name now points elsewhere: what was checked is used while it is fresh,
	 * then the new address is looked at, and refused. */
	for (int i = 0; i < 3; i++) {
		visitor_ask(&b, "http://rebind.test:%u/ok", port);
		assert_int_equal(visitor_take(&b)->error, FETCH_OK);
	}
	assert_int_equal(names.rebinds, 1);
	usleep(350000);
	visitor_ask(&b, "http://rebind.test:%u/ok", port);
	assert_int_equal(visitor_take(&b)->error, FETCH_GATE);
	assert_int_equal(names.rebinds, 2);
	assert_int_equal(origin_raw_requests(raw), 5);
	visitor_release(&b);
	origin_raw_stop(raw);
}

/* ---- proxy ---- */

static void proxy_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	(void)arg;
	if (strstr(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (strstr(q->path, "/to-this-machine")) {
		r->status = 302;
		buf_str(&r->headers, "Location: http://127.0.1.1/admin\n");
	} else {
		buf_printf(&r->body, "%s %s", q->host, q->path);
	}
}

static void test_behind_a_proxy(void **state)
{
	static const char *const refused[] = { "http://10.0.0.1/", "http://localhost/",
		"http://a.localhost/", "http://[::1]/", "http://169.254.169.254/latest/" };
	struct names names = { 0 };
	struct visitor b;
	char proxy[64];
	const struct fetch_result *r;

	(void)state;
	visitor_init(&b, proxy_answer, NULL);
	snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", origin_port(b.origin));
	b.opt.proxy = proxy;
	b.opt.resolve = lookup;
	b.opt.arg = &names;
	visitor_go(&b);
	visitor_ask(&b, "http://www.example.org/page?x=1");
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_OK);
	assert_memory_equal(r->body, "www.example.org ", 16);
	assert_int_equal(names.calls, 0);       /* names are the proxy's business */
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		visitor_ask(&b, "%s", refused[i]);
		r = visitor_take(&b);
		assert_true(r->error == FETCH_GATE);
	}
	assert_int_equal(visitor_count(&b, NULL, NULL), 2);
	fetch_free(b.fetch);
	/* Naming the proxy allows its address, and nothing but the proxy: neither a page
	 * nor a redirect gets to this machine, whether it goes through the proxy or not. */
	gate_release(&b.gate);
	b.opt.no_proxy = "direct.test,127.0.0.0/8";
	visitor_go(&b);
	visitor_ask(&b, "http://www.example.org/other");
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_OK);
	assert_int_equal(visitor_count(&b, NULL, NULL), 4);
	for (int i = 0; i < 3; i++) {
		visitor_ask(&b, "%s", (const char *[]){ "http://127.0.1.1/", "http://direct.test/",
			"http://www.example.org/to-this-machine" }[i]);
		r = visitor_take(&b);
		assert_int_equal(r->error, FETCH_GATE);
		assert_int_equal(r->n_hops, i == 2);
	}
	assert_int_equal(visitor_count(&b, NULL, NULL), 5);
	fetch_free(b.fetch);
	b.opt.no_proxy = "";
	visitor_go(&b);
	visitor_ask(&b, "http://www.example.org/to-this-machine");
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_GATE);
	assert_int_equal(r->n_hops, 1);
	assert_int_equal(visitor_count(&b, NULL, NULL), 7);
	visitor_release(&b);
}

static void test_headers_are_found_by_name(void **state)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nX-Date: no\r\nData: no\r\nDate : no\r\n"
		"dAtE:  \t Mon \t\r\nDate: Tue\r\nEmpty:\r\nName: abc";
	const char *v;
	size_t n;

	(void)state;
	assert_true(fetch_header(head, sizeof head - 1, "Date", &v, &n));
	assert_int_equal(n, 3);
	assert_memory_equal(v, "Mon", 3);               /* the first, without blanks */
	assert_true(fetch_header(head, sizeof head - 1, "empty", &v, &n));
	assert_int_equal(n, 0);
	assert_true(fetch_header(head, sizeof head - 1, "Name", &v, &n));
	assert_int_equal(n, 3);
	assert_false(fetch_header(head, sizeof head - 1, "Dat", &v, &n));
	assert_false(fetch_header(head, sizeof head - 1, "HTTP/1.1 200 OK", &v, &n));
	assert_false(fetch_header(head, 17, "Date", &v, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_are_found_by_name),
		cmocka_unit_test(test_robots_variants),
		cmocka_unit_test(test_rules_held_are_bounded),
		cmocka_unit_test(test_names_and_rebinding),
		cmocka_unit_test(test_behind_a_proxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
