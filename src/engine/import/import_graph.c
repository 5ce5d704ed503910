/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_graph.c - a link graph with URLs becomes pages with links.
 *
 * Each page gets one capture that has nothing but its links, dated by the file
 * itself: no graph says when it was crawled, and its own date is the latest that
 * it can be.  So importing the same file again changes nothing.  A line's `alive`
 * is not looked at: it is a truth to compare with, not something to know.
 *
 * A BVGraph knows numbers only: its URLs are looked for beside it, one a line in the
 * order of its nodes, as WebGraph's data sets bring them (BASE.urls, packed or not).
 *
 * Cost.  The graph is held in memory, as `freshet rank` holds it.  Pages and captures go to the
 * store by the thousand.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/input.h"
#include "engine/import/import.h"
#include "graph/bvgraph.h"
#include "graph/graph_text.h"
#include "web/url/url.h"

#define BATCH_PAGES 20000
#define PART_PAGES 1000         /* that go to the store in one call, */
#define PART_BYTES ((size_t)8 << 20)    /* or fewer: of URLs and links */

struct graphing {
	struct import *i;
	const struct graph *graph;
	const struct strtab *names;     /* by node */
	int64_t time;
	struct buf url, links;
	struct arena texts;             /* of the part that waits */
	VEC(struct store_page) pages;   /* it */
	VEC(struct text) linked;        /* the links of each */
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

/* The captures of the part: pages that are taken, and have links. */
static int put_captures(struct graphing *g, const uint8_t *came, struct err *err)
{
	VEC(struct store_capture) rows = { 0 };
	VEC(uint32_t) added = { 0 };
	uint8_t *what = mem_zalloc(g->pages.n + 1, 1);
	int rc;

	for (size_t k = 0; k < g->pages.n; k++) {
		struct store_capture c = { .page = g->pages.v[k].number, .status = 200,
			.time = g->time, .length = -1, .bytes_text = -1, .words = -1, .images = -1,
			.tables = -1, .emails = -1, .outlinks = -1, .offset = -1, .size = -1,
			.links = g->linked.v[k] };

		if (came[k] != IMPORT_OUTSIDE && c.links.size)
			vec_push(&rows, c);
	}
	rc = store_captures_put(g->i->store, rows.v, rows.n, STORE_FIRST, what, err);
	for (size_t k = 0; k < rows.n && rc == 0; k++) {
		g->i->stats.n_captures += what[k] == STORE_ADDED;
		g->i->stats.n_doubles += what[k] != STORE_ADDED;
		if (what[k] == STORE_ADDED)
			vec_push(&added, rows.v[k].page);
	}
	if (rc == 0)
		rc = import_visits_rewrite(g->i->store, g->i->detectors, added.v, added.n, err);
	vec_release(&rows);
	vec_release(&added);
	free(what);
	return rc;
}

static int write_part(struct graphing *g, struct err *err)
{
	uint8_t *came = mem_zalloc(g->pages.n + 1, 1);
	int rc = import_pages(g->i, g->pages.v, g->pages.n, came, err);

	for (size_t k = 0; k < g->pages.n && rc == 0; k++)
		g->i->stats.n_known += came[k] == 0;
	if (rc == 0)
		rc = put_captures(g, came, err);
	g->pages.n = g->linked.n = 0;
	arena_reset(&g->texts);
	free(came);
	return rc;
}

static struct text keep(struct graphing *g, const struct buf *b)
{
	return (struct text){ arena_strndup(&g->texts, buf_text(b), b->size), b->size };
}

static int add_node(struct graphing *g, uint32_t node, const char *path, struct err *err)
{
	const struct graph *graph = g->graph;
	const char *name = strtab_get(g->names, node);
	struct store_page p = { .added = g->i->now, .weight = 1 };
	struct err why;

	buf_clear(&g->url);
	if (url_canonical(name, strlen(name), &g->url, &why) < 0) {
		bad_name(g, path, name, &why);
		return 0;
	}
	p.url = keep(g, &g->url);
	if (strcmp(name, p.url.s) && strlen(name) <= URL_SIZE_MAX)
		p.given = (struct text){ name, strlen(name) };
	buf_clear(&g->links);
	for (uint64_t k = graph->offsets[node]; k < graph->offsets[node + 1]; k++) {
		if (g->links.size)
			buf_byte(&g->links, ' ');
		buf_str(&g->links, strtab_get(g->names, graph->targets[k]));
	}
	vec_push(&g->pages, p);
	vec_push(&g->linked, keep(g, &g->links));
	return g->pages.n < PART_PAGES && g->texts.total < PART_BYTES ? 0 : write_part(g, err);
}

static int add_nodes(struct graphing *g, const char *path, struct err *err)
{
	uint32_t n = g->graph->n_nodes;
	int rc = store_begin(g->i->store, err);

	for (uint32_t v = 0; v < n && rc >= 0; v++) {
		rc = add_node(g, v, path, err);
		if (rc >= 0 && (v + 1) % BATCH_PAGES == 0 && (rc = write_part(g, err)) == 0 &&
		    (rc = import_commit(g->i, err)) == 0) {
			rc = store_begin(g->i->store, err);
			if (rc == 0)
				rc = import_show(g->i, v + 1, err);
		}
	}
	if (rc >= 0)
		rc = write_part(g, err);
	if (rc >= 0)
		return import_commit(g->i, err);
	store_rollback(g->i->store);
	import_forget(g->i);
	return rc;
}

static int add_graph(struct import *i, const struct graph *graph, const struct strtab *names,
                     const char *path, struct err *err)
{
	struct graphing g = { .i = i, .graph = graph, .names = names, .time = i->now };
	struct stat st;
	int rc;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		g.time = st.st_mtime;
	buf_init(&g.url, URL_SIZE_MAX);
	buf_init(&g.links, BUF_NO_LIMIT);
	rc = add_nodes(&g, path, err);
	buf_release(&g.url);
	buf_release(&g.links);
	arena_release(&g.texts);
	vec_release(&g.pages);
	vec_release(&g.linked);
	return rc;
}

int import_link(const char *page, size_t page_size, const char *link, size_t link_size,
                struct buf *out)
{
	return page ? url_resolve(page, page_size, link, link_size, out, NULL) :
		url_canonical(link, link_size, out, NULL);
}

int import_graph(struct import *i, struct input *in, const char *path, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = true };
	struct graph_text_reader *r = graph_text_new(&opts, import_link);
	struct graph_text text = { 0 };
	int rc = graph_text_add(r, in, err);

	input_close(in);
	if (rc < 0) {
		graph_text_free(r);
		return rc;
	}
	rc = graph_text_finish(r, &text, err);
	if (rc < 0)
		return rc;
	rc = add_graph(i, &text.graph, &text.names, path, err);
	graph_text_release(&text);
	return rc;
}

/* "x.graph", "x.properties" or "x" -> "x", if there is an x.properties. */
static bool find_base(const char *path, char *out, size_t size)
{
	static const char *const ends[] = { ".graph", ".properties", "" };
	size_t n = strlen(path);

	for (size_t i = 0; i < 3; i++) {
		size_t e = strlen(ends[i]);
		char properties[4096];

		if (n <= e || strcmp(path + n - e, ends[i]))
			continue;
		if ((size_t)snprintf(properties, sizeof properties, "%.*s.properties", (int)(n - e),
		                     path) < sizeof properties && !access(properties, R_OK))
			return (size_t)snprintf(out, size, "%.*s", (int)(n - e), path) < size;
	}
	return false;
}

bool import_is_bvgraph(const char *path)
{
	char base[4096];

	return find_base(path, base, sizeof base);
}

static int open_urls(struct input **ret, const char *base, struct err *err)
{
	static const char *const ends[] = { ".urls", ".urls.gz", ".urls.zst" };
	char path[4200];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s%s", base, ends[i]);
		if (!access(path, R_OK))
			return input_open(ret, path, err);
	}
	return err_set(err, E_IO, "%s: a BVGraph has numbers, and pages want URLs: put %s.urls beside "
	               "it, one URL a line (.gz, .zst); `freshet rank` does without", base, base);
}

static int read_urls(struct strtab *names, const char *base, uint32_t n, struct err *err)
{
	struct input *in;
	char *line;
	size_t size;
	int rc = open_urls(&in, base, err);

	if (rc < 0)
		return rc;
	while (names->n < n && (rc = input_line(in, IMPORT_LINE_MAX, &line, &size, err)) > 0) {
		uint32_t before = names->n;

		while (size && isspace((unsigned char)line[size - 1]))
			size--;
		if (strtab_intern(names, line, size, NULL) != before) {
			rc = err_set(err, E_PARSE, "%s.urls: line %u: this URL was there before", base,
			             before + 1);
			break;
		}
	}
	input_close(in);
	if (rc >= 0 && names->n < n)
		rc = err_set(err, E_PARSE, "%s.urls has %u lines, the graph %u nodes", base, names->n, n);
	return rc < 0 ? rc : 0;
}

int import_bvgraph(struct import *i, const char *path, struct err *err)
{
	struct strtab names = { 0 };
	struct graph graph = { 0 };
	struct input *in;
	char base[4096];
	int rc;

	if (!find_base(path, base, sizeof base))
		return err_set(err, E_IO, "%s: no .properties file beside it", path);
	rc = open_urls(&in, base, err);         /* before the graph is read for nothing */
	if (rc < 0)
		return rc;
	input_close(in);
	rc = bvgraph_read(base, &graph, err);
	if (rc == 0)
		rc = read_urls(&names, base, graph.n_nodes, err);
	if (rc == 0) {
		snprintf(base + strlen(base), sizeof base - strlen(base), ".graph");
		rc = add_graph(i, &graph, &names, base, err);
	}
	strtab_release(&names);
	graph_release(&graph);
	return rc;
}
