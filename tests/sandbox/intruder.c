/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intruder.c - what a program that was taken over would try; for tests/e2e/sandbox.sh.
 *
 * Loaded before a program (LD_PRELOAD), it waits for the last fflush() of main(), when all
 * limits are in force, and does what the environment says, one word after the other:
 *   INTRUDE="read:/path write:/path connect:PORT listen exec fork ptrace"
 *   INTRUDE="type chmod:/path own:/path suid:/path cut:/path cut-reading:/path local:/path limit-parent"
 * What came of each goes to standard error: "read:/path allowed", or the name of the error.
 * A call that ends the process says nothing more.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd;
}

static int try_socket(int port, int listens)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port),
	                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -1;
	rc = listens ? bind(fd, (struct sockaddr *)&to, sizeof to) :
	     connect(fd, (struct sockaddr *)&to, sizeof to);
	if (rc == 0 && listens)
		rc = listen(fd, 1);
	return rc;
}

static int try_local(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof to);
}

/* A program that others could run as the user who was attacked. */
static int try_suid(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : fchmod(fd, 04755);
}

static int try_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid < 0 ? -1 : 0;
}

static int try_one(char *word)
{
	char *what = strtok(word, ":"), *of = strtok(NULL, "");

	if (!strcmp(what, "read"))
		return try_open(of, O_RDONLY);
	if (!strcmp(what, "write"))
		return try_open(of, O_WRONLY | O_CREAT);
	if (!strcmp(what, "connect"))
		return try_socket(atoi(of), 0);
	if (!strcmp(what, "listen"))
		return try_socket(0, 1);
	if (!strcmp(what, "exec"))
		return execl("/bin/echo", "echo", "ran a program", (char *)NULL);
	if (!strcmp(what, "fork"))
		return try_fork();
	if (!strcmp(what, "ptrace"))
		return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	if (!strcmp(what, "type"))      /* for the shell to run */
		return ioctl(STDIN_FILENO, TIOCSTI, "x");
	if (!strcmp(what, "chmod"))
		return chmod(of, 0666);
	if (!strcmp(what, "own"))
		return chown(of, getuid(), getgid());
	if (!strcmp(what, "suid"))
		return try_suid(of);
	if (!strcmp(what, "cut"))
		return truncate(of, 0);
	if (!strcmp(what, "cut-reading"))
		return try_open(of, O_RDONLY | O_TRUNC);
	if (!strcmp(what, "local"))
		return try_local(of);
	if (!strcmp(what, "limit-parent"))
		return prlimit(getppid(), RLIMIT_CORE, &(struct rlimit){ 0, 0 }, NULL);
	errno = EINVAL;
	return -1;
}

int fflush(FILE *f)
{
	static int (*real)(FILE *);
	char *plan = getenv("INTRUDE"), *words, *rest = NULL;
	static int done;

	if (!real)
		real = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");
	if (f != stdout || !plan || done++)
		return real(f);
	words = strdup(plan);
	for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		char shown[512], line[600];
		int rc;

		snprintf(shown, sizeof shown, "%s", w);
		rc = try_one(w);
		snprintf(line, sizeof line, "%s %s\n", shown, rc >= 0 ? "allowed" : strerrorname_np(errno));
		(void)!write(STDERR_FILENO, line, strlen(line));
	}
	free(words);
	return real(f);
}
