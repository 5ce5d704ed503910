/* SPDX-License-Identifier: Apache-2.0 */
/* origin_tape.c - one connection at a time, every request on tape; see origin_tape.h. */
#include "origin_tape.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

struct origin_tape {
	int fd;
	unsigned port;
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;
	tape_answer *answer;
	void *arg;
	VEC(char *) requests;
};

static void answer_one(struct origin_tape *o, int fd, const char *request)
{
	char path[256] = "", head[64];
	struct buf out, body;

	sscanf(request, "%*s %255s", path);
	buf_init(&out, 1 << 20);
	buf_init(&body, 1 << 20);
	pthread_mutex_lock(&o->lock);
	vec_push(&o->requests, mem_strdup(request));
	o->answer(o->arg, path, request, &out, &body);
	pthread_mutex_unlock(&o->lock);
	if (!strstr(buf_text(&out), " 304 ")) {
		snprintf(head, sizeof head, "Content-Length: %zu\r\n", body.size);
		buf_str(&out, head);
	}
	buf_str(&out, "\r\n");
	buf_add(&out, buf_text(&body), body.size);
	if (write(fd, out.data, out.size) < 0)
		perror("write");
	buf_release(&out);
	buf_release(&body);
}

static void serve(struct origin_tape *o, int fd)
{
	char text[16384];
	size_t n = 0;

	while (!o->stop) {
		struct pollfd p = { .fd = fd, .events = POLLIN }, q = { .fd = o->fd, .events = POLLIN };
		char *end;
		ssize_t k;

		if (poll(&p, 1, 20) == 0) {
			if (!n && poll(&q, 1, 0) == 1)
				return;         /* idle, and somebody waits */
			continue;
		}
		k = read(fd, text + n, sizeof text - 1 - n);
		if (k <= 0)
			return;
		n += (size_t)k;
		text[n] = '\0';
		while ((end = strstr(text, "\r\n\r\n"))) {
			char *one = mem_strndup(text, (size_t)(end + 4 - text));

			answer_one(o, fd, one);
			free(one);
			n -= (size_t)(end + 4 - text);
			memmove(text, end + 4, n + 1);
		}
	}
}

static void *loop(void *arg)
{
	struct origin_tape *o = arg;

	while (!o->stop) {
		struct pollfd p = { .fd = o->fd, .events = POLLIN };

		if (poll(&p, 1, 20) == 1) {
			int fd = accept(o->fd, NULL, NULL);

			if (fd >= 0) {
				serve(o, fd);
				close(fd);
			}
		}
	}
	return NULL;
}

struct origin_tape *origin_tape_start(tape_answer *answer, void *arg)
{
	struct origin_tape *o = mem_zalloc(1, sizeof *o);
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof a;

	o->answer = answer;
	o->arg = arg;
	pthread_mutex_init(&o->lock, NULL);
	o->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(o->fd, (struct sockaddr *)&a, size) || listen(o->fd, 50) ||
	    getsockname(o->fd, (struct sockaddr *)&a, &size) ||
	    pthread_create(&o->thread, NULL, loop, o))
		abort();
	o->port = ntohs(a.sin_port);
	return o;
}

void origin_tape_stop(struct origin_tape *o)
{
	o->stop = true;
	pthread_join(o->thread, NULL);
	close(o->fd);
	for (size_t i = 0; i < o->requests.n; i++)
		free(o->requests.v[i]);
	vec_release(&o->requests);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

unsigned origin_tape_port(const struct origin_tape *o)
{
	return o->port;
}

const char *origin_tape_request(struct origin_tape *o, size_t i)
{
	const char *r;

	pthread_mutex_lock(&o->lock);
	r = i < o->requests.n ? o->requests.v[i] : NULL;
	pthread_mutex_unlock(&o->lock);
	return r;
}
