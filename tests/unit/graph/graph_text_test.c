/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as text: every form by hand, damage, and a random round trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/graph_text.h"

/* Pages are in capitals; a link "+x" is x behind the page, "-" none at all. */
static int resolve(const char *page, size_t page_size, const char *link, size_t link_size,
                   struct buf *out)
{
	if (!memchr(link, ':', link_size) && *link != '/' && *link != '+')
		return -1;
	if (page && (*link == '/' || *link == '+'))
		buf_add(out, page, *link == '+' ? page_size : strlen("HTTP://H"));
	for (size_t i = *link == '+'; i < link_size; i++)
		buf_byte(out, link[i] >= 'a' && link[i] <= 'z' ? (unsigned char)(link[i] - 32) :
		         (unsigned char)link[i]);
	return 0;
}

static int read_texts(const char *const *texts, size_t n, bool dedupe,
                      struct graph_text *ret, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = dedupe };
	struct graph_text_reader *r = graph_text_new(&opts, resolve);

	for (size_t i = 0; i < n; i++) {
		struct input *in;
		int failed;

		assert_int_equal(input_open_memory(&in, texts[i], strlen(texts[i]), "text", err), 0);
		failed = graph_text_add(r, in, err);
		input_close(in);
		if (failed) {
			graph_text_free(r);
			return failed;
		}
	}
	return graph_text_finish(r, ret, err);
}

static void assert_links(const struct graph *g, const char *want)
{
	char got[500] = "";
	size_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++)
			n += (size_t)snprintf(got + n, sizeof got - n, "%u>%u ", v, g->targets[i]);
	assert_string_equal(got, want);
}

static void test_numbers(void **state)
{
	const char *texts[] = { "# a comment\n% another\n\n3 1\r\n0\t3\n  0   2  extra words\n",
	                        "3\t1\n1 0" };
	struct graph_text t;

	(void)state;
	assert_int_equal(read_texts(texts, 2, true, &t, NULL), 0);
	assert_int_equal(t.kind, GRAPH_TEXT_NUMBERS);
	assert_int_equal(t.graph.n_nodes, 4);
	assert_links(&t.graph, "0>2 0>3 1>0 3>1 ");
	graph_text_release(&t);
	assert_int_equal(read_texts(texts, 2, false, &t, NULL), 0);
	assert_links(&t.graph, "0>2 0>3 1>0 3>1 3>1 ");
	graph_text_release(&t);
}

static void test_names(void **state)
{
	const char *texts[] = { "http://a/ http://b/\nhttp://b/\thttp://c/?x#y\n",
	                        "http://c/?x#y http://a/\n7 8\n" };
	struct graph_text t;

	(void)state;
	assert_int_equal(read_texts(texts, 2, true, &t, NULL), 0);
	assert_int_equal(t.kind, GRAPH_TEXT_NAMES);
	assert_links(&t.graph, "0>1 1>2 2>0 3>4 ");
	assert_string_equal(strtab_get(&t.names, 2), "http://c/?x#y");
	assert_string_equal(strtab_get(&t.names, 4), "8");
	graph_text_release(&t);
}

static void test_adjacency(void **state)
{
	const char *texts[] = {
		"http://h/\t1\t+b http://h/c /nowhere http://far/ b\n"
		"http://h/b\t0\t\n"
		"http://h/d?q\t1\n",
		"http://h/c\t1\t/ /d?q /b /b\n" };
	struct graph_text t;

	(void)state;
	assert_int_equal(read_texts(texts, 2, true, &t, NULL), 0);
	assert_int_equal(t.kind, GRAPH_TEXT_ADJACENCY);
	assert_int_equal(t.graph.n_nodes, 4);
	assert_links(&t.graph, "0>1 0>3 3>0 3>1 3>2 ");
	assert_int_equal(t.n_outside, 3);
	assert_memory_equal(t.alive, ((uint8_t[]){ 1, 0, 1, 1 }), 4);
	assert_string_equal(strtab_get(&t.names, 3), "HTTP://H/C");
	graph_text_release(&t);
}

static void test_wrong_lines_are_named(void **state)
{
	static const struct { const char *texts[2]; int code; const char *says; } cases[] = {
		{ { "1 2\nx 3\n" }, E_PARSE, "line 2" },
		{ { "1 2\n3\n" }, E_PARSE, "line 2" },
		{ { "1 2\n4294967295 3\n" }, E_PARSE, "line 2" },
		{ { "a\n" }, E_PARSE, "line 1" },
		{ { "u\t1\tv\nw\t2\tv\n" }, E_PARSE, "line 2" },
		{ { "u\t1\tv\nw\tx y\n" }, E_PARSE, "line 2" },
		{ { "u\t1\tv\n", "1 2\n" }, E_PARSE, "another kind" },
		{ { "1 2\n", "a b\n" }, E_PARSE, "another kind" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = { 0 };
		struct graph_text t;

		assert_int_equal(read_texts(cases[i].texts, cases[i].texts[1] ? 2 : 1, true, &t,
		                            &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

/* Memory goes by the highest number: it must be one that the file can mean. */
static void test_numbers_out_of_nowhere(void **state)
{
	static const char *const huge[] = { "1 4294967200\n", "4294967200 1\n", "7 2000000\n" };
	static const char *const fine[] = { "1048575 3\n" };
	struct graph_text t = { 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(read_texts(&huge[i], 1, false, &t, &err), E_LIMIT);
		assert_non_null(strstr(err.text, "number the nodes from 0"));
	}
	assert_int_equal(read_texts(fine, 1, false, &t, &err), 0);
	assert_int_equal(t.graph.n_nodes, 1048576);
	graph_text_release(&t);
}

static void test_empty(void **state)
{
	const char *texts[] = { "# nothing\n" };
	struct graph_text t;

	(void)state;
	assert_int_equal(read_texts(texts, 1, true, &t, NULL), 0);
	assert_int_equal(t.graph.n_nodes, 0);
	graph_text_release(&t);
	assert_int_equal(read_texts(NULL, 0, true, &t, NULL), 0);
	graph_text_release(&t);
}

static void test_written_text_reads_the_same(void **state)
{
	struct graph_text t;
	struct graph g;
	struct rng r;
	uint32_t from[300], to[300];
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	rng_init(&r, 5);
	for (int i = 0; i < 300; i++) {
		from[i] = (uint32_t)rng_below(&r, 60);
		to[i] = (uint32_t)rng_below(&r, 60);
	}
	from[0] = 59;                   /* so that the highest node is named */
	assert_int_equal(graph_build(from, to, 300, 60, true, &g, NULL), 0);
	assert_true(graph_text_write(&g, NULL, f));
	fclose(f);
	assert_int_equal(read_texts((const char *const[]){ text }, 1, true, &t, NULL), 0);
	assert_int_equal(t.graph.n_links, g.n_links);
	assert_memory_equal(t.graph.targets, g.targets, g.n_links * 4);
	assert_memory_equal(t.graph.offsets, g.offsets, 61 * 8);
	graph_text_release(&t);
	graph_release(&g);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_adjacency),
		cmocka_unit_test(test_wrong_lines_are_named),
		cmocka_unit_test(test_numbers_out_of_nowhere),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_written_text_reads_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
