/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - what the head of a request says, and what in it is refused; see http.h. */
#include <netdb.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

#include "serve/http/head.h"
#include "serve/http/http_inner.h"

const char *http_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

struct counting { const char *name, *last; unsigned n; };

static enum MHD_Result count_one(void *arg, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
	struct counting *c = arg;

	(void)kind;
	if (!strcasecmp(key, c->name)) {
		c->n++;
		c->last = value;
	}
	return MHD_YES;
}

static struct counting count(const struct http_request *r, const char *name)
{
	struct counting c = { .name = name };

	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_one, &c);
	return c;
}

unsigned http_header_count(const struct http_request *r, const char *name)
{
	return count(r, name).n;
}

const char *http_header_last(const struct http_request *r, const char *name)
{
	return count(r, name).last;
}

const char *http_cookie(struct http_request *r, const char *name)
{
	const char *cookies = http_header(r, "Cookie");

	return cookies ? head_cookie(cookies, name, &r->keep) : NULL;
}

/* libmicrohttpd (0.9.75) adds a line that goes on with a blank to the name of its header: of
 * "Content-Length:", " 5" it makes "Content-Length5", and a proxy may make a length. */
static bool goes_on(const char *key, const char *name)
{
	size_t size = strlen(name);

	return !strncasecmp(key, name, size) && key[size];
}

static bool has_controls(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 127)
			return true;
	return false;
}

/* A name with a blank before its colon is none to us, and may be one to a proxy; a carriage return
 * by itself is a byte of the value to us, and may end the line to a proxy. */
static enum MHD_Result check_header(void *arg, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char **why = arg;

	(void)kind;
	if (!*key || key[strspn(key, token)] || goes_on(key, "Content-Length") ||
	    goes_on(key, "Transfer-Encoding"))
		*why = "a header has no proper name";
	else if (value && has_controls(value))
		*why = "a header has a control character";
	return *why ? MHD_NO : MHD_YES;
}

/*
 * libmicrohttpd (0.9.75) ends a value, the target, and even the head at a NUL: what is behind it is
 * hidden from us, and need not be from a proxy.  The texts that it shows us lie in the head as it
 * came, with NULs in the place of line ends; so what lies between two of them is looked at.
 */
struct gaps { const char *from, *end, *last; bool hides; };

/* At most so many line ends, and blanks. */
static bool is_gap(const char *s, const char *end, int most)
{
	int n = 0;

	for (; s < end && (!*s || *s == ' ' || *s == '\t'); s++)
		n += !*s;
	return s == end && n <= most;
}

static enum MHD_Result check_gap(void *arg, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
	struct gaps *g = arg;

	(void)kind;
	/* elsewhere are headers that were put together of several lines */
	g->hides = key < g->from || !value || value >= g->end || !is_gap(g->last, key, 2);
	if (!g->hides)
		g->last = value + strlen(value);
	return g->hides ? MHD_NO : MHD_YES;
}

static bool hides_something(const struct http_request *r, const struct request_line *line)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	struct gaps g = { .from = line->method };

	g.end = line->method + (info ? info->header_size : 0);
	if (line->version <= line->method || line->version >= g.end)
		return false;           /* a library that keeps them elsewhere */
	if ((size_t)(line->version - line->method) != strlen(line->method) + strlen(r->target) + 2)
		return true;
	g.last = line->version + strlen(line->version);
	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, check_gap, &g);
	return g.hides || !is_gap(g.last, g.end, 4);
}

const char *request_ambiguous(const struct http_request *r, const struct request_line *line)
{
	const char *coding = http_header(r, "Transfer-Encoding");
	const char *length = http_header(r, "Content-Length");
	unsigned lengths = http_header_count(r, "Content-Length");
	const char *why = NULL;

	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, check_header, &why);
	if (why)
		return why;
	if (hides_something(r, line))
		return "the head has a NUL, or a line that goes on in the next";
	if (length && (!*length || length[strspn(length, "0123456789")]))
		return "Content-Length: a number, please";
	if (lengths > 1 || http_header_count(r, "Transfer-Encoding") > 1 || (lengths && coding))
		return "the length of the body is said twice";
	if (coding && strcmp(line->version, "HTTP/1.1"))      /* an older proxy knows no chunks */
		return "Transfer-Encoding is not for HTTP/1.0";
	if (coding && strcasecmp(coding, "chunked"))
		return "Transfer-Encoding: only chunked is understood";
	if (http_header_count(r, "Host") != 1)
		return "there must be one Host";
	return NULL;
}

void request_find_peer(struct http_request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (!info || !info->client_addr ||
	    getnameinfo(info->client_addr, info->client_addr->sa_family == AF_INET6 ?
	                sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in), r->peer,
	                sizeof r->peer, NULL, 0, NI_NUMERICHOST))
		snprintf(r->peer, sizeof r->peer, "?");
}
