/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - the progress line; see progress.h. */
#include "base/io/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/when.h"

#define REDRAW_SECONDS 0.1

static double clock_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, const char *what, const char *unit, uint64_t total)
{
	*p = (struct progress){ .what = what, .unit = unit, .total = total, .watch = p->watch,
	                        .arg = p->arg, .stopped = p->stopped };
	p->on = !p->watch && log_level() > LOG_QUIET && isatty(STDERR_FILENO);
	if (p->on)
		p->started = p->shown = clock_seconds();
}

static void draw(struct progress *p, double now)
{
	double spent = now - p->started, rate = spent > 0 ? (double)p->done / spent : 0;
	char left[24] = "";

	fprintf(stderr, "\r%s: %llu", p->what, (unsigned long long)p->done);
	if (p->total)
		fprintf(stderr, " of %llu", (unsigned long long)p->total);
	fprintf(stderr, " %s, %.0f/s", p->unit, rate);
	if (p->done && (p->left_known || (p->total > p->done && rate > 0))) {
		double seconds = p->left_known ? p->left : (double)(p->total - p->done) / rate;

		duration_format((int64_t)(seconds + 0.5), left);
		fprintf(stderr, ", %s left", left);
	}
	fputs("\033[K", stderr);
}

bool progress_set(struct progress *p, uint64_t done)
{
	double now;

	p->done = done;
	if (!(p->on || p->watch) || p->stopped)
		return p->stopped;
	now = clock_seconds();
	if (now - p->shown < REDRAW_SECONDS)
		return false;
	if (p->watch)
		p->stopped = p->watch(p->arg, p->what, done, p->total);
	else
		draw(p, now);
	p->shown = now;
	return p->stopped;
}

bool progress_bytes(void *progress, uint64_t done, uint64_t total)
{
	struct progress *p = progress;

	p->total = total >> 20;
	return progress_set(p, done >> 20);
}

void progress_clear(const struct progress *p)
{
	if (p->on)
		fputs("\r\033[K", stderr);
}

void progress_end(struct progress *p)
{
	progress_clear(p);
	p->on = false;
}
