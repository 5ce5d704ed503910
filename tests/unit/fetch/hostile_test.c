/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hostile-origin suite: every attack of PEERS 5.2 that concerns fetching,
 * with the outcome that must come of it, all at once and within bounds of time
 * and memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "fetch/fetch.h"
#include "fetch/gate.h"
#include "../../lib/origin_raw.h"

#define MAX_BODY (2 << 20)
#define MEMORY_BOUND (8 << 20)
#define PROCESS_BOUND (150 << 10)       /* KiB; the attackers are threads of it */

struct attack {
	const char *path;
	enum fetch_error error;
	int status;                     /* of the last answer; -1: any */
	enum fetch_cut cut;
	const char *body;               /* decoded; NULL: any */
};

static const struct attack attacks[] = {
	{ "/ok", FETCH_OK, 200, FETCH_WHOLE, "hello" },
	{ "/to-ok", FETCH_OK, 200, FETCH_WHOLE, "hello" },
	/* slow and endless */
	{ "/silent", FETCH_TIMEOUT, 0, FETCH_WHOLE, "" },
	{ "/hang-up", FETCH_RESET, 0, FETCH_WHOLE, "" },
	{ "/slow-head", FETCH_TIMEOUT, 0, FETCH_WHOLE, "" },
	{ "/slow-body", FETCH_TIMEOUT, 200, FETCH_CUT_TIME, NULL },
	{ "/stall", FETCH_TIMEOUT, 200, FETCH_CUT_TIME, "some" },
	{ "/steady", FETCH_TIMEOUT, 200, FETCH_CUT_TIME, NULL },
	{ "/endless", FETCH_OK, 200, FETCH_CUT_LENGTH, NULL },
	{ "/endless-chunked", FETCH_OK, 200, FETCH_CUT_LENGTH, NULL },
	{ "/endless-trailers", FETCH_TOO_LARGE, 200, FETCH_CUT_DISCONNECT, "hi" },
	{ "/endless-headers", FETCH_TOO_LARGE, 0, FETCH_WHOLE, "" },
	{ "/endless-line", FETCH_TOO_LARGE, 0, FETCH_WHOLE, "" },
	{ "/endless-continue", FETCH_TOO_LARGE, -1, FETCH_WHOLE, "" },
	/* broken framing */
	{ "/reset", FETCH_RESET, 0, FETCH_WHOLE, "" },
	{ "/reset-body", FETCH_RESET, 200, FETCH_CUT_DISCONNECT, "part of it" },
	{ "/long-length", FETCH_RESET, 200, FETCH_CUT_DISCONNECT, "only this" },
	{ "/short-length", FETCH_OK, 200, FETCH_WHOLE, "four" },
	{ "/two-lengths", FETCH_PROTOCOL, -1, FETCH_WHOLE, "" },
	{ "/negative-length", FETCH_PROTOCOL, -1, FETCH_WHOLE, "" },
	{ "/length-and-chunked", FETCH_OK, 200, FETCH_WHOLE, "hello" },
	{ "/bad-chunk", FETCH_PROTOCOL, 200, FETCH_CUT_DISCONNECT, "" },
	{ "/huge-chunk", FETCH_PROTOCOL, 200, FETCH_CUT_DISCONNECT, "" },
	{ "/cut-chunk", FETCH_RESET, 200, FETCH_CUT_DISCONNECT, "hello" },
	{ "/garbage", FETCH_PROTOCOL, 0, FETCH_WHOLE, "" },
	{ "/http09", FETCH_PROTOCOL, 0, FETCH_WHOLE, "" },
	{ "/nul-header", FETCH_PROTOCOL, 0, FETCH_WHOLE, "" },
	{ "/bad-status", FETCH_PROTOCOL, 0, FETCH_WHOLE, "" },
	{ "/no-status", FETCH_PROTOCOL, 0, FETCH_WHOLE, "" },
	{ "/unasked-304", FETCH_PROTOCOL, 304, FETCH_WHOLE, "" },
	/* bombs */
	{ "/bomb-gzip", FETCH_TOO_LARGE, 200, FETCH_WHOLE, NULL },
	{ "/bomb-deflate", FETCH_TOO_LARGE, 200, FETCH_WHOLE, NULL },
	{ "/bomb-br", FETCH_TOO_LARGE, 200, FETCH_WHOLE, NULL },
	{ "/bomb-zstd", FETCH_TOO_LARGE, 200, FETCH_WHOLE, NULL },
	{ "/bomb-nested", FETCH_OK, 200, FETCH_WHOLE, "hello" },
	{ "/broken-gzip", FETCH_PROTOCOL, 200, FETCH_WHOLE, NULL },
	{ "/false-gzip", FETCH_OK, 200, FETCH_WHOLE, "not gzip!" },
	/* redirects */
	{ "/loop-self", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/loop-a", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/chain/1", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-nowhere", FETCH_OK, 301, FETCH_WHOLE, "" },
	{ "/to-file", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-ftp", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-gopher", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-javascript", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-userinfo", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-backslash", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-octal", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-decimal", FETCH_REDIRECT, 302, FETCH_WHOLE, "" },
	{ "/to-crlf", FETCH_OK, 404, FETCH_WHOLE, "" },
	{ "/to-metadata", FETCH_GATE, 0, FETCH_WHOLE, "" },
	{ "/to-private", FETCH_GATE, 0, FETCH_WHOLE, "" },
	{ "/to-v6-loopback", FETCH_GATE, 0, FETCH_WHOLE, "" },
	{ "/to-mapped", FETCH_GATE, 0, FETCH_WHOLE, "" },
	{ "/to-nat64", FETCH_GATE, 0, FETCH_WHOLE, "" },
	{ "/silent", FETCH_TIMEOUT, 0, FETCH_WHOLE, "" },
};

#define N_ATTACKS (sizeof attacks / sizeof *attacks)

static struct fetch_options options(const struct gate *g)
{
	struct fetch_options o = FETCH_DEFAULTS;

	o.gate = g;
	o.proxy = "";
	o.ignore_robots = true;
	o.polite.delay = o.polite.address_delay = 0;
	o.polite.host_connections = o.polite.address_connections = 64;
	o.polite.failure_limit = 1000;
	o.connections = 64;
	o.connect_timeout = 30;
	o.head_timeout = o.whole_timeout = 60;
	o.slow_seconds = 60;
	o.max_head = 64 << 10;
	o.max_body = MAX_BODY;
	o.max_decoded = 4 << 20;
	o.max_memory = 4 << 20;
	return o;
}

static bool matches(const struct attack *a, const struct fetch_result *r)
{
	return r->error == a->error && (a->status < 0 || r->status == a->status) &&
		r->truncated == a->cut && r->body_size <= MAX_BODY &&
		r->decoded_size <= 4 << 20 && r->requests <= 6 &&
		(a->cut != FETCH_CUT_LENGTH || r->body_size == MAX_BODY) &&
		(!a->body || (strlen(a->body) == r->decoded_size &&
		              !memcmp(a->body, r->decoded, r->decoded_size)));
}

/* Attacks on our patience get short deadlines, all others long ones, so that a
 * busy machine cannot turn one kind into the other. */
static unsigned run_some(struct origin_raw *origin, enum fetch_method method, bool slow,
                         size_t *ret_memory)
{
	struct gate g = { 0 };
	struct fetch_options o = options(&g);
	const struct fetch_result *r;
	struct fetch_stats stats;
	struct fetch *f;
	unsigned passed = 0;
	struct err err;

	if (slow) {
		o.connect_timeout = 1;
		o.head_timeout = 0.7;
		o.whole_timeout = 2;
		o.slow_seconds = 1;
		o.slow_rate = 1000;
	}
	assert_int_equal(gate_allow(&g, "127.0.0.0/8", &err), 0);
	assert_int_equal(fetch_new(&f, &o, &err), 0);
	for (uint32_t i = 0; i < N_ATTACKS; i++) {
		char url[128];

		snprintf(url, sizeof url, "http://127.0.0.1:%u%s", origin_raw_port(origin),
		         attacks[i].path);
		if ((attacks[i].error == FETCH_TIMEOUT) == slow)
			fetch_add(f, &(struct fetch_request){ .page = i, .url = url,
				.method = method });
	}
	while (fetch_next(f, -1, &r) == FETCH_GOT) {
		const struct attack *a = &attacks[r->page];
		bool good = method == FETCH_GET ? matches(a, r) :
			r->body_size == 0 && (slow || r->error != FETCH_TIMEOUT);

		passed += good;
		if (!good)
			print_message("%-20s %s status %d cut '%s' requests %u body %zu: %s\n",
			              a->path, fetch_error_name(r->error), r->status,
			              fetch_cut_name(r->truncated), r->requests,
			              r->body_size, r->why);
	}
	fetch_stats(f, &stats);
	if (stats.memory_peak > *ret_memory)
		*ret_memory = stats.memory_peak;
	fetch_free(f);
	gate_release(&g);
	return passed;
}

/* All that the process ever held; sanitizers hold more. */
static void check_process(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	print_message("the whole process, attackers included: at most %ld KiB of %d\n",
	              u.ru_maxrss, PROCESS_BOUND);
#ifndef __SANITIZE_ADDRESS__
	assert_true(u.ru_maxrss < PROCESS_BOUND);
#endif
}

static void run_all(enum fetch_method method)
{
	struct origin_raw *origin = origin_raw_start();
	size_t memory = 0;
	unsigned passed = run_some(origin, method, false, &memory) +
		run_some(origin, method, true, &memory);

	print_message("hostile origin, %s: %u of %zu as they must be, memory of answers at "
	              "most %zu KiB\n", method == FETCH_GET ? "GET" : "HEAD", passed, N_ATTACKS,
	              memory >> 10);
	assert_int_equal(passed, N_ATTACKS);
	assert_int_equal(origin_raw_leaks(origin), 0);
	assert_true(memory < MEMORY_BOUND);
	origin_raw_stop(origin);
	check_process();
}

static void test_every_attack(void **state)
{
	(void)state;
	run_all(FETCH_GET);
}

static void test_every_attack_by_head(void **state)
{
	(void)state;
	run_all(FETCH_HEAD);
}

/* Many endless bodies at once: memory is that of a few. */
static void test_memory_of_many(void **state)
{
	struct origin_raw *origin = origin_raw_start();
	struct gate g = { 0 };
	struct fetch_options o = options(&g);
	const struct fetch_result *r;
	struct fetch_stats stats;
	struct fetch *f;
	struct err err;
	char url[64];
	int n = 0;

	(void)state;
	assert_int_equal(gate_allow(&g, "127.0.0.1", &err), 0);
	assert_int_equal(fetch_new(&f, &o, &err), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%u/endless", origin_raw_port(origin));
	for (uint32_t i = 0; i < 30; i++)
		fetch_add(f, &(struct fetch_request){ .page = i, .url = url });
	while (fetch_next(f, -1, &r) == FETCH_GOT) {
		assert_int_equal(r->error, FETCH_OK);
		assert_int_equal(r->body_size, MAX_BODY);
		n++;
	}
	assert_int_equal(n, 30);
	fetch_stats(f, &stats);
	print_message("30 endless bodies of %d KiB: at most %zu KiB held\n", MAX_BODY >> 10,
	              stats.memory_peak >> 10);
	assert_true(stats.memory_peak < MEMORY_BOUND);
	fetch_free(f);
	gate_release(&g);
	origin_raw_stop(origin);
}

/* Servers that fill our memory with large bodies and never end them: small answers come at
 * once, and large ones when the first of those are cut, long before their deadline. */
static void test_hogs(void **state)
{
	struct origin_raw *origin = origin_raw_start();
	struct gate g = { 0 };
	struct fetch_options o = options(&g);
	const struct fetch_result *r;
	unsigned hogs = 0, small = 0, large = 0;
	struct fetch_stats stats;
	struct fetch *f;
	struct err err;
	char url[64];

	(void)state;
	assert_int_equal(gate_allow(&g, "127.0.0.1", &err), 0);
	o.threads = 1;
	o.slow_seconds = 4;
	o.slow_rate = 0;
	assert_int_equal(fetch_new(&f, &o, &err), 0);
	for (uint32_t i = 0; i < 30; i++) {
		snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", origin_raw_port(origin),
		         i < 4 ? "hog" : i < 26 ? "ok" : "endless");
		fetch_add(f, &(struct fetch_request){ .page = i, .url = url });
		if (i == 3)
			assert_int_equal(fetch_next(f, 0.5, &r), FETCH_LATER);
	}
	while (fetch_next(f, -1, &r) == FETCH_GOT) {
		if (r->page < 4) {
			assert_int_equal(r->error, FETCH_TIMEOUT);
			assert_int_equal(r->truncated, FETCH_CUT_TIME);
			hogs++;
			continue;
		}
		assert_int_equal(r->error, FETCH_OK);
		if (r->page < 26) {
			assert_int_equal(hogs, 0);
			small++;
		} else {
			assert_true(hogs < 4);
			large++;
		}
	}
	assert_int_equal(hogs + small + large, 30);
	fetch_stats(f, &stats);
	assert_true(stats.memory_peak < MEMORY_BOUND);
	fetch_free(f);
	gate_release(&g);
	origin_raw_stop(origin);
}

/* Without --allow-net nothing of it is even asked. */
static void test_gate_is_on_by_default(void **state)
{
	static const char *const urls[] = {
		"http://127.0.0.1:%u/ok", "http://localhost:%u/ok", "http://[::1]:%u/ok",
		"http://[::ffff:127.0.0.1]:%u/ok", "http://0.0.0.0:%u/ok", "http://0x7f.1:%u/ok",
		"http://10.255.255.1:%u/", "http://2130706433:%u/", "http://127.1:%u/",
	};
	struct origin_raw *origin = origin_raw_start();
	struct fetch_options o = options(NULL);
	const struct fetch_result *r;
	struct fetch *f;
	struct err err;
	char url[64];
	unsigned n = 0;

	(void)state;
	assert_int_equal(fetch_new(&f, &o, &err), 0);
	for (uint32_t i = 0; i < sizeof urls / sizeof *urls; i++) {
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(url, sizeof url, urls[i], origin_raw_port(origin));
		fetch_add(f, &(struct fetch_request){ .page = i, .url = url });
	}
	while (fetch_next(f, -1, &r) == FETCH_GOT) {
		if (r->error != FETCH_GATE && r->error != FETCH_BAD_URL)
			fail_msg("%s: %s", urls[r->page], fetch_error_name(r->error));
		n++;
	}
	assert_int_equal(n, sizeof urls / sizeof *urls);
	assert_int_equal(origin_raw_requests(origin), 0);
	fetch_free(f);
	origin_raw_stop(origin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_attack),
		cmocka_unit_test(test_every_attack_by_head),
		cmocka_unit_test(test_memory_of_many), cmocka_unit_test(test_hogs),
		cmocka_unit_test(test_gate_is_on_by_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
