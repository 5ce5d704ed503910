/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - numbers that are on disk, in the tables of every repository.
 *
 * A number here is never changed and never used again; something new gets the next one.
 * tests/unit/base/numbers_test.c names each of them.  Those of causes are in base/cause.h.
 */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include "base/cause.h"

/* What came of a visit.  The order counts: up to GONE the visit says something of the page;
 * from FAILED on it does not. */
enum outcome {
	OUTCOME_SAME    = 0,
	OUTCOME_CHANGED = 1,
	OUTCOME_GONE    = 2,
	OUTCOME_FAILED  = 3,
	OUTCOME_BLOCKED = 4,    /* never asked of the server; costs no budget */
};

/* What a cycle looks for. */
enum goal {
	GOAL_CHANGED = 0,
	GOAL_ALIVE   = 1
};

/* Why a page was asked for. */
enum reason {
#define REASON(code, number, name, text) code = number,
#include "base/reasons.def"
#undef REASON
	N_REASONS
};

/* Is the page in the repository? */
enum store_page_state {
	STORE_PAGE_HERE = 0,
	STORE_PAGE_GONE = 1,    /* it was confirmed that it is not there */
	STORE_PAGE_LEFT = 2,    /* it was taken out */
};

/* Why the user keeps a page out of all cycles; or-ed.  0: it is under care. */
enum care {
	CARE_REMOVED = 1,
	CARE_PAUSED  = 2,
	CARE_SITE    = 4,       /* its site is paused */
	CARE_SCOPE   = 8,       /* the rules of scope leave it out */
	CARE_ALL     = 15       /* every bit there is */
};

/* What became of a page that another crawler was offered. */
enum store_lease_state {
	STORE_LEASE_OUT      = 0,
	STORE_LEASE_TOLD     = 1,
	STORE_LEASE_GIVEN_BACK = 2,
	STORE_LEASE_LAPSED   = 3,
	STORE_LEASE_DROPPED  = 4
};

/* How many there are. */
enum {
	N_OUTCOMES = 5, N_GOALS = 2, N_STORE_PAGE_STATES = 3, N_STORE_LEASE_STATES = 5
};

#endif
