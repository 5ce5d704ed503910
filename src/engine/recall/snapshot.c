/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - the key of a snapshot; reading and writing it.  See snapshot.h. */
#include "engine/recall/snapshot.h"

#include "base/io/output.h"
#include "engine/recall/recall_inner.h"
#include "engine/view/cachefile.h"
#include "graph/graph.h"

/* Writing costs, too.  So a snapshot is written when enough was told since the last one: */
#define WRITE_SHARE 16           /* one visit for every 16 pages, */
#define WRITE_CYCLES 8           /* or 8 cycles */

/* ---- the key ---- */

static uint64_t add(uint64_t h, const void *bytes, size_t size)
{
	return bytes ? hash_bytes(bytes, size, h) : hash_bytes("", 1, h);
}

/* Hash the links.  Only settled pages have any (engine/view/epoch.h). */
static uint64_t add_graph(uint64_t h, const struct graph *g, uint32_t n_settled)
{
	if (!g || !g->offsets)
		return add(h, NULL, 0);
	h = add(h, g->offsets, ((size_t)n_settled + 1) * sizeof *g->offsets);
	return add(h, g->targets, (size_t)g->n_links * sizeof *g->targets);
}

/* What the first so many pages of an engine and its view make of the key. */
static uint64_t hash_view(const struct engine *e, uint32_t pages, uint64_t h)
{
	const struct view *v = &e->view;
	const char *spec = e->policy ? e->policy->spec : "";
	size_t n = v->n_settled;
	const int64_t numbers[] = { (int64_t)v->seed, v->cycle_seconds, v->goal, v->aim,
	                            v->observe, v->n_settled, v->weight != NULL, v->n_shards };

	h = add(h, spec, strlen(spec) + 1);
	h = add(h, numbers, sizeof numbers);
	h = add(h, v->url_pool, (size_t)v->url_offset[pages]);
	h = add(h, v->site, pages * sizeof *v->site);
	h = add_graph(h, v->links, v->n_settled);
	h = add(h, v->pagerank, n * sizeof *v->pagerank);
	return add(h, v->size, n * sizeof *v->size);
}

/* Of the first so many own cycles and pages, of who was under care when these cycles began,
 * and of what was imported. */
static int find_key(const struct recalling *r, uint32_t cycles, uint32_t pages,
                    uint64_t *ret, struct err *err)
{
	uint64_t h;
	int rc = store_past(r->store, &h, err);

	if (rc < 0)
		return rc;
	h = hash_bytes(r->loaded->added, pages * sizeof *r->loaded->added, h);
	h = hash_view(r->e, pages, h);
	for (uint32_t i = 0; i < cycles; i++) {
		const struct past_cycle *c = &r->cycles.v[i];
		int64_t numbers[] = { c->time, c->budget, c->goal, c->pages };

		h = hash_bytes(numbers, sizeof numbers, h);
	}
	*ret = h;
	return recall_care_hash(&r->care, cycles, ret, err);
}

/* Are all pages in it that can have been here in the cycles told? */
static bool has_all(const struct recalling *r, const struct snapshot *about)
{
	for (uint32_t i = 0; i < about->cycles; i++)
		if (r->cycles.v[i].most > about->pages)
			return false;
	return true;
}

/* ---- the file ---- */

static void freeze(struct recalling *r, struct frozen *f)
{
	uint32_t n = r->loaded->pages.n;

	frozen_value(f, &r->ret->n_imported_cycles);
	frozen_value(f, &r->ret->n_told);
	frozen_value(f, &r->n_added);
	frozen_value(f, &r->n_asked);
	frozen_rows(f, r->care.marks, n, sizeof *r->care.marks);
	frozen_check(f, r->n_added <= n && r->n_asked <= n);
	engine_freeze(r->e, f);
}

int snapshot_read(struct recalling *r, struct err *err)
{
	struct snapshot about;
	struct frozen f;
	uint64_t key;
	int rc = 0;

	if (!cachefile_open(&f, store_file(r->store), SNAPSHOT_END, &about, sizeof about))
		return 0;
	if (about.cycles > r->cycles.n || about.pages > r->loaded->pages.n ||
	    !has_all(r, &about) ||
	    (rc = find_key(r, about.cycles, about.pages, &key, err)) < 0 || key != about.key) {
		cachefile_leave(&f);
		return rc;
	}
	freeze(r, &f);
	r->ret->n_thawed = r->care.from = about.cycles;
	r->thawed = true;
	r->told_before = r->ret->n_told;
	return !cachefile_close(&f);
}

static bool is_worth_writing(const struct recalling *r)
{
	uint64_t told = r->ret->n_told - r->told_before;

	return !r->thawed || r->cycles.n - r->ret->n_thawed >= WRITE_CYCLES ||
	       told * WRITE_SHARE > r->loaded->pages.n;
}

int snapshot_write(struct recalling *r, struct err *err)
{
	struct snapshot about = { .cycles = (uint32_t)r->cycles.n, .pages = r->loaded->pages.n };
	struct frozen f;
	struct output *o;
	int rc;

	if (!r->opts->snapshot || !r->opts->before_cycle || !about.cycles || !is_worth_writing(r))
		return 0;
	rc = find_key(r, about.cycles, about.pages, &about.key, err);
	if (rc < 0)
		return rc;
	o = cachefile_begin(&f, store_file(r->store), SNAPSHOT_END, &about, sizeof about);
	if (!o)
		return 0;
	freeze(r, &f);
	cachefile_end(&f, o);
	return 0;
}
