/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starter_test.c - the starter believes little of what the other side asks for.
 *
 * The program that is started is env(1), which says what it was given.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/sandbox/starter.h"

static char *const show[] = { "env", NULL }, *const other[] = { "env", "true", NULL };

/* What env(1) says, with these additions. */
static char *shown(const char *const *extra)
{
	char *said = mem_zalloc(65536, 1);
	size_t n = 0;
	ssize_t got;
	int out[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	assert_int_equal(starter_start(show, -1, out[1], extra, &pid), 0);
	close(out[1]);
	while ((got = read(out[0], said + n, 65535 - n)) > 0)
		n += (size_t)got;
	close(out[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return said;
}

static void test_additions(void **state)
{
	static const char *const ours[] = { "http_proxy=a", "https_proxy=b", "no_proxy=", "FRESHET_CYCLE=7",
	                                    "FRESHET_REPOSITORY=/r" };
	/* each has some program or shell load or run a file, or look elsewhere for one */
	static const char *const theirs[] = {
		"LD_PRELOAD=/evil", "LD_AUDIT=/evil", "PATH=/evil", "BASH_ENV=/evil", "ENV=/evil",
		"PYTHONPATH=/evil", "PYTHONSTARTUP=/evil", "PERL5OPT=-M/evil", "NODE_OPTIONS=-r/evil",
		"GCONV_PATH=/evil", "HOME=/evil", "IFS=/evil", "FRESHET_CYCLEX=/evil", "http_proxyx=/evil",
		"/evil",
	};

	(void)state;
	for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
		const char *const extra[] = { ours[0], theirs[i], ours[3], NULL };
		char *said = shown(extra);

		if (strstr(said, "/evil"))
			fail_msg("%s was taken", theirs[i]);
		assert_non_null(strstr(said, "http_proxy=a\n"));
		assert_non_null(strstr(said, "FRESHET_CYCLE=7\n"));
		free(said);
	}
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		const char *const extra[] = { ours[i], NULL };
		char line[64], *said = shown(extra);

		snprintf(line, sizeof line, "%s\n", ours[i]);
		assert_non_null(strstr(said, line));
		free(said);
	}
}

static void test_commands(void **state)
{
	static const char *const none[] = { NULL };
	pid_t pid;

	(void)state;
	assert_int_equal(starter_start(other, -1, -1, none, &pid), EACCES);
	assert_int_equal(pid, 0);
}

static int begin(void **state)
{
	static char *const *commands[] = { show };

	(void)state;
	return starter_begin(commands, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_additions), cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
