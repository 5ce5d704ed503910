/* SPDX-License-Identifier: Apache-2.0 */
/* tell_inner.h - what tell.c (what came of a page) and tell_find.c (which page) share. */
#ifndef ENGINE_BOOK_TELL_INNER_H
#define ENGINE_BOOK_TELL_INNER_H

#include "engine/book/tell.h"

/* What a line speaks of. */
struct tell_subject {
	uint32_t page;
	uint32_t number;                /* its lease in the open cycle, 0: none */
	bool is_late;                   /* its lease is of a cycle that is over, */
	struct store_lease late;        /* and this; place 0: nobody knows it any more */
	char client[LEDGER_NAME_MAX + 1];
};

/* Which page a line speaks of, and which offer.  0; or *ret_why says why it cannot be told. */
MUST_CHECK int tell_find(struct tell *t, const struct told *told, struct tell_subject *s,
                         const char **ret_why, struct err *err);

#endif
