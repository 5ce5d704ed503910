/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.c - our side of a work that a cell does; see cell.h.
 *
 * The bytes of some works are copied once into the shared memory, and the answers once out of it.
 * What lies there is read only once: a cell may change it at any moment.
 */
#include "base/sandbox/cell.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

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

static size_t head_size(size_t n)
{
	return offsetof(struct cell_head, one) + n * sizeof(struct cell_one);
}

/* Put a part into the shared memory; false: there is no room. */
static bool put_part(struct cell *c, struct text part, uint64_t *at)
{
	if (part.size > c->size - *at)
		return false;
	if (part.s && part.size)
		memcpy(c->shared + *at, part.s, part.size);
	*at = cell_round_up(*at + part.size);
	return *at <= c->size;
}

/* Put works into the shared memory; false: there is no room, not even for the largest answer. */
static bool put(struct cell *c, struct cell_head *h, const struct cell_job *jobs, size_t n)
{
	uint64_t at = cell_round_up(head_size(n));
	size_t most = 0;

	h->n = (uint32_t)n;
	for (size_t k = 0; k < n; k++) {
		struct cell_one *w = &h->one[k];

		w->n_parts = (uint32_t)jobs[k].n;
		w->most = jobs[k].most;
		most = jobs[k].most > most ? jobs[k].most : most;
		for (size_t i = 0; i < jobs[k].n; i++) {
			w->at[i] = at;
			w->size[i] = jobs[k].parts[i].s ? jobs[k].parts[i].size : SIZE_MAX;
			if (!put_part(c, jobs[k].parts[i], &at))
				return false;
		}
	}
	if (most > c->size - at || c->size - at - most < 64)
		return false;
	h->answers_at = at;
	h->answers_end = c->size;
	memcpy(c->shared, h, head_size(n));
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

/* Copy an answer, of which nothing is believed, or say where it lies. */
static int get_one(const struct cell *c, uint64_t first, struct cell_one *w, struct cell_job *j)
{
	if (!cell_may_say(w->rc) || w->answer_size > j->most || w->answer_at < first ||
	    w->answer_at > c->size || w->answer_size > c->size - w->answer_at)
		return say_nonsense(j->err);
	if (j->ret)
		buf_add(j->ret, c->shared + w->answer_at, (size_t)w->answer_size);
	else
		*j->there = (struct text){ c->shared + w->answer_at, (size_t)w->answer_size };
	if (w->rc == 0)
		return 0;
	cell_clean(w->why, sizeof w->why);
	return err_set(j->err, w->rc, "%s", w->why);
}

/* Copy all answers; how many there are. */
static size_t get(struct cell *c, const struct cell_head *asked, struct cell_job *jobs)
{
	struct cell_head h;
	size_t n;

	memcpy(&h, c->shared, head_size(asked->n));
	n = h.n_done < asked->n ? h.n_done : asked->n;
	for (size_t i = 0; i < n; i++) {
		struct cell_one *w = &h.one[i];

		jobs[i].rc = get_one(c, asked->answers_at, w, &jobs[i]);
		if (jobs[i].ret && jobs[i].rc != E_READER && i + 1 == n && w->answer_at + w->answer_size > SHARED_KEPT)
			(void)!madvise(c->shared + SHARED_KEPT, c->size - SHARED_KEPT, MADV_REMOVE);
	}
	return n;
}

/* Have works done: *ret_done of them, at least one, were.  E_READER: the cell died. */
static int ask(struct cell *c, enum cell_work work, struct cell_job *jobs, size_t n,
               size_t *ret_done, bool *ret_again, struct err *err)
{
	struct cell_head h = { .work = (uint32_t)work };
	char go = 1;
	bool late = false;
	ssize_t sent;

	*ret_again = false;
	*ret_done = 0;
	if (c->dead)
		return err_set(err, E_READER, "the process that read it ended");
	if (!put(c, &h, jobs, n))
		return err_set(err, E_LIMIT, "it is too large to be read apart");
	c->n_works += (unsigned)n;
	while ((sent = send(c->fd, &go, 1, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	if (sent != 1 || !wait_answer(c, &late))
		return say_dead(c, late, ret_again, err);
	*ret_done = get(c, &h, jobs);
	for (size_t i = 0; i < *ret_done; i++)
		if (jobs[i].rc == E_READER)
			*ret_done = 0;
	if (*ret_done)
		return 0;
	cell_distrust(c);
	return say_nonsense(err);
}

/* One work, by one cell. */
static int ask_one(struct cell *c, enum cell_work work, struct cell_job *j, bool *ret_again)
{
	size_t done;
	int rc = ask(c, work, j, 1, &done, ret_again, j->err);

	return rc < 0 ? rc : j->rc;
}

static struct cell_job job(const struct text *parts, size_t n, size_t most, struct buf *ret,
                           struct err *err)
{
	struct cell_job j = { .n = n, .most = most, .ret = ret, .err = err };

	memcpy(j.parts, parts, n * sizeof *parts);
	return j;
}

int cell_ask(struct cell *c, enum cell_work work, const struct text *parts, size_t n,
             size_t most, struct text *ret, struct err *err)
{
	struct cell_job j = job(parts, n, most, NULL, err);
	bool again;

	j.there = ret;
	return ask_one(c, work, &j, &again);
}

static size_t room_of(const struct cell_job *jobs, size_t n)
{
	size_t room = 0, most = 0;

	for (size_t k = 0; k < n; k++) {
		most = jobs[k].most > most ? jobs[k].most : most;
		for (size_t i = 0; i < jobs[k].n; i++)
			room += jobs[k].parts[i].size;
	}
	return room + most;
}

static bool is_sound(const struct cell_job *j, size_t before)
{
	return j->rc != 0 || !j->check ||
	       j->check(j->arg, j->ret->data + before, j->ret->size - before);
}

static int call_one(enum cell_work work, struct cell_job *j)
{
	size_t before = j->ret->size;
	bool again = false;

	/* a cell that somebody killed is no fault of what it read, the first time */
	for (int tries = 0; tries < 2; tries++) {
		struct cell *c;

		j->rc = cell_take(&c, room_of(j, 1), j->err);
		if (j->rc < 0)
			return j->rc;
		j->rc = ask_one(c, work, j, &again);
		if (!is_sound(j, before)) {
			j->rc = say_nonsense(j->err);
			cell_distrust(c);
		}
		cell_give(c);
		if (!again)
			break;
	}
	return j->rc;
}

int cell_call(enum cell_work work, const struct text *parts, size_t n, size_t most,
              struct buf *ret, cell_check *check, void *arg, struct err *err)
{
	struct cell_job j = job(parts, n, most, ret, err);

	j.check = check;
	j.arg = arg;
	return call_one(work, &j);
}

/* The first of some works, in one message: how many were done, all of them well. */
static size_t call_together(enum cell_work work, struct cell_job *jobs, size_t n)
{
	size_t before[CELL_TOGETHER], done = 0, n_sound;
	bool again;
	struct cell *c;

	for (size_t i = 0; i < n; i++)
		before[i] = jobs[i].ret->size;
	if (cell_take(&c, room_of(jobs, n), NULL) < 0)
		return 0;
	(void)!ask(c, work, jobs, n, &done, &again, NULL);
	for (n_sound = 0; n_sound < done && is_sound(&jobs[n_sound], before[n_sound]);)
		n_sound++;
	if (n_sound < done)
		cell_distrust(c);
	cell_give(c);
	if (n_sound == done && done)
		return done;
	for (size_t i = 0; i < n; i++) {
		jobs[i].ret->size = before[i];
		if (jobs[i].ret->data)
			jobs[i].ret->data[before[i]] = '\0';
	}
	return 0;
}

void cell_call_all(enum cell_work work, struct cell_job *jobs, size_t n)
{
	while (n) {
		size_t m = n < CELL_TOGETHER ? n : CELL_TOGETHER;
		size_t done = m > 1 ? call_together(work, jobs, m) : 0;

		for (; done == 0 && m; m--, jobs++, n--)
			(void)!call_one(work, jobs);
		jobs += done;
		n -= done;
	}
}
