/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory_links.c - the links between the pages of a repository; see inventory.h.
 *
 * Cost.  One pass over all captures, and a hash of every URL; meanwhile 18 bytes a page
 * and 4 a link besides the graph.  So they are kept for the rest of the epoch
 * (kept_links.h), and then read in one piece.
 */
#include "engine/view/inventory.h"

#include "base/map.h"
#include "base/mem.h"
#include "engine/view/kept_links.h"
#include "web/url/url.h"

/*
 * The links of each settled page as page numbers: from its newest capture before links were
 * renewed, or from its first if that came later.  (In replay, links are those at the start.)
 */
struct linking {
	const struct pages *pages;
	struct map by_url;
	VEC(uint32_t) targets;
	struct progress *progress;
	uint8_t *size;                  /* of each page, or NULL */
	uint64_t *first;                /* of each page: where its links begin */
	uint32_t *count;
	uint8_t *copied;                /* by page: we have a copy */
	uint8_t *linked;                /* its links are read */
	const struct epoch *epoch;
	uint32_t page;                  /* page of the last links in the list, or STORE_NONE */
	struct buf raw, base, url;
};

/* Captures come page by page, and the links of the last one count.  It is known to be the
 * last when the next page begins. */
static void resolve_links(struct linking *l)
{
	struct text rest = { buf_text(&l->raw), l->raw.size }, link;

	if (l->page == STORE_NONE)
		return;
	l->first[l->page] = l->targets.n;
	while (text_word(&rest, &link)) {
		uint32_t to;

		buf_clear(&l->url);
		if (url_resolve(l->base.data, l->base.size, link.s, link.size, &l->url, NULL) == 0) {
			to = map_get(&l->by_url, hash_bytes(l->url.data, l->url.size, 0));
			if (to != MAP_NONE) {
				vec_push(&l->targets, to);
				l->count[l->page]++;
			}
		}
	}
	l->page = STORE_NONE;
}

static int read_links(void *arg, const struct store_capture *c, struct err *err)
{
	struct linking *l = arg;

	if (c->page != l->page)
		resolve_links(l);
	if (l->progress && progress_set(l->progress, c->page))
		return err_set(err, E_STOP, "the reading of links was stopped");
	if ((c->status >= 300 && c->status != 304) ||   /* the target of a redirect is no link */
	    c->time >= l->epoch->until || c->page >= l->pages->n_settled)
		return 0;
	if (l->size && !c->revisit && (c->words >= 0 || c->length >= 0) &&
	    (!l->size[c->page] || c->time < l->epoch->renewed))
		l->size[c->page] = size_class(c->words, c->length);
	l->copied[c->page] = 1;
	if (!c->links.s || (l->linked[c->page] && c->time >= l->epoch->renewed))
		return 0;
	l->linked[c->page] = 1;
	l->page = c->page;
	buf_clear(&l->raw);
	buf_clear(&l->base);
	buf_add(&l->raw, c->links.s, c->links.size);
	if (c->target.s)
		buf_add(&l->base, c->target.s, c->target.size);
	else
		buf_add(&l->base, pages_url(l->pages, c->page), pages_url_size(l->pages, c->page));
	return 0;
}

/* Remove links to pages without a copy. */
static void drop_uncopied(struct linking *l)
{
	for (uint32_t i = 0; i < l->pages->n_settled; i++) {
		uint32_t *to = l->targets.v + l->first[i], kept = 0;

		for (uint32_t k = 0; k < l->count[i]; k++)
			if (l->copied[to[k]])
				to[kept++] = to[k];
		l->count[i] = kept;
	}
}

static const uint32_t *links_of(const void *from, uint32_t page, size_t *ret_n)
{
	const struct linking *l = from;

	*ret_n = l->count[page];
	return l->targets.v + l->first[page];
}

static void linking_init(struct linking *l, unsigned needs)
{
	const struct pages *p = l->pages;

	l->first = mem_zalloc(p->n, sizeof *l->first);
	l->count = mem_zalloc(p->n, sizeof *l->count);
	l->size = needs & NEED_SIZES ? mem_zalloc(p->n, 1) : NULL;
	l->copied = mem_zalloc(p->n, 1);
	l->linked = mem_zalloc(p->n, 1);
	buf_init(&l->raw, BUF_NO_LIMIT);
	buf_init(&l->base, URL_SIZE_MAX);
	buf_init(&l->url, URL_SIZE_MAX);
	for (uint32_t i = 0; i < p->n_settled; i++)
		map_put(&l->by_url, hash_bytes(pages_url(p, i), pages_url_size(p, i), 0), i);
}

static void linking_release(struct linking *l)
{
	map_release(&l->by_url);
	vec_release(&l->targets);
	free(l->first);
	free(l->count);
	free(l->copied);
	free(l->linked);
	buf_release(&l->raw);
	buf_release(&l->base);
	buf_release(&l->url);
}

static int read_all(struct inventory *v, struct store *s, const struct inventory_opts *o,
                    unsigned needs, const struct epoch *epoch, struct err *err)
{
	const struct pages *p = &v->loaded.pages;
	struct linking l = { .pages = p, .page = STORE_NONE, .progress = o->progress,
	                     .epoch = epoch };
	int rc;

	linking_init(&l, needs);
	if (o->progress)
		progress_start(o->progress, "reading links", "pages", p->n);
	rc = store_captures_links(s, read_links, &l, err);
	resolve_links(&l);
	if (o->progress)
		progress_end(o->progress);
	if (rc == 0 && o->goal == GOAL_CHANGED)
		drop_uncopied(&l);
	if (rc == 0)
		rc = prepare(&v->prepared, p, needs, links_of, &l, err);
	v->prepared.size = l.size;
	linking_release(&l);
	return rc;
}

int inventory_links(struct inventory *v, struct store *s, const struct inventory_opts *o,
                    unsigned needs, const struct epoch *epoch, struct err *err)
{
	const struct pages *p = &v->loaded.pages;
	bool kept = o->as_planned && o->goal == GOAL_CHANGED && p->n_settled, found = false;
	unsigned all = needs | (kept && o->cache ? KEPT_NEEDS : 0);
	uint64_t key;
	int rc = 0;

	if (!(needs & KEPT_NEEDS))
		return prepare(&v->prepared, p, needs, NULL, NULL, err);
	if (kept && (rc = kept_links_key(&key, p, s, epoch, err)) == 0)
		found = kept_links_read(&v->prepared, p, store_file(s), key);
	if (found)
		return prepare(&v->prepared, p, needs, NULL, NULL, err);
	if (rc == 0)
		rc = read_all(v, s, o, all, epoch, err);
	if (rc == 0 && kept && o->cache) {
		kept_links_write(&v->prepared, p, store_file(s), key);
		/* more was read, for the file, than this policy needs: hide the rest */
		v->prepared.have = needs | (needs & NEED_PAGERANK ? NEED_LINKS : 0u);
	}
	return rc;
}
