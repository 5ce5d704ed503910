/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_file.h - a graph as a file that is mapped, not read.
 *
 * Layout, in the machine's own byte order, which the header tells: 64 bytes of
 * header, n_nodes + 1 offsets of 8 bytes, n_links targets of 4 bytes.  The
 * header carries a checksum of itself and one of the rest (XXH3 of the XXH3s of
 * 16 MiB pieces, so that all processors can check at once).
 */
#ifndef GRAPH_GRAPH_FILE_H
#define GRAPH_GRAPH_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "graph/graph.h"

/* Writes a temporary file and renames it: the file is complete or not there. */
MUST_CHECK int graph_file_save(const struct graph *g, const char *path, struct err *err);
/* Map it.  The header and the size are always checked; with `verify` also every
 * byte, which reads the file once.  Without it, only map what you wrote. */
MUST_CHECK int graph_file_map(const char *path, bool verify, struct graph *ret,
                              struct err *err);
/* Does the file begin like one of these? */
bool graph_file_is(const char *path);

#endif
