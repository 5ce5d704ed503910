/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory_links.c - the links between the pages of a repository; see inventory.h.
 *
 * Links of a settled page are those of its newest capture before links were renewed, or of its
 * first if that came later.  (In replay, links are those at the start.)  Captures lie in the
 * order in which they came, not page by page.  So a first pass over all of them finds which one
 * counts, and a second one over their texts reads those that are wanted, each once: what is on
 * the disk is read from front to back.
 *
 * Cost.  Two passes, and a hash of every URL and every link; meanwhile 50 bytes a page and 4 a
 * link besides the graph.  So they are kept for the rest of the epoch (kept_links.h), and then
 * read in one piece.
 */
#include "engine/view/inventory.h"

#include "base/map.h"
#include "base/mem.h"
#include "engine/view/kept_links.h"
#include "web/url/url.h"

#define NEVER INT64_MIN
#define AHEAD 16                /* URLs: memory is asked for in time */
#define AT_ONCE 256             /* links that are looked up one after another */

struct waiting { uint32_t page, n; };           /* a page, and so many links of it */

struct linking {
	const struct pages *pages;
	const struct epoch *epoch;
	struct progress *progress;
	uint64_t n_read;
	/* by page; first pass */
	int64_t *links_time, *size_time;        /* of the capture that counts, or NEVER */
	uint64_t *text;                 /* key of its links */
	struct map base_of;             /* what its links are relative to, if not its URL: in bases */
	struct strtab bases;
	uint8_t *size;                  /* or NULL */
	uint8_t *copied;                /* we have a copy */
	/* second pass */
	struct map by_text;             /* key of a text -> a page with it */
	uint32_t *same;                 /* by page: another one with the same text, or MAP_NONE */
	struct map by_url;
	VEC(uint64_t) hashes;           /* links that wait to be looked up ... */
	VEC(struct waiting) waiting;    /* ... and whose they are */
	VEC(uint32_t) targets;
	uint64_t *first;                /* by page: where its links begin */
	uint32_t *count;
	struct buf url;
};

static int show(struct linking *l, struct err *err)
{
	return l->progress && progress_set(l->progress, ++l->n_read) ?
		err_set(err, E_STOP, "the reading of links was stopped") : 0;
}

/* ---- which captures count ---- */

/* Does a capture of this time count, and not the one of `chosen`? */
static bool counts(const struct linking *l, int64_t time, int64_t chosen)
{
	int64_t renewed = l->epoch->renewed;

	if (chosen == NEVER)
		return true;
	return chosen >= renewed ? time < chosen : time < renewed && time >= chosen;
}

static void choose_links(struct linking *l, const struct store_linked *c)
{
	l->links_time[c->page] = c->time;
	l->text[c->page] = c->links;
	if (c->target.s)
		map_put(&l->base_of, c->page, strtab_intern(&l->bases, c->target.s, c->target.size,
		                                            NULL));
	else if (l->base_of.n)
		map_put(&l->base_of, c->page, MAP_NONE);
}

static int see_capture(void *arg, const struct store_linked *c, struct err *err)
{
	struct linking *l = arg;

	if ((c->status >= 300 && c->status != 304) ||   /* the target of a redirect is no link */
	    c->time >= l->epoch->until || c->page >= l->pages->n_settled)
		return show(l, err);
	if (l->size && !c->revisit && (c->words >= 0 || c->length >= 0) &&
	    counts(l, c->time, l->size_time[c->page])) {
		l->size_time[c->page] = c->time;
		l->size[c->page] = size_class(c->words, c->length);
	}
	l->copied[c->page] = 1;
	if (c->has_links && counts(l, c->time, l->links_time[c->page]))
		choose_links(l, c);
	return show(l, err);
}

static int64_t *never(uint32_t n)
{
	int64_t *ret = mem_array(n, sizeof *ret);

	for (uint32_t i = 0; i < n; i++)
		ret[i] = NEVER;
	return ret;
}

static int choose(struct linking *l, struct store *s, unsigned needs, struct err *err)
{
	uint32_t n = l->pages->n;
	struct store_counts all;
	int rc = store_count(s, &all, err);

	if (rc < 0)
		return rc;
	l->links_time = never(n);
	l->text = mem_zalloc(n, sizeof *l->text);
	l->copied = mem_zalloc(n, 1);
	l->size_time = needs & NEED_SIZES ? never(n) : NULL;
	l->size = needs & NEED_SIZES ? mem_zalloc(n, 1) : NULL;
	if (l->progress)
		progress_start(l->progress, "reading links", "captures", all.captures);
	return store_captures_linked(s, see_capture, l, err);
}

/* ---- their links ---- */

/* Pages by the text of their links; returns how many have one. */
static uint32_t index_texts(struct linking *l)
{
	uint32_t n = 0;

	l->same = mem_array(l->pages->n, sizeof *l->same);
	for (uint32_t i = 0; i < l->pages->n_settled; i++) {
		if (l->links_time[i] == NEVER)
			continue;
		n++;
		l->same[i] = map_get(&l->by_text, l->text[i]);
		map_put(&l->by_text, l->text[i], i);
	}
	free(l->links_time);
	free(l->size_time);
	free(l->text);
	l->links_time = l->size_time = NULL;
	l->text = NULL;
	return n;
}

static void index_urls(struct linking *l)
{
	const struct pages *p = l->pages;
	uint64_t soon[AHEAD];

	map_reserve(&l->by_url, p->n_settled);
	for (uint64_t i = 0; i < (uint64_t)p->n_settled + AHEAD; i++) {
		if (i >= AHEAD)
			map_put(&l->by_url, soon[i % AHEAD], (uint32_t)(i - AHEAD));
		if (i >= p->n_settled)
			continue;
		soon[i % AHEAD] = hash_bytes(pages_url(p, (uint32_t)i), pages_url_size(p, (uint32_t)i),
		                             0);
		map_soon(&l->by_url, soon[i % AHEAD]);
	}
}

static void look_up(struct linking *l)
{
	const uint64_t *hash = l->hashes.v;

	for (size_t i = 0; i < l->waiting.n; i++) {
		struct waiting w = l->waiting.v[i];

		l->first[w.page] = l->targets.n;
		for (; w.n; w.n--) {
			uint32_t to = map_get(&l->by_url, *hash++);

			if (to != MAP_NONE)
				vec_push(&l->targets, to);
		}
		l->count[w.page] = (uint32_t)(l->targets.n - l->first[w.page]);
	}
	l->hashes.n = l->waiting.n = 0;
}

static void read_text(struct linking *l, uint32_t page, struct text text)
{
	uint32_t other = map_get(&l->base_of, page);
	struct url_base base;
	struct waiting w = { .page = page };
	struct text link;

	if (other != MAP_NONE)
		url_base(strtab_get(&l->bases, other), strtab_size(&l->bases, other), &base);
	else
		url_base(pages_url(l->pages, page), pages_url_size(l->pages, page), &base);
	while (text_word(&text, &link)) {
		uint64_t hash;

		buf_clear(&l->url);
		if (url_resolve_on(&base, link.s, link.size, &l->url, NULL) < 0)
			continue;
		hash = hash_bytes(l->url.data, l->url.size, 0);
		map_soon(&l->by_url, hash);
		vec_push(&l->hashes, hash);
		w.n++;
	}
	vec_push(&l->waiting, w);
	if (l->hashes.n >= AT_ONCE)
		look_up(l);
}

static int see_text(void *arg, uint32_t page, struct text text, struct err *err)
{
	struct linking *l = arg;
	int rc = 0;

	for (; page != MAP_NONE && rc == 0; page = l->same[page]) {
		read_text(l, page, text);
		rc = show(l, err);
	}
	return rc;
}

static int read_texts(struct linking *l, struct store *s, struct err *err)
{
	uint32_t n = l->pages->n, n_linked = index_texts(l);
	int rc;

	l->first = mem_zalloc(n, sizeof *l->first);
	l->count = mem_zalloc(n, sizeof *l->count);
	index_urls(l);
	l->n_read = 0;
	if (l->progress)
		progress_start(l->progress, "reading links", "pages", n_linked);
	rc = store_links(s, &l->by_text, see_text, l, err);
	look_up(l);
	return rc;
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

/* What only the reading needed: before the graph is made of it. */
static void forget_texts(struct linking *l)
{
	map_release(&l->base_of);
	strtab_release(&l->bases);
	map_release(&l->by_text);
	map_release(&l->by_url);
	free(l->same);
	l->same = NULL;
	vec_release(&l->hashes);
	vec_release(&l->waiting);
	buf_release(&l->url);
}

static void linking_release(struct linking *l)
{
	forget_texts(l);
	free(l->links_time);
	free(l->size_time);
	free(l->text);
	free(l->copied);
	free(l->first);
	free(l->count);
	vec_release(&l->targets);
}

static int read_all(struct inventory *v, struct store *s, const struct inventory_opts *o,
                    unsigned needs, const struct epoch *epoch, struct err *err)
{
	const struct pages *p = &v->loaded.pages;
	struct linking l = { .pages = p, .progress = o->progress, .epoch = epoch };
	int rc;

	buf_init(&l.url, URL_SIZE_MAX);
	rc = choose(&l, s, needs, err);
	if (rc == 0)
		rc = read_texts(&l, s, err);
	if (o->progress)
		progress_end(o->progress);
	forget_texts(&l);
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
