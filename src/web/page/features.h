/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - the 48 features of cluster-level sampling, by name.
 *
 * Features of one page are computed here.  Features that need the repository (ranks among
 * clusters, PageRank, in-links, changes seen) are passed in.  Until there are two copies
 * dynamic features are 0, and the similarity is 1.  Values are raw; the clustering scales
 * them.
 */
#ifndef WEB_PAGE_FEATURES_H
#define WEB_PAGE_FEATURES_H

#include "web/page/extract.h"

enum feature {
#define FEATURE(name, group, description) FEATURE_##name,
#include "web/page/feature_list.def"
#undef FEATURE
	FEATURE_COUNT
};
_Static_assert(FEATURE_COUNT == 48, "17 content, 17 URL, 4 linkage, 10 dynamic");

enum feature_group {
	FEATURES_TEXT = 1, FEATURES_URL_WORDS = 2, FEATURES_CONTENT = 4, FEATURES_ADDRESS = 8,
	FEATURES_LINKAGE = 16, FEATURES_DYNAMIC = 32,
	FEATURES_STATIC = FEATURES_CONTENT | FEATURES_ADDRESS | FEATURES_LINKAGE, /* 18 */
	FEATURES_ALL = 63,
};

struct feature_row {
	const char *name, *description;
	enum feature_group group;
};
extern const struct feature_row feature_rows[FEATURE_COUNT];

#define FEATURE_RANKS 10

/* One copy of a page. */
struct feature_copy {
	enum page_type type;
	double images, tables, words, size, out_links, emails;  /* as it was read */
	double pagerank, in_links;                              /* the repository's */
};

struct feature_input {
	const char *url;                        /* canonical */
	const struct feature_copy *copy;
	const struct feature_copy *before;      /* NULL: this is the first */
	double similarity;                      /* of copy and before */
	double change_frequency;
	const double *text_ranks, *url_ranks;   /* FEATURE_RANKS each; NULL: 0 */
};
void features_fill(double ret[FEATURE_COUNT], const struct feature_input *in);

#endif
