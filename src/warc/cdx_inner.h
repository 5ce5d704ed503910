/* SPDX-License-Identifier: Apache-2.0 */
/* cdx_inner.h - shared by the two halves of the index parser: cdx.c (JSON objects) and
 * cdx_columns.c (columns).  They return an error text, or NULL. */
#ifndef WARC_CDX_INNER_H
#define WARC_CDX_INNER_H

#include "warc/cdx.h"

bool cdx_number(struct text s, int64_t *ret);
bool cdx_is_absent(struct text s);
bool cdx_time(struct text s, int64_t *ret);
enum cdx_verdict cdx_finish(const struct cdx_line *line, const char *bad,
                            const char **ret_reason);
bool cdx_take_header(struct cdx_layout *layout, const char *text, size_t size);
const char *cdx_take_text(const struct cdx_layout *layout, const char *text, size_t size,
                          struct cdx_line *line);
/* The letter of a column that an index server names; '-': none we read. */
char cdx_column(const char *name, size_t size);

#endif
