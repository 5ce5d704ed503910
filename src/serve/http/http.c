/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - the listener, and the way of one request; see http.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/http/http_inner.h"

#define BACKLOG 1024
#define FILES_SPARED 256                /* descriptors that others need */

/* ---- the way of a request ---- */

static enum MHD_Result send_answer(struct exchange *x)
{
	struct http *h = x->http;
	struct http_answer *a = &x->answer;
	struct MHD_Response *response;
	size_t size = a->body.size;
	enum MHD_Result ok;

	if (a->stream) {
		response = stream_response(a->stream, x->request.connection);
	} else {
		response = MHD_create_response_from_buffer(size, a->body.data ? a->body.data : "",
		                                           a->body.data ? MHD_RESPMEM_MUST_FREE :
		                                           MHD_RESPMEM_PERSISTENT);
		buf_init(&a->body, BUF_NO_LIMIT);       /* its memory is the response's now */
	}
	if (!response)
		return MHD_NO;
	if (a->type)
		MHD_add_response_header(response, "Content-Type", a->type);
	for (size_t i = 0; i < a->n_headers; i++)
		MHD_add_response_header(response, a->headers[i].name, a->headers[i].value);
	conn_allow(h, x->conn, a->stream ? -1 : h->opts.seconds + (double)size / HTTP_SLOWEST);
	x->queued = true;
	ok = MHD_queue_response(x->request.connection, (unsigned)a->status, response);
	MHD_destroy_response(response);
	return ok;
}

static void refuse_done(struct exchange *x)
{
	struct http *h = x->http;

	if (h->opts.done)
		h->opts.done(h->opts.arg, &x->request, &x->answer);
	x->ready = true;
}

/* The head is read. */
static enum MHD_Result begin(struct exchange *x, const struct request_line *line)
{
	struct http *h = x->http;
	struct http_request *r = &x->request;
	const char *why = request_ambiguous(r, line), *length = http_header(r, "Content-Length");
	const char *coding = http_header(r, "Content-Encoding");

	request_find_peer(r);
	if (!why)
		why = uri_parse(&r->uri, r->target, &r->keep);
	if (x->conn && x->conn->beyond) {
		http_problem(&x->answer, 503, "%u connections are open, and no more may be: try again soon",
		             h->opts.connections);
		http_answer_header(&x->answer, "Retry-After", "1");
	} else if (why) {
		http_problem(&x->answer, 400, "%s", why);
	} else if (coding && strcasecmp(coding, "identity")) {
		http_problem(&x->answer, 415, "Content-Encoding: send the body as it is, please");
		http_answer_header(&x->answer, "Accept-Encoding", "identity");
	} else {
		h->opts.admit(h->opts.arg, r, &x->answer);
	}
	if (!x->answer.status && length && strtoull(length, NULL, 10) > r->body_max)
		http_problem(&x->answer, 413, "the body has more than %zu bytes: send it in parts",
		             r->body_max);
	r->body.max = r->body_max;
	if (!x->answer.status)
		return MHD_YES;
	refuse_done(x);
	http_answer_header(&x->answer, "Connection", "close");  /* a body may still come */
	return send_answer(x);
}

static enum MHD_Result on_request(void *http, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
	struct exchange *x = *context;
	struct http_request *r = &x->request;

	(void)url;
	(void)http;
	if (!r->connection) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

		x->conn = info ? info->socket_context : NULL;
		r->connection = c;
		r->method = arena_strndup(&r->keep, method, strlen(method));
		return begin(x, &(struct request_line){ method, version });
	}
	if (x->queued)
		return MHD_YES;
	if (*upload_size) {
		if (!x->ready)
			buf_add(&r->body, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	if (x->ready)
		return send_answer(x);
	if (r->body.full) {
		http_problem(&x->answer, 413, "the body has more than %zu bytes: send it in parts",
		             r->body_max);
	} else {
		conn_allow(x->http, x->conn, -1);
		if (lane_push(x->http, x))
			return MHD_YES;
		http_problem(&x->answer, 503, "too many requests wait, or the service ends: try again "
		             "soon");
		http_answer_header(&x->answer, "Retry-After", "1");
		pthread_mutex_lock(&x->http->lock);
		x->http->counts.refused_full++;
		pthread_mutex_unlock(&x->http->lock);
	}
	refuse_done(x);
	return send_answer(x);
}

/* The first that is known of a request: its target, as it came. */
static void *on_target(void *http, const char *target, struct MHD_Connection *c)
{
	struct exchange *x = mem_zalloc(1, sizeof *x);

	(void)c;
	x->http = http;
	x->request.target = arena_strndup(&x->request.keep, target, strlen(target));
	x->request.body_max = HTTP_BODY_MAX;
	buf_init(&x->request.body, HTTP_BODY_MAX);
	buf_init(&x->answer.body, BUF_NO_LIMIT);
	return x;
}

static void on_completed(void *http, struct MHD_Connection *c, void **context,
                         enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *context;

	(void)c;
	(void)why;
	if (!x)
		return;
	*context = NULL;
	conn_allow(http, x->conn, x->http->opts.seconds);
	http_answer_clear(&x->answer);
	buf_release(&x->answer.body);
	buf_release(&x->request.body);
	arena_release(&x->request.keep);
	free(x);
}

/* Paths and queries stay as they came: uri.c takes them apart first. */
static size_t leave_as_is(void *arg, struct MHD_Connection *c, char *s)
{
	(void)arg;
	(void)c;
	return strlen(s);
}

/* ---- begin and end ---- */

/* libmicrohttpd speaks to its own log; what matters is said by statuses. */
static void silent(void *arg, const char *fmt, va_list ap)
{
	(void)arg;
	(void)fmt;
	(void)ap;
}

static int listen_at(const struct http_opts *o, int *ret, struct err *err)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_PASSIVE,
	                          .ai_socktype = SOCK_STREAM }, *found = NULL;
	char port[8];
	int fd, yes = 1, rc = 0;

	snprintf(port, sizeof port, "%u", o->port);
	if (getaddrinfo(o->address, port, &hints, &found) || !found)
		return err_set(err, E_USAGE, "--listen: '%s' is no address", o->address);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
		if (found->ai_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
	}
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, BACKLOG)) {
		rc = err_errno(err, E_NET, "%s port %u: cannot listen there (--listen ADDRESS:PORT "
		               "names another place)", o->address, o->port);
		if (fd >= 0)
			close(fd);
	} else {
		*ret = fd;
	}
	freeaddrinfo(found);
	return rc;
}

/* As many connections as there may be files, but for those that others need. */
static unsigned most_connections(unsigned wanted)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return wanted < 256 ? wanted : 256;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
	if (l.rlim_cur != RLIM_INFINITY && l.rlim_cur < wanted + HTTP_BEYOND + FILES_SPARED)
		return l.rlim_cur > 2 * FILES_SPARED ? (unsigned)l.rlim_cur - HTTP_BEYOND - FILES_SPARED : 64;
	return wanted;
}

int http_start(struct http **ret, const struct http_opts *opts, struct err *err)
{
	struct http *h = mem_zalloc(1, sizeof *h);
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
	                 MHD_USE_ERROR_LOG | (opts->tls_cert ? MHD_USE_TLS : 0);
	struct MHD_OptionItem more[4] = { { MHD_OPTION_END, 0, NULL } };
	size_t n = 0;
	int fd = opts->listener, rc = 0;

	h->opts = *opts;
	h->opts.connections = most_connections(opts->connections);
	if (fd < 0 && (rc = listen_at(opts, &fd, err)) < 0) {
		free(h);
		return rc;
	}
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->wake, NULL);
	if (opts->tls_cert) {
		more[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0,
		                                     (void *)(uintptr_t)opts->tls_cert };
		more[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0,
		                                     (void *)(uintptr_t)opts->tls_key };
	}
	if (opts->per_address)
		more[n++] = (struct MHD_OptionItem){ MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		                                     (intptr_t)opts->per_address, NULL };
	more[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	*ret = h;                       /* a worker may need it before we are back */
	lanes_start(h);
	h->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, h,
		MHD_OPTION_EXTERNAL_LOGGER, silent, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_URI_LOG_CALLBACK, on_target, h,
		MHD_OPTION_UNESCAPE_CALLBACK, leave_as_is, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
		MHD_OPTION_NOTIFY_CONNECTION, conn_notify, h,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)2 * HTTP_HEAD_MAX,
		MHD_OPTION_CONNECTION_LIMIT, h->opts.connections + HTTP_BEYOND,
		MHD_OPTION_CONNECTION_TIMEOUT, h->opts.seconds,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_ARRAY, more, MHD_OPTION_END);
	if (!h->daemon) {
		*ret = NULL;
		lanes_stop(h);
		close(fd);
		free(h);
		return err_set(err, E_NET, opts->tls_cert ?
		               "the server did not start: are certificate and key PEM, and of each other?" :
		               "the server did not start");
	}
	pthread_create(&h->cutter, NULL, conn_cutter, h);
	return 0;
}

uint16_t http_port(const struct http *h)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_LISTEN_FD);
	struct sockaddr_storage at = { 0 };
	socklen_t size = sizeof at;

	if (!info || getsockname(info->listen_fd, (struct sockaddr *)&at, &size))
		return 0;
	return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port :
	             ((struct sockaddr_in *)&at)->sin_port);
}

void http_counts(struct http *h, struct http_counts *ret)
{
	pthread_mutex_lock(&h->lock);
	*ret = h->counts;
	pthread_mutex_unlock(&h->lock);
}

void http_stop(struct http *h)
{
	int fd;

	if (!h)
		return;
	fd = MHD_quiesce_daemon(h->daemon);
	lanes_stop(h);                  /* all answers are there, nobody is suspended for one */
	pthread_mutex_lock(&h->lock);
	h->stopping = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->cutter, NULL);
	for (int i = 0; i < 20; i++) {  /* answers on their way get a second to leave */
		bool busy = false;

		pthread_mutex_lock(&h->lock);
		for (struct conn *c = h->conns; c; c = c->next)
			busy |= c->allowed < 0;
		pthread_mutex_unlock(&h->lock);
		if (!busy)
			break;
		usleep(50000);
	}
	MHD_stop_daemon(h->daemon);
	if (fd >= 0)
		close(fd);
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
