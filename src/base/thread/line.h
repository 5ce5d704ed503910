/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - work done by a few threads, taken back in the order it was put in.
 *
 * The owner has an array of places.  It fills place line_place(), puts it in, and
 * takes places out again, oldest first, each after work(arg, thread, place) was
 * called for it once.  Work may use what belongs to its thread (numbers 0 to
 * n_threads, the last being the owner's) and its place, and nothing else that
 * changes: so what comes out does not depend on the number of threads.
 *
 * An owner that has to wait while the line is full helps: then the threads cannot
 * keep up.  Otherwise it leaves the work to them, for it may get other things to
 * do.  Without threads it does all of the work.
 */
#ifndef BASE_THREAD_LINE_H
#define BASE_THREAD_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct line;

struct line *line_new(unsigned n_threads, uint32_t n_places,
                      void (*work)(void *arg, unsigned thread, uint32_t place), void *arg);
/* Waits for what is being worked on; the rest stays undone.  NULL is fine. */
void line_free(struct line *l);

uint32_t line_count(const struct line *l);      /* put in and not taken out */
bool line_full(const struct line *l);
uint32_t line_place(const struct line *l);      /* where the next one goes, if not full */
void line_put(struct line *l);
/* The oldest, if its work is done; with `wait` it will be, unless the line is empty. */
bool line_take(struct line *l, bool wait, uint32_t *ret_place);

#endif
