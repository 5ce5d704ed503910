/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - see program.h.
 *
 * Each copy of the program has a thread, a proxy and two pipes.  The threads share one queue
 * of orders; a copy is started when its thread has its first order.  Answers go into a list,
 * and a descriptor says that there are some.
 */
#include "fetch/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io/spawn.h"
#include "base/mem.h"
#include "fetch/program/gate_proxy.h"

#define COPIES_MAX 64
#define END_MS 5000             /* at the end of the crawl, for a copy to end by itself */
#define LOOK_MS 100             /* between looks whether we are to stop */
#define ERROR_LINE 300          /* bytes of "ERROR CAUSE text" */
#define CHUNK (64 << 10)

struct order {
	struct program_request r;
	char *texts[3];         /* its url, etag, last_modified */
	struct order *next;
};

struct copy {
	struct program *program;
	struct gate_proxy *proxy;
	pthread_t thread;
	bool started;           /* the thread */
	pid_t pid;              /* 0: it does not run */
	int in, out;            /* our ends of its pipes */
};

struct program {
	struct program_options opt;
	unsigned n_copies, n_active;
	struct copy copies[COPIES_MAX];
	int fd;
	atomic_bool stop;
	pthread_mutex_t lock;   /* of what follows */
	pthread_cond_t more;
	struct order *orders, **orders_end;
	struct program_answer *answers, **answers_end;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(struct program_answer *a, const char *cause, const char *why)
{
	snprintf(a->cause, sizeof a->cause, "%s", cause);
	snprintf(a->why, sizeof a->why, "%s", why);
}

/* ---- a copy of the program ---- */

/* Its input ends; one that is in step has `ms` to end by itself, and to tidy up. */
static void end_copy(struct copy *c, int ms)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	bool ended = false;

	if (!c->pid)
		return;
	close(c->in);
	close(c->out);
	for (; ms > 0 && !ended; ms -= 10) {
		ended = waitpid(c->pid, NULL, WNOHANG) == c->pid;
		if (!ended)
			nanosleep(&pause, NULL);
	}
	kill(-c->pid, SIGKILL);         /* it, or what it has left behind in its group */
	if (ended) {
		c->pid = 0;
		return;
	}
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

static const char *start_copy(struct copy *c)
{
	char *text = mem_strdup(c->program->opt.command), *words[SPAWN_WORDS_MAX + 1];
	char plain[64], safe[64];
	const char *const extra[] = { plain, safe, "no_proxy=", NULL };
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, rc = 0;

	snprintf(plain, sizeof plain, "http_proxy=http://127.0.0.1:%u", gate_proxy_port(c->proxy));
	snprintf(safe, sizeof safe, "https_proxy=http://127.0.0.1:%u", gate_proxy_port(c->proxy));
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || spawn_words(text, words) <= 0)
		rc = errno ? errno : EINVAL;
	else
		rc = spawn_start(words, in[0], out[1], extra, &c->pid);
	free(text);
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	if (rc == 0) {
		c->in = in[1];
		c->out = out[0];
		fcntl(c->in, F_SETFL, O_NONBLOCK);
		fcntl(c->out, F_SETFL, O_NONBLOCK);
		return NULL;
	}
	c->pid = 0;
	if (in[1] >= 0)
		close(in[1]);
	if (out[0] >= 0)
		close(out[0]);
	return "the program does not start";
}

/* Wait until the pipe is ready.  NULL, or why not. */
static const char *wait_for(struct copy *c, int fd, short events, double until)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		if (c->program->stop)
			return "stopped";
		if (now() >= until)
			return "the program took too long";
		if (poll(&p, 1, LOOK_MS) > 0)
			return NULL;
	}
}

static const char *write_request(struct copy *c, const struct program_request *r, double until)
{
	const char *why = NULL;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	buf_printf(&b, "GET %s HTTP/1.1\r\nUser-Agent: %s\r\n", r->url, c->program->opt.user_agent);
	if (r->etag)
		buf_printf(&b, "If-None-Match: %s\r\n", r->etag);
	if (r->last_modified)
		buf_printf(&b, "If-Modified-Since: %s\r\n", r->last_modified);
	buf_printf(&b, "Freshet-Proxy: http://127.0.0.1:%u\r\nFreshet-Seconds: %.0f\r\n"
	           "Freshet-Max-Body: %zu\r\nFreshet-Max-Requests: %u\r\n\r\n",
	           gate_proxy_port(c->proxy), r->seconds, r->max_body, r->max_requests);
	for (size_t done = 0; done < b.size && !why;) {
		ssize_t n;

		why = wait_for(c, c->in, POLLOUT, until);
		if (why)
			break;
		n = write(c->in, b.data + done, b.size - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			why = "the program has ended";
	}
	buf_release(&b);
	return why;
}

/* More bytes of the answer, at most `most`.  NULL, or why not; *ret_end: there are no more. */
static const char *read_more(struct copy *c, struct buf *b, size_t most, double until,
                             bool *ret_end)
{
	const char *why = wait_for(c, c->out, POLLIN, until);
	size_t room = most < CHUNK ? most : CHUNK;
	ssize_t n;

	*ret_end = false;
	if (why)
		return why;
	n = read(c->out, buf_room(b, room), room);
	if (n > 0)
		b->size += (size_t)n;
	*ret_end = n == 0;
	return n < 0 && errno != EAGAIN && errno != EINTR ? "its answer cannot be read" : NULL;
}

static const char *head_end(const struct buf *b)
{
	const char *end = b->size ? memmem(b->data, b->size, "\r\n\r\n", 4) : NULL;

	return end ? end + 4 : NULL;
}

/* "ERROR CAUSE text": it says itself that it failed, and can go on. */
static bool read_error(const struct buf *b, struct program_answer *a)
{
	char line[ERROR_LINE], cause[16] = "other";
	size_t n = b->size < sizeof line - 1 ? b->size : sizeof line - 1;
	char *text;

	if (n < 6 || memcmp(b->data, "ERROR ", 6) || !memchr(b->data, '\n', n))
		return false;
	memcpy(line, b->data, n);
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	text = line + 6 + strcspn(line + 6, " ");
	snprintf(cause, sizeof cause, "%.*s", (int)(text - line - 6), line + 6);
	fail(a, strcmp(cause, "dns") && strcmp(cause, "connect") && strcmp(cause, "timeout") &&
	     strcmp(cause, "tls") ? "other" : cause, *text ? text + 1 : "the program says no more");
	return true;
}

/* The body: as long as the head says; a copy whose answer is cut here must be ended, for the
 * rest of it would be taken for the next answer. */
static const char *read_body(struct copy *c, const struct program_request *r, double until,
                             int64_t length, struct program_answer *a, bool *ret_in_step)
{
	bool end = false;
	const char *why = NULL;
	size_t want = (size_t)length;

	a->cut = want > r->max_body;
	if (a->cut)
		want = r->max_body;
	while (!why && !end && a->body.size < want)
		why = read_more(c, &a->body, want - a->body.size, until, &end);
	*ret_in_step = !why && !a->cut && a->body.size == want;
	return why ? why : a->body.size < want ? "its answer ends before its end" : NULL;
}

/* Returns whether the copy can go on with another page. */
static bool read_answer(struct copy *c, const struct program_request *r, double until,
                        struct program_answer *a)
{
	const char *why = NULL, *body = NULL;
	unsigned said = 0;
	int64_t length = -1;
	bool end = false, in_step = false;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	while (!why && !end && !(body = head_end(&b)) && !read_error(&b, a)) {
		why = b.size > r->max_head ? "the head of its answer is too large" :
			read_more(c, &b, r->max_head + 1, until, &end);
	}
	if (*a->cause) {
		buf_release(&b);
		return !end;
	}
	if (!why && !body)
		why = "the program ended without an answer";
	if (!why)
		why = program_read_head(b.data, (size_t)(body - b.data), &a->head, &a->status, &length,
		                        &said);
	if (!why && length < 0)
		why = "its answer has no Content-Length";
	if (!why && b.size - (size_t)(body - b.data) > (uint64_t)length)
		why = "its answer is longer than it says";
	if (!why) {
		buf_add(&a->body, body, b.size - (size_t)(body - b.data));
		if (a->body.size > r->max_body)
			a->body.size = r->max_body;
		why = read_body(c, r, until, length, a, &in_step);
	}
	buf_release(&b);
	a->requests = said;
	if (why)
		fail(a, now() >= until ? "timeout" : "protocol", why);
	return in_step;
}

static void visit(struct copy *c, const struct program_request *r, struct program_answer *a)
{
	double began = now(), until = began + r->seconds;
	const char *why = NULL;
	unsigned seen;

	gate_proxy_begin(c->proxy, r->max_requests);
	for (int tries = 0; tries < 2; tries++) {       /* one that has ended is started again */
		why = c->pid ? NULL : start_copy(c);
		if (!why && !(why = write_request(c, r, until)))
			break;
		end_copy(c, 0);
	}
	if (why)
		fail(a, "other", why);
	else if (!read_answer(c, r, until, a))
		end_copy(c, 0);
	seen = gate_proxy_count(c->proxy);
	a->requests = a->requests > seen ? a->requests : seen;
	a->requests += !a->requests;
	a->seconds = now() - began;
}

/* ---- threads and queues ---- */

static void free_order(struct order *o)
{
	for (int i = 0; i < 3; i++)
		free(o->texts[i]);
	free(o);
}

static void *run(void *arg)
{
	struct copy *c = arg;
	struct program *p = c->program;
	uint64_t one = 1;

	for (;;) {
		struct program_answer *a;
		struct order *o;

		pthread_mutex_lock(&p->lock);
		while (!p->orders && !p->stop)
			pthread_cond_wait(&p->more, &p->lock);
		o = p->stop ? NULL : p->orders;
		if (o) {
			p->orders = o->next;
			if (!p->orders)
				p->orders_end = &p->orders;
		}
		pthread_mutex_unlock(&p->lock);
		if (!o)
			break;
		a = mem_zalloc(1, sizeof *a);
		a->owner = o->r.owner;
		buf_init(&a->head, BUF_NO_LIMIT);
		buf_init(&a->body, BUF_NO_LIMIT);
		visit(c, &o->r, a);
		free_order(o);
		pthread_mutex_lock(&p->lock);
		*p->answers_end = a;
		p->answers_end = &a->next;
		pthread_mutex_unlock(&p->lock);
		(void)!write(p->fd, &one, sizeof one);
	}
	end_copy(c, END_MS);
	return NULL;
}

int program_new(struct program **ret, const struct program_options *o, struct err *err)
{
	struct program *p = mem_zalloc(1, sizeof *p);
	unsigned n = o->copies < 1 ? 1 : o->copies < COPIES_MAX ? o->copies : COPIES_MAX;
	int rc = 0;

	p->opt = *o;
	p->orders_end = &p->orders;
	p->answers_end = &p->answers;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->fd < 0)
		rc = err_errno(err, E_FAIL, "fetcher: no descriptor");
	for (; rc == 0 && p->n_copies < n; p->n_copies++) {
		struct copy *c = &p->copies[p->n_copies];

		c->program = p;
		rc = gate_proxy_new(&c->proxy, &p->opt, err);
		if (rc == 0 && pthread_create(&c->thread, NULL, run, c))
			rc = err_errno(err, E_FAIL, "fetcher: no thread");
		else if (rc == 0)
			c->started = true;
	}
	if (rc < 0)
		program_free(p);
	else
		*ret = p;
	return rc;
}

void program_free(struct program *p)
{
	struct program_answer *a;
	struct order *o;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n_copies; i++) {
		if (p->copies[i].started)
			pthread_join(p->copies[i].thread, NULL);
		gate_proxy_free(p->copies[i].proxy);
	}
	while ((o = p->orders)) {
		p->orders = o->next;
		free_order(o);
	}
	while ((a = program_finished(p)))
		program_answer_free(a);
	if (p->fd >= 0)
		close(p->fd);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	free(p);
}

int program_fd(const struct program *p)
{
	return p->fd;
}

void program_start(struct program *p, const struct program_request *r)
{
	struct order *o = mem_zalloc(1, sizeof *o);
	const char *from[3] = { r->url, r->etag, r->last_modified };

	o->r = *r;
	for (int i = 0; i < 3; i++)
		o->texts[i] = from[i] ? mem_strdup(from[i]) : NULL;
	o->r.url = o->texts[0];
	o->r.etag = o->texts[1];
	o->r.last_modified = o->texts[2];
	p->n_active++;
	pthread_mutex_lock(&p->lock);
	*p->orders_end = o;
	p->orders_end = &o->next;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

struct program_answer *program_finished(struct program *p)
{
	struct program_answer *a;
	uint64_t n;

	pthread_mutex_lock(&p->lock);
	a = p->answers;
	if (a) {
		p->answers = a->next;
		p->n_active--;
	}
	if (!p->answers) {
		p->answers_end = &p->answers;
		(void)!read(p->fd, &n, sizeof n);
	}
	pthread_mutex_unlock(&p->lock);
	return a;
}

void program_answer_free(struct program_answer *a)
{
	buf_release(&a->head);
	buf_release(&a->body);
	free(a);
}

unsigned program_active(const struct program *p)
{
	return p->n_active;
}
