/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.h - data that some policies need beyond the pages: links in both directions,
 * PageRank, name families.  Made once, and only if a policy needs it.
 */
#ifndef ENGINE_VIEW_PREPARE_H
#define ENGINE_VIEW_PREPARE_H

#include "engine/view/pages.h"
#include "graph/graph.h"
#include "policy/policy.h"

struct prepared {
	unsigned have;                  /* enum policy_needs, or-ed */
	unsigned found;                 /* the same: read from a file (kept_links.h), not to be made */
	struct graph links, links_in;   /* between settled pages; the others have none */
	double *pagerank;               /* of settled pages; the others have the least of them */
	uint8_t *pagerank10;
	uint8_t *size;                  /* NEED_SIZES: filled in by the caller */
	uint32_t *family[N_FAMILIES];
	uint32_t n_family[N_FAMILIES];
};

/* links: the out-links of a settled page to others, for NEED_LINKS and NEED_PAGERANK. */
typedef const uint32_t *prepare_links(const void *from, uint32_t page, size_t *ret_n);

MUST_CHECK int prepare(struct prepared *p, const struct pages *pages, unsigned needs,
                       prepare_links *links, const void *from, struct err *err);
void prepare_release(struct prepared *p);
void prepare_view(const struct prepared *p, struct view *v);

/* Integers 0..10 on a log scale between the least and the largest PageRank. */
void pagerank_to_ten(const double *rank, uint32_t n, uint8_t *ret);

#endif
