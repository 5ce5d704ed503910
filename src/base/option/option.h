/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option.h - options as data.
 *
 * One table of option_spec describes the options of a command or a policy:
 * name, type, place in a struct, default, range, help.  It feeds the command
 * line, policy specs ("name:key=value,key=value"), settings of a repository,
 * --help, the man pages and completion of shells, so they cannot disagree.
 *
 * A field `max_age` is the option `--max-age` on the command line and the key
 * `max-age` in specs and settings; `max_age` is understood too.
 */
#ifndef BASE_OPTION_OPTION_H
#define BASE_OPTION_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/when.h"

enum option_type {
	OPTION_FLAG,            /* bool; no value on the command line */
	OPTION_INT,             /* int64_t */
	OPTION_DOUBLE,          /* double */
	OPTION_CHOICE,          /* int: index into the choices */
	OPTION_TEXT,            /* const char * */
	OPTION_DURATION,        /* int64_t seconds */
	OPTION_SECONDS,         /* double: a duration, parts of a second, too */
	OPTION_TIME,            /* int64_t seconds since the epoch */
	OPTION_SHARE,           /* struct share */
	OPTION_SIZE,            /* int64_t bytes: 500k, 10M, 1G; k is 1024 */
	OPTION_LIST,            /* struct option_list; may be given many times */
};

struct option_list { const char **v; size_t n, cap; };

struct option_spec {
	const char *name;               /* NULL ends the table */
	enum option_type type;
	size_t offset;
	const char *def;                /* as a user would type it; NULL: unset, 0 */
	double min, max;                /* for numbers; equal: any */
	const char *choices;            /* "a|b|c" */
	const char *arg;                /* what --help calls the value */
	const char *help;
	char letter;                    /* one-letter form, or 0 */
	bool setting;                   /* `freshet set` gives its default */
	bool written;                   /* a file or folder that the command writes */
};

/* S: struct tag, f: field. */
#define OPT_INT(S, f, d, lo, hi, h) \
	{ .name = #f, .type = OPTION_INT, .offset = offsetof(struct S, f), \
	  .def = #d, .min = lo, .max = hi, .arg = "N", .help = h }
#define OPT_DOUBLE(S, f, d, lo, hi, h) \
	{ .name = #f, .type = OPTION_DOUBLE, .offset = offsetof(struct S, f), \
	  .def = #d, .min = lo, .max = hi, .arg = "X", .help = h }
#define OPT_CHOICE(S, f, list, d, h) \
	{ .name = #f, .type = OPTION_CHOICE, .offset = offsetof(struct S, f), \
	  .def = d, .choices = list, .arg = list, .help = h }
#define OPT_FLAG(S, f, h) \
	{ .name = #f, .type = OPTION_FLAG, .offset = offsetof(struct S, f), .help = h }
#define OPT_OTHER(S, f, t, d, a, h) \
	{ .name = #f, .type = t, .offset = offsetof(struct S, f), \
	  .def = d, .arg = a, .help = h }
#define OPT_TEXT(S, f, d, a, h)         OPT_OTHER(S, f, OPTION_TEXT, d, a, h)
#define OPT_DURATION(S, f, d, h)        OPT_OTHER(S, f, OPTION_DURATION, d, "DURATION", h)
#define OPT_TIME(S, f, d, h)            OPT_OTHER(S, f, OPTION_TIME, d, "TIME", h)
#define OPT_SHARE(S, f, d, h)           OPT_OTHER(S, f, OPTION_SHARE, d, "N|N%", h)
#define OPT_LIST(S, f, a, h)            OPT_OTHER(S, f, OPTION_LIST, NULL, a, h)
/* A file or folder that the command writes. */
#define OPT_OUTPUT(S, f, d, a, h) \
	{ .name = #f, .type = OPTION_TEXT, .offset = offsetof(struct S, f), \
	  .def = d, .arg = a, .help = h, .written = true }
#define OPT_END { .name = NULL }

const struct option_spec *option_find(const struct option_spec *specs,
                                      const char *name, size_t size);
/* The name as users see it, '_' as '-'. */
void option_display(const struct option_spec *s, char out[64]);

/* Fill opts with the defaults. */
void option_defaults(const struct option_spec *specs, void *opts);
/* Set one option from text; texts are kept by reference. */
MUST_CHECK int option_set(const struct option_spec *s, void *opts,
                          const char *value, struct err *err);
/* A number of bytes, as an option of type OPTION_SIZE is written. */
bool option_bytes(const char *value, int64_t *ret);
/* Parse "key=value,key=value" (may be empty); texts are copied into `keep`. */
MUST_CHECK int option_parse_spec(const struct option_spec *specs, void *opts,
                                 const char *text, struct arena *keep, struct err *err);
/* Free what lists hold. */
void option_release(const struct option_spec *specs, void *opts);

/* A command line: several tables with the struct each one fills. */
struct option_group { const struct option_spec *specs; void *opts; bool *given; };
/* Options anywhere, "--" ends them; positional arguments are moved to the
 * front of argv, their number in *ret_n.  given[i], if there, is set for each
 * option of the group that appeared. */
MUST_CHECK int option_parse_args(const struct option_group *groups, size_t n_groups,
                                 int argc, char **argv, int *ret_n, struct err *err);
size_t option_count(const struct option_spec *specs);

void option_print_help(const struct option_spec *specs, FILE *out);     /* two columns */
void option_print_man(const struct option_spec *specs, FILE *out);      /* roff */

#endif
