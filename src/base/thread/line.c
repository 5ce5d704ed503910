/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.c - a ring of places and three counts; see line.h.
 *
 * taken <= begun <= put; what lies between taken and begun is worked on or done.
 * One lock guards all of it: it is held for a few instructions, and a unit of
 * work is expected to take ten thousand times as long.  Threads are woken only if
 * they sleep, so a busy line makes no system calls.
 */
#include "base/thread/line.h"

#include <pthread.h>

#include "base/mem.h"

struct thread { struct line *line; unsigned number; pthread_t id; };

struct line {
	void (*work)(void *arg, unsigned thread, uint32_t place);
	void *arg;
	uint32_t n_places;
	unsigned n_threads;
	struct thread *threads;
	pthread_mutex_t lock;
	pthread_cond_t some_put, some_done;
	uint64_t put, begun, taken;
	bool *done;
	unsigned n_asleep;
	bool owner_asleep, stop;
};

/* Work on the oldest slot that no thread has; the lock is held on entry and exit. */
static void work_once(struct line *l, unsigned thread)
{
	uint32_t place = (uint32_t)(l->begun++ % l->n_places);

	pthread_mutex_unlock(&l->lock);
	l->work(l->arg, thread, place);
	pthread_mutex_lock(&l->lock);
	l->done[place] = true;
	if (l->owner_asleep)
		pthread_cond_signal(&l->some_done);
}

static void *run(void *p)
{
	struct thread *t = p;
	struct line *l = t->line;

	pthread_mutex_lock(&l->lock);
	while (!l->stop) {
		if (l->begun < l->put) {
			work_once(l, t->number);
			continue;
		}
		l->n_asleep++;
		pthread_cond_wait(&l->some_put, &l->lock);
		l->n_asleep--;
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct line *line_new(unsigned n_threads, uint32_t n_places,
                      void (*work)(void *arg, unsigned thread, uint32_t place), void *arg)
{
	struct line *l = mem_zalloc(1, sizeof *l);

	l->work = work;
	l->arg = arg;
	l->n_places = n_places;
	l->done = mem_zalloc(n_places, sizeof *l->done);
	l->threads = mem_zalloc(n_threads + 1, sizeof *l->threads);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->some_put, NULL);
	pthread_cond_init(&l->some_done, NULL);
	/* the owner's number follows that of the last thread that could be started */
	for (; l->n_threads < n_threads; l->n_threads++) {
		struct thread *t = &l->threads[l->n_threads];

		*t = (struct thread){ .line = l, .number = l->n_threads };
		if (pthread_create(&t->id, NULL, run, t))
			break;
	}
	return l;
}

void line_free(struct line *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_broadcast(&l->some_put);
	pthread_mutex_unlock(&l->lock);
	for (unsigned i = 0; i < l->n_threads; i++)
		pthread_join(l->threads[i].id, NULL);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->some_put);
	pthread_cond_destroy(&l->some_done);
	free(l->threads);
	free(l->done);
	free(l);
}

/* put and taken are written by the owner alone, so it may read them freely. */
uint32_t line_count(const struct line *l)
{
	return (uint32_t)(l->put - l->taken);
}

bool line_full(const struct line *l)
{
	return line_count(l) == l->n_places;
}

uint32_t line_place(const struct line *l)
{
	return (uint32_t)(l->put % l->n_places);
}

void line_put(struct line *l)
{
	pthread_mutex_lock(&l->lock);
	l->done[l->put++ % l->n_places] = false;
	if (l->n_asleep)
		pthread_cond_signal(&l->some_put);
	pthread_mutex_unlock(&l->lock);
}

bool line_take(struct line *l, bool wait, uint32_t *ret_place)
{
	uint32_t place = (uint32_t)(l->taken % l->n_places);
	bool got;

	if (l->taken == l->put)
		return false;
	pthread_mutex_lock(&l->lock);
	while (wait && !l->done[place]) {
		if (l->begun < l->put && (line_full(l) || !l->n_threads)) {
			work_once(l, l->n_threads);
			continue;
		}
		l->owner_asleep = true;
		pthread_cond_wait(&l->some_done, &l->lock);
		l->owner_asleep = false;
	}
	got = l->done[place];
	if (got) {
		l->taken++;
		*ret_place = place;
	}
	pthread_mutex_unlock(&l->lock);
	return got;
}
