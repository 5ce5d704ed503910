/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starter.c - see starter.h.
 *
 * A request is one message: which command, which descriptors come with it, and the additions
 * to the environment.  The answer is the process, or an errno.  CLONE_PARENT makes the new
 * process a sister of the starter.
 */
#include "base/sandbox/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXTRA_MAX  16                   /* additions to the environment */
#define TEXT_MAX   16384                /* bytes of them */

struct request {
	uint32_t command, n_extra;
	uint8_t in, out;                /* 1: a descriptor comes with it */
	char extra[TEXT_MAX];           /* each ended by NUL */
};

struct answer { pid_t pid; int error; };

union control { struct cmsghdr head; char room[CMSG_SPACE(2 * sizeof(int))]; };

static int to_starter = -1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static char *const *const *known;
static size_t n_known;

/* ---- the starter ---- */

/* Many variables have a program load or run a file (LD_PRELOAD, BASH_ENV, PYTHONPATH, ...): only
 * those that we set. */
static bool is_allowed(const char *addition)
{
	static const char *const names[] = { "http_proxy=", "https_proxy=", "no_proxy=",
	                                     "FRESHET_CYCLE=", "FRESHET_REPOSITORY=" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(addition, names[i], strlen(names[i])))
			return true;
	return false;
}

static void become(const struct request *q, const int fd[2], int failed)
{
	const char *at = q->extra;
	sigset_t none;
	int error;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	for (uint32_t i = 0; i < q->n_extra; i++, at += strlen(at) + 1)
		if (is_allowed(at))
			putenv((char *)(uintptr_t)at);
	if ((!q->in || dup2(fd[0], STDIN_FILENO) >= 0) &&
	    (!q->out || dup2(fd[q->in], STDOUT_FILENO) >= 0))
		execvp(known[q->command][0], known[q->command]);
	error = errno;
	(void)!write(failed, &error, sizeof error);
	_exit(127);
}

static struct answer start(const struct request *q, const int fd[2])
{
	struct answer a = { 0 };
	int failed[2];

	if (pipe2(failed, O_CLOEXEC))
		return (struct answer){ .error = errno };
	a.pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (a.pid == 0)
		become(q, fd, failed[1]);
	if (a.pid < 0)
		a.error = errno;
	close(failed[1]);
	if (a.pid > 0)          /* nothing to read: it has become the program */
		(void)!read(failed[0], &a.error, sizeof a.error);
	close(failed[0]);
	return a;
}

/* Whole, with as many texts and descriptors as it says. */
static bool is_sound(const struct request *q, ssize_t size, int n_fds)
{
	const char *at = q->extra, *end = (const char *)q + size;

	if (size < (ssize_t)offsetof(struct request, extra) || q->command >= n_known ||
	    q->n_extra > EXTRA_MAX || q->in > 1 || q->out > 1 || n_fds != q->in + q->out)
		return false;
	for (uint32_t i = 0; i < q->n_extra; i++) {
		const char *stop = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;

		if (!stop)
			return false;
		at = stop + 1;
	}
	return true;
}

static void run(int from)
{
	static struct request q;

	for (;;) {
		union control c = { 0 };
		struct iovec v = { &q, sizeof q };
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c,
		                    .msg_controllen = sizeof c };
		struct answer a = { .error = EINVAL };
		int fd[2] = { -1, -1 }, n = 0;
		ssize_t size = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
		const struct cmsghdr *h = size > 0 ? CMSG_FIRSTHDR(&m) : NULL;

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			_exit(0);
		if (h && h->cmsg_type == SCM_RIGHTS) {
			n = (int)((h->cmsg_len - CMSG_LEN(0)) / sizeof *fd);
			memcpy(fd, CMSG_DATA(h), (size_t)n * sizeof *fd);
		}
		if (is_sound(&q, size, n))
			a = start(&q, fd);
		for (int i = 0; i < n; i++)
			close(fd[i]);
		while (send(from, &a, sizeof a, MSG_NOSIGNAL) < 0 && errno == EINTR)
			;
	}
}

/* ---- the other side ---- */

int starter_begin(char *const *const *commands, size_t n)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return errno;
	known = commands;
	n_known = n;
	pid = fork();
	if (pid == 0) {
		sigset_t all;

		close(ends[0]);
		sigfillset(&all);       /* Ctrl-C is for the other side, whose end ends us */
		sigprocmask(SIG_SETMASK, &all, NULL);
		run(ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		int error = errno;

		close(ends[0]);
		return error;
	}
	to_starter = ends[0];
	return 0;
}

bool starter_runs(void)
{
	return to_starter >= 0;
}

static bool is_same(char *const *a, char *const *b)
{
	while (*a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static int ask(const struct request *q, size_t size, const int *fd, size_t n,
               struct answer *ret)
{
	union control c = { 0 };
	struct iovec v = { (void *)(uintptr_t)q, size };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t got;

	if (n) {
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(n * sizeof *fd);
		c.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		                           .cmsg_len = CMSG_LEN(n * sizeof *fd) };
		memcpy(CMSG_DATA(&c.head), fd, n * sizeof *fd);
	}
	while ((got = sendmsg(to_starter, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	if (got < 0)
		return errno;
	while ((got = recv(to_starter, ret, sizeof *ret, 0)) < 0 && errno == EINTR)
		;
	return got < 0 ? errno : got != sizeof *ret ? EPIPE : ret->error;
}

int starter_start(char *const *words, int in, int out, const char *const *extra,
                  pid_t *ret_pid)
{
	struct request *q = calloc(1, sizeof *q);
	struct answer a = { 0 };
	size_t used = 0, n_fds = 0;
	int fd[2], rc = q ? 0 : ENOMEM;

	while (rc == 0 && q->command < n_known && !is_same(words, known[q->command]))
		q->command++;
	if (rc == 0 && q->command == n_known)
		rc = EACCES;
	for (; rc == 0 && *extra; extra++, q->n_extra++) {
		size_t size = strlen(*extra) + 1;

		if (size > TEXT_MAX - used || q->n_extra == EXTRA_MAX) {
			rc = E2BIG;
			break;
		}
		memcpy(q->extra + used, *extra, size);
		used += size;
	}
	if (rc == 0) {
		q->in = in >= 0;
		q->out = out >= 0;
		if (q->in)
			fd[n_fds++] = in;
		if (q->out)
			fd[n_fds++] = out;
		pthread_mutex_lock(&one_at_a_time);
		rc = ask(q, offsetof(struct request, extra) + used, fd, n_fds, &a);
		pthread_mutex_unlock(&one_at_a_time);
	}
	free(q);
	if (rc && a.pid > 0)            /* it did not become the program */
		waitpid(a.pid, NULL, 0);
	*ret_pid = rc ? 0 : a.pid;
	return rc;
}
