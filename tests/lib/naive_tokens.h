/* SPDX-License-Identifier: Apache-2.0 */
/* naive_tokens.h - the tokens of a page, one character at a time. */
#ifndef TESTS_NAIVE_TOKENS_H
#define TESTS_NAIVE_TOKENS_H

#include <stdbool.h>

#include "base/buf.h"

struct naive_token {
	char kind;                      /* Text, Start tag, End tag */
	bool self_closing;
	bool foreign;                   /* "/>" closes: svg, math and what is in them */
	struct buf name, text;          /* text: of one character or reference */
	struct naive_attr {
		char *name, *value;
	} *attrs;
	size_t n_attrs;
};

void naive_tokens(const char *data, size_t size,
                  void (*see)(void *arg, const struct naive_token *t), void *arg);
/* A reference behind the '&' at p; appends what it is, returns its size or 0. */
size_t naive_reference(const char *p, const char *end, bool in_value, struct buf *out);
/* The value (up to a NUL), or NULL. */
const char *naive_attr(const struct naive_token *t, const char *name);

#endif
