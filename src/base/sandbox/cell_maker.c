/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_maker.c - the maker, and what becomes of its children; see cell.h.
 *
 * CLONE_PARENT makes a cell a sister of the maker: who asked for it waits for it and sees what
 * it died of.  In a cell all signals wait but those of its own faults: Ctrl-C is for the other
 * side, whose end ends the cell.
 */
#include "base/sandbox/cell_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox/calls.h"
#include "base/sandbox/reach.h"

#define SOCKET_FD 3             /* of a cell: it has no other */

/* ---- a cell ---- */

static void block_signals(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP };
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		signal(faults[i], SIG_DFL);
		sigdelset(&all, faults[i]);
	}
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Bytes of addresses that we have already. */
static size_t size_now(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool limit(__rlimit_resource_t what, size_t most)
{
	struct rlimit l = { most, most };

	return setrlimit(what, &l) == 0;
}

/* Keep the socket and nothing else. */
static bool close_others(int from)
{
	if (from != SOCKET_FD && dup2(from, SOCKET_FD) < 0)
		return false;
	if (syscall(SYS_close_range, SOCKET_FD + 1, ~0u, 0))
		for (long fd = sysconf(_SC_OPEN_MAX) - 1; fd > SOCKET_FD; fd--)
			close((int)fd);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		if (!CALLS_SANITIZED || fd != STDERR_FILENO)    /* a sanitizer says what it found */
			close(fd);
	return true;
}

/* Variables may have secrets; what was taken over could say them in its answers. */
static void forget_environment(void)
{
	for (char **e = environ; e && *e; e++)
		explicit_bzero(*e, strlen(*e));
}

/* Landlock and the seccomp filter forbid the same things.  A kernel that lacks one of them still
 * has the other. */
static bool lock_up(const struct cell_table *t, int from)
{
	struct reach nothing = { 0 };
	struct reach_limits l = { .rights = REACH_READ | REACH_WRITE | REACH_RUN, .no_connect = true,
	                          .no_listen = true, .no_signals = true, .no_abstract = true };
	size_t memory = t->memory ? t->memory : CELL_MEMORY;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	if (!CALLS_SANITIZED && !limit(RLIMIT_AS, size_now() + memory))
		return false;
	if (!close_others(from))
		return false;
	forget_environment();
	if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0))
		return false;
	(void)!reach_limit(&nothing, &l);
	(void)!calls_limit(CALLS_READER, false);
	return true;
}

static void do_work(cell_function *work, char *shared, struct cell_one *w)
{
	struct text parts[CELL_PARTS_MAX];
	struct buf answer = { .data = shared + w->answer_at, .cap = w->most + 1, .max = w->most };
	struct err err = { 0 };

	for (uint32_t i = 0; i < w->n_parts; i++)
		parts[i] = (struct text){ w->size[i] == SIZE_MAX ? NULL : shared + w->at[i],
		                          w->size[i] == SIZE_MAX ? 0 : (size_t)w->size[i] };
	answer.data[0] = '\0';
	w->rc = work(parts, w->n_parts, &answer, &err);
	if (w->rc == 0 && answer.full)
		w->rc = err_set(&err, E_LIMIT, "what was read of it is too large");
	w->answer_size = answer.size;
	memcpy(w->why, err.text, sizeof w->why);
}

/* Each answer begins where the one before ends. */
static void do_works(const struct cell_table *t, char *shared)
{
	struct cell_head *h = (struct cell_head *)shared;
	uint64_t at = h->answers_at;

	h->n_done = 0;
	for (uint32_t i = 0; i < h->n && at + h->one[i].most < h->answers_end; i++) {
		h->one[i].answer_at = at;
		do_work(t->works[h->work], shared, &h->one[i]);
		at = cell_round_up(at + h->one[i].answer_size + 1);
		h->n_done++;
	}
}

static _Noreturn void be_cell(const struct cell_table *t, int from, char *shared)
{
	char go;

	block_signals();
	if (!lock_up(t, from))
		_exit(1);
	while (read(SOCKET_FD, &go, 1) == 1) {
		do_works(t, shared);
		if (write(SOCKET_FD, &go, 1) != 1)
			break;
	}
	_exit(0);
}

/* ---- the maker ---- */

static int by_byte(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* The first qsort() of more than 1024 bytes asks the C library how much memory the machine has: a
 * system call that a cell may not make.  The library keeps the answer. */
static void sort_once(void)
{
	char much[4096] = { 0 };

	qsort(much, sizeof much, 1, by_byte);
}

static struct cell_made make(const struct cell_table *t, const struct cell_order *o,
                             const int fd[2])
{
	static bool prepared;
	struct cell_made a = { 0 };
	char *shared;

	if (!prepared)
		sort_once();
	if (!prepared && t->prepare)
		t->prepare();
	prepared = true;
	shared = mmap(NULL, (size_t)o->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd[1], 0);
	if (shared == MAP_FAILED)
		return (struct cell_made){ .error = errno };
	a.pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (a.pid == 0)
		be_cell(t, fd[0], shared);
	if (a.pid < 0)
		a.error = errno;
	munmap(shared, (size_t)o->size);
	return a;
}

/* The pager that reads the command's output sees its end only when nobody else has the pipe. */
static void leave_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	if (null > STDERR_FILENO)
		close(null);
}

_Noreturn void cell_maker_run(int from, const struct cell_table *t)
{
	leave_streams();
	for (;;) {
		union { struct cmsghdr head; char room[CMSG_SPACE(2 * sizeof(int))]; } c = { 0 };
		struct cell_order o = { 0 };
		struct iovec v = { &o, sizeof o };
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c,
		                    .msg_controllen = sizeof c };
		struct cell_made a = { .error = EINVAL };
		ssize_t size = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
		const struct cmsghdr *h = size > 0 ? CMSG_FIRSTHDR(&m) : NULL;
		int fd[2] = { -1, -1 };

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			_exit(0);
		if (h && h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof fd)) {
			memcpy(fd, CMSG_DATA(h), sizeof fd);
			a = make(t, &o, fd);
			close(fd[0]);
			close(fd[1]);
		}
		while (send(from, &a, sizeof a, MSG_NOSIGNAL) < 0 && errno == EINTR)
			;
	}
}
