/* SPDX-License-Identifier: Apache-2.0 */
/* words_edges.h - where the runs of a text begin and end, of which words.c makes words. */
#ifndef WEB_TEXT_WORDS_EDGES_H
#define WEB_TEXT_WORDS_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "web/text/simd.h"

#define WORDS_WINDOW 1024       /* bytes of a text that are looked at together */

/* A piece of text being looked at. */
struct words_window {
	uint16_t edge[WORDS_WINDOW + 8];      /* begin and end of each run; written ahead */
	char lower[WORDS_WINDOW + 80];        /* its bytes in lower case; read ahead */
};

static inline bool words_is_ascii(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

/* The edges of all runs of letters, digits and bytes beyond ASCII in a window of a text; a run
 * that is open at its end is closed there.  Returns their number. */
size_t words_edges(const char *text, size_t size, struct words_window *in);
#ifdef SIMD_HAS_V3
SIMD_V3 size_t words_edges_v3(const char *text, size_t size, struct words_window *in);
#endif

#endif
