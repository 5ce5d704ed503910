/* SPDX-License-Identifier: Apache-2.0 */
/* features_inner.h - what features.c and features_links.c share. */
#ifndef ENGINE_VIEW_FEATURES_INNER_H
#define ENGINE_VIEW_FEATURES_INNER_H

#include "engine/view/features.h"

/* Measure the links again, unless it was done in this cycle; keep the measures before, too. */
void features_renew_links(struct features *f, const struct view *v);

static inline bool features_here(const struct view *v, uint32_t page)
{
	return v->state[page] & PAGE_HERE;
}

#endif
