/* SPDX-License-Identifier: Apache-2.0 */
/* origin_raw.c - hostile answers over bare sockets, a thread a connection. */
#include "origin_raw.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack.h"

struct origin_raw {
	int fd;
	unsigned port, open;
	atomic_uint leaks, requests;
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t closed;
};

struct visit { struct origin_raw *o; int fd; const char *path; };

static bool say_bytes(struct visit *v, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		struct pollfd f = { .fd = v->fd, .events = POLLOUT };
		ssize_t n;

		if (v->o->stop || poll(&f, 1, 100) < 0)
			return false;
		n = send(v->fd, p, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && !(f.revents & (POLLERR | POLLHUP)))
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

static bool say(struct visit *v, const char *s)
{
	return say_bytes(v, s, strlen(s));
}

/* Until the client goes away. */
static void linger(struct visit *v)
{
	struct pollfd f = { .fd = v->fd, .events = POLLIN };
	char byte[256];

	while (!v->o->stop)
		if (poll(&f, 1, 50) > 0 && recv(v->fd, byte, sizeof byte, 0) <= 0)
			return;
}

static bool nap(struct visit *v, unsigned ms)
{
	usleep(ms * 1000);
	return !v->o->stop;
}

static void ok(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: id=1; Path=/\r\n\r\nhello");
}

static void silent(struct visit *v) { linger(v); }
static void hang_up(struct visit *v) { (void)v; }

static void slow_head(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\nX: ");
	while (nap(v, 20) && say(v, "a"))
		;
}

static void slow_body(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
	while (nap(v, 20) && say(v, "b"))
		;
}

static void stall(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nsome");
	linger(v);
}

/* All but the end of 2 MiB at once, then next to nothing. */
static void hog(struct visit *v)
{
	static const char data[63 << 10];

	say(v, "HTTP/1.1 200 OK\r\nContent-Length: 2097152\r\n\r\n");
	for (int i = 0; i < 32; i++)
		say_bytes(v, data, sizeof data);
	linger(v);
}

static void steady(struct visit *v)     /* fast enough, but never done */
{
	char data[2000];

	memset(data, 's', sizeof data);
	say(v, "HTTP/1.1 200 OK\r\n\r\n");
	while (nap(v, 10) && say_bytes(v, data, sizeof data))
		;
}

static void endless(struct visit *v)
{
	char *data = mem_alloc(1 << 16);

	memset(data, 'e', 1 << 16);
	say(v, "HTTP/1.1 200 OK\r\n\r\n");
	while (say_bytes(v, data, 1 << 16))
		;
	free(data);
}

static void endless_chunked(struct visit *v)
{
	char data[4096 + 8] = "1000\r\n";

	memset(data + 6, 'c', 4096);
	memcpy(data + 6 + 4096, "\r\n", 2);
	say(v, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	while (say_bytes(v, data, 4096 + 8))
		;
}

static void endless_trailers(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n");
	while (say(v, "X-Trailer: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n"))
		;
}

static void endless_headers(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\n");
	while (say(v, "X-Header: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n"))
		;
}

static void endless_line(struct visit *v)
{
	say(v, "HTTP/1.1 200 OK\r\nX: ");
	while (say(v, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"))
		;
}

static void endless_continue(struct visit *v)
{
	while (say(v, "HTTP/1.1 100 Continue\r\nX-Pad: xxxxxxxxxxxxxxxxxxxxxxxx\r\n\r\n"))
		;
}

static void reset(struct visit *v)
{
	struct linger l = { 1, 0 };

	if (strstr(v->path, "body"))
		say(v, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart of it");
	nap(v, 20);
	setsockopt(v->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
}

static const char *const bomb_names[] = { "gzip", "deflate", "br", "zstd" };
static struct buf bombs[4];
static pthread_once_t bombs_once = PTHREAD_ONCE_INIT;

/* Packed before anybody asks: a slow machine must not look like a slow server. */
static void pack_bombs(void)
{
	static void (*const pack[])(struct buf *, const void *, size_t) = {
		pack_gzip, pack_zlib, pack_brotli, pack_zstd };
	size_t size = 12 << 20;
	char *zeros = mem_zalloc(size, 1);

	for (int i = 0; i < 4; i++) {
		buf_init(&bombs[i], BUF_NO_LIMIT);
		pack[i](&bombs[i], zeros, size);
	}
	free(zeros);
}

static void bomb(struct visit *v)
{
	const char *name = v->path + strlen("/bomb-");

	for (int i = 0; i < 4; i++) {
		if (strcmp(name, bomb_names[i]))
			continue;
		say(v, "HTTP/1.1 200 OK\r\nContent-Encoding: ");
		say(v, name);
		say(v, "\r\n\r\n");
		say_bytes(v, bombs[i].data, bombs[i].size);
	}
}

/* Fixed answers; a literal may hold NULs, so sizes are kept. */
#define ANSWER(path, text) { path, NULL, text, sizeof text - 1 }
#define HEAD200 "HTTP/1.1 200 OK\r\n"
#define MOVED(path, to) ANSWER(path, "HTTP/1.1 302 Found\r\nLocation: " to \
	"\r\nContent-Length: 0\r\n\r\n")

static const struct {
	const char *path;
	void (*run)(struct visit *v);
	const char *text;
	size_t size;
} cases[] = {
	{ "/ok", ok, NULL, 0 }, { "/silent", silent, NULL, 0 },
	{ "/hang-up", hang_up, NULL, 0 }, { "/slow-head", slow_head, NULL, 0 },
	{ "/slow-body", slow_body, NULL, 0 }, { "/stall", stall, NULL, 0 },
	{ "/hog", hog, NULL, 0 },
	{ "/steady", steady, NULL, 0 }, { "/endless", endless, NULL, 0 },
	{ "/endless-chunked", endless_chunked, NULL, 0 },
	{ "/endless-trailers", endless_trailers, NULL, 0 },
	{ "/endless-headers", endless_headers, NULL, 0 },
	{ "/endless-line", endless_line, NULL, 0 },
	{ "/endless-continue", endless_continue, NULL, 0 },
	{ "/reset", reset, NULL, 0 }, { "/reset-body", reset, NULL, 0 },
	{ "/bomb-gzip", bomb, NULL, 0 }, { "/bomb-deflate", bomb, NULL, 0 },
	{ "/bomb-br", bomb, NULL, 0 }, { "/bomb-zstd", bomb, NULL, 0 },
	ANSWER("/long-length", HEAD200 "Content-Length: 100000\r\n\r\nonly this"),
	ANSWER("/short-length", HEAD200 "Content-Length: 4\r\n\r\nfour and more"),
	ANSWER("/two-lengths", HEAD200 "Content-Length: 4\r\nContent-Length: 9\r\n\r\nfour and "),
	ANSWER("/negative-length", HEAD200 "Content-Length: -5\r\n\r\nhello"),
	ANSWER("/length-and-chunked", HEAD200 "Content-Length: 50\r\nTransfer-Encoding: "
	       "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
	ANSWER("/bad-chunk", HEAD200 "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
	ANSWER("/huge-chunk", HEAD200 "Transfer-Encoding: chunked\r\n\r\n"
	       "fffffffffffffffffffff\r\nhello\r\n"),
	ANSWER("/cut-chunk", HEAD200 "Transfer-Encoding: chunked\r\n\r\n500\r\nhello"),
	ANSWER("/garbage", "\x16\x03\x01\x02\x00garbage that is no HTTP at all\r\n\r\n"),
	ANSWER("/http09", "<html>no head at all</html>"),
	ANSWER("/nul-header", HEAD200 "X-A: a\0b\r\nContent-Length: 5\r\n\r\nhello"),
	ANSWER("/bad-status", "HTTP/1.1 9999 What\r\nContent-Length: 0\r\n\r\n"),
	ANSWER("/no-status", "HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
	ANSWER("/unasked-304", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"),
	ANSWER("/bomb-nested", HEAD200 "Content-Encoding: gzip, gzip\r\n"
	       "Content-Length: 5\r\n\r\nhello"),
	ANSWER("/false-gzip", HEAD200 "Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n"
	       "not gzip!"),
	ANSWER("/broken-gzip", HEAD200 "Content-Encoding: gzip\r\n\r\n"
	       "\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff damaged"),
	MOVED("/loop-self", "/loop-self"), MOVED("/loop-a", "/loop-b"),
	MOVED("/loop-b", "/loop-a"), MOVED("/to-file", "file:///etc/passwd"),
	MOVED("/to-ftp", "ftp://127.0.0.1/x"), MOVED("/to-gopher", "gopher://127.0.0.1:25/_x"),
	MOVED("/to-javascript", "javascript:alert(1)"),
	MOVED("/to-metadata", "http://169.254.169.254/latest/meta-data/"),
	MOVED("/to-private", "http://10.0.0.1/"), MOVED("/to-v6-loopback", "http://[::1]/"),
	MOVED("/to-mapped", "http://[::ffff:169.254.169.254]/"),
	MOVED("/to-nat64", "http://[64:ff9b::a9fe:a9fe]/"),
	MOVED("/to-octal", "http://0251.0376.0251.0376/"),
	MOVED("/to-decimal", "http://2852039166/"),
	MOVED("/to-userinfo", "http://user:secret@127.0.0.2/ok"),
	MOVED("/to-backslash", "http://example.org\\@127.0.0.2/ok"),
	MOVED("/to-crlf", "/ok%0d%0aX-Injected:%201"), MOVED("/to-ok", "/ok"),
	ANSWER("/to-nowhere", "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n"),
	ANSWER("/robots.txt", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
};

bool origin_raw_fixed(size_t i, const char **ret, size_t *ret_size)
{
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		if (cases[k].run || i-- > 0)
			continue;
		*ret = cases[k].text;
		*ret_size = cases[k].size;
		return true;
	}
	return false;
}

static void answer(struct visit *v)
{
	unsigned n;
	char text[200];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (strcmp(v->path, cases[i].path))
			continue;
		if (cases[i].run)
			cases[i].run(v);
		else
			say_bytes(v, cases[i].text, cases[i].size);
		return;
	}
	if (sscanf(v->path, "/chain/%u", &n) == 1)
		snprintf(text, sizeof text, "HTTP/1.1 302 Found\r\nLocation: /chain/%u\r\n"
		         "Content-Length: 0\r\n\r\n", n + 1);
	else
		snprintf(text, sizeof text, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	say(v, text);
}

static void *serve(void *arg)
{
	struct visit *v = arg;
	struct origin_raw *o = v->o;
	char request[8192], path[256];
	size_t size = 0;

	while (size < sizeof request - 1) {
		struct pollfd f = { .fd = v->fd, .events = POLLIN };
		ssize_t n = 0;

		if (o->stop || poll(&f, 1, 50) < 0)
			break;
		if (!f.revents)
			continue;
		n = recv(v->fd, request + size, sizeof request - 1 - size, 0);
		if (n <= 0)
			break;
		size += (size_t)n;
		request[size] = '\0';
		if (request[0] == 0x16) {       /* TLS, which we do not speak */
			say(v, "HTTP/1.1 400 Bad Request\r\n\r\n");
			break;
		}
		if (strstr(request, "\r\n\r\n") &&
		    sscanf(request, "%*s %255s", path) == 1) {
			pthread_mutex_lock(&o->lock);
			o->requests++;
			o->leaks += strcasestr(request, "\ncookie:") ||
				strcasestr(request, "\nauthorization:") ||
				strcasestr(request, "\nreferer:") ||
				strcasestr(request, "\nx-injected");
			pthread_mutex_unlock(&o->lock);
			v->path = path;
			answer(v);
			break;
		}
	}
	close(v->fd);
	free(v);
	pthread_mutex_lock(&o->lock);
	o->open--;
	pthread_cond_signal(&o->closed);
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

static void *listen_on(void *arg)
{
	struct origin_raw *o = arg;

	while (!o->stop) {
		struct pollfd f = { .fd = o->fd, .events = POLLIN };
		struct visit *v;
		pthread_t t;
		int fd;

		if (poll(&f, 1, 50) <= 0 || (fd = accept(o->fd, NULL, NULL)) < 0)
			continue;
		v = mem_zalloc(1, sizeof *v);
		v->o = o;
		v->fd = fd;
		pthread_mutex_lock(&o->lock);
		o->open++;
		pthread_mutex_unlock(&o->lock);
		if (pthread_create(&t, NULL, serve, v))
			abort();
		pthread_detach(t);
	}
	return NULL;
}

struct origin_raw *origin_raw_start(void)
{
	struct origin_raw *o = mem_zalloc(1, sizeof *o);
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof sa;

	pthread_once(&bombs_once, pack_bombs);
	o->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(o->fd, (struct sockaddr *)&sa, sizeof sa) || listen(o->fd, 512) ||
	    getsockname(o->fd, (struct sockaddr *)&sa, &size))
		abort();
	o->port = ntohs(sa.sin_port);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->closed, NULL);
	if (pthread_create(&o->thread, NULL, listen_on, o))
		abort();
	return o;
}

void origin_raw_stop(struct origin_raw *o)
{
	o->stop = true;
	pthread_join(o->thread, NULL);
	pthread_mutex_lock(&o->lock);
	while (o->open)
		pthread_cond_wait(&o->closed, &o->lock);
	pthread_mutex_unlock(&o->lock);
	close(o->fd);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->closed);
	free(o);
}

unsigned origin_raw_port(const struct origin_raw *o)
{
	return o->port;
}

unsigned origin_raw_leaks(const struct origin_raw *o)
{
	return o->leaks;
}

unsigned origin_raw_requests(const struct origin_raw *o)
{
	return o->requests;
}
