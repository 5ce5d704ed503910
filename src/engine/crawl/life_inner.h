/* SPDX-License-Identifier: Apache-2.0 */
/* life_inner.h - what life.c (asking), life_judge.c (answers and siblings) and
 * life_write.c (store, estimate) share. */
#ifndef ENGINE_CRAWL_LIFE_INNER_H
#define ENGINE_CRAWL_LIFE_INNER_H

#include "engine/crawl/crawl_inner.h"
#include "engine/crawl/life.h"

#define LIFE_NONE UINT32_MAX

/* What a host has shown of itself and of HEAD. */
struct life_host {
	uint32_t decided;               /* pages for which HEAD alone told enough */
	uint32_t wasted;                /* pages for which a GET had to follow */
	uint32_t agreed;                /* times in a row that GET found no page, as HEAD had */
	bool lies;                      /* GET found what HEAD had denied, or it knows no HEAD */
	bool silent;                    /* it gave no answer when last asked */
};

/* What the missing sibling of a directory gives. */
struct life_probe {
	enum { PROBE_NEW, PROBE_ASKED, PROBE_KNOWN } state;
	struct liveness_answer answer;
	char *final_url;                /* answer's, owned */
	bool is_text;
	uint32_t waiting;               /* first of the slots that wait, or LIFE_NONE */
};

/* A page under test. */
struct life_slot {
	uint32_t lease;                 /* its page, in the engine's cycle */
	uint32_t next;                  /* that waits for the same probe, or is free */
	unsigned requests, robots;      /* robots: of the budget, for where it leads */
	enum fetch_method asked;        /* the method that the last try began with */
	bool second_opinion;
	struct liveness_answer answer;
	char *final_url;                /* if redirected */
	int first_status;               /* of a redirect */
	bool is_text;                   /* its text was read */
	int64_t time;
};

/* By page; from VERDICT_DEAD on its life is known. */
enum { VERDICT_NONE, VERDICT_UNKNOWN, VERDICT_DEAD, VERDICT_HIT };

struct life {
	struct analyser analyser;
	struct strtab hosts, dirs, found;       /* found: URLs found alive */
	VEC(struct life_host) host;
	VEC(struct life_probe) probes;
	VEC(struct life_slot) slots;
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

/* life.c */
/* Set up: what a run that was broken off has found, and the sample.  Then test pages until
 * there are no more to test.  life_free() takes NULL. */
MUST_CHECK int life_start(struct crawl *c, struct err *err);
MUST_CHECK int live_run(struct crawl *c, struct err *err);
void life_free(struct life *l);
/* The options of the fetcher for tests of life; its `arg` is the crawl. */
void life_fetch_options(struct fetch_options *o);
/* No request was made, and not because nobody is there: forbidden. */
static inline bool life_forbidden(const struct life_slot *s, enum fetch_error e)
{
	return !s->requests && (e == FETCH_BAD_URL || e == FETCH_GATE || e == FETCH_PORT ||
	                        e == FETCH_ROBOTS || e == FETCH_CRAWL_DELAY || e == FETCH_TOO_LARGE);
}
/* May one more request be made?  Then it is counted. */
static inline bool life_may_spend(struct crawl *c)
{
	if (c->life->spent >= c->budget)
		return false;
	c->life->spent++;
	return true;
}
/* Free a slot. */
void life_free_slot(struct life *l, uint32_t slot);
/* End a slot without a verdict: its page was not tested. */
void life_drop(struct crawl *c, uint32_t slot);

/* life_judge.c */
/* The lease of the page that a request is for; 0: it is for a sibling. */
uint32_t life_lease(const struct life *l, const struct fetch_sent *request);
/* A page's answer, or a probe's: on to the next request, or to a verdict. */
MUST_CHECK int life_answered(struct crawl *c, const struct fetch_result *r, struct err *err);
enum fetch_method life_method(struct crawl *c, const char *url, bool *ret_second_opinion);
/* The same for a slot when its turn comes. */
void life_reconsider(void *crawl, uint32_t slot, enum fetch_method *method,
                     bool *second_opinion);

/* life_write.c */
/* The verdict on a slot: counted, written, delivered. */
MUST_CHECK int life_write(struct crawl *c, uint32_t slot, enum liveness_class target,
                          enum fetch_error error, struct err *err);
/* A visit of this run, from before it was broken off. */
MUST_CHECK int life_recall(struct crawl *c, const struct store_visit *v, struct err *err);
/* What the engine's sample says of n pages, as far as it was tested. */
struct life_bounds { uint64_t sample, hits, low, high; };
void life_bounds(const struct engine *e, const uint8_t *verdict, uint64_t n,
                 struct life_bounds *ret);
void life_estimate(struct crawl *c);
bool life_enough(void *crawl);
/* What no visit tells: requests that were not for pages. */
MUST_CHECK int life_commit(struct crawl *c, struct err *err);
MUST_CHECK int life_state(struct crawl *c, struct err *err);

#endif
