/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx_sort.h - index lines in bytewise order (LC_ALL=C), each line once.
 *
 * Lines are collected in memory up to a cap; beyond it sorted runs go to unnamed
 * temporary files and are merged at the end.
 */
#ifndef WARC_CDX_SORT_H
#define WARC_CDX_SORT_H

#include <stddef.h>

#include "base/err.h"

#define CDX_SORT_MEMORY ((size_t)256 << 20)     /* a good memory_max */
#define CDX_SORT_RUNS_MAX 256                   /* temporary files open at once */

/* Receives each line, without newline; a negative result stops and is returned
 * to the caller. */
typedef int cdx_emit(void *arg, const char *line, size_t size, struct err *err);

struct cdx_sorter;

/* folder: where temporary files go. */
struct cdx_sorter *cdx_sorter_new(size_t memory_max, const char *folder);
void cdx_sorter_free(struct cdx_sorter *s);     /* NULL is fine */
/* A line without its newline; E_PARSE if one is inside. */
MUST_CHECK int cdx_sorter_add(struct cdx_sorter *s, const char *line, size_t size,
                              struct err *err);
/* Emit everything; the sorter is empty afterwards. */
MUST_CHECK int cdx_sorter_finish(struct cdx_sorter *s, cdx_emit *emit, void *arg,
                                 struct err *err);

#endif
