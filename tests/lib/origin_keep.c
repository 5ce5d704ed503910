/* SPDX-License-Identifier: Apache-2.0 */
/* origin_keep.c - see origin_keep.h. */
#include "origin_keep.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define N_MAX 512               /* connections at a time */
#define REQUEST_MAX 8192
#define SPLIT_MS 2              /* between the pieces of an answer */
#define PATIENCE_MS 40          /* with a client that says nothing more */
#define FIRST_MS 10000          /* until its first request: a busy machine may keep it */

struct client {
	int fd;
	char request[REQUEST_MAX];
	size_t size;
	unsigned n_requests;
	struct origin_answer answer;
	size_t sent;
	int64_t hold;                   /* nothing is sent before */
	int64_t heard;                  /* something was sent or received then */
};

struct origin_keep {
	origin_keep_make *make;
	void *arg;
	int fd;
	unsigned port;
	atomic_bool stop;
	atomic_uint connections, requests, reused, busy;
	pthread_t thread;
	struct client *clients[N_MAX];
	size_t n;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void take(struct origin_keep *o)
{
	int one = 1, fd = accept4(o->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct client *c;

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	c = mem_zalloc(1, sizeof *c);
	c->fd = fd;
	c->heard = now_ms();
	buf_init(&c->answer.bytes, BUF_NO_LIMIT);
	o->clients[o->n++] = c;
	o->connections++;
}

static bool is_answering(const struct client *c)
{
	return c->sent < c->answer.bytes.size;
}

static void drop(struct origin_keep *o, size_t i)
{
	struct client *c = o->clients[i];

	if (is_answering(c))
		o->busy--;
	close(c->fd);
	buf_release(&c->answer.bytes);
	free(c);
	o->clients[i] = o->clients[--o->n];
}

/* A whole request makes the next answer; what was left of the last is forgotten, for a
 * client that asks again has had what it wanted. */
static bool receive(struct origin_keep *o, struct client *c)
{
	ssize_t n = recv(c->fd, c->request + c->size, REQUEST_MAX - 1 - c->size, 0);
	char path[256];

	if (n <= 0)
		return false;
	c->size += (size_t)n;
	c->request[c->size] = '\0';
	c->heard = now_ms();
	if (!strstr(c->request, "\r\n\r\n"))
		return c->size < REQUEST_MAX - 1;
	if (sscanf(c->request, "%*s %255s", path) != 1)
		return false;
	o->requests++;
	o->reused += c->n_requests++ > 0;
	c->size = 0;
	c->hold = 0;
	if (is_answering(c))
		o->busy--;
	buf_clear(&c->answer.bytes);
	c->answer.split = c->sent = 0;
	c->answer.closes = false;
	o->make(o->arg, path, &c->answer);
	o->busy += is_answering(c);
	return true;
}

static bool reply(struct origin_keep *o, struct client *c, int64_t now)
{
	size_t split = c->answer.split, size = c->answer.bytes.size;
	size_t end = c->sent < split && split < size ? split : size;
	ssize_t n = send(c->fd, c->answer.bytes.data + c->sent, end - c->sent, MSG_NOSIGNAL);

	if (n <= 0)
		return false;
	c->sent += (size_t)n;
	c->heard = now;
	if (!is_answering(c))
		o->busy--;
	if (c->sent == split)
		c->hold = now + SPLIT_MS;
	return c->sent < size || !c->answer.closes;
}

/* Returns whether the client is still wanted. */
static bool serve(struct origin_keep *o, struct client *c, short events)
{
	int64_t now = now_ms();

	if ((events & (POLLIN | POLLERR | POLLHUP)) && !receive(o, c))
		return false;
	if (is_answering(c) && now >= c->hold && !reply(o, c, now))
		return false;
	if (!c->size && c->n_requests && !c->answer.bytes.size)
		return false;           /* an answer of no bytes: hang up */
	return is_answering(c) || now - c->heard < (c->n_requests ? PATIENCE_MS : FIRST_MS);
}

static void *run(void *arg)
{
	struct origin_keep *o = arg;
	struct pollfd f[N_MAX + 1];

	while (!o->stop) {
		int wait = PATIENCE_MS / 2;

		for (size_t i = 0; i < o->n; i++) {
			struct client *c = o->clients[i];
			bool held = is_answering(c) && c->hold > now_ms();

			f[i] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
			f[i].events |= is_answering(c) && !held ? POLLOUT : 0;
			wait = held ? 1 : wait;
		}
		f[o->n] = (struct pollfd){ .fd = o->n < N_MAX ? o->fd : -1, .events = POLLIN };
		if (poll(f, o->n + 1, wait) < 0)
			continue;
		if (f[o->n].revents)
			take(o);
		for (size_t i = o->n; i-- > 0;)         /* drop() moves the last one */
			if (!serve(o, o->clients[i], f[i].fd == o->clients[i]->fd ?
			           f[i].revents : 0))
				drop(o, i);
	}
	while (o->n)
		drop(o, o->n - 1);
	return NULL;
}

struct origin_keep *origin_keep_start(origin_keep_make *make, void *arg)
{
	struct origin_keep *o = mem_zalloc(1, sizeof *o);
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof sa;

	o->make = make;
	o->arg = arg;
	o->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bind(o->fd, (struct sockaddr *)&sa, sizeof sa) || listen(o->fd, N_MAX) ||
	    getsockname(o->fd, (struct sockaddr *)&sa, &size))
		abort();
	o->port = ntohs(sa.sin_port);
	if (pthread_create(&o->thread, NULL, run, o))
		abort();
	return o;
}

void origin_keep_stop(struct origin_keep *o)
{
	o->stop = true;
	pthread_join(o->thread, NULL);
	close(o->fd);
	free(o);
}

unsigned origin_keep_port(const struct origin_keep *o)
{
	return o->port;
}

void origin_keep_counts(struct origin_keep *o, unsigned *ret_connections,
                        unsigned *ret_requests, unsigned *ret_reused)
{
	*ret_connections = o->connections;
	*ret_requests = o->requests;
	*ret_reused = o->reused;
}

bool origin_keep_idle(const struct origin_keep *o)
{
	return o->busy == 0;
}
