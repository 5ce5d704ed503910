/* SPDX-License-Identifier: Apache-2.0 */
/* Link graphs as pages with links: what is one, and what comes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/import/import.h"
#include "../../../lib/scratch.h"

static void test_what_is_a_graph(void **state)
{
	static const struct { const char *text; bool graph; } cases[] = {
		{ "http://a/ http://b/\n", true },
		{ "# links\n\nhttps://a/\thttps://b/\n", true },
		{ "http://a/\t1\t/x /y\n", true },
		{ "http://a/\t0\n", true },
		{ "http://a/\t2\n", false },
		{ "http://a/\nhttp://b/\n", false },
		{ "http://a/ # a remark\n", false },
		{ "1 2\n", false },                     /* numbers are no pages */
		{ "# only this", false },
		{ "", false },
		{ "\n\n\n", false },
		{ "a://", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (archive_is_graph(cases[i].text, strlen(cases[i].text)) != cases[i].graph)
			fail_msg("case %zu: %s", i, cases[i].text);
}

static int count_links(void *arg, const struct store_capture *c, struct err *err)
{
	char *all = arg;

	(void)err;
	snprintf(all + strlen(all), 200, "%u:%.*s;", c->page, (int)c->links.size, c->links.s);
	return 0;
}

static void test_adjacency_becomes_pages_with_links(void **state)
{
	static const char text[] = "http://a.example/x\t1\t/y http://b.example/ /none\n"
		"http://a.example/y\t0\t\nhttp://b.example/\t1\t/\n";
	char file[SCRATCH_PATH], db[SCRATCH_PATH], links[1000] = "";
	struct import i = { .now = 1000 };
	struct err err;

	(void)state;
	scratch_file(file, "graph", text, strlen(text));
	assert_int_equal(store_open(&i.store, scratch_path(db, "db"), STORE_CREATE, &err), 0);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(import_file(&i, file, &err), 0);
		assert_int_equal(i.stats.n_pages, 3);
		assert_int_equal(i.stats.n_captures, 2);
	}
	assert_int_equal(i.stats.n_doubles, 2);
	assert_int_equal(store_captures(i.store, NULL, 0, count_links, links, &err), 0);
	assert_string_equal(links, "0:http://a.example/y http://b.example/;2:http://b.example/;");
	store_close(i.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_a_graph),
		cmocka_unit_test(test_adjacency_becomes_pages_with_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
