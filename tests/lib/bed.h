/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bed.h - a new repository to crawl from: folder, store, gate to loopback, no waiting.
 *
 * opts are those of a cycle of `oldest`, 20 requests, a day long; a test changes what
 * it is about before it calls bed_cycle().
 */
#ifndef TESTS_LIB_BED_H
#define TESTS_LIB_BED_H

#include "base/math/rng.h"
#include "demo/origin.h"
#include "engine/crawl/crawl.h"
#include "fetch/gate.h"
#include "scratch.h"

struct bed {
	struct store *store;
	struct gate gate;
	struct crawl_opts opts;
	bool lapses;                    /* what is under way at a kill does */
	char dir[SCRATCH_PATH], db[SCRATCH_PATH + 50], warc[SCRATCH_PATH + 50];
};

/* The gate lets these addresses through, nothing else. */
void bed_open(struct bed *b, const char *addresses);
/* Go on with another repository of this name in the same folder. */
void bed_renew(struct bed *b, const char *name);
/* Put a new page under care; ends the test if there is one already. */
__attribute__((format(printf, 2, 3))) void bed_add(struct bed *b, const char *format, ...);
/* One cycle; ends the test if it fails. */
struct crawl_report bed_cycle(struct bed *b);
/* One in a process of its own that kills itself when `at` is done (requests; under goal alive
 * tests, or pages of the sample); false: it came to its end before.  What it had sent is
 * forgotten, so that nothing lapses (unless `lapses`): the rest can be compared with a cycle
 * that never broke off.  (crawl_lapse_test.c is about lapses.) */
bool bed_killed_cycle(struct bed *b, uint32_t at);
/* Kill a process that runs a cycle: one in five before its first request, the others when the
 * origin has seen some more, fewer than `most`; and then some milliseconds later.  Requests
 * and not the clock say when, so that a busy machine is killed in the middle, too.  False: it
 * came to its end before; ends the test if that was a failure. */
bool bed_kill(pid_t pid, struct origin *o, struct rng *r, uint32_t most);
/* Of all visits of own cycles: page, place in its cycle, reason, outcome and hit; without
 * outcomes if they may differ (how a page is dead may depend on what its host was asked). */
uint64_t bed_hash_visits(struct bed *b, bool outcomes);
void bed_close(struct bed *b);

#endif
