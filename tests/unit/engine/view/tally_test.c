/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites and directories are counted as a view of all pages has them, whether all pages are
 * read, or those that came after the file beside the store was written; a damaged file is
 * not used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/view/load.h"
#include "engine/view/tally.h"
#include "../../../lib/scratch.h"

#define MANY 21000

static void add_pages(struct store *s, struct rng *g, unsigned n)
{
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	while (n--) {
		char url[200];
		uint32_t number;
		int size = snprintf(url, sizeof url, "http://s%u.example/%u/%u/p%u",
		                    (unsigned)rng_below(g, 300), (unsigned)rng_below(g, 5),
		                    (unsigned)rng_below(g, 9), (unsigned)rng_below(g, 100000));

		if (rng_below(g, 3) == 0)
			size += snprintf(url + size, sizeof url - (size_t)size, "?id=%u&x=%u",
			                 (unsigned)rng_below(g, 50), (unsigned)rng_below(g, 50));
		assert_true(store_page_add(s, (struct text){ url, (size_t)size }, 7, &number, &err) >= 0);
	}
	assert_int_equal(store_commit(s, &err), 0);
}

static void compare(struct store *s)
{
	struct pages_opts opts = { 0 };
	struct loaded l;
	struct tally t;
	struct err err;

	assert_int_equal(tally_count(&t, s, NULL, &err), 0);
	assert_int_equal(load_pages(&l, s, &opts, &err), 0);
	assert_int_equal(t.pages, l.pages.n);
	assert_int_equal(t.sites, l.pages.tree.n_sites);
	assert_int_equal(t.dirs, l.pages.tree.n_dirs);
	loaded_release(&l);
}

static void damage(const char *path)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, -20, SEEK_END);
	fputc(fgetc(f) ^ 1, f);
	fclose(f);
}

static void test_counts_are_those_of_a_view(void **state)
{
	char path[SCRATCH_PATH], kept[SCRATCH_PATH + 10];
	struct store *s;
	struct rng g;
	struct err err;

	(void)state;
	rng_init(&g, 29);
	scratch_path(path, "db");
	snprintf(kept, sizeof kept, "%s" TALLY_END, path);
	assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
	compare(s);
	add_pages(s, &g, 500);
	compare(s);
	assert_true(access(kept, F_OK) < 0);    /* not worth a file */
	add_pages(s, &g, MANY);
	compare(s);
	assert_int_equal(access(kept, F_OK), 0);
	compare(s);
	add_pages(s, &g, 700);
	compare(s);
	damage(kept);
	compare(s);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_counts_are_those_of_a_view) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
