/* SPDX-License-Identifier: Apache-2.0 */
/* touch_inner.h - shared by touch.c (who was right) and touch_choose.c (which pages). */
#ifndef ENGINE_BOOK_TOUCH_INNER_H
#define ENGINE_BOOK_TOUCH_INNER_H

#include "base/map.h"
#include "engine/book/touch.h"

struct touch_names { struct strtab names; };    /* number - 1 is the index */

MUST_CHECK int touch_names_load(struct touch_names *n, struct store *s, struct err *err);
void touch_names_release(struct touch_names *n);
const char *touch_name(const struct touch_names *n, uint32_t number);   /* NULL: none has it */

/* What is known of a notifier, about the site of a URL and about all sites. */
MUST_CHECK int touch_trust(struct store *s, const char *name, struct text url,
                           struct lastmod_trust *site, struct lastmod_trust *all,
                           struct err *err);
enum touch_rank touch_judge(const struct lastmod_trust *site, const struct lastmod_trust *all);

#endif
