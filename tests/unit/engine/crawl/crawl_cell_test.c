/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that break what reads them, in a crawl and in an import: each costs itself, and the
 * others are as without cells.
 *
 * The readers are the real ones, but do what a page says after "BREAK", as if it had taken
 * them over.  This is in no program but this one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cause.h"
#include "base/mem.h"
#include "base/sandbox/calls.h"
#include "demo/origin.h"
#include "engine/archive/analyse.h"
#include "engine/archive/readers.h"
#include "engine/import/import.h"
#include "warc/http.h"
#include "web/page/compare.h"
#include "../../../lib/bed.h"
#include "../../../lib/pack.h"

#define N_FINE 40
#define PAGES_MAX 200

static const char *const ways[] = { "segv", "loop", "bomb", "socket", "open", "fork", "leave",
                                    "lie" };
#define N_WAYS (sizeof ways / sizeof *ways)

static void obey(const char *s, size_t size, struct buf *answer)
{
	const char *at = size ? memmem(s, size, "BREAK ", 6) : NULL;
	const char *way = at ? at + 6 : "";

	if (!strncmp(way, "segv", 4))
		raise(SIGSEGV);
	if (!strncmp(way, "loop", 4))
		for (volatile int i = 1; i; i |= 1)
			;
	if (!strncmp(way, "bomb", 4))
		for (;;)
			memset(mem_alloc(1 << 24), 1, 1 << 24);
	if (!strncmp(way, "socket", 6))
		socket(AF_INET, SOCK_STREAM, 0);
	if (!strncmp(way, "open", 4))
		open("/etc/passwd", O_RDONLY);
	if (!strncmp(way, "fork", 4))
		(void)!fork();
	if (!strncmp(way, "leave", 5))
		_exit(0);
	if (!strncmp(way, "lie", 3))
		memset(answer->data, 0xff, answer->size);
}

static int page_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	int rc = analyse_cell(parts, n, answer, err);

	obey(parts[1].s, parts[1].size, answer);
	return rc;
}

static int decode_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	int rc = http_decode_cell(parts, n, answer, err);

	if (answer->size && memmem(answer->data, answer->size, "UNPACK", 6))
		__builtin_trap();
	return rc;
}

static int compare_broken(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	int rc = compare_cell(parts, n, answer, err);

	obey(parts[2].s, parts[2].size, answer);
	return rc;
}

static void begin_cells(void)
{
	struct cell_table t = readers_table();

	t.works[CELL_PAGE] = page_cell;
	t.works[CELL_DECODE] = decode_cell;
	t.works[CELL_COMPARE] = compare_broken;
	t.memory = (size_t)256 << 20;
	t.seconds = 2;
	assert_int_equal(cells_begin(&t), 0);
}

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct buf plain;

	(void)arg;
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
		return;
	}
	buf_init(&plain, BUF_NO_LIMIT);
	buf_printf(&plain, "<title>%s</title><p>text of %s <a href='/to%s'>l</a>", q->path, q->path,
	           q->path);
	if (!strncmp(q->path, "/break-", 7))
		buf_printf(&plain, "BREAK %s", q->path + 7);
	if (!strcmp(q->path, "/unpack"))
		buf_str(&plain, "UNPACK");
	buf_str(&r->headers, "Content-Type: text/html; charset=windows-1251\n");
	if (strlen(q->path) % 2) {
		buf_str(&r->headers, "Content-Encoding: gzip\n");
		pack_gzip(&r->body, plain.data, plain.size);
	} else {
		buf_add(&r->body, plain.data, plain.size);
	}
	buf_release(&plain);
}

struct found { struct store_visit visit[PAGES_MAX]; char what[PAGES_MAX][400]; };

static int take_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct found *s = arg;

	(void)err;
	assert_true(v->page < PAGES_MAX);
	s->visit[v->page] = *v;
	return 0;
}

/* What the store has of every page. */
static void look(struct store *store, struct found *ret)
{
	struct store_page p;
	struct err err;

	memset(ret, 0, sizeof *ret);
	assert_int_equal(store_visits(store, 0, UINT32_MAX, take_visit, ret, &err), 0);
	for (uint32_t i = 0; i < PAGES_MAX; i++) {
		struct store_capture c;

		if (store_page_get(store, i, &p, &err) <= 0 || !p.capture ||
		    store_capture_get(store, p.capture, &c, &err) <= 0)
			continue;
		snprintf(ret->what[i], sizeof ret->what[i], "%.*s|%.*s|%.*s|%.*s|%.*s|%016llx|%lld",
		         (int)c.digest.size, c.digest.s, (int)c.prose.size, c.prose.s,
		         (int)c.tags.size, c.tags.s, (int)c.title.size, c.title.s,
		         (int)c.links.size, c.links.s, (unsigned long long)c.simhash,
		         (long long)c.words);
	}
}

static void add_pages(struct bed *b, unsigned port)
{
	for (unsigned i = 0; i < N_FINE; i++)
		bed_add(b, "http://127.0.8.%u:%u/fine%u", i % 9 + 1, port, i * i);
	for (unsigned i = 0; i < N_WAYS; i++)
		bed_add(b, "http://127.0.9.%u:%u/break-%s", i + 1, port, ways[i]);
	bed_add(b, "http://127.0.9.99:%u/unpack", port);        /* its length is odd */
}

static void crawl_once(struct origin *o, struct found *ret)
{
	struct bed b;

	bed_open(&b, "127.0.0.0/8");
	b.opts.budget.value = 100;
	add_pages(&b, origin_port(o));
	bed_cycle(&b);
	look(b.store, ret);
	bed_close(&b);
}

static void test_crawl(void **state)
{
	struct found *with = mem_zalloc(2, sizeof *with), *without = with + 1;
	struct origin *o;
	uint64_t made, died, before;
	unsigned n_fine = 0, n_broken = 0;

	(void)state;
	cells_count(&made, &before);
	begin_cells();                  /* before any thread */
	o = origin_start(answer, NULL);
	crawl_once(o, with);
	cells_count(&made, &died);
	cells_end();
	crawl_once(o, without);
	for (unsigned i = 0; i < PAGES_MAX; i++) {
		if (with->visit[i].cause == CAUSE_READER) {
			assert_int_equal(with->visit[i].outcome, OUTCOME_FAILED);
			assert_int_equal(with->visit[i].status, 200);
			assert_string_equal(with->what[i], "");
			n_broken++;
		} else {
			assert_int_equal(with->visit[i].outcome, without->visit[i].outcome);
			assert_string_equal(with->what[i], without->what[i]);
			n_fine += *with->what[i] != '\0';
		}
		assert_true(without->visit[i].cause != CAUSE_READER);
	}
	assert_int_equal(n_fine, N_FINE);
	assert_int_equal(n_broken, N_WAYS + 1);
	/* those that lied, too; and once more for each message that had other pages, too */
	assert_in_range(died - before, N_WAYS + 1, 2 * (N_WAYS + 1));
	origin_stop(o);
	free(with);
}

/* The maker is gone: the crawl ends and says why, and no page is called failed. */
static void test_no_maker(void **state)
{
	struct crawl_report report = { 0 };
	struct found *seen = mem_zalloc(1, sizeof *seen);
	struct origin *o;
	struct err err = { 0 };
	struct bed b;
	FILE *f;
	char path[64];
	int maker = 0;

	(void)state;
	begin_cells();
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &maker) != 1)
		skip();
	fclose(f);
	assert_int_equal(kill(maker, SIGKILL), 0);
	o = origin_start(answer, NULL);
	bed_open(&b, "127.0.0.0/8");
	add_pages(&b, origin_port(o));
	b.opts.policy = "oldest";
	assert_int_equal(crawl_cycle(b.store, &b.opts, &report, &err), E_FAIL);
	assert_non_null(strstr(err.text, "no process can be started"));
	look(b.store, seen);
	for (unsigned i = 0; i < PAGES_MAX; i++)
		assert_true(seen->visit[i].cause != CAUSE_READER);
	bed_close(&b);
	origin_stop(o);
	cells_end();
	free(seen);
}

/* ---- two copies ---- */

static struct extract_input html(const char *text)
{
	return (struct extract_input){ .data = text, .size = strlen(text), .url = "http://h.example/",
	                               .content_type = "text/html; charset=utf-8" };
}

static void test_compare(void **state)
{
	static const struct ignore_rule rules[] = { { .tag = "nav" } };
	const struct ignore ignore = { .rules = (struct ignore_rule *)rules, .n = 1 };
	const struct extract_options options[] = { { 0 }, { .ignore = &ignore, .fold_digits = true } };
	struct extract_input a = html("<nav>1</nav><h1>one</h1><p>gr\xc3\xbc\xc3\x9f 5<p>two<img alt=dog>");
	struct extract_input b = html("<nav>2</nav><h2>one</h2><p>gr\xc3\xbc\xc3\x9f 6<p>three<img alt=cat>");
	struct extract_input none = html("");
	struct page_diff with, without;
	struct err err = { 0 };

	(void)state;
	begin_cells();
	for (int i = 0; i < 6; i++) {
		const struct extract_input *from = i < 4 ? &a : &none, *to = i % 2 ? &b : &a;

		assert_int_equal(compare_pages(&with, from, to, &options[i / 2 % 2], &err), 0);
		page_diff(&without, from, to, &options[i / 2 % 2]);
		assert_int_equal(with.items.n, without.items.n);
		assert_true((i == 0 || i == 2) == (with.items.n == 0));
		for (size_t k = 0; k < with.items.n; k++) {
			const struct diff_item *x = &with.items.v[k], *y = &without.items.v[k];

			assert_int_equal(x->kind, y->kind);
			assert_int_equal(x->added, y->added);
			assert_int_equal(x->count, y->count);
			assert_string_equal(x->label, y->label);
			assert_string_equal(x->text, y->text);
		}
		assert_int_equal(with.view.bytes, without.view.bytes);
		assert_int_equal(with.view.text, without.view.text);
		assert_int_equal(with.view.tags, without.view.tags);
		assert_int_equal(with.view.bits, without.view.bits);
		assert_int_equal(with.view.comparable, without.view.comparable);
		page_diff_release(&with);
		page_diff_release(&without);
	}
	for (unsigned i = 0; i < N_WAYS; i++) {
		char text[64];

		snprintf(text, sizeof text, "<p>BREAK %s", ways[i]);
		b = html(text);
		assert_int_equal(compare_pages(&with, &a, &b, &options[0], &err), E_READER);
	}
	cells_end();
}

/* ---- imports ---- */

static void add_record(struct buf *to, const char *path, const char *what)
{
	struct buf body, record;

	buf_init(&body, BUF_NO_LIMIT);
	buf_init(&record, BUF_NO_LIMIT);
	buf_printf(&body, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>%s</title>"
	           "<p>text of %s %s", path, path, what);
	buf_printf(&record, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/%s\r\n"
	           "WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x:%s>\r\n"
	           "Content-Type: application/http; msgtype=response\r\nContent-Length: %zu\r\n\r\n",
	           path, path, body.size);
	buf_add(&record, body.data, body.size);
	buf_str(&record, "\r\n\r\n");
	pack_gzip(to, record.data, record.size);
	buf_release(&body);
	buf_release(&record);
}

static void count_report(void *arg, const char *text)
{
	(void)text;
	++*(unsigned *)arg;
}

static void import_once(const char *path, struct found *ret, unsigned *ret_reports)
{
	struct import i = { .report = count_report, .arg = ret_reports, .now = 1800000000 };
	struct bed b;
	struct err err = { 0 };

	bed_open(&b, "127.0.0.0/8");
	i.store = b.store;
	i.folder = b.dir;
	if (import_file(&i, path, &err) < 0)
		fail_msg("%s", err.text);
	look(b.store, ret);
	bed_close(&b);
}

static void test_import(void **state)
{
	struct found *with = mem_zalloc(2, sizeof *with), *without = with + 1;
	unsigned said = 0, said_without = 0, n = 0;
	char path[SCRATCH_PATH], name[40];
	struct buf file;

	(void)state;
	buf_init(&file, BUF_NO_LIMIT);
	for (unsigned i = 0; i < 60; i++) {
		bool breaks = i % 6 == 2 && i / 6 < N_WAYS;

		snprintf(name, sizeof name, "p%u", i);
		if (!breaks)
			add_record(&file, name, "fine");
		else {
			char what[40];

			snprintf(what, sizeof what, "BREAK %s", ways[i / 6]);
			add_record(&file, name, what);
		}
	}
	scratch_file(path, "a.warc.gz", file.data, file.size);
	begin_cells();
	import_once(path, with, &said);
	cells_end();
	import_once(path, without, &said_without);
	assert_int_equal(said, N_WAYS);
	assert_int_equal(said_without, 0);
	/* pages have numbers in their order, and those that broke have none */
	for (unsigned i = 0, k = 0; i < 60; i++) {
		if (i % 6 == 2 && i / 6 < N_WAYS)
			continue;
		assert_true(*with->what[k]);
		assert_string_equal(with->what[k++], without->what[i]);
		n = k;
	}
	assert_int_equal(n, 60 - N_WAYS);
	assert_string_equal(with->what[n], "");
	buf_release(&file);
	free(with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crawl),
		cmocka_unit_test(test_compare), cmocka_unit_test(test_import),
		cmocka_unit_test(test_no_maker),
	};

	if (!calls_known() || CALLS_SANITIZED)  /* their limits of memory and calls are others */
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
