/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c - see spawn.h. */
#include "base/io/spawn.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sandbox/starter.h"

extern char **environ;

int spawn_words(char *text, char *words[SPAWN_WORDS_MAX + 1])
{
	int n = 0;
	char *to = text;

	for (char *p = text; ; ) {
		char quote = 0;

		while (*p == ' ' || *p == '\t')
			p++;
		if (!*p || n == SPAWN_WORDS_MAX)
			break;
		words[n++] = to;
		for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
			if (quote ? *p == quote : *p == '"' || *p == '\'')
				quote = quote ? 0 : *p;
			else
				*to++ = *p;
		}
		if (quote)
			return -1;
		if (*p)
			p++;
		*to++ = 0;
	}
	words[n] = NULL;
	return n;
}

static bool is_program(const char *name)
{
	const char *path = getenv("PATH");
	char *copy, *rest, *dir, whole[4096];
	bool found = false;

	if (strchr(name, '/'))
		return !access(name, X_OK);
	copy = mem_strdup(path ? path : "/usr/bin:/bin");
	for (rest = copy; !found && (dir = strsep(&rest, ":")); ) {
		snprintf(whole, sizeof whole, "%s/%s", *dir ? dir : ".", name);
		found = !access(whole, X_OK);
	}
	free(copy);
	return found;
}

int spawn_check(const char *command, const char *what, struct err *err)
{
	char *words[SPAWN_WORDS_MAX + 1], *copy = mem_strdup(command);
	int n = spawn_words(copy, words), rc = 0;

	if (n <= 0)
		rc = err_set(err, E_USAGE, "%s: '%s' %s", what, command, n < 0 ?
		             "has a quote without its other" : "names no program");
	else if (!is_program(words[0]))
		rc = err_set(err, E_USAGE, "%s: there is no program '%s'", what, words[0]);
	free(copy);
	return rc;
}

/* The name of an entry of the environment is that of one of these. */
static bool is_among(const char *entry, const char *const *extra)
{
	size_t size = strcspn(entry, "=");

	for (; *extra; extra++)
		if (strcspn(*extra, "=") == size && !memcmp(*extra, entry, size))
			return true;
	return false;
}

static char **make_environment(const char *const *extra)
{
	size_t n = 0, k = 0, more = 0;
	char **list;

	while (environ[n])
		n++;
	while (extra[more])
		more++;
	list = mem_array(n + more + 1, sizeof *list);
	for (size_t i = 0; i < n; i++)
		if (!is_among(environ[i], extra))
			list[k++] = environ[i];
	for (size_t i = 0; i < more; i++)
		list[k++] = (char *)(uintptr_t)extra[i];
	list[k] = NULL;
	return list;
}

int spawn_start(char *const *words, int in, int out, const char *const *extra, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	char **environment;
	sigset_t none, all;
	int rc;

	if (starter_runs())
		return starter_start(words, in, out, extra, ret_pid);
	environment = make_environment(extra);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	if (in >= 0)
		posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
	                         POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&how, 0);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &all);
	rc = posix_spawnp(ret_pid, words[0], &files, &how, words, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	free(environment);
	return rc;
}
