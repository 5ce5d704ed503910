/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bids.c - a shard asks for the next part of its budget.
 *
 * It writes its bid into the ledger, reads those of all shards, and takes what the market
 * (engine/market/market.h) offers it.  Two workers that do so at the same moment may both be
 * offered the last requests: the ledger grants them once.
 *
 * The bid that others see is without what it was just granted: with it they would think the
 * shard, which is busy, richer than it is, and wait.
 *
 * Shards that have the best pages may be slow: their hosts want pauses.  The others wait for
 * them, in the hope to hear something better, for a tenth of their time in all, as a crawl waits
 * for slow pages (crawl_ask.c), and by the same clock: a shard waits while it has idle
 * connections and nothing to ask for.  After that it takes what it would be granted in this
 * cycle anyway, as far as is known (MARKET_NOW).  So a cycle of a fleet takes little longer than
 * its pages would if they were known beforehand, and ends about when that of one machine would.
 *
 * A bid in the ledger is 459 bytes: a letter for the version and whether scores can be
 * compared, then 32-bit numbers, lowest byte first: first, top, the packed counts;
 * a letter that says whether sums follow, and the sums (policy/shared.h).
 */
#include "engine/fleet/work_inner.h"

#include <math.h>
#include <string.h>

#include "base/little.h"
#include "base/stop.h"
#include "engine/cycle/cycle.h"
#include "engine/market/market.h"

#define VERSION '3'
#define SUMS_AT (2 + 4 * (2 + DEMAND_PACKED))
#define BID_SIZE (SUMS_AT + 1 + 8 * SHARED_SUMS)
#define TOP_MOST (1 << 17)
#define YIELD_SECONDS 2         /* a shard below the price keeps its slot so long */
/* A shard with idle connections waits for the price to fall: so many seconds, and a share of the
 * time since its part began. */
#define WAIT_FREE 0.2
#define WAIT_SHARE 0.1

static void put_double(unsigned char *p, double x)
{
	union { double d; uint64_t u; } v = { x };

	little_put(p, v.u, 8);
}

static double get_double(const unsigned char *p)
{
	union { uint64_t u; double d; } v = { little_get(p, 8) };

	return v.d;
}

static void write_bid(const struct demand *d, bool comparable, unsigned char out[BID_SIZE])
{
	uint32_t packed[DEMAND_PACKED];

	demand_pack(d, packed);
	out[0] = VERSION;
	out[1] = comparable ? 'y' : 'n';
	little_put(out + 2, d->first, 4);
	little_put(out + 6, (uint32_t)d->top, 4);
	for (int i = 0; i < DEMAND_PACKED; i++)
		little_put(out + 10 + 4 * i, packed[i], 4);
	out[SUMS_AT] = d->shared.any ? 'y' : 'n';
	for (int i = 0; i < SHARED_SUMS; i++)
		put_double(out + SUMS_AT + 1 + 8 * i, d->shared.sum[i]);
}

/* A row that is no bid of this version counts as none. */
static void read_bid(struct market_shard *m, struct text bid)
{
	const unsigned char *p = (const unsigned char *)bid.s;
	uint32_t packed[DEMAND_PACKED];

	if (bid.size != BID_SIZE || p[0] != VERSION)
		return;
	m->known = true;
	m->not_comparable = p[1] != 'y';
	m->demand.first = little_get32(p + 2);
	m->demand.top = (int32_t)little_get32(p + 6);
	if (m->demand.top > TOP_MOST || m->demand.top < -TOP_MOST)
		m->demand.top = 0;
	for (int i = 0; i < DEMAND_PACKED; i++)
		packed[i] = little_get32(p + 10 + 4 * i);
	demand_unpack(&m->demand, packed);
	m->demand.shared.any = p[SUMS_AT] == 'y';
	for (int i = 0; i < SHARED_SUMS; i++) {
		double x = get_double(p + SUMS_AT + 1 + 8 * i);

		m->demand.shared.sum[i] = isfinite(x) ? x : 0;
	}
}

struct reading { VEC(struct market_shard) shards; int32_t want; uint32_t at; };

static int see_bid(void *arg, const struct fleet_bid *b, struct err *err)
{
	struct reading *r = arg;
	struct market_shard m = { .pages = b->pages > UINT32_MAX ? UINT32_MAX : (uint32_t)b->pages,
	                          .last = b->last, .granted = b->granted, .done = b->done };

	(void)err;
	read_bid(&m, b->bid);
	if (b->shard == r->want)
		r->at = (uint32_t)r->shards.n;
	vec_push(&r->shards, m);
	return 0;
}

static int read_market(struct slot *s, struct reading *r, struct market *ret, struct err *err)
{
	int rc;

	*r = (struct reading){ .want = s->lease.shard };
	rc = fleet_bids(s->work->fleet, s->cycle.number, see_bid, r, err);
	if (rc == 0 && r->at >= r->shards.n)
		rc = err_set(err, E_STORE, "%s: shard %d is gone", fleet_shown(s->work->fleet),
		             s->lease.shard);
	if (rc < 0)
		vec_release(&r->shards);
	*ret = (struct market){ s->cycle.budget, (uint32_t)r->shards.n, r->shards.v };
	return rc;
}

int bids_expect(struct slot *s, uint32_t *ret, struct err *err)
{
	struct reading r;
	struct market m;
	int rc = read_market(s, &r, &m, err);

	if (rc < 0)
		return rc;
	*ret = market_expect(&m, r.at);
	s->crawl.shared = market_shared(&m);
	vec_release(&r.shards);
	return 0;
}

static int say_bid(struct slot *s, const struct demand *d, bool comparable, struct err *err)
{
	unsigned char bytes[BID_SIZE];

	write_bid(d, comparable, bytes);
	return fleet_bid(s->work->fleet, &s->lease, (struct text){ (char *)bytes, BID_SIZE }, err);
}

int bids_end(struct slot *s, struct err *err)
{
	return s->opened ? say_bid(s, &s->opening, s->comparable, err) : 0;
}

static void end_wait(struct slot *s)
{
	if (s->waits_since > 0)
		s->waited += fleet_clock() - s->waits_since;
	s->waits_since = s->empty_since = 0;
}

static enum market_patience patience_of(const struct slot *s)
{
	double now = fleet_clock();
	double wait = s->waited + (s->waits_since > 0 ? now - s->waits_since : 0);

	return wait > WAIT_FREE + WAIT_SHARE * (now - s->began) ? MARKET_NOW : MARKET_WAITS;
}

/* Below the price.  With nothing under way: is the slot wanted by another shard? */
static int wait_for_turn(struct slot *s, enum crawl_idle idle, struct err *err)
{
	double now = fleet_clock();
	bool wanted = false;
	int rc;

	s->waits_since = s->waits_since > 0 ? s->waits_since : now;
	if (idle != CRAWL_ALL_IDLE)
		return CRAWL_MORE_LATER;
	s->empty_since = s->empty_since > 0 ? s->empty_since : now;
	slot_say(s, "waiting", -1);
	if (now - s->empty_since < YIELD_SECONDS)
		return CRAWL_MORE_LATER;
	rc = fleet_waiting(s->work->fleet, s->cycle.number, &wanted, err);
	if (rc == 0 && wanted) {
		s->yields = true;
		stop_set(&s->stop);
	}
	return rc < 0 ? rc : CRAWL_MORE_LATER;
}

int bids_more(void *arg, struct engine *e, enum crawl_idle idle, uint32_t *granted,
              struct err *err)
{
	struct slot *s = arg;
	struct demand demand = { 0 };
	bool comparable = engine_demand(e, &demand);
	uint32_t total = *granted, offer, left;
	struct reading r;
	struct market m;
	double price;
	int rc;

	if (idle == CRAWL_ALL_IDLE && comparable && !demand.first && !demand_total(&demand))
		return CRAWL_NO_MORE;   /* there is nothing to ask for */
	rc = read_market(s, &r, &m, err);
	if (rc < 0)
		return rc;
	if (!s->opened) {
		s->opening = demand;
		s->began = fleet_clock();
	}
	s->opening.shared = demand.shared;
	s->opened = true;
	s->comparable = comparable;
	market_bid(&m, r.at, &demand, comparable);
	price = market_price(&m);
	offer = market_offer(&m, r.at, patience_of(s));
	left = market_left(&m);
	vec_release(&r.shards);
	if (offer)
		rc = fleet_grant(s->work->fleet, &s->lease, s->cycle.number, offer, &total, err);
	if (rc == 0) {
		demand_spend(&demand, total > *granted ? total - *granted : 0);
		rc = say_bid(s, &demand, comparable, err);
	}
	if (rc == 0 && isfinite(price))
		rc = fleet_price(s->work->fleet, s->cycle.number, price, err);
	if (rc < 0)
		return rc;
	if (total > *granted) {
		*granted = total;
		end_wait(s);
		slot_say(s, "crawling", -1);
		return CRAWL_MORE_LATER;
	}
	/* what others do not spend comes back while their part lasts; it is not waited for */
	return left ? wait_for_turn(s, idle, err) : CRAWL_NO_MORE;
}
