/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_run.h - one run of a replay, shared by replay_run.c (moves the clock, answers
 * visits) and replay_measure.c and replay_time.c (measure).
 */
#ifndef ENGINE_REPLAY_REPLAY_RUN_H
#define ENGINE_REPLAY_REPLAY_RUN_H

#include "engine/replay/replay.h"
#include "engine/replay/replay_fail.h"
#include "engine/replay/replay_search.h"
#include "engine/view/features.h"

#define NEVER PAGE_NONE         /* no capture */

/* The links of copies at the start; pages: scratch. */
struct replay_links { const struct replay *r; VEC(uint32_t) pages; };
const uint32_t *replay_links_at_start(struct replay_links *l, uint32_t page, size_t *ret_n);

struct shards_run;

struct run {                    /* one policy, one seed */
	const struct replay *r;
	const char *policy;             /* its spec */
	struct engine engine;
	/* by page, a capture or NEVER: our copy, what is live now, what was a cycle ago */
	uint32_t *copy, *current, *before;
	uint8_t *truth;
	int64_t *stale_since, *next_change;     /* only for a policy that knows the future */
	struct time_sums { double copies, fresh, age, weight, weight_fresh, weight_age; } time;
	bool can_fail;
	int64_t now;
	struct features features;               /* only for policies that cluster */
	uint32_t *older;                        /* the copy before, for them */
	struct search_index index;              /* only with r->search */
	uint32_t n_alive;                       /* goal alive: to be found */
	uint64_t n_probes, n_found;
	int n_alphas;                           /* goal alive: shares of the living reached so far */
	struct site_measure *sites;             /* by site, or NULL */
	struct shards_run *shards;              /* or NULL; the engine then only holds what they did */
	uint32_t n_there;                       /* pages that a visit in this cycle would find
	                                           changed (or alive, if that is the goal) */
};

static inline bool differs(const struct run *run, uint32_t a, uint32_t b)
{
	if (a == NEVER || b == NEVER)
		return a != b;
	return !history_same(run->r->history, a, b);
}

static inline bool is_gone(const struct run *run, uint32_t capture)
{
	return capture == NEVER || run->r->history->captures.v[capture].gone;
}

static inline bool changed_local(const struct run *run, uint32_t page)
{
	return differs(run, run->copy[page], run->current[page]);
}

static inline bool changed_cycle(const struct run *run, uint32_t page)
{
	return differs(run, run->before[page], run->current[page]);
}

/* When our copy became stale; `current` differs from our copy. */
int64_t stale_since(const struct run *run, uint32_t page, uint32_t current);

/* replay_time.c: measure at all moments S + k days in [from, to).  The clock was moved
 * from `from` to `to`, and no copy was taken since. */
void measure_time(struct run *run, int64_t from, int64_t to);
struct replay_time measured_time(const struct run *run);
/* Set stale_since and next_change, for policies with NEED_FUTURE. */
void find_future(struct run *run);
static inline enum failure failing(const struct run *run, uint32_t page)
{
	return run->can_fail ? replay_failing(run->r, page, run->current[page], run->now) :
	       FAILURE_NO;
}

static inline bool is_alive(const struct run *run, uint32_t page)
{
	return !is_gone(run, run->current[page]) && failing(run, page) == FAILURE_NO;
}

/* What a visit to a page would find now. */
void replay_answer(const struct run *run, uint32_t page, struct delivery *ret);

/* A feature_source of our copies; self is the run. */
bool replay_copy_facts(const void *self, uint32_t page, bool older, struct page_facts *ret);
const uint32_t *replay_copy_links(const void *self, uint32_t page, size_t *ret_n);

/* Before the visits of a cycle: count what can be found. */
void measure_before(struct run *run, struct cycle_measure *m);

/* Measure the visits of a cycle, and update our copies. */
void measure_visits(struct run *run, int64_t before, struct cycle_measure *m);

/* Goal alive: note where the visits of a cycle reach each share of all living pages. */
void measure_cost(struct run *run, struct replay_run *ret);

void measure_repository(struct run *run, struct cycle_measure *m);
void measure_search(struct run *run, uint32_t cycle, struct cycle_measure *m,
                    struct replay_run *ret);

#endif
