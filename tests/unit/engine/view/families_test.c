/* SPDX-License-Identifier: Apache-2.0 */
/* Names that pages share, by hand; and the size of a copy on its log scale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "engine/history/facts.h"
#include "engine/view/families.h"
#include "policy/tide/tide.h"

static void expect(const char *url, bool alone, const char *name, const char *word,
                   const char *last, const char *shape)
{
	const char *want[N_FAMILIES] = { [FAMILY_NAME] = name, [FAMILY_WORD] = word,
	                                 [FAMILY_LAST] = last, [FAMILY_SHAPE] = shape };
	struct families f;

	families_of(url, strlen(url), alone, &f);
	for (int k = 0; k < N_FAMILIES; k++)
		if (f.size[k] != strlen(want[k]) || memcmp(f.part[k], want[k], f.size[k]))
			fail_msg("%s: family %d is '%.*s', not '%s'", url, k, (int)f.size[k],
			         f.part[k], want[k]);
}

static void names_by_hand(void **state)
{
	(void)state;
	expect("http://a.example/x/2024/07/news-12.html", false, "news-12.html", "news", "07",
	       "/x/0/0/");
	expect("http://a.example/docs/index.html", false, "index.html", "index", "docs", "/docs/");
	expect("http://a.example/docs/?id=3", false, "", "", "docs", "/docs/");
	expect("http://a.example/", false, "", "", "", "/");
}

/* A page alone in its directory is named as if it were a file beside it. */
static void alone_in_a_directory(void **state)
{
	(void)state;
	expect("http://a.example/docs/api2/", true, "api2", "api", "docs", "/docs/");
	expect("http://a.example/docs/api2/index.html", true, "api2", "api", "docs", "/docs/");
	expect("http://a.example/docs/api2/other.html", true, "other.html", "other", "api2",
	       "/docs/api0/");
	expect("http://a.example/docs/", true, "docs", "docs", "", "/");
	expect("http://a.example/", true, "", "", "", "/");
}

/* http://a.example/ with d/ (two pages), e/ (one), e/f/ (one), g/ (one). */
static void home_of_a_directory(void **state)
{
	static const char pool[] = "http://a.example/d/1\0http://a.example/d/2\0"
		"http://a.example/e/1\0http://a.example/e/f/1\0http://a.example/g/1\0"
		"http://a.example/g/2\0http://a.example/e/f/h/1";
	static const uint32_t home[] = { 0, 1, 2, 2, 0 };
	uint64_t offset[8] = { 0 };
	struct pages_opts opts = { .borrow = true, .n_settled = 5 };
	struct pages p;

	(void)state;
	for (size_t i = 0, n = 0; i < sizeof pool; i++)
		if (!pool[i])
			offset[++n] = i + 1;
	/* two pages that are not settled, in g/ and e/f/h/, change nothing */
	for (uint32_t n = 5; n <= 7; n += 2) {
		pages_init(&p, (char *)(uintptr_t)pool, offset, n, &opts);
		assert_int_equal(p.tree.n_dirs, n == 5 ? 5 : 6);
		for (uint32_t d = 0; d < 5; d++)
			assert_int_equal(tide_home(&p.tree, d), home[d]);
		if (n == 7)
			assert_int_equal(tide_home(&p.tree, 5), 5);
		pages_release(&p);
	}
	opts.n_settled = 0;             /* all are: only e/f/h/ is alone */
	pages_init(&p, (char *)(uintptr_t)pool, offset, 7, &opts);
	for (uint32_t d = 0; d < 6; d++)
		assert_int_equal(tide_home(&p.tree, d), d == 5 ? 3 : d);
	pages_release(&p);
}

static void sizes(void **state)
{
	(void)state;
	assert_int_equal(size_class(-1, -1), 0);
	assert_int_equal(size_class(0, 9000), 1);
	assert_int_equal(size_class(1, -1), 9);         /* one doubling: eight steps */
	assert_int_equal(size_class(255, -1), 65);
	assert_int_equal(size_class(-1, 7 * 255), 65);  /* seven bytes a word */
	assert_int_equal(size_class(INT64_MAX, -1), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_by_hand),
		cmocka_unit_test(alone_in_a_directory),
		cmocka_unit_test(home_of_a_directory),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
