/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - a parallel loop over independent jobs; see pool.h. */
#include "base/thread/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS_MAX 256

struct work {
	atomic_size_t next;
	size_t n;
	void (*job)(void *, size_t);
	void *arg;
};

static void *run(void *p)
{
	struct work *w = p;
	size_t i;

	while ((i = atomic_fetch_add(&w->next, 1)) < w->n)
		w->job(w->arg, i);
	return NULL;
}

void pool_run(unsigned n_threads, size_t n, void (*job)(void *arg, size_t i), void *arg)
{
	struct work w = { .n = n, .job = job, .arg = arg };
	pthread_t id[THREADS_MAX];
	unsigned started = 0;

	if (n_threads > THREADS_MAX)
		n_threads = THREADS_MAX;
	while (started + 1 < n_threads && started + 1 < n &&
	       !pthread_create(&id[started], NULL, run, &w))
		started++;
	run(&w);
	while (started)
		pthread_join(id[--started], NULL);
}

unsigned pool_threads(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}
