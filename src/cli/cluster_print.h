/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_print.h - clusters, or the curve over k, as text or JSON. */
#ifndef CLI_CLUSTER_PRINT_H
#define CLI_CLUSTER_PRINT_H

#include "base/json.h"
#include "cluster/choose.h"
#include "engine/describe.h"

struct cluster_output {
	enum feature_set set;
	const struct features *features;
	const struct pages *pages;
	const struct strtab *words;     /* names of the content's terms */
	uint32_t n_pages, top;
	struct clusters clusters;
	struct described *described;    /* by cluster */
	struct choose_point *points;    /* the curve, or NULL */
	uint32_t n_points;
};

void cluster_print_table(const struct cluster_output *o);
void cluster_print_curve(const struct cluster_output *o);
void cluster_print_json(const struct cluster_output *o, struct json *j);

/* The document of `freshet cluster --k K` for an open repository. */
struct store;
MUST_CHECK int cluster_repository_json(struct json *j, struct store *s, uint32_t k,
                                       uint64_t seed, struct err *err);

#endif
