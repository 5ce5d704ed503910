/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uri.h - the target of a request, taken apart: "/v1/pages/7/diff?from=2026-01-01".
 *
 * Segments of the path are parted by '/' before their %XX are undone, so a segment may hold
 * any text: the URL of a page, for example.  Bytes that are NUL or no UTF-8 are refused, and
 * so are "." and "..".
 */
#ifndef SERVE_HTTP_URI_H
#define SERVE_HTTP_URI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

#define URI_SEGMENTS_MAX 8
#define URI_PARAMS_MAX 32

struct uri {
	const char *segments[URI_SEGMENTS_MAX];
	size_t n_segments;
	struct { const char *key, *value; } params[URI_PARAMS_MAX];
	size_t n_params;
};

/* NULL, or what is wrong with it.  Texts are allocated in `keep`. */
const char *uri_parse(struct uri *u, const char *target, struct arena *keep);
/* The value of a parameter, or NULL. */
const char *uri_param(const struct uri *u, const char *key);

#endif
