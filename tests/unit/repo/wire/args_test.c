/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to PostgreSQL comes back as it was: any bytes as texts, numbers, nothing; and
 * the server itself reads our binary arrays as we mean them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "repo/wire/args.h"
#include "repo/wire/link.h"
#include "repo/wire/pipe.h"
#include "repo/wire/row.h"
#include "../../../lib/pg.h"

static struct pg_target target;
static struct pg_link the_link;
static bool prepared[N_PG_SQL];

static int setup(void **state)
{
	char url[PG_URL];
	struct err err;

	(void)state;
	assert_int_equal(pg_target_parse(&target, pg_url(url), &err), 0);
	the_link = (struct pg_link){ .target = &target, .prepared = prepared };
	assert_int_equal(pg_link_connect(&the_link, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pg_link_close(&the_link);
	pg_target_release(&target);
	return 0;
}

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

/* The examples of the comment in args.h, by hand. */
static void test_texts_that_are_no_utf8(void **state)
{
	static const struct { const char *in; size_t size; const char *out; } list[] = {
		{ "plain", 5, "plain" }, { "gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f" },
		{ "\xff", 1, "\xef\x9f\xbf" },          /* U+F7FF */
		{ "a\0b", 3, "a\xef\x9c\x80" "b" },     /* U+F700 */
		{ "\xc3", 1, "\xef\x9f\x83" },          /* U+F7C3: half a letter */
		/* U+F700 itself: its three bytes */
		{ "\xef\x9c\x80", 3, "\xef\x9f\xaf\xef\x9e\x9c\xef\x9e\x80" },
		{ "\xed\xa0\x80", 3, "\xef\x9f\xad\xef\x9e\xa0\xef\x9e\x80" },  /* half of a pair */
	};
	struct arena room = { 0 };
	struct buf out;

	(void)state;
	buf_init(&out, BUF_NO_LIMIT);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		struct text t = pg_text_out((struct text){ list[i].in, list[i].size }, &out);

		assert_int_equal(t.size, strlen(list[i].out));
		assert_memory_equal(t.s, list[i].out, t.size);
		t = pg_text_in(t, &room);
		assert_int_equal(t.size, list[i].size);
		assert_memory_equal(t.s, list[i].in, t.size);
	}
	buf_release(&out);
	arena_release(&room);
}

static void ask(const char *sql, const struct pg_args *a, struct pg_pipe *p)
{
	struct err err;

	*p = (struct pg_pipe){ .link = &the_link };
	pg_pipe_text(p, sql, a);
	if (pg_pipe_run(p, &err) < 0)
		fail_msg("%s", err.text);
}

/* Random bytes, many of them parts of letters and of our own escapes, through the server. */
static void test_any_bytes_come_back(void **state)
{
	static const char parts[] = "a\0\xef\x9c\x80\x9f\xbf\xc3\xa4\xf0\x90\x8d\xff";
	struct pg_rows rows = { .types = "t" };
	struct pg_args a = { 0 };
	struct arena room = { 0 };
	struct pg_pipe p;
	char in[300][40];
	size_t sizes[300];

	(void)state;
	for (unsigned seed = 1; seed <= 3; seed++) {
		srand(seed);
		for (int i = 0; i < 300; i++) {
			sizes[i] = (size_t)(rand() % 40);
			for (size_t k = 0; k < sizes[i]; k++)
				in[i][k] = rand() % 4 ? parts[(size_t)rand() % (sizeof parts - 1)] :
				           (char)rand();
			pg_rows_text(&rows, (struct text){ in[i], sizes[i] });
		}
		pg_args_clear(&a);
		pg_rows_take(&rows, &a);
		ask("SELECT t FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n", &a, &p);
		for (int i = 0; i < 300; i++) {
			struct pg_row r = { .r = p.results.v[0], .i = i, .room = &room };
			struct text t = pg_row_text(&r, 0);

			assert_int_equal(t.size, sizes[i]);
			assert_memory_equal(t.s, in[i], sizes[i]);
		}
		pg_pipe_release(&p);
	}
	pg_rows_release(&rows);
	pg_args_release(&a);
	arena_release(&room);
}

/* The server writes the values down; the texts are PostgreSQL's own. */
static void test_arrays_mean_what_we_mean(void **state)
{
	struct pg_rows rows = { .types = "irtb" };
	struct pg_args a = { 0 };
	struct pg_pipe p;
	static const char *const want[] = {
		"-9223372036854775808 -0.5 x \\x00ff", "9223372036854775807 (none) (none) (none)",
		"(none) 1e+300  \\x",
	};

	(void)state;
	pg_rows_int(&rows, INT64_MIN);
	pg_rows_real(&rows, -0.5);
	pg_rows_text(&rows, text("x"));
	pg_rows_bytes(&rows, (struct text){ "\0\xff", 2 });
	pg_rows_int(&rows, INT64_MAX);
	pg_rows_real(&rows, (double)NAN);
	pg_rows_text(&rows, (struct text){ 0 });
	pg_rows_bytes(&rows, (struct text){ 0 });
	pg_rows_int_or_null(&rows, 7, false);
	pg_rows_real(&rows, 1e300);
	pg_rows_text(&rows, text(""));
	pg_rows_bytes(&rows, text(""));
	assert_int_equal(rows.n, 3);
	pg_rows_take(&rows, &a);
	ask("SELECT concat_ws(' ', coalesce(i::text, '(none)'), coalesce(r::text, '(none)'), "
	    "coalesce(t, '(none)'), coalesce(b::text, '(none)')) FROM unnest($1::int8[], "
	    "$2::float8[], $3::text[], $4::bytea[]) WITH ORDINALITY AS u (i, r, t, b, n) ORDER BY n",
	    &a, &p);
	for (int i = 0; i < 3; i++)
		assert_string_equal(PQgetvalue(p.results.v[0], i, 0), want[i]);
	pg_pipe_release(&p);
	pg_rows_take(&rows, (pg_args_clear(&a), &a));           /* no rows are rows, too */
	ask("SELECT cardinality($1::int8[])::int8 + cardinality($3::text[])::int8, $2::float8[], "
	    "$4::bytea[]", &a, &p);
	assert_int_equal(pg_row_any(&(struct pg_row){ .r = p.results.v[0] }, 0), 0);
	pg_pipe_release(&p);
	pg_rows_release(&rows);
	pg_args_release(&a);
}

/* The same rows by COPY, each number as wide as its column. */
static void test_copy_means_what_we_mean(void **state)
{
	struct pg_rows rows = { .types = "insorftb" };
	struct pg_args a = { 0 };
	struct pg_pipe p = { .link = &the_link };
	struct err err;
	static const char *const want[] = {
		"5 -9223372036854775808 -2147483648 -32768 f -0.5 0.25 x \\x00ff",
		"5 9223372036854775807 2147483647 32767 t 1e+300 Infinity gr\xc3\xbc \\x",
		"5",
	};

	(void)state;
	pg_rows_int(&rows, INT64_MIN), pg_rows_int(&rows, INT32_MIN), pg_rows_int(&rows, INT16_MIN);
	pg_rows_int(&rows, 0), pg_rows_real(&rows, -0.5), pg_rows_real(&rows, 0.25);
	pg_rows_text(&rows, text("x")), pg_rows_bytes(&rows, (struct text){ "\0\xff", 2 });
	pg_rows_int(&rows, INT64_MAX), pg_rows_int(&rows, INT32_MAX), pg_rows_int(&rows, INT16_MAX);
	pg_rows_int(&rows, 2), pg_rows_real(&rows, 1e300), pg_rows_real(&rows, (double)INFINITY);
	pg_rows_text(&rows, text("gr\xc3\xbc")), pg_rows_bytes(&rows, text(""));
	for (int i = 0; i < 4; i++)
		pg_rows_int_or_null(&rows, 1, false);
	pg_rows_real(&rows, (double)NAN), pg_rows_real(&rows, (double)NAN);
	pg_rows_text(&rows, (struct text){ 0 }), pg_rows_bytes(&rows, (struct text){ 0 });
	assert_true(pg_rows_copy(&rows, 5, &a));
	assert_int_equal(rows.n, 0);
	pg_pipe_text(&p, "CREATE TEMPORARY TABLE wide (z int, i int8, n int4, s int2, o bool, r "
	             "float8, f float4, t text, b bytea)", NULL);
	assert_int_equal(pg_pipe_run(&p, &err), 0);
	if (pg_link_copy(&the_link, "COPY wide FROM STDIN (FORMAT binary)", a.bytes.data +
	                 a.arg[0].from, (size_t)a.arg[0].size, &err) < 0)
		fail_msg("%s", err.text);
	pg_pipe_release(&p);
	ask("SELECT concat_ws(' ', z, i, n, s, o, r, f, t, b) FROM wide ORDER BY i", NULL, &p);
	assert_int_equal(PQntuples(p.results.v[0]), 3);
	for (int i = 0; i < 3; i++)
		assert_string_equal(PQgetvalue(p.results.v[0], i, 0), want[i]);
	pg_pipe_release(&p);
	pg_rows_release(&rows);
	pg_args_release(&a);
}

/* A number that does not fit is not cut; arrays have it as it is. */
static void test_copy_cuts_no_number(void **state)
{
	static const struct { const char *types; double n; } list[] = {
		{ "s", 32768 }, { "s", -32769 }, { "n", 2147483648 }, { "n", -2147483649 }, { "f", 1e39 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		struct pg_rows rows = { .types = list[i].types };
		struct pg_args a = { 0 };

		if (*list[i].types == 'f')
			pg_rows_real(&rows, list[i].n);
		else
			pg_rows_int(&rows, (int64_t)list[i].n);
		assert_false(pg_rows_copy(&rows, 0, &a));
		assert_int_equal(rows.n, 1);
		assert_int_equal(a.n, 0);
		pg_rows_release(&rows);
		pg_args_release(&a);
	}
}

static void test_numbers_of_all_widths(void **state)
{
	struct pg_args a = { 0 };
	struct pg_pipe p;
	struct pg_row r;

	(void)state;
	ask("SELECT (-5)::int2, (-70000)::int4, (-5000000000)::int8, true, 0.25::float4, "
	    "1e-300::float8, NULL::int4, 'NaN'::float4", &a, &p);
	r = (struct pg_row){ .r = p.results.v[0], .table = "t", .where = "here" };
	assert_int_equal(pg_row_any(&r, 0), -5);
	assert_int_equal(pg_row_any(&r, 1), -70000);
	assert_true(pg_row_any(&r, 2) == -5000000000);
	assert_true(pg_row_flag(&r, 3));
	assert_true(pg_row_score(&r, 4) == 0.25f);
	assert_true(pg_row_real(&r, 5, 0, 1, "x") == 1e-300);
	assert_int_equal(pg_row_size(&r, 6), -1);
	assert_true(isnan(pg_row_score(&r, 7)));
	assert_int_equal(r.rc, 0);
	pg_row_count(&r, 0);
	assert_int_equal(r.rc, E_STORE);
	pg_pipe_release(&p);
	pg_args_release(&a);
}

/* One statement that fails takes those up to the next mark with it, and no others. */
static void test_a_pipe_fails_between_marks(void **state)
{
	struct pg_pipe p = { .link = &the_link };
	struct err err;

	(void)state;
	pg_pipe_text(&p, "SELECT 1::int8", NULL);
	pg_pipe_mark(&p);
	pg_pipe_text(&p, "SELECT 1 / 0", NULL);
	pg_pipe_text(&p, "SELECT 3::int8", NULL);
	pg_pipe_mark(&p);
	pg_pipe_text(&p, "SELECT 4::int8", NULL);
	assert_int_equal(pg_pipe_run(&p, &err), E_STORE);
	assert_non_null(strstr(err.text, "division by zero"));
	assert_int_equal(p.failed, 1);
	assert_non_null(p.results.v[0]);
	assert_null(p.results.v[1]);
	assert_null(p.results.v[2]);
	assert_int_equal(pg_row_any(&(struct pg_row){ .r = p.results.v[3] }, 0), 4);
	pg_pipe_release(&p);
	ask("SELECT 1", NULL, &p);              /* the connection goes on */
	pg_pipe_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_that_are_no_utf8),
		cmocka_unit_test(test_any_bytes_come_back),
		cmocka_unit_test(test_arrays_mean_what_we_mean),
		cmocka_unit_test(test_copy_means_what_we_mean),
		cmocka_unit_test(test_copy_cuts_no_number),
		cmocka_unit_test(test_numbers_of_all_widths),
		cmocka_unit_test(test_a_pipe_fails_between_marks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
