/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - allocation that cannot fail, an arena, and typed vectors.
 *
 * Running out of memory aborts: the store is transactional, a crash costs one
 * batch.  In return every size that comes from input has a named cap, checked
 * before it gets here.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size);                   /* never NULL */
void *mem_zalloc(size_t n, size_t size);        /* n * size, checked, zeroed */
void *mem_array(size_t n, size_t size);         /* n * size, checked */
void *mem_resize(void *p, size_t n, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
/* Large zeroed or unset table in huge pages where the system has them;
 * give it back with mem_big_free(p, size). */
void *mem_big(size_t size);
void  mem_big_free(void *p, size_t size);

/* Grow *p so that it holds at least `need` items; doubles the capacity. */
void mem_grow(void **p, size_t *cap, size_t need, size_t size);

/*
 * VEC(type) is an anonymous struct { type *v; size_t n, cap; }; zeroed, it is
 * a valid empty vector.
 */
#define VEC(type) struct { type *v; size_t n, cap; }
#define vec_reserve(vec, more) \
	mem_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + (size_t)(more), \
	         sizeof *(vec)->v)
#define vec_push(vec, item) \
	((void)((vec)->n < (vec)->cap ? (void)0 : vec_reserve(vec, 1)), \
	 (vec)->v[(vec)->n++] = (item))
#define vec_release(vec) \
	(free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

/* A bump allocator: all contents are freed together; zeroed, it is empty. */
struct arena {
	struct arena_block *first;
	size_t total;                   /* bytes handed out since the last reset */
};

void *arena_alloc(struct arena *a, size_t size);        /* 16-byte aligned */
char *arena_strndup(struct arena *a, const char *s, size_t n);
void  arena_reset(struct arena *a);     /* forget contents, keep one block */
void  arena_release(struct arena *a);

#endif
