/* SPDX-License-Identifier: Apache-2.0 */
/* last_cycle.h - the newest cycle of a repository; ending it if nobody continues it. */
#ifndef ENGINE_BOOK_LAST_CYCLE_H
#define ENGINE_BOOK_LAST_CYCLE_H

#include "repo/store.h"

struct last_cycle { struct store_cycle row; char policy[256]; bool any; };
MUST_CHECK int last_cycle_read(struct store *s, struct last_cycle *ret, struct err *err);
/* Seconds until our own fetcher has a cycle due, one each `every` seconds: a program that is
 * started again keeps to the pace, and to the budget.  0: at once, also if the last cycle was
 * broken off, was not of our fetcher, or is dated so far ahead that a clock was wrong. */
MUST_CHECK int last_cycle_wait(struct store *s, int64_t every, int64_t now, int64_t *ret,
                               struct err *err);
/* What cycles spend beyond their budgets is taken off the next, whoever opens it.  Only other
 * crawlers do so: nobody can hinder them. */
uint32_t last_cycle_overspent(const struct store_cycle *c);
/* The rule: the row of a new cycle has what the last one leaves to pay, */
uint32_t last_cycle_owed(const struct last_cycle *last);
/* and its budget pays as much as it can.  One request is left to it, or its end would never
 * come; what it cannot pay, the next one does.  Returns what was taken off. */
uint32_t last_cycle_pay(struct store_cycle *c);
/* End a cycle that was interrupted and that nobody will continue.  Call inside a batch. */
MUST_CHECK int last_cycle_end(struct store *s, struct last_cycle *last, struct err *err);
/* The number for a cycle that other crawlers made.  If a cycle is still open, it is ended
 * (*ret_ended: its number, else 0).  Call inside a batch. */
MUST_CHECK int last_cycle_next(struct store *s, uint32_t *ret_number, uint32_t *ret_ended,
                               struct err *err);

#endif
