/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c - allocation that cannot fail, and the arena; see mem.h. */
#include "base/mem.h"

#include <sys/mman.h>

#include "base/err.h"

#define ARENA_BLOCK ((size_t)1 << 16)
#define HUGE_PAGE ((size_t)2 << 20)

void *mem_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		err_no_memory();
	return p;
}

static size_t product(size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all))
		err_no_memory();
	return all ? all : 1;
}

void *mem_zalloc(size_t n, size_t size)
{
	void *p = calloc(1, product(n, size));

	if (!p)
		err_no_memory();
	return p;
}

void *mem_array(size_t n, size_t size)
{
	return mem_alloc(product(n, size));
}

void *mem_resize(void *p, size_t n, size_t size)
{
	void *q = realloc(p, product(n, size));

	if (!q)
		err_no_memory();
	return q;
}

char *mem_strndup(const char *s, size_t n)
{
	char *p = mem_alloc(n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

void *mem_big(size_t size)
{
	void *p;

	if (size < HUGE_PAGE)
		return mem_zalloc(1, size);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		err_no_memory();
	madvise(p, size, MADV_HUGEPAGE);        /* only advice: failure does no harm */
	return p;
}

void mem_big_free(void *p, size_t size)
{
	if (!p)
		return;
	if (size < HUGE_PAGE)
		free(p);
	else
		munmap(p, size);
}

void mem_grow(void **p, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap ? *cap : 8;

	if (need <= *cap)
		return;
	while (want < need)
		want *= 2;
	*p = mem_resize(*p, want, size);
	*cap = want;
}

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

static struct arena_block *add_block(struct arena *a, size_t size)
{
	struct arena_block *b = mem_alloc(sizeof *b + size);

	b->next = a->first;
	b->used = 0;
	b->size = size;
	return a->first = b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->first;
	size_t want = (size + 15) & ~(size_t)15;
	void *p;

	if (want < size)
		err_no_memory();
	if (!b || b->size - b->used < want)
		b = add_block(a, want > ARENA_BLOCK ? want : ARENA_BLOCK);
	p = b->data + b->used;
	b->used += want;
	a->total += want;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

void arena_reset(struct arena *a)
{
	struct arena_block *keep = a->first;

	if (!keep)
		return;
	while (keep->next) {
		struct arena_block *dead = keep->next;

		keep->next = dead->next;
		free(dead);
	}
	keep->used = 0;
	a->total = 0;
}

void arena_release(struct arena *a)
{
	arena_reset(a);
	free(a->first);
	a->first = NULL;
}
