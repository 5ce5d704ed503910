/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.h - the files a test makes: all in one folder, which goes when it ends.
 *
 * The folder is made at first use under $TMPDIR (/tmp without one) and removed when the
 * program exits, also after tests that failed; a child of fork() leaves it alone. What
 * is killed removes nothing: scripts/run-tests gives each test a $TMPDIR of its own.
 */
#ifndef TESTS_LIB_SCRATCH_H
#define TESTS_LIB_SCRATCH_H

#include <stddef.h>

#define SCRATCH_PATH 300
#define SCRATCH_LONG 1000               /* for a path below one of these */

/* A path at which there is nothing; each call gives another. All three return ret. */
char *scratch_path(char ret[SCRATCH_PATH], const char *name);
/* The same with an empty folder there, or a file of these bytes. */
char *scratch_folder(char ret[SCRATCH_PATH], const char *name);
char *scratch_file(char ret[SCRATCH_PATH], const char *name, const void *data, size_t size);
/* Remove a file, or a folder with all that is in it, before the program ends. */
void scratch_remove(const char *path);

#endif
