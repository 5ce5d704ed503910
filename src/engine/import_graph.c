/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_graph.c - a link graph with URLs becomes pages with links.
 *
 * Each page gets one capture that has nothing but its links, dated by the file
 * itself: no graph says when it was crawled, and its own date is the latest that
 * it can be.  So importing the same file again changes nothing.  A line's `alive`
 * is not looked at: it is a truth to compare with, not something to know.
 *
 * Cost.  The graph is held in memory, as `freshet rank` holds it.
 */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/mem.h"
#include "engine/import.h"
#include "graph/graph_text.h"
#include "web/url.h"

#define BATCH_PAGES 20000

static bool has_scheme(const char *s, const char *end)
{
	const char *colon = memmem(s, (size_t)(end - s), "://", 3);

	return colon && colon - s <= 5 && colon > s;
}

/* "url url" or "url TAB 0|1 TAB ...", blanks between; comments before it. */
bool import_is_graph(const char *s, size_t size)
{
	const char *line_end, *second;
	size_t n;

	for (;; s += n, size -= n) {
		n = 0;
		while (n < size && s[n] != '\n')
			n++;
		if (size && *s != '#' && *s != '%' && *s != '\n' && *s != '\r')
			break;
		if (n++ >= size)
			return false;
	}
	line_end = s + n;
	for (second = s; second < line_end && *second != ' ' && *second != '\t'; second++)
		;
	if (second == line_end || !has_scheme(s, second))
		return false;
	if (*second == '\t' && second + 1 < line_end && (second[1] == '0' || second[1] == '1') &&
	    (second + 2 == line_end || second[2] == '\t' || second[2] == '\r'))
		return true;
	while (second < line_end && (*second == ' ' || *second == '\t'))
		second++;
	return has_scheme(second, line_end);
}

struct graphing {
	struct import *i;
	const struct graph_text *text;
	int64_t time;
	struct buf url, links;
};

static void bad_name(struct graphing *g, const char *path, const char *name,
                     const struct err *why)
{
	char text[900];

	g->i->stats.n_bad++;
	if (!g->i->report)
		return;
	snprintf(text, sizeof text, "%s: %.200s: %s", path, name, why->text);
	g->i->report(g->i->arg, text);
}

static int add_node(struct graphing *g, uint32_t node, const char *path, struct err *err)
{
	const struct graph *graph = &g->text->graph;
	const char *name = strtab_get(&g->text->names, node);
	struct store_capture c = { .status = 200, .time = g->time, .length = -1,
		.bytes_text = -1, .words = -1, .images = -1, .tables = -1, .emails = -1,
		.outlinks = -1, .offset = -1, .size = -1 };
	struct err why;
	int rc;

	buf_clear(&g->url);
	if (url_canonical(name, strlen(name), &g->url, &why) < 0) {
		bad_name(g, path, name, &why);
		return 0;
	}
	rc = store_page_add(g->i->store, (struct text){ g->url.data, g->url.size }, g->i->now,
	                    &c.page, err);
	if (rc < 0)
		return rc;
	g->i->stats.n_pages += rc == 1;
	g->i->stats.n_known += rc == 0;
	buf_clear(&g->links);
	for (uint64_t k = graph->offsets[node]; k < graph->offsets[node + 1]; k++) {
		if (g->links.size)
			buf_byte(&g->links, ' ');
		buf_str(&g->links, strtab_get(&g->text->names, graph->targets[k]));
	}
	if (!g->links.size)
		return 0;
	c.links = (struct text){ g->links.data, g->links.size };
	rc = store_capture_add(g->i->store, &c, err);
	if (rc < 0)
		return rc;
	g->i->stats.n_captures += rc == 1;
	g->i->stats.n_doubles += rc == 0;
	return rc == 1 ? settle_page(g->i->store, c.page, err) : 0;
}

static int add_nodes(struct graphing *g, const char *path, struct err *err)
{
	uint32_t n = g->text->graph.n_nodes;
	int rc = store_begin(g->i->store, err);

	for (uint32_t v = 0; v < n && rc >= 0; v++) {
		rc = add_node(g, v, path, err);
		if (rc >= 0 && (v + 1) % BATCH_PAGES == 0 &&
		    (rc = store_commit(g->i->store, err)) == 0) {
			if (g->i->progress)
				g->i->progress(g->i->arg, v + 1);
			rc = store_begin(g->i->store, err);
		}
	}
	if (rc >= 0)
		return store_commit(g->i->store, err);
	store_rollback(g->i->store);
	return rc;
}

int import_graph(struct import *i, struct input *in, const char *path, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = true };
	struct graph_text_reader *r = graph_text_new(&opts);
	struct graph_text text = { 0 };
	struct graphing g = { .i = i, .text = &text, .time = i->now };
	struct stat st;
	int rc = graph_text_add(r, in, err);

	input_close(in);
	if (rc < 0) {
		graph_text_free(r);
		return rc;
	}
	rc = graph_text_finish(r, &text, err);
	if (rc < 0)
		return rc;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		g.time = st.st_mtime;
	buf_init(&g.url, URL_SIZE_MAX);
	buf_init(&g.links, BUF_NO_LIMIT);
	rc = add_nodes(&g, path, err);
	buf_release(&g.url);
	buf_release(&g.links);
	graph_text_release(&text);
	return rc;
}
