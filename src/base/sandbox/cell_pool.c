/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_pool.c - cells are made, wait until they are needed, and end; see cell.h.
 *
 * The maker is asked for each (cell_maker.c).  Idle ones wait in a list.
 */
#include "base/sandbox/cell_inner.h"

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
#include <unistd.h>

#include "base/mem.h"

#define SHARED_SIZE ((size_t)128 << 20) /* addresses; only what is used is memory */
#define SLACK 65536

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

/* It is killed, for one that was taken over need not leave because we do; one that is dead
 * already died of something else. */
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

int cell_end(struct cell *c)
{
	int status = end(c);

	pthread_mutex_lock(&lock);
	n_died++;
	pthread_mutex_unlock(&lock);
	return status;
}

void cell_distrust(struct cell *c)
{
	(void)cell_end(c);
}

double cell_seconds(void)
{
	return table.seconds;
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
