/* SPDX-License-Identifier: Apache-2.0 */
/* kept_links.c - see kept_links.h. */
#include "engine/view/kept_links.h"

#include "base/io/output.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/view/cachefile.h"

struct about { uint64_t key, n_links; uint32_t n_pages, zero; };

int kept_links_key(uint64_t *ret, const struct pages *pages, struct store *s,
                   const struct epoch *epoch, struct err *err)
{
	uint64_t past = 0;
	int rc = store_past(s, &past, err);
	const int64_t numbers[] = { (int64_t)past, epoch->renewed, epoch->until,
	                            pages->n_settled };

	*ret = hash_bytes(pages->pool, (size_t)pages->offset[pages->n_settled],
	                  hash_bytes(numbers, sizeof numbers, 0));
	return rc;
}

/* Writes the links, or reads them: f says which (policy/frozen.h). */
static void freeze(struct prepared *p, const struct pages *pages, uint64_t n_links,
                   struct frozen *f)
{
	uint32_t n = pages->n_settled;
	uint64_t *offsets = p->links.own_offsets;
	uint32_t *targets = p->links.own_targets;

	if (f->thaw) {
		frozen_check(f, n_links <= f->left / sizeof *targets);
		graph_alloc(&p->links, n, f->bad ? 0 : n_links, &offsets, &targets);
		p->pagerank = mem_array(pages->n, sizeof *p->pagerank);
		p->size = mem_zalloc(pages->n, 1);
	}
	frozen_bytes(f, offsets, ((size_t)n + 1) * sizeof *offsets);
	frozen_bytes(f, targets, (size_t)p->links.n_links * sizeof *targets);
	frozen_bytes(f, p->pagerank, n * sizeof *p->pagerank);
	frozen_bytes(f, p->size, n);
}

bool kept_links_read(struct prepared *p, const struct pages *pages, const char *store,
                     uint64_t key)
{
	struct about a;
	struct frozen f;

	if (!cachefile_open(&f, store, KEPT_LINKS_END, &a, sizeof a))
		return false;
	if (a.key != key || a.n_pages != pages->n_settled) {
		cachefile_leave(&f);
		return false;
	}
	freeze(p, pages, a.n_links, &f);
	p->found = KEPT_NEEDS;
	if (cachefile_close(&f) && graph_is_sound(&p->links))
		return true;
	prepare_release(p);
	return false;
}

void kept_links_write(struct prepared *p, const struct pages *pages, const char *store,
                      uint64_t key)
{
	struct about a = { .key = key, .n_links = p->links.n_links,
	                   .n_pages = pages->n_settled };
	struct frozen f;
	struct output *o = cachefile_begin(&f, store, KEPT_LINKS_END, &a, sizeof a);

	if (!o)
		return;
	freeze(p, pages, a.n_links, &f);
	cachefile_end(&f, o);
}
