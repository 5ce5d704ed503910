/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP as archives hold it.  The first byte chooses: a head; a chunked body, in
 * pieces, whose result must not depend on the pieces; or an encoded body, whose
 * result must keep to its maximum.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "warc/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_head(const char *text, size_t size)
{
	char *copy = mem_strndup(text, size);
	struct http_head h = { 0 };
	size_t head = fields_head_size(copy, size);

	if (head > size)
		abort();
	if (http_parse_head(&h, copy, size, NULL) == 0) {
		for (size_t i = 0; i < h.fields.list.n; i++) {
			const struct field *f = &h.fields.list.v[i];

			if (f->value < copy || f->value + f->value_size > copy + size)
				abort();
			for (size_t k = 0; k < f->value_size; k++)
				if (f->value[k] == '\r' || f->value[k] == '\n' || f->value[k] == '\0')
					abort();
		}
		if (!h.is_request && (h.status < 100 || h.status > 999))
			abort();
	}
	http_release_head(&h);
	free(copy);
}

static void dechunk(const char *data, size_t size, size_t piece, struct http_chunked *c,
                    struct buf *out)
{
	size_t at = 0;

	while (at < size && !c->done && !c->bad) {
		size_t n = size - at < piece ? size - at : piece, got;
		const char *body;
		size_t used = http_dechunk(c, data + at, n, &body, &got);

		if (used == 0 || used > n || (got && (body < data + at || body + got > data + at + n)))
			abort();
		buf_add(out, body, got);
		at += used;
	}
}

static void fuzz_chunks(const char *data, size_t size, size_t piece)
{
	struct http_chunked a = { 0 }, b = { 0 };
	struct buf whole, pieces;

	buf_init(&whole, BUF_NO_LIMIT);
	buf_init(&pieces, BUF_NO_LIMIT);
	(void)http_looks_chunked(data, size);
	dechunk(data, size, size + 1, &a, &whole);
	dechunk(data, size, piece, &b, &pieces);
	if (a.done != b.done || a.bad != b.bad || whole.size != pieces.size ||
	    (whole.size && memcmp(whole.data, pieces.data, whole.size)))
		abort();
	buf_release(&whole);
	buf_release(&pieces);
}

static void fuzz_encoding(const char *data, size_t size, unsigned how)
{
	static const char *const names[] = {
		"gzip", "deflate", "br", "zstd", "gzip, br", "x-gzip,deflate,zstd", "what",
		"identity",
	};
	const char *name = names[how % 8];
	struct buf out;

	buf_init(&out, how & 8 ? 1000 : 1 << 20);
	(void)!http_decode(&out, name, strlen(name), data, size, NULL);
	if (out.size > out.max)
		abort();
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;

	if (size == 0)
		return 0;
	switch (data[0] & 3) {
	case 0: fuzz_head(text, size - 1); break;
	case 1: fuzz_chunks(text, size - 1, 1 + (data[0] >> 2)); break;
	default: fuzz_encoding(text, size - 1, data[0] >> 2);
	}
	return 0;
}
