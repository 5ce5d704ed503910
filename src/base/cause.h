/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why a visit failed or was blocked: one list for the fetcher, the store, the
 * rules of retries, and all output.
 */
#ifndef BASE_CAUSE_H
#define BASE_CAUSE_H

#include <stddef.h>

enum cause {
#define CAUSE(code, number, name, text) code = number,
#include "base/cause.def"
#undef CAUSE
};

/* An unknown number, as in a damaged table, has the name of CAUSE_OTHER. */
const char *cause_name(unsigned cause);
const char *cause_text(unsigned cause);         /* in words, without a full stop */
/* CAUSE_OTHER: no cause has that name. */
enum cause cause_find(const char *name, size_t size);

#endif
