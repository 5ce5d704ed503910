/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - seconds, by the wall and by the processor. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

static inline double clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double wall_now(void) { return clock_of(CLOCK_MONOTONIC); }
static inline double cpu_now(void) { return clock_of(CLOCK_PROCESS_CPUTIME_ID); }

#endif
