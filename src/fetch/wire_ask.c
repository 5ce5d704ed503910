/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_ask.c - set libcurl's options for an exchange.
 *
 * Each exchange has its own easy handle, a copy of the lane's model, which has the
 * options that never change.  So no state of an answer reaches the next.  (libcurl before
 * 8.1.0 kept a pointer to the last header of the previous answer, and a head that begins
 * with a blank made it write there: its issue 11101.)  A copy costs about 1 us.  A handle is
 * freed as soon as its exchange has ended: its memory is in the processor's cache then, and
 * the next handle is made of it.  The multi handle keeps connections open between
 * exchanges.  CURLOPT_CONNECT_TO pins each to the checked address. The open-socket callback
 * asks the gate about the address that the kernel gets, unless it is the proxy's, which the
 * user has chosen.
 *
 * At tens of thousands of pages a second libcurl's own work dominates, and a third of it
 * was joining text byte by byte.  So the origin of a URL is parsed here, into a handle
 * that libcurl only copies, and only if the transfer asked another origin before (one
 * that asked the same is preferred).  The rest of the URL is CURLOPT_REQUEST_TARGET, sent
 * as it is. User-Agent is in our header list, which is copied once instead of twice; only
 * proxies need it as an option, for CONNECT.  After each exchange libcurl would search
 * its address cache for old entries; ours are pinned, so one search in PRUNE_EVERY
 * exchanges is enough.
 */
#include "fetch/wire_inner.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/map.h"
#include "fetch/asking/asking.h"
#include "base/mem.h"

#define DNS_AGE 60L             /* seconds that libcurl remembers a proxy's address */
#define PRUNE_EVERY 1024
#define LOOK_AT 32              /* idle transfers */
#define RECEIVE_SIZE 65535L     /* bytes; with libcurl's one more a size class of wire_memory.c */

/* A handle with the options of all requests. */
static CURL *new_model(struct lane *w)
{
	const struct fetch_options *o = &w->opt;
	CURL *e = curl_easy_init();

	if (!e)
		err_no_memory();
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, RECEIVE_SIZE);
	curl_easy_setopt(e, CURLOPT_NOPROXY, "");       /* proxy.c has decided */
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
	if (o->family)
		curl_easy_setopt(e, CURLOPT_IPRESOLVE, o->family == AF_INET6 ?
		                 (long)CURL_IPRESOLVE_V6 : (long)CURL_IPRESOLVE_V4);
	if (o->bind)
		curl_easy_setopt(e, CURLOPT_INTERFACE, o->bind);
	if (o->ca_file)
		curl_easy_setopt(e, CURLOPT_CAINFO, o->ca_file);
	if (o->ca_path)
		curl_easy_setopt(e, CURLOPT_CAPATH, o->ca_path);
	wire_answer_model(w, e);
	return e;
}

void wire_ask_init(struct lane *w)
{
	struct buf agent;

	buf_init(&agent, BUF_NO_LIMIT);
	buf_printf(&agent, "User-Agent: %s", w->opt.user_agent);
	w->headers = curl_slist_append(NULL, buf_text(&agent));
	w->headers = curl_slist_append(w->headers, "Accept: " WIRE_ACCEPT);
	w->headers = curl_slist_append(w->headers, WIRE_ENCODING);
	buf_release(&agent);
	w->max_transfers = w->opt.connections;
	w->model = new_model(w);
}

void wire_ask_release(struct lane *w)
{
	curl_slist_free_all(w->headers);
	curl_easy_cleanup(w->model);
}

static struct transfer *new_transfer(struct lane *w)
{
	struct transfer *t = mem_zalloc(1, sizeof *t);

	t->url = curl_url();
	if (!t->url)
		err_no_memory();
	w->n_transfers++;
	t->lane = w;
	buf_init(&t->asked, BUF_NO_LIMIT);
	buf_init(&t->head, w->opt.max_head + 1);
	buf_init(&t->body, BUF_NO_LIMIT);
	return t;
}

static void new_handle(struct lane *w, struct transfer *t)
{
	t->easy = curl_easy_duphandle(w->model);
	if (!t->easy)
		err_no_memory();
	curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(t->easy, CURLOPT_SHARE, w->share);
	curl_easy_setopt(t->easy, CURLOPT_CURLU, t->url);
	wire_answer_setup(t);
}

void lane_free_transfer(struct transfer *t)
{
	curl_easy_cleanup(t->easy);
	curl_url_cleanup(t->url);
	curl_slist_free_all(t->headers);
	curl_slist_free_all(t->pins);
	buf_release(&t->asked);
	buf_release(&t->head);
	buf_release(&t->body);
	free(t);
}

static struct curl_slist *add_header(struct curl_slist *l, const char *name, const char *v)
{
	struct buf b;

	buf_init(&b, BUF_NO_LIMIT);
	buf_printf(&b, "%s: %s", name, v);
	l = curl_slist_append(l, buf_text(&b));
	buf_release(&b);
	return l;
}

static struct curl_slist *add_lines(struct curl_slist *l, const struct buf *lines)
{
	const char *s = buf_text(lines), *end = s + lines->size;

	for (; s < end; s += strlen(s) + 1)
		l = curl_slist_append(l, s);
	return l;
}

/* The headers of every request; behind a proxy without the first (see above). */
static void set_headers(struct lane *w, struct transfer *t, const struct wire_request *r)
{
	struct curl_slist *own = NULL, *common = r->proxy ? w->headers->next : w->headers;

	if (r->etag || r->last_modified || r->extra) {
		for (struct curl_slist *l = common; l; l = l->next)
			own = r->accept && !strcmp(l->data, "Accept: " WIRE_ACCEPT) ?
				add_header(own, "Accept", r->accept) : curl_slist_append(own, l->data);
		if (r->etag)
			own = add_header(own, "If-None-Match", r->etag);
		if (r->last_modified)
			own = add_header(own, "If-Modified-Since", r->last_modified);
		if (r->extra) {
			own = add_lines(own, &r->extra->open);
			own = add_lines(own, &r->extra->secret);
		}
	}
	curl_slist_free_all(t->headers);
	t->headers = own;
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, own ? own : common);
}

static void set_way(struct lane *w, struct transfer *t, const struct wire_request *r)
{
	bool prunes = r->proxy || w->n_asked++ % PRUNE_EVERY == 0;

	if (prunes)
		curl_easy_setopt(t->easy, CURLOPT_DNS_CACHE_TIMEOUT, DNS_AGE);
	if (r->proxy) {
		curl_easy_setopt(t->easy, CURLOPT_PROXY, r->proxy);
		curl_easy_setopt(t->easy, CURLOPT_USERAGENT, w->opt.user_agent);
	}
	t->proxied = r->proxy != NULL;
	if (r->pin && (!t->pins || strcmp(t->pin, r->pin))) {
		char text[GATE_TEXT + 16];

		snprintf(t->pin, sizeof t->pin, "%s", r->pin);
		snprintf(text, sizeof text, "::%s:", r->pin);
		curl_slist_free_all(t->pins);
		t->pins = curl_slist_append(NULL, text);
	}
	if (r->pin)
		curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, t->pins);
}

/* libcurl gets only the origin as URL; the rest is the request target, byte for byte.
 * For a proxy it needs the whole URL. */
static size_t url_size(const struct wire_request *r)
{
	return r->proxy ? strlen(r->url) : r->origin_size;
}

static const char *set_url(struct transfer *t, const struct wire_request *r, uint64_t hash)
{
	CURLUcode bad;

	for (const char *c = r->url + r->origin_size; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return "a blank or control byte in the URL";
	if (!r->proxy)
		curl_easy_setopt(t->easy, CURLOPT_REQUEST_TARGET, r->url + r->origin_size);
	if (t->asked.size != url_size(r) || t->asked_hash != hash ||
	    memcmp(t->asked.data, r->url, t->asked.size)) {
		buf_clear(&t->asked);
		buf_add(&t->asked, r->url, url_size(r));
		t->asked_hash = hash;
		bad = curl_url_set(t->url, CURLUPART_URL, t->asked.data, CURLU_PATH_AS_IS);
		if (bad) {
			buf_clear(&t->asked);
			return curl_url_strerror(bad);
		}
	}
	/* not used, but without it libcurl would join the parts */
	curl_easy_setopt(t->easy, CURLOPT_URL, t->asked.data);
	return NULL;
}

static uint64_t url_hash(const struct wire_request *r)
{
	return hash_bytes(r->url, url_size(r), 0);
}

struct transfer *wire_ask_take(struct lane *w, const struct wire_request *r)
{
	struct transfer **at = &w->idle, *t;
	uint64_t hash = url_hash(r);

	for (unsigned i = 0; *at && i < LOOK_AT && (*at)->asked_hash != hash; i++)
		at = &(*at)->next;
	if (!*at || (*at)->asked_hash != hash) {
		if (w->n_transfers < w->max_transfers)
			return new_transfer(w);
		at = &w->idle;
	}
	t = *at;
	if (!t)
		return new_transfer(w);
	*at = t->next;
	return t;
}

const char *wire_ask(struct lane *w, struct transfer *t, const struct wire_request *r)
{
	const char *why;

	new_handle(w, t);
	why = set_url(t, r, url_hash(r));
	if (why)
		return why;
	if (r->head_only)
		curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
	set_headers(w, t, r);
	set_way(w, t, r);
	return NULL;
}
