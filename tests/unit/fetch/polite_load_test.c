/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Politeness under load, judged by the origin's log alone: 100 hosts with
 * delays, Crawl-delays, slow answers, 429 and 503, and 40 more that share one
 * address.
 *
 * Times are those of the server, and each comparison holds whatever the
 * scheduling: a request is logged before its answer goes out, the next one only
 * after it was sent, so start-to-start can only be longer than the client's
 * pause plus what the server itself waited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <cmocka.h>

#include "base/mem.h"
#include "../../lib/origin_client.h"

#define N_HOSTS 100
#define N_SHARED 40
#define N_PAGES 6
#define FLOOR 0.05
#define CRAWL_DELAY 0.15
#define CRAWL_DELAY_CAP 0.25
#define ADDRESS_DELAY 0.01
#define ADDRESS_CONNECTIONS 2

struct load { unsigned seen[N_HOSTS + 1]; };

static unsigned slowness(unsigned host) { return host % 3 ? 0 : 20; }

static double delay_of(unsigned host)
{
	return host % 4 == 0 ? CRAWL_DELAY : host % 4 == 1 ? CRAWL_DELAY_CAP : FLOOR;
}

/* The second page of some hosts is a complaint. */
static double complaint(unsigned host, unsigned request, int *ret_status)
{
	*ret_status = host % 10 == 5 ? 429 : host % 10 == 7 ? 503 : 200;
	if (request != 2 || *ret_status == 200) {
		*ret_status = 200;
		return 0;
	}
	return host % 10 == 5 ? 1 : 0.4;        /* Retry-After, or our own backoff */
}

static void load_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct load *l = arg;
	unsigned host = 0, request;

	if (!strcmp(q->path, "/robots.txt")) {
		sscanf(q->host, "127.0.5.%u", &host);
		buf_str(&r->body, "User-agent: *\nDisallow: /x\n");
		if (host % 4 == 0 && host)
			buf_printf(&r->body, "Crawl-delay: %.2f\n", CRAWL_DELAY);
		if (host % 4 == 1)
			buf_printf(&r->body, "Crawl-delay: %.2f\n", CRAWL_DELAY_CAP);
		return;
	}
	buf_str(&r->body, "page");
	if (sscanf(q->host, "127.0.5.%u", &host) != 1) {
		r->delay_ms = 15;
		return;
	}
	request = __sync_add_and_fetch(&l->seen[host], 1);
	r->delay_ms = slowness(host);
	complaint(host, request, &r->status);
	if (r->status == 429)
		buf_str(&r->headers, "Retry-After: 1\n");
}

static int lookup(void *arg, const char *host, struct sockaddr_storage *ret)
{
	struct sockaddr_in *s = (void *)ret;

	(void)arg, (void)host;
	memset(ret, 0, sizeof *ret);
	s->sin_family = AF_INET;
	inet_pton(AF_INET, "127.0.6.1", &s->sin_addr);
	return 1;
}

static void check_hosts(const struct origin_log *log, size_t n)
{
	double least = 1e9;

	for (unsigned host = 1; host <= N_HOSTS; host++) {
		char name[32];
		unsigned pages = 0, robots = 0;
		const struct origin_log *last = NULL;

		snprintf(name, sizeof name, "127.0.5.%u", host);
		for (size_t i = 0; i < n; i++) {
			double need = delay_of(host);
			int status = 200;

			if (strcmp(log[i].host, name))
				continue;
			assert_int_equal(log[i].open_requests, 1);
			assert_int_equal(log[i].open_connections, 1);
			if (last && strcmp(last->path, "/robots.txt")) {
				double wait = complaint(host, pages, &status);

				need = wait > need ? wait : need;
				need += slowness(host) / 1000.0;
			}
			if (last && log[i].start - last->start < need)
				fail_msg("%s: %.4f s after %s, %.4f needed", name,
				         log[i].start - last->start, last->path, need);
			if (last && log[i].start - last->start - need < least)
				least = log[i].start - last->start - need;
			last = &log[i];
			if (strcmp(log[i].path, "/robots.txt"))
				pages++;
			else
				robots++;
		}
		complaint(host, 2, &(int){ 0 });
		assert_int_equal(robots, 1);
		assert_true(pages == N_PAGES || pages == N_PAGES + 1);
	}
	print_message("smallest slack over all gaps: %.1f ms\n", least * 1000);
}

static void check_shared(const struct origin_log *log, size_t n)
{
	double first = 0, last = 0;
	unsigned count = 0, most = 0, busy;

	for (size_t i = 0; i < n; i++) {
		if (!strstr(log[i].host, ".test"))
			continue;
		busy = 1;
		for (size_t k = 0; k < i; k++)
			busy += strstr(log[k].host, ".test") && log[k].answered > log[i].start;
		most = busy > most ? busy : most;
		if (!count++)
			first = log[i].start;
		last = log[i].start;
	}
	print_message("shared address: at most %u requests at a time\n", most);
	assert_int_equal(most, ADDRESS_CONNECTIONS);
	assert_int_equal(count, N_SHARED * 2);
	assert_true(last - first >= (count - 1) * ADDRESS_DELAY - 0.05);
	/* and two at a time, 15 ms each for the pages */
	assert_true(last - first >= N_SHARED * 0.015 / ADDRESS_CONNECTIONS - 0.05);
}

static void test_under_load(void **state)
{
	const struct fetch_result *r;
	struct origin_log *log;
	struct load load = { { 0 } };
	struct visitor c;
	unsigned fine = 0, requests = 0;
	size_t n;

	(void)state;
	visitor_init(&c, load_answer, &load);
	c.opt.polite.delay = FLOOR;
	c.opt.polite.max_crawl_delay = CRAWL_DELAY_CAP;
	c.opt.polite.address_delay = ADDRESS_DELAY;
	c.opt.polite.address_connections = ADDRESS_CONNECTIONS;
	c.opt.polite.backoff = 0.4;
	c.opt.polite.jitter = 0.1;
	c.opt.polite.max_wait = 10;
	c.opt.resolve = lookup;
	visitor_go(&c);
	for (unsigned i = 0; i < N_HOSTS * N_PAGES; i++)
		visitor_ask(&c, "http://127.0.5.%u:%u/p%u", i % N_HOSTS + 1,
		           origin_port(c.origin), i / N_HOSTS);
	for (unsigned i = 0; i < N_SHARED; i++)
		visitor_ask(&c, "http://v%u.test:%u/", i, origin_port(c.origin));
	while (fetch_next(c.fetch, 30, &r) == FETCH_GOT) {
		fine += r->error == FETCH_OK && r->status == 200;
		requests += r->requests;
	}
	log = origin_read_log(c.origin, &n);
	print_message("%u pages of %u hosts, %zu requests seen\n", fine,
	              N_HOSTS + N_SHARED, n);
	assert_int_equal(fine, N_HOSTS * N_PAGES + N_SHARED);
	assert_int_equal(requests, fine + N_HOSTS / 5);         /* complaints, tried again */
	assert_int_equal(n, requests + N_HOSTS + N_SHARED);     /* and robots.txt */
	check_hosts(log, n);
	check_shared(log, n);
	free(log);
	visitor_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_under_load) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
