/* SPDX-License-Identifier: Apache-2.0 */
/* URLs that give traps away, URLs that must not be taken for one, and shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "web/rules/trap.h"

#define NOW 1700000000          /* November 2023 */

static void test_traps(void **state)
{
	static const struct { enum trap want; const char *url; } cases[] = {
		{ TRAP_NONE, "http://a/" },
		{ TRAP_NONE, "http://a/news/2023/11/something.html" },
		{ TRAP_NONE, "http://a/archive/1987/03/" },
		{ TRAP_NONE, "http://a/item?id=5&lang=de" },
		{ TRAP_NONE, "http://a/en/docs/en/x" },
		{ TRAP_NONE, "http://a/paper.pdf" },
		{ TRAP_NONE, "http://a/v1.2.3/notes" },
		{ TRAP_NONE, "http://a/view?file=x.png" },
		{ TRAP_NONE, "http://a/standards/2119/" },
		{ TRAP_NONE, "http://a/inside?residence=1&season=2" },
		{ TRAP_SESSION, "http://a/x;jsessionid=0A1B2C" },
		{ TRAP_SESSION, "http://a/x;a=1;JSESSIONID=0A1B2C/y" },
		{ TRAP_SESSION, "http://a/x?PHPSESSID=abc" },
		{ TRAP_SESSION, "http://a/x?a=1&sid=abc" },
		{ TRAP_SESSION, "http://a/(S(lit3py55t21z5v55vlm25s55))/x" },
		{ TRAP_SESSION, "http://a/x?utm_source=feed" },
		{ TRAP_SESSION, "http://a/x?ASPSESSIONIDQRST=1" },
		{ TRAP_REPEATED, "http://a/x/x/x/" },
		{ TRAP_REPEATED, "http://a/a/b/a/b/" },
		{ TRAP_REPEATED, "http://a/en/about/en/news/en/" },
		{ TRAP_DEEP, "http://a/1/2/3/4/5/6/7/8/9/10/11/12/13" },
		{ TRAP_QUERY, "http://a/s?a=1&b=2&c=3&d=4&e=5&f=6&g=7" },
		{ TRAP_CALENDAR, "http://a/cal/2031/05/" },
		{ TRAP_CALENDAR, "http://a/cal/2026-01" },
		{ TRAP_CALENDAR, "http://a/cal/2026-01-17/" },
		{ TRAP_CALENDAR, "http://a/cal/99991231" },
		{ TRAP_CALENDAR, "http://a/cal?month=2031-05" },
		{ TRAP_CALENDAR, "http://a/cal?year=2044&month=1" },
		{ TRAP_NONE, "http://a/cal/2024-06" },
		{ TRAP_NONE, "http://a/cal/20241231" },
		{ TRAP_FILE, "http://a/i/logo.PNG" },
		{ TRAP_FILE, "http://a/src.tar.gz" },
	};
	char longest[1100] = "http://a/";

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum trap got = trap_find(cases[i].url, strlen(cases[i].url), NOW);

		if (got != cases[i].want)
			fail_msg("%s: %s, wanted %s", cases[i].url, trap_name(got),
			         trap_name(cases[i].want));
	}
	memset(longest + 9, 'x', 1050);
	assert_int_equal(trap_find(longest, strlen(longest), NOW), TRAP_LONG);
	assert_int_equal(trap_find(longest, 1000, NOW), TRAP_NONE);
}

static void test_shapes(void **state)
{
	static const char *const cases[][2] = {
		{ "http://a/", "a/" },
		{ "http://h1.example:8080/cal/2031/05/x7.html", "h1.example:8080/cal/0/0/" },
		{ "https://a/b12c/3/x", "a/b0c/0/" },
		{ "http://a/d/s.php?page=3&q=x", "a/d/s.php?page,q" },
		{ "http://a/d5/s9?q=x", "a/d0/s0?q" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		buf_clear(&b);
		buf_str(&b, "12");      /* what was there stays */
		trap_shape(cases[i][0], strlen(cases[i][0]), &b);
		if (memcmp(b.data, "12", 2) || strcmp(b.data + 2, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], b.data);
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
