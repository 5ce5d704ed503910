/* SPDX-License-Identifier: Apache-2.0 */
/* market.c - price and tranches; see market.h. */
#include "engine/market/market.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t sum_granted(const struct market *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->n; i++)
		sum += m->shards[i].granted;
	return sum;
}

uint32_t market_left(const struct market *m)
{
	uint64_t sum = sum_granted(m);

	return sum < m->budget ? m->budget - (uint32_t)sum : 0;
}

/* A shard's part of n requests by its pages; the parts of all shards sum up to n. */
static uint32_t part_by_pages(const struct market *m, uint32_t shard, uint32_t n)
{
	uint64_t before = 0, all = 0;

	assert(m->n && shard < m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		before += i < shard ? m->shards[i].pages : 0;
		all += m->shards[i].pages;
	}
	if (!all)
		return n / m->n;
	return (uint32_t)((unsigned __int128)n * (before + m->shards[shard].pages) / all -
	                  (unsigned __int128)n * before / all);
}

uint32_t market_expect(const struct market *m, uint32_t shard)
{
	uint64_t all = 0;
	uint32_t n;

	for (uint32_t i = 0; i < m->n; i++)
		all += m->shards[i].last;
	n = all ? (uint32_t)((m->shards[shard].last * (uint64_t)m->budget + all / 2) / all) :
	    part_by_pages(m, shard, m->budget);
	return n ? n : 1;
}

/* Of its part by pages, what a shard was not granted yet. */
static uint32_t owed_by_pages(const struct market *m, uint32_t shard)
{
	uint32_t part = part_by_pages(m, shard, m->budget), had = m->shards[shard].granted;

	return part > had ? part - had : 0;
}

/* ---- the price ---- */

/* What the price is made of: the curves that bid, and how many requests they bid for. */
struct bidding {
	uint64_t free;                  /* left, and kept for no shard */
	uint64_t first;                 /* wanted at any price */
	double level;                   /* the price */
	uint32_t best;                  /* the shard with the best page, or UINT32_MAX */
};

static bool bids(const struct market_shard *s)
{
	return s->known && !s->not_comparable && !s->done;
}

/* Is something kept for this shard, whatever others bid? */
static bool is_kept_for(const struct market_shard *s)
{
	return !s->done && (s->not_comparable || !s->known);
}

/* The level at which `want` pages are at or above it; -INFINITY: there are not so many. */
static double find_level(const struct market *m, double want)
{
	int32_t high = INT32_MIN, low = INT32_MAX;
	double *count, sum = 0, level = -(double)INFINITY;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct market_shard *s = &m->shards[i];

		if (!bids(s))
			continue;
		high = s->demand.top > high ? s->demand.top : high;
		low = s->demand.top - DEMAND_BUCKETS < low ? s->demand.top - DEMAND_BUCKETS : low;
	}
	if (high < low)
		return level;
	count = mem_zalloc((size_t)((int64_t)high - low + 1), sizeof *count);
	for (uint32_t i = 0; i < m->n; i++)
		for (int b = 0; bids(&m->shards[i]) && b < DEMAND_BUCKETS; b++)
			count[high - (m->shards[i].demand.top - b)] += m->shards[i].demand.count[b];
	for (int64_t b = 0; b <= (int64_t)high - low; b++) {
		if (count[b] > 0 && sum + count[b] >= want) {
			level = (double)(high - b + 1) - (want - sum) / count[b];
			break;
		}
		sum += count[b];
	}
	free(count);
	return level;
}

static int32_t best_bucket(const struct demand *d)
{
	for (int i = 0; i < DEMAND_BUCKETS; i++)
		if (d->count[i])
			return d->top - i;
	return INT32_MIN;
}

static struct bidding bidding_of(const struct market *m, enum market_patience p)
{
	struct bidding b = { .free = market_left(m), .best = UINT32_MAX };
	int32_t best = INT32_MIN;
	uint64_t horizon;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct market_shard *s = &m->shards[i];

		if (is_kept_for(s))
			b.free -= least(b.free, owed_by_pages(m, i));
		if (!bids(s))
			continue;
		b.first += s->demand.first;
		if (best_bucket(&s->demand) > best) {
			best = best_bucket(&s->demand);
			b.best = i;
		}
	}
	horizon = p == MARKET_NOW ? m->budget :
	          ((uint64_t)m->budget * MARKET_HORIZON_PERCENT + 99) / 100;
	horizon = least(horizon, b.free > b.first ? b.free - b.first : 0);
	b.level = horizon ? find_level(m, (double)horizon) : (double)INFINITY;
	return b;
}

double market_price(const struct market *m)
{
	return demand_score(bidding_of(m, MARKET_WAITS).level);
}

/* ---- grants ---- */

/* Its part by pages; when it has that, and no shard bids, a part of what is left over. */
static uint32_t offer_by_pages(const struct market *m, uint32_t shard)
{
	uint32_t owed = owed_by_pages(m, shard), left = market_left(m);
	uint64_t pages = 0, kept = 0, part;

	if (owed)
		return owed < left ? owed : left;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct market_shard *s = &m->shards[i];

		if (bids(s) && (s->demand.first || demand_total(&s->demand)))
			return 0;
		if (is_kept_for(s)) {
			pages += s->pages;
			kept += owed_by_pages(m, i);
		}
	}
	if (kept >= left || !pages)
		return 0;
	part = (left - kept) * m->shards[shard].pages / pages;
	return part ? (uint32_t)part : 1;
}

uint32_t market_offer(const struct market *m, uint32_t shard, enum market_patience p)
{
	const struct market_shard *s = &m->shards[shard];
	uint32_t tranche = (uint32_t)((market_expect(m, shard) * (uint64_t)MARKET_TRANCHE_PERCENT +
	                               99) / 100);
	struct bidding b;
	uint64_t first, more = 0;
	double wants;

	if (s->done)
		return 0;
	if (m->n == 1)
		return market_left(m);
	if (!bids(s))
		return offer_by_pages(m, shard);
	b = bidding_of(m, p);
	/* where not even that can be had, in proportion */
	first = b.first <= b.free ? s->demand.first :
	        (s->demand.first * b.free + b.first - 1) / b.first;
	wants = isinf(b.level) && b.level > 0 ? 0 : demand_at(&s->demand, b.level) - s->demand.first;
	more = (uint64_t)(wants + 0.5);
	if (!more && shard == b.best && b.free > b.first)
		more = 1;
	return (uint32_t)least(first + least(more, tranche), b.free);
}

void market_grant(struct market *m, uint32_t shard, uint32_t n)
{
	m->shards[shard].granted += n;
	demand_spend(&m->shards[shard].demand, n);
}

void market_return(struct market *m, uint32_t shard, uint32_t n)
{
	m->shards[shard].granted -= n < m->shards[shard].granted ? n : m->shards[shard].granted;
}

void market_bid(struct market *m, uint32_t shard, const struct demand *d, bool comparable)
{
	uint32_t packed[DEMAND_PACKED];

	/* as a ledger keeps it */
	demand_pack(d, packed);
	m->shards[shard].demand = *d;
	demand_unpack(&m->shards[shard].demand, packed);
	if (!m->shards[shard].opened)
		m->shards[shard].opening = m->shards[shard].demand;
	m->shards[shard].opened = m->shards[shard].known = true;
	m->shards[shard].not_comparable = !comparable;
}

struct shared market_shared(const struct market *m)
{
	struct shared all = { 0 };

	for (uint32_t i = 0; i < m->n && m->n > 1; i++) {
		const struct market_shard *s = &m->shards[i];

		if (!s->known || s->not_comparable || !s->demand.shared.any)
			continue;
		all.any = true;
		for (int k = 0; k < SHARED_SUMS; k++)
			all.sum[k] += s->demand.shared.sum[k];
	}
	return all;
}

void market_next(struct market *m, uint32_t budget)
{
	m->budget = budget;
	for (uint32_t i = 0; i < m->n; i++) {
		m->shards[i].last = m->shards[i].granted;
		m->shards[i].granted = 0;
		m->shards[i].done = false;
		if (m->shards[i].opened) {
			m->shards[i].opening.shared = m->shards[i].demand.shared;
			m->shards[i].demand = m->shards[i].opening;
		}
		m->shards[i].opened = false;
	}
}
