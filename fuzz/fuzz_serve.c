/* SPDX-License-Identifier: Apache-2.0 */
/* A first line as the target of a request, as values of its headers and as a time, the rest as its
 * body: what is accepted has caps that hold, and texts that are texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/when.h"
#include "engine/book/tell.h"
#include "serve/http/body.h"
#include "serve/http/head.h"
#include "serve/http/http.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

static void check_text(const char *s)
{
	size_t size = strlen(s), len;

	for (size_t i = 0; i < size; i += len) {
		uint32_t c;

		MUST((len = utf8_get(s + i, size - i, &c)) > 0);
	}
}

static void check_uri(const char *target)
{
	struct arena keep = { 0 };
	struct uri u;

	if (!uri_parse(&u, target, &keep)) {
		MUST(u.n_segments <= URI_SEGMENTS_MAX && u.n_params <= URI_PARAMS_MAX);
		for (size_t i = 0; i < u.n_segments; i++) {
			check_text(u.segments[i]);
			MUST(*u.segments[i] && strcmp(u.segments[i], "..") && strcmp(u.segments[i], "."));
		}
		for (size_t i = 0; i < u.n_params; i++) {
			check_text(u.params[i].key);
			check_text(u.params[i].value);
			MUST(uri_param(&u, u.params[i].key) == u.params[i].value);
		}
	}
	arena_release(&keep);
}

/* A name is a part of the text, and behind it there is a port or nothing. */
static void check_head(const char *s)
{
	struct arena keep = { 0 };
	struct text host = head_host(s);
	const char *cookie = head_cookie(s, "a", &keep);
	int64_t t;

	if (host.size) {
		const char *rest = host.s + host.size;

		MUST(host.s >= s && rest <= s + strlen(s));
		MUST(host.s == s || (host.s == s + 1 && *s == '[' && *rest == ']'));
		rest += *s == '[';
		MUST(!*rest || (*rest == ':' && !rest[1 + strspn(rest + 1, "0123456789")]));
	}
	if (cookie)
		MUST(!strchr(cookie, ';') && strstr(s, cookie) && strstr(s, "a="));
	if (when_parse(s, strlen(s), &t)) {
		char iso[21];
		int64_t again;

		when_iso(t, iso);
		MUST(when_parse(iso, strlen(iso), &again) && again == t);
	}
	arena_release(&keep);
}

static void check_body(const char *s, size_t size)
{
	struct http_request r = { .keep = { 0 } };
	struct http_answer a = { .status = 0 };
	const char *text, **texts;
	struct body *b;
	size_t n;
	int64_t v;
	bool on;

	buf_init(&r.body, BUF_NO_LIMIT);
	buf_init(&a.body, BUF_NO_LIMIT);
	buf_add(&r.body, s, size);
	b = body_parse(&r, &a, "count client hosts new");
	MUST(!b == (a.status == 400));
	if (b) {
		if (body_int(b, &a, "count", 5, 1, 100, &v))
			MUST(v >= 1 && v <= 100);
		if (body_text(b, &a, "client", &text) && text) {
			check_text(text);
			MUST(strlen(text) <= BODY_TEXT_MAX);
		}
		if (body_texts(b, &a, "hosts", 3, &r.keep, &texts, &n)) {
			MUST(n <= 3);
			for (size_t i = 0; i < n; i++)
				check_text(texts[i]);
		}
		if (body_amount(b, &a, "count", &r.keep, &text) && text)
			check_text(text);
		if (!body_flag(b, &a, "new", &on))
			MUST(a.status == 400);
		body_free(b);
	}
	buf_release(&r.body);
	arena_release(&r.keep);
	http_answer_clear(&a);
	buf_release(&a.body);
}

static void check_line(const char *s, size_t size)
{
	struct told told;
	struct buf texts;

	buf_init(&texts, TELL_LINE_MAX);
	if (!tell_parse(&told, &texts, s, size))
		MUST(told.lease.s || told.url.s);
	buf_release(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t first = end ? (size_t)(end - data) : size;
	char *target = mem_strndup((const char *)data, first);

	check_uri(target);
	check_head(target);
	if (end) {
		check_body((const char *)end + 1, size - first - 1);
		check_line((const char *)end + 1, size - first - 1);
	}
	free(target);
	return 0;
}
