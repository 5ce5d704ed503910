/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one sink, on stderr; its level is the only global, and threads may be hushed.
 *
 * Layers below cli use log_debug only and return errors; cli (and serve) may
 * warn and inform.  Foreign strings go through log_quote() so that no byte off
 * the wire reaches a terminal raw.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_QUIET, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_level(void);
/* This thread logs nothing from now on, or (false) again: it answers requests, and whom it
 * answers has no terminal. */
void log_hush(bool on);
__attribute__((format(printf, 2, 3)))
void log_at(enum log_level level, const char *fmt, ...);

#define log_warn(...)  log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

/* log_warn() as a report callback; arg is not used. */
void log_warn_text(void *arg, const char *text);
/* The same, for the first LOG_FEW warnings; arg: uint64_t that counts all of them. */
#define LOG_FEW 20
void log_warn_few(void *arg, const char *text);

/* Make a foreign text safe for a terminal, in place: characters with utf8_is_hidden(),
 * except tab and newline, and bytes that are not UTF-8 become question marks. */
char *log_plain(char *s);
/* The same as one line in out: a tab or an end of line is a blank; what does not fit is cut off,
 * and no character is cut in two. */
char *log_plain_line(const char *s, char *out, size_t out_size);
/* Print a foreign text to standard output, made safe. */
void log_print_plain(const char *s);

/* Where the password of scheme://user:pass@host is in s, if there is one. */
bool log_password(const char *s, size_t size, size_t *ret_from, size_t *ret_to);

/* s with control and non-ASCII bytes as \xNN and a password as ***, cut to fit, in out.
 * */
const char *log_quote(const char *s, size_t size, char *out, size_t out_size);

#endif
