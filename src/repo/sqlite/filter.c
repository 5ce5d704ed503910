/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - which URLs are certainly not in the store.
 *
 * Nearly every URL of a large import is new.  A Bloom filter over the keys of all pages
 * (4 bits in one word, 12 bits a key) saves their look-up; about 1 look-up in 60 is
 * needless. The filter is made when an import turns out to be large, and dropped when
 * another program has written.
 */
#include "base/math/rng.h"
#include "base/mem.h"
#include "repo/sqlite/store_sqlite.h"

#define FILTER_BITS 12          /* per key */
#define FILTER_FROM 1000        /* pages added by an import before the filter is made */

static uint64_t filter_bits(int64_t key)
{
	uint64_t h = rng_mix((uint64_t)key);

	return 1ull << (h & 63) | 1ull << (h >> 6 & 63) | 1ull << (h >> 12 & 63) |
	       1ull << (h >> 18 & 63);
}

static uint64_t *filter_word(const struct store_sqlite *s, int64_t key)
{
	return &s->filter[(rng_mix((uint64_t)key) >> 24) & (s->filter_words - 1)];
}

static void filter_drop(struct store_sqlite *s)
{
	free(s->filter);
	s->filter = NULL;
	s->filter_keys = s->filter_words = 0;
}

int sqlite_filter_check(struct store_sqlite *s, struct err *err)
{
	sqlite3_stmt *q = sql_get(s, SQL_DATA_VERSION, err);
	int rc = q ? sql_step(s, q, err) : E_STORE;

	if (rc < 0)
		return rc;
	if (s->data_version != sqlite3_column_int64(q, 0)) {
		filter_drop(s);
		s->base.others_wrote = true;
	}
	s->data_version = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return 0;
}

/* Make the filter, with room for twice the pages of the store. */
static int filter_make(struct store_sqlite *s, struct err *err)
{
	uint64_t words = 1024;
	sqlite3_stmt *q = sql_get(s, SQL_PAGE_KEYS, err);
	int rc = 0;

	if (!q)
		return E_STORE;
	filter_drop(s);
	while (words * 64 < (uint64_t)s->n_pages * 2 * FILTER_BITS)
		words *= 2;
	s->filter = mem_zalloc(words, sizeof *s->filter);
	s->filter_words = words;
	s->filter_keys = s->n_pages;
	while ((rc = sql_step(s, q, err)) > 0) {
		int64_t key = sqlite3_column_int64(q, 0);

		*filter_word(s, key) |= filter_bits(key);
	}
	sqlite3_reset(q);
	if (rc < 0)
		filter_drop(s);
	return rc;
}

int sqlite_filter_may_have(struct store_sqlite *s, int64_t key, bool *ret, struct err *err)
{
	int rc = 0;

	*ret = true;
	if (!s->in_batch || ++s->n_added < FILTER_FROM)
		return 0;
	if (!s->filter || s->filter_keys * FILTER_BITS > s->filter_words * 64)
		rc = filter_make(s, err);
	if (rc == 0)
		*ret = (*filter_word(s, key) & filter_bits(key)) == filter_bits(key);
	return rc;
}

void sqlite_filter_add(struct store_sqlite *s, int64_t key)
{
	if (!s->filter)
		return;
	*filter_word(s, key) |= filter_bits(key);
	s->filter_keys++;
}
