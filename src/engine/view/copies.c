/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.c - facts of the copies we hold; see copies.h.
 *
 * Cost.  One pass over all captures; 28 bytes a page and the facts.
 */
#include "engine/view/copies.h"

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

static int read_capture(void *arg, const struct store_capture *s, struct err *err)
{
	struct copies *c = arg;
	struct record r;
	uint32_t number;

	if (c->progress && progress_set(c->progress, s->page))
		return err_set(err, E_STOP, "the reading of copies was stopped");
	if (s->time >= c->until)
		return 0;
	if (!c->first[s->page])
		c->first[s->page] = s->time;
	record_from_capture(s, &r);
	number = facts_add(&c->own, &r);
	if (number == FACTS_NONE)
		return 0;               /* a revisit, or a page without content */
	c->older[s->page] = c->now[s->page];
	c->now[s->page] = number;
	return 0;
}

static int read_page(void *arg, const struct store_page *p, struct err *err)
{
	struct copies *c = arg;

	(void)err;
	if (p->number >= c->features.pages->n)
		return 0;
	c->features.visits[p->number] = p->visits;
	c->features.changes[p->number] = p->changes;
	c->changes[p->number] = p->changes;
	if (c->first[p->number] && p->last_visit > c->first[p->number])
		c->days[p->number] = (float)(p->last_visit - c->first[p->number]) / DAY_SECONDS;
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

int copies_from_store(struct copies *c, struct store *s, const struct pages *pages,
                      const struct graph *links, uint32_t before, int64_t until,
                      struct progress *progress, struct err *err)
{
	int rc;

	begin(c, pages);
	c->facts = &c->own;
	c->links = links;
	c->until = until;
	c->progress = progress;
	if (progress)
		progress_start(progress, "reading copies", "pages", pages->n);
	rc = store_captures(s, NULL, 0, read_capture, c, err);
	if (progress)
		progress_end(progress);
	if (rc == 0)
		rc = store_pages(s, 0, read_page, c, err);
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
