/* SPDX-License-Identifier: Apache-2.0 */
/*
 * on_change.c - see on_change.h.
 *
 * The lines are written to a file in memory, which becomes the standard input of the
 * command.  So a command that reads nothing, or half, cannot hold up the crawl or end it by
 * a broken pipe.
 */
#include "cli/export/on_change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io/spawn.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/export/changes.h"

#define LOOK_EVERY 20000000L            /* nanoseconds between looks at the command */
#define GRACE 5                         /* seconds between SIGTERM and SIGKILL */

int on_change_check(const struct on_change *o, struct err *err)
{
	struct err why;
	int rc;

	if (!o->command || !*o->command || o->shell)
		return 0;
	rc = spawn_check(o->command, "on-change", &why);
	return rc == 0 ? 0 : err_set(err, rc, "%s; with --on-change-shell the text is given to "
	                             "/bin/sh", why.text);
}

/* The changes of a cycle in a file in memory; *ret_n: how many. */
static int write_changes(const struct on_change *o, struct store *s, uint32_t cycle,
                         int *ret_fd, size_t *ret_n, struct err *err)
{
	struct changes c = { 0 };
	struct json j;
	int rc = changes_load(&c, s, INT64_MIN, cycle, cycle + 1, err);
	int fd = rc == 0 && c.rows.n ? memfd_create("changes", MFD_CLOEXEC) : -1;
	FILE *out = fd >= 0 ? fdopen(dup(fd), "w") : NULL;

	*ret_n = c.rows.n;
	if (rc == 0 && c.rows.n && !out)
		rc = err_errno(err, E_IO, "on-change: no memory for the list of changes");
	if (rc == 0 && c.rows.n)
		json_to_file(&j, out);
	for (size_t i = 0; i < c.rows.n && rc == 0; i++)
		rc = change_print_json(&j, s, o->folder, &c.rows.v[i], err);
	if (out && fclose(out) && rc == 0)
		rc = err_errno(err, E_IO, "on-change: the list of changes");
	if (rc < 0 && fd >= 0) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	changes_release(&c);
	*ret_fd = fd;
	return rc;
}

static int start(const struct on_change *o, int in, uint32_t cycle, pid_t *ret_pid)
{
	char *words[SPAWN_WORDS_MAX + 1] = { (char *)(uintptr_t)"/bin/sh", (char *)(uintptr_t)"-c",
	                                     (char *)(uintptr_t)o->command, NULL };
	char *copy = mem_strdup(o->command), *folder = realpath(o->folder, NULL);
	char number[32], place[4200];
	const char *const extra[] = { number, place, NULL };
	int rc;

	if (!o->shell)
		(void)spawn_words(copy, words);         /* checked before */
	snprintf(number, sizeof number, "FRESHET_CYCLE=%u", cycle);
	snprintf(place, sizeof place, "FRESHET_REPOSITORY=%s", folder ? folder : o->folder);
	rc = spawn_start(words, in, -1, extra, ret_pid);
	free(folder);
	free(copy);
	return rc;
}

static double uptime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Wait for the command; end it when its time is over or we are to stop. */
static int wait_for(const struct on_change *o, pid_t pid, bool *ret_late)
{
	const struct timespec pause = { .tv_nsec = LOOK_EVERY };
	double until = uptime() + (double)o->seconds;
	bool asked = false;
	int status = 0;

	*ret_late = false;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		bool over = uptime() > until || stop_is_set(o->stop);

		if (over && !asked) {
			*ret_late = !stop_is_set(o->stop);
			asked = true;
			until = uptime() + GRACE;
			kill(-pid, SIGTERM);
		} else if (asked && uptime() > until) {
			kill(-pid, SIGKILL);
		}
		nanosleep(&pause, NULL);
	}
	return status;
}

int on_change_run(const struct on_change *o, struct store *s, uint32_t cycle, struct err *err)
{
	size_t n = 0;
	bool late = false;
	pid_t pid = 0;
	int fd = -1, rc, status;

	if (!o->command || !*o->command)
		return 0;
	rc = write_changes(o, s, cycle, &fd, &n, err);
	if (rc < 0 || !n)
		return rc;
	rc = start(o, fd, cycle, &pid);
	close(fd);
	if (rc) {
		log_warn("on-change: %s: %s", o->command, strerror(rc));
		return 0;
	}
	status = wait_for(o, pid, &late);
	if (late)
		log_warn("on-change: %s took longer than %lld s and was ended", o->command,
		         (long long)o->seconds);
	else if (WIFSIGNALED(status))
		log_warn("on-change: %s was ended by signal %d", o->command, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		log_warn("on-change: %s ended with status %d", o->command, WEXITSTATUS(status));
	else
		log_debug("on-change: %zu change%s given to %s", n, n == 1 ? "" : "s", o->command);
	return 0;
}
