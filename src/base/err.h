/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - errors: a code and a message.
 *
 * A function that can fail returns int: 0 (or a count) or a negative
 * enum err_code, and takes `struct err *err` last.  It fills err and returns in
 * one line:
 *
 *     return err_set(err, E_PARSE, "%s: record at %lld: bad length", path, off);
 *
 * A caller that knows more adds context on the way up with err_prefix().  A
 * message says what, where, and what to do; it has no full stop and no newline.
 * err may be NULL when only the code matters.  Outputs are untouched on failure.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

enum err_code {
	E_OK = 0,
	ERR_FIRST = -100,
#define ERR(code, status) code,
#include "base/err.def"
#undef ERR
};

struct err {
	int code;
	char text[512];
};

#define MUST_CHECK __attribute__((warn_unused_result))

__attribute__((format(printf, 3, 4)))
int err_set(struct err *err, int code, const char *fmt, ...);

/* Append ": strerror(errno)" to the message; reads errno first. */
__attribute__((format(printf, 3, 4)))
int err_errno(struct err *err, int code, const char *fmt, ...);

/* Put "context: " before the message; returns the code it already has. */
__attribute__((format(printf, 2, 3)))
int err_prefix(struct err *err, const char *fmt, ...);

int err_exit_status(int code);

/* Out of memory: say so and abort.  The store is transactional. */
_Noreturn void err_no_memory(void);

#endif
