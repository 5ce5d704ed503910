/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - a file to be written whole or not at all.
 *
 * The bytes go to NAME.part; output_close() makes that file the named one in one
 * step, so nobody ever reads half of it, and a failure leaves what was there
 * before.  A name that ends in .gz or .zst is compressed.  NULL, "-" or "/dev/stdout"
 * is standard output, which is neither renamed nor closed; pipes and devices are
 * written to as they are.
 */
#ifndef BASE_IO_OUTPUT_H
#define BASE_IO_OUTPUT_H

#include <stdio.h>

#include "base/err.h"

struct output;

MUST_CHECK int output_open(struct output **ret, const char *path, struct err *err);
/* Make a file that is renamed when it is whole, and return its descriptor.  Nothing is
 * written through a link; a file that is there already is replaced. */
MUST_CHECK int output_create(const char *name, struct err *err);
/* Before long work: can it be written?  Leaves nothing; NULL is fine. */
MUST_CHECK int output_check(const char *path, struct err *err);
/* Write to this with stdio; errors are found by output_close(). */
FILE *output_file(struct output *o);
/* Complete and free; everything is on its way to the disk. */
MUST_CHECK int output_close(struct output *o, struct err *err);
/* Throw away what was written, and free; NULL is fine. */
void output_abandon(struct output *o);

#endif
