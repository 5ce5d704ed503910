/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The archive of a live crawl: valid, complete (requests, redirects), read back by
 * import as the same pages; and validators that follow what the server says.
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
#include "engine/export/export.h"
#include "engine/import/import.h"
#include "../../../lib/bed.h"
#include "../../../lib/origin_tape.h"
#include "../../../lib/warc_valid.h"

#define DAY 86400
#define START 1700000000
#define ROUNDS 4

struct stage {
	struct origin_tape *origin;
	int round;
	struct bed bed;
};

/* /a -> /b -> /c; /v answers 304 with ever new tags; /w is always sent whole. */
static void answer(void *arg, const char *path, const char *request, struct buf *head,
                   struct buf *body)
{
	const struct stage *s = arg;

	if (!strcmp(path, "/robots.txt")) {
		buf_str(head, "HTTP/1.1 404 Not Found\r\n");
	} else if (!strcmp(path, "/a")) {
		buf_str(head, "HTTP/1.1 302 Found\r\nLocation: /b\r\n");
		buf_str(body, "moved to b");
	} else if (!strcmp(path, "/b")) {
		buf_str(head, "HTTP/1.1 301 Moved\r\nLocation: /c\r\n");
	} else if (!strcmp(path, "/c")) {
		buf_str(head, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"c\"\r\n");
		buf_str(body, "<title>final</title><a href=/v>v</a>");
	} else if (!strcmp(path, "/v") && strstr(request, "If-None-Match")) {
		buf_printf(head, "HTTP/1.1 304 Not Modified\r\nETag: \"v%d\"\r\n", s->round);
		if (s->round == 1)
			buf_str(head, "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n");
	} else {
		buf_printf(head, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"%c%d\"\r\n",
		           path[1], s->round);
		buf_printf(body, "<title>%s</title>", path);
	}
}

static void setup(struct stage *s)
{
	*s = (struct stage){ 0 };
	s->origin = origin_tape_start(answer, s);
	bed_open(&s->bed, "127.0.0.1");
	for (const char *p = "avw"; *p; p++)
		bed_add(&s->bed, "http://127.0.0.1:%u/%c", origin_tape_port(s->origin), *p);
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_tape_stop(s->origin);
}

static void run_rounds(struct stage *s)
{
	struct crawl_report r;

	for (s->round = 0; s->round < ROUNDS; s->round++) {
		s->bed.opts.now = START + s->round * DAY;
		r = bed_cycle(&s->bed);
		assert_int_equal(r.cycle.downloads, 5);
		assert_int_equal(s->round ? r.cycle.same : r.cycle.fresh, 3);
	}
}

/* The n-th request for a path, from 0. */
static const char *request_of(struct stage *s, const char *path, int n)
{
	const char *r;
	char line[64];

	snprintf(line, sizeof line, "GET %s HTTP/1.1\r\n", path);
	for (size_t i = 0; (r = origin_tape_request(s->origin, i)); i++)
		if (!strncmp(r, line, strlen(line)) && n-- == 0)
			return r;
	fail_msg("no such request for %s", path);
	return NULL;
}

/* Out of an index (CDX) we know a copy's digest and nothing else: the same bytes are a
 * revisit, but what they say is read all the same. */
static int see_links(void *arg, const struct store_capture *c, struct err *err)
{
	(void)err;
	if (c->revisit) {
		++*(int *)arg;
		assert_int_equal(c->links.size, 2);
		assert_memory_equal(c->links.s, "/v", 2);
		assert_int_equal(c->title.size, 5);
	}
	return 0;
}

static void test_a_copy_that_was_never_read_is(void **state)
{
	struct store_capture c = { .time = 5, .status = 200, .length = -1, .bytes_text = -1,
		.words = -1, .images = -1, .tables = -1, .emails = -1, .outlinks = -1,
		.offset = -1, .size = -1, .digest = { "BF6P5WE6JCXZ6DX5KZJWTVJNQJCA24VO", 32 } };
	struct crawl_report r;
	struct store_page p, was;
	struct stage s;
	struct err err;
	char url[64];
	int n = 0;

	(void)state;
	setup(&s);
	snprintf(url, sizeof url, "http://127.0.0.1:%u/c", origin_tape_port(s.origin));
	assert_int_equal(store_begin(s.bed.store, &err), 0);
	assert_int_equal(store_page_add(s.bed.store, (struct text){ url, strlen(url) }, 1, &c.page,
	                                &err), 1);
	assert_int_equal(store_capture_add(s.bed.store, &c, &err), 1);
	assert_int_equal(store_page_get(s.bed.store, c.page, &p, &err), 1);
	was = p;
	p.capture = c.id;
	assert_int_equal(store_page_update(s.bed.store, &was, &p, &err), 0);
	assert_int_equal(store_commit(s.bed.store, &err), 0);
	s.bed.opts.now = START;
	r = bed_cycle(&s.bed);
	assert_int_equal(r.cycle.same, 1);
	assert_int_equal(store_captures(s.bed.store, &c.page, 1, see_links, &n, &err), 0);
	assert_int_equal(n, 1);
	teardown(&s);
}

static void test_validators_follow_the_server(void **state)
{
	struct stage s;
	char want[64];

	(void)state;
	setup(&s);
	run_rounds(&s);
	for (int i = 1; i < ROUNDS; i++) {
		const char *v = request_of(&s, "/v", i);

		snprintf(want, sizeof want, "\r\nIf-None-Match: \"v%d\"\r\n", i - 1);
		assert_non_null(strstr(v, want));
		/* told once by a 304; the next one, silent about it, leaves it */
		assert_true(!strstr(v, "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT") == (i < 2));
		snprintf(want, sizeof want, "\r\nIf-None-Match: \"w%d\"\r\n", i - 1);
		assert_non_null(strstr(request_of(&s, "/w", i), want));
		assert_null(strstr(request_of(&s, "/c", i), "If-None-Match"));
	}
	teardown(&s);
}

/* ---- the files ---- */

struct files { struct valid_file v[16]; size_t n; char names[16][300]; };

static void read_files(const char *folder, struct files *ret)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	*ret = (struct files){ 0 };
	while ((e = readdir(d))) {
		char path[SCRATCH_LONG];
		struct stat st;
		void *data;
		FILE *in;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		assert_int_equal(stat(path, &st), 0);
		data = mem_alloc((size_t)st.st_size);
		in = fopen(path, "r");
		assert_int_equal(fread(data, 1, (size_t)st.st_size, in), st.st_size);
		fclose(in);
		assert_true(ret->n < 16);
		snprintf(ret->names[ret->n], sizeof *ret->names, "%.290s", path);
		warc_valid_part(&ret->v[ret->n], e->d_name, data, (size_t)st.st_size);
		if (*ret->v[ret->n].error)
			fail_msg("%s: %s", e->d_name, ret->v[ret->n].error);
		ret->n++;
		free(data);
	}
	closedir(d);
}

static void free_files(struct files *f)
{
	for (size_t i = 0; i < f->n; i++)
		warc_valid_release(&f->v[i]);
}

static const struct valid_record *find_record(const struct files *f, const char *id,
                                              const char *url, const char *date)
{
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->v[i].n; k++) {
			const struct valid_record *r = &f->v[i].v[k];

			if (id ? !strcmp(r->id, id) : !strcmp(r->type, "response") &&
			    !strcmp(r->url, url) && !strcmp(r->date, date))
				return r;
		}
	return NULL;
}

static bool was_sent(struct stage *s, const struct valid_record *q)
{
	const char *r;

	for (size_t i = 0; (r = origin_tape_request(s->origin, i)); i++)
		if (strlen(r) == q->block_size && !memcmp(r, q->block, q->block_size))
			return true;
	return false;
}

static void test_archive_is_complete(void **state)
{
	unsigned responses = 0, revisits = 0, requests = 0;
	struct files f;
	struct stage s;

	(void)state;
	setup(&s);
	run_rounds(&s);
	read_files(s.bed.warc, &f);
	for (size_t i = 0; i < f.n; i++) {
		for (size_t k = 0; k < f.v[i].n; k++) {
			const struct valid_record *r = &f.v[i].v[k], *of;

			responses += !strcmp(r->type, "response");
			if (!strcmp(r->type, "revisit")) {
				revisits++;
				assert_non_null(find_record(&f, NULL, r->refers_url, r->refers_date));
			} else if (!strcmp(r->type, "request")) {
				requests++;
				of = find_record(&f, r->concurrent, NULL, NULL);
				assert_non_null(of);
				assert_string_equal(of->url, r->url);
				if (!was_sent(&s, r))
					fail_msg("never sent:\n%.*s", (int)r->block_size, r->block);
			}
		}
	}
	/* first round: 2 hops and 3 pages; then 2 hops and 3 revisits each */
	assert_int_equal(responses, 5 + 2 * (ROUNDS - 1));
	assert_int_equal(revisits, 3 * (ROUNDS - 1));
	assert_int_equal(requests, 5 * ROUNDS);
	free_files(&f);
	teardown(&s);
}

/* ---- read back ---- */

struct known { char url[128], target[128], digest[64]; int64_t time; int status; bool revisit; };
struct listing { struct known v[64]; size_t n; struct store *store; };

static int list_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct listing *l = arg;
	struct known *k = &l->v[l->n++];
	struct store_page p;

	assert_true(l->n <= 64);
	*k = (struct known){ .time = c->time, .status = c->status, .revisit = c->revisit };
	snprintf(k->target, sizeof k->target, "%.*s", (int)c->target.size,
	         c->target.s ? c->target.s : "");
	snprintf(k->digest, sizeof k->digest, "%.*s", (int)c->digest.size,
	         c->digest.s ? c->digest.s : "");
	assert_int_equal(store_page_get(l->store, c->page, &p, err), 1);
	snprintf(k->url, sizeof k->url, "%.*s", (int)p.url.size, p.url.s);
	return 0;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	int d = strcmp(x->url, y->url);

	return d ? d : x->time < y->time ? -1 : x->time > y->time;
}

static void list(struct store *s, struct listing *l)
{
	struct err err;

	*l = (struct listing){ .store = s };
	assert_int_equal(store_captures(s, NULL, 0, list_capture, l, &err), 0);
	qsort(l->v, l->n, sizeof *l->v, compare_known);
}

static void import_folder(struct stage *s, const char *folder, const char *name,
                          struct listing *ret)
{
	char path[SCRATCH_LONG];
	struct import i = { .now = 1 };
	struct files f;
	struct err err;

	snprintf(path, sizeof path, "%s/%s.bed.db", s->bed.dir, name);
	assert_int_equal(store_open(&i.store, path, STORE_CREATE, &err), 0);
	read_files(folder, &f);
	for (size_t k = 0; k < f.n; k++)
		if (import_file(&i, f.names[k], &err) < 0)
			fail_msg("%s", err.text);
	assert_int_equal(i.stats.n_pages, 3);
	assert_int_equal(i.stats.n_doubles + i.stats.n_bad, 0);
	list(i.store, ret);
	store_close(i.store);
	free_files(&f);
}

static void same_listing(const struct listing *a, const struct listing *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->v[i].url, b->v[i].url);
		assert_string_equal(a->v[i].target, b->v[i].target);
		assert_string_equal(a->v[i].digest, b->v[i].digest);
		assert_int_equal(a->v[i].time, b->v[i].time);
		assert_int_equal(a->v[i].status, b->v[i].status);
		assert_int_equal(a->v[i].revisit, b->v[i].revisit);
	}
}

static void test_archive_reads_back(void **state)
{
	struct listing ours, again, exported;
	struct export e = { 0 };
	char to[SCRATCH_LONG], want[80];
	struct stage s;
	struct err err;

	(void)state;
	setup(&s);
	s.bed.opts.no_requests = true;
	run_rounds(&s);
	list(s.bed.store, &ours);
	assert_int_equal(ours.n, 3 * ROUNDS);
	snprintf(want, sizeof want, "http://127.0.0.1:%u/c", origin_tape_port(s.origin));
	assert_string_equal(ours.v[0].target, want);
	import_folder(&s, s.bed.warc, "again", &again);
	same_listing(&ours, &again);
	/* and what is exported, which must find the redirected page's content, too */
	snprintf(to, sizeof to, "%s/out", s.bed.dir);
	e.store = s.bed.store;
	e.folder = s.bed.dir;
	assert_int_equal(export_warc(&e, to, 1, &err), 0);
	assert_int_equal(e.n_lost + e.n_missing, 0);
	import_folder(&s, to, "exported", &exported);
	same_listing(&ours, &exported);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_copy_that_was_never_read_is),
		cmocka_unit_test(test_validators_follow_the_server),
		cmocka_unit_test(test_archive_is_complete),
		cmocka_unit_test(test_archive_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
