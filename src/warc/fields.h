/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - "Name: value" lines, as WARC records and HTTP messages begin.
 *
 * Parsing is in place and gives slices of the text.  Lines end in CRLF or LF; a
 * line that begins with a blank continues the one before (the line end becomes
 * blanks); a CR elsewhere becomes a blank, as RFC 9112 asks, and a NUL is refused,
 * so no value ever holds CR, LF or NUL.
 */
#ifndef WARC_FIELDS_H
#define WARC_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"

#define FIELDS_MAX 1000                 /* lines of one head */

struct field {
	const char *name, *value;               /* not NUL-terminated */
	size_t name_size, value_size;
};

struct fields {
	VEC(struct field) list;
	size_t n_odd;                           /* lines without a name or colon */
};

/* Size of the head with the empty line that ends it, or 0 if that is not there. */
size_t fields_head_size(const char *text, size_t size);
/* Parse lines up to an empty one or the end; replaces what f held. */
MUST_CHECK int fields_parse(struct fields *f, char *text, size_t size, struct err *err);
/* The first field of that name in any case, or NULL. */
const struct field *fields_find(const struct fields *f, const char *name);
void fields_release(struct fields *f);

bool field_is(const struct field *f, const char *name);
/* Is the value this word, in any case, parameters behind ';' aside? */
bool field_says(const struct field *f, const char *word);

#endif
