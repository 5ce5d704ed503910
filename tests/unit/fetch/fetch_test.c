/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fetcher against a friendly origin: conditional requests, redirects, second
 * opinions, budgets, 429 and 503, stopping, certificates.
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
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "../../lib/origin_client.h"
#include "../../lib/origin_raw.h"
#include "../../lib/pack.h"
#include "../../lib/scratch.h"

/* The last outcomes, held while others come: they must stay as they were. */
struct held { struct fetch_result r; uint32_t number; uint64_t hash; };

static uint64_t hash_result(const struct fetch_result *r)
{
	return hash_bytes(r->body, r->body_size, hash_bytes(r->head, r->head_size,
	                  hash_bytes(r->url, strlen(r->url), r->page)));
}

static void hold(struct fetch *f, struct held held[7], size_t *n, const struct fetch_result *r)
{
	struct held *h = &held[*n % 7];

	if (*n >= 7) {
		assert_true(hash_result(&h->r) == h->hash);
		fetch_drop(f, h->number);
	}
	*h = (struct held){ *r, fetch_hold(f), hash_result(r) };
	++*n;
}

/* A whole small web, twice: first plain, then conditional after some weeks; by any
 * number of threads. */
static void living_world(unsigned threads)
{
	struct held held[7];
	size_t n_held = 0;
	struct origin_world w = { .living = LIVING_DEFAULTS };
	const struct fetch_result *r;
	uint32_t n = living_count(&w.living), changed = 0, same = 0, dead = 0;
	char (*etags)[40] = mem_zalloc(n, sizeof *etags), path[64];
	struct visitor b;
	struct fetch_stats stats;

	w.now = w.living.start;
	visitor_init(&b, origin_world_answer, &w);
	b.opt.threads = threads;
	visitor_go(&b);
	for (int round = 0; round < 2; round++) {
		w.now = w.living.start + round * 40 * 86400;
		for (uint32_t i = 0; i < n; i++) {
			char url[128];

			living_path(&w.living, i, path);
			snprintf(url, sizeof url, "http://127.0.1.%u:%u%s",
			         living_site(&w.living, i) + 1, origin_port(b.origin), path);
			fetch_add(b.fetch, &(struct fetch_request){ .page = i, .url = url,
				.etag = etags[i] });
		}
		assert_int_equal(fetch_pending(b.fetch), n);
		while (fetch_next(b.fetch, -1, &r) == FETCH_GOT) {
			struct living_state s = living_at(&w.living, r->page, w.now);
			struct buf body;
			const char *v;
			size_t size;

			assert_int_equal(r->error, FETCH_OK);
			assert_int_equal(r->requests, 1);
			assert_memory_equal(r->ip, "127.0.1.", 8);
			if (r->status == 304) {
				assert_int_equal(round, 1);
				assert_true(r->conditional && !s.dead && s.version == 0);
				same++;
				hold(b.fetch, held, &n_held, r);
				continue;
			}
			assert_int_equal(r->status, s.dead && !s.soft ? 410 : 200);
			buf_init(&body, 1 << 20);
			living_body(&w.living, r->page, s, &body);
			assert_int_equal(body.size, r->decoded_size);
			assert_memory_equal(body.data, r->decoded, body.size);
			buf_release(&body);
			assert_true(fetch_header(r->head, r->head_size, "eTAG", &v, &size));
			snprintf(etags[r->page], sizeof *etags, "%.*s", (int)size, v);
			changed += round == 1 && !s.dead;
			dead += s.dead;
			hold(b.fetch, held, &n_held, r);
		}
		assert_int_equal(fetch_pending(b.fetch), 0);
	}
	assert_true(changed > 20 && same > 20 && dead > 0);
	fetch_stats(b.fetch, &stats);
	assert_int_equal(stats.requests, 2 * n);
	assert_int_equal(stats.robots_requests, 4);
	assert_int_equal(visitor_count(&b, NULL, "/robots.txt"), 4);
	assert_int_equal(stats.connections, 4);         /* kept alive */
	free(etags);
	visitor_release(&b);     /* some are still held */
}

static void test_living_world(void **state)
{
	(void)state;
	living_world(0);
	living_world(1);
	living_world(3);
}

static void odd_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	(void)arg;
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strcmp(q->path, "/no-head")) {
		r->status = strcmp(q->method, "HEAD") ? 200 : 404;
		buf_str(&r->body, "alive");
	} else if (!strcmp(q->path, "/gone")) {
		r->status = 410;
	} else if (!strcmp(q->path, "/moved")) {
		r->status = 301;
		buf_str(&r->headers, "Location: /moved2\n");
	} else if (!strcmp(q->path, "/moved2")) {
		r->status = 308;
		buf_str(&r->headers, "Location: //127.0.0.77/far\n");
	} else if (!strcmp(q->path, "/echo")) {
		buf_printf(&r->body, "[%s][%s]", q->etag ? q->etag : "",
		           q->since ? q->since : "");
	} else if (!strcmp(q->path, "/gzip")) {
		buf_str(&r->headers, "Content-Encoding: gzip\n");
		pack_gzip(&r->body, "packed page", 11);
	}
	if (!strcmp(q->path, "/agent"))
		buf_str(&r->body, q->agent);
}

/* One request a page; none at all for page 9. */
static bool never(void *arg, uint32_t page, uint32_t site, enum fetch_spend what)
{
	(void)site;
	*(int *)arg += what == FETCH_MORE;
	return what != FETCH_MORE && page != 9;
}

static void test_methods_redirects_validators(void **state)
{
	const struct fetch_result *r;
	struct visitor b;
	char url[128];
	struct fetch_stats stats;
	int asked = 0;

	(void)state;
	visitor_init(&b, odd_answer, NULL);
	b.opt.user_agent = "freshet/9 (+mailto:x@example.org)";
	visitor_go(&b);
#define URL(p) (snprintf(url, sizeof url, "http://127.0.0.1:%u" p, origin_port(b.origin)), url)
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/agent") });
	assert_string_equal(r->body, "freshet/9 (+mailto:x@example.org)");
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/no-head"), .method = FETCH_HEAD });
	assert_int_equal(r->status, 404);
	assert_int_equal(r->requests, 1);
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/no-head"), .method = FETCH_HEAD,
		.second_opinion = true });
	assert_int_equal(r->status, 200);
	assert_int_equal(r->method, FETCH_GET);
	assert_int_equal(r->requests, 2);
	assert_string_equal(r->body, "alive");
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/gone"), .method = FETCH_HEAD,
		.second_opinion = true });
	assert_int_equal(r->status, 410);
	assert_int_equal(r->requests, 2);
	/* verbatim, both; what could end a line is not sent */
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/echo"), .etag = "W/\"a b\"",
		.last_modified = "yesterday, perhaps" });
	assert_string_equal(r->body, "[W/\"a b\"][yesterday, perhaps]");
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/echo"), .etag = "\"x\"\r\nX-A: 1",
		.last_modified = "a\nb" });
	assert_string_equal(r->body, "[][]");
	assert_false(r->conditional);
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/gzip") });
	assert_string_equal(r->decoded, "packed page");
	assert_true(r->body_size != 11);
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/a\r\nX-Injected: 1") });
	assert_int_equal(r->error, FETCH_BAD_URL);
	r = visitor_one(&b, (struct fetch_request){ .url = "ftp://127.0.0.1/" });
	assert_int_equal(r->error, FETCH_BAD_URL);
	/* a hop each, the last to another host where nobody listens (port 80) */
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/moved") });
	assert_int_equal(r->error, FETCH_CONNECT);
	assert_int_equal(r->n_hops, 2);
	assert_int_equal(r->hops[0].status, 301);
	assert_string_equal(r->hops[0].url, URL("/moved"));
	assert_int_equal(r->hops[1].status, 308);
	assert_string_equal(r->url, "http://127.0.0.77/far");
	visitor_release(&b);

	visitor_init(&b, odd_answer, NULL);
	b.opt.spend = never;
	b.opt.arg = &asked;
	visitor_go(&b);
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/moved") });
	assert_int_equal(r->error, FETCH_BUDGET);
	assert_int_equal(r->status, 301);
	assert_int_equal(r->requests, 1);
	assert_true(r->begun && !r->unused);
	r = visitor_one(&b, (struct fetch_request){ .url = URL("/gone"), .method = FETCH_HEAD,
		.second_opinion = true });
	assert_int_equal(r->status, 410);
	assert_int_equal(r->requests, 1);
	assert_int_equal(asked, 2);
	/* not even robots.txt is asked for */
	r = visitor_one(&b, (struct fetch_request){ .page = 9, .url = "http://127.0.0.78/" });
	assert_int_equal(r->error, FETCH_BUDGET);
	assert_true(!r->begun && !r->requests && !r->unused);
	fetch_stats(b.fetch, &stats);
	assert_int_equal(stats.requests, 2);
	assert_int_equal(stats.robots_requests, 1);
	visitor_release(&b);
}

/* ---- 429 ---- */

struct storm { unsigned n; };

static void storm_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct storm *s = arg;

	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strcmp(q->host, "127.0.4.1")) {     /* rests for a second, once */
		if (__sync_fetch_and_add(&s->n, 1) == 1) {
			r->status = 503;
			buf_str(&r->headers, "Retry-After: 1\n");
		}
	} else if (!strcmp(q->host, "127.0.4.2")) {
		r->status = 429;
		buf_str(&r->headers, "Date: Mon, 01 Jan 2024 00:00:00 GMT\n"
		        "Retry-After: Mon, 01 Jan 2024 02:00:00 GMT\n");
	}
}

static void test_retry_after(void **state)
{
	struct storm s = { 0 };
	const struct fetch_result *r;
	unsigned ok[4] = { 0 }, back[4] = { 0 }, requests = 0;
	struct origin_log *log;
	struct visitor b;
	size_t n;

	(void)state;
	visitor_init(&b, storm_answer, &s);
	visitor_go(&b);
	for (uint32_t i = 0; i < 30; i++)
		visitor_ask(&b, "http://127.0.4.%u:%u/p%u", i % 3 + 1, origin_port(b.origin), i);
	while (fetch_next(b.fetch, 20, &r) == FETCH_GOT) {
		uint32_t host = r->page % 3 + 1;

		ok[host] += r->error == FETCH_OK;
		back[host] += r->error == FETCH_BACKOFF;
		requests += r->requests;
		if (r->error == FETCH_BACKOFF)
			assert_true(r->blocked > 7100 && r->blocked < 7201);
	}
	assert_int_equal(ok[1], 10);
	assert_int_equal(back[2], 10);
	assert_int_equal(ok[3], 10);
	assert_int_equal(visitor_count(&b, "127.0.4.2", NULL), 2);  /* robots.txt and one page */
	assert_int_equal(requests, 11 + 1 + 10);
	log = origin_read_log(b.origin, &n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; log[i].status == 503 && k < n; k++)
			if (!strcmp(log[k].host, log[i].host))
				assert_true(log[k].start - log[i].end >= 1);
	free(log);
	visitor_release(&b);
}

static void order_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	unsigned page;

	(void)arg;
	if (sscanf(q->path, "/from%u", &page) == 1) {
		r->status = 301;
		buf_printf(&r->headers, "Location: /to%u\n", page);
	}
}

/* What was begun goes before what waits for the host: where a redirect leads, and what a
 * caller asks for because of an answer. */
static void test_what_was_begun_is_ended(void **state)
{
	struct fetch_request q = { .page = 99, .next = true };
	unsigned place[12] = { 0 }, at, page, asked = 0, next = 0;
	const struct fetch_result *r;
	struct origin_log *log;
	struct visitor b;
	char url[64];
	size_t n;

	(void)state;
	visitor_init(&b, order_answer, NULL);
	b.opt.polite.delay = 0.02;
	visitor_go(&b);
	for (unsigned i = 0; i < 12; i++)
		visitor_ask(&b, "http://127.0.0.1:%u/from%u", origin_port(b.origin), i);
	assert_int_equal(visitor_take(&b)->error, FETCH_OK);
	snprintf(url, sizeof url, "http://127.0.0.1:%u/next", origin_port(b.origin));
	q.url = url;
	fetch_add(b.fetch, &q);
	while (fetch_next(b.fetch, 20, &r) == FETCH_GOT)
		assert_int_equal(r->error, FETCH_OK);
	log = origin_read_log(b.origin, &n);
	for (at = 0; at < n; at++) {
		if (!strcmp(log[at].path, "/next"))
			next = at;
		else if (sscanf(log[at].path, "/from%u", &page) == 1)
			place[page] = at, asked++;
		else if (sscanf(log[at].path, "/to%u", &page) == 1)
			assert_true(at - place[page] <= 2);     /* /next may come between */
	}
	assert_int_equal(asked, 12);
	assert_true(next && next < place[6]);
	free(log);
	visitor_release(&b);
}

static void test_stop(void **state)
{
	const struct fetch_result *r;
	unsigned stopped = 0, fine = 0;
	struct visitor b;

	(void)state;
	visitor_init(&b, odd_answer, NULL);
	b.opt.polite.delay = 0.05;
	visitor_go(&b);
	for (uint32_t i = 0; i < 100; i++)
		visitor_ask(&b, "http://127.0.0.%u:%u/echo", i % 4 + 1, origin_port(b.origin));
	assert_int_equal(fetch_next(b.fetch, 0.0001, &r), FETCH_LATER);
	for (int i = 0; i < 10; i++, fine++)
		assert_int_equal(visitor_take(&b)->error, FETCH_OK);
	fetch_stop(b.fetch);
	while (fetch_next(b.fetch, 5, &r) == FETCH_GOT) {
		stopped += r->error == FETCH_STOPPED;
		fine += r->error == FETCH_OK;
	}
	assert_int_equal(stopped + fine, 100);
	assert_true(fine <= 14 && fetch_pending(b.fetch) == 0);
	assert_int_equal(visitor_count(&b, NULL, "/echo"), fine);
	visitor_ask(&b, "http://127.0.0.1/");
	assert_int_equal(visitor_take(&b)->error, FETCH_STOPPED);
	visitor_release(&b);
}

/* Speaking TLS to something that does not, and a port nobody listens on. */
static void test_tls_and_connect_errors(void **state)
{
	struct origin_raw *raw = origin_raw_start();
	struct visitor b;

	(void)state;
	visitor_init(&b, NULL, NULL);
	b.opt.ignore_robots = true;
	b.opt.polite.failure_limit = 100;
	visitor_go(&b);
	visitor_ask(&b, "https://127.0.0.1:%u/ok", origin_raw_port(raw));
	assert_int_equal(visitor_take(&b)->error, FETCH_TLS);
	visitor_ask(&b, "http://127.0.0.55:%u/ok", origin_raw_port(raw));
	assert_int_equal(visitor_take(&b)->error, FETCH_CONNECT);
	visitor_release(&b);
	origin_raw_stop(raw);
}

static double thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A server that listens and says nothing: without TLS the connection is there and the
 * answer is not, with TLS there is none.  The one connection is taken meanwhile, and
 * who waits for it must not burn processor time. */
static void test_silence(void **state)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t size = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const struct fetch_result *r;
	struct visitor b;
	double cpu;
	unsigned port;

	(void)state;
	assert_false(bind(fd, (struct sockaddr *)&sa, sizeof sa) || listen(fd, 8) ||
	             getsockname(fd, (struct sockaddr *)&sa, &size));
	port = ntohs(sa.sin_port);
	visitor_init(&b, NULL, NULL);
	b.opt.ignore_robots = true;
	b.opt.connections = 1;
	b.opt.connect_timeout = 0.5;
	b.opt.head_timeout = 0.4;
	visitor_go(&b);
	cpu = thread_seconds();
	visitor_ask(&b, "https://127.0.0.1:%u/", port);
	visitor_ask(&b, "http://127.0.0.2:%u/", port);
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_TIMEOUT);
	assert_string_equal(r->why, "no connection in time");
	assert_true(r->seconds >= 0.5 && r->status == 0);
	r = visitor_take(&b);
	assert_int_equal(r->error, FETCH_TIMEOUT);
	assert_string_equal(r->why, "no answer in time");
	assert_true(r->seconds >= 0.9);
	assert_true(thread_seconds() - cpu < 0.25);       /* of 0.9 */
	visitor_release(&b);
	close(fd);
}

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = mem_zalloc(1, 16384);

	assert_non_null(in);
	assert_true(fread(text, 1, 16383, in) > 0);
	fclose(in);
	return text;
}

/* A certificate of our own making: refused, unless its maker is trusted. */
static void test_certificates(void **state)
{
	char dir[SCRATCH_PATH], cmd[2 * SCRATCH_LONG], ca[SCRATCH_LONG], *cert, *key;
	struct visitor b;

	(void)state;
	scratch_folder(dir, "tls");
	snprintf(cmd, sizeof cmd, "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:"
	         "prime256v1 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 "
	         "-keyout %s/key -out %s/cert 2>/dev/null", dir, dir);
	if (system(cmd)) {
		print_message("no openssl program: skipped\n");
		skip();
	}
	snprintf(ca, sizeof ca, "%s/key", dir);
	key = read_file(ca);
	snprintf(ca, sizeof ca, "%s/cert", dir);
	cert = read_file(ca);
	visitor_init(&b, NULL, NULL);
	b.origin = origin_start_tls(odd_answer, NULL, cert, key);
	b.opt.ignore_robots = true;
	visitor_go(&b);
	visitor_ask(&b, "https://127.0.0.1:%u/echo", origin_port(b.origin));
	assert_int_equal(visitor_take(&b)->error, FETCH_TLS);
	fetch_free(b.fetch);
	b.opt.ca_file = ca;
	visitor_go(&b);
	visitor_ask(&b, "https://127.0.0.1:%u/echo", origin_port(b.origin));
	assert_string_equal(visitor_take(&b)->body, "[][]");
	visitor_ask(&b, "https://127.0.0.2:%u/echo", origin_port(b.origin));    /* another name */
	assert_int_equal(visitor_take(&b)->error, FETCH_TLS);
	visitor_release(&b);
	free(cert);
	free(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_living_world),
		cmocka_unit_test(test_methods_redirects_validators),
		cmocka_unit_test(test_what_was_begun_is_ended),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_tls_and_connect_errors),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_certificates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
