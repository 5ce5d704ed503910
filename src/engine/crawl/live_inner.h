/* SPDX-License-Identifier: Apache-2.0 */
/* live_inner.h - what live.c (asking), live_judge.c (answers and siblings) and
 * live_keep.c (store, estimate) share. */
#ifndef ENGINE_CRAWL_LIVE_INNER_H
#define ENGINE_CRAWL_LIVE_INNER_H

#include "engine/crawl/crawl_inner.h"
#include "engine/crawl/live.h"

#define LIVE_NONE UINT32_MAX

/* What a host has shown of itself and of HEAD. */
struct live_host {
	uint32_t decided;               /* HEAD alone told enough */
	uint32_t wasted;                /* a GET had to follow */
	uint32_t agreed;                /* GET confirmed that HEAD failed, in a row */
	bool lies;                      /* GET did not */
	bool silent;                    /* it gave no answer when last asked */
};

/* What the missing sibling of a directory gives. */
struct live_probe {
	enum { PROBE_NEW, PROBE_ASKED, PROBE_KNOWN } state;
	struct liveness_answer answer;
	char *final_url;                /* answer's, owned */
	bool is_text;
	uint32_t waiting;               /* first of the slots that wait, or LIVE_NONE */
};

/* A page under test. */
struct live_slot {
	uint32_t lease;                 /* its page, in the engine's cycle */
	uint32_t next;                  /* that waits for the same probe, or is free */
	unsigned requests, robots;      /* robots: of the budget, for where it leads */
	enum fetch_method asked;        /* first of the last try */
	bool second_opinion;
	struct liveness_answer answer;
	char *final_url;                /* if redirected */
	int first_status;               /* of a redirect */
	bool is_text;                   /* its text was read */
	int64_t time;
};

/* By page; from VERDICT_DEAD on its life is known. */
enum { VERDICT_NONE, VERDICT_UNKNOWN, VERDICT_DEAD, VERDICT_HIT };

struct live {
	struct analyser analyser;
	struct strtab hosts, dirs, places;      /* places: URLs found alive */
	VEC(struct live_host) host;
	VEC(struct live_probe) probes;
	VEC(struct live_slot) slots;
	uint32_t free_slot;
	size_t n_open;                  /* slots in use */
	uint32_t spent;                 /* requests: made, or granted to be made */
	uint32_t parts;                 /* crawlers that share the list, this one included */
	uint8_t *verdict;
	struct buf url;
	bool over;                      /* the fetcher was told to stop */
	bool bounded;                   /* low and high are final but for what is tested */
	uint64_t sample_high, sample_low;
};

/* live.c */
/* Set up: what a run that was broken off has found, and the sample.  Then test pages until
 * there are no more to test.  live_free() takes NULL. */
MUST_CHECK int live_start(struct crawl *c, struct err *err);
MUST_CHECK int live_run(struct crawl *c, struct err *err);
void live_free(struct live *l);
/* The options of the fetcher for tests of life; its `arg` is the crawl. */
void live_fetch_options(struct fetch_options *o);
/* No request was made, and not because nobody is there: forbidden. */
static inline bool live_forbidden(const struct live_slot *s, enum fetch_error e)
{
	return !s->requests && (e == FETCH_BAD_URL || e == FETCH_GATE || e == FETCH_PORT ||
	                        e == FETCH_ROBOTS || e == FETCH_CRAWL_DELAY || e == FETCH_TOO_LARGE);
}
/* May one more request be made?  Then it is counted. */
static inline bool live_may_spend(struct crawl *c)
{
	if (c->live->spent >= c->budget)
		return false;
	c->live->spent++;
	return true;
}
/* Free a slot. */
void live_free_slot(struct live *l, uint32_t slot);
/* End a slot without a verdict: its page was not tested. */
void live_drop(struct crawl *c, uint32_t slot);

/* live_judge.c */
/* The lease of the page that a request is for; 0: it is for a sibling. */
uint32_t live_lease(const struct live *l, const struct fetch_sent *request);
/* A page's answer, or a probe's: on to the next request, or to a verdict. */
MUST_CHECK int live_answered(struct crawl *c, const struct fetch_result *r, struct err *err);
enum fetch_method live_method(struct crawl *c, const char *url, bool *ret_second_opinion);
/* The same for a slot when its turn comes. */
void live_reconsider(void *crawl, uint32_t slot, enum fetch_method *method,
                     bool *second_opinion);

/* live_keep.c */
/* The verdict on a slot: counted, written, delivered. */
MUST_CHECK int live_keep(struct crawl *c, uint32_t slot, enum liveness_class target,
                         enum fetch_error error, struct err *err);
/* A visit of this run, from before it was broken off. */
MUST_CHECK int live_recall(struct crawl *c, const struct store_visit *v, struct err *err);
/* What the engine's sample says of n pages, as far as it was tested. */
struct live_bounds { uint64_t sample, hits, low, high; };
void live_bounds(const struct engine *e, const uint8_t *verdict, uint64_t n,
                 struct live_bounds *ret);
void live_estimate(struct crawl *c);
bool live_enough(void *crawl);
/* What no visit tells: requests that were not for pages. */
MUST_CHECK int live_commit(struct crawl *c, struct err *err);
MUST_CHECK int live_state(struct crawl *c, struct err *err);

#endif
