/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what was counted in each capture, kept only for who needs it: the
 * features that pages are clustered by.
 *
 * 32 bytes a capture; the word counts of captures whose words are the same are
 * kept once, 8 bytes a word.
 */
#ifndef ENGINE_VIEW_FACTS_H
#define ENGINE_VIEW_FACTS_H

#include "base/map.h"
#include "base/mem.h"
#include "engine/archive/record.h"
#include "web/page/extract.h"
#include "web/text/terms.h"

#define FACTS_NONE 0            /* number of "nothing is known" */

struct page_facts {
	float text, words, images, tables, emails, outlinks;
	enum page_type type;
	uint32_t n_terms;
	const struct term *terms;       /* by number of a word list, rising */
};

struct facts_row { float number[6]; uint32_t terms; uint8_t type; };

struct facts_table {            /* zeroed, it is empty */
	VEC(struct facts_row) rows;     /* row i is number i + 1 */
	VEC(uint64_t) first;            /* lists of words: [first[k], first[k + 1]) */
	VEC(struct term) terms;
	struct map lists;               /* hash of the text -> list */
};

/* The number of what a record tells; FACTS_NONE if it tells nothing. */
uint32_t facts_add(struct facts_table *t, const struct record *r);
/* False, and zeros, for FACTS_NONE. */
bool facts_get(const struct facts_table *t, uint32_t number, struct page_facts *ret);
void facts_release(struct facts_table *t);

/* Words of a page on a log scale, eight steps to a doubling; from its bytes if they
 * were not counted.  0: neither is known (-1). */
uint8_t size_class(int64_t words, int64_t bytes);

#endif
