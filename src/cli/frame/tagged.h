/* SPDX-License-Identifier: Apache-2.0 */
/* tagged.h - the option --tag of commands that list pages: only those that have the tag. */
#ifndef CLI_FRAME_TAGGED_H
#define CLI_FRAME_TAGGED_H

#include "base/mem.h"
#include "repo/store.h"

struct tagged { bool all; VEC(uint32_t) pages; };       /* all: no tag was asked for */

/* tag NULL: all pages.  Release it also after an error. */
MUST_CHECK int tagged_load(struct tagged *t, struct store *s, const char *tag, struct err *err);
bool tagged_has(const struct tagged *t, uint32_t page);
void tagged_release(struct tagged *t);

#endif
