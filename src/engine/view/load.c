/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - the pages of a repository as arrays; see load.h. */
#include "engine/view/load.h"

#include "base/io/progress.h"
#include "base/mem.h"

struct loader {
	char *pool;
	size_t pool_size, pool_cap;
	uint64_t *offset;
	size_t offset_cap;
	uint32_t n;
	uint8_t *state;
	size_t state_cap;
	int64_t *last_visit, *added;
	size_t last_cap, added_cap;
	float *weight;
	size_t weight_cap;
	uint32_t n_removed;
	struct progress *progress;
};

static int add_page(void *arg, const struct store_page *p, struct err *err)
{
	struct loader *l = arg;

	if (l->progress && progress_set(l->progress, l->n))
		return err_set(err, E_STOP, "the reading of pages was stopped");
	mem_grow((void **)&l->pool, &l->pool_cap, l->pool_size + p->url.size + 1, 1);
	mem_grow((void **)&l->offset, &l->offset_cap, (size_t)l->n + 2, sizeof *l->offset);
	mem_grow((void **)&l->state, &l->state_cap, (size_t)l->n + 1, 1);
	mem_grow((void **)&l->last_visit, &l->last_cap, (size_t)l->n + 1, sizeof *l->last_visit);
	mem_grow((void **)&l->added, &l->added_cap, (size_t)l->n + 1, sizeof *l->added);
	mem_grow((void **)&l->weight, &l->weight_cap, (size_t)l->n + 1, sizeof *l->weight);
	memcpy(l->pool + l->pool_size, p->url.s, p->url.size);
	l->pool[l->pool_size + p->url.size] = '\0';
	l->offset[l->n] = l->pool_size;
	l->pool_size += p->url.size + 1;
	l->offset[l->n + 1] = l->pool_size;
	l->state[l->n] = p->state != STORE_PAGE_HERE ? 0 : p->care ? PAGE_OUT : PAGE_HERE;
	l->n_removed += (p->care & CARE_REMOVED) != 0;
	l->last_visit[l->n] = p->last_visit;
	l->added[l->n] = p->added;
	l->weight[l->n] = (float)p->weight;
	l->n++;
	return 0;
}

static int read_pages(struct loader *l, struct store *s, struct err *err)
{
	struct store_counts has;
	int rc;

	if (!l->progress)
		return store_pages_brief(s, add_page, l, err);
	if ((rc = store_count(s, &has, err)) < 0)
		return rc;
	progress_start(l->progress, "reading pages", "pages", has.pages);
	rc = store_pages_brief(s, add_page, l, err);
	progress_end(l->progress);
	return rc;
}

int load_pages(struct loaded *ret, struct store *s, const struct pages_opts *opts,
               struct err *err)
{
	struct loader l = { .progress = opts->progress };
	int rc = read_pages(&l, s, err);

	if (rc < 0) {
		free(l.pool);
		free(l.offset);
		free(l.state);
		free(l.last_visit);
		free(l.added);
		free(l.weight);
		return rc;
	}
	if (!l.offset)
		l.offset = mem_zalloc(1, sizeof *l.offset);
	*ret = (struct loaded){ .n_removed = l.n_removed };
	/* free the unused end of the buffer */
	l.pool = mem_resize(l.pool, l.pool_size, 1);
	l.offset = mem_resize(l.offset, (size_t)l.n + 1, sizeof *l.offset);
	pages_init(&ret->pages, l.pool, l.offset, l.n, opts);
	ret->visits.state = mem_resize(l.state, l.n, 1);
	ret->visits.last_visit = mem_resize(l.last_visit, l.n, sizeof *l.last_visit);
	ret->added = mem_resize(l.added, l.n, sizeof *l.added);
	ret->weight = mem_resize(l.weight, l.n, sizeof *l.weight);
	ret->visits.last_cycle = mem_zalloc(l.n, sizeof *ret->visits.last_cycle);
	for (uint32_t i = 0; i < l.n; i++)
		ret->n_here += ret->visits.state[i] == PAGE_HERE;
	return 0;
}

void loaded_release(struct loaded *l)
{
	pages_release(&l->pages);
	visits_release(&l->visits);
	free(l->added);
	free(l->weight);
	*l = (struct loaded){ 0 };
}
