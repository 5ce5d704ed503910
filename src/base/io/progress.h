/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on a terminal: done of total, rate, time left.  Or a callback of
 * the user, which may stop the work.
 *
 * The line is drawn only if stderr is a terminal, the level is not quiet, and there is no
 * callback.  Cheap to call for every item: line or callback come at first and every 0.1
 * s.
 */
#ifndef BASE_IO_PROGRESS_H
#define BASE_IO_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what, *unit;        /* "importing", "URLs" */
	uint64_t total;                 /* 0: not known */
	uint64_t done;
	double left;                    /* seconds left, if the caller knows better than the rate, */
	bool left_known;                /* and set this */
	double started, shown;
	bool on;
	/* Set, or zero, before the first progress_start(), which leaves them: called
	 * instead of the line; true: stop. */
	bool (*watch)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
	bool stopped;
};

void progress_start(struct progress *p, const char *what, const char *unit, uint64_t total);
/* True: the callback wants the work stopped, now or before. */
bool progress_set(struct progress *p, uint64_t done);
/* Callback of readers: bytes done of all, shown in MiB. */
bool progress_bytes(void *progress, uint64_t done, uint64_t total);
void progress_clear(const struct progress *p);  /* before other output; the line comes again */
void progress_end(struct progress *p);          /* clears the line */

#endif
