/* SPDX-License-Identifier: Apache-2.0 */
/*
 * families.h - groups of pages of one site whose names are alike: the same file name, the
 * same first word of it, the same last directory, or directories that differ in digits only.
 * families.c has examples.
 */
#ifndef ENGINE_VIEW_FAMILIES_H
#define ENGINE_VIEW_FAMILIES_H

#include "engine/view/pages.h"

#define SHAPE_SIZE_MAX 512

struct families {
	const char *part[N_FAMILIES];
	size_t size[N_FAMILIES];
	char shape[SHAPE_SIZE_MAX];
};

/* The four names of a canonical URL; they point into the URL or into ret.  alone: no
 * other page is in its directory or below; then /a/b/ is named like /a/b.html. */
void families_of(const char *url, size_t size, bool alone, struct families *ret);
/* Number every page's groups; family[k] are new arrays. */
void families_number(const struct pages *pages, uint32_t *family[N_FAMILIES],
                     uint32_t n_family[N_FAMILIES]);

#endif
