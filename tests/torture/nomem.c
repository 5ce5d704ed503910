/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nomem.c - preloaded, has one allocation fail: NOMEM_AT=N the N-th, counted from the start of
 * main(); NOMEM_COUNT=FILE writes how many there were.  Allocations before the program is
 * loaded are not counted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static long at = -1, n;
static int ready, finding;
static char early[65536];               /* dlsym() allocates before we know malloc() */
static size_t early_used;

static void find(void)
{
	finding = 1;
	real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	finding = 0;
}

static int fails(void)
{
	if (!ready || __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) != at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	if (!real_malloc && !finding)
		find();
	return !real_malloc || fails() ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	if (!real_calloc && !finding)
		find();
	if (!real_calloc) {
		void *p = early + early_used;

		early_used += (count * size + 15) & ~(size_t)15;
		return early_used <= sizeof early ? p : NULL;
	}
	return fails() ? NULL : real_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	if (!real_realloc && !finding)
		find();
	return !real_realloc || fails() ? NULL : real_realloc(p, size);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("NOMEM_AT");

	if (text)
		at = atol(text);
	ready = 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("NOMEM_COUNT");
	FILE *f;

	ready = 0;
	if (path && (f = fopen(path, "w"))) {
		fprintf(f, "%ld\n", n);
		fclose(f);
	}
}
