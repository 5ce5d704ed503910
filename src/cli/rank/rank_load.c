/* SPDX-License-Identifier: Apache-2.0 */
/* rank_load.c - reads graphs and truth files for `freshet rank`. */
#include "cli/rank/rank_load.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/frame/repository.h"
#include "engine/archive/archive.h"
#include "engine/import/import.h"
#include "engine/view/inventory.h"
#include "graph/bvgraph.h"
#include "graph/graph_file.h"

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), e = strlen(end);

	return n > e && !strcmp(s + n - e, end);
}

static bool is_bvgraph(const char *path)
{
	char properties[4096];

	snprintf(properties, sizeof properties, "%s.properties", path);
	return ends_with(path, ".graph") || ends_with(path, ".properties") ||
		access(properties, R_OK) == 0;
}

/* Refuse archives and indexes: a line of CDX would look like a link. */
static int refuse_archive(struct input *in, struct err *err)
{
	enum archive_kind kind;
	int rc = archive_sniff(in, &kind, err);

	if (rc < 0 || kind == ARCHIVE_URLS || kind == ARCHIVE_GRAPH ||
	    kind == ARCHIVE_UNKNOWN)
		return rc;
	return err_set(err, E_USAGE, "%s: looks like a %s and no graph: `freshet import` it into a "
	               "repository, then `freshet -C DIR rank`", input_name(in),
	               archive_kind_name(kind));
}

static int load_texts(struct graph_text *ret, int n, char **files, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = true };
	struct graph_text_reader *r = graph_text_new(&opts, import_link);

	for (int i = 0; i < n; i++) {
		struct input *in;
		int rc = input_open(&in, files[i], err);

		if (rc == 0) {
			rc = refuse_archive(in, err);
			if (rc == 0)
				rc = graph_text_add(r, in, err);
			input_close(in);
		}
		if (rc < 0) {
			graph_text_free(r);
			return rc;
		}
	}
	return graph_text_finish(r, ret, err);
}

/* The site of a page is its host: the text between "://" and the next '/'. */
static void find_sites(struct rank_graph *g)
{
	const struct strtab *names = &g->text.names;
	struct strtab hosts = { 0 };

	if (!names->n || !strstr(strtab_get(names, 0), "://"))
		return;
	g->sites = mem_array(names->n, sizeof *g->sites);
	for (uint32_t v = 0; v < names->n; v++) {
		const char *s = strtab_get(names, v), *host = strstr(s, "://");

		host = host ? host + 3 : s;
		g->sites[v] = strtab_intern(&hosts, host, strcspn(host, "/?#"), NULL);
	}
	g->n_sites = hosts.n;
	strtab_release(&hosts);
}

static void count_alive(struct rank_graph *g)
{
	g->n_alive = 0;
	for (uint32_t v = 0; g->text.alive && v < g->text.graph.n_nodes; v++)
		g->n_alive += g->text.alive[v] != 0;
}

int rank_load(struct rank_graph *ret, int n_files, char **files, struct err *err)
{
	struct rank_graph g = { 0 };
	int rc;

	for (int i = 0; n_files > 1 && i < n_files; i++)
		if (graph_file_is(files[i]) || ends_with(files[i], ".graph"))
			return err_set(err, E_USAGE, "%s: only texts can be joined to one graph",
			               files[i]);
	if (graph_file_is(files[0]))
		rc = graph_file_map(files[0], true, &g.text.graph, err);
	else if (n_files == 1 && is_bvgraph(files[0]))
		rc = bvgraph_read(files[0], &g.text.graph, err);
	else
		rc = load_texts(&g.text, n_files, files, err);
	if (rc < 0)
		return rc;
	find_sites(&g);
	count_alive(&g);
	*ret = g;
	return 0;
}

int rank_load_repository(struct rank_graph *ret, struct cli *cli, struct err *err)
{
	struct inventory_opts opts = { .needs = NEED_LINKS, .goal = GOAL_ALIVE };
	struct rank_graph g = { .text.kind = GRAPH_TEXT_NAMES };
	struct inventory v;
	struct store *s = NULL;
	int rc = repository_read(cli, &s, err);

	if (rc < 0)
		return rc;
	rc = inventory_open(&v, s, &opts, err);
	if (rc == 0) {
		const struct pages *pages = &v.loaded.pages;

		for (uint32_t i = 0; i < pages->n; i++)
			strtab_intern(&g.text.names, pages_url(pages, i),
			              pages_url_size(pages, i), NULL);
		g.text.graph = v.prepared.links;
		v.prepared.links = (struct graph){ 0 };
		find_sites(&g);
		*ret = g;
	}
	inventory_release(&v);
	store_close(s);
	return rc;
}

void rank_release(struct rank_graph *g)
{
	graph_text_release(&g->text);
	free(g->sites);
	*g = (struct rank_graph){ 0 };
}

static uint32_t find_node(const struct rank_graph *g, const char *s, size_t n)
{
	uint64_t v = 0;

	if (g->text.names.n) {
		uint32_t found = strtab_find(&g->text.names, s, n);
		struct buf url;

		if (found != MAP_NONE)
			return found;
		buf_init(&url, GRAPH_TEXT_LINE_MAX);    /* try its canonical form */
		if (import_link(NULL, 0, s, n, &url) == 0)
			found = strtab_find(&g->text.names, url.data, url.size);
		buf_release(&url);
		return found;
	}
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || i > 9)
			return MAP_NONE;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	return n && v < g->text.graph.n_nodes ? (uint32_t)v : MAP_NONE;
}

/* Read one line of a truth file; returns how many words name no node. */
static uint64_t take_line(struct rank_graph *g, const char *p, const char *end,
                          uint8_t *alive)
{
	const char *tab = memchr(p, '\t', (size_t)(end - p));
	uint64_t unknown = 0;

	if (tab && tab + 1 < end && (tab[1] == '0' || tab[1] == '1') &&
	    (tab + 2 == end || tab[2] == '\t')) {
		uint32_t v = find_node(g, p, (size_t)(tab - p));

		if (v == MAP_NONE)
			return 1;
		alive[v] = tab[1] == '1';
		return 0;
	}
	while (p < end) {
		size_t n = strcspn(p, " \t");
		uint32_t v = n ? find_node(g, p, n) : MAP_NONE;

		if (v != MAP_NONE)
			alive[v] = 1;
		else
			unknown += n > 0;
		p += n + 1;
	}
	return unknown;
}

int rank_load_truth(struct rank_graph *g, const char *path, struct err *err)
{
	uint8_t *alive = mem_zalloc((size_t)g->text.graph.n_nodes + 1, 1);
	uint64_t unknown = 0;
	struct input *in;
	char *line;
	size_t size;
	int rc = input_open(&in, path, err);

	if (rc < 0) {
		free(alive);
		return rc;
	}
	while ((rc = input_line(in, GRAPH_TEXT_LINE_MAX, &line, &size, err)) > 0)
		if (size && *line != '#' && *line != '%')
			unknown += take_line(g, line, line + size, alive);
	input_close(in);
	if (rc < 0) {
		free(alive);
		return rc;
	}
	if (unknown)
		log_info("%s: %llu names are not in the graph", path,
		         (unsigned long long)unknown);
	free(g->text.alive);
	g->text.alive = alive;
	count_alive(g);
	return 0;
}
