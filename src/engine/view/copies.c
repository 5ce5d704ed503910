/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.c - facts of the copies we hold; see copies.h.
 *
 * Cost.  One pass over all captures, or a search for those of each chosen page; 28 bytes a
 * page and the facts.
 */
#include "engine/view/copies.h"

#include "base/math/rng.h"
#include "base/mem.h"
#include "base/when.h"
#include "policy/policy.h"

static bool copy_facts(const void *self, uint32_t page, bool older, struct page_facts *ret)
{
	const struct copies *c = self;

	return facts_get(c->facts, older ? c->older[page] : c->now[page], ret);
}

static const uint32_t *copy_links(const void *self, uint32_t page, size_t *ret_n)
{
	const struct copies *c = self;
	const uint32_t *to;
	uint64_t n;

	*ret_n = 0;
	if (c->history)
		return c->capture[page] == PAGE_NONE ? NULL :
		       history_links(c->history, c->capture[page], ret_n);
	if (!c->links || !c->links->n_nodes)
		return NULL;
	to = graph_links(c->links, page, &n);
	*ret_n = (size_t)n;
	return to;
}

static void begin(struct copies *c, const struct pages *pages)
{
	struct feature_source source = { c, copy_facts, copy_links };

	*c = (struct copies){ 0 };
	features_init(&c->features, pages, &source);
	c->now = mem_zalloc(pages->n, sizeof *c->now);
	c->older = mem_zalloc(pages->n, sizeof *c->older);
	c->changes = mem_zalloc(pages->n, sizeof *c->changes);
	c->days = mem_zalloc(pages->n, sizeof *c->days);
	c->first = mem_zalloc(pages->n, sizeof *c->first);
}

void copies_release(struct copies *c)
{
	if (c->now)
		features_release(&c->features);
	facts_release(&c->own);
	free(c->now);
	free(c->older);
	free(c->capture);
	free(c->changes);
	free(c->days);
	free(c->first);
	*c = (struct copies){ 0 };
}

/* Our number of a page of the repository. */
static uint32_t number_of(const struct copies *c, uint32_t page)
{
	uint32_t begin = 0, end = c->features.pages->n;

	if (!c->chosen)
		return page;
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;

		if (c->chosen[middle] < page)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

static int read_capture(void *arg, const struct store_capture *s, struct err *err)
{
	struct copies *c = arg;
	uint32_t page = number_of(c, s->page), number;
	struct record r;

	if (c->progress && progress_set(c->progress, page))
		return err_set(err, E_STOP, "the reading of copies was stopped");
	if (s->time >= c->until)
		return 0;
	if (!c->first[page])
		c->first[page] = s->time;
	record_from_capture(s, &r);
	number = facts_add(&c->own, &r);
	if (number == FACTS_NONE)
		return 0;               /* a revisit, or a page without content */
	c->older[page] = c->now[page];
	c->now[page] = number;
	return 0;
}

static int read_page(void *arg, const struct store_page *p, struct err *err)
{
	struct copies *c = arg;
	uint32_t page = number_of(c, p->number);

	(void)err;
	if (page >= c->features.pages->n)
		return 0;
	c->features.visits[page] = p->visits;
	c->features.changes[page] = p->changes;
	c->changes[page] = p->changes;
	if (c->first[page] && p->last_visit > c->first[page])
		c->days[page] = (float)(p->last_visit - c->first[page]) / DAY_SECONDS;
	return 0;
}

/* pages.visits includes later visits: subtract them. */
static int uncount_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct copies *c = arg;
	uint32_t *visits = c->features.visits, *changes = c->features.changes;

	(void)err;
	if (v->page >= c->features.pages->n || v->goal != GOAL_CHANGED ||
	    v->outcome >= OUTCOME_FAILED)
		return 0;
	visits[v->page] -= visits[v->page] > 0;
	changes[v->page] -= v->hit && changes[v->page] > 0;
	return 0;
}

static int read_copies(struct copies *c, struct store *s, struct progress *progress,
                       struct err *err)
{
	uint32_t n = c->features.pages->n;
	int rc;

	c->facts = &c->own;
	c->progress = progress;
	if (progress)
		progress_start(progress, "reading copies", "pages", n);
	rc = store_captures(s, c->chosen, n, read_capture, c, err);
	if (progress)
		progress_end(progress);
	if (rc < 0)
		return rc;
	return c->chosen ? store_pages_get(s, c->chosen, n, read_page, c, err) :
	                   store_pages(s, 0, read_page, c, err);
}

uint32_t *copies_choose(const uint8_t *state, uint32_t n, uint32_t n_here, uint32_t most,
                        uint64_t seed)
{
	uint32_t *chosen = mem_array(most, sizeof *chosen), used = 0, left = n_here;

	for (uint32_t i = 0; i < n && used < most; i++) {
		if (!(state[i] & PAGE_HERE))
			continue;
		if (rng_unit(rng_draw(seed, 0, i, RNG_SAMPLE)) * left < most - used)
			chosen[used++] = i;
		left--;
	}
	return chosen;
}

int copies_of_some(struct copies *c, struct store *s, const struct pages *pages,
                   const uint32_t *chosen, const struct pages *all, const struct graph *links,
                   const struct view *view, struct progress *progress, struct err *err)
{
	struct copies every = { .links = links };
	struct feature_source source = { &every, copy_facts, copy_links };
	struct features linked;

	begin(c, pages);
	c->chosen = chosen;
	c->until = INT64_MAX;
	features_init(&linked, all, &source);
	features_take_links(&c->features, &linked, view, chosen);
	features_release(&linked);
	return read_copies(c, s, progress, err);
}

int copies_from_store(struct copies *c, struct store *s, const struct pages *pages,
                      const struct graph *links, uint32_t before, int64_t until,
                      struct progress *progress, struct err *err)
{
	int rc;

	begin(c, pages);
	c->links = links;
	c->until = until;
	rc = read_copies(c, s, progress, err);
	if (rc == 0 && before)
		rc = store_visits(s, before, UINT32_MAX, uncount_visit, c, err);
	return rc;
}

/* The newest living capture of each page, and what its history showed. */
static void read_history(struct copies *c, const struct history *h, uint32_t page)
{
	int64_t last = -1;

	for (uint64_t k = h->first[page]; k < h->first[page + 1]; k++) {
		const struct capture *x = &h->captures.v[k];

		if (k > h->first[page]) {
			bool changed = !history_same(h, k - 1, k);

			features_note(&c->features, page, changed);
			c->changes[page] += changed;
		}
		if (x->gone || x->moved)
			continue;
		if (last >= 0)
			c->older[page] = c->now[page];
		c->now[page] = x->facts;
		last = (int64_t)k;
	}
	c->capture[page] = last < 0 ? PAGE_NONE : (uint32_t)last;
	c->days[page] = (float)(h->end - h->captures.v[h->first[page]].time) / DAY_SECONDS;
}

void copies_from_history(struct copies *c, const struct history *h,
                         const struct pages *pages)
{
	begin(c, pages);
	c->facts = &h->facts;
	c->history = h;
	c->capture = mem_array(h->n_pages, sizeof *c->capture);
	for (uint32_t i = 0; i < h->n_pages; i++)
		read_history(c, h, i);
}

void copies_pages(const struct history *h, struct pages *ret_pages,
                  struct visits *ret_visits)
{
	uint64_t *offset = mem_array((size_t)h->n_pages + 1, sizeof *offset);
	char *pool = mem_alloc(h->urls.pool_size);
	struct pages_opts opts = { 0 };

	memcpy(pool, h->urls.pool, h->urls.pool_size);
	memcpy(offset, h->urls.offset, ((size_t)h->n_pages + 1) * sizeof *offset);
	pages_init(ret_pages, pool, offset, h->n_pages, &opts);
	visits_init(ret_visits, h->n_pages, h->begin);
	for (uint32_t i = 0; i < h->n_pages; i++)
		if (!h->captures.v[h->first[i + 1] - 1].gone)
			ret_visits->state[i] = PAGE_HERE;
}
