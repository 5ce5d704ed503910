/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.c - our side of the cells; see cell.h.
 *
 * The bytes of a work are copied once into the shared memory, and the answer once out of it.
 * What lies there is read only once: a cell may change it at any moment.
 */
#include "base/sandbox/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sandbox/cell_inner.h"

#define SHARED_SIZE ((size_t)128 << 20) /* addresses; only what is used is memory */
#define SHARED_KEPT ((size_t)1 << 20)   /* memory that an idle cell keeps */
#define SLACK 65536
/* By the clock a work may take IDLE_FACTOR times its limit of processor time, and BUSY_FACTOR
 * seconds more for each second of the processor that it used. */
#define IDLE_FACTOR 3
#define BUSY_FACTOR 10

struct cell {
	struct cell *next;              /* in the list of idle ones */
	int fd;
	pid_t pid;
	char *shared;
	size_t size;
	unsigned n_works;
	bool dead;
};

static struct cell_table table;
static int to_maker = -1;
static pid_t maker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell *idle;
static uint64_t n_made, n_died;

/* ---- making and ending ---- */

int cells_begin(const struct cell_table *t)
{
	struct rlimit files;
	struct sigaction on_end;
	int ends[2];

	/* the limit of files counts for shared memory, too */
	if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < SHARED_SIZE)
		return EFBIG;
	/* If SIGCHLD is ignored (whoever started us may have set that), the kernel gives the number of
	 * a child that ended to another process, and a kill could hit that one. */
	if (sigaction(SIGCHLD, NULL, &on_end) == 0 && on_end.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return errno;
	table = *t;
	if (table.seconds <= 0)
		table.seconds = CELL_SECONDS;
	maker = fork();
	if (maker == 0) {
		sigset_t all;

		close(ends[0]);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		cell_maker_run(ends[1], &table);
	}
	close(ends[1]);
	if (maker < 0) {
		int error = errno;

		close(ends[0]);
		return error;
	}
	to_maker = ends[0];
	return 0;
}

bool cells_do(enum cell_work work)
{
	return to_maker >= 0 && table.works[work];
}

static int order(uint64_t size, int socket, int memory, pid_t *ret)
{
	union { struct cmsghdr head; char room[CMSG_SPACE(2 * sizeof(int))]; } c = { 0 };
	struct cell_order o = { size };
	struct iovec v = { &o, sizeof o };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c,
	                    .msg_controllen = sizeof c };
	struct cell_made a = { 0 };
	int fd[2] = { socket, memory };
	ssize_t n;

	c.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
	                           .cmsg_len = CMSG_LEN(sizeof fd) };
	memcpy(CMSG_DATA(&c.head), fd, sizeof fd);
	pthread_mutex_lock(&lock);
	while ((n = sendmsg(to_maker, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	if (n >= 0)
		while ((n = recv(to_maker, &a, sizeof a, 0)) < 0 && errno == EINTR)
			;
	n_made += n == sizeof a && a.pid > 0;
	pthread_mutex_unlock(&lock);
	if (n != sizeof a)
		return n < 0 ? errno : EPIPE;
	*ret = a.pid;
	return a.error;
}

/* Memory that can neither shrink nor grow: a shorter one would end us by SIGBUS. */
static int make_memory(size_t size)
{
	int fd = memfd_create("cell", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, (off_t)size) ||
	                fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static int make(struct cell **ret, size_t size, struct err *err)
{
	struct cell *c = mem_zalloc(1, sizeof *c);
	struct timeval second = { .tv_sec = 1 };
	int ends[2] = { -1, -1 }, memory = make_memory(size);
	int rc = memory < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;

	c->size = size;
	if (rc == 0) {
		c->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
		rc = c->shared == MAP_FAILED ||
		     setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second) ? errno : 0;
	}
	if (rc == 0)
		rc = order(size, ends[1], memory, &c->pid);
	if (memory >= 0)
		close(memory);
	if (ends[1] >= 0)
		close(ends[1]);
	if (rc == 0) {
		c->fd = ends[0];
		*ret = c;
		return 0;
	}
	if (ends[0] >= 0)
		close(ends[0]);
	if (c->shared && c->shared != MAP_FAILED)
		munmap(c->shared, size);
	free(c);
	if (size > SHARED_SIZE && (rc == EFBIG || rc == ENOMEM))
		return err_set(err, E_LIMIT, "it is too large to be read apart");
	return err_set(err, E_FAIL, "no process can be started to read what is not trusted: %s",
	               strerror(rc));
}

/* What it died of, or -1: nobody can say.  It is killed, for one that was taken over need not
 * leave because we do; one that is dead already died of something else. */
static int end(struct cell *c)
{
	int status = -1;

	if (c->dead)
		return -1;
	close(c->fd);
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR) {
			status = -1;
			break;
		}
	munmap(c->shared, c->size);
	c->dead = true;
	return status;
}

/* ---- taking and giving ---- */

int cell_take(struct cell **ret, size_t room, struct err *err)
{
	size_t need = room + sizeof(struct cell_head) + SLACK;
	struct cell **at, *c;

	pthread_mutex_lock(&lock);
	for (at = &idle; *at && (*at)->size < need; at = &(*at)->next)
		;
	c = *at;
	if (c)
		*at = c->next;
	pthread_mutex_unlock(&lock);
	*ret = c;
	return c ? 0 : make(ret, need < SHARED_SIZE ? SHARED_SIZE : need, err);
}

void cell_give(struct cell *c)
{
	if (!c)
		return;
	if (c->dead || c->n_works >= CELL_WORKS_MAX || to_maker < 0) {
		end(c);
		free(c);
		return;
	}
	pthread_mutex_lock(&lock);
	c->next = idle;
	idle = c;
	pthread_mutex_unlock(&lock);
}

void cell_distrust(struct cell *c)
{
	end(c);
	pthread_mutex_lock(&lock);
	n_died++;
	pthread_mutex_unlock(&lock);
}

void cells_end(void)
{
	struct cell *next;

	if (to_maker < 0)
		return;
	for (struct cell *c = idle; c; c = next) {
		next = c->next;
		end(c);
		free(c);
	}
	idle = NULL;
	close(to_maker);
	to_maker = -1;
	waitpid(maker, NULL, 0);
}

void cells_count(uint64_t *ret_made, uint64_t *ret_died)
{
	pthread_mutex_lock(&lock);
	*ret_made = n_made;
	*ret_died = n_died;
	pthread_mutex_unlock(&lock);
}

/* ---- a work ---- */

static double seconds_of(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Wait for the answer.  True: it is there.  Looked at once a second.  What counts is processor
 * time, so that a busy machine is no slow cell; one that only sleeps has little longer by the clock. */
static bool wait_answer(struct cell *c, bool *ret_late)
{
	double began = seconds_of(CLOCK_MONOTONIC), first = -1;
	clockid_t clock;
	char done;

	for (;;) {
		ssize_t n = recv(c->fd, &done, 1, 0);
		double used = 0;

		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n == 1;
		if (clock_getcpuclockid(c->pid, &clock) == 0)
			used = seconds_of(clock);
		if (first < 0)
			first = used > 1 ? used - 1 : 0;
		used -= first;
		*ret_late = used > table.seconds ||
			seconds_of(CLOCK_MONOTONIC) - began >
				IDLE_FACTOR * table.seconds + BUSY_FACTOR * used;
		if (*ret_late)
			return false;
	}
}

/* It is dead, or has to be.  *ret_again: that was none of the page's doing. */
static int say_dead(struct cell *c, bool late, bool *ret_again, struct err *err)
{
	int status = end(c);

	pthread_mutex_lock(&lock);
	n_died++;
	pthread_mutex_unlock(&lock);
	*ret_again = !late && status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (late)
		return err_set(err, E_READER, "reading it took longer than %g s", table.seconds);
	if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return err_set(err, E_READER, "what read it tried a system call that it may not make");
	if (status != -1 && WIFSIGNALED(status))
		return err_set(err, E_READER, "the process that read it ended by signal %d (%s)",
		               WTERMSIG(status), strsignal(WTERMSIG(status)));
	return err_set(err, E_READER, "the process that read it ended");
}

static uint64_t round_up(uint64_t n)
{
	return (n + 63) & ~(uint64_t)63;
}

/* Put a work into the shared memory; false: there is no room. */
static bool put(struct cell *c, struct cell_head *h, const struct text *parts, size_t n,
                size_t most)
{
	uint64_t at = round_up(sizeof *h);

	h->n_parts = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		h->at[i] = at;
		h->size[i] = parts[i].s ? parts[i].size : SIZE_MAX;
		if (parts[i].size > c->size - at)
			return false;
		if (parts[i].size)
			memcpy(c->shared + at, parts[i].s, parts[i].size);
		at = round_up(at + parts[i].size);
		if (at > c->size)
			return false;
	}
	if (most > c->size - at || c->size - at - most < 64)
		return false;
	h->answer_at = at;
	h->answer_room = most + 1;
	memcpy(c->shared, h, sizeof *h);
	return true;
}

void cell_clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

static int say_nonsense(struct err *err)
{
	return err_set(err, E_READER, "the answer of what read it makes no sense");
}

bool cell_may_say(int rc)
{
	return rc == 0 || rc == E_PARSE || rc == E_LIMIT;
}

/* Copy the answer, of which nothing is believed. */
static int get(struct cell *c, const struct cell_head *asked, struct buf *ret, struct err *err)
{
	struct cell_head *h = mem_alloc(sizeof *h);
	int rc;

	memcpy(h, c->shared, sizeof *h);
	rc = h->rc;
	if (h->answer_size >= asked->answer_room || !cell_may_say(rc))
		rc = say_nonsense(err);
	else
		buf_add(ret, c->shared + asked->answer_at, (size_t)h->answer_size);
	if (rc == h->rc && rc) {
		cell_clean(h->why, sizeof h->why);
		err_set(err, rc, "%s", h->why);
	}
	if (asked->answer_at + h->answer_size > SHARED_KEPT && h->answer_size < c->size)
		(void)!madvise(c->shared + SHARED_KEPT, c->size - SHARED_KEPT, MADV_REMOVE);
	free(h);
	return rc;
}

static int ask(struct cell *c, enum cell_work work, const struct text *parts, size_t n,
               size_t most, struct buf *ret, bool *ret_again, struct err *err)
{
	struct cell_head h = { .work = (uint32_t)work };
	char go = 1;
	bool late = false;
	ssize_t sent;
	int rc;

	*ret_again = false;
	if (c->dead)
		return err_set(err, E_READER, "the process that read it ended");
	if (!put(c, &h, parts, n, most))
		return err_set(err, E_LIMIT, "it is too large to be read apart");
	c->n_works++;
	while ((sent = send(c->fd, &go, 1, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	if (sent != 1 || !wait_answer(c, &late))
		return say_dead(c, late, ret_again, err);
	rc = get(c, &h, ret, err);
	if (rc == E_READER)
		cell_distrust(c);
	return rc;
}

int cell_ask(struct cell *c, enum cell_work work, const struct text *parts, size_t n,
             size_t most, struct buf *ret, struct err *err)
{
	bool again;

	return ask(c, work, parts, n, most, ret, &again, err);
}

int cell_call(enum cell_work work, const struct text *parts, size_t n, size_t most,
              struct buf *ret, cell_check *check, void *arg, struct err *err)
{
	size_t room = most, before = ret->size;
	bool again = false;
	int rc;

	for (size_t i = 0; i < n; i++)
		room += parts[i].size;
	/* a cell that somebody killed is no fault of what it read, the first time */
	for (int tries = 0; tries < 2; tries++) {
		struct cell *c;

		rc = cell_take(&c, room, err);
		if (rc < 0)
			return rc;
		rc = ask(c, work, parts, n, most, ret, &again, err);
		if (rc == 0 && check && !check(arg, ret->data + before, ret->size - before)) {
			rc = say_nonsense(err);
			cell_distrust(c);
		}
		cell_give(c);
		if (!again)
			break;
	}
	return rc;
}
