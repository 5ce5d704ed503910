/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skew.c - a machine whose clock is wrong: preloaded (LD_PRELOAD), it adds $SKEW seconds to the
 * time of day.  Clocks that nobody can set stay as they are, as on such a machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long skew(void)
{
	const char *s = getenv("SKEW");

	return s ? atol(s) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*next)(clockid_t, struct timespec *);
	int rc;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	rc = next(clock, t);
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		t->tv_sec += skew();
	return rc;
}

time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	ret->tv_sec = t.tv_sec;
	ret->tv_usec = t.tv_nsec / 1000;
	return 0;
}
