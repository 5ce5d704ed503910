/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cycle owes to servers and to its copies: a host that asks for rest has it,
 * also from the next start, and its requests go to others; robots.txt is kept from
 * cycle to cycle; answers that were cut are archived as such; an error page replaces
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/mem.h"
#include "demo/origin.h"
#include "../../../lib/bed.h"
#include "../../../lib/origin_raw.h"
#include "../../../lib/warc_valid.h"

#define PAGES 30

struct stage {
	struct origin *origin;
	bool broken;                    /* /fragile fails now */
	struct bed bed;
};

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct stage *s = arg;

	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strcmp(q->host, "127.0.7.1")) {
		r->status = 429;
		buf_str(&r->headers, "Retry-After: 3600\n");
	} else if (!strcmp(q->path, "/big")) {
		for (int i = 0; i < 500; i++)
			buf_str(&r->body, "0123456789");
	} else if (!strcmp(q->path, "/fragile") && s->broken) {
		r->status = 500;
		buf_str(&r->body, "sorry");
	} else {
		buf_str(&r->body, q->path);
	}
}

static void setup(struct stage *s)
{
	*s = (struct stage){ 0 };
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.0.0/8");
	s->bed.opts.policy = "random";
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static unsigned asked(struct stage *s, const char *host, const char *path)
{
	size_t n;
	unsigned found = 0;
	struct origin_log *l = origin_read_log(s->origin, &n);

	for (size_t i = 0; i < n; i++)
		found += !strcmp(l[i].host, host) && (!path || !strcmp(l[i].path, path));
	free(l);
	return found;
}

static void test_rest_is_kept(void **state)
{
	struct crawl_report r;
	struct fetch *fetch = NULL;
	struct stage s;

	(void)state;
	setup(&s);
	for (int i = 0; i < 2 * PAGES; i++)
		bed_add(&s.bed, "http://127.0.7.%d:%u/%d", i % 2 + 1, origin_port(s.origin), i);
	r = bed_cycle(&s.bed);
	/* one was asked, the requests of all others went to the other host */
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);      /* with robots.txt */
	assert_int_equal(r.cycle.downloads, 20);
	assert_int_equal(r.cycle.fresh, 19);
	assert_int_equal(r.cycle.failed, 1);
	assert_true(r.cycle.blocked > 0);
	assert_int_equal(r.reasons[FETCH_BACKOFF], r.cycle.blocked + 1);
	/* another start: nothing of it is forgotten */
	s.bed.opts.budget.value = 15;
	r = bed_cycle(&s.bed);
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);
	assert_int_equal(r.cycle.downloads, 15);
	assert_true(r.cycle.blocked > 0);
	/* robots.txt: once a day, whether the fetcher is kept or not (crawl_robots_test.c) */
	assert_int_equal(asked(&s, "127.0.7.2", "/robots.txt"), 1);
	s.bed.opts.fetcher = &fetch;
	r = bed_cycle(&s.bed);
	assert_non_null(fetch);
	for (int i = 0; i < 3; i++) {
		r = bed_cycle(&s.bed);
		assert_int_equal(r.cycle.downloads, 15);
		assert_int_equal(r.fetch.robots_requests, 0);
	}
	assert_int_equal(asked(&s, "127.0.7.2", "/robots.txt"), 1);
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);
	/* one that knows too many hosts is not: what rests is in the store */
	s.bed.opts.fetch_hosts_max = 3;     /* two hosts, and an origin each */
	r = bed_cycle(&s.bed);
	assert_null(fetch);
	s.bed.opts.fetch_hosts_max = 4;
	r = bed_cycle(&s.bed);
	assert_non_null(fetch);
	assert_int_equal(asked(&s, "127.0.7.2", "/robots.txt"), 1);
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);
	fetch_free(fetch);
	teardown(&s);
}

static const struct valid_record *find(const struct valid_file *f, const char *end)
{
	for (size_t i = 0; i < f->n; i++)
		if (strlen(f->v[i].url) > strlen(end) && !strcmp(f->v[i].type, "response") &&
		    !strcmp(f->v[i].url + strlen(f->v[i].url) - strlen(end), end))
			return &f->v[i];
	fail_msg("no record of %s", end);
	return NULL;
}

static void read_archive(struct stage *s, struct valid_file *ret)
{
	DIR *d = opendir(s->bed.warc);
	struct dirent *e;

	while ((e = readdir(d)) && e->d_name[0] == '.')
		;
	assert_non_null(e);
	char path[SCRATCH_LONG];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", s->bed.warc, e->d_name);
	assert_int_equal(stat(path, &st), 0);
	char *data = mem_alloc((size_t)st.st_size);
	FILE *in = fopen(path, "r");

	assert_int_equal(fread(data, 1, (size_t)st.st_size, in), st.st_size);
	fclose(in);
	warc_valid(ret, e->d_name, data, (size_t)st.st_size);
	assert_string_equal(ret->error, "");
	free(data);
	closedir(d);
}

static void test_cut_answers_and_errors(void **state)
{
	struct origin_raw *raw = origin_raw_start();
	struct crawl_report r;
	struct valid_file f;
	struct store_page p;
	struct stage s;
	struct err err;
	uint64_t good;
	char url[3][64];

	(void)state;
	setup(&s);
	s.bed.opts.fetch.max_body = 1000;
	snprintf(url[0], 64, "http://127.0.7.2:%u/big", origin_port(s.origin));
	snprintf(url[1], 64, "http://127.0.0.1:%u/long-length", origin_raw_port(raw));
	snprintf(url[2], 64, "http://127.0.7.2:%u/fragile", origin_port(s.origin));
	for (int i = 0; i < 3; i++)
		bed_add(&s.bed, "%s", url[i]);
	r = bed_cycle(&s.bed);
	assert_int_equal(r.cycle.fresh, 2);
	assert_int_equal(r.cycle.failed, 1);
	read_archive(&s, &f);
	assert_string_equal(find(&f, "/big")->truncated, "length");
	assert_int_equal(find(&f, "/big")->block_size - find(&f, "/big")->body_at, 1000);
	assert_string_equal(find(&f, "/long-length")->truncated, "disconnect");
	assert_string_equal(find(&f, "/fragile")->truncated, "");
	warc_valid_release(&f);
	/* what was cut by the server is no copy; an error leaves the copy there is */
	assert_int_equal(store_page_get(s.bed.store, 1, &p, &err), 1);
	assert_int_equal(p.capture, 0);
	assert_int_equal(store_page_get(s.bed.store, 2, &p, &err), 1);
	good = p.capture;
	assert_true(good > 0);
	s.broken = true;
	r = bed_cycle(&s.bed);
	assert_int_equal(r.cycle.failed, 1);    /* what failed a moment ago rests */
	assert_int_equal(r.cycle.same, 1);
	assert_int_equal(r.cycle.changed + r.cycle.gone, 0);
	assert_int_equal(store_page_get(s.bed.store, 2, &p, &err), 1);
	assert_int_equal(p.capture, good);
	assert_int_equal(p.state, STORE_PAGE_HERE);
	origin_raw_stop(raw);
	teardown(&s);
}

/* What other crawlers spent beyond the budget of their cycle is taken off ours, with and
 * without discovery: 70 of 40, so 30 are owed; 20 can pay 19, then 11. */
static void test_pays_for_clients(void **state)
{
	static const struct { uint32_t budget, off; } then[] = { { 1, 19 }, { 9, 11 }, { 20, 0 } };

	(void)state;
	for (int discover = 0; discover < 2; discover++) {
		struct store_cycle row = { .number = 1, .time = 1, .clients = true, .budget = 40,
		                           .downloads = 70, .policy = { "tide", 4 } };
		struct err err;
		struct stage s;

		setup(&s);
		for (int i = 0; i < 2 * PAGES; i++)
			bed_add(&s.bed, "http://127.0.7.2:%u/%d", origin_port(s.origin), i);
		s.bed.opts.discover.share = (struct share){ discover ? 10 : 0, true };
		assert_int_equal(store_cycle_put(s.bed.store, &row, &err), 0);
		for (int i = 0; i < 3; i++) {
			struct crawl_report r = bed_cycle(&s.bed);

			assert_int_equal(r.cycle.budget, then[i].budget);
			assert_int_equal(r.cycle.downloads, then[i].budget);
			assert_int_equal(r.taken_off, then[i].off);
		}
		teardown(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pays_for_clients),
		cmocka_unit_test(test_rest_is_kept),
		cmocka_unit_test(test_cut_answers_and_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
