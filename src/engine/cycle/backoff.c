/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.c - see backoff.h.
 *
 * Cost.  O(1) a visit.  When a cycle begins: O(failing pages), if half of the list has
 * recovered.
 */
#include "engine/cycle/backoff.h"

#include <math.h>

#include "base/math/rng.h"

#define DAY INT64_C(86400)
#define DOUBLINGS_MOST 20       /* 2^20 days are longer than BACKOFF_LONGEST */
#define COMPACT_LEAST 1024      /* recovered entries; fewer are not worth compacting */

enum { DRAW_PAGE = RNG_USER, DRAW_HOST };

int64_t backoff_length(int64_t cycle_seconds, enum failure kind, uint32_t f, double draw)
{
	double base = (double)(cycle_seconds > DAY ? cycle_seconds : DAY);
	double factor = kind == FAILURE_FORBIDDEN || kind == FAILURE_UNWANTED ||
	                kind == FAILURE_DNS ? 4 : kind == FAILURE_RESET ? 0.5 : 1;
	uint32_t doublings = f < 1 ? 0 : f - 1 < DOUBLINGS_MOST ? f - 1 : DOUBLINGS_MOST;
	double length = ldexp(base * factor, (int)doublings) * (0.75 + 0.5 * draw);

	return length < (double)BACKOFF_LONGEST ? (int64_t)length : BACKOFF_LONGEST;
}

static struct backoff_page *find_page(const struct backoff *b, uint32_t page)
{
	uint32_t at = map_get(&b->page_at, page);

	return at == MAP_NONE ? NULL : &b->pages.v[at];
}

static struct backoff_host *find_host(const struct backoff *b, uint32_t host)
{
	uint32_t at = map_get(&b->host_at, host);

	return at == MAP_NONE ? NULL : &b->hosts.v[at];
}

static struct backoff_page *make_page(struct backoff *b, uint32_t page)
{
	struct backoff_page new = { .page = page }, *p = find_page(b, page);

	if (p) {
		b->n_over -= p->fails == 0;
		return p;
	}
	map_put(&b->page_at, page, (uint32_t)b->pages.n);
	vec_push(&b->pages, new);
	return &b->pages.v[b->pages.n - 1];
}

static struct backoff_host *make_host(struct backoff *b, uint32_t host)
{
	struct backoff_host new = { .host = host }, *h = find_host(b, host);

	if (h)
		return h;
	map_put(&b->host_at, host, (uint32_t)b->hosts.n);
	vec_push(&b->hosts, new);
	return &b->hosts.v[b->hosts.n - 1];
}

static void drop_over(struct backoff *b)
{
	size_t kept = 0;

	if (b->n_over < COMPACT_LEAST || b->n_over < b->pages.n / 2)
		return;
	map_release(&b->page_at);
	for (size_t i = 0; i < b->pages.n; i++) {
		if (!b->pages.v[i].fails)
			continue;
		map_put(&b->page_at, b->pages.v[i].page, (uint32_t)kept);
		b->pages.v[kept++] = b->pages.v[i];
	}
	b->pages.n = kept;
	b->n_over = 0;
}

void backoff_begin(struct backoff *b, uint64_t seed, int64_t cycle_seconds, int64_t now)
{
	drop_over(b);
	b->seed = seed;
	b->cycle_seconds = cycle_seconds;
	b->now = now;
	b->cycle++;
	b->answered = false;
	b->waiting.n = 0;
}

void backoff_release(struct backoff *b)
{
	map_release(&b->page_at);
	map_release(&b->host_at);
	vec_release(&b->pages);
	vec_release(&b->hosts);
	vec_release(&b->waiting);
	vec_release(&b->moved);
	*b = (struct backoff){ 0 };
}

static int64_t rest_until(const struct backoff *b, uint32_t number, unsigned draw,
                          enum failure kind, uint32_t fails)
{
	double u = rng_unit(rng_draw(b->seed, (uint64_t)b->now, number, draw));

	return b->now + backoff_length(b->cycle_seconds, kind, fails, u);
}

static void rest_host(struct backoff *b, struct backoff_host *h, enum failure kind)
{
	h->fails++;
	h->until = rest_until(b, h->host, DRAW_HOST, kind, h->fails);
	vec_push(&b->moved, h->host);
}

/* Counts different pages up to BACKOFF_PAGES. */
static void note_page(struct backoff_host *h, uint32_t page)
{
	h->streak += h->streak < BACKOFF_STREAK;
	for (uint32_t i = 0; i < h->n_pages && i < BACKOFF_PAGES - 1; i++)
		if (h->pages[i] == page)
			return;
	if (h->n_pages < BACKOFF_PAGES - 1)
		h->pages[h->n_pages] = page;
	h->n_pages += h->n_pages < BACKOFF_PAGES;
}

static void count(struct backoff *b, uint32_t page, uint32_t host, enum failure kind)
{
	struct backoff_host *h = make_host(b, host);
	struct backoff_page *p;

	if (kind != FAILURE_UNWANTED)
		note_page(h, page);
	if (kind >= FAILURE_CONNECT) {
		if (h->counted != b->cycle)
			rest_host(b, h, kind);
		h->counted = b->cycle;
		return;
	}
	p = make_page(b, page);
	p->fails++;
	p->until = rest_until(b, page, DRAW_PAGE, kind, p->fails);
	if (kind != FAILURE_UNWANTED && h->streak >= BACKOFF_STREAK &&
	    h->n_pages >= BACKOFF_PAGES && h->until <= b->now)
		rest_host(b, h, FAILURE_ANSWER);
}

/* A host answered, so our network works: the waiting failures count. */
static void hear(struct backoff *b)
{
	b->n_answered += !b->answered;
	b->answered = true;
	for (size_t i = 0; i < b->waiting.n; i++)
		count(b, b->waiting.v[i].page, b->waiting.v[i].host, b->waiting.v[i].failure);
	b->waiting.n = 0;
}

static void clear(struct backoff *b, uint32_t page, uint32_t host)
{
	struct backoff_page *p = find_page(b, page);
	struct backoff_host *h = find_host(b, host);

	if (p && p->fails) {
		p->fails = 0;
		p->until = 0;
		b->n_over++;
	}
	if (h && (h->fails || h->until > b->now))
		vec_push(&b->moved, host);
	if (h)
		*h = (struct backoff_host){ .host = host };
}

void backoff_tell(struct backoff *b, uint32_t page, uint32_t host, enum failure f)
{
	if (f == FAILURE_UNKNOWN)
		return;
	if (f >= FAILURE_RESET) {
		struct backoff_waiting w = { page, host, f };

		vec_push(&b->waiting, w);
		return;
	}
	hear(b);
	if (f == FAILURE_NO)
		clear(b, page, host);
	else
		count(b, page, host, f);
}

static size_t count_hosts(const struct backoff *b)
{
	struct map hosts = { 0 };
	size_t n;

	for (size_t i = 0; i < b->waiting.n; i++)
		map_put(&hosts, b->waiting.v[i].host, 1);
	n = hosts.n;
	map_release(&hosts);
	return n;
}

void backoff_end(struct backoff *b)
{
	bool counts = b->answered && count_hosts(b) < BACKOFF_OUTAGE;

	for (size_t i = 0; i < b->waiting.n; i++) {
		const struct backoff_waiting *w = &b->waiting.v[i];
		struct backoff_host *h = make_host(b, w->host);

		if (counts || (h->put_off && h->put_off <= b->n_answered)) {
			count(b, w->page, w->host, w->failure);
			continue;
		}
		h->put_off = b->n_answered + 1;
		if (h->until < b->now + b->cycle_seconds * 3 / 2)
			h->until = b->now + b->cycle_seconds * 3 / 2;
	}
	b->waiting.n = 0;
	b->moved.n = 0;                 /* retry_begin() will look at all hosts */
}

enum rest backoff_look(const struct backoff *b, uint32_t page, uint32_t host)
{
	const struct backoff_page *p = find_page(b, page);
	const struct backoff_host *h = find_host(b, host);

	if ((p && p->fails && p->until > b->now) || (h && h->until > b->now))
		return REST_RESTS;
	return (p && p->fails) || (h && h->fails) ? REST_BACK : REST_NO;
}

bool backoff_why(const struct backoff *b, uint32_t page, uint32_t host, int64_t *ret_until,
                 uint32_t *ret_fails)
{
	const struct backoff_page *p = find_page(b, page);
	const struct backoff_host *h = find_host(b, host);

	if (backoff_look(b, page, host) == REST_NO)
		return false;
	*ret_until = p && p->fails ? p->until : 0;
	*ret_fails = p ? p->fails : 0;
	if (h && h->until > *ret_until) {
		*ret_until = h->until;
		*ret_fails = h->fails;
	}
	return true;
}
