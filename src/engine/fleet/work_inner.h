/* SPDX-License-Identifier: Apache-2.0 */
/* work_inner.h - shared by work.c (the worker), left.c (what it left), slot.c (one shard) and
 * bids.c (its budget). */
#ifndef ENGINE_FLEET_WORK_INNER_H
#define ENGINE_FLEET_WORK_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "engine/fleet/work.h"

enum slot_state { SLOT_FREE, SLOT_WORKS, SLOT_ENDED };

struct slot {
	struct work *work;
	pthread_t thread;
	_Atomic int state;              /* enum slot_state */
	struct fleet_lease lease;
	struct fleet_cycle cycle;       /* number 0: only the inbox is to be done */
	_Atomic int64_t send_until;     /* milliseconds of CLOCK_BOOTTIME */
	volatile sig_atomic_t stop;
	/* used by its thread only */
	struct store *side;             /* for the inbox while the crawl runs */
	struct crawl_fleet crawl;
	struct fleet_shard *shards;
	size_t n_shards;
	VEC(char *) moved;              /* targets of redirects, for other shards */
	struct demand opening;          /* its first bid of this part */
	bool opened, comparable;
	double began;                   /* its first bid of this part */
	double waits_since, waited;     /* below the price; 0: it does not wait; and before */
	double empty_since;             /* below the price, and nothing is under way; 0: no */
	double looked;                  /* into the inbox */
	uint32_t sent;                  /* requests of this part that the worker has counted */
	bool yields, failed;
	char said[32];                  /* its state in the ledger */
};

struct work {
	const struct work_opts *o;
	struct fleet *fleet, *renewing; /* renewing: the connection of the thread that renews */
	struct slot *slots;
	pthread_mutex_t filling;        /* who begins a slot has it, and who looks at one from the
	                                 * thread that renews */
	pthread_t renewer;
	_Atomic int over;               /* the thread that renews may end */
	_Atomic double ahead;
	_Atomic uint64_t requests;
};

/* In slot.c: the thread of a slot. */
void *slot_run(void *slot);
void slot_say(struct slot *s, const char *state, int64_t here);
/* In left.c: files that this worker had open when it died get their final names. */
void left_finish(const struct work *w);
/* In bids.c: crawl_fleet.more; what the shard should expect, and what all have learnt. */
int bids_more(void *slot, struct engine *e, enum crawl_idle idle, uint32_t *granted,
              struct err *err);
int bids_expect(struct slot *s, uint32_t *ret, struct err *err);
/* The shard's part is over: until the next begins it counts with the first bid of this one. */
int bids_end(struct slot *s, struct err *err);

#endif
