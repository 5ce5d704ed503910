/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - see jobs.h. */
#include "serve/job/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define SAID_MAX 65536                  /* bytes of messages that are kept */
#define DOING_FD 3                      /* of the child */

struct jobs {
	struct job_base base;
	pthread_mutex_t lock;
	pthread_t thread;
	int wake[2];
	bool stop;
	struct job *first;              /* newest first */
	uint32_t last;
};

const char *job_state_name(enum job_state s)
{
	static const char *const names[] = { "runs", "stopping", "done", "failed" };

	return names[s];
}

static void job_free(struct job *j)
{
	buf_release(&j->output);
	buf_release(&j->said);
	buf_release(&j->line);
	buf_release(&j->now);
	free(j->note);
	free(j);
}

static bool is_over(const struct job *j)
{
	return j->state >= JOB_DONE;
}

/* ---- one child ---- */

static void run_child(char **argv, const int out[2], const int messages[2], const int doing[2])
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(messages[1], STDERR_FILENO);
	dup2(doing[1], DOING_FD);
	close_range(DOING_FD + 1, ~0u, 0);
	execv(argv[0], argv);
	_exit(127);
}

static void set_reader(int fd[2], int *ret)
{
	close(fd[1]);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	*ret = fd[0];
}

static int start(struct job *j, char **argv, struct err *err)
{
	int out[2] = { -1, -1 }, messages[2] = { -1, -1 }, doing[2] = { -1, -1 };

	if (pipe2(out, O_CLOEXEC) || pipe2(messages, O_CLOEXEC) || pipe2(doing, O_CLOEXEC) ||
	    (j->pid = fork()) < 0) {
		int *all[] = { out, messages, doing };
		int rc = err_errno(err, E_FAIL, "no process can be started");

		for (int i = 0; i < 3; i++)
			for (int k = 0; k < 2; k++)
				if (all[i][k] >= 0)
					close(all[i][k]);
		return rc;
	}
	if (j->pid == 0)
		run_child(argv, out, messages, doing);
	set_reader(out, &j->out);
	set_reader(messages, &j->messages);
	set_reader(doing, &j->doing);
	return 0;
}

/* The last whole line of what it is doing. */
static void take_lines(struct job *j)
{
	char *end = j->line.size ? memrchr(j->line.data, '\n', j->line.size) : NULL, *from;
	size_t rest;

	if (!end)
		return;
	from = memrchr(j->line.data, '\n', (size_t)(end - j->line.data));
	from = from ? from + 1 : j->line.data;
	buf_clear(&j->now);
	buf_add(&j->now, from, (size_t)(end - from));
	rest = j->line.size - (size_t)(end + 1 - j->line.data);
	memmove(j->line.data, end + 1, rest);
	j->line.size = rest;
	j->line.full = false;
}

static void read_pipe(int *fd, struct buf *to)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(*fd, bytes, sizeof bytes)) > 0)
		buf_add(to, bytes, (size_t)n);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
}

/* Everything it had to say is read: it ends, or has ended. */
static void reap(struct job *j)
{
	int status = 0;

	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	j->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	j->state = j->status == 0 || (j->state == JOB_STOPPING && j->status == 130) ? JOB_DONE :
	           JOB_FAILED;
	j->ended = (int64_t)time(NULL);
	if (j->doing >= 0)
		close(j->doing);
	j->doing = -1;
}

static void look(struct job *j)
{
	if (j->out >= 0)
		read_pipe(&j->out, &j->output);
	if (j->messages >= 0) {
		read_pipe(&j->messages, &j->said);
		if (j->said.full || j->said.size > SAID_MAX / 2) {      /* the newest matter */
			memmove(j->said.data, j->said.data + j->said.size / 2, j->said.size - j->said.size / 2);
			j->said.size -= j->said.size / 2;
			j->said.full = false;
		}
	}
	if (j->doing >= 0) {
		read_pipe(&j->doing, &j->line);
		take_lines(j);
	}
	if (j->out < 0 && j->messages < 0)
		reap(j);
}

static void *watch(void *arg)
{
	struct jobs *js = arg;
	VEC(struct pollfd) fds = { 0 };
	bool stop = false;

	while (!stop) {
		char bytes[64];

		pthread_mutex_lock(&js->lock);
		fds.n = 0;
		vec_push(&fds, ((struct pollfd){ js->wake[0], POLLIN, 0 }));
		for (struct job *j = js->first; j; j = j->next) {
			int all[3] = { j->out, j->messages, j->doing };

			for (int i = 0; i < 3 && !is_over(j); i++)
				if (all[i] >= 0)
					vec_push(&fds, ((struct pollfd){ all[i], POLLIN, 0 }));
		}
		pthread_mutex_unlock(&js->lock);
		poll(fds.v, (nfds_t)fds.n, -1);
		while (read(js->wake[0], bytes, sizeof bytes) > 0)
			;
		pthread_mutex_lock(&js->lock);
		stop = js->stop;
		for (struct job *j = js->first; j; j = j->next) {
			if (!is_over(j))
				look(j);
			stop &= is_over(j);
		}
		pthread_mutex_unlock(&js->lock);
	}
	vec_release(&fds);
	return NULL;
}

/* ---- all of them ---- */

static void wake(struct jobs *j)
{
	while (write(j->wake[1], "", 1) < 0 && errno == EINTR)
		;
}

struct jobs *jobs_new(const struct job_base *base)
{
	struct jobs *j = mem_zalloc(1, sizeof *j);

	j->base = *base;
	pthread_mutex_init(&j->lock, NULL);
	if (pipe2(j->wake, O_CLOEXEC | O_NONBLOCK))
		err_no_memory();
	pthread_create(&j->thread, NULL, watch, j);
	return j;
}

void jobs_free(struct jobs *j)
{
	if (!j)
		return;
	pthread_mutex_lock(&j->lock);
	j->stop = true;
	for (struct job *x = j->first; x; x = x->next)
		if (!is_over(x))
			kill(x->pid, SIGTERM);
	pthread_mutex_unlock(&j->lock);
	wake(j);
	pthread_join(j->thread, NULL);
	while (j->first) {
		struct job *next = j->first->next;

		job_free(j->first);
		j->first = next;
	}
	close(j->wake[0]);
	close(j->wake[1]);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

/* Forget the oldest that are over. */
static void forget_old(struct jobs *js)
{
	unsigned n = 0;

	for (struct job **at = &js->first; *at;) {
		struct job *j = *at;

		if (is_over(j) && ++n > JOBS_KEPT) {
			*at = j->next;
			job_free(j);
		} else {
			at = &j->next;
		}
	}
}

int jobs_begin(struct jobs *js, enum job_kind kind, const char *const *words, size_t n,
               const char *note, uint32_t *ret, struct err *err)
{
	const struct job_base *o = &js->base;
	char *argv[JOB_WORDS_MAX + 9] = { NULL };
	struct job *j = mem_zalloc(1, sizeof *j);
	struct arena keep = { 0 };
	int argc = 0, rc = 0;

	argv[argc++] = (char *)(uintptr_t)o->program;
	argv[argc++] = (char *)(uintptr_t)"-C";
	argv[argc++] = (char *)(uintptr_t)o->folder;
	if (o->store) {
		argv[argc++] = (char *)(uintptr_t)"--store";
		argv[argc++] = (char *)(uintptr_t)o->store;
	}
	if (o->no_sandbox)
		argv[argc++] = (char *)(uintptr_t)"--no-sandbox";
	for (size_t i = 0; i < n && i < JOB_WORDS_MAX; i++)
		argv[argc++] = arena_strndup(&keep, words[i], strlen(words[i]));
	buf_init(&j->output, JOB_OUTPUT_MAX);
	buf_init(&j->said, SAID_MAX);
	buf_init(&j->line, 1u << 20);
	buf_init(&j->now, 1u << 20);
	j->kind = kind;
	j->began = (int64_t)time(NULL);
	j->note = mem_strdup(note);
	pthread_mutex_lock(&js->lock);
	for (const struct job *x = js->first; x && rc == 0; x = x->next)
		if (x->kind == kind && !is_over(x))
			rc = err_set(err, E_BUSY, kind == JOB_CYCLE ? "a cycle runs already" :
			             "a replay runs already: wait for it, or stop it");
	if (rc == 0 && js->stop)
		rc = err_set(err, E_BUSY, "the service ends");
	if (rc == 0)
		rc = start(j, argv, err);
	if (rc == 0) {
		j->number = ++js->last;
		j->next = js->first;
		js->first = j;
		*ret = j->number;
		forget_old(js);
	}
	pthread_mutex_unlock(&js->lock);
	if (rc == 0)
		wake(js);
	else
		job_free(j);
	arena_release(&keep);
	return rc;
}

int jobs_stop(struct jobs *js, enum job_kind kind, uint32_t number)
{
	int found = 0;

	pthread_mutex_lock(&js->lock);
	for (struct job *j = js->first; j; j = j->next) {
		if (j->kind != kind || is_over(j) || (number && j->number != number))
			continue;
		kill(j->pid, SIGTERM);
		j->state = JOB_STOPPING;
		found = 1;
	}
	pthread_mutex_unlock(&js->lock);
	return found;
}

void jobs_each(struct jobs *js, bool (*each)(void *arg, const struct job *job), void *arg)
{
	pthread_mutex_lock(&js->lock);
	for (const struct job *j = js->first; j && !each(arg, j); j = j->next)
		;
	pthread_mutex_unlock(&js->lock);
}

bool jobs_running(struct jobs *js, enum job_kind kind)
{
	bool runs = false;

	pthread_mutex_lock(&js->lock);
	for (const struct job *j = js->first; j; j = j->next)
		runs |= j->kind == kind && !is_over(j);
	pthread_mutex_unlock(&js->lock);
	return runs;
}
