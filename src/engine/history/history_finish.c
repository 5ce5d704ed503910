/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_finish.c - histories made ready for reading, once all records are there.
 *
 * URLs that have a capture become the pages, numbered in the order of their URLs (so that
 * directories are contiguous); captures and links are rewritten; revisits get the content
 * that they refer to.
 *
 * Cost.  O(records log records).
 */
#include <stdlib.h>

#include "engine/history/history.h"

static int compare_captures(const void *pa, const void *pb)
{
	const struct capture *a = pa, *b = pb;

	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int compare_urls(const void *pa, const void *pb, void *pt)
{
	const struct strtab *t = pt;

	return strcmp(strtab_get(t, *(const uint32_t *)pa), strtab_get(t, *(const uint32_t *)pb));
}

/* New numbers of the URLs that have a capture, by URL; PAGE_NONE for others. */
static uint32_t *number_pages(struct history *h)
{
	uint32_t *number = mem_array(h->urls.n, sizeof *number);
	uint32_t *sorted = mem_array(h->urls.n, sizeof *sorted), n = 0;
	struct strtab kept = { 0 };

	for (uint32_t i = 0; i < h->urls.n; i++)
		number[i] = MAP_NONE;
	for (size_t i = 0; i < h->captures.n; i++)
		number[h->captures.v[i].page] = 0;
	for (uint32_t i = 0; i < h->urls.n; i++)
		if (number[i] != MAP_NONE)
			sorted[n++] = i;
	qsort_r(sorted, n, sizeof *sorted, compare_urls, &h->urls);
	for (uint32_t i = 0; i < n; i++) {
		number[sorted[i]] = i;
		strtab_intern(&kept, strtab_get(&h->urls, sorted[i]),
		              strtab_size(&h->urls, sorted[i]), NULL);
	}
	free(sorted);
	strtab_release(&h->urls);
	h->urls = kept;
	h->n_pages = n;
	return number;
}

static int compare_failures(const void *pa, const void *pb)
{
	const struct history_failure *a = pa, *b = pb;

	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->status < b->status ? -1 : a->status > b->status;
}

/* Drop those of pages that have no capture. */
static void renumber_failures(struct history *h, const uint32_t *number)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->failures.n; i++) {
		struct history_failure f = h->failures.v[i];

		f.page = number[f.page];
		if (f.page != MAP_NONE)
			h->failures.v[kept++] = f;
	}
	h->failures.n = kept;
	if (kept)
		qsort(h->failures.v, kept, sizeof *h->failures.v, compare_failures);
}

/* Drop targets that are no page of this history. */
static void renumber_links(struct history *h, const uint32_t *number)
{
	size_t kept = 0, from = 0;

	for (size_t k = 0; k + 1 < h->list_first.n; k++) {
		size_t to = (size_t)h->list_first.v[k + 1];

		for (; from < to; from++)
			if (number[h->targets.v[from]] != MAP_NONE)
				h->targets.v[kept++] = number[h->targets.v[from]];
		h->list_first.v[k + 1] = kept;
	}
	h->targets.n = kept;
}

/* Of captures of one page in one second keep the last in order. */
static void drop_doubles(struct history *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->captures.n; i++) {
		const struct capture *c = &h->captures.v[i];

		if (i + 1 < h->captures.n && c[1].page == c->page && c[1].time == c->time)
			continue;
		h->captures.v[kept++] = *c;
	}
	h->captures.n = kept;
}

/* Give each revisit the key of the capture with its digest, or else of the previous
 * capture; drop revisits that have neither. */
static void join_revisits(struct history *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->revisits.n; i++) {
		const struct history_revisit *v = &h->revisits.v[i];
		struct capture *c = &h->captures.v[v->capture];
		uint32_t k = map_get(&h->digests, v->digest);

		if (k != MAP_NONE) {
			const struct capture *from = &h->captures.v[k];

			h->n_same -= c->same;
			c->key = from->key;
			c->same = 0;
			c->moved = from->moved;
			c->facts = c->facts ? c->facts : from->facts;
			c->size = from->size;
		} else if (v->needed) {
			c->time = INT64_MIN;    /* first, so there is none before it */
		}
	}
	map_release(&h->digests);
	vec_release(&h->revisits);
	vec_release(&h->n_came);
	if (!h->n_same)
		return;
	qsort(h->captures.v, h->captures.n, sizeof *h->captures.v, compare_captures);
	for (size_t i = 0; i < h->captures.n; i++) {
		struct capture c = h->captures.v[i];
		const struct capture *before = kept ? &h->captures.v[kept - 1] : NULL;

		if (c.same && (!before || before->page != c.page || before->gone)) {
			h->n_no_key++;
			continue;
		}
		if (c.same) {
			c.key = before->key;
			c.moved = before->moved;
			c.same = 0;
		}
		h->captures.v[kept++] = c;
	}
	h->captures.n = kept;
}

/* If a page has a capture and a failure in one second, drop the failure. */
static void drop_outranked(struct history *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->failures.n; i++) {
		const struct history_failure *f = &h->failures.v[i];
		int64_t at = history_at(h, f->page, f->time, false);

		if (at < 0 || h->captures.v[at].time != f->time)
			h->failures.v[kept++] = *f;
	}
	h->failures.n = kept;
}

int history_finish(struct history *h, struct err *err)
{
	uint32_t *number;
	bool any = false;

	join_revisits(h);
	for (size_t i = 0; i < h->captures.n && !any; i++)
		any = !h->captures.v[i].gone;
	if (!any && h->n_no_key)
		return err_set(err, E_USAGE, "no record has the digest that this detector compares; "
		               "try --detect %s",
		               h->detect.kind == DETECT_BYTES ? "text or tags" : "bytes");
	if (!h->captures.n && h->n_skipped)
		return err_set(err, E_PARSE, "no capture of a page in the input: none of %llu records "
		               "has the status of a page, a redirect, or a page that is gone",
		               (unsigned long long)h->n_skipped);
	if (!h->captures.n)
		return err_set(err, E_PARSE, "no capture of a page in the input");
	number = number_pages(h);
	for (size_t i = 0; i < h->captures.n; i++)
		h->captures.v[i].page = number[h->captures.v[i].page];
	renumber_links(h, number);
	renumber_failures(h, number);
	free(number);
	map_release(&h->lists);
	qsort(h->captures.v, h->captures.n, sizeof *h->captures.v, compare_captures);
	drop_doubles(h);
	h->first = mem_zalloc((size_t)h->n_pages + 1, sizeof *h->first);
	for (size_t i = 0; i < h->captures.n; i++) {
		struct capture *c = &h->captures.v[i];

		h->first[c->page + 1] = i + 1;
		/* a revisit tells nothing new: what was counted before still holds */
		if (!c->facts && !c->gone && i && c[-1].page == c->page)
			c->facts = c[-1].facts;
		if (!c->size && !c->gone && i && c[-1].page == c->page)
			c->size = c[-1].size;
		if (!c->links && !c->gone && i && c[-1].page == c->page && c[-1].key == c->key)
			c->links = c[-1].links;
	}
	drop_outranked(h);
	return 0;
}
