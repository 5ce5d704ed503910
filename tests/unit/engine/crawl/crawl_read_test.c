/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are read together: what a reader keeps of them, whatever was among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "engine/archive/readers.h"
#include "engine/crawl/crawl_inner.h"
#include "../../../lib/pack.h"

#define SMALL 2000
#define BIG ((size_t)4 << 20)
#define KEPT ((size_t)12 << 20)         /* what a reader may keep: less than of two big pages */

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";

/* A page of so many bytes, packed, of links. */
static struct buf page(size_t size)
{
	struct buf plain, packed;

	buf_init(&plain, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	for (unsigned i = 0; plain.size < size; i++)
		buf_printf(&plain, "<a href='/%08x%0200u'>%x</a>\n", i * 2654435761u, i, i);
	pack_gzip(&packed, plain.data, plain.size);
	buf_release(&plain);
	return packed;
}

static size_t kept(const struct crawl_reader *r)
{
	size_t sum = 0;

	for (size_t i = 0; i < ANALYSE_TOGETHER; i++)
		sum += r->one[i].decoded.cap + r->one[i].analyser.answer.cap;
	return sum;
}

/* A big page comes in each place among those that are read together, the last first. */
static void test_memory(void **state)
{
	struct crawl_opts o = { .fetch = FETCH_DEFAULTS, .no_requests = true };
	struct crawl_reader *r = mem_zalloc(1, sizeof *r);
	struct crawl_answer *a = mem_zalloc(ANALYSE_TOGETHER, sizeof *a);
	struct crawl_answer *answers[ANALYSE_TOGETHER];
	struct buf small = page(SMALL), big = page(BIG);
	struct cell_table t = readers_table();
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cells_begin(&t), 0);
	assert_int_equal(crawl_reader_init(r, &o, (struct warc_packing){ 0 }, NULL, &err), 0);
	for (size_t i = 0; i < ANALYSE_TOGETHER; i++) {
		crawl_answer_init(&a[i]);
		answers[i] = &a[i];
	}
	for (size_t n = ANALYSE_TOGETHER; n; n--) {
		for (size_t i = 0; i < n; i++) {
			const struct buf *body = i + 1 == n ? &big : &small;

			a[i].time = 1700000000;
			a[i].result = (struct fetch_result){
				.url = "http://h.example/p", .status = 200, .head = head,
				.head_size = sizeof head - 1, .body = body->data, .body_size = body->size,
				.decoded = body->data, .decoded_size = body->size, .ip = "", .why = "" };
		}
		crawl_read(&o, r, answers, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(a[i].rc, 0);
			assert_int_equal(a[i].result.error, FETCH_OK);
			assert_true(a[i].record.links.size > SMALL / 2);
			assert_int_equal(strlen(a[i].record.links.s), a[i].record.links.size);
		}
		assert_in_range(kept(r), 1, KEPT);
	}
	for (size_t i = 0; i < ANALYSE_TOGETHER; i++)
		crawl_answer_release(&a[i]);
	crawl_reader_release(r);
	cells_end();
	buf_release(&small);
	buf_release(&big);
	free(a);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
