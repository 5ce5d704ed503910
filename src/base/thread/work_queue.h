/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_queue.h - a queue of jobs for a few threads; results come in the order put in.
 *
 * The owner has an array of slots.  It fills slot work_queue_slot(), puts it in, and takes slots
 * out again, oldest first, after work() was called once for each.  Work may change only its slots
 * and memory of its thread (numbers 0 to n_threads; the last is the owner).  So results do not
 * depend on the number of threads.
 *
 * A call is for some slots, at most `together`, and leaves the other threads as many.  Few long
 * calls cost less than many short ones.  So a thread begins when there is a full call for each
 * thread, when half of the slots are filled, or when the owner waits.
 *
 * If the queue is full and the owner waits, it works, too: the threads are too slow.
 * Otherwise it leaves the work to the threads.  Without threads it does all the work.
 */
#ifndef BASE_THREAD_WORK_QUEUE_H
#define BASE_THREAD_WORK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct work_queue;

#define WORK_TOGETHER_MAX 16

typedef void work_function(void *arg, unsigned thread, const uint32_t *slots, uint32_t n);
struct work_queue *work_queue_new(unsigned n_threads, uint32_t n_slots, uint32_t together,
                                  work_function *work, void *arg);
/* Waits for jobs that have begun; others are never done.  q may be NULL. */
void work_queue_free(struct work_queue *q);

/* Slots put in and not yet taken out. */
uint32_t work_queue_count(const struct work_queue *q);
bool work_queue_full(const struct work_queue *q);
/* The slot to fill next; call only if the queue is not full. */
uint32_t work_queue_slot(const struct work_queue *q);
void work_queue_put(struct work_queue *q);
/* Take the oldest slot if its work is done; with `wait`, wait for it.  False: not done,
 * or empty. */
bool work_queue_take(struct work_queue *q, bool wait, uint32_t *ret_slot);

#endif
