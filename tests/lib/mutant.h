/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - hostile answers by the thousand: an answer of some kind, and damage done to it.
 *
 * The number of the page and the seed decide everything, so an answer can be made again.
 * Where an answer has a body of ours, it names its page by a mark, which ends in a hash of
 * the number: a mark that was damaged is none.
 */
#ifndef TESTS_LIB_MUTANT_H
#define TESTS_LIB_MUTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define MUTANT_MARK_SIZE 24             /* "<page-0123456-01234567>" and a 0 */

void mutant_mark(uint32_t page, char out[MUTANT_MARK_SIZE]);
/* The first page that a text names, besides `but`; false: none. */
bool mutant_names_other(const char *text, size_t size, uint32_t but, uint32_t *ret);

/* The answer to a page, and whether the server hangs up behind it. */
void mutant_make(uint64_t seed, uint32_t page, struct buf *out, bool *ret_closes);
/* The answer to a good page (status line, head, body), of any size up to 3 KB. */
void mutant_good(uint64_t seed, uint32_t page, struct buf *out);
/* The body of a good page. */
void mutant_good_body(uint64_t seed, uint32_t page, struct buf *out);

#endif
