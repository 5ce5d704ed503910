/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.c - our side of a work that a cell does; see cell.h.
 *
 * The bytes of a work are copied once into the shared memory, and the answer once out of it.
 * What lies there is read only once: a cell may change it at any moment.
 */
#include "base/sandbox/cell.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "base/sandbox/cell_inner.h"

#define SHARED_KEPT ((size_t)1 << 20)   /* memory that an idle cell keeps */
/* By the clock a work may take IDLE_FACTOR times its limit of processor time, and BUSY_FACTOR
 * seconds more for each second of the processor that it used. */
#define IDLE_FACTOR 3
#define BUSY_FACTOR 10

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
		*ret_late = used > cell_seconds() ||
			seconds_of(CLOCK_MONOTONIC) - began >
				IDLE_FACTOR * cell_seconds() + BUSY_FACTOR * used;
		if (*ret_late)
			return false;
	}
}

/* It is dead, or has to be.  *ret_again: that was none of the page's doing. */
static int say_dead(struct cell *c, bool late, bool *ret_again, struct err *err)
{
	int status = cell_end(c);

	*ret_again = !late && status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (late)
		return err_set(err, E_READER, "reading it took longer than %g s", cell_seconds());
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
		if (parts[i].s && parts[i].size)
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
