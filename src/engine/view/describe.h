/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - clusters described for people: size, sites, common traits, how often their
 * pages change.
 */
#ifndef ENGINE_VIEW_DESCRIBE_H
#define ENGINE_VIEW_DESCRIBE_H

#include "cluster/bisect.h"
#include "engine/view/copies.h"

#define DESCRIBE_SITES 3
#define DESCRIBE_TRAITS 5
#define DESCRIBE_NEAR 3

struct described {
	uint32_t size, n_sites;
	uint32_t site[DESCRIBE_SITES], site_size[DESCRIBE_SITES];       /* largest first */
	/* What stands out: columns or terms (by number of the set), the cluster's
	 * mean there and that of all pages. */
	uint32_t trait[DESCRIBE_TRAITS];
	float here[DESCRIBE_TRAITS], everywhere[DESCRIBE_TRAITS];
	uint32_t n_traits;
	double changes;                 /* per page and 30 days; 0: unknown */
	uint32_t near[DESCRIBE_NEAR], n_near;
	float cosine[DESCRIBE_NEAR];
	double cohesion;                /* mean cosine to the centroid */
};

/* One for each cluster. */
struct described *describe(const struct clusters *c, const struct rows *rows,
                           const struct copies *copies, const struct pages *pages);

/* The name of term or column `number` of a set; words are names of the content's
 * terms and may be NULL.  Returns text in buf or for ever. */
const char *describe_name(const struct features *f, enum feature_set set, uint32_t number,
                          const struct strtab *words, char buf[32]);

#endif
