/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - run n independent jobs on a few threads.
 *
 * job(arg, i) is called once for every i < n, from any thread, in any order;
 * each job writes only its own slot of the results, so the outcome does not
 * depend on the number of threads.
 */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stddef.h>

void pool_run(unsigned n_threads, size_t n, void (*job)(void *arg, size_t i), void *arg);
/* Processors this process may use. */
unsigned pool_threads(void);

#endif
