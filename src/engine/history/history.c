/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - adding records to recorded histories, and reading them; see history.h.
 *
 * Link texts repeat from capture to capture, so a list is resolved once for each
 * (page, text) pair and found again by its hash.  URLs are interned at their
 * first mention, as page or as target.
 *
 * Cost.  32 bytes a capture, 4 a distinct link.
 */
#include "engine/history/history.h"

#include <stdlib.h>

#include "base/buf.h"
#include "engine/archive/judge.h"
#include "repo/store.h"
#include "web/url/url.h"

#define CAPTURES_MAX ((uint64_t)1 << 30)
#define LIST_MASK 0x1fffffffu
#define CAME_BITS 21
#define CAME_MASK ((1u << CAME_BITS) - 1)

void history_init(struct history *h, struct detector detect, unsigned want)
{
	*h = (struct history){ .detect = detect, .want = want, .begin = INT64_MAX,
	                       .end = INT64_MIN };
	vec_push(&h->list_first, 0);    /* list 0 is "none known" */
	vec_push(&h->list_first, 0);
}

void history_release(struct history *h)
{
	free(h->weight);
	strtab_release(&h->urls);
	vec_release(&h->captures);
	free(h->first);
	vec_release(&h->failures);
	vec_release(&h->list_first);
	vec_release(&h->targets);
	map_release(&h->lists);
	facts_release(&h->facts);
	lexicon_release(&h->lexicon);
	map_release(&h->digests);
	vec_release(&h->revisits);
	vec_release(&h->n_came);
	*h = (struct history){ 0 };
}

static bool record_key(const struct history *h, const struct record *r, uint64_t *ret)
{
	return judge_mark(&h->detect, r->digest, r->prose,
	                  r->tags, r->has_simhash ? &r->simhash : NULL, ret);
}

/* Resolve the space-separated links of a page; the number of the list. */
static uint32_t add_links(struct history *h, const struct record *r)
{
	struct text rest = r->links, link;
	struct text base = r->target.s ? r->target : r->url;
	uint64_t key = hash_bytes(rest.s, rest.size, hash_bytes(base.s, base.size, 2));
	bool fresh;
	uint32_t list = map_intern(&h->lists, key, (uint32_t)h->list_first.n - 1, &fresh);
	struct buf url;
	size_t n = 0;

	if (!fresh)
		return list;
	buf_init(&url, URL_SIZE_MAX);
	while (n < RECORD_LINKS_MAX && text_word(&rest, &link)) {
		buf_clear(&url);
		if (url_resolve(base.s, base.size, link.s, link.size, &url, NULL) == 0) {
			uint32_t target = strtab_intern(&h->urls, url.data, url.size, NULL);

			vec_push(&h->targets, target);
			n++;
		}
	}
	vec_push(&h->list_first, h->targets.n);
	buf_release(&url);
	return list;
}

/* Note which capture has a digest, and which revisit needs one.  Of several captures with
 * one digest take the smallest key, so the order of records does not matter. */
static void note_digest(struct history *h, const struct record *r, const struct capture *c)
{
	uint64_t digest;
	uint32_t at = (uint32_t)h->captures.n, known;
	bool fresh;

	if (!r->digest.s || c->gone || (h->detect.kind == DETECT_BYTES &&
	                                !(h->want & WANT_FACTS)))
		return;
	digest = hash_bytes(r->digest.s, r->digest.size, 0);
	if (r->revisit) {
		vec_push(&h->revisits, ((struct history_revisit){
			digest, at, c->same && r->status != 304 }));
		return;
	}
	known = map_intern(&h->digests, digest, at, &fresh);
	if (!fresh && c->key < h->captures.v[known].key)
		map_put(&h->digests, digest, at);
}

/* The same choice among captures of one second as in a repository (store_capture_put()):
 * by kind, then the first that came. */
static uint32_t rank_of(struct history *h, const struct record *r, uint32_t page)
{
	uint32_t came;

	while (h->n_came.n <= page)
		vec_push(&h->n_came, 0);
	came = h->n_came.v[page]++;
	return store_capture_rank(r->status, r->revisit) << CAME_BITS |
	       (CAME_MASK - (came < CAME_MASK ? came : CAME_MASK));
}

static int too_many(struct err *err)
{
	return err_set(err, E_LIMIT, "more than %llu captures: split the trace",
	               (unsigned long long)CAPTURES_MAX);
}

static int add_failure(struct history *h, const struct record *r, struct err *err)
{
	struct history_failure f = { .time = r->time, .status = r->status };

	h->n_skipped++;
	if (r->status < 400 || r->status > 599)
		return 0;
	if (h->failures.n >= CAPTURES_MAX)
		return too_many(err);
	f.page = strtab_intern(&h->urls, r->url.s, r->url.size, NULL);
	vec_push(&h->failures, f);
	return 0;
}

int history_add(struct history *h, const struct record *r, struct err *err)
{
	enum answer_kind kind = judge_kind(r->status, r->revisit);
	struct capture c = { .time = r->time, .gone = kind == ANSWER_GONE,
	                     .moved = kind == ANSWER_REDIRECT };

	/* a 304 that is no revisit depends on the copy of the crawler that asked */
	if (kind == ANSWER_NOTHING || (r->status == 304 && !r->revisit))
		return add_failure(h, r, err);
	if (!c.gone && !record_key(h, r, &c.key)) {
		if (!r->revisit) {
			h->n_no_key++;
			return 0;
		}
		c.same = 1;
		h->n_same++;
	}
	if (h->captures.n >= CAPTURES_MAX)
		return too_many(err);
	c.page = strtab_intern(&h->urls, r->url.s, r->url.size, NULL);
	c.rank = rank_of(h, r, c.page) & 0xffffffu;
	if ((h->want & WANT_LINKS) && r->links.s)
		c.links = add_links(h, r) & LIST_MASK;
	if (h->want & WANT_FACTS)
		c.facts = facts_add(&h->facts, r);
	c.size = r->revisit ? 0 : size_class(r->facts.words, r->length);
	note_digest(h, r, &c);
	vec_push(&h->captures, c);
	if (c.time < h->begin)
		h->begin = c.time;
	if (c.time > h->end)
		h->end = c.time;
	return 0;
}

const struct history_failure *history_failure_at(const struct history *h, uint32_t page,
                                                 int64_t t)
{
	size_t lo = 0, hi = h->failures.n;

	while (lo < hi) {               /* the first one that is later */
		size_t mid = lo + (hi - lo) / 2;
		const struct history_failure *f = &h->failures.v[mid];

		if (f->page < page || (f->page == page && f->time <= t))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && h->failures.v[lo - 1].page == page ? &h->failures.v[lo - 1] : NULL;
}

int64_t history_at(const struct history *h, uint32_t page, int64_t t, bool nearest)
{
	uint64_t lo = h->first[page], hi = h->first[page + 1];
	const struct capture *c = h->captures.v;

	while (lo < hi) {               /* first capture later than t */
		uint64_t mid = lo + (hi - lo) / 2;

		if (c[mid].time <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == h->first[page])
		return -1;
	if (nearest && lo < h->first[page + 1] && c[lo].time - t < t - c[lo - 1].time)
		return (int64_t)lo;
	return (int64_t)lo - 1;
}

bool history_same(const struct history *h, uint64_t a, uint64_t b)
{
	const struct capture *x = &h->captures.v[a], *y = &h->captures.v[b];

	if (x->gone || y->gone)
		return x->gone == y->gone;
	return x->moved == y->moved && judge_same_mark(&h->detect, x->key, y->key);
}

const uint32_t *history_links(const struct history *h, uint64_t capture, size_t *ret_n)
{
	uint32_t k = h->captures.v[capture].links;

	*ret_n = (size_t)(h->list_first.v[k + 1] - h->list_first.v[k]);
	return h->targets.v + h->list_first.v[k];
}
