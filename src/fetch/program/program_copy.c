/* SPDX-License-Identifier: Apache-2.0 */
/* program_copy.c - see program_copy.h; what is said on the pipes: program.h. */
#include "fetch/program/program_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io/spawn.h"
#include "base/mem.h"

#define LOOK_MS 100             /* between looks whether we are to stop */
#define ERROR_LINE 300          /* bytes of "ERROR CAUSE text" */
#define CHUNK (64 << 10)

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

void program_copy_end(struct program_copy *c, int ms)
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

static const char *start_copy(struct program_copy *c)
{
	char *text = mem_strdup(c->opt->command), *words[SPAWN_WORDS_MAX + 1];
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
static const char *wait_for(struct program_copy *c, int fd, short events, double until)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		if (*c->stop)
			return "stopped";
		if (now() >= until)
			return "the program took too long";
		if (poll(&p, 1, LOOK_MS) > 0)
			return NULL;
	}
}

static const char *write_request(struct program_copy *c, const struct program_request *r, double until)
{
	const char *why = NULL;
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	buf_printf(&b, "GET %s HTTP/1.1\r\nUser-Agent: %s\r\n", r->url, c->opt->user_agent);
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
static const char *read_more(struct program_copy *c, struct buf *b, size_t most, double until,
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
static const char *read_body(struct program_copy *c, const struct program_request *r, double until,
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
static bool read_answer(struct program_copy *c, const struct program_request *r, double until,
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

void program_copy_visit(struct program_copy *c, const struct program_request *r, struct program_answer *a)
{
	double began = now(), until = began + r->seconds;
	const char *why = NULL;
	unsigned seen;

	gate_proxy_begin(c->proxy, r->max_requests);
	for (int tries = 0; tries < 2; tries++) {       /* one that has ended is started again */
		why = c->pid ? NULL : start_copy(c);
		if (!why && !(why = write_request(c, r, until)))
			break;
		program_copy_end(c, 0);
	}
	if (why)
		fail(a, "other", why);
	else if (!read_answer(c, r, until, a))
		program_copy_end(c, 0);
	seen = gate_proxy_count(c->proxy);
	a->requests = a->requests > seen ? a->requests : seen;
	a->requests += !a->requests;
	a->seconds = now() - began;
}
