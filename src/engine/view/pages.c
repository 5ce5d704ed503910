/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - sites and the directory forest from canonical URLs; see pages.h.
 *
 * Directories are found by the 64-bit hash of their bytes (host and path, scheme
 * left out).  Neighbouring URLs mostly share their directories, so the chain of
 * the URL before is kept and only what differs is looked up.
 *
 * Cost.  O(bytes of URLs); about 24 bytes a page and 36 a directory.
 */
#include "engine/view/pages.h"

#include "base/buf.h"
#include "base/mem.h"
#include "web/url/url.h"

/* The chain of the previous URL, and the tables that are growing. */
struct builder {
	struct pages *p;
	const struct pages_opts *opts;
	struct map by_hash;
	VEC(uint32_t) parent;
	VEC(uint32_t) site;
	VEC(uint32_t) depth;
	struct buf name;
	const char *last_url;
	struct url_dirs last;
	uint32_t chain[URL_LEVELS_MAX];
};

static uint32_t add_dir(struct builder *b, const char *s, size_t size, uint32_t parent,
                        uint32_t site)
{
	bool fresh;
	uint32_t id = map_intern(&b->by_hash, hash_bytes(s, size, 1),
	                         (uint32_t)b->parent.n, &fresh);

	if (!fresh)
		return id;
	vec_push(&b->parent, parent);
	vec_push(&b->site, site);
	vec_push(&b->depth, parent == DIR_NONE ? 0 : b->depth.v[parent] + 1);
	if (b->opts->dir_names)
		strtab_intern(&b->p->dir_names, s, size, NULL);
	return id;
}

static uint32_t add_site(struct builder *b, const char *url, size_t size)
{
	buf_clear(&b->name);
	url_site(url, size, b->opts->site_by_domain, &b->name);
	return strtab_intern(&b->p->site_names, buf_text(&b->name), b->name.size, NULL);
}

static void place_page(struct builder *b, uint32_t i)
{
	const char *url = pages_url(b->p, i);
	size_t size = pages_url_size(b->p, i);
	struct url_dirs d;
	uint32_t shared = 0, dir, site;

	url_dirs(url, size, &d);
	if (b->last_url) {
		while (shared < d.n && shared < b->last.n &&
		       d.end[shared] - d.begin == b->last.end[shared] - b->last.begin &&
		       !memcmp(url + d.begin, b->last_url + b->last.begin,
		               d.end[shared] - d.begin))
			shared++;
	}
	site = shared ? b->site.v[b->chain[0]] : add_site(b, url, size);
	for (uint32_t k = shared; k < d.n; k++)
		b->chain[k] = add_dir(b, url + d.begin, d.end[k] - d.begin,
		                      k ? b->chain[k - 1] : DIR_NONE, site);
	dir = b->chain[d.n - 1];
	b->last = d;
	b->last_url = url;
	buf_clear(&b->name);
	if (memchr(url, '?', size) && url_query_dir(url, size, &b->name))
		dir = add_dir(b, buf_text(&b->name), b->name.size, dir, site);
	b->p->dir[i] = dir;
	b->p->site[i] = site;
}

/* first[g] .. first[g + 1]: the items of group g, in ascending order. */
static void group(const uint32_t *of, uint32_t n, uint32_t n_groups, uint32_t **ret_first,
                  uint32_t **ret_items)
{
	uint32_t *first = mem_zalloc((size_t)n_groups + 1, sizeof *first);
	uint32_t *items = mem_array(n, sizeof *items);

	for (uint32_t i = 0; i < n; i++)
		if (of[i] != DIR_NONE)
			first[of[i] + 1]++;
	for (uint32_t g = 0; g < n_groups; g++)
		first[g + 1] += first[g];
	for (uint32_t i = 0; i < n; i++)
		if (of[i] != DIR_NONE)
			items[first[of[i]]++] = i;
	for (uint32_t g = n_groups; g > 0; g--)
		first[g] = first[g - 1];
	first[0] = 0;
	*ret_first = first;
	*ret_items = items;
}

/* Mark directories that hold one settled page and nothing below.  The first n_dirs directories
 * are those of settled pages. */
static uint8_t *find_alone(const struct pages *p, const struct builder *b, size_t n_dirs)
{
	uint8_t *alone = mem_zalloc(b->parent.n, sizeof *alone);

	for (uint32_t i = 0; i < p->n_settled; i++)
		alone[p->dir[i]] = alone[p->dir[i]] ? 2 : 1;
	for (size_t d = 0; d < n_dirs; d++)
		if (b->parent.v[d] != DIR_NONE)
			alone[b->parent.v[d]] = 2;
	for (size_t d = 0; d < b->parent.n; d++)
		alone[d] = alone[d] == 1;
	return alone;
}

static void finish_tree(struct builder *b)
{
	struct pages *p = b->p;
	struct tree *t = &p->tree;
	uint32_t *first, *items;

	t->n_dirs = (uint32_t)b->parent.n;
	t->n_sites = p->site_names.n;
	t->dir_parent = b->parent.v;
	t->dir_site = b->site.v;
	t->dir_depth = b->depth.v;
	group(p->dir, p->n, t->n_dirs, &first, &items);
	t->dir_first = first;
	t->dir_pages = items;
	group(b->parent.v, t->n_dirs, t->n_dirs, &first, &items);
	t->child_first = first;
	t->child_dirs = items;
	group(p->site, p->n, t->n_sites, &first, &items);
	t->site_first = first;
	t->site_pages = items;
}

void pages_init(struct pages *p, char *pool, uint64_t *offset, uint32_t n,
                const struct pages_opts *opts)
{
	struct builder b = { .p = p, .opts = opts };
	uint32_t settled = opts->n_settled && opts->n_settled < n ? opts->n_settled : n;
	size_t n_dirs = 0;

	*p = (struct pages){ .n = n, .n_settled = settled, .pool = pool, .offset = offset,
	                     .borrowed = opts->borrow };
	p->site = mem_array(n, sizeof *p->site);
	p->dir = mem_array(n, sizeof *p->dir);
	buf_init(&b.name, BUF_NO_LIMIT);
	for (uint32_t i = 0; i < n; i++) {
		place_page(&b, i);
		n_dirs = i < settled ? b.parent.n : n_dirs;
	}
	p->tree.dir_alone = find_alone(p, &b, n_dirs);
	finish_tree(&b);
	map_release(&b.by_hash);
	buf_release(&b.name);
}

void pages_release(struct pages *p)
{
	const struct tree *t = &p->tree;
	const uint32_t *const all[] = {
		t->dir_parent, t->dir_site, t->dir_depth, t->dir_first, t->dir_pages,
		t->child_first, t->child_dirs, t->site_first, t->site_pages, p->site, p->dir,
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free((void *)(uintptr_t)all[i]);
	free((void *)(uintptr_t)t->dir_alone);
	if (!p->borrowed) {
		free(p->pool);
		free(p->offset);
	}
	strtab_release(&p->site_names);
	strtab_release(&p->dir_names);
	*p = (struct pages){ 0 };
}

void visits_init(struct visits *v, uint32_t n, int64_t start)
{
	v->state = mem_zalloc(n, sizeof *v->state);
	v->last_cycle = mem_zalloc(n, sizeof *v->last_cycle);
	v->last_visit = mem_array(n, sizeof *v->last_visit);
	for (uint32_t i = 0; i < n; i++)
		v->last_visit[i] = start;
}

void visits_release(struct visits *v)
{
	free(v->state);
	free(v->last_cycle);
	free(v->last_visit);
	*v = (struct visits){ 0 };
}

void pages_view(const struct pages *p, const struct visits *visits, struct view *v)
{
	v->n_pages = p->n;
	v->n_settled = p->n_settled;
	v->state = visits->state;
	v->last_cycle = visits->last_cycle;
	v->last_visit = visits->last_visit;
	v->site = p->site;
	v->dir = p->dir;
	v->url_pool = p->pool;
	v->url_offset = p->offset;
	v->tree = &p->tree;
}
