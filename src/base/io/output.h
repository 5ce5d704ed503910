/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - write a file completely or not at all.
 *
 * The bytes go to NAME.part; output_close() renames it in one step.  So no reader sees
 * half of a file, and a failure leaves the old file.  A name that ends in .gz or .zst is
 * compressed.  NULL, "-" or "/dev/stdout" is standard output, which is neither renamed
 * nor closed; pipes and devices are written directly.
 */
#ifndef BASE_IO_OUTPUT_H
#define BASE_IO_OUTPUT_H

#include <stdio.h>

#include "base/err.h"

struct output;

/* Standard output of this thread.  A thread that answers a request diverts what a command
 * prints into memory; NULL: not any more. */
FILE *output_standard(void);
void output_divert(FILE *to);

MUST_CHECK int output_open(struct output **ret, const char *path, struct err *err);
/* The same without compression, whatever the name. */
MUST_CHECK int output_open_plain(struct output **ret, const char *path, struct err *err);
/* Make a file that is to be renamed when it is complete; returns its descriptor.  Links
 * are not followed; an existing file is replaced. */
MUST_CHECK int output_create(const char *name, struct err *err);
/* Before long work: can the file be written?  Leaves no file; path may be NULL. */
MUST_CHECK int output_check(const char *path, struct err *err);
/* Write to this with stdio; errors are found by output_close(). */
FILE *output_file(struct output *o);
/* Flush, rename and free. */
MUST_CHECK int output_close(struct output *o, struct err *err);
/* Delete what was written, and free; o may be NULL. */
void output_abandon(struct output *o);

#endif
