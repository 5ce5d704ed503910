/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_print.h - clusters, or the curve over k, as text or JSON. */
#ifndef CLI_PRINT_CLUSTER_PRINT_H
#define CLI_PRINT_CLUSTER_PRINT_H

#include "base/io/json.h"
#include "cluster/choose.h"
#include "engine/view/describe.h"

struct cluster_output {
	enum feature_set set;
	const struct features *features;
	const struct pages *pages;
	const struct strtab *words;     /* names of the content's terms */
	uint32_t n_pages, top;
	uint32_t n_here;                /* pages of which they were chosen by chance; n_pages: all */
	struct clusters clusters;
	struct described *described;    /* by cluster */
	struct choose_point *points;    /* the curve, or NULL */
	uint32_t n_points;
};

void cluster_print_table(const struct cluster_output *o);
void cluster_print_curve(const struct cluster_output *o);
void cluster_print_json(const struct cluster_output *o, struct json *j);

#endif
