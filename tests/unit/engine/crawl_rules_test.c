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
#include "engine/crawl.h"
#include "fetch/gate.h"
#include "../../lib/origin_raw.h"
#include "../../lib/warc_valid.h"

#define PAGES 30

struct stage {
	struct origin *origin;
	bool broken;                    /* /fragile fails now */
	struct store *store;
	struct gate gate;
	struct crawl_opts opts;
	char dir[40], db[64], warc[64];
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

static void add_page(struct stage *s, const char *url)
{
	uint32_t number;
	struct err err;

	assert_int_equal(store_begin(s->store, &err), 0);
	assert_int_equal(store_page_add(s->store, (struct text){ url, strlen(url) }, 1, &number,
	                                &err), 1);
	assert_int_equal(store_commit(s->store, &err), 0);
}

static void setup(struct stage *s)
{
	struct fetch_options fetch = FETCH_DEFAULTS;
	struct err err;

	*s = (struct stage){ .dir = "/tmp/freshet-rules-XXXXXX" };
	s->origin = origin_start(answer, s);
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->db, sizeof s->db, "%s/freshet.db", s->dir);
	snprintf(s->warc, sizeof s->warc, "%s/warc", s->dir);
	assert_int_equal(mkdir(s->warc, 0777), 0);
	assert_int_equal(store_open(&s->store, s->db, STORE_CREATE, &err), 0);
	assert_int_equal(gate_allow(&s->gate, "127.0.0.0/8", &err), 0);
	fetch.gate = &s->gate;
	fetch.proxy = "";
	fetch.polite.delay = fetch.polite.address_delay = 0;
	s->opts = (struct crawl_opts){ .warc_folder = s->warc, .policy = "random",
		.budget = { 20, false }, .seed = 1, .cycle_seconds = 86400, .confirmations = 1,
		.fetch = fetch };
}

static void teardown(struct stage *s)
{
	char cmd[64];

	store_close(s->store);
	origin_stop(s->origin);
	gate_release(&s->gate);
	snprintf(cmd, sizeof cmd, "rm -r %s", s->dir);
	assert_int_equal(system(cmd), 0);
}

static struct crawl_report cycle(struct stage *s)
{
	struct crawl_report r;
	struct err err;

	if (crawl_cycle(s->store, &s->opts, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
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
	char url[64];

	(void)state;
	setup(&s);
	for (int i = 0; i < 2 * PAGES; i++) {
		snprintf(url, sizeof url, "http://127.0.7.%d:%u/%d", i % 2 + 1,
		         origin_port(s.origin), i);
		add_page(&s, url);
	}
	r = cycle(&s);
	/* one was asked, the requests of all others went to the other host */
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);      /* with robots.txt */
	assert_int_equal(r.cycle.downloads, 20);
	assert_int_equal(r.cycle.fresh, 19);
	assert_int_equal(r.cycle.failed, 1);
	assert_true(r.cycle.blocked > 0);
	assert_int_equal(r.reasons[FETCH_BACKOFF], r.cycle.blocked + 1);
	/* another start: nothing of it is forgotten */
	s.opts.budget.value = 15;
	r = cycle(&s);
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);
	assert_int_equal(r.cycle.downloads, 15);
	assert_true(r.cycle.blocked > 0);
	/* robots.txt: once a day, whether the fetcher is kept or not (crawl_robots_test.c) */
	assert_int_equal(asked(&s, "127.0.7.2", "/robots.txt"), 1);
	s.opts.keep = &fetch;
	r = cycle(&s);
	assert_non_null(fetch);
	for (int i = 0; i < 3; i++) {
		r = cycle(&s);
		assert_int_equal(r.cycle.downloads, 15);
		assert_int_equal(r.fetch.robots_requests, 0);
	}
	assert_int_equal(asked(&s, "127.0.7.2", "/robots.txt"), 1);
	assert_int_equal(asked(&s, "127.0.7.1", NULL), 2);
	/* one that knows too many hosts is not: what rests is in the store */
	s.opts.keep_hosts = 3;          /* two hosts, and an origin each */
	r = cycle(&s);
	assert_null(fetch);
	s.opts.keep_hosts = 4;
	r = cycle(&s);
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
	DIR *d = opendir(s->warc);
	struct dirent *e;

	while ((e = readdir(d)) && e->d_name[0] == '.')
		;
	assert_non_null(e);
	char path[400];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", s->warc, e->d_name);
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
	s.opts.fetch.max_body = 1000;
	snprintf(url[0], 64, "http://127.0.7.2:%u/big", origin_port(s.origin));
	snprintf(url[1], 64, "http://127.0.0.1:%u/long-length", origin_raw_port(raw));
	snprintf(url[2], 64, "http://127.0.7.2:%u/fragile", origin_port(s.origin));
	for (int i = 0; i < 3; i++)
		add_page(&s, url[i]);
	r = cycle(&s);
	assert_int_equal(r.cycle.fresh, 2);
	assert_int_equal(r.cycle.failed, 1);
	read_archive(&s, &f);
	assert_string_equal(find(&f, "/big")->truncated, "length");
	assert_int_equal(find(&f, "/big")->block_size - find(&f, "/big")->body_at, 1000);
	assert_string_equal(find(&f, "/long-length")->truncated, "disconnect");
	assert_string_equal(find(&f, "/fragile")->truncated, "");
	warc_valid_release(&f);
	/* what was cut by the server is no copy; an error leaves the copy there is */
	assert_int_equal(store_page_get(s.store, 1, &p, &err), 1);
	assert_int_equal(p.capture, 0);
	assert_int_equal(store_page_get(s.store, 2, &p, &err), 1);
	good = p.capture;
	assert_true(good > 0);
	s.broken = true;
	r = cycle(&s);
	assert_int_equal(r.cycle.failed, 2);
	assert_int_equal(r.cycle.changed + r.cycle.gone, 0);
	assert_int_equal(store_page_get(s.store, 2, &p, &err), 1);
	assert_int_equal(p.capture, good);
	assert_int_equal(p.state, STORE_PAGE_HERE);
	origin_raw_stop(raw);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest_is_kept),
		cmocka_unit_test(test_cut_answers_and_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
