/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile answers on connections and handles that have served other pages: what must come
 * of each is written down, whatever came before it, and wherever its bytes are cut in two.
 * Behind each comes a good page, which must be whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fetch/fetch.h"
#include "fetch/gate.h"
#include "../../lib/origin_keep.h"

struct known {
	const char *text;
	enum fetch_error error;
	int status;                     /* -1: any */
	const char *body;               /* NULL: any */
};

#define OK "HTTP/1.1 200 OK\r\n"
#define BODY "Content-Length: 5\r\n\r\nhello"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
#define GOOD "good and whole"

static const struct known known[] = {
	{ OK "X: a\r\n" BODY, FETCH_OK, 200, "hello" },
	/* the head begins with a blank: there is nothing that this goes on with */
	{ OK " x:AAAA\r\n" BODY, FETCH_PROTOCOL, 0, "" },
	{ OK "\tx:AAAA\r\n" BODY, FETCH_PROTOCOL, 0, "" },
	{ OK " \r\n" BODY, FETCH_PROTOCOL, 0, "" },
	{ OK "  \r\n  \r\n" BODY, FETCH_PROTOCOL, 0, "" },
	{ OK " x:" "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n" BODY,
	  FETCH_PROTOCOL, 0, "" },
	{ "HTTP/1.1 302 Found\r\n Location: /good\r\nContent-Length: 0\r\n\r\n",
	  FETCH_PROTOCOL, 0, "" },
	{ "HTTP/1.1 100 Continue\r\n x:A\r\n\r\n" OK BODY, FETCH_PROTOCOL, 0, "" },
	{ "HTTP/1.1 103 Hints\r\nA: a\r\n\r\n" OK " x:A\r\n" BODY, FETCH_PROTOCOL, -1, "" },
	/* folded behind a header: old, allowed */
	{ OK "X: a\r\n b\r\n\tc\r\n" BODY, FETCH_OK, 200, "hello" },
	{ OK "X: a\r\n \r\n" BODY, FETCH_OK, 200, "hello" },
	{ "HTTP/1.1 103 Hints\r\nA: a\r\n b\r\n\r\n" OK "X: c\r\n d\r\n" BODY,
	  FETCH_OK, 200, "hello" },
	{ OK "Content-Length: 5\r\n 6\r\n\r\nhello", FETCH_PROTOCOL, -1, "" },
	{ OK CHUNKED "\r\n", FETCH_OK, 200, "hello" },
	{ OK CHUNKED "T: a\r\n\r\n", FETCH_OK, 200, "hello" },
	{ OK CHUNKED "T: a\r\n b\r\n\r\n", FETCH_OK, 200, "hello" },
	{ OK "X: a\r\n" CHUNKED " t\r\n\r\n", FETCH_OK, 200, "hello" },
	{ OK CHUNKED "no colon\r\n\r\n", FETCH_PROTOCOL, 200, "hello" },
	{ "HTTP/1.1 302 Found\r\nLocation: /good\r\nContent-Length: 0\r\n\r\n", FETCH_OK, 200,
	  GOOD },
	{ "HTTP/1.1 302 Found\r\nLocation: /known/1\r\nContent-Length: 0\r\n\r\n",
	  FETCH_PROTOCOL, 0, "" },
	{ OK "Content-Length: x\r\n\r\nhello", FETCH_PROTOCOL, -1, "" },
	{ OK "no colon\r\n" BODY, FETCH_PROTOCOL, 0, "" },
};

#define N_KNOWN (sizeof known / sizeof *known)

/* /good; /known/I or /known/I/S, cut behind S bytes; /late: more than it says, later. */
static void make(void *arg, const char *path, struct origin_answer *a)
{
	unsigned i = 0, split = 0;

	(void)arg;
	if (sscanf(path, "/known/%u/%u", &i, &split) >= 1 && i < N_KNOWN) {
		buf_str(&a->bytes, known[i].text);
		a->split = split;
	} else if (!strcmp(path, "/late")) {
		buf_str(&a->bytes, OK BODY);
		a->split = a->bytes.size;
		buf_str(&a->bytes, OK "Content-Length: 4\r\n\r\nevil");
	} else {
		buf_printf(&a->bytes, OK "Content-Length: %zu\r\n\r\n" GOOD, strlen(GOOD));
	}
}

struct bed { struct origin_keep *origin; struct gate gate; struct fetch *fetch; };

static void bed_start(struct bed *b, unsigned connections)
{
	struct fetch_options o = FETCH_DEFAULTS;
	struct err err;

	memset(b, 0, sizeof *b);
	b->origin = origin_keep_start(make, NULL);
	assert_int_equal(gate_allow(&b->gate, "127.0.0.1", &err), 0);
	o.gate = &b->gate;
	o.proxy = "";
	o.ignore_robots = true;
	o.polite.delay = o.polite.address_delay = 0;
	o.polite.host_connections = o.polite.address_connections = connections;
	o.polite.failure_limit = 1 << 30;
	o.connections = connections;
	assert_int_equal(fetch_new(&b->fetch, &o, &err), 0);
}

static void bed_stop(struct bed *b)
{
	fetch_free(b->fetch);
	origin_keep_stop(b->origin);
	gate_release(&b->gate);
}

static void ask(struct bed *b, uint32_t page, const char *path)
{
	char url[128];

	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", origin_keep_port(b->origin), path);
	fetch_add(b->fetch, &(struct fetch_request){ .page = page, .url = url });
}

static bool has_body(const struct fetch_result *r, const char *body)
{
	return strlen(body) == r->decoded_size && !memcmp(body, r->decoded, r->decoded_size);
}

static void check(const struct fetch_result *r, const struct known *k, const char *name)
{
	if (r->error != k->error || (k->status >= 0 && r->status != k->status) ||
	    (k->body && !has_body(r, k->body)))
		fail_msg("%s: %s (%s), status %d, %zu bytes", name, fetch_error_name(r->error),
		         r->why, r->status, r->decoded_size);
}

static const struct known good = { GOOD, FETCH_OK, 200, GOOD };

/* One after the other: every handle and every connection has been used before. */
static void test_in_turn(void **state)
{
	unsigned connections, requests, reused;
	const struct fetch_result *r;
	struct bed b;

	(void)state;
	bed_start(&b, 1);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 2 * N_KNOWN; i++) {
			char path[32] = "/good", name[64];

			if (i % 2)
				snprintf(path, sizeof path, "/known/%u", i / 2);
			ask(&b, i, path);
			assert_int_equal(fetch_next(b.fetch, -1, &r), FETCH_GOT);
			snprintf(name, sizeof name, "%s behind /known/%u", path, (i - 1) / 2);
			check(r, i % 2 ? &known[i / 2] : &good, name);
		}
	}
	origin_keep_counts(b.origin, &connections, &requests, &reused);
	print_message("%u requests over %u connections\n", requests, connections);
	assert_true(reused > requests / 3);
	bed_stop(&b);
}

/* Each answer, cut in two behind each of its bytes. */
static void test_cut_everywhere(void **state)
{
	const struct fetch_result *r;
	size_t n = 0;
	struct bed b;

	(void)state;
	bed_start(&b, 16);
	for (uint32_t i = 0; i < N_KNOWN; i++) {
		for (size_t cut = 1; cut < strlen(known[i].text); cut++, n++) {
			char path[64];

			snprintf(path, sizeof path, "/known/%u/%zu", i, cut);
			ask(&b, i, path);
			if (cut % 4 == 0)
				ask(&b, N_KNOWN, "/good");
		}
		while (fetch_next(b.fetch, -1, &r) == FETCH_GOT) {
			char name[64];

			snprintf(name, sizeof name, "answer %u cut somewhere", i);
			check(r, r->page == N_KNOWN ? &good : &known[i], name);
		}
	}
	print_message("%zu answers in two pieces\n", n);
	assert_true(n > 1000);
	bed_stop(&b);
}

/* A second answer that nobody asked for, while the connection rests: it must not become
 * the answer to the next page. */
static void test_late_answer(void **state)
{
	unsigned connections, requests, reused;
	const struct fetch_result *r;
	struct bed b;

	(void)state;
	for (int round = 0; round < 5; round++) {
		bed_start(&b, 1);
		ask(&b, 0, "/late");
		assert_int_equal(fetch_next(b.fetch, -1, &r), FETCH_GOT);
		assert_true(r->error == FETCH_OK && has_body(r, "hello"));
		while (!origin_keep_idle(b.origin))
			usleep(1000);
		ask(&b, 1, "/good");
		assert_int_equal(fetch_next(b.fetch, -1, &r), FETCH_GOT);
		check(r, &good, "/good behind /late");
		origin_keep_counts(b.origin, &connections, &requests, &reused);
		assert_int_equal(requests, 2);
		bed_stop(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_turn),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_late_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
