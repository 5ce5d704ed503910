/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - see terminal.h. */
#include "cli/frame/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool output_colored, messages_colored;
static volatile sig_atomic_t pager;     /* its process, or 0 */

static const char *const tones[] = {
	[TONE_HEAD] = "\033[1m",
	[TONE_ADDED] = "\033[32m",
	[TONE_REMOVED] = "\033[31m",
	[TONE_BAD] = "\033[1;31m",
};

static bool is_colored(enum terminal_color color, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != TERMINAL_AUTO)
		return color == TERMINAL_ALWAYS;
	return !(no && *no) && term && *term && strcmp(term, "dumb") && isatty(fd);
}

static const char *pager_command(void)
{
	const char *command = getenv("FRESHET_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "if command -v less >/dev/null; then exec less; else exec cat; fi";
	return *command && strcmp(command, "cat") ? command : NULL;
}

/* The pager owns the keyboard: the program ends when it does.  Only calls that are allowed
 * in a signal handler. */
static void on_interrupt(int sig)
{
	(void)sig;
	close(STDOUT_FILENO);
	/* NOLINTNEXTLINE(bugprone-signal-handler): errno is a variable of this thread */
	while (waitpid((pid_t)pager, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(130);
}

/* If the pager cannot be started the output goes to the terminal as it is. */
static void start_pager(const char *command)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return;
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		/* F: a text that fits the screen needs no key; R: colours; X: it stays there */
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	if (pid > 0) {
		pager = (sig_atomic_t)pid;
		dup2(ends[1], STDOUT_FILENO);
		signal(SIGINT, on_interrupt);
	}
	close(ends[1]);
}

void terminal_begin(enum terminal_color color, bool page)
{
	const char *command = pager_command();

	output_colored = is_colored(color, STDOUT_FILENO);
	messages_colored = is_colored(color, STDERR_FILENO);
	if (page && command && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
		start_pager(command);
}

void terminal_end(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid((pid_t)pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

const char *tone_on(enum tone tone)
{
	return output_colored ? tones[tone] : "";
}

const char *tone_off(void)
{
	return output_colored ? "\033[0m" : "";
}

const char *tone_on_messages(enum tone tone)
{
	return messages_colored ? tones[tone] : "";
}

const char *tone_off_messages(void)
{
	return messages_colored ? "\033[0m" : "";
}
