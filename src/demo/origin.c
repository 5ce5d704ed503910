/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c - the server, on libmicrohttpd; one thread for each connection, so that an
 * answer may take long. */
#include "demo/origin.h"

#include <assert.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/when.h"

struct origin {
	struct MHD_Daemon *daemon;
	origin_answer *answer;
	void *arg;
	unsigned port;
	pthread_mutex_t lock;
	VEC(struct origin_log) log;
	unsigned char connections[1 << 16];     /* by the low half of the address */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum MHD_Result from_loopback(void *arg, const struct sockaddr *sa, socklen_t size)
{
	const struct sockaddr_in *in = (const void *)sa;

	(void)arg, (void)size;
	return sa->sa_family == AF_INET && ntohl(in->sin_addr.s_addr) >> 24 == 127;
}

static uint16_t local_address(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_in sa = { 0 };
	socklen_t size = sizeof sa;

	getsockname(i->connect_fd, (struct sockaddr *)&sa, &size);
	return (uint16_t)ntohl(sa.sin_addr.s_addr);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **mine,
                          enum MHD_ConnectionNotificationCode what)
{
	struct origin *o = arg;

	pthread_mutex_lock(&o->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		uint16_t a = local_address(c);

		*mine = (void *)(uintptr_t)(a + 1u);
		o->connections[a]++;
	} else {
		o->connections[(uintptr_t)*mine - 1]--;
	}
	pthread_mutex_unlock(&o->lock);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **mine,
                         enum MHD_RequestTerminationCode why)
{
	struct origin *o = arg;

	(void)c, (void)why;
	if (!*mine)
		return;
	pthread_mutex_lock(&o->lock);
	o->log.v[(uintptr_t)*mine - 1].end = now();
	pthread_mutex_unlock(&o->lock);
}

static void add_headers(struct MHD_Response *r, const struct buf *headers)
{
	char *copy = mem_strdup(buf_text(headers)), *save, *line;

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(line, ':');

		assert(colon);
		*colon = '\0';
		MHD_add_response_header(r, line, colon + 1 + (colon[1] == ' '));
	}
	free(copy);
}

static size_t begin(struct origin *o, struct MHD_Connection *c,
                    const struct origin_request *q)
{
	struct origin_log e = { .start = now(), .open_requests = 1 };
	size_t number;

	snprintf(e.host, sizeof e.host, "%s", q->host);
	snprintf(e.path, sizeof e.path, "%s", q->path);
	snprintf(e.method, sizeof e.method, "%s", q->method);
	e.conditional = q->etag || q->since;
	pthread_mutex_lock(&o->lock);
	for (size_t i = 0; i < o->log.n; i++)
		e.open_requests += o->log.v[i].end <= 0 && !strcmp(o->log.v[i].host, e.host);
	e.open_connections = o->connections[local_address(c)];
	vec_push(&o->log, e);
	number = o->log.n;
	pthread_mutex_unlock(&o->lock);
	return number;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **mine)
{
	struct origin *o = arg;
	struct origin_reply r = { .status = 200 };
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	char name[64];
	struct origin_request q = { .host = name, .path = url, .method = method };
	struct MHD_Response *m;
	enum MHD_Result done;
	size_t number;

	(void)version, (void)data, (void)size;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(host ? host : "", ":"),
	         host ? host : "");
	q.etag = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-None-Match");
	q.since = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-Modified-Since");
	q.agent = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "User-Agent");
	if (!*mine) {           /* answering at the first call would close the connection */
		*mine = (void *)(uintptr_t)begin(o, c, &q);
		return MHD_YES;
	}
	number = (uintptr_t)*mine;
	buf_init(&r.headers, 1 << 20);
	buf_init(&r.body, 1 << 26);
	o->answer(o->arg, &q, &r);
	pthread_mutex_lock(&o->lock);
	o->log.v[number - 1].status = r.status;
	pthread_mutex_unlock(&o->lock);
	if (r.delay_ms)
		usleep(r.delay_ms * 1000);
	pthread_mutex_lock(&o->lock);
	o->log.v[number - 1].answered = now();
	pthread_mutex_unlock(&o->lock);
	m = MHD_create_response_from_buffer(r.body.size, (void *)(uintptr_t)buf_text(&r.body),
	                                    MHD_RESPMEM_MUST_COPY);
	add_headers(m, &r.headers);
	done = MHD_queue_response(c, (unsigned)r.status, m);
	MHD_destroy_response(m);
	buf_release(&r.headers);
	buf_release(&r.body);
	return done;
}

struct origin *origin_start(origin_answer *answer, void *arg)
{
	return origin_start_tls(answer, arg, NULL, NULL);
}

struct origin *origin_start_tls(origin_answer *answer, void *arg, const char *cert,
                                const char *key)
{
	struct origin *o = mem_zalloc(1, sizeof *o);
	const union MHD_DaemonInfo *info;

	o->answer = answer;
	o->arg = arg;
	pthread_mutex_init(&o->lock, NULL);
	o->daemon = MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION |
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_SUPPRESS_DATE_NO_CLOCK |
		(cert ? (unsigned)MHD_USE_TLS : 0), 0, from_loopback, o, on_request, o,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, o,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, o,
		MHD_OPTION_CONNECTION_LIMIT, 2000u, MHD_OPTION_CONNECTION_TIMEOUT, 60u,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)256 << 10,
		cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, cert,
		MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_END);
	if (!o->daemon)
		abort();
	info = MHD_get_daemon_info(o->daemon, MHD_DAEMON_INFO_BIND_PORT);
	o->port = info->port;
	return o;
}

void origin_stop(struct origin *o)
{
	MHD_stop_daemon(o->daemon);
	vec_release(&o->log);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

unsigned origin_port(const struct origin *o)
{
	return o->port;
}

struct origin_log *origin_read_log(struct origin *o, size_t *ret_n)
{
	struct origin_log *copy;

	pthread_mutex_lock(&o->lock);
	*ret_n = o->log.n;
	copy = mem_array(o->log.n + 1, sizeof *copy);
	if (o->log.n)
		memcpy(copy, o->log.v, o->log.n * sizeof *copy);
	pthread_mutex_unlock(&o->lock);
	return copy;
}

size_t origin_count(struct origin *o)
{
	size_t n;

	pthread_mutex_lock(&o->lock);
	n = o->log.n;
	pthread_mutex_unlock(&o->lock);
	return n;
}

void origin_world_answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct origin_world *w = arg;
	unsigned site = 0;
	uint32_t page;
	struct living_state s;
	char etag[32], date[30];

	if (!strcmp(q->path, "/robots.txt")) {
		buf_str(&r->body, "User-agent: *\nDisallow: /private/\n");
		return;
	}
	if (sscanf(q->host, "127.0.1.%u", &site) != 1)
		site = 1;
	page = living_find(&w->living, site - 1, q->path);
	if (page == LIVING_NONE) {
		r->status = 404;
		buf_str(&r->body, "<html><body>no such page</body></html>");
		return;
	}
	s = living_at(&w->living, page, w->now);
	if (s.failure) {
		r->status = s.failure;
		buf_str(&r->body, "<html><body>not now</body></html>");
		return;
	}
	if (s.dead && !s.soft)
		r->status = 410;
	snprintf(etag, sizeof etag, "\"%u-%u\"", page, s.dead ? 9999999 : s.version);
	when_http(s.modified, date);
	if (!w->no_validators)
		buf_printf(&r->headers, "ETag: %s\nLast-Modified: %s\n", etag, date);
	buf_str(&r->headers, "Content-Type: text/html; charset=utf-8\n");
	if (r->status == 200 && !w->no_validators && (q->etag ? !strcmp(q->etag, etag)
	    : q->since && !strcmp(q->since, date)))
		r->status = 304;
	else
		living_body(&w->living, page, s, &r->body);
}
