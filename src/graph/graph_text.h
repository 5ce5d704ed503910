/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_text.h - graphs as text: lists of links, and adjacency by URL.
 *
 *   link list    from to          numbers, or names (URLs), one link a line, blanks
 *                                 or tabs between; what follows is ignored
 *   adjacency    url TAB alive TAB link link ...
 *                                 alive is 0 or 1; a link counts if its target
 *                                 is a page of the set
 *
 * Lines that begin with # or % are comments.  The first line that is none
 * decides the kind of the file; several files of one kind make one graph.  Names are
 * bytes here.  The caller's resolver turns the names and links of an adjacency file
 * ("/x", "../x", another spelling) into one form.  Compressed files are read, too
 * (base/io/input.h).
 */
#ifndef GRAPH_GRAPH_TEXT_H
#define GRAPH_GRAPH_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io/input.h"
#include "base/map.h"
#include "graph/graph.h"

#define GRAPH_TEXT_LINE_MAX ((size_t)64 << 20)

enum graph_text_kind {
	GRAPH_TEXT_UNKNOWN, GRAPH_TEXT_NUMBERS, GRAPH_TEXT_NAMES, GRAPH_TEXT_ADJACENCY
};

struct graph_text {
	struct graph graph;
	enum graph_text_kind kind;
	struct strtab names;            /* by node; empty with numbers */
	uint8_t *alive;                 /* by node; adjacency only, else NULL */
	uint64_t n_outside;             /* links whose target is no page of the set */
};

struct graph_text_reader;

/* Append `link` resolved against `page`; page NULL: link is itself the name of a page.
 * Negative: it cannot be resolved, and its bytes are used. */
typedef int graph_text_resolve(const char *page, size_t page_size, const char *link,
                               size_t link_size, struct buf *out);

/* resolve: for adjacency files; NULL: all names are bytes. */
struct graph_text_reader *graph_text_new(const struct graph_build_opts *opts,
                                         graph_text_resolve *resolve);
/* Read one more file; E_PARSE tells its name and the line. */
MUST_CHECK int graph_text_add(struct graph_text_reader *r, struct input *in,
                              struct err *err);
/* The graph of all of them; frees the reader, also on failure. */
MUST_CHECK int graph_text_finish(struct graph_text_reader *r, struct graph_text *ret,
                                 struct err *err);
void graph_text_free(struct graph_text_reader *r);      /* NULL is fine */
void graph_text_release(struct graph_text *t);

/* A link a line; by name if names is not NULL.  False: writing failed. */
bool graph_text_write(const struct graph *g, const struct strtab *names, FILE *out);

#endif
