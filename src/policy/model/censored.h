/* SPDX-License-Identifier: Apache-2.0 */
/*
 * censored.h - the maximum likelihood rate of changes, known only from visits.
 *
 * Model.  A page changes as a Poisson process of rate r.  A visit after an interval t
 * tells whether it changed meanwhile, not how often.  The likelihood of all visits,
 *     product over changed of (1 - e^{-rt})  *  product over unchanged of e^{-rt},
 * is largest where
 *     sum over changed of t/(e^{rt} - 1)  =  sum over unchanged of t;
 * the left side falls as r grows, so there is one root.
 *
 * Bounds.  Rates are within [CENSORED_MIN, CENSORED_MAX] changes a day.  A page that
 * never changed has the lower bound, so it is not forgotten; one that always changed the
 * upper.
 *
 * Memory.  8 bytes a page, and 12 bytes for each length of its changed intervals; equal
 * lengths (regular visits) share one entry.  A rate costs O(lengths).
 */
#ifndef POLICY_MODEL_CENSORED_H
#define POLICY_MODEL_CENSORED_H

#include <stdbool.h>

#include "base/mem.h"
#include "policy/frozen.h"

#define CENSORED_MIN 0.0005
#define CENSORED_MAX 7.0

struct censored_interval { float length; uint32_t count, before; };

/* The intervals of all pages, a chain each; entry 0 ends every chain. */
struct censored { VEC(struct censored_interval) intervals; };

struct censored_page {                  /* zeroed, it is empty */
	float quiet;                    /* unchanged intervals, summed */
	uint32_t changed;               /* first of its chain, or 0 */
};

void censored_note(struct censored *c, struct censored_page *p, double length,
                   bool changed);
/* Changes per unit of length; `day` units make a day.  smooth > 0: add one imaginary
 * changed and one unchanged interval of that length. */
double censored_rate(const struct censored *c, const struct censored_page *p,
                     double smooth, double day);
void censored_release(struct censored *c);
/* All intervals, and then, of what was read, whether those of a page make sense. */
void censored_freeze(struct censored *c, struct frozen *f);
void censored_check(const struct censored *c, const struct censored_page *p,
                    struct frozen *f);

#endif
