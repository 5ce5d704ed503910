/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - counts of each capture (words, images ...), loaded only if pages are to be
 * clustered by features.
 *
 * 32 bytes a capture.  Captures with the same words share one list, 8 bytes a word.
 */
#ifndef ENGINE_HISTORY_FACTS_H
#define ENGINE_HISTORY_FACTS_H

#include "base/map.h"
#include "base/mem.h"
#include "engine/archive/record.h"
#include "web/page/extract.h"
#include "web/text/terms.h"

#define FACTS_NONE 0            /* the number that means: nothing is known */

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

/* Add the facts of a record; returns their number, FACTS_NONE if it has none. */
uint32_t facts_add(struct facts_table *t, const struct record *r);
/* False, and zeros, for FACTS_NONE. */
bool facts_get(const struct facts_table *t, uint32_t number, struct page_facts *ret);
void facts_release(struct facts_table *t);

/* Words of a page on a log scale, eight steps to a doubling; from its bytes if they
 * were not counted.  0: neither is known (-1). */
uint8_t size_class(int64_t words, int64_t bytes);

#endif
