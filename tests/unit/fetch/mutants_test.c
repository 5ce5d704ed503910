/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twenty thousand damaged answers over connections that are used again (tests/lib/mutant.h
 * says how they are made), with good pages between them.  Nothing crashes or leaks (ASan,
 * UBSan), the caps hold, memory is bounded, every good page comes back as it was sent, and
 * no answer names another page than its own.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "fetch/fetch.h"
#include "fetch/gate.h"
#include "../../lib/mutant.h"
#include "../../lib/origin_keep.h"

#define N_SEEDS 4
#define N_MUTANTS 5200          /* of each seed */
#define GOOD_EVERY 2            /* a good page behind so many mutants */
#define PENDING 64
#define CONNECTIONS 24
#define MAX_HEAD (16 << 10)
#define MAX_BODY (256 << 10)
#define MAX_DECODED (1 << 20)
#define MAX_MEMORY (2 << 20)
#define MEMORY_BOUND (MAX_MEMORY + MAX_BODY + CONNECTIONS * MAX_HEAD)

static void make(void *arg, const char *path, struct origin_answer *a)
{
	uint64_t seed = *(const uint64_t *)arg;
	unsigned page;

	if (sscanf(path, "/mutant/%u", &page) == 1)
		mutant_make(seed, page, &a->bytes, &a->closes);
	else if (sscanf(path, "/good/%u", &page) == 1)
		mutant_good(seed, page, &a->bytes);
	else
		buf_str(&a->bytes, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

/* A damaged Location may name any host: there is none. */
static int nowhere(void *arg, const char *host, struct sockaddr_storage *ret)
{
	(void)arg;
	(void)host;
	(void)ret;
	return -1;
}

static struct fetch_options options(const struct gate *g)
{
	struct fetch_options o = FETCH_DEFAULTS;

	o.gate = g;
	o.proxy = "";
	o.ignore_robots = true;
	o.polite.delay = o.polite.address_delay = 0;
	o.polite.backoff = o.polite.backoff_cap = o.polite.retry_after_cap = 0;
	o.polite.host_connections = o.polite.address_connections = CONNECTIONS;
	o.polite.failure_limit = 1 << 30;
	o.connections = CONNECTIONS;
	o.max_head = MAX_HEAD;
	o.max_body = MAX_BODY;
	o.max_decoded = MAX_DECODED;
	o.max_memory = MAX_MEMORY;
	o.resolve = nowhere;
	return o;
}

/* The page that answered: a damaged Location may lead to another than was asked for. */
static uint32_t answering(const struct fetch_result *r)
{
	const char *path = r->url ? strrchr(r->url, '/') : NULL;
	unsigned page;

	return path && sscanf(path, "/%u", &page) == 1 ? page : r->page;
}

/* What is wrong with an outcome, or NULL. */
static const char *wrong(uint64_t seed, const struct fetch_result *r, bool is_good)
{
	uint32_t page = answering(r), other;
	const char *why = NULL;
	struct buf body;

	if (r->head_size > MAX_HEAD || r->body_size > MAX_BODY || r->decoded_size > MAX_DECODED ||
	    r->requests > 7)
		return "passes a cap";
	if (mutant_names_other(r->decoded, r->decoded_size, page, &other) ||
	    mutant_names_other(r->body, r->body_size, page, &other))
		return "names another page";
	if (!is_good)
		return NULL;
	buf_init(&body, BUF_NO_LIMIT);
	mutant_good_body(seed, page, &body);
	if (r->error != FETCH_OK || r->status != 200 || r->decoded_size != body.size ||
	    memcmp(r->decoded, body.data, body.size))
		why = "is not the good page that was sent";
	buf_release(&body);
	return why;
}

static void describe(uint64_t seed, const struct fetch_result *r, const char *why,
                     struct buf *out)
{
	static char text[2000];
	struct buf sent;
	bool closes;

	buf_init(&sent, BUF_NO_LIMIT);
	mutant_make(seed, r->page, &sent, &closes);
	log_quote(sent.data, sent.size, text, sizeof text);
	buf_release(&sent);
	buf_printf(out, "seed %llu, %s: %s: %s (%s), status %d, %zu bytes; the mutant of its "
	           "number: %s\n", (unsigned long long)seed, r->url, why,
	           fetch_error_name(r->error), r->why, r->status, r->decoded_size, text);
}

struct sums { unsigned mutants, good, answered, requests, reused, connections; };

/* Failures are told at the end, when no thread runs any more. */
static void run_seed(uint64_t seed, struct sums *sum, struct buf *failures)
{
	static uint64_t of_origin;
	struct origin_keep *origin;
	struct gate g = { 0 };
	struct fetch_options o = options(&g);
	unsigned connections, requests, reused;
	const struct fetch_result *r;
	struct fetch_stats stats;
	uint32_t next = 0;
	struct fetch *f;
	struct err err;

	of_origin = seed;
	origin = origin_keep_start(make, &of_origin);
	print_message("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	assert_int_equal(gate_allow(&g, "127.0.0.1", &err), 0);
	assert_int_equal(fetch_new(&f, &o, &err), 0);
	for (;;) {
		const char *why;
		char url[96];

		for (; next < N_MUTANTS && fetch_pending(f) < PENDING; next++) {
			const char *kinds[] = { "mutant", "good" };

			for (int k = 0; k < (next % GOOD_EVERY ? 1 : 2); k++) {
				snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/%u",
				         origin_keep_port(origin), kinds[k], next);
				fetch_add(f, &(struct fetch_request){ .page = next,
					.site = (uint32_t)k, .url = url });
			}
		}
		if (fetch_next(f, -1, &r) != FETCH_GOT)
			break;
		why = wrong(seed, r, r->site == 1);
		if (why)
			describe(seed, r, why, failures);
		sum->good += r->site == 1;
		sum->mutants += r->site == 0;
		sum->answered += r->site == 0 && r->error == FETCH_OK;
	}
	fetch_stats(f, &stats);
	fetch_free(f);
	gate_release(&g);
	if (stats.memory_peak > MEMORY_BOUND)
		buf_printf(failures, "seed %llu: %zu bytes held\n", (unsigned long long)seed,
		           stats.memory_peak);
	origin_keep_counts(origin, &connections, &requests, &reused);
	sum->connections += connections;
	sum->requests += requests;
	sum->reused += reused;
	origin_keep_stop(origin);
}

static void test_mutants(void **state)
{
	struct sums sum = { 0 };
	struct buf failures;

	(void)state;
	buf_init(&failures, 64 << 10);
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
		run_seed(seed, &sum, &failures);
	print_message("%u damaged answers (%u of them still answers), %u good pages, %u requests, "
	              "%u on connections used before\n", sum.mutants, sum.answered, sum.good,
	              sum.requests, sum.reused);
	if (failures.size)
		print_message("%s", buf_text(&failures));
	assert_int_equal(failures.size, 0);
	buf_release(&failures);
	assert_int_equal(sum.mutants, N_SEEDS * N_MUTANTS);
	assert_int_equal(sum.good, N_SEEDS * N_MUTANTS / GOOD_EVERY);
	assert_true(sum.mutants >= 20000);
	/* some of both, or the damage is none, or all there is */
	assert_true(sum.answered > sum.mutants / 10 && sum.answered < sum.mutants * 9 / 10);
	assert_true(sum.reused > sum.requests / 10);    /* a third on a quiet machine */
}

/* The test itself: marks are found, also the second, and damaged ones are not. */
static void test_marks(void **state)
{
	char mark[MUTANT_MARK_SIZE], text[200];
	uint32_t other = 0;

	(void)state;
	mutant_mark(77, mark);
	snprintf(text, sizeof text, "a <page-0000001-00000000> %s b", mark);
	assert_true(mutant_names_other(text, strlen(text), 5, &other));
	assert_int_equal(other, 77);
	assert_false(mutant_names_other(text, strlen(text), 77, &other));
	mark[20] ^= 1;
	assert_false(mutant_names_other(mark, strlen(mark), 5, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_mutants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
