/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - run a shell command and measure it: wall, processor time, peak memory. */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

struct child { double wall, cpu; long peak_kib; int status; };

static inline struct child child_run(const char *command)
{
	struct child c = { .wall = wall_now() };
	struct rusage u = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &c.status, 0, &u) != pid) {
		perror(command);
		exit(1);
	}
	c.wall = wall_now() - c.wall;
	c.cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	        (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
	c.peak_kib = u.ru_maxrss;
	return c;
}

/* The same, and the end of everything if it fails. */
static inline struct child child_must(const char *command)
{
	struct child c = child_run(command);

	if (c.status) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
	return c;
}

/* This program once for each list of arguments, so that each has its own peak. */
static inline void child_each(const char *argv0, const char *const *arguments, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char command[4200];

		fflush(stdout);
		snprintf(command, sizeof command, "exec '%s' %s", argv0, arguments[i]);
		child_must(command);
	}
}

/* Where the program lies: argv[0] is BUILD/bench/bench_x. */
static inline void child_program(const char *argv0, char *out, size_t size)
{
	const char *slash = strrchr(argv0, '/');

	snprintf(out, size, "%.*s/../freshet", slash ? (int)(slash - argv0) : 1,
	         slash ? argv0 : ".");
}

#endif
