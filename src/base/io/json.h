/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - streaming JSON writer, and a small in-place reader.
 *
 * Writer: json_key() before a value inside an object; commas and nesting are
 * kept by the writer.  Strings are made valid UTF-8 (bad bytes become U+FFFD) and safe for a
 * terminal (utf8_is_hidden() is written as \uXXXX), numbers that are not finite become null, so the output always parses.
 *
 * Reader: for one flat object or array on a line (CDXJ, outcomes): json_next() walks
 * the members, json_element() the elements, without allocation.  Nested values are
 * returned raw.
 */
#ifndef BASE_IO_JSON_H
#define BASE_IO_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

#define JSON_DEPTH_MAX 32

struct json {
	FILE *out;                      /* either this */
	struct buf *buf;                /* or this */
	int depth;
	bool comma[JSON_DEPTH_MAX];
	bool after_key;
};

void json_to_file(struct json *j, FILE *out);
void json_to_buf(struct json *j, struct buf *buf);
void json_object(struct json *j);
void json_end_object(struct json *j);
void json_array(struct json *j);
void json_end_array(struct json *j);
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s);           /* NULL is null */
void json_strn(struct json *j, const char *s, size_t size);
void json_int(struct json *j, int64_t v);
void json_num(struct json *j, double v);                /* 9 digits at most */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/* A value that is JSON already; line breaks at its end are left out. */
void json_raw(struct json *j, const char *text);
void json_newline(struct json *j);                      /* between documents */

/* key and value in one call */
void json_kstr(struct json *j, const char *key, const char *s);
void json_kint(struct json *j, const char *key, int64_t v);
void json_knum(struct json *j, const char *key, double v);
void json_kbool(struct json *j, const char *key, bool v);

enum json_type { JSON_STRING, JSON_NUMBER, JSON_BOOL, JSON_NULL, JSON_NESTED };

struct json_member {
	const char *key;                /* raw bytes between the quotes */
	size_t key_size;
	const char *value;              /* string: raw bytes between the quotes */
	size_t value_size;
	enum json_type type;
	bool escaped;                   /* string holds backslashes */
};

/* Start at the '{'.  1: a member; 0: the object ended, *p behind the '}';
 * -1: not JSON.  Linear, nesting at most JSON_DEPTH_MAX. */
int json_next(const char **p, const char *end, struct json_member *m);
/* The same for the elements of an array, from its '['; key is not set. */
int json_element(const char **p, const char *end, struct json_member *m);
/* Undo the escapes of a string value into out (always fits value_size);
 * returns the size, or -1 for a bad escape. */
long json_unescape(const struct json_member *m, char *out);

#endif
