/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - HTTP/1.x messages as archives hold them: head, chunks, encodings.
 *
 * Three steps: http_parse_head() on the first bytes, struct http_chunked on the body as
 * it arrives, http_decode() on the complete body.  Everything is capped; no length is
 * trusted.
 */
#ifndef WARC_HTTP_H
#define WARC_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "warc/fields.h"

#define HTTP_HEAD_MAX (256u << 10)      /* bytes of a head */
#define HTTP_LAYERS_MAX 3               /* content encodings on top of each other */
#define HTTP_RATIO_MAX 1000             /* bytes out per byte in ... */
#define HTTP_RATIO_FREE (4u << 20)      /* ... once this much has come out */

struct http_head {
	bool is_request;
	int status;                     /* of a response, 100 to 999 */
	const char *method, *target;    /* of a request: slices */
	size_t method_size, target_size;
	struct fields fields;
	bool chunked;                   /* the last transfer encoding is chunked */
	int64_t content_length;         /* -1: not given, or given in two ways */
	const struct field *content_type, *content_encoding, *location;   /* or NULL */
};

/* text[0..size) is the whole head (see fields_head_size) and is changed in
 * place; slices of h point into it.  E_PARSE if it is no HTTP message. */
MUST_CHECK int http_parse_head(struct http_head *h, char *text, size_t size,
                               struct err *err);
void http_release_head(struct http_head *h);

/* Removes chunked framing from a stream; zeroed, it is at the beginning. */
struct http_chunked {
	uint64_t left;                  /* of the chunk */
	unsigned state, line_size;
	bool done, bad;                 /* last chunk seen; framing is wrong */
};

/* Look at data[0..size): returns how many bytes were used (0 only when done or
 * bad, or size is 0); *ret_size bytes of them at *ret_data are body. */
size_t http_dechunk(struct http_chunked *c, const char *data, size_t size,
                    const char **ret_data, size_t *ret_size);
/* Do these first bytes of a body begin a chunk?  Some archives keep the header
 * but not the framing. */
bool http_looks_chunked(const char *data, size_t size);

/*
 * Undo a Content-Encoding value (gzip, x-gzip, deflate with or without zlib's
 * wrapper, br, zstd, identity; several by commas, at most HTTP_LAYERS_MAX) and
 * append the result to out.  A body that says gzip or zstd and is neither is
 * passed on as it is: archives that store decoded bodies are common.
 * E_PARSE: damaged or an unknown encoding; E_LIMIT: larger than out's maximum, or a
 * compression bomb by its ratio.  In both cases out has the part before.
 */
MUST_CHECK int http_decode(struct buf *out, const char *encoding, size_t encoding_size,
                           const char *data, size_t size, struct err *err);
/* E_READER: the cell that did it died.  This is what runs there (base/sandbox/cell.h). */
int http_decode_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err);

#endif
