/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of reports: what is escaped, where, and that the page stays whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/frame/command_line.h"
#include "cli/report/report.h"
#include "../../../lib/scratch.h"

#define HOSTILE "</script><script>alert(1)</script><!--&\"'"

/* report.c needs nothing of the program but these two. */
void cli_json_schema(struct json *j, const char *command)
{
	json_object(j);
	json_kstr(j, "schema", command);
}

void cli_json_end(struct json *j)
{
	json_end_object(j);
	json_newline(j);
}

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *text;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = calloc(1, (size_t)st.st_size + 1);
	assert_int_equal(fread(text, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	return text;
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *s = text; (s = strstr(s, what)); s++)
		n++;
	return n;
}

static void add_document(struct report *r, const char *text)
{
	struct json *j = report_json(r);

	cli_json_schema(j, "test");
	json_kstr(j, "site", text);
	cli_json_end(j);
}

static char *write_and_read(struct report *r, const char *title, const char *command)
{
	char path[SCRATCH_PATH];
	struct report_head head = { title, command, 0 };
	struct err err = { 0 };

	assert_int_equal(report_write(r, scratch_path(path, "r.html"), &head, &err), 0);
	return read_all(path);
}

static void test_hostile_text_stays_text(void **state)
{
	struct report r;
	char *page;

	(void)state;
	report_init(&r);
	report_say(&r, "%s has 80 %% of it", HOSTILE);
	add_document(&r, HOSTILE);
	page = write_and_read(&r, "title " HOSTILE, "freshet " HOSTILE);
	/* the data, Chart.js, our script: three elements, and three ends */
	assert_int_equal(count(page, "<script"), 3);
	assert_int_equal(count(page, "</script"), 3);
	assert_int_equal(count(page, "<!--"), 0);
	assert_null(strstr(page, "<script>alert"));
	assert_non_null(strstr(page, "<h1>title &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
	                       "&lt;!--&amp;&quot;'</h1>"));
	assert_non_null(strstr(page, "\"site\":\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"
	                       "\\u003c/script\\u003e\\u003c!--\\u0026\\\"'\"}"));
	assert_non_null(strstr(page, "80&nbsp;%"));
	free(page);
	report_release(&r);
}

static void test_documents_are_lines(void **state)
{
	static const char want[] = "{\"schema\":\"test\",\"site\":\"one\\u000aline\"}\n"
		"{\"schema\":\"test\",\"site\":\"two\"}\n</script>";
	struct report r;
	const char *from;
	char *page;

	(void)state;
	report_init(&r);
	add_document(&r, "one\nline");
	add_document(&r, "two");
	page = write_and_read(&r, "t", "freshet");
	from = strstr(page, "id=\"documents\">");
	assert_non_null(from);
	from = strchr(from, '>') + 1;
	assert_true(strlen(from) > strlen(want));
	assert_memory_equal(from, want, strlen(want));
	free(page);
	report_release(&r);
}

/* Every part of the page is filled in, and nothing in it can end a script early. */
static void test_page_is_whole(void **state)
{
	static const char *const scripts[] = { "chart", "tools", "charts", "replay", "views" };
	struct report r;
	char *page;

	(void)state;
	report_init(&r);
	page = write_and_read(&r, "t", "freshet");
	assert_null(strstr(page, "{{"));
	assert_non_null(strstr(page, "Chart.js v3"));   /* with its notice */
	assert_non_null(strstr(page, "Released under the MIT License"));
	assert_non_null(strstr(page, "Content-Security-Policy"));
	assert_int_equal(count(page, "'sha256-"), 3);
	for (size_t i = 0; i < 5; i++) {
		struct report_asset a = report_asset(scripts[i]);

		assert_non_null(a.data);
		assert_true(a.size > 500);
		assert_null(memmem(a.data, a.size, "</script", 8));
		assert_null(memmem(a.data, a.size, "<!--", 4));
		assert_null(memmem(a.data, a.size, "\r", 1));   /* a browser would hash \n */
	}
	assert_null(report_asset("nothing").data);
	free(page);
	report_release(&r);
}

static void test_failure_leaves_the_old_file(void **state)
{
	char path[SCRATCH_PATH], part[SCRATCH_LONG];
	struct report_head head = { "t", "freshet", 0 };
	struct err err = { 0 };
	struct report r;
	char *big, *text;

	(void)state;
	scratch_file(path, "r.html", "old", 3);
	snprintf(part, sizeof part, "%s.part", path);
	report_init(&r);
	big = malloc(REPORT_DOCUMENTS_MAX + 1);
	memset(big, 'x', REPORT_DOCUMENTS_MAX);
	big[REPORT_DOCUMENTS_MAX] = '\0';
	add_document(&r, big);
	free(big);
	assert_int_equal(report_write(&r, path, &head, &err), E_USAGE);
	assert_non_null(strstr(err.text, "64 MB"));
	text = read_all(path);
	assert_string_equal(text, "old");
	free(text);
	assert_int_equal(access(part, F_OK), -1);
	/* report_check() leaves nothing, either way */
	assert_int_equal(report_check(path, &err), 0);
	assert_int_equal(access(part, F_OK), -1);
	assert_int_equal(report_check("/nowhere/at/all.html", &err), E_IO);
	assert_non_null(strstr(err.text, "/nowhere/at/all.html"));
	assert_int_equal(report_check(NULL, &err), 0);
	report_release(&r);
}

static void test_counts(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(report_count(0, out), "0");
	assert_string_equal(report_count(999, out), "999");
	assert_string_equal(report_count(1000, out), "1,000");
	assert_string_equal(report_count(12345678, out), "12,345,678");
	assert_string_equal(report_count(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

static void check_line(const char *word, const char *want)
{
	char program[] = "/usr/bin/freshet", *copy = strdup(word), *line;
	char *argv[] = { program, copy, NULL };

	line = command_line(2, argv);
	assert_string_equal(line, want);
	free(line);
	free(copy);
}

static void test_command_line(void **state)
{
	(void)state;
	check_line("replay", "freshet replay");
	check_line("", "freshet ''");
	check_line("a b", "freshet 'a b'");
	check_line("it's", "freshet 'it'\\''s'");
	check_line("*.gz", "freshet '*.gz'");
	check_line("--budget=2%", "freshet --budget=2%");
	check_line("http://u:secret@h:80/a:b@c", "freshet http://u:***@h:80/a:b@c");
	check_line("--proxy=socks5h://me:p@ss@h", "freshet --proxy=socks5h://me:***@h");
	check_line("https://h/x@y:z@w", "freshet https://h/x@y:z@w");
	check_line("https://user@h/", "freshet https://user@h/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_text_stays_text),
		cmocka_unit_test(test_documents_are_lines),
		cmocka_unit_test(test_page_is_whole),
		cmocka_unit_test(test_failure_leaves_the_old_file),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
