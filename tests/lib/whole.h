/* SPDX-License-Identifier: Apache-2.0 */
/* whole.h - is a store whole?  For tests that have no folder to run `freshet check` on. */
#ifndef TESTS_LIB_WHOLE_H
#define TESTS_LIB_WHOLE_H

#include "repo/store.h"

/* Read every row of every table, and have the store check itself; E_STORE says what is wrong. */
int whole_check(struct store *s, struct err *err);

#endif
