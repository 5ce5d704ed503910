/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - what a store gives, written down with every field: equal rows are equal texts. */
#ifndef TESTS_LIB_ROWS_H
#define TESTS_LIB_ROWS_H

#include "base/buf.h"
#include "repo/store.h"

struct rows {
	struct store *s;
	struct buf out;
	/* Ids of captures may differ between stores: they are written as their place here. */
	const uint64_t *ids;
	const size_t *n_ids;
};

void rows_id(struct rows *d, uint64_t id);
/* Callbacks; arg is a struct rows. */
int rows_page(void *arg, const struct store_page *p, struct err *err);
/* Only what store_pages_brief() promises. */
int rows_page_brief(void *arg, const struct store_page *p, struct err *err);
int rows_capture(void *arg, const struct store_capture *c, struct err *err);
int rows_visit(void *arg, const struct store_visit *v, struct err *err);
int rows_cycle(void *arg, const struct store_cycle *c, struct err *err);
int rows_round(void *arg, uint32_t number, uint32_t after, struct err *err);
int rows_lease(void *arg, const struct store_lease *l, struct err *err);
int rows_sent(void *arg, const struct store_sent *s, struct err *err);
int rows_care(void *arg, const struct store_care *c, struct err *err);
int rows_tag(void *arg, struct text tag, uint64_t n, struct err *err);
int rows_tagged(void *arg, uint32_t page, struct err *err);
int rows_pair(void *arg, const char *key, const char *value, struct err *err);
int rows_hint(void *arg, struct text site, const struct store_hint *h, struct err *err);
int rows_robots(void *arg, const struct store_robots *r, struct err *err);
int rows_word(void *arg, uint32_t number, struct text word, struct err *err);
/* No callback: what store_captures_linked() gives, and of the texts of store_links(), which come
 * in no order, a number and a sum of hashes. */
int rows_linked(struct rows *d, struct err *err);

#endif
