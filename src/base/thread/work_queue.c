/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_queue.c - a ring of slots and three counts; see work_queue.h.
 *
 * taken <= begun <= put; what lies between taken and begun is worked on or done.
 * One lock guards all of it: it is held for a few instructions, and a unit of
 * work is expected to take ten thousand times as long.  Threads are woken only if
 * they sleep and there is a call's worth of work for them, so a busy queue makes few
 * system calls.
 */
#include "base/thread/work_queue.h"

#include <pthread.h>

#include "base/mem.h"

struct thread { struct work_queue *queue; unsigned number; pthread_t id; };

struct work_queue {
	work_function *work;
	void *arg;
	uint32_t n_slots, together;
	unsigned n_threads;
	struct thread *threads;
	pthread_mutex_t lock;
	pthread_cond_t some_put, some_done;
	uint64_t put, begun, taken;
	bool *done;
	unsigned n_asleep;
	bool owner_asleep, stop;
};

static uint64_t n_waiting(const struct work_queue *q)
{
	return q->put - q->begun;
}

/* May a thread begin? */
static bool is_enough(const struct work_queue *q)
{
	uint64_t calls = (uint64_t)q->together * q->n_threads, half = (q->n_slots + 1) / 2;

	return n_waiting(q) && (q->owner_asleep || n_waiting(q) >= (calls < half ? calls : half));
}

/* Work on the oldest slots that no thread has; the lock is held on entry and exit. */
static void work_once(struct work_queue *q, unsigned thread)
{
	uint64_t share = n_waiting(q) / (q->n_threads ? q->n_threads : 1);
	uint32_t slots[WORK_TOGETHER_MAX], n;

	n = share < 1 ? 1 : share < q->together ? (uint32_t)share : q->together;
	for (uint32_t i = 0; i < n; i++)
		slots[i] = (uint32_t)(q->begun++ % q->n_slots);
	pthread_mutex_unlock(&q->lock);
	q->work(q->arg, thread, slots, n);
	pthread_mutex_lock(&q->lock);
	for (uint32_t i = 0; i < n; i++)
		q->done[slots[i]] = true;
	if (q->owner_asleep)
		pthread_cond_signal(&q->some_done);
}

static void *run(void *p)
{
	struct thread *t = p;
	struct work_queue *q = t->queue;

	pthread_mutex_lock(&q->lock);
	while (!q->stop) {
		if (is_enough(q)) {
			work_once(q, t->number);
			continue;
		}
		q->n_asleep++;
		pthread_cond_wait(&q->some_put, &q->lock);
		q->n_asleep--;
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

struct work_queue *work_queue_new(unsigned n_threads, uint32_t n_slots, uint32_t together,
                                  work_function *work, void *arg)
{
	struct work_queue *q = mem_zalloc(1, sizeof *q);

	q->work = work;
	q->arg = arg;
	q->n_slots = n_slots;
	q->together = together < WORK_TOGETHER_MAX ? together : WORK_TOGETHER_MAX;
	q->done = mem_zalloc(n_slots, sizeof *q->done);
	q->threads = mem_zalloc(n_threads + 1, sizeof *q->threads);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->some_put, NULL);
	pthread_cond_init(&q->some_done, NULL);
	/* the owner's number follows that of the last thread that could be started */
	for (; q->n_threads < n_threads; q->n_threads++) {
		struct thread *t = &q->threads[q->n_threads];

		*t = (struct thread){ .queue = q, .number = q->n_threads };
		if (pthread_create(&t->id, NULL, run, t))
			break;
	}
	return q;
}

void work_queue_free(struct work_queue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_cond_broadcast(&q->some_put);
	pthread_mutex_unlock(&q->lock);
	for (unsigned i = 0; i < q->n_threads; i++)
		pthread_join(q->threads[i].id, NULL);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->some_put);
	pthread_cond_destroy(&q->some_done);
	free(q->threads);
	free(q->done);
	free(q);
}

/* put and taken are written by the owner alone, so it may read them freely. */
uint32_t work_queue_count(const struct work_queue *q)
{
	return (uint32_t)(q->put - q->taken);
}

bool work_queue_full(const struct work_queue *q)
{
	return work_queue_count(q) == q->n_slots;
}

uint32_t work_queue_slot(const struct work_queue *q)
{
	return (uint32_t)(q->put % q->n_slots);
}

void work_queue_put(struct work_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->done[q->put++ % q->n_slots] = false;
	if (q->n_asleep && is_enough(q))
		pthread_cond_signal(&q->some_put);
	pthread_mutex_unlock(&q->lock);
}

bool work_queue_take(struct work_queue *q, bool wait, uint32_t *ret_slot)
{
	uint32_t slot = (uint32_t)(q->taken % q->n_slots);
	bool got;

	if (q->taken == q->put)
		return false;
	pthread_mutex_lock(&q->lock);
	while (wait && !q->done[slot]) {
		if (n_waiting(q) && (work_queue_full(q) || !q->n_threads)) {
			work_once(q, q->n_threads);
			continue;
		}
		q->owner_asleep = true;
		if (q->n_asleep && n_waiting(q))
			pthread_cond_broadcast(&q->some_put);
		pthread_cond_wait(&q->some_done, &q->lock);
		q->owner_asleep = false;
	}
	got = q->done[slot];
	if (got) {
		q->taken++;
		*ret_slot = slot;
	}
	pthread_mutex_unlock(&q->lock);
	return got;
}
