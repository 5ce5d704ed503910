/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - a queue of jobs: a few threads work on them, results come in the order put in.
 *
 * The owner has an array of slots ("places").  It fills slot line_place(), puts it in,
 * and takes slots out again, oldest first, after work(arg, thread, place) was called once
 * for each.  Work may change only its slot and memory of its thread (numbers 0 to
 * n_threads; the last is the owner).  So results do not depend on the number of threads.
 *
 * If the queue is full and the owner waits, it works, too: the threads are too slow.
 * Otherwise it leaves the work to the threads.  Without threads it does all the work.
 */
#ifndef BASE_THREAD_LINE_H
#define BASE_THREAD_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct line;

struct line *line_new(unsigned n_threads, uint32_t n_places,
                      void (*work)(void *arg, unsigned thread, uint32_t place), void *arg);
/* Waits for jobs that have begun; others are never done.  l may be NULL. */
void line_free(struct line *l);

uint32_t line_count(const struct line *l);      /* slots put in and not yet taken out */
bool line_full(const struct line *l);
uint32_t line_place(const struct line *l);      /* the slot to fill next, if not full */
void line_put(struct line *l);
/* Take the oldest slot if its work is done; with `wait`, wait for it.  False: not done,
 * or empty. */
bool line_take(struct line *l, bool wait, uint32_t *ret_place);

#endif
