/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bvgraph.c - a .properties text, a NUL byte, then the .graph bytes.
 * Whatever decodes must be a sound graph with ascending rows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/bvgraph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t text_size = nul ? (size_t)(nul - data) : size;
	struct bvgraph_props props;
	struct err err;
	struct graph g;

	if (!nul || bvgraph_parse_props((const char *)data, text_size, "fuzz", &props, &err))
		return 0;
	if (props.n_links > 1 << 20)
		return 0;               /* bounded by the test, not by the code */
	if (bvgraph_decode(&props, "fuzz", nul + 1, size - text_size - 1, NULL, 0, &g, &err))
		return 0;
	if (!graph_is_sound(&g))
		abort();
	for (uint32_t v = 0; v < g.n_nodes; v++)
		for (uint64_t i = g.offsets[v] + 1; i < g.offsets[v + 1]; i++)
			if (g.targets[i - 1] >= g.targets[i])
				abort();
	graph_release(&g);
	return 0;
}
