/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive_page.h - a second, slow reader of pages, to compare the real one with.
 *
 * It is the standard's state machine one character at a time, with strings that
 * grow, no ranges, no vectors, no tables beyond the list of entity names, and it
 * shares no code with src/web but the Unicode classes.  Input is valid UTF-8 HTML.
 */
#ifndef TESTS_NAIVE_PAGE_H
#define TESTS_NAIVE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct naive_page {
	uint32_t images, tables, emails, outlinks;
	uint64_t words, tags;
	struct buf text, title, skeleton;
};

void naive_read(struct naive_page *ret, const char *data, size_t size);
void naive_release(struct naive_page *p);

#endif
