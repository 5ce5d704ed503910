/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_proxy.c - see gate_proxy.h.
 *
 * What a connection of the last page still does is cut when the next begins, so that it
 * cannot spend the requests of another page.  Memory: HEAD_MAX and RELAY bytes a
 * connection, CONNECTIONS_MAX of them; more wait in the queue of the socket.
 */
#include "fetch/program/gate_proxy.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define CONNECTIONS_MAX 48
#define HEAD_MAX (32 << 10)     /* bytes of a request's head */
#define RELAY (16 << 10)
#define IDLE_MS 60000           /* a connection that is silent for so long is cut */
#define CONNECT_MS 10000

struct passage {                /* a connection of the program's */
	struct gate_proxy *proxy;
	int fd, out;            /* -1: none */
	bool used, done;
	pthread_t thread;
};

struct gate_proxy {
	const struct program_options *opt;
	int fd;
	unsigned port;
	atomic_uint left, count;
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;   /* of the passages */
	struct passage passages[CONNECTIONS_MAX];
};

static void say(int fd, const char *status, const char *why)
{
	char text[512];
	int n = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n"
	                 "\r\n%s", status, strlen(why), why);

	(void)!send(fd, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, MSG_NOSIGNAL);
}

static bool wait_for(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) > 0;
}

static bool send_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n;

		if (!wait_for(fd, POLLOUT, IDLE_MS) || (n = send(fd, data, size, MSG_NOSIGNAL)) <= 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* The head of a request; *ret_end: behind its empty line, where a body begins. */
static bool read_head(int fd, char *head, size_t *ret_size, size_t *ret_end)
{
	size_t size = 0;

	while (size < HEAD_MAX) {
		ssize_t n = wait_for(fd, POLLIN, IDLE_MS) ? recv(fd, head + size, HEAD_MAX - size, 0) : 0;
		char *end;

		if (n <= 0)
			return false;
		size += (size_t)n;
		head[size] = '\0';
		if ((end = strstr(head, "\r\n\r\n"))) {
			*ret_size = size;
			*ret_end = (size_t)(end - head) + 4;
			return true;
		}
	}
	return false;
}

/* Where a request goes: "CONNECT host:port", or "GET http://host[:port]/path". */
struct target { char host[256]; unsigned port; const char *path; size_t path_size; bool tunnel; };

static bool read_target(const char *head, struct target *t)
{
	const char *url = strchr(head, ' '), *stop, *host, *end;
	char *number_end;

	if (!url || !(stop = strpbrk(++url, " \r\n")) || *stop != ' ')
		return false;
	t->tunnel = !strncmp(head, "CONNECT ", 8);
	if (!t->tunnel && strncasecmp(url, "http://", 7))
		return false;
	host = url + (t->tunnel ? 0 : 7);
	if (*host == '[') {
		host++;
		end = memchr(host, ']', (size_t)(stop - host));
		if (!end)
			return false;
		t->path = end + 1;
	} else {
		t->path = end = host + strcspn(host, ":/ ");
	}
	if (end == host || (size_t)(end - host) >= sizeof t->host)
		return false;
	memcpy(t->host, host, (size_t)(end - host));
	t->host[end - host] = '\0';
	t->port = 80;
	if (*t->path == ':') {
		unsigned long port = strtoul(t->path + 1, &number_end, 10);

		if (!isdigit((unsigned char)t->path[1]) || port < 1 || port > 65535)
			return false;
		t->port = (unsigned)port;
		t->path = number_end;
	} else if (t->tunnel) {
		return false;
	}
	t->path_size = (size_t)(stop - t->path);
	return t->tunnel ? !t->path_size : t->path_size && *t->path == '/';
}

static int connect_to(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	int error = 0;
	socklen_t size = sizeof error;

	if (fd < 0)
		return -1;
	(void)!connect(fd, a->ai_addr, a->ai_addrlen);
	if (wait_for(fd, POLLOUT, CONNECT_MS) &&
	    !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error)
		return fd;
	close(fd);
	return -1;
}

/* A connection to the first address that the gate allows and that answers. */
static int reach(struct gate_proxy *p, const struct target *t, char why[200])
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	char port[16];
	int fd = -1;

	snprintf(port, sizeof port, "%u", t->port);
	snprintf(why, 200, "%.150s: no address", t->host);
	if (p->opt->refuses_port(t->port)) {
		snprintf(why, 200, "port %u is not for web servers", t->port);
		return -1;
	}
	if (getaddrinfo(t->host, port, &hints, &list))
		return -1;
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		const char *refused = p->opt->refuses(p->opt->arg, a->ai_addr);

		if (refused)
			snprintf(why, 200, "%.100s: %s", t->host, refused);
		else if ((fd = connect_to(a)) < 0)
			snprintf(why, 200, "%.150s: no connection", t->host);
	}
	freeaddrinfo(list);
	return fd;
}

/* The request as a server wants it: its path alone, and the connection for it alone. */
static bool pass_request(int out, const char *head, size_t size, size_t end, const struct target *t)
{
	const char *line = strchr(head, '\n') + 1, *method_end = strchr(head, ' ');
	struct buf b;
	bool fine;

	buf_init(&b, HEAD_MAX + 64);
	buf_add(&b, head, (size_t)(method_end - head));
	buf_byte(&b, ' ');
	buf_add(&b, t->path, t->path_size);
	buf_str(&b, " HTTP/1.1\r\n");
	while (line < head + end - 2) {
		const char *stop = strchr(line, '\n') + 1;

		if (strncasecmp(line, "Proxy-", 6) && strncasecmp(line, "Connection:", 11) &&
		    strncasecmp(line, "Keep-Alive:", 11))
			buf_add(&b, line, (size_t)(stop - line));
		line = stop;
	}
	buf_str(&b, "Connection: close\r\n\r\n");
	fine = !b.full && send_all(out, b.data, b.size) && send_all(out, head + end, size - end);
	buf_release(&b);
	return fine;
}

static void relay(struct passage *g, int out)
{
	struct pollfd f[2] = { { .fd = g->fd, .events = POLLIN }, { .fd = out, .events = POLLIN } };
	char data[RELAY];

	while (f[1].fd >= 0 && poll(f, 2, IDLE_MS) > 0) {
		for (int i = 0; i < 2; i++) {
			int to = i ? g->fd : out;
			ssize_t n;

			if (f[i].fd < 0 || !f[i].revents)
				continue;
			n = recv(f[i].fd, data, sizeof data, 0);
			if (n > 0 && send_all(to, data, (size_t)n))
				continue;
			shutdown(to, SHUT_WR);
			f[i].fd = -1;
		}
	}
}

static void serve(struct passage *g)
{
	struct gate_proxy *p = g->proxy;
	char *head = mem_array(HEAD_MAX + 1, 1), why[200];
	size_t size, end;
	struct target t;
	unsigned left;
	int out = -1;

	if (!read_head(g->fd, head, &size, &end)) {
		say(g->fd, "400 Bad Request", "no request");
	} else if (!read_target(head, &t)) {
		say(g->fd, "400 Bad Request", "a proxy wants CONNECT host:port or an http:// URL");
	} else {
		for (left = p->left; left && !atomic_compare_exchange_weak(&p->left, &left, left - 1);)
			;
		if (!left) {
			say(g->fd, "429 Too Many Requests", "the page has had its requests");
		} else {
			p->count++;
			out = reach(p, &t, why);
			if (out < 0)
				say(g->fd, "403 Forbidden", why);
		}
	}
	if (out >= 0) {
		pthread_mutex_lock(&p->lock);
		g->out = out;
		pthread_mutex_unlock(&p->lock);
		if (t.tunnel ? send_all(g->fd, "HTTP/1.1 200 OK\r\n\r\n", 19) &&
		    send_all(out, head + end, size - end) : pass_request(out, head, size, end, &t))
			relay(g, out);
	}
	free(head);
}

static void *run_passage(void *arg)
{
	struct passage *g = arg;

	serve(g);
	pthread_mutex_lock(&g->proxy->lock);
	close(g->fd);
	if (g->out >= 0)
		close(g->out);
	g->fd = g->out = -1;
	g->done = true;
	pthread_mutex_unlock(&g->proxy->lock);
	return NULL;
}

/* Collect threads that are done; a free place, or NULL. */
static struct passage *free_passage(struct gate_proxy *p)
{
	struct passage *found = NULL;

	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < CONNECTIONS_MAX; i++) {
		struct passage *g = &p->passages[i];

		if (g->used && g->done) {
			pthread_join(g->thread, NULL);
			g->used = false;
		}
		if (!g->used)
			found = g;
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static void *run(void *arg)
{
	struct gate_proxy *p = arg;

	while (!p->stop) {
		struct passage *g = free_passage(p);
		int fd;

		if (!g) {
			usleep(10000);
			continue;
		}
		if (!wait_for(p->fd, POLLIN, 200) ||
		    (fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0)
			continue;
		pthread_mutex_lock(&p->lock);
		*g = (struct passage){ .proxy = p, .fd = fd, .out = -1, .used = true };
		if (pthread_create(&g->thread, NULL, run_passage, g)) {
			close(fd);
			g->used = false;
		}
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static void cut_all(struct gate_proxy *p)
{
	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < CONNECTIONS_MAX; i++) {
		struct passage *g = &p->passages[i];

		if (g->used && g->fd >= 0)
			shutdown(g->fd, SHUT_RDWR);
		if (g->used && g->out >= 0)
			shutdown(g->out, SHUT_RDWR);
	}
	pthread_mutex_unlock(&p->lock);
}

int gate_proxy_new(struct gate_proxy **ret, const struct program_options *o, struct err *err)
{
	struct gate_proxy *p = mem_zalloc(1, sizeof *p);
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof sa;

	p->opt = o;
	pthread_mutex_init(&p->lock, NULL);
	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&sa, sizeof sa) ||
	    listen(p->fd, CONNECTIONS_MAX) || getsockname(p->fd, (struct sockaddr *)&sa, &size) ||
	    pthread_create(&p->thread, NULL, run, p)) {
		if (p->fd >= 0)
			close(p->fd);
		pthread_mutex_destroy(&p->lock);
		free(p);
		return err_errno(err, E_FAIL, "fetcher: no proxy on loopback");
	}
	p->port = ntohs(sa.sin_port);
	*ret = p;
	return 0;
}

void gate_proxy_free(struct gate_proxy *p)
{
	if (!p)
		return;
	p->stop = true;
	pthread_join(p->thread, NULL);
	cut_all(p);
	for (int i = 0; i < CONNECTIONS_MAX; i++)
		if (p->passages[i].used)
			pthread_join(p->passages[i].thread, NULL);
	close(p->fd);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

unsigned gate_proxy_port(const struct gate_proxy *p)
{
	return p->port;
}

void gate_proxy_begin(struct gate_proxy *p, unsigned requests)
{
	p->left = 0;
	cut_all(p);
	p->count = 0;
	p->left = requests;
}

unsigned gate_proxy_count(const struct gate_proxy *p)
{
	return p->count;
}
