/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - see tally.h. */
#include "engine/view/tally.h"

#include "base/buf.h"
#include "base/io/output.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/view/cachefile.h"
#include "web/url/url.h"

#define WORTH 20000             /* new pages for which the file is written anew */
#define SAMPLES 64              /* pages that tell whether the file is of this store */

/* What the file is about. */
struct about { uint64_t key; uint32_t n_pages, zero; };

/* Hashes of what was counted before, ascending, and of what is new. */
struct hashes { VEC(uint64_t) kept; struct map fresh; };

struct counting {
	struct tally n;
	struct hashes sites, dirs;
	struct buf name, last;          /* last: the URL before */
	struct url_dirs last_dirs;
	struct progress *progress;
};

static int ascending(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static void add(struct hashes *h, const char *s, size_t size)
{
	uint64_t key = hash_bytes(s, size, 1);

	if (!h->kept.n || !bsearch(&key, h->kept.v, h->kept.n, sizeof key, ascending))
		map_intern(&h->fresh, key, 0, NULL);
}

static uint32_t count(const struct hashes *h)
{
	return (uint32_t)(h->kept.n + h->fresh.n);
}

static void release(struct hashes *h)
{
	vec_release(&h->kept);
	map_release(&h->fresh);
}

/* As place_page() of pages.c does: only what the URL before has not is looked up. */
static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct counting *c = arg;
	const char *url = p->url.s;
	struct url_dirs d, *was = &c->last_dirs;
	uint32_t shared = 0;

	url_dirs(url, p->url.size, &d);
	while (c->last.size && shared < d.n && shared < was->n &&
	       d.end[shared] - d.begin == was->end[shared] - was->begin &&
	       !memcmp(url + d.begin, c->last.data + was->begin, d.end[shared] - d.begin))
		shared++;
	if (!shared) {
		buf_clear(&c->name);
		url_site(url, p->url.size, false, &c->name);
		add(&c->sites, buf_text(&c->name), c->name.size);
	}
	for (uint32_t k = shared; k < d.n; k++)
		add(&c->dirs, url + d.begin, d.end[k] - d.begin);
	buf_clear(&c->name);
	if (memchr(url, '?', p->url.size) && url_query_dir(url, p->url.size, &c->name))
		add(&c->dirs, buf_text(&c->name), c->name.size);
	buf_clear(&c->last);
	buf_add(&c->last, url, p->url.size);
	*was = d;
	c->n.pages = p->number + 1;
	if (c->progress && progress_set(c->progress, c->n.pages))
		return err_set(err, E_STOP, "the counting was stopped");
	return 0;
}

/* ---- the file ---- */

static int hash_page(void *arg, const struct store_page *p, struct err *err)
{
	uint64_t *key = arg;

	(void)err;
	*key = hash_bytes(p->url.s, p->url.size, hash_bytes(&p->added, sizeof p->added, *key));
	return 0;
}

/* A hash of some of the first n pages, always with the last: is the file of this store? */
static int find_key(struct store *s, uint32_t n, uint64_t *ret, struct err *err)
{
	uint32_t pages[SAMPLES];

	for (uint32_t i = 0; i < SAMPLES; i++)
		pages[i] = (uint32_t)((uint64_t)(n - 1) * (i + 1) / SAMPLES);
	*ret = n;
	return store_pages_get(s, pages, SAMPLES, hash_page, ret, err);
}

/* Writes the hashes, or reads them: f says which (policy/frozen.h). */
static void freeze(struct frozen *f, struct hashes *h)
{
	const struct map *m = &h->fresh;

	for (size_t i = 0; i < m->cap && !f->thaw; i++)
		if (m->slots[i].used > m->clears)
			vec_push(&h->kept, m->slots[i].key);
	if (!f->thaw && h->kept.n)
		qsort(h->kept.v, h->kept.n, sizeof *h->kept.v, ascending);
	frozen_vec(f, &h->kept);
	for (size_t i = 1; i < h->kept.n && f->thaw; i++)
		frozen_check(f, h->kept.v[i - 1] < h->kept.v[i]);
}

/* Take what was counted before, if it is of this store. */
static int read_kept(struct counting *c, struct store *s, uint64_t n_pages, struct err *err)
{
	struct about a;
	struct frozen f;
	uint64_t key = 0;
	int rc = 0;

	if (!cachefile_open(&f, store_file(s), TALLY_END, &a, sizeof a))
		return 0;
	if (!a.n_pages || a.n_pages > n_pages || (rc = find_key(s, a.n_pages, &key, err)) < 0 ||
	    key != a.key) {
		cachefile_leave(&f);
		return rc;
	}
	freeze(&f, &c->sites);
	freeze(&f, &c->dirs);
	if (cachefile_close(&f)) {
		c->n.pages = a.n_pages;
	} else {
		release(&c->sites);
		release(&c->dirs);
	}
	return 0;
}

/* The last use of what was counted. */
static int write_kept(struct counting *c, struct store *s, struct err *err)
{
	struct about a = { .n_pages = c->n.pages };
	struct frozen f;
	struct output *o;
	int rc = find_key(s, a.n_pages, &a.key, err);

	if (rc < 0 || !(o = cachefile_begin(&f, store_file(s), TALLY_END, &a, sizeof a)))
		return rc;
	freeze(&f, &c->sites);
	freeze(&f, &c->dirs);
	cachefile_end(&f, o);
	return 0;
}

int tally_count(struct tally *ret, struct store *s, struct progress *progress,
                struct err *err)
{
	struct counting c = { .progress = progress };
	struct store_counts has;
	uint32_t kept = 0;
	int rc = store_count(s, &has, err);

	buf_init(&c.name, BUF_NO_LIMIT);
	buf_init(&c.last, BUF_NO_LIMIT);
	if (rc == 0 && (rc = read_kept(&c, s, has.pages, err)) == 0) {
		kept = c.n.pages;
		if (progress)
			progress_start(progress, "counting sites", "pages", has.pages);
		rc = store_pages(s, kept, see_page, &c, err);
		if (progress)
			progress_end(progress);
	}
	c.n.sites = count(&c.sites);
	c.n.dirs = count(&c.dirs);
	if (rc == 0 && c.n.pages - kept >= WORTH)
		rc = write_kept(&c, s, err);
	if (rc == 0)
		*ret = c.n;
	release(&c.sites);
	release(&c.dirs);
	buf_release(&c.name);
	buf_release(&c.last);
	return rc;
}

size_t tally_view_bytes(const struct tally *t)
{
	/* the arrays of struct pages, struct visits and struct loaded */
	return (size_t)t->pages * (8 + 4 * 4 + 1 + 4 + 8 + 8 + 4) + (size_t)t->dirs * (6 * 4 + 1) +
	       (size_t)t->sites * 4;
}
