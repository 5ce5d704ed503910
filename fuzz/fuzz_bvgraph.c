/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bvgraph.c - a .properties text, a NUL byte, then the .graph bytes.
 * Whatever decodes must be a sound graph with ascending rows.
 * If the size of the input ends in seven, it is read once more from files, with .offsets that are
 * the end of the graph: without them the graph has to be the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/bvgraph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], base[80];

static void remove_files(void)
{
	static const char *const endings[] = { "properties", "graph", "offsets" };
	char path[100];

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(path, sizeof path, "%s.%s", base, endings[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void write_file(const char *ending, const void *data, size_t size)
{
	char path[100];
	FILE *f;

	if (!*folder) {
		snprintf(folder, sizeof folder, "%.40s/fuzz-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
		if (!mkdtemp(folder))
			abort();
		snprintf(base, sizeof base, "%s/g", folder);
	}
	snprintf(path, sizeof path, "%s.%s", base, ending);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

static void check(const struct graph *g)
{
	if (!graph_is_sound(g))
		abort();
	for (uint32_t v = 0; v < g->n_nodes; v++)
		for (uint64_t i = g->offsets[v] + 1; i < g->offsets[v + 1]; i++)
			if (g->targets[i - 1] >= g->targets[i])
				abort();
}

static void read_files(const uint8_t *text, size_t text_size, const uint8_t *rows, size_t size,
                       const struct graph *same)
{
	char name[100];
	struct graph g;
	struct err err;

	write_file("properties", text, text_size);
	write_file("graph", rows, size);
	snprintf(name, sizeof name, "%s.graph", base);
	if (!bvgraph_read(name, &g, &err)) {
		check(&g);
		if (!same || g.n_nodes != same->n_nodes || g.n_links != same->n_links)
			abort();
		graph_release(&g);
	} else if (same) {
		abort();
	}
	write_file("offsets", rows + size / 2, size - size / 2);
	if (!bvgraph_read(base, &g, &err)) {
		check(&g);
		graph_release(&g);
	}
	remove_files();
	*folder = '\0';         /* nothing is left if the next one aborts */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t text_size = nul ? (size_t)(nul - data) : size, left = size - text_size - 1;
	struct bvgraph_props props;
	bool decoded;
	struct err err;
	struct graph g;

	if (!nul || bvgraph_parse_props((const char *)data, text_size, "fuzz", &props, &err))
		return 0;
	if (props.n_links > 1 << 20)
		return 0;               /* bounded by the test, not by the code */
	decoded = !bvgraph_decode(&props, "fuzz", nul + 1, left, NULL, 0, &g, &err);
	if (decoded)
		check(&g);
	if (size % 10 == 7)
		read_files(data, text_size, nul + 1, left, decoded ? &g : NULL);
	if (decoded)
		graph_release(&g);
	return 0;
}
