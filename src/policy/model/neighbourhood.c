/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbourhood.c - walks by links and directories; see neighbourhood.h.
 *
 * Directories.  With the directory forest, the paper's token distance of two
 * pages in directories a and b whose lowest common ancestor is l is
 * depth(a) - depth(l) + depth(b) - depth(l): 0 in the same directory.  Positive
 * is up (or sideways, "cousins"), negative is down.
 *
 * Links.  Siblings (pages that share a parent) are at 0 even where paths exist;
 * otherwise the shortest path counts, +h along out-links, -h along in-links.
 * Only links within the site of the sample are walked.
 *
 * Clusters.  0: the same cluster; else the rank of the page's cluster among all
 * by distance of centroids.
 *
 * Cost.  O(pages and links touched).  Marks carry a stamp, so they need no clearing.  A
 * directory without an open page is not read again in that cycle.  A page from which a
 * walk went h hops is not expanded again in that cycle by a walk of h or fewer hops.  So
 * all walks of a cycle together cost O(D * links).
 */
#include "policy/model/neighbourhood.h"


#include "graph/graph.h"

enum { MARK_FOUND = 1, MARK_QUEUED = 2, MARK_BITS = 3 };

static void prepare(struct neighbourhood *n, const struct view *v)
{
	if (n->n_pages != v->n_pages || n->n_dirs != v->tree->n_dirs || !n->page_mark) {
		free(n->page_mark);
		free(n->dir_spent);
		free(n->walked);
		n->page_mark = mem_zalloc(v->n_pages, sizeof *n->page_mark);
		n->dir_spent = mem_zalloc(v->tree->n_dirs, sizeof *n->dir_spent);
		n->walked = v->links ? mem_zalloc(v->n_pages, sizeof *n->walked) : NULL;
		n->n_pages = v->n_pages;
		n->n_dirs = v->tree->n_dirs;
	}
	if (++n->stamp >= UINT32_MAX >> 2) {
		memset(n->page_mark, 0, n->n_pages * sizeof *n->page_mark);
		n->stamp = 1;
	}
	n->pages.n = n->queue.n = 0;
}

/* Sets a mark of this walk; false if it was set already. */
static bool mark(struct neighbourhood *n, uint32_t page, uint32_t bit)
{
	uint32_t m = n->page_mark[page];

	if (m >> 2 != n->stamp)
		m = n->stamp << 2;
	if (m & bit)
		return false;
	n->page_mark[page] = m | bit;
	return true;
}

static void found(struct neighbourhood *n, const struct view *v, uint32_t page)
{
	if (view_open(v, page) && mark(n, page, MARK_FOUND))
		vec_push(&n->pages, page);
}

static void add_directory(struct neighbourhood *n, const struct view *v, uint32_t dir)
{
	const struct tree *t = v->tree;
	bool open = false;

	if (n->dir_spent[dir] == v->cycle)
		return;
	for (uint32_t i = t->dir_first[dir]; i < t->dir_first[dir + 1]; i++) {
		open |= view_open(v, t->dir_pages[i]);
		found(n, v, t->dir_pages[i]);
	}
	if (!open)
		n->dir_spent[dir] = v->cycle;
}

/* Directories 1..levels below `top`, level by level, without branch `skip`. */
static void add_below(struct neighbourhood *n, const struct view *v, uint32_t top,
                      int levels, uint32_t skip)
{
	const struct tree *t = v->tree;
	size_t from = 0, to;

	n->queue.n = 0;
	vec_push(&n->queue, top);
	for (int level = 0; level < levels && from < n->queue.n; level++) {
		to = n->queue.n;
		for (; from < to; from++) {
			uint32_t dir = n->queue.v[from];

			for (uint32_t i = t->child_first[dir]; i < t->child_first[dir + 1]; i++) {
				if (t->child_dirs[i] == skip)
					continue;
				add_directory(n, v, t->child_dirs[i]);
				vec_push(&n->queue, t->child_dirs[i]);
			}
		}
	}
}

static void by_directory(struct neighbourhood *n, const struct view *v, uint32_t page,
                         int d, bool cousins)
{
	const struct tree *t = v->tree;
	uint32_t dir = v->dir[page], branch = DIR_NONE;

	if (d < 0) {
		add_directory(n, v, dir);
		add_below(n, v, dir, -d, DIR_NONE);
		return;
	}
	for (int k = 0; k <= d && dir != DIR_NONE; k++) {
		add_directory(n, v, dir);
		if (cousins && k > 0)
			add_below(n, v, dir, k < d - k ? k : d - k, branch);
		branch = dir;
		dir = t->dir_parent[dir];
	}
}

static struct walked *walked(struct neighbourhood *n, const struct view *v, uint32_t page)
{
	struct walked *w = &n->walked[page];

	if (w->cycle != v->cycle)
		*w = (struct walked){ .cycle = v->cycle };
	return w;
}

static void add_siblings(struct neighbourhood *n, const struct view *v, uint32_t page,
                         size_t enough)
{
	uint64_t n_in, n_out;
	const uint32_t *in = graph_links(v->links_in, page, &n_in);

	for (uint64_t i = 0; i < n_in && n->pages.n < enough; i++) {
		struct walked *parent = walked(n, v, in[i]);
		const uint32_t *out;

		if (v->site[in[i]] != v->site[page] || parent->parent)
			continue;
		out = graph_links(v->links, in[i], &n_out);
		for (uint64_t j = 0; j < n_out; j++)
			if (v->site[out[j]] == v->site[page])
				found(n, v, out[j]);
		parent->parent = 1;
	}
}

/* Breadth first over the site of `page`, `depth` hops. */
static void walk_links(struct neighbourhood *n, const struct view *v, const struct graph *g,
                       uint32_t page, int depth, size_t enough)
{
	size_t from = 0, to;

	n->queue.n = 0;
	mark(n, page, MARK_QUEUED);
	vec_push(&n->queue, page);
	for (int left = depth; left > 0 && from < n->queue.n; left--) {
		for (to = n->queue.n; from < to; from++) {
			uint64_t n_links;
			const uint32_t *link = graph_links(g, n->queue.v[from], &n_links);
			struct walked *w = walked(n, v, n->queue.v[from]);

			if (w->reach >= left)
				continue;
			w->reach = (uint8_t)left;
			for (uint64_t i = 0; i < n_links; i++) {
				if (v->site[link[i]] != v->site[page] ||
				    !mark(n, link[i], MARK_QUEUED))
					continue;
				found(n, v, link[i]);
				vec_push(&n->queue, link[i]);
			}
			if (n->pages.n >= enough)
				return;
		}
	}
}

static void by_link(struct neighbourhood *n, const struct view *v, uint32_t page, int d,
                    size_t enough)
{
	add_siblings(n, v, page, enough);
	if (d)
		walk_links(n, v, d > 0 ? v->links : v->links_in, page, d > 0 ? d : -d, enough);
	/* stopped early: the rest may be needed later, since blocked pages cost no budget
	 * */
	if (n->pages.n >= enough)
		memset(n->walked, 0, n->n_pages * sizeof *n->walked);
}

static void by_cluster(struct neighbourhood *n, const struct view *v, uint32_t page, int d)
{
	struct grouping *g = &n->groups;
	const uint32_t *near;

	if (g->of[page] == CLUSTER_NONE)
		return;
	near = grouping_near(g, g->of[page]);
	for (uint32_t rank = 0; rank <= (uint32_t)d && rank < g->n_groups; rank++) {
		uint32_t group = near[rank];
		bool open = false;

		if (g->spent[group] == v->cycle)
			continue;
		for (uint32_t i = g->first[group]; i < g->first[group + 1]; i++) {
			open |= view_open(v, g->pages[i]);
			found(n, v, g->pages[i]);
		}
		if (!open)
			g->spent[group] = v->cycle;
	}
}

void neighbourhood_find(struct neighbourhood *n, const struct view *v, uint32_t page,
                        enum near_by by, int d, bool cousins, size_t enough)
{
	prepare(n, v);
	mark(n, page, MARK_FOUND);      /* never its own neighbour */
	if (by == NEAR_DIR)
		by_directory(n, v, page, d, cousins);
	else if (by == NEAR_LINK)
		by_link(n, v, page, d, enough);
	else
		by_cluster(n, v, page, d);
}

void neighbourhood_release(struct neighbourhood *n)
{
	vec_release(&n->pages);
	vec_release(&n->queue);
	free(n->page_mark);
	free(n->dir_spent);
	free(n->walked);
	grouping_release(&n->groups);
	*n = (struct neighbourhood){ 0 };
}
