/* SPDX-License-Identifier: Apache-2.0 */
/* encoding_inner.h - shared by encoding.c and encoding_convert.c. */
#ifndef WEB_HTML_ENCODING_INNER_H
#define WEB_HTML_ENCODING_INNER_H

#include "web/html/encoding.h"

struct encoding_row {
	const char *name, *iconv_name, *labels;
};
extern const struct encoding_row encoding_rows[];       /* UTF-8, windows-1252, ... */

void encoding_convert(struct encoding *e, const struct encoding_row *r, const char *data,
                      size_t size, size_t max, const char **ret_text, size_t *ret_size);

#endif
