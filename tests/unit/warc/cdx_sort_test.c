/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and merging index lines against qsort over an array of strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../lib/pack.h"
#include "../../lib/scratch.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/cdx_sort.h"

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int collect(void *arg, const char *line, size_t size, struct err *err)
{
	(void)err;
	buf_add(arg, line, size);
	buf_byte(arg, '\n');
	return 0;
}

static int refuse(void *arg, const char *line, size_t size, struct err *err)
{
	(void)line;
	(void)size;
	return --*(int *)arg < 0 ? err_set(err, E_FAIL, "enough") : 0;
}

/* Random lines over a small alphabet (many equal, many prefixes, high bytes). */
static char **make_lines(size_t n)
{
	static const char alphabet[] = { ' ', ',', ')', 'a', 'z', (char)0xc3, (char)0xff };
	char **lines = mem_array(n, sizeof *lines);
	struct rng r;

	rng_init(&r, 3);
	for (size_t i = 0; i < n; i++) {
		size_t size = rng_below(&r, 12);

		lines[i] = mem_alloc(size + 1);
		for (size_t k = 0; k < size; k++)
			lines[i][k] = alphabet[rng_below(&r, sizeof alphabet)];
		lines[i][size] = '\0';
	}
	return lines;
}

static void test_sort(void **state)
{
	size_t n = 20000;
	char **lines = make_lines(n);
	/* all in memory; a few runs; and so little memory that there are 100 */
	static const size_t memory[] = { 100 << 20, 100000, 6000 };
	struct buf got[3], want;
	char folder[SCRATCH_PATH];

	(void)state;
	scratch_folder(folder, "sort");
	buf_init(&want, BUF_NO_LIMIT);
	for (int i = 0; i < 3; i++) {
		struct cdx_sorter *s = cdx_sorter_new(memory[i], folder);

		buf_init(&got[i], BUF_NO_LIMIT);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(cdx_sorter_add(s, lines[k], strlen(lines[k]), NULL), 0);
		assert_int_equal(cdx_sorter_finish(s, collect, &got[i], NULL), 0);
		/* it is empty now */
		assert_int_equal(cdx_sorter_finish(s, refuse, &(int){ 0 }, NULL), 0);
		cdx_sorter_free(s);
	}
	qsort(lines, n, sizeof *lines, by_bytes);
	for (size_t k = 0; k < n; k++)
		if (k == 0 || strcmp(lines[k], lines[k - 1])) {
			buf_str(&want, lines[k]);
			buf_byte(&want, '\n');
		}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(got[i].size, want.size);
		assert_memory_equal(got[i].data, want.data, want.size);
		buf_release(&got[i]);
	}
	for (size_t k = 0; k < n; k++)
		free(lines[k]);
	free(lines);
	buf_release(&want);
}

static void test_limits(void **state)
{
	struct cdx_sorter *s = cdx_sorter_new(10, "/nonexistent");
	char folder[SCRATCH_PATH];
	struct err err;

	(void)state;
	assert_int_equal(cdx_sorter_add(s, "a\nb", 3, &err), E_PARSE);
	assert_int_equal(cdx_sorter_add(s, "a", 1, &err), 0);
	assert_int_equal(cdx_sorter_add(s, "b", 1, &err), E_IO);
	assert_non_null(strstr(err.text, "/nonexistent"));
	cdx_sorter_free(s);

	s = cdx_sorter_new(1, scratch_folder(folder, "sort"));
	int rc = 0, n = 0;
	while (rc == 0 && n < 10000) {
		rc = cdx_sorter_add(s, "x", 1, &err);
		n++;
	}
	assert_int_equal(rc, E_LIMIT);
	assert_int_equal(n, CDX_SORT_RUNS_MAX + 2);
	cdx_sorter_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
