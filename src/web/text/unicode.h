/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unicode.h - the little of Unicode that words need, from generated tables.
 */
#ifndef WEB_TEXT_UNICODE_H
#define WEB_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum unicode_kind {
	UNICODE_OTHER,
	UNICODE_WORD,                   /* letters, marks, numbers */
	UNICODE_CJK,                    /* of scripts written without spaces */
};

enum unicode_kind unicode_kind(uint32_t c);
uint32_t unicode_lower(uint32_t c);

/* One character of UTF-8 (size > 0): its bytes, 1 to 4; a byte that begins no
 * whole character is U+FFFD of one byte. */
size_t unicode_get(const char *p, size_t size, uint32_t *ret);

/* Bytes at the start that are valid UTF-8. */
size_t unicode_valid(const char *p, size_t size);
/* Bytes at the start that are ASCII, neither NUL nor ESC. */
size_t unicode_plain(const char *p, size_t size);

#endif
