/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_answer.c - callbacks for heads, bodies and failures; and the last check of an
 * address before its socket is opened.
 *
 * libcurl parses HTTP.  Here we add: limits for the head (all heads of an answer
 * together, with trailers) and the body, a check for contradicting lengths, the media types
 * that the user takes, and the limits of memory and of bytes a second of all transfers (see
 * wire_curl.c).
 */
#include "fetch/wire_inner.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "fetch/asking/media_types.h"

#define RESERVE_MAX (256 << 10)
#define SMALL_BODY (128 << 10)          /* bytes that each body may have, memory or not */

static void hold(struct transfer *t)
{
	struct lane *w = t->lane;
	size_t now = t->head.size + t->body.size;

	w->memory += now - t->held;
	t->held = now;
	if (w->memory > w->memory_peak)
		w->memory_peak = w->memory;
}

void wire_fail(struct transfer *t, enum fetch_error error, const char *why)
{
	if (t->failed_here)
		return;
	t->failed_here = true;
	t->error = error;
	snprintf(t->why, sizeof t->why, "%s", why);
}

/* Get a buffer for the body: the last one used, which is in the processor's cache.
 * Reserve the announced length, up to a limit. */
static void prepare_body(struct transfer *t)
{
	struct lane *w = t->lane;

	if (!t->body.cap && w->spare.n)
		t->body = w->spare.v[--w->spare.n];
	if (t->length > 0 && t->length <= RESERVE_MAX)
		(void)buf_room(&t->body, (size_t)t->length);
}

/* Bytes came: at limit_rate they are paid for by waiting. */
static void pay(struct lane *w, size_t n)
{
	double now;

	if (!(w->opt.limit_rate > 0))
		return;
	now = wire_now();
	w->paid_until = (w->paid_until > now ? w->paid_until : now) +
	                (double)n / w->opt.limit_rate;
}

static size_t pause_body(struct transfer *t)
{
	t->paused = true;
	t->paused_since = wire_now();
	t->lane->n_paused++;
	return CURL_WRITEFUNC_PAUSE;
}

static bool is_named(const char *data, size_t n, const char *name)
{
	size_t size = strlen(name);

	return n > size && data[size] == ':' && !strncasecmp(data, name, size);
}

/* Refuse two different lengths, or one that is no number: the end of such an answer is
 * unknown, and libcurl would use the last one. */
static bool length_line(struct transfer *t, const char *data, size_t n)
{
	const size_t skip = strlen("Content-Length:");
	int64_t v = 0;
	size_t i, digits = 0;

	if (!is_named(data, n, "Content-Length"))
		return true;
	for (i = skip; i < n && (data[i] == ' ' || data[i] == '\t'); i++)
		;
	for (; i < n && data[i] >= '0' && data[i] <= '9' && digits < 18; i++, digits++)
		v = v * 10 + (data[i] - '0');
	for (; i < n && strchr(" \t\r\n", data[i]); i++)
		;
	if (!digits || i < n || (t->length >= 0 && t->length != v))
		return false;
	t->length = v;
	return true;
}

/* A line that begins with a blank continues the previous header.  Refuse it after the
 * status line, and for headers that say where the answer ends: parsers differ on it. */
static const char *bad_fold(struct transfer *t, const char *data, size_t n)
{
	bool folded = data[0] == ' ' || data[0] == '\t', framing = t->in_framing;

	if (!folded)
		t->in_framing = is_named(data, n, "Content-Length") ||
			is_named(data, n, "Transfer-Encoding");
	if (folded && t->head.size == t->status_line)
		return "the head begins with a blank";
	if (folded && framing)
		return "a length over two lines";
	if (!t->head.size)
		t->status_line = n;
	return NULL;
}

/* Is it a page of a media type that is not taken? */
static bool is_unwanted(struct transfer *t)
{
	const char *code = t->head.size > 12 ? memchr(t->head.data, ' ', t->status_line) : NULL;
	const char *type;
	char why[200];
	size_t n;

	if (!t->accept || !code || (strncmp(code + 1, "200", 3) && strncmp(code + 1, "203", 3)) ||
	    !fetch_header(t->head.data, t->head.size, "Content-Type", &type, &n) ||
	    media_types_has(t->accept, type, n))
		return false;
	snprintf(why, sizeof why, "%.*s is not among --accept", n < 100 ? (int)n : 100, type);
	wire_fail(t, FETCH_TYPE, why);
	return true;
}

static size_t on_header(char *data, size_t one, size_t n, void *arg)
{
	struct transfer *t = arg;
	const char *why;

	(void)one;
	t->received += n;
	pay(t->lane, n);
	t->head_bytes += n;             /* of all heads: there may be any number of 1xx heads */
	if (t->head_bytes > t->lane->opt.max_head) {
		wire_fail(t, FETCH_TOO_LARGE, "headers without end");
		return 0;
	}
	if (t->head_done && !t->body.size && n > 5 && !memcmp(data, "HTTP/", 5)) {
		buf_clear(&t->head);    /* the head before was a 1xx, or of a proxy */
		t->head_done = false;
		t->length = -1;
	}
	if (t->head_done)
		return n;               /* trailers */
	if (memchr(data, '\0', n)) {
		wire_fail(t, FETCH_PROTOCOL, "NUL in a header");
		return 0;
	}
	why = bad_fold(t, data, n);
	if (why) {
		wire_fail(t, FETCH_PROTOCOL, why);
		return 0;
	}
	if (!length_line(t, data, n)) {
		wire_fail(t, FETCH_PROTOCOL, "contradictory or senseless Content-Length");
		return 0;
	}
	buf_add(&t->head, data, n);
	if (n <= 2 && (data[0] == '\r' || data[0] == '\n')) {
		t->head_done = true;
		t->first = wire_now();
		if (is_unwanted(t))
			return 0;
		prepare_body(t);
	}
	hold(t);
	return n;
}

static size_t on_body(char *data, size_t one, size_t n, void *arg)
{
	struct transfer *t = arg;
	struct lane *w = t->lane;
	size_t room = t->max_body - t->body.size;

	(void)one;
	if (w->memory + n > w->opt.max_memory && w->elder != t && t->body.size + n > SMALL_BODY) {
		if (w->elder)
			return pause_body(t);
		w->elder = t;
		w->elder_since = wire_now();
		w->elder_bytes = t->received;
	}
	if (w->opt.limit_rate > 0 && wire_now() < w->paid_until)
		return pause_body(t);
	t->received += n;
	pay(w, n);
	if (n > room) {
		buf_add(&t->body, data, room);
		hold(t);
		t->cut = FETCH_CUT_LENGTH;
		return 0;
	}
	buf_add(&t->body, data, n);
	hold(t);
	return n;
}

/* A socket was opened, or will be closed: epoll does not watch it. */
static void note_socket(struct lane *w, int fd, bool is_ours)
{
	while (w->sockets.n <= (size_t)fd)
		vec_push(&w->sockets, ((struct lane_socket){ 0 }));
	w->sockets.v[fd] = (struct lane_socket){ .is_ours = is_ours };
}

static bool is_plain(const struct transfer *t)
{
	return t->asked.size > 5 && !memcmp(t->asked.data, "http:", 5);
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct transfer *t = arg;
	/* the user has chosen the proxy; the list of allowed networks is for pages */
	const char *why = t->proxied ? NULL : gate_refuses(t->lane->opt.gate, &a->addr);
	char text[GATE_TEXT], line[160];
	int fd;

	(void)purpose;
	if (why) {
		snprintf(line, sizeof line, "%s: %s", gate_text(&a->addr, text), why);
		wire_fail(t, FETCH_GATE, line);
		return CURL_SOCKET_BAD;
	}
	t->lane->n_connections++;
	fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
	if (fd >= 0) {
		note_socket(t->lane, fd, true);
		t->lane->sockets.v[fd].is_plain = is_plain(t) && !t->proxied;
	}
	return fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
	note_socket(arg, fd, false);
	return close(fd);
}

static bool is_tls(CURLcode c)
{
	return c == CURLE_SSL_CONNECT_ERROR || c == CURLE_PEER_FAILED_VERIFICATION ||
		c == CURLE_SSL_CERTPROBLEM || c == CURLE_SSL_CIPHER ||
		c == CURLE_SSL_CACERT_BADFILE || c == CURLE_SSL_ISSUER_ERROR ||
		c == CURLE_SSL_INVALIDCERTSTATUS || c == CURLE_SSL_PINNEDPUBKEYNOTMATCH ||
		c == CURLE_USE_SSL_FAILED || c == CURLE_SSL_CRL_BADFILE;
}

void wire_set_error(struct transfer *t, int curl_code)
{
	CURLcode c = (CURLcode)curl_code;
	const char *why = t->message[0] ? t->message : curl_easy_strerror(c);

	if (c == CURLE_OK || t->cut == FETCH_CUT_LENGTH || t->error == FETCH_TYPE)
		return;
	if (is_tls(c))
		wire_fail(t, FETCH_TLS, why);
	else if (c == CURLE_COULDNT_RESOLVE_HOST || c == CURLE_COULDNT_RESOLVE_PROXY)
		wire_fail(t, FETCH_DNS, why);
	else if (c == CURLE_COULDNT_CONNECT || c == CURLE_PROXY)
		wire_fail(t, FETCH_CONNECT, why);
	else if (c == CURLE_OPERATION_TIMEDOUT)
		wire_fail(t, FETCH_TIMEOUT, "no connection in time");
	else if (c == CURLE_BAD_FUNCTION_ARGUMENT)      /* libcurl's code for this */
		wire_fail(t, FETCH_PROTOCOL, t->head.size == t->status_line ?
		          "the head begins with a blank" : "a header line without a name");
	else if (c == CURLE_OUT_OF_MEMORY && !t->head_done)
		wire_fail(t, FETCH_TOO_LARGE, "header line without end");
	else if (strstr(why, "chunked-encoding"))
		wire_fail(t, FETCH_PROTOCOL, why);
	else if (c == CURLE_GOT_NOTHING || c == CURLE_RECV_ERROR || c == CURLE_SEND_ERROR ||
	         c == CURLE_PARTIAL_FILE)
		wire_fail(t, FETCH_RESET, why);
	else
		wire_fail(t, FETCH_PROTOCOL, why);
	if (t->head_done && t->cut == FETCH_WHOLE)
		t->cut = FETCH_CUT_DISCONNECT;
}

void wire_answer_model(struct lane *w, void *easy)
{
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, w);
}

void wire_answer_setup(struct transfer *t)
{
	curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, t);
	curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->message);
}
