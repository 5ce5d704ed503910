/* SPDX-License-Identifier: Apache-2.0 */
/* mutant.c - see mutant.h. */
#include "mutant.h"

#include <stdio.h>
#include <string.h>

#include "base/math/rng.h"
#include "origin_raw.h"
#include "pack.h"

#define ROUNDS_MAX 4            /* damages of one answer */
/* Bytes of a line that passes the cap on heads.  All of an answer is to arrive in one piece:
 * of a rest that comes later no client can tell which answer it belongs to. */
#define GIANT (18 << 10)

static uint32_t mark_hash(uint32_t page)
{
	return (uint32_t)rng_mix(page ^ 0x6d61726bu);
}

void mutant_mark(uint32_t page, char out[MUTANT_MARK_SIZE])
{
	snprintf(out, MUTANT_MARK_SIZE, "<page-%07u-%08x>", page % 10000000, mark_hash(page));
}

bool mutant_names_other(const char *text, size_t size, uint32_t but, uint32_t *ret)
{
	static const char begin[] = "<page-";
	const char *end = text + size, *p = text;

	while ((p = memmem(p, (size_t)(end - p), begin, strlen(begin)))) {
		char mark[MUTANT_MARK_SIZE], copy[8] = "";

		if (end - p < MUTANT_MARK_SIZE - 1)
			return false;
		memcpy(copy, p + strlen(begin), 7);
		if (sscanf(copy, "%7u", ret) == 1 && *ret != but) {
			mutant_mark(*ret, mark);
			if (!memcmp(mark, p, MUTANT_MARK_SIZE - 1))
				return true;
		}
		p++;
	}
	return false;
}

/* ---- answers as they should be, or nearly ---- */

static void add_body(struct buf *out, const char *head, const struct buf *body, bool chunked)
{
	size_t half = body->size / 2;

	buf_str(out, head);
	if (!chunked) {
		buf_printf(out, "Content-Length: %zu\r\n\r\n", body->size);
		buf_add(out, body->data, body->size);
		return;
	}
	buf_printf(out, "Transfer-Encoding: chunked\r\n\r\n%zx;ext=1\r\n", half);
	buf_add(out, body->data, half);
	buf_printf(out, "\r\n%zX\r\n", body->size - half);
	buf_add(out, body->data + half, body->size - half);
	buf_str(out, "\r\n0\r\nX-Trailer: t\r\n\r\n");
}

void mutant_good_body(uint64_t seed, uint32_t page, struct buf *out)
{
	size_t n = rng_draw(seed, page, 1, 0) % 3000;
	char mark[MUTANT_MARK_SIZE];

	mutant_mark(page, mark);
	buf_printf(out, "good %s ", mark);
	for (size_t i = 0; i < n; i++)
		buf_byte(out, 'a' + (int)((page + i) % 26));
}

void mutant_good(uint64_t seed, uint32_t page, struct buf *out)
{
	struct buf body;

	buf_init(&body, BUF_NO_LIMIT);
	mutant_good_body(seed, page, &body);
	add_body(out, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", &body, page % 3 == 0);
	buf_release(&body);
}

static const char *const heads[] = {
	"HTTP/1.1 200 OK\r\nServer: x\r\n",
	"HTTP/1.1 200 OK\r\n x:AAAA\r\n",
	"HTTP/1.1 200 OK\r\n\tx: AAAA\r\n \r\n",
	"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\n  \r\n",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: a\r\n b\r\n",
	"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n b\r\n\r\nHTTP/1.1 200 OK\r\n x:A\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
	"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n",
	"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/100\r\n",
	"HTTP/1.1 204 No Content\r\n", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n",
	"HTTP/1.1 404 Not Found\r\nRetry-After: 0\r\n", "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\n",
	"HTTP/2 200\r\nServer: x\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n",
	("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nStrict-Transport-Security: max-age=1\r\n"
	 "Alt-Svc: h2=\":1\"\r\nWWW-Authenticate: NTLM\r\nProxy-Authenticate: Negotiate\r\n"),
	"HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n",
	"HTTP/1.1 417 Expect\r\nTrailer: X-Trailer\r\n",
};

static void packed(struct rng *r, const struct buf *text, struct buf *out)
{
	static void (*const how[])(struct buf *, const void *, size_t) = {
		pack_gzip, pack_zlib, pack_deflate, pack_brotli, pack_zstd };
	static const char *const names[] = { "gzip", "deflate", "deflate", "br", "zstd" };
	unsigned i = (unsigned)rng_below(r, 5);
	struct buf body;
	char head[96];

	buf_init(&body, BUF_NO_LIMIT);
	how[i](&body, text->data, text->size);
	snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n", names[i]);
	add_body(out, head, &body, rng_below(r, 2));
	buf_release(&body);
}

static void fixed(struct rng *r, struct buf *out)
{
	const char *text = "";
	size_t n = 0, size = 0;

	while (origin_raw_fixed(n, &text, &size))
		n++;
	(void)origin_raw_fixed(rng_below(r, n), &text, &size);
	buf_add(out, text, size);
}

static void many_headers(struct rng *r, const struct buf *body, struct buf *out)
{
	buf_str(out, "HTTP/1.1 200 OK\r\n");
	for (uint64_t i = rng_below(r, 1500); i > 0; i--)
		buf_printf(out, "H%u:%u\r\n", (unsigned)i, (unsigned)rng_below(r, 10));
	add_body(out, "X: y\r\n", body, false);
}

static void answer(struct rng *r, uint32_t page, struct buf *out, bool *ret_closes)
{
	char mark[MUTANT_MARK_SIZE];
	struct buf text;
	uint64_t kind = rng_below(r, 100);

	mutant_mark(page, mark);
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "body of %s and of no other", mark);
	if (kind < 60) {
		size_t n = sizeof heads / sizeof *heads;

		add_body(out, heads[rng_below(r, n)], &text, rng_below(r, 2));
	} else if (kind < 75) {
		packed(r, &text, out);
	} else if (kind < 90) {
		fixed(r, out);
	} else if (kind < 92) {
		many_headers(r, &text, out);
	} else if (kind < 96) {
		buf_printf(out, "HTTP/1.1 302 Found\r\nLocation: /good/%u\r\n"
		           "Content-Length: 0\r\n\r\n", page);
	} else {
		buf_str(out, "HTTP/1.1 200 OK\r\nX: until the end\r\n\r\n");
		buf_add(out, text.data, text.size);
		*ret_closes = true;
	}
	buf_release(&text);
}

/* ---- damage ---- */

static void insert(struct buf *b, size_t at, const char *what, size_t size)
{
	struct buf copy;

	buf_init(&copy, BUF_NO_LIMIT);
	buf_add(&copy, b->data, at);
	buf_add(&copy, what, size);
	buf_add(&copy, b->data + at, b->size - at);
	buf_release(b);
	*b = copy;
}

static void cut(struct buf *b, size_t at, size_t size)
{
	memmove(b->data + at, b->data + at + size, b->size - at - size);
	b->size -= size;
}

/* The beginning of some line; the first if there is only one. */
static size_t some_line(struct rng *r, const struct buf *b)
{
	size_t at = 0, n = 0;

	for (size_t i = 0; i + 1 < b->size; i++)
		if (b->data[i] == '\n' && rng_below(r, ++n) == 0)
			at = i + 1;
	return at;
}

static void insert_giant(struct buf *b, size_t at)
{
	static char line[GIANT];

	memset(line, 'g', sizeof line);
	insert(b, at, line, sizeof line);
}

static void damage(struct rng *r, struct buf *b)
{
	static const char *const pieces[] = {
		" ", "\t", " x:AAAA\r\n", "\r\n", "\n", "\r", ":", "HTTP/1.1 ", "chunked", "gzip, ",
		"Content-Length: 9\r\n", "Content-Length: 99999999999999999999\r\n",
		"Content-Length: -1\r\n", "Transfer-Encoding: chunked\r\n", "ffffffffffffffff",
		"7fffffffffffffff\r\n", "0\r\n\r\n", "Transfer-Encoding: gzip, chunked\r\n",
		"Content-Encoding: gzip\r\n", "HTTP/1.1 200 OK\r\n\r\n", "Connection: close\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n", "\xff\xfe", "Location: /good/0\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "%0d%0a", "\x1b[2J",
	};
	size_t at = rng_below(r, b->size), line = some_line(r, b);
	const char *piece = pieces[rng_below(r, sizeof pieces / sizeof *pieces)];
	size_t n = 1 + rng_below(r, 8);

	switch (rng_below(r, 14)) {
	case 0: b->data[at] = (char)rng_below(r, 256); break;
	case 1: b->data[at] = (char)(b->data[at] ^ (1 << rng_below(r, 8))); break;
	case 2: cut(b, at, n < b->size - at ? n : b->size - at); break;
	case 3: insert(b, at, "\0", 1); break;
	case 4: insert(b, at, piece, strlen(piece)); break;
	case 5: case 6: insert(b, line, piece, strlen(piece)); break;
	case 7: case 8: insert(b, line, rng_below(r, 2) ? " " : "\t", 1); break;
	case 9: b->size = at; break;
	case 10: {                      /* a line twice, or n bytes elsewhere */
		char copy[200];
		size_t size = b->size - line < sizeof copy ? b->size - line : sizeof copy;

		memcpy(copy, b->data + line, size);
		insert(b, at, copy, rng_below(r, 2) ? size : n < size ? n : size);
		break;
	}
	case 11:                        /* one digit */
		for (; at < b->size && (b->data[at] < '0' || b->data[at] > '9'); at++)
			;
		if (at < b->size)
			b->data[at] = (char)('0' + rng_below(r, 10));
		break;
	case 12:                        /* lines that end otherwise */
		for (size_t i = 0; i + 1 < b->size; i++)
			if (b->data[i] == '\r' && b->data[i + 1] == '\n' && rng_below(r, 3) == 0)
				cut(b, i, 1);
		break;
	default:
		if (b->size < GIANT / 2 && rng_below(r, 8) == 0)
			insert_giant(b, line);
		else
			cut(b, line, n < b->size - line ? n : b->size - line);
	}
}

void mutant_make(uint64_t seed, uint32_t page, struct buf *out, bool *ret_closes)
{
	struct rng r;
	size_t before = out->size;

	rng_init(&r, rng_draw(seed, page, 0, 0));
	*ret_closes = rng_below(&r, 10) == 0;
	answer(&r, page, out, ret_closes);
	for (uint64_t n = 1 + rng_below(&r, ROUNDS_MAX); n > 0 && out->size > before; n--)
		damage(&r, out);
}
